import type { NamedType } from '../../mappings/contract/model.ts';
import { type Html, html } from './html.ts';
import { prose } from './prose.ts';
import { typeTree } from './tree.ts';
import { href, type View } from './view.ts';

/** Renders a type with its members. */
export function typePage(view: View, type: NamedType): Html {
  const { texts } = view;
  return html`
    <p class="crumbs"><a href=${href(view, '')}>${texts.say('operation.all')}</a></p>
    <h1>${type.name}</h1>
    ${prose('documentation' in type ? type.documentation : '')}
    <h2 id="members">${texts.say('type.members')}</h2>
    ${typeTree(view, type)}
  `;
}
