import { anyType } from '../../mappings/contract/built-in-types.ts';
import { type NamedType, namespaces } from '../../mappings/contract/model.ts';
import {
  type AdoptedMessage,
  type AttributeUse,
  type ComplexType,
  type ElementDeclaration,
  type Particle,
  type SchemaType,
  type SimpleType,
  textTypeOf,
  type ValueConstraint,
} from '../../mappings/contract/type-graph.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { type Html, html } from './html.ts';
import { prose } from './prose.ts';
import { href, type View } from './view.ts';

/** Maximum number of members in one tree. Further members are shown on the pages of their types. */
const mostRows = 300;
/** Maximum depth of nested members. */
const deepest = 4;

/** The ancestors of a row: their keys and their number. */
interface Within {
  readonly keys: readonly unknown[];
  readonly depth: number;
}

interface Tree {
  readonly view: View;
  left: number;
}

/** A row of the tree: a member of a message. */
interface Row {
  readonly name: string;
  /** The JSON name, if it differs. */
  readonly json?: string | undefined;
  readonly type: Html;
  readonly required: boolean;
  readonly nillable: boolean;
  readonly description?: string;
  /** Further facts about its values, in one line. */
  readonly facts?: string;
  /** The only allowed values. */
  readonly values?: readonly string[];
  readonly inner?: Inner;
}

/** Members nested in a row. */
interface Inner {
  /** Identity that detects recursion. */
  readonly key: unknown;
  readonly name: string;
  readonly rows: () => readonly Row[];
  /** True for rows that add no level in a message: a group of members, or a type that replaces another one. */
  readonly isGroup?: boolean;
}

/** Renders the members of a type as a tree: name, type, whether it is required, documentation. */
export function memberTree(view: View, type: SchemaType): Html {
  return rowTree(view, new Rows(view).content(type), type);
}

/** Renders the members of one type for its own page. */
export function typeTree(view: View, type: NamedType): Html {
  if (type.kind === 'enum') return valueList(view, type.values);
  // items of lists are described where the list is used
  if (type.kind === 'array' || type.kind === 'map') return undefined;
  return memberTree(view, typeGraphOf(view.site.contract).nodeOf(type));
}

/** Renders a whole message as a tree: header blocks first, then the body element. */
export function messageTree(view: View, { headers, body }: Pick<AdoptedMessage, 'headers' | 'body'>): Html {
  const tree = new Rows(view);
  const blocks = headers.map((element) => ({
    ...tree.element(element, 0, 1),
    facts: view.texts.say('tree.header'),
  }));
  if (body.kind === 'empty') return rowTree(view, blocks, body);
  if (body.kind === 'element') return rowTree(view, [...blocks, tree.element(body.element, 1, 1)], body);
  const { wrapper, parts } = body;
  const rows = (): readonly Row[] => parts.map((part) => tree.element(part, 1, 1));
  const inner = { key: wrapper, name: wrapper.local, rows };
  const call = { name: wrapper.local, type: '', required: true, nillable: false, inner };
  return rowTree(view, [...blocks, call], body);
}

