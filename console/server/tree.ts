import { scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { Field, RecordType, Type, Words } from '../../mappings/contract/model.ts';
import { type Html, html } from './html.ts';
import { prose } from './prose.ts';
import { href, type View } from './view.ts';

/** So many members one tree shows; what is more stands on the pages of its types. */
export const mostRows = 300;
/** So many levels of members are shown within members. */
const deepest = 4;

interface Tree {
  readonly view: View;
  left: number;
}

/** A member of a type as the tree shows it. */
interface Row {
  readonly xml: string;
  readonly json: string | undefined;
  readonly type: Type;
  readonly required: boolean;
  readonly nillable: boolean;
  readonly allowed?: readonly string[] | undefined;
  readonly words?: Words | undefined;
}

/** The members of a message as a tree: name, type, whether required, what the document says of each. */
export function memberTree(view: View, record: RecordType): Html {
  const { texts } = view;
  const rows = rowsOf(record);
  if (rows.length === 0) return html`<p>${texts.say('tree.empty')}</p>`;
  return html`<ul class="tree">${list({ view, left: mostRows }, rows, [record])}</ul>`;
}

/** The members of one type, for its own page. */
export function typeTree(view: View, type: Type): Html {
  if (type.kind === 'record') return memberTree(view, type);
  const rows = rowsOf(type);
  if (rows.length === 0) return valuesOf(view, type, undefined);
  return html`<ul class="tree">${list({ view, left: mostRows }, rows, [type])}</ul>`;
}

function list(tree: Tree, rows: readonly Row[], within: readonly Type[]): Html[] {
  const shown = rows.slice(0, Math.max(tree.left, 0));
  tree.left -= shown.length;
  const items: Html[] = shown.map((row) => item(tree, row, within));
  if (shown.length < rows.length)
    items.push(
      html`<li class="more">${tree.view.texts.say('tree.more', { count: rows.length - shown.length })}</li>`,
    );
  return items;
}

function item(tree: Tree, row: Row, within: readonly Type[]): Html {
  const { view } = tree;
  const { texts } = view;
  const { xml, json, type, required, nillable, words, allowed } = row;
  const facts = words?.facts ?? '';
  const isDeprecated = /(?:^|\. )Deprecated\b/.test(facts);
  const inner = elementOf(type);
  const parts = rowsOf(inner);
  const isOpen = parts.length > 0 && !within.includes(inner) && within.length < deepest && tree.left > 0;
  return html`<li>
    <div class="member">
      <code class=${isDeprecated ? 'name deprecated' : 'name'}>${xml}</code>
      ${json !== undefined && json !== xml && html` <code class="json">${json}</code>`}
      ${' '}<span class="type">${typeName(view, type)}</span>
      ${required && html` <strong class="badge required">${texts.say('tree.required')}</strong>`}
      ${nillable && html` <span class="badge">${texts.say('tree.nillable')}</span>`}
      ${isDeprecated && html` <span class="badge warn">${texts.say('tree.deprecated')}</span>`}
    </div>
    ${prose(words?.description ?? '')}
    ${facts !== '' && html`<p class="facts" dir="auto">${facts}</p>`}
    ${valuesOf(view, inner, allowed)}
    ${
      isOpen &&
      html`<details open=${within.length < 2}>
      <summary>${texts.say('tree.members', { name: nameOf(inner) })}</summary>
      <ul class="tree">${list(tree, parts, [...within, inner])}</ul>
    </details>`
    }
  </li>`;
}

/** What an array holds or a map has as values, through any number of them; any other type itself. */
function elementOf(type: Type): Type {
  let inner = type;
  for (let depth = 0; depth < 8; depth++) {
    if (inner.kind === 'array') inner = inner.item;
    else if (inner.kind === 'map') inner = inner.value;
    else break;
  }
  return inner;
}

function rowsOf(type: Type): readonly Row[] {
  switch (type.kind) {
    case 'record': {
      const { typed, untyped } = type.additional ?? {};
      const others = [typed, untyped].flatMap((each) =>
        each === undefined
          ? []
          : [{ xml: each.xml, json: undefined, type: each.type, required: false, nillable: false }],
      );
      return [...type.fields.map(rowOf), ...others];
    }
    case 'union':
      return type.variants.map(({ xml, type: own }) => ({
        xml,
        json: undefined,
        type: own,
        required: false,
        nillable: false,
      }));
    case 'tuple':
      return [...type.positions, ...(type.rest === undefined ? [] : [type.rest])].map((part) => ({
        xml: part.xml,
        json: undefined,
        type: part.type,
        required: false,
        nillable: false,
        words: 'words' in part ? part.words : undefined,
      }));
    default:
      return [];
  }
}

function rowOf({ xml, json, type, required, nillable, allowed, words }: Field): Row {
  return { xml, json, type, required, nillable, allowed, words };
}

function nameOf(type: Type): string {
  return type.kind === 'scalar' ? scalarTable[type.scalar].xsd : type.name;
}

/** A type in words, with a link to the page of one that has a name. */
function typeName(view: View, type: Type): Html {
  const { texts, site } = view;
  if (type.kind === 'scalar') return `xs:${scalarTable[type.scalar].xsd}`;
  if (type.kind === 'array') return [texts.say('tree.list'), ' ', typeName(view, type.item)];
  if (type.kind === 'map') return [texts.say('tree.map'), ' ', typeName(view, type.value)];
  if (!site.contract.types.includes(type)) return type.name;
  const link = href(view, `${site.folder}/-/types/${encodeURIComponent(type.name)}`);
  const named = html`<a href=${link}>${type.name}</a>`;
  return type.kind === 'union' ? [texts.say('tree.union'), ' ', named] : named;
}

function valuesOf({ texts }: View, type: Type, allowed: readonly string[] | undefined): Html {
  const values = allowed ?? (type.kind === 'enum' ? type.values : []);
  if (values.length === 0) return undefined;
  const shown = values.slice(0, 50);
  return html`<p class="facts">
    ${texts.say('tree.values')} ${shown.map((value, at) => [at > 0 && ', ', html`<code>${value}</code>`])}
    ${shown.length < values.length && ` … (${values.length})`}
  </p>`;
}
