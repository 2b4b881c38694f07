import { scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { Field, Type } from '../../mappings/contract/model.ts';
import { type Html, html } from './html.ts';
import { prose } from './prose.ts';
import { href, type View } from './view.ts';

/** So many members one tree shows; what is more stands on the pages of its types. */
const mostRows = 300;
/** So many levels of members are shown within members. */
const deepest = 4;

/** What a row is within: the keys of all that, and how many levels they are. */
interface Within {
  readonly keys: readonly unknown[];
  readonly depth: number;
}

interface Tree {
  readonly view: View;
  left: number;
}

/** A member of a message as the tree shows it. */
export interface Row {
  readonly name: string;
  /** What it is called in JSON, where that is another name. */
  readonly json?: string | undefined;
  readonly type: Html;
  readonly required: boolean;
  readonly nillable: boolean;
  readonly description?: string;
  /** What else is said of its values, a line. */
  readonly facts?: string;
  /** The only values that it may have. */
  readonly values?: readonly string[];
  readonly inner?: Inner;
}

/** What a member has in it. */
export interface Inner {
  /** Tells one that is in itself. */
  readonly key: unknown;
  readonly name: string;
  readonly rows: () => readonly Row[];
  /** True for what is no level of its own on the wire: a group of members, a type in place of another. */
  readonly isGroup?: boolean;
}

/** The members of a message as a tree: name, type, whether required, what the document says of each. */
export function memberTree(view: View, record: Type): Html {
  return rowTree(view, rowsOf(view, record), record);
}

/** The members of one type, for its own page. */
export function typeTree(view: View, type: Type): Html {
  if (type.kind === 'enum') return valueList(view, type.values);
  // the item of a list is told where the list is used
  return type.kind === 'array' || type.kind === 'map' ? undefined : memberTree(view, type);
}

/** Rows as a tree; `key` is of what they are in. */
export function rowTree(view: View, rows: readonly Row[], key: unknown): Html {
  if (rows.length === 0) return html`<p>${view.texts.say('tree.empty')}</p>`;
  return html`<ul class="tree">${list({ view, left: mostRows }, rows, { keys: [key], depth: 1 })}</ul>`;
}

function list(tree: Tree, rows: readonly Row[], within: Within): Html[] {
  const shown = rows.slice(0, Math.max(tree.left, 0));
  tree.left -= shown.length;
  const items: Html[] = shown.map((row) => item(tree, row, within));
  if (shown.length < rows.length)
    items.push(
      html`<li class="more">${tree.view.texts.say('tree.more', { count: rows.length - shown.length })}</li>`,
    );
  return items;
}

function item(tree: Tree, row: Row, within: Within): Html {
  const { texts } = tree.view;
  const { name, json, type, required, nillable, description = '', facts = '', values = [], inner } = row;
  const isDeprecated = /(?:^|\. )Deprecated\b/.test(facts);
  const { keys, depth } = within;
  const isOpen = inner !== undefined && !keys.includes(inner.key) && depth < deepest && tree.left > 0;
  const parts = isOpen ? inner.rows() : [];
  const deeper = { keys: [...keys, inner?.key], depth: depth + (inner?.isGroup === true ? 0 : 1) };
  return html`<li>
    <div class="member">
      <code class=${isDeprecated ? 'name deprecated' : 'name'}>${name}</code>
      ${json !== undefined && json !== name && html` <code class="json">${json}</code>`}
      ${' '}<span class="type">${type}</span>
      ${required && html` <strong class="badge required">${texts.say('tree.required')}</strong>`}
      ${nillable && html` <span class="badge">${texts.say('tree.nillable')}</span>`}
      ${isDeprecated && html` <span class="badge warn">${texts.say('tree.deprecated')}</span>`}
    </div>
    ${prose(description)}
    ${facts !== '' && html`<p class="facts" dir="auto">${facts}</p>`}
    ${valueList(tree.view, values)}
    ${
      inner !== undefined &&
      parts.length > 0 &&
      html`<details open=${depth < 2 || inner.isGroup === true}>
      <summary>${inner.isGroup === true ? texts.say('tree.ofGroup') : texts.say('tree.members', { name: inner.name })}</summary>
      <ul class="tree">${list(tree, parts, deeper)}</ul>
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

function rowsOf(view: View, type: Type): readonly Row[] {
  switch (type.kind) {
    case 'record': {
      const { typed, untyped } = type.additional ?? {};
      const others = [typed, untyped].flatMap((each) => (each === undefined ? [] : rowOf(view, each)));
      return [...type.fields.map((field) => rowOf(view, field)), ...others];
    }
    case 'union':
      return type.variants.map((variant) => rowOf(view, variant));
    case 'tuple':
      return [...type.positions, ...(type.rest === undefined ? [] : [type.rest])].map((part) =>
        rowOf(view, part),
      );
    default:
      return [];
  }
}

type Part = Pick<Field, 'xml' | 'type'> & Partial<Field>;

function rowOf(view: View, part: Part): Row {
  const { xml, json, type, required = false, nillable = false, allowed, words } = part;
  const inner = elementOf(type);
  return {
    name: xml,
    json,
    type: typeName(view, type),
    required,
    nillable,
    description: words?.description ?? '',
    facts: words?.facts ?? '',
    values: allowed ?? (inner.kind === 'enum' ? inner.values : []),
    inner: { key: inner, name: nameOf(inner), rows: () => rowsOf(view, inner) },
  };
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

function valueList({ texts }: View, values: readonly string[]): Html {
  if (values.length === 0) return undefined;
  const shown = values.slice(0, 50);
  return html`<p class="facts">
    ${texts.say('tree.values')} ${shown.map((value, at) => [at > 0 && ', ', html`<code>${value}</code>`])}
    ${shown.length < values.length && ` … (${values.length})`}
  </p>`;
}