/** Renders rows as a tree. `key` identifies their parent. */
function rowTree(view: View, rows: readonly Row[], key: unknown): Html {
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

/** Creates rows from the nodes of the type graph. */
class Rows {
  readonly #view: View;

  constructor(view: View) {
    this.#view = view;
  }

  element(element: ElementDeclaration, least: number, most: number, json?: string): Row {
    const { name, type, nillable, abstract, value, substitutes, documentation, demands } = element;
    const say = this.#view.texts.say;
    const label = this.#typeName(type);
    const shown = shownType(type);
    const rows = (): readonly Row[] => [
      ...(abstract ? [] : this.content(shown)),
      ...substitutes.map((each) => ({ ...this.element(each, 0, 1), facts: say('tree.instead') })),
    ];
    return {
      name: name.local,
      json,
      type: most > 1 ? [say('tree.list'), ' ', label] : label,
      required: least > 0,
      nillable,
      description: documentation,
      facts: demands?.words?.facts ?? this.#facts(type, value),
      values: textTypeOf(shown)?.facets.enumeration ?? [],
      // an element inside itself is a different case from a type inside itself
      inner: { key: abstract ? element : shown, name: typeTitle(shown) ?? name.local, rows },
    };
  }

  #attribute({ name, type, required, value, documentation }: AttributeUse): Row {
    return {
      name: `@${name.local}`,
      type: this.#typeName(type),
      required,
      nillable: false,
      description: documentation,
      facts: this.#facts(type, value),
      values: type.facets.enumeration ?? [],
    };
  }

  #facts(type: SchemaType, value: ValueConstraint | undefined): string {
    const stated =
      value === undefined ? [] : [this.#view.texts.say(`tree.${value.kind}`, { value: value.text })];
    return [...stated, ...factsOf(type)].join('. ');
  }

  /** Returns rows for a type's attributes and elements, then for each type that `xsi:type` may name. */
  content(type: SchemaType): readonly Row[] {
    if (type.kind === 'simple' || type === anyType) return [];
    const { attributes, content, derived } = type;
    const own = attributes.map((each) => this.#attribute(each));
    if (content.kind === 'elements')
      for (const row of this.#particle(content.particle, 'whole')) own.push(row);
    if (content.kind === 'encodedArray') {
      const { item } = content;
      const inner = { key: item, name: typeTitle(item) ?? 'item', rows: () => this.content(item) };
      own.push({ name: 'item', type: this.#typeName(item), required: false, nillable: true, inner });
    }
    if (content.kind === 'map') {
      const { item, key, value } = content;
      const rows = (): readonly Row[] => [this.element(key, 1, 1), this.element(value, 1, 1)];
      const inner = { key: item, name: item.name.local, rows };
      const type = this.#typeName(item.type);
      own.push({ name: item.name.local, type, required: false, nillable: false, inner });
    }
    const others = derived.flatMap((one): readonly Row[] => {
      const name = typeTitle(one);
      if (name === undefined) return [];
      const inner = { key: one, name, rows: () => this.content(one), isGroup: true };
      return [{ name: `xsi:type="${name}"`, type: '', required: false, nillable: false, inner }];
    });
    return [...(type.abstract ? [] : own), ...others];
  }

  /** Returns the members of a group that is required exactly once. Any other group is a separate row. */
  #particle(particle: Particle, place: 'whole' | 'part' | 'branch'): readonly Row[] {
    const { least, most } = particle;
    const required = least > 0 && place !== 'branch';
    if (particle.kind === 'element')
      return [this.element(particle.element, required ? 1 : 0, most, particle.json)];
    const say = this.#view.texts.say;
    if (particle.kind === 'any') return [{ name: '…', type: say('tree.any'), required, nillable: false }];
    const isChoice = particle.kind === 'choice';
    const rows = (): readonly Row[] =>
      particle.particles.flatMap((each) => this.#particle(each, isChoice ? 'branch' : 'part'));
    if (!isChoice && most === 1 && (place === 'whole' || required)) return rows();
    const kind = say(isChoice ? 'tree.choice' : 'tree.group');
    const type = most > 1 ? say('tree.repeated') : '';
    return [
      {
        name: kind,
        type,
        required,
        nillable: false,
        inner: { key: particle, name: kind, rows, isGroup: true },
      },
    ];
  }

  /** Renders a type's name, with a link if the type has a page. */
  #typeName(type: SchemaType): Html {
    const { texts, site } = this.#view;
    if (type.kind === 'complex') {
      const item = itemType(type);
      if (item !== undefined)
        return [texts.say(type.content.kind === 'map' ? 'tree.map' : 'tree.list'), ' ', this.#typeName(item)];
    } else if (type.variety.kind === 'list')
      return [texts.say('tree.list'), ' ', this.#typeName(type.variety.item)];
    const title = typeTitle(type);
    if (type.kind === 'complex' && title === undefined)
      return type.content.kind === 'text' ? this.#typeName(type.content.type) : '';
    if (title === undefined || !site.contract.types.some(({ name }) => name === title))
      return title ?? `xs:${(type as SimpleType).builtIn}`;
    const link = href(this.#view, `${site.folder}/-/types/${encodeURIComponent(title)}`);
    const named = html`<a href=${link}>${title}</a>`;
    const isUnion = type.kind === 'complex' && type.json?.kind === 'union';
    return isUnion ? [texts.say('tree.union'), ' ', named] : named;
  }
}

/**
 * Returns the type of a list's items or a map's values if the list or map has no page of its own. Returns undefined for
 * any other type.
 */
function itemType({ content, isGenerated, json }: ComplexType): SchemaType | undefined {
  if (content.kind === 'encodedArray') return content.item;
  if (isGenerated !== true) return undefined;
  if (json?.kind === 'map') return json.value.type;
  return json?.kind === 'list' && json.item.kind === 'element' ? json.item.element.type : undefined;
}

/** Returns the type whose members are shown. For generated lists and maps it is the type of the items. */
function shownType(type: SchemaType): SchemaType {
  let shown = type;
  for (let depth = 0; depth < 8 && shown.kind === 'complex' && shown.isGenerated === true; depth++)
    shown = itemType(shown) ?? shown;
  return shown;
}

/** Returns a type's name, with `xs:` for built-in types, or undefined for a type without a name. */
function typeTitle({ name }: SchemaType): string | undefined {
  if (name === undefined) return undefined;
  return name.namespace === namespaces.xsd ? `xs:${name.local}` : name.local;
}

/**
 * Returns the facets of a type's text by their XSD names, for example `maxLength 20`. Empty for a type without text.
 */
function factsOf(type: SchemaType): readonly string[] {
  const simple = textTypeOf(type);
  if (simple === undefined) return [];
  const { patterns, enumeration: _values, whiteSpace: _folded, ...bounds } = simple.facets;
  const texts = Object.entries(bounds).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  return [...texts, ...patterns.map((all) => `pattern ${all.join(' | ')}`)];
}

function valueList({ texts }: View, values: readonly string[]): Html {
  if (values.length === 0) return undefined;
  const shown = values.slice(0, 50);
  return html`<p class="facts">
    ${texts.say('tree.values')} ${shown.map((value, at) => [at > 0 && ', ', html`<code>${value}</code>`])}
    ${shown.length < values.length && ` … (${values.length})`}
  </p>`;
}
