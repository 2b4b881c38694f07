import { compileSimpleTypes } from '../../mappings/codec/adopted/simple-types.ts';
import { compileScalars, scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import { adoptedOperation } from '../../mappings/contract/adopted.ts';
import { membersOf } from '../../mappings/contract/members.ts';
import type { ArrayType, Field, MapType, Type } from '../../mappings/contract/model.ts';
import { sentence } from '../../mappings/contract/reason.ts';
import {
  type AdoptedMessage,
  contentTypes,
  type ElementDeclaration,
  type Particle,
  type SchemaType,
} from '../../mappings/contract/type-graph.ts';

/** What an element may hold, of an ordinary contract or an adopted one, as far as a message is compared with it. */
export type View =
  /** Elements. */
  | {
      readonly kind: 'elements';
      readonly children: readonly ChildView[];
      /** Whether elements of other names are taken too, or nobody knows. */
      readonly isOpen: boolean;
      /** Whether the order of `children` is the schema's. */
      readonly isOrdered: boolean;
    }
  /** Text of a type; `refusal` is why a text is none of it, undefined where it is. */
  | {
      readonly kind: 'text';
      /** The XSD type without prefix, such as `dateTime`; `enum` where it is one of some values. */
      readonly type: string;
      readonly values: readonly string[];
      readonly refusal: (text: string) => string | undefined;
    }
  /** Anything. */
  | { readonly kind: 'any' };

/** An element that may stand in another one. */
export interface ChildView {
  readonly local: string;
  readonly namespace: string;
  readonly repeats: boolean;
  readonly required: boolean;
  /** Made when it is asked for: types hold themselves. */
  readonly view: () => View;
}

/** The view of an operation's element in the body. */
export type ViewOf = (operation: CompiledOperation) => View;

/** The views of a contract's requests. */
export function compileViews(compiled: CompiledContract): ViewOf {
  const { contract } = compiled;
  if (contract.adopted === undefined) {
    const views = new PlainViews(compiled);
    return ({ operation }) => views.viewOf(operation.input);
  }
  const views = new AdoptedViews(compiled);
  return ({ operation }) => {
    const found = adoptedOperation(contract, operation.name);
    return found === undefined ? any : views.ofMessage(found.input);
  };
}

const any: View = { kind: 'any' };

// --- ordinary contracts --------------------------------------------------------------------------------

class PlainViews {
  readonly #compiled: CompiledContract;
  readonly #scalars: ReturnType<typeof compileScalars>;
  readonly #known = new Map<Type, View>();

  constructor(compiled: CompiledContract) {
    this.#compiled = compiled;
    const { contract, limits } = compiled;
    this.#scalars = compileScalars({ settings: contract.settings, limits });
  }

  viewOf(type: Type, allowed?: readonly string[]): View {
    if (allowed !== undefined && type.kind === 'enum') return enumView(allowed);
    const known = this.#known.get(type) ?? this.#make(type);
    this.#known.set(type, known);
    return known;
  }

  #make(type: Type): View {
    switch (type.kind) {
      case 'scalar':
        return this.#scalar(type.scalar);
      case 'enum':
        return enumView(type.values);
      case 'record':
        return {
          kind: 'elements',
          children: type.fields.map((field) => this.#field(field)),
          isOpen: type.additional !== undefined,
          isOrdered: true,
        };
      case 'union':
        return this.#choice(type.variants.map(({ xml, type: inner }) => this.#child(xml, inner)));
      case 'tuple': {
        const all = [...type.positions, ...(type.rest === undefined ? [] : [type.rest])];
        return {
          ...this.#choice(all.map(({ xml, type: inner }) => this.#child(xml, inner))),
          isOrdered: true,
        };
      }
      case 'array':
        return this.#collection(type, type.itemName, () => this.viewOf(type.item));
      case 'map':
        return this.#collection(type, type.entryName, () => this.#entry(type));
    }
  }

  #scalar(name: keyof typeof scalarTable): View {
    const { xsd, json } = scalarTable[name];
    if (json === 'any') return any;
    const scalar = this.#scalars[name];
    return {
      kind: 'text',
      type: xsd,
      values: [],
      refusal: (text) => {
        const result = text === '' && !scalar.takesEmpty ? 'nothing' : scalar.fromXml(text);
        if (result === 'nothing') return sentence({ expected: scalar.expected, got: 'nothing' });
        return typeof result === 'string' || 'token' in result ? undefined : sentence(result.reason);
      },
    };
  }

  #field({ xml, type, required, allowed, json }: Field): ChildView {
    // what is missing of credentials may come in another place
    const isCredentials = json === this.#compiled.contract.credentials?.member;
    return { ...this.#child(xml, type, allowed), required: required && !isCredentials };
  }

  #child(local: string, type: Type, allowed?: readonly string[]): ChildView {
    const namespace = this.#compiled.contract.namespaces.types;
    return { local, namespace, repeats: false, required: false, view: () => this.viewOf(type, allowed) };
  }

  #choice(children: readonly ChildView[]): Extract<View, { kind: 'elements' }> {
    return { kind: 'elements', children, isOpen: false, isOrdered: false };
  }

  #collection(type: ArrayType | MapType, local: string, view: () => View): View {
    const item = { local, namespace: this.#namespaceOf(type), repeats: true, required: false, view };
    return { kind: 'elements', children: [item], isOpen: false, isOrdered: false };
  }

  #entry(type: MapType): View {
    const namespace = this.#namespaceOf(type);
    const key = { kind: 'text', type: 'string', values: [], refusal: () => undefined } as const;
    return {
      kind: 'elements',
      children: [
        { local: 'Key', namespace, repeats: false, required: true, view: () => key },
        { local: 'Value', namespace, repeats: false, required: false, view: () => this.viewOf(type.value) },
      ],
      isOpen: false,
      isOrdered: true,
    };
  }

  #namespaceOf(type: ArrayType | MapType): string {
    const { types, arrays } = this.#compiled.contract.namespaces;
    return type.namespace === 'types' ? types : arrays;
  }
}

