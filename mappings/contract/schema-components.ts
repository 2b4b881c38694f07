/**
 * The components of XML Schema (XSD 1.0, part 1, 2.2) and of WSDL 1.1 that an adopted service is made of, as plain data: built
 * once by the loader, read by the codecs, the endpoints and the derived OpenAPI. References are followed, groups expanded,
 * inherited attributes and content merged; types refer to one another directly, in circles too. No JSON here.
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
}

/** What stands between the tags; of an extension, the base's content first. */
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
  /** What its member is called in JSON, where that isn't its local name (A33). */
  readonly json?: string | undefined;
}

/** `most` is `Infinity` for `unbounded`. */
export type Particle = { readonly least: number; readonly most: number } & (
  | {
      readonly kind: 'element';
      readonly element: ElementDeclaration;
      /** What its member is called in JSON, where that isn't its local name (A33). */
      readonly json?: string | undefined;
    }
  | { readonly kind: 'any'; readonly wildcard: Wildcard }
  | { readonly kind: 'sequence' | 'choice' | 'all'; readonly particles: readonly Particle[] }
);

/** What an `xs:any` takes (XSD 1.0, part 1, 3.10). */
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

/** A service as its WSDL says it, all of what is served (A1–A9). */
export interface AdoptedService {
  /** `wsdl:definitions/@targetNamespace`. */
  readonly namespace: string;
  /** The name of its `wsdl:service`; of several, the first. */
  readonly name: string;
  readonly documentation: string;
  readonly ports: readonly AdoptedPort[];
  readonly operations: readonly AdoptedOperation[];
  /** Operations, ports and bindings that aren't served, each with the reason (A4, A7). */
  readonly notServed: readonly NotServedPart[];
  /** The named types that a value may say (`xsi:type`) and those that operations reach, by their JSON name (A19). */
  readonly typeNames: ReadonlyMap<SchemaType, string>;
  /** Every global element and named type of the documents, for wildcards, headers and `xsi:type`. */
  readonly elements: ReadonlyMap<string, ElementDeclaration>;
  readonly types: ReadonlyMap<string, SchemaType>;
  readonly documents: readonly AdoptedDocument[];
  /** All documents as one WSDL (A2); undefined if the first document has no imports. */
  readonly single: readonly SinglePiece[] | undefined;
  /** What policies ask for (A31), a line each, and whether it can be met. */
  readonly policies: readonly {
    readonly text: string;
    readonly served: boolean;
    readonly kind: PolicyKind;
  }[];
}

/** An operation, port or binding that is not served. */
export interface NotServedPart {
  /** `portType.operation`, or the name of a port or binding. */
  readonly name: string;
  readonly reason: string;
  /** The document that the reason is in: its path in the folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number | undefined;
}

/** What a policy may ask for, of what is told apart (A31). */
export type PolicyKind = 'usernameToken' | 'addressing' | 'mtom' | 'other';

/** The key of a QName in the maps: `{namespace}local`. */
export function expanded({ namespace, local }: QName): string {
  return `{${namespace}}${local}`;
}

/** A document to be served as it is but for some places (A1, A2). */
export interface AdoptedDocument {
  readonly kind: 'wsdl' | 'xsd';
  /** The path in the folder. */
  readonly file: string;
  /** `n` of `?wsdl=n` or `?xsd=n`; 0 for the first, which is `?wsdl`. */
  readonly number: number;
  /** True for a schema that comes with the code, because an import of it leads to no file (A2). */
  readonly isBuiltIn: boolean;
  readonly bytes: Uint8Array;
  /** The IANA name of the encoding of `bytes`, such as `utf-8` or `iso-8859-1`. */
  readonly charset: string;
  /** Spans of `bytes`, in order, to put something else in place of: attribute values without their quotes, and the content of elements. */
  readonly places: readonly AdoptedPlace[];
}

/** A span of bytes of a served document, and what goes there. */
export type AdoptedPlace = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'address'; readonly port: string }
  /** A binding or port, with the SOAP version that it is of; `other` is HTTP and others. It holds other places. */
  | { readonly kind: 'version'; readonly soap: '1.1' | '1.2' | 'other' }
  /** `location`: the location as the author wrote it. */
  | { readonly kind: 'location'; readonly document: AdoptedDocument; readonly location: string }
);

/** A part of the single WSDL: a text, or the address of a port. */
export type SinglePiece = {
  /** The version of the binding or port that it is in; undefined outside of them. */
  readonly soap: '1.1' | '1.2' | 'other' | undefined;
} & ({ readonly text: string } | { readonly port: string });

/** A port with a SOAP address (A5). */
export interface AdoptedPort {
  readonly name: string;
  /** The path of its address as the WSDL has it, `/` and more; undefined where the address has none. */
  readonly path: string | undefined;
  readonly soap: '1.1' | '1.2';
  readonly operations: readonly AdoptedOperation[];
}

/** An operation of a port type that has a SOAP binding (A4). */
export interface AdoptedOperation {
  /** In JSON (A4): `POST /{name}`. */
  readonly name: string;
  /** In the WSDL, and the port type it is of. */
  readonly wsdlName: string;
  readonly portType: string;
  readonly documentation: string;
  readonly style: 'document' | 'rpc';
  /** `soapAction` of the binding; `''` for none. The same operation may have several by its bindings; this one is the first's. */
  readonly action: string;
  /** Each `soapAction` of its bindings, and the WS-Addressing action that its input declares; empty ones are omitted. */
  readonly actions: readonly string[];
  /** The WS-Addressing action of its reply (A34); undefined for a one-way operation. */
  readonly replyAction: string | undefined;
  readonly input: AdoptedMessage;
  /** Undefined for a one-way operation (A9). */
  readonly output: AdoptedMessage | undefined;
  readonly faults: readonly AdoptedFault[];
}

/** What a request or reply holds, as its binding says (A7, A8). */
export interface AdoptedMessage {
  readonly use: 'literal' | 'encoded';
  readonly body: AdoptedBody;
  /** The header blocks that the binding declares (A8). */
  readonly headers: readonly ElementDeclaration[];
}

/** What stands in `soap:Body` (A7). */
export type AdoptedBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'element'; readonly element: ElementDeclaration }
  /** The wrapper of an rpc call or reply; its parts are elements without a namespace, in the message's order (A30). */
  | { readonly kind: 'rpc'; readonly wrapper: QName; readonly parts: readonly ElementDeclaration[] };

/** A declared fault (A29); its detail is `element`. */
export interface AdoptedFault {
  readonly name: string;
  readonly element: ElementDeclaration;
  readonly use: 'literal' | 'encoded';
  /** Its WS-Addressing actions (A34). */
  readonly action: FaultAction;
}

/** The WS-Addressing action of a fault: the one that the WSDL declares, and the default one (A34). */
export interface FaultAction {
  readonly declared: string | undefined;
  readonly default: string;
}

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
