import { scalarTable } from './codec/scalars/table.ts';
import { adoptedOperation } from './contract/adopted.ts';
import { anySimpleType, anyType, builtInTypes, noFacets } from './contract/built-in-types.ts';
import { noMembers } from './contract/members.ts';
import type {
  ArrayType,
  Contract,
  MapType,
  NamedType,
  Operation,
  RecordType,
  Type,
} from './contract/model.ts';
import type {
  AdoptedMessage,
  ComplexType,
  Content,
  ElementDeclaration,
  JsonForm,
  Member,
  QName,
  SchemaType,
  SimpleType,
} from './contract/type-graph.ts';

/** The graph of a contract's types, for all kinds of contracts. Nodes are created on first use, one per type. */
export interface TypeGraph {
  readonly nodeOf: (type: Type) => SchemaType;
  /** Returns the type of an OpenAPI contract that a node was created from; its codecs are compiled from that type. */
  readonly sourceOf: (node: SchemaType) => Type | undefined;
  /** The request and the reply of an operation; undefined for the reply of a one-way operation. */
  readonly messagesOf: (operation: Operation) => OperationMessages;
}

/** The two messages of an operation. */
export interface OperationMessages {
  readonly input: AdoptedMessage;
  readonly output: AdoptedMessage | undefined;
}

const graphs = new WeakMap<Contract, TypeGraph>();

/** Returns the type graph of a contract, created on the first call. */
export function typeGraphOf(contract: Contract): TypeGraph {
  const graph = graphs.get(contract) ?? new Nodes(contract);
  graphs.set(contract, graph);
  return graph;
}

/** An element in the sequence of an object, a list or a map. */
type ElementMember = Extract<Member, { kind: 'element' }>;

/** The parts of an element besides its name and type. */
type ElementParts = Pick<ElementDeclaration, 'demands'> & { readonly nillable?: boolean | undefined };

class Nodes implements TypeGraph {
  readonly #contract: Contract;
  readonly #nodes = new Map<Type, SchemaType>();
  readonly #sources = new Map<SchemaType, Type>();
  /** By scalar name, because the loader creates many objects of one scalar. */
  readonly #scalars = new Map<string, SimpleType>();

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  nodeOf(type: Type): SchemaType {
    const known = this.#nodes.get(type) ?? this.#make(type);
    this.#nodes.set(type, known);
    this.#sources.set(known, type);
    return known;
  }

  sourceOf(node: SchemaType): Type | undefined {
    return this.#sources.get(node);
  }