function enumView(values: readonly string[]): View {
  return {
    kind: 'text',
    type: 'enum',
    values,
    refusal: (text) =>
      values.includes(text) ? undefined : `expected one of ${values.slice(0, 12).join(', ')}`,
  };
}

// --- adopted services ------------------------------------------------------------------------------------

class AdoptedViews {
  readonly #simpleOf: ReturnType<typeof compileSimpleTypes>;
  readonly #known = new Map<SchemaType, View>();

  constructor({ contract, limits }: CompiledContract) {
    if (contract.adopted === undefined) throw new RangeError('expected an adopted contract');
    this.#simpleOf = compileSimpleTypes(contract.settings, limits);
  }

  ofMessage({ body, use }: AdoptedMessage): View {
    // in SOAP's encoding values stand elsewhere
    if (body.kind === 'empty' || use === 'encoded') return any;
    if (body.kind === 'element') return this.#ofType(body.element.type);
    const children = body.parts.map((part) => this.#child(part, false, true));
    return { kind: 'elements', children, isOpen: false, isOrdered: true };
  }

  #ofType(type: SchemaType): View {
    const known = this.#known.get(type) ?? this.#make(type);
    this.#known.set(type, known);
    return known;
  }

  #make(type: SchemaType): View {
    if (type.kind === 'simple') {
      const simple = this.#simpleOf(type);
      if (simple.usesPrefixes) return any;
      return {
        kind: 'text',
        type: type.builtIn,
        values: type.facets.enumeration ?? [],
        refusal: (text) => {
          if (text === '' && !simple.takesEmpty)
            return sentence({ expected: simple.expected, got: 'nothing' });
          const token = simple.fromXml(text, () => undefined);
          return typeof token === 'string' || 'token' in token ? undefined : sentence(token.reason);
        },
      };
    }
    const { content, derived, attributes } = type;
    // of a derived type, with xsi:type, there may be more
    if (
      content.kind !== 'elements' ||
      content.mixed ||
      contentTypes(type).length === 0 ||
      attributes.length > 64
    )
      return any;
    const children: ChildView[] = [];
    let isOpen = derived.length > 0 || type.abstract;
    const walk = (particle: Particle, repeats: boolean, required: boolean): void => {
      const again = repeats || particle.most > 1;
      const must = required && particle.least > 0;
      if (particle.kind === 'any') isOpen = true;
      else if (particle.kind === 'element') {
        const { element } = particle;
        if (element.substitutes.length === 0) children.push(this.#child(element, again, must));
        // any of the group may stand there (A20), and more of it may come with other documents
        else
          for (const one of [element, ...element.substitutes]) children.push(this.#child(one, again, false));
        if (element.substitutes.length > 0) isOpen = true;
      } else for (const inner of particle.particles) walk(inner, again, must && particle.kind !== 'choice');
    };
    walk(content.particle, false, true);
    const names = new Set(children.map(({ local }) => local));
    const isOrdered =
      content.particle.kind === 'sequence' &&
      content.particle.most === 1 &&
      names.size === children.length &&
      membersOf(content.particle).choices.length === 0;
    return { kind: 'elements', children, isOpen, isOrdered };
  }

  #child(element: ElementDeclaration, repeats: boolean, required: boolean): ChildView {
    const { local, namespace } = element.name;
    const isFree = element.nillable || element.value !== undefined;
    return {
      local,
      namespace,
      repeats,
      required: required && !isFree,
      view: () => this.#ofType(element.type),
    };
  }
}
