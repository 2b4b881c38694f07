import type { Demands, JsonKind, ScalarName, Tag } from './values.ts';

/**
 * The graph of types: every type of a contract with both sides of its values. The XML side is made of the components of XML
 * Schema (XSD 1.0, part 1, 2.2): references are followed, groups expanded, inherited attributes and content merged. The JSON
 * side is the type's `JsonForm`. Types refer to one another directly, in circles too. The loader of a WSDL builds its part once;
 * `mappings/type-graph.ts` makes the nodes of an OpenAPI contract on first use.
 */

/** A name of a component; `namespace` is `''` for none. */
export interface QName {
  readonly namespace: string;
  readonly local: string;
}

/** An element declaration with its form applied: `name.namespace` is what stands on the wire. */
export interface ElementDeclaration {
  readonly name: QName;
  /** True for one at the top of a schema, which may be referred to and substituted. */
  readonly global: boolean;
  readonly type: SchemaType;
  readonly nillable: boolean;
  readonly abstract: boolean;
  /** `default` or `fixed`, as the document has it. */
  readonly value: ValueConstraint | undefined;
  /** The global elements that may stand in its place, abstract ones left out, itself not among them; transitive. */
  readonly substitutes: readonly ElementDeclaration[];
  readonly documentation: string;
  /** The demands of an OpenAPI contract on values here; with them a required element may not be nil (W42). */
  readonly demands?: Demands | undefined;
}

/** A default or fixed value of an element or attribute (XSD 1.0, part 1, 3.2.1, 3.3.1). */
export interface ValueConstraint {
  readonly kind: 'default' | 'fixed';
  readonly text: string;
}

/** The type of an element: of attributes and content, or of text alone. */
export type SchemaType = ComplexType | SimpleType;

/** A complex type definition (XSD 1.0, part 1, 3.4), what it inherits merged in. */
export interface ComplexType {
  readonly kind: 'complex';
  /** Undefined for an anonymous one. */
  readonly name: QName | undefined;
  readonly abstract: boolean;
  /** Undefined for one of `xs:anyType`. */
  readonly base: SchemaType | undefined;
  readonly derivation: 'extension' | 'restriction';
  /** The complex types derived from it directly that are named, in the documents' order. */
  readonly derived: readonly ComplexType[];
  /** Its own and the inherited ones, the base's first; prohibited ones left out. */
  readonly attributes: readonly AttributeUse[];
  readonly anyAttribute: boolean;
  readonly content: Content;
  readonly documentation: string;
  /** Given for a type of an OpenAPI contract; otherwise it follows from the components (`jsonFormOf`). */
  readonly json?: JsonForm | undefined;
  /** True for the type of a list or map that no document names, so that pages show its items instead. */
  readonly isGenerated?: true;
}

/** The content between the tags. The content of an extension begins with that of its base. */
export type Content =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly type: SimpleType }
  | { readonly kind: 'elements'; readonly particle: Particle; readonly mixed: boolean }
  /** Mixed without any element declared. */
  | { readonly kind: 'mixed' }
  /** An array of SOAP 1.1 or 1.2 encoding (`soapenc:Array` restricted by `wsdl:arrayType`); `dimensions` is 1 for `item[]`. */
  | { readonly kind: 'encodedArray'; readonly item: SchemaType; readonly dimensions: number }
  /** The `Map` of Apache SOAP: any number of items, each with a key and a value. */
  | {
      readonly kind: 'map';
      readonly item: ElementDeclaration;
      readonly key: ElementDeclaration;
      readonly value: ElementDeclaration;
    };

/** An attribute that a complex type has (XSD 1.0, part 1, 3.5). */
export interface AttributeUse {
  /** As on the wire: no namespace unless qualified or referred to. */
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
    /** Any but this one and none (`##other`). */
    | { readonly kind: 'other'; readonly than: string }
    | { readonly kind: 'list'; readonly list: readonly string[] };
  readonly process: 'strict' | 'lax' | 'skip';
  /** Where its elements are the members of an object (A22, `open`): the namespace of names without one. */
  readonly fieldsOf?: string;
}