  messagesOf({ name, input, output }: Operation): OperationMessages {
    const declared = adoptedOperation(this.#contract, name);
    if (declared !== undefined) return declared;
    return { input: this.#message(name, input), output: this.#message(`${name}Response`, output) };
  }

  #message(local: string, type: RecordType): AdoptedMessage {
    const element = this.#element(local, type, 'types', {});
    return { use: 'literal', body: { kind: 'element', element }, headers: [] };
  }

  #make(type: Type): SchemaType {
    switch (type.kind) {
      case 'scalar': {
        const { scalar } = type;
        const known = this.#scalars.get(scalar);
        const node = known ?? { ...(builtInTypes.get(scalarTable[scalar].xsd) ?? anySimpleType), scalar };
        this.#scalars.set(scalar, node);
        return node;
      }
      case 'enum':
        return {
          kind: 'simple',
          name: this.#nameOf(type),
          builtIn: 'string',
          base: builtInTypes.get('string'),
          variety: { kind: 'atomic' },
          facets: { ...noFacets, enumeration: type.values },
          documentation: type.documentation,
        };
      case 'record':
        return this.#record(type);
      case 'union': {
        const variants = type.variants.map(({ xml, takes, tag, nillable, ...demands }) => {
          return { element: this.#element(xml, demands.type, 'types', { nillable, demands }), takes, tag };
        });
        const elements = variants.map(({ element }) => optional(element));
        return this.#complex(type, sequenceOf(elements), { kind: 'union', variants });
      }
      case 'tuple': {
        const positions = type.positions.map(({ xml, type: its, ...demands }) =>
          this.#element(xml, its, 'types', { nillable: true, demands }),
        );
        const rest =
          type.rest && this.#element(type.rest.xml, type.rest.type, 'types', { demands: type.rest });
        const elements = rest === undefined ? positions : [...positions, rest];
        return this.#complex(type, sequenceOf(elements.map(optional)), { kind: 'tuple', positions, rest });
      }
      case 'array': {
        const item = repeated(
          this.#element(type.itemName, type.item, type.namespace, { nillable: true, demands: {} }),
        );
        return this.#complex(type, sequenceOf([item]), { kind: 'list', item });
      }
      case 'map':
        return this.#map(type);
    }
  }

  #record(type: RecordType): ComplexType {
    const members = type.fields.map((field): ElementMember => {
      const { xml, json, required, nillable } = field;
      const element = this.#element(xml, field.type, 'types', { nillable, demands: field });
      const least = required ? 1 : 0;
      return { kind: 'element', json, repeats: false, least, most: 1, required, element };
    });
    const { typed, untyped } = type.additional ?? {};
    const others = [typed, untyped].flatMap((each) =>
      each === undefined ? [] : [this.#element(each.xml, each.type, 'types', { demands: each })],
    );
    return this.#complex(type, sequenceOf([...members, ...others.map(optional)]), {
      kind: 'object',
      attributes: [],
      members: { ...noMembers, members },
      value: undefined,
      others,
    });
  }

  /** The entries have an anonymous type with a Key and a Value; only the key is required (W20). */
  #map(type: MapType): ComplexType {
    const { namespace } = type;
    const key = this.#element('Key', { kind: 'scalar', scalar: 'string' }, namespace, { demands: {} });
    const value = this.#element('Value', type.value, namespace, { nillable: true, demands: {} });
    const content = sequenceOf([{ ...optional(key), least: 1, required: true }, optional(value)]);
    const entry: ComplexType = { ...this.#complex(type, content, undefined), name: undefined };
    const item = elementOf(this.#qualified(type.entryName, namespace), () => entry, { demands: {} });
    return this.#complex(type, { kind: 'map', item, key, value }, { kind: 'map', value });
  }

  #complex(
    type: Exclude<NamedType, { kind: 'enum' }>,
    content: Content,
    json: JsonForm | undefined,
  ): ComplexType {
    return {
      ...anyType,
      name: this.#nameOf(type),
      anyAttribute: false,
      content,
      documentation: 'documentation' in type ? type.documentation : '',
      json,
      ...((type.kind === 'array' || type.kind === 'map') && { isGenerated: true }),
    };
  }

  #nameOf(type: NamedType): QName {
    const schema = type.kind === 'array' || type.kind === 'map' ? type.namespace : 'types';
    return this.#qualified(type.name, schema);
  }

  #qualified(local: string, schema: ArrayType['namespace']): QName {
    return { namespace: this.#contract.namespaces[schema], local };
  }

  #element(
    local: string,
    type: Type,
    schema: ArrayType['namespace'],
    parts: ElementParts,
  ): ElementDeclaration {
    const typeOf = (): SchemaType => this.#allowedOf(this.nodeOf(type), parts.demands?.allowed);
    return elementOf(this.#qualified(local, schema), typeOf, parts);
  }

  /** Returns the type with only the values that are allowed at one position. */
  #allowedOf(type: SchemaType, allowed: readonly string[] | undefined): SchemaType {
    if (allowed === undefined || type.kind !== 'simple') return type;
    const node = { ...type, facets: { ...type.facets, enumeration: allowed } };
    const source = this.#sources.get(type);
    if (source !== undefined) this.#sources.set(node, source);
    return node;
  }
}

/** Creates an element with a type that is looked up on first access, because types may contain themselves. */
function elementOf(
  name: QName,
  typeOf: () => SchemaType,
  { nillable = false, demands }: ElementParts,
): ElementDeclaration {
  let type: SchemaType | undefined;
  return {
    name,
    global: false,
    get type() {
      type ??= typeOf();
      return type;
    },
    nillable,
    abstract: false,
    value: undefined,
    substitutes: [],
    documentation: demands?.words?.description ?? '',
    demands,
  };
}

function optional(element: ElementDeclaration): ElementMember {
  const json = element.name.local;
  return { kind: 'element', json, repeats: false, least: 0, most: 1, required: false, element };
}

function repeated(element: ElementDeclaration): ElementMember {
  return { ...optional(element), repeats: true, most: Number.POSITIVE_INFINITY };
}

function sequenceOf(particles: readonly ElementMember[]): Content {
  return {
    kind: 'elements',
    mixed: false,
    particle: { kind: 'sequence', least: 1, most: 1, particles },
  };
}
