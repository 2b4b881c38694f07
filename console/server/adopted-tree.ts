import { anyType } from '../../mappings/contract/built-in-types.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import {
  type AdoptedMessage,
  type AttributeUse,
  type ElementDeclaration,
  type Particle,
  type SchemaType,
  textTypeOf,
} from '../../mappings/contract/type-graph.ts';
import type { Html } from './html.ts';
import { type Row, rowTree } from './tree.ts';
import type { View } from './view.ts';

/** The members of a message of an adopted service, by its schemas: header blocks first, then what is in the body. */
export function adoptedTree(view: View, { headers, body }: AdoptedMessage): Html {
  const tree = new AdoptedRows(view);
  const blocks = headers.map((element) => ({
    ...tree.element(element, 0, 1),
    facts: view.texts.say('tree.header'),
  }));
  const rows =
    body.kind === 'empty'
      ? []
      : body.kind === 'element'
        ? [tree.element(body.element, 1, 1)]
        : [
            {
              name: body.wrapper.local,
              type: '',
              required: true,
              nillable: false,
              inner: {
                key: body.wrapper,
                name: body.wrapper.local,
                rows: () => body.parts.map((part) => tree.element(part, 1, 1)),
              },
            },
          ];
  return rowTree(view, [...blocks, ...rows], body);
}

/** Rows of the components of a schema. */
class AdoptedRows {
  readonly #view: View;

  constructor(view: View) {
    this.#view = view;
  }

  element(element: ElementDeclaration, least: number, most: number): Row {
    const { name, type, nillable, abstract, value, substitutes, documentation } = element;
    const say = this.#view.texts.say;
    const label = this.#typeName(type);
    const rows = (): readonly Row[] => [
      ...(abstract ? [] : this.#content(type)),
      ...substitutes.map((each) => ({ ...this.element(each, 0, 1), facts: say('tree.instead') })),
    ];
    return {
      name: name.local,
      type: most > 1 ? [say('tree.list'), ' ', label] : label,
      required: least > 0,
      nillable,
      description: documentation,
      facts: [...this.#valueFacts(value), ...factsOf(type)].join('. '),
      values: textTypeOf(type)?.facets.enumeration ?? [],
      // an element in its own place is another one than its type in itself
      inner: { key: abstract ? element : type, name: typeTitle(type) ?? name.local, rows },
    };
  }

  #attribute({ name, type, required, value, documentation }: AttributeUse): Row {
    return {
      name: `@${name.local}`,
      type: this.#typeName(type),
      required,
      nillable: false,
      description: documentation,
      facts: [...this.#valueFacts(value), ...factsOf(type)].join('. '),
      values: type.facets.enumeration ?? [],
    };
  }

  /** Its attributes and elements, then each type that `xsi:type` may say in its place. */
  #content(type: SchemaType): readonly Row[] {
    if (type.kind === 'simple' || type === anyType) return [];
    const { attributes, content, derived } = type;
    const own = attributes.map((each) => this.#attribute(each));
    if (content.kind === 'elements')
      for (const row of this.#particle(content.particle, 'whole')) own.push(row);
    if (content.kind === 'encodedArray') {
      const { item } = content;
      const inner = { key: item, name: typeTitle(item) ?? 'item', rows: () => this.#content(item) };
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
      const inner = { key: one, name, rows: () => this.#content(one), isGroup: true };
      return [{ name: `xsi:type="${name}"`, type: '', required: false, nillable: false, inner }];
    });
    return [...(type.abstract ? [] : own), ...others];
  }

  /** A group that has to be there once is its members; another one is a row of its own. */
  #particle(particle: Particle, place: 'whole' | 'part' | 'branch'): readonly Row[] {
    const { least, most } = particle;
    const required = least > 0 && place !== 'branch';
    if (particle.kind === 'element') return [this.element(particle.element, required ? 1 : 0, most)];
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

  #typeName(type: SchemaType): string {
    const say = this.#view.texts.say;
    if (type.kind === 'complex') {
      if (type.content.kind === 'encodedArray')
        return `${say('tree.list')} ${this.#typeName(type.content.item)}`;
      return typeTitle(type) ?? (type.content.kind === 'text' ? this.#typeName(type.content.type) : '');
    }
    if (type.variety.kind === 'list') return `${say('tree.list')} ${this.#typeName(type.variety.item)}`;
    return typeTitle(type) ?? `xs:${type.builtIn}`;
  }

  #valueFacts(value: ElementDeclaration['value']): readonly string[] {
    return value === undefined ? [] : [this.#view.texts.say(`tree.${value.kind}`, { value: value.text })];
  }
}

/** A type's name, built-in ones with `xs:`; undefined for one that has none. */
function typeTitle({ name }: SchemaType): string | undefined {
  if (name === undefined) return undefined;
  return name.namespace === namespaces.xsd ? `xs:${name.local}` : name.local;
}

/** The facets of a type's text by the names that XSD has for them, such as `maxLength 20`; none of one without text. */
function factsOf(type: SchemaType): readonly string[] {
  const simple = textTypeOf(type);
  if (simple === undefined) return [];
  const { patterns, enumeration: _values, whiteSpace: _folded, ...bounds } = simple.facets;
  const said = Object.entries(bounds).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  return [...said, ...patterns.map((all) => `pattern ${all.join(' | ')}`)];
}
