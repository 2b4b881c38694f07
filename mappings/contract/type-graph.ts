import type { Demands, JsonKind, ScalarName, Tag } from './values.ts';

/**
 * The type graph: all types of a contract, with the XML and the JSON side of their values. The XML side has the
 * components of XML Schema (XSD 1.0, part 1, 2.2) with references resolved, groups expanded, and inherited attributes
 * and content merged. The JSON side is the type's `JsonForm`. Types refer to each other directly, also in cycles. The
 * loader of a WSDL builds its part once; `mappings/type-graph.ts` creates the nodes of an OpenAPI contract on first
 * use.
 */

/** The name of a component; `namespace` is `''` for none. */
export interface QName {
  readonly namespace: string;
  readonly local: string;
}

/** An element declaration. `name.namespace` is the namespace in messages, with the declaration's form applied. */
export interface ElementDeclaration {
  readonly name: QName;
  /** True for a global element, which may be referenced and substituted. */
  readonly global: boolean;
  readonly type: SchemaType;
  readonly nillable: boolean;
  readonly abstract: boolean;
  /** `default` or `fixed` of the document. */
  readonly value: ValueConstraint | undefined;
  /** The global elements that may substitute it, transitively, without abstract ones and itself. */
  readonly substitutes: readonly ElementDeclaration[];
  readonly documentation: string;
  /** The rules of an OpenAPI contract for values here; with them a required element must not be nil (W42). */
  readonly demands?: Demands | undefined;
}

/** Returns the declaration of an element that has only a name and a type. */
export function plainElement(name: QName, type: SchemaType, nillable: boolean): ElementDeclaration {
  return {
    name,
    global: false,
    type,
    nillable,
    abstract: false,
    value: undefined,
    substitutes: [],
    documentation: '',
  };
}

/** A default or fixed value of an element or attribute (XSD 1.0, part 1, 3.2.1, 3.3.1). */
export interface ValueConstraint {
  readonly kind: 'default' | 'fixed';
  readonly text: string;
}

/** The type of an element: attributes and content, or text only. */
export type SchemaType = ComplexType | SimpleType;

/** A complex type definition (XSD 1.0, part 1, 3.4), with inherited parts merged. */
export interface ComplexType {
  readonly kind: 'complex';
  /** Undefined for an anonymous type. */
  readonly name: QName | undefined;
  readonly abstract: boolean;
  /** Undefined if the base is `xs:anyType`. */
  readonly base: SchemaType | undefined;
  readonly derivation: 'extension' | 'restriction';
  /** The named complex types that are derived from it directly, in document order. */
  readonly derived: readonly ComplexType[];
  /** Inherited attributes, then its own, without prohibited ones. */
  readonly attributes: readonly AttributeUse[];
  readonly anyAttribute: boolean;
  readonly content: Content;
  readonly documentation: string;
  /** Set for a type of an OpenAPI contract; otherwise derived from the components (`jsonFormOf`). */
  readonly json?: JsonForm | undefined;
  /** True for the type of a list or map without a name in the document. Pages show its items instead. */
  readonly isGenerated?: true;
}

/** The content between the tags. The content of an extension begins with that of its base. */
export type Content =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly type: SimpleType }
  | { readonly kind: 'elements'; readonly particle: Particle; readonly mixed: boolean }
  /** Mixed content without declared elements. */
  | { readonly kind: 'mixed' }
  /**
   * An array of SOAP 1.1 or 1.2 encoding (`soapenc:Array` restricted by `wsdl:arrayType`); `dimensions` is 1 for
   * `item[]`.
   */
  | { readonly kind: 'encodedArray'; readonly item: SchemaType; readonly dimensions: number }
  /** The `Map` of Apache SOAP: any number of items, each with a key and a value. */
  | {
      readonly kind: 'map';
      readonly item: ElementDeclaration;
      readonly key: ElementDeclaration;
      readonly value: ElementDeclaration;
    };

/** An attribute of a complex type (XSD 1.0, part 1, 3.5). */
export interface AttributeUse {
  /** The name in messages: no namespace unless it is qualified or referenced. */
  readonly name: QName;
  readonly type: SimpleType;
  readonly required: boolean;
  readonly value: ValueConstraint | undefined;
  readonly documentation: string;
  /** The name of its JSON member if that is not its local name (A33). */
  readonly json?: string | undefined;
}

/** `most` is `Infinity` for `unbounded`. */
export type Particle = { readonly least: number; readonly most: number } & (
  | {
      readonly kind: 'element';
      readonly element: ElementDeclaration;
      /** The name of its JSON member if that is not its local name (A33). */
      readonly json?: string | undefined;
    }
  | { readonly kind: 'any'; readonly wildcard: Wildcard }
  | { readonly kind: 'sequence' | 'choice' | 'all'; readonly particles: readonly Particle[] }
);

