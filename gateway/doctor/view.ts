import { compileSimpleTypes } from '../../mappings/codec/adopted/simple-types.ts';
import { compileScalars, scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import { membersOf } from '../../mappings/contract/members.ts';
import { sentence } from '../../mappings/contract/reason.ts';
import type {
  AdoptedMessage,
  ComplexType,
  ElementDeclaration,
  Particle,
  SchemaType,
  SimpleType,
} from '../../mappings/contract/type-graph.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';

/** The content of an element, as needed to compare a message with it. */
export type View =
  | {
      readonly kind: 'elements';
      readonly children: readonly ChildView[];
      /** True if elements of other names are accepted, or if this is unknown. */
      readonly isOpen: boolean;
      /** True if `children` are in the order of the schema. */
      readonly isOrdered: boolean;
    }
  /** Text of a type. `refusal` returns the reason why a text is invalid for the type; undefined for a valid one. */
  | {
      readonly kind: 'text';
      /** Built-in XSD type without prefix, for example `dateTime`. */
      readonly type: string;
      /** The only values of the type; empty if others are possible. */
      readonly values: readonly string[];
      readonly refusal: (text: string) => string | undefined;
    }
  | { readonly kind: 'any' };

/** An element that may be a child of another one. */
export interface ChildView {
  readonly local: string;
  readonly namespace: string;
  readonly repeats: boolean;
  readonly required: boolean;
  /** Created on demand, because types can be recursive. */
  readonly view: () => View;
}

/** Returns the view of an operation's element in the body. */
export type ViewOf = (operation: CompiledOperation) => View;

/** Compiles the views of a contract's requests. */
export function compileViews(compiled: CompiledContract): ViewOf {
  const graph = typeGraphOf(compiled.contract);
  const views = new Views(compiled);
  return ({ operation }) => views.ofMessage(graph.messagesOf(operation).input);
}

const any: View = { kind: 'any' };

class Views {
  readonly #scalars: ReturnType<typeof compileScalars>;
  readonly #simpleOf: ReturnType<typeof compileSimpleTypes>;
  /** The JSON name of the member with credentials, which may be sent in HTTP headers instead. */
  readonly #credentials: string | undefined;
  readonly #known = new Map<SchemaType, View>();

  constructor({ contract, limits }: CompiledContract) {
    this.#scalars = compileScalars({ settings: contract.settings, limits });
    this.#simpleOf = compileSimpleTypes(contract.settings, limits);
    this.#credentials = contract.credentials?.member;
  }

  ofMessage({ body, use }: AdoptedMessage): View {
    // In SOAP encoding, values can be in other elements.
    if (body.kind === 'empty' || use === 'encoded') return any;
    if (body.kind === 'element') return this.#ofType(body.element.type);
    const children = body.parts.map((part) => this.#child(part, false, true));
    return { kind: 'elements', children, isOpen: false, isOrdered: true };
  }

  #ofType(type: SchemaType): View {
    const known = this.#known.get(type) ?? (type.kind === 'simple' ? this.#text(type) : this.#content(type));
    this.#known.set(type, known);
    return known;
  }

  #text(type: SimpleType): View {
    const { scalar, builtIn, facets } = type;
    if (scalar === undefined ? this.#simpleOf(type).usesPrefixes : scalarTable[scalar].json === 'any')
      return any;
    const codec = scalar === undefined ? this.#simpleOf(type) : this.#scalars[scalar];
    return {
      kind: 'text',
      type: builtIn,
      values: facets.enumeration ?? [],
      refusal: (text) => {
        if (text === '' && !codec.takesEmpty) return sentence({ expected: codec.expected, got: 'nothing' });
        const token = codec.fromXml(text, () => undefined);
        return typeof token === 'string' || 'token' in token ? undefined : sentence(token.reason);
      },
    };
  }

  #content({ content, derived, abstract, json }: ComplexType): View {
    if (content.kind === 'map') {
      const item = this.#child(content.item, true, false);
      return { kind: 'elements', children: [item], isOpen: false, isOrdered: false };
    }
    if (content.kind !== 'elements' || content.mixed) return any;
    const children: ChildView[] = [];
    // A derived type, selected by xsi:type, may have more elements.
    let isOpen = derived.length > 0 || abstract || (json?.kind === 'object' && json.others.length > 0);
    const walk = (particle: Particle, repeats: boolean, required: boolean): void => {
      const again = repeats || particle.most > 1;
      const must = required && particle.least > 0;
      if (particle.kind === 'any') isOpen = true;
      else if (particle.kind === 'element') {
        const { element } = particle;
        const isElsewhere = particle.json !== undefined && particle.json === this.#credentials;
        if (element.substitutes.length === 0)
          children.push(this.#child(element, again, must && !isElsewhere));
        // Any element of the substitution group is possible (A20), and other documents may declare more.
        else
          for (const one of [element, ...element.substitutes]) children.push(this.#child(one, again, false));
        if (element.substitutes.length > 0) isOpen = true;
      } else for (const inner of particle.particles) walk(inner, again, must && particle.kind !== 'choice');
    };
    walk(content.particle, false, true);
    const names = new Set(children.map(({ local }) => local));
    const isOrdered =
      json?.kind !== 'union' &&
      content.particle.kind === 'sequence' &&
      content.particle.most === 1 &&
      names.size === children.length &&
      membersOf(content.particle).choices.length === 0;
    return { kind: 'elements', children, isOpen, isOrdered };
  }

  #child(element: ElementDeclaration, repeats: boolean, required: boolean): ChildView {
    const { local, namespace } = element.name;
    const isFree = (element.nillable && element.demands === undefined) || element.value !== undefined;
    return {
      local,
      namespace,
      repeats,
      required: required && !isFree,
      view: () => this.#ofType(element.type),
    };
  }
}