/** A simple type definition (XSD 1.0, part 1, 3.14). */
export interface SimpleType {
  readonly kind: 'simple';
  /** Undefined for an anonymous one; of the built-in ones, their name in the XSD namespace. */
  readonly name: QName | undefined;
  /** The nearest built-in type that it is derived from, such as `token` or `int`; of a list or a union `anySimpleType`. */
  readonly builtIn: BuiltIn;
  readonly base: SimpleType | undefined;
  readonly variety:
    | { readonly kind: 'atomic' }
    | { readonly kind: 'list'; readonly item: SimpleType }
    | { readonly kind: 'union'; readonly members: readonly SimpleType[] };
  readonly facets: Facets;
  readonly documentation: string;
  /** The scalar of an OpenAPI contract, which decides the JSON of its values; undefined: `builtIn` and the settings do (A26). */
  readonly scalar?: ScalarName;
}

/** The facets in force, those of bases merged. */
export interface Facets {
  /** Undefined for no enumeration. Texts as the document has them, white space folded. */
  readonly enumeration: readonly string[] | undefined;
  /** Groups that all have to match, each a list of patterns of which one has to; as XSD writes them. */
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

/** The built-in types of XSD 1.0, part 2, chapter 3, and the two at the root. */
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

/** The key of a QName in the maps: `{namespace}local`. */
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
  /** The wrapper of an rpc call or reply; its parts are elements without a namespace, in the message's order (A30). */
  | { readonly kind: 'rpc'; readonly wrapper: QName; readonly parts: readonly ElementDeclaration[] };

/** The simple type of an element's text; undefined where it has elements or may have any. */
export function textTypeOf(type: SchemaType): SimpleType | undefined {
  if (type.kind === 'simple') return type;
  return type.content.kind === 'text' ? type.content.type : undefined;
}

/** The types that a value of a complex type may hold directly: of attributes, elements and their substitutes, items, derived types. */
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

/** An attribute as a member. */
export interface AttributeMember {
  readonly json: string;
  readonly use: AttributeUse;
}

/** A member of a type's content: an element, the elements of a wildcard, or the repetitions of a group. */
export type Member = {
  readonly json: string;
  /** An array. */
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
      /** Where its elements are members of one object: the namespace of names without one (A22). */
      readonly fieldsOf: string | undefined;
    }
  | { readonly kind: 'rounds'; readonly content: Members }
);

/** The order of the wire, where members stand in several places (A15). */
export type Order =
  | { readonly kind: 'member'; readonly index: number; readonly most: number }
  | { readonly kind: 'sequence'; readonly parts: readonly Order[] }
  | {
      readonly kind: 'choice';
      readonly parts: readonly { readonly order: Order; readonly members: ReadonlySet<number> }[];
      /** Members that have places elsewhere too. */
      readonly outside: ReadonlySet<number>;
    };

/** A choice that stands at most once: members of one of its branches at most may be there. */
export interface Choice {
  readonly branches: readonly ReadonlySet<number>[];
}

/** The members of a type's content, in the schema's order. */
export interface Members {
  readonly members: readonly Member[];
  readonly choices: readonly Choice[];
  /** Undefined where that of `members` is the wire's. */
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
  /** An array whose items have an element each by position, then the items of `rest`. */
  | {
      readonly kind: 'tuple';
      readonly positions: readonly ElementDeclaration[];
      readonly rest: ElementDeclaration | undefined;
    }
  /** A value of one of several types, each in an element of its own. */
  | { readonly kind: 'union'; readonly variants: readonly UnionVariant[] }
  /** An array of several dimensions, which no message may hold. */
  | { readonly kind: 'refused' };

/** A JSON object: attributes, then what is between the tags. */
export interface ObjectForm {
  readonly kind: 'object';
  readonly attributes: readonly AttributeMember[];
  /** Of a complex type without text. */
  readonly members: Members;
  /** The member of the text; `type` is undefined for inner XML (A14, A24). */
  readonly value: { readonly json: string; readonly type: SimpleType | undefined } | undefined;
  /** Elements of maps that hold the members of other names (W20). */
  readonly others: readonly ElementDeclaration[];
}

/** One of the types of a union. */
export interface UnionVariant {
  readonly element: ElementDeclaration;
  /** The JSON values that may be of it. */
  readonly takes: JsonKind;
  /** The member whose value identifies objects of the variant; undefined if their member names do. */
  readonly tag: Tag | undefined;
}