/** The elements that an `xs:any` accepts (XSD 1.0, part 1, 3.10). */
export interface Wildcard {
  readonly namespaces:
    | { readonly kind: 'any' }
    /** Any namespace except this one and none (`##other`). */
    | { readonly kind: 'other'; readonly than: string }
    | { readonly kind: 'list'; readonly list: readonly string[] };
  readonly process: 'strict' | 'lax' | 'skip';
  /** The namespace of names without one, if its elements are members of an object (A22, `open`). */
  readonly fieldsOf?: string;
}

/** A simple type definition (XSD 1.0, part 1, 3.14). */
export interface SimpleType {
  readonly kind: 'simple';
  /** Undefined for an anonymous type; for a built-in type, its name in the XSD namespace. */
  readonly name: QName | undefined;
  /**
   * The nearest built-in type that it is derived from, for example `token` or `int`; `anySimpleType` for a list or
   * union.
   */
  readonly builtIn: BuiltIn;
  readonly base: SimpleType | undefined;
  readonly variety:
    | { readonly kind: 'atomic' }
    | { readonly kind: 'list'; readonly item: SimpleType }
    | { readonly kind: 'union'; readonly members: readonly SimpleType[] };
  readonly facets: Facets;
  readonly documentation: string;
  /**
   * The scalar of an OpenAPI contract, which determines the JSON of values; if undefined, `builtIn` and the settings do
   * (A26).
   */
  readonly scalar?: ScalarName;
}

/** The effective facets, merged with those of bases. */
export interface Facets {
  /** Undefined for no enumeration. The texts of the document with folded white space. */
  readonly enumeration: readonly string[] | undefined;
  /** Groups of alternative patterns, in XSD syntax. A value must match one pattern of each group. */
  readonly patterns: readonly (readonly string[])[];
  readonly whiteSpace: 'preserve' | 'replace' | 'collapse';
  readonly length: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minInclusive: string | undefined;
  readonly maxInclusive: string | undefined;
  readonly minExclusive: string | undefined;
  readonly maxExclusive: string | undefined;
  readonly totalDigits: number | undefined;
  readonly fractionDigits: number | undefined;
}

/** The built-in types of XSD 1.0, part 2, chapter 3, and the two root types. */
export type BuiltIn =
  | 'anyType'
  | 'anySimpleType'
  | 'string'
  | 'normalizedString'
  | 'token'
  | 'language'
  | 'Name'
  | 'NCName'
  | 'NMTOKEN'
  | 'NMTOKENS'
  | 'ID'
  | 'IDREF'
  | 'IDREFS'
  | 'ENTITY'
  | 'ENTITIES'
  | 'anyURI'
  | 'QName'
  | 'NOTATION'
  | 'boolean'
  | 'decimal'
  | 'integer'
  | 'nonPositiveInteger'
  | 'negativeInteger'
  | 'nonNegativeInteger'
  | 'positiveInteger'
  | 'byte'
  | 'unsignedByte'
  | 'short'
  | 'unsignedShort'
  | 'int'
  | 'unsignedInt'
  | 'long'
  | 'unsignedLong'
  | 'float'
  | 'double'
  | 'duration'
  | 'dateTime'
  | 'time'
  | 'date'
  | 'gYearMonth'
  | 'gYear'
  | 'gMonthDay'
  | 'gDay'
  | 'gMonth'
  | 'hexBinary'
  | 'base64Binary';

/** Returns the key of a QName in maps: `{namespace}local`. */
export function expanded({ namespace, local }: QName): string {
  return `{${namespace}}${local}`;
}

/** The content of a request or reply, as its binding declares it (A7, A8). */
export interface AdoptedMessage {
  readonly use: 'literal' | 'encoded';
  readonly body: AdoptedBody;
  /** The header blocks that the binding declares (A8). */
  readonly headers: readonly ElementDeclaration[];
}

/** The content of `soap:Body` (A7). */
export type AdoptedBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'element'; readonly element: ElementDeclaration }
  /** The wrapper of an rpc call or reply. Its parts are elements without a namespace, in the message's order (A30). */
  | { readonly kind: 'rpc'; readonly wrapper: QName; readonly parts: readonly ElementDeclaration[] };

/** Returns true if a type is another type or derived from it (XSD Part 1, 2.6.1). */
export function isDerived(type: SchemaType, from: SchemaType): boolean {
  for (let at: SchemaType | undefined = type; at !== undefined; at = at.base) if (at === from) return true;
  return false;
}

/** Returns the simple type of an element's text; undefined if it may have child elements. */
export function textTypeOf(type: SchemaType): SimpleType | undefined {
  if (type.kind === 'simple') return type;
  return type.content.kind === 'text' ? type.content.type : undefined;
}

/**
 * Returns the types that a value of a complex type may contain directly: attributes, elements and their substitutes,
 * items, derived types.
 */
export function contentTypes({ attributes, content, derived }: ComplexType): readonly SchemaType[] {
  const types: SchemaType[] = [...derived, ...attributes.map(({ type }) => type)];
  const walk = (particle: Particle): void => {
    if (particle.kind === 'element') {
      types.push(particle.element.type);
      for (const { type } of particle.element.substitutes) types.push(type);
    } else if (particle.kind !== 'any') for (const inner of particle.particles) walk(inner);
  };
  if (content.kind === 'elements') walk(content.particle);
  else if (content.kind === 'text') types.push(content.type);
  else if (content.kind === 'encodedArray') types.push(content.item);
  else if (content.kind === 'map') types.push(content.key.type, content.value.type);
  return types;
}

/** Returns the types that are reachable from types, including those. */
export function reachableTypes(roots: Iterable<SchemaType>): ReadonlySet<SchemaType> {
  const reached = new Set(roots);
  for (const type of reached)
    if (type.kind === 'complex') for (const part of contentTypes(type)) reached.add(part);
  return reached;
}

/** Returns the elements of a message: its header blocks, then its body's element or the parts of an rpc wrapper. */
export function messageElements({ body, headers }: AdoptedMessage): readonly ElementDeclaration[] {
  if (body.kind === 'element') return [...headers, body.element];
  return body.kind === 'rpc' ? [...headers, ...body.parts] : headers;
}

/** An attribute as a member. */
export interface AttributeMember {
  readonly json: string;
  readonly use: AttributeUse;
}

/** A member of a type's content: an element, the elements of a wildcard, or the repetitions of a group. */
export type Member = {
  readonly json: string;
  /** True if it is an array. */
  readonly repeats: boolean;
  /** Minimum number of items in an instance; 0 for a member of a choice. */
  readonly least: number;
  /** Maximum number of items in an instance. */
  readonly most: number;
  /** True if each instance has it. */
  readonly required: boolean;
} & (
  | { readonly kind: 'element'; readonly element: ElementDeclaration }
  | {
      readonly kind: 'any';
      readonly wildcards: readonly Wildcard[];
      /** The namespace of names without one, if its elements are members of one object (A22). */
      readonly fieldsOf: string | undefined;
    }
  | { readonly kind: 'rounds'; readonly content: Members }
);

/** The order of elements, if members have several positions (A15). */
export type Order =
  | { readonly kind: 'member'; readonly index: number; readonly most: number }
  | { readonly kind: 'sequence'; readonly parts: readonly Order[] }
  | {
      readonly kind: 'choice';
      readonly parts: readonly { readonly order: Order; readonly members: ReadonlySet<number> }[];
      /** Members that also have positions outside the choice. */
      readonly outside: ReadonlySet<number>;
    };

/** A choice that occurs at most once: at most one of its branches may have members. */
export interface Choice {
  readonly branches: readonly ReadonlySet<number>[];
}

/** The members of a type's content, in the schema's order. */
export interface Members {
  readonly members: readonly Member[];
  readonly choices: readonly Choice[];
  /** Undefined if elements have the order of `members`. */
  readonly order: Order | undefined;
}

/** The JSON side of a type. */
export type JsonForm =
  /** A string, number or boolean; any value for the scalar `json`. */
  | { readonly kind: 'scalar'; readonly type: SimpleType }
  /** A string of XML: inner XML, or a value of `xs:anyType` (A23, A24). */
  | { readonly kind: 'xml' }
  | ObjectForm
  /** An array with an item for each element of one repeated member (A13, W15). */
  | { readonly kind: 'list'; readonly item: Member }
  /** An object with free keys; `value` is the element of each value (A23, W20). */
  | { readonly kind: 'map'; readonly value: ElementDeclaration }
  /** An array with an element per position, then the items of `rest`. */
  | {
      readonly kind: 'tuple';
      readonly positions: readonly ElementDeclaration[];
      readonly rest: ElementDeclaration | undefined;
    }
  /** A value of one of several types, each in its own element. */
  | { readonly kind: 'union'; readonly variants: readonly UnionVariant[] }
  /** An array of several dimensions, which messages must not contain. */
  | { readonly kind: 'refused' };

/** A JSON object: attributes, then the content between the tags. */
export interface ObjectForm {
  readonly kind: 'object';
  readonly attributes: readonly AttributeMember[];
  /** The members of a complex type without text. */
  readonly members: Members;
  /** The member for the text; `type` is undefined for inner XML (A14, A24). */
  readonly value: { readonly json: string; readonly type: SimpleType | undefined } | undefined;
  /** Map elements for members with other names (W20). */
  readonly others: readonly ElementDeclaration[];
}

/** One of the types of a union. */
export interface UnionVariant {
  readonly element: ElementDeclaration;
  /** The kind of JSON values that it accepts. */
  readonly takes: JsonKind;
  /** The member that identifies objects of the variant by its value; undefined if their member names do. */
  readonly tag: Tag | undefined;
}
