import type { Adopted, AdoptedDocument, AdoptedFault, SinglePiece } from './adopted.ts';
import type { Credentials, Wsse } from './credentials.ts';
import type { Settings } from './overlay-keys.ts';
import type { QName, SchemaType } from './type-graph.ts';
import type { Demands, JsonKind, Ruled, ScalarName, Tag, Words } from './values.ts';

export type { Bound, Check, FormatName, JsonKind, Ruled, Rules, ScalarName, Tag, Words } from './values.ts';

// The data types of a contract: plain frozen values and a few functions on them. This file reads and compiles nothing
// and imports only types, so that each module may import it.
/** The description of a service, built once at start and then constant. */
export interface Contract {
  /** The service name in the WSDL, for example `ScreeningApi`. */
  readonly service: string;
  readonly documentation: string;
  /** Path prefix of the contract's endpoints, for example `/v2`; `''` for the root (W1). */
  readonly basePath: string;
  readonly namespaces: { readonly types: string; readonly arrays: string };
  /** The meaning of `xsi:nil` and JSON null: it depends on the kind of the type (W13, W19), or it is always null. */
  readonly nulls: 'by-kind' | 'kept';
  /** The schema's name for JSON without a closed type. */
  readonly jsonType: string;
  readonly operations: readonly Operation[];
  /** The ports of the WSDL that the contract publishes, in its order (A5, W32). */
  readonly ports: readonly Port[];
  /** The documents of the WSDL, which are served (A1); empty if the gateway writes the WSDL (W32). */
  readonly documents: readonly AdoptedDocument[];
  /** The documents as one WSDL (A2); undefined if the first document has no imports. */
  readonly single?: readonly SinglePiece[] | undefined;
  /** The JSON names of the types that a value may state with `@type` (A19); empty for an OpenAPI document. */
  readonly typeNames: ReadonlyMap<SchemaType, string>;
  /** The parts of the document or WSDL that are not served, with the first reason of each. */
  readonly notServed: readonly { readonly name: string; readonly why: string }[];
  /** True if the contract can be served only with its mapping to another document (M1). */
  readonly isMapped?: boolean;
  /** All named types that are reachable from operations, in the order of the contract. */
  readonly types: readonly NamedType[];
  readonly routes: readonly Route[];
  readonly credentials: Credentials | undefined;
  /** Settings for reading WS-Security (W45); undefined if it is not read. */
  readonly wsse?: Wsse | undefined;
  /** The record of an in-band error (W26). It is also the content of `ErrorResponse` in all dialects (W36). */
  readonly responseStatus: RecordType;
  /** The type of the `detail` of faults; undefined if faults have no detail of the gateway. */
  readonly faultDetail?: FaultDetail | undefined;
  readonly settings: Settings;
  /** JSON members with values that must not be logged. */
  readonly personal: readonly string[];
  /**
   * The WSDL of a legacy service, if the contract is loaded from one (A1); undefined for a contract from an OpenAPI
   * document.
   */
  readonly adopted?: Adopted | undefined;
  /** The document's description of itself, for human-readable pages; undefined for an adopted contract. */
  readonly about?: About | undefined;
}

/** The title, contact and tags of an OpenAPI document. Texts are `''` if missing. */
export interface About {
  readonly title: string;
  readonly version: string;
  readonly contact: { readonly name: string; readonly email: string; readonly url: string };
  readonly license: { readonly name: string; readonly url: string };
  readonly termsOfService: string;
  readonly externalDocs: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

/** A port of a WSDL. Ports with the same path share an endpoint. */
export interface Port {
  readonly name: string;
  /** The name of the binding in collections of requests, which is the port's name in a WSDL that the contract was loaded from. */
  readonly binding: string;
  /** Below the contract's base path, for example `/Service.asmx`. */
  readonly path: string;
  readonly soap: '1.1' | '1.2';
  /** The names of its operations. */
  readonly operations: readonly string[];
}

/** The binding of an operation in the WSDL (A4, W32). */
export interface Binding {
  /** The operation's name in the WSDL. */
  readonly wsdlName: string;
  readonly style: 'document' | 'rpc';
  readonly use: 'literal' | 'encoded';
  /** The SOAPAction of requests; `''` for none. */
  readonly action: string;
  /** All actions that the WSDL declares: `action`, if it is not empty, and others (W4, A6). */
  readonly actions: readonly string[];
  /**
   * The parts of a message that select the operation. `name`: the element in Body has the operation's name, and an
   * action names the operation by the part after its last `/` or `#` (W4). `element`: the element in Body and the
   * declared actions (A6).
   */
  readonly dispatch: 'name' | 'element';
  /** The names of the declared header blocks of requests (A8). */
  readonly headers: readonly QName[];
  /** The declared faults (A29). */
  readonly faults: readonly AdoptedFault[];
}

/** An error response that the document declares for an operation. */
export interface DeclaredError {
  /** For example `404`, `4XX` or `default`. */
  readonly status: string;
  readonly description: string;
}

/** The names in the `detail` of a fault, as the WSDL declares them (W27). */
export interface FaultDetail {
  /** Name of the element, and of its type. */
  readonly element: string;
  /** Name of the type of one problem. */
  readonly problem: string;
  /** Name of the type of the list of problems. */
  readonly problems: string;
}

/** An operation: its input, its output and its upstream call. */
export interface Operation {
  readonly name: string;
  readonly documentation: string;
  /** The tags of the document. */
  readonly tags: readonly string[];
  readonly deprecated?: true;
  /** The error responses of the document, in its order; undefined for none. */
  readonly errors?: readonly DeclaredError[];
  /** True if a repeated call has no effect on the upstream. */
  readonly readOnly: boolean;
  readonly binding: Binding;
  /** Time from the start of the upstream call to the reply, in ms; undefined if the limits apply. */
  readonly timeoutMs?: number | undefined;
  /** True if the file in its upstream body may be streamed (W64). */
  readonly stream: boolean;
  /** The request wrapper; its fields are the children of `{types}{name}`. */
  readonly input: RecordType;
  /** The reply wrapper, of element `{types}{name}Response`. */
  readonly output: RecordType;
  readonly upstream: UpstreamCall;
  /** True if the input or the output has base64, which selects the limits. */
  readonly binaryInput: boolean;
  readonly binaryOutput: boolean;
}

/** The upstream call of an operation (W35). */
export interface UpstreamCall {
  readonly server: Server;
  readonly method: string;
  /** Path below the upstream's address, with `{name}` for path parameters. */
  readonly path: string;
  /** The inputs that are not members of the body object. */
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody;
  /** The media types of readable replies, as an Accept header. */
  readonly accept: string;
  readonly reply: ReplyMapping;
}

/** The server of upstream calls, shared by the operations of one server. */
export interface Server {
  /** The server's address in the overlay; undefined for the default upstream of the contract. */
  readonly address: string | undefined;
  /** The path of the server's URL, and that of the document's first server; `''` for none. */
  readonly basePath: string;
  readonly root: string;
  /** True if callers' credentials are sent to it. */
  readonly credentials: boolean;
}

/** The inputs that form the upstream's body, with the media type of the document. */
export type RequestBody =
  | { readonly kind: 'none' }
  /** All inputs that are not parameters, as one JSON object. */
  | { readonly kind: 'members'; readonly mediaType: string }
  /** One input, as JSON. */
  | {
      readonly kind: 'json';
      readonly field: string;
      readonly mediaType: string;
      /** The media type for an array, which may differ: a JSON patch is an array, a merge patch an object. */
      readonly arrays: string;
    }
  /** The items of one input, as a sequence of JSON values. */
  | { readonly kind: 'lines'; readonly field: string; readonly mediaType: string }
  /** The members of one input, as `name=value` pairs. */
  | {
      readonly kind: 'form';
      readonly field: string;
      readonly mediaType: string;
      readonly members: readonly FormMember[];
      readonly deepLists: DeepLists;
    }
  /** The members of one input, as the parts of `multipart/form-data`. */
  | {
      readonly kind: 'multipart';
      readonly field: string;
      readonly mediaType: string;
      readonly parts: readonly BodyPart[];
      /** The kind of parts that are not in `parts`. */
      readonly others: BodyPart['kind'];
    }
  /** One input, unchanged, as text in the charset of its media type. */
  | {
      readonly kind: 'text';
      readonly field: string;
      readonly mediaType: string;
      readonly charset: TextCharset;
    }
  /** One input, as the bytes that its base64 encodes. */
  | { readonly kind: 'binary'; readonly field: string; readonly mediaType: string };

/** The charsets of text bodies to the upstream. */
export type TextCharset = 'utf-8' | 'iso-8859-1' | 'us-ascii';

/** A member of a form with an encoding that the document states. */
export interface FormMember extends Pick<Parameter, 'name' | 'explode' | 'allowReserved'> {
  readonly style: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';
}

/** The document's settings of a part. */
export interface BodyPart {
  readonly name: string;
  /**
   * `json`: the complete value, also a list, as JSON. `text`: each scalar as text, each object as JSON. `file`: bytes
   * with a file name. `bytes`: like `file` if the caller states a file name, else a field.
   */
  readonly kind: 'text' | 'json' | 'file' | 'bytes';
  readonly contentType: string | undefined;
  /** Separator of the items if a list is one part; undefined if each item is a part. */
  readonly separator?: string | undefined;
  /** Form of lists if nested values are separate parts, `n[0]` and `n[member]`; undefined if they are not. */
  readonly deep?: DeepLists | undefined;
}

/** The JSON members of an input that is a file. */
export const fileMembers = { content: 'Content', fileName: 'FileName', contentType: 'ContentType' } as const;

/** The JSON members that contain an error in a reply (W26): `{"data":{"responseStatus":{…}}}`. */
export const errorMembers = { data: 'data', status: 'responseStatus' } as const;

/** The conversion of a successful upstream response to the output's JSON. */
export type ReplyMapping =
  /** The body is an object with the members of the wrapper. */
  | { readonly kind: 'object' }
  /** The body is the only member of the wrapper. */
  | {
      readonly kind: 'member';
      readonly name: string;
      readonly form: BodyForm;
      /** The document declares HTML, or a range that includes it, for example `text/*`, for a success. */
      readonly takesHtml?: true;
    }
  /** Status, headers and body are members of a record, which is the only member of the wrapper. */
  | {
      readonly kind: 'record';
      readonly name: string;
      /** 3xx statuses that are returned to the caller and are not failures, for example `302` or `3XX`. */
      readonly redirects: readonly string[];
      readonly headers: readonly ReplyHeader[];
      readonly bodies: readonly ReplyBody[];
      /** As for `member`. */
      readonly takesHtml?: true;
    };

/**
 * The form of a body: `lines` is a sequence of JSON values; `none` means that the document has no body and any body is
 * ignored.
 */
export type BodyForm = 'json' | 'lines' | 'text' | 'binary' | 'none';

/** A header of an upstream's response that is a member of the reply. */
export interface ReplyHeader {
  readonly name: string;
  /** The member of the record. */
  readonly member: string;
  readonly shape: HeaderShape;
}

/**
 * Structure of a header's text: a whole, comma-separated items, or members (`simple`, OpenAPI 3.1, 4.8.12.3).
 */
export type HeaderShape =
  | { readonly kind: 'scalar'; readonly scalar: HeaderScalar }
  | { readonly kind: 'list'; readonly item: HeaderScalar }
  | {
      readonly kind: 'object';
      /** True if members are `a=1,b=2` and not `a,1,b,2`. */
      readonly explode: boolean;
      readonly members: readonly { readonly name: string; readonly scalar: HeaderScalar }[];
      /** The scalar of members with other names. */
      readonly others: HeaderScalar;
    };

/** The scalars of header values. */
export type HeaderScalar = Extract<ScalarName, 'string' | 'long' | 'decimal' | 'boolean' | 'json'>;

/** The body of a reply with a status. */
export interface ReplyBody {
  /** For example `200`, `2XX` or `default`. */
  readonly status: string;
  readonly member: string;
  readonly form: BodyForm;
}

/** The member of a reply's record that contains the upstream's status. */
export const statusMember = 'StatusCode';

/** The member that contains the links of a Link header (RFC 8288). */
export const linksMember = 'Links';

/** Position and style of an input that is sent to the upstream outside the body (OpenAPI 3.1, 4.8.12). */
export interface Parameter {
  /** The field of the input. */
  readonly field: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** The parameter's name for the upstream. */
  readonly name: string;
  readonly style: ParameterStyle;
  /** True if each item of a list or member of an object is serialized separately. */
  readonly explode: boolean;
  /** True if reserved characters of URLs are not escaped in the value. */
  readonly allowReserved: boolean;
  /** True if a slash in the value is a slash of the path. */
  readonly spansSegments: boolean;
  readonly deepLists: DeepLists;
}

/** Form of a list in `deepObject`: `n[0]=a&n[1]=b`, or `n[]=a&n[]=b`. */
export type DeepLists = 'numbered' | 'bare';

/** OpenAPI's styles (3.1, 4.8.12.3); `json` for a parameter with `content`. */
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  | 'json';

/** A REST-style route for callers (W38). */
export interface Route {
  readonly method: string;
  /** Segments below the base path. A parameter is named after an input's JSON member. */
  readonly segments: readonly RouteSegment[];
  /** Query parameters, by the input's JSON member. */
  readonly query: readonly string[];
  readonly operation: Operation;
}

/** A segment of a route's path: text, or an input's value. */
export type RouteSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly field: string };

/** A type that has a name in the WSDL's schema. */
export type NamedType = RecordType | UnionType | TupleType | ArrayType | MapType | EnumType;

/** The type of a value. */
export type Type = NamedType | ScalarType;

/** A JSON object with listed members: a sequence of elements. */
export interface RecordType {
  readonly kind: 'record';
  readonly name: string;
  readonly documentation: string;
  /** In the order of elements (W18). */
  readonly fields: readonly Field[];
  /** The elements for members that are not listed; undefined if the type forbids them (W20). */
  readonly additional?: AdditionalProperties;
}

/** The elements for members that a record does not list. They are its last elements. */
export interface AdditionalProperties {
  readonly typed: AdditionalElement;
  /** The element for values that do not match that type, as JSON text; undefined if `typed` accepts any value. */
  readonly untyped: AdditionalElement | undefined;
}

/** An element for members that a record does not list: a map by member name. */
export interface AdditionalElement extends Ruled {
  readonly xml: string;
  readonly type: MapType;
}

/** A member of a record, and its element. */
export interface Field extends Demands {
  /** The JSON name. */
  readonly json: string;
  /** The name of the XML element, in the types namespace. */
  readonly xml: string;
  readonly type: Type;
  /** True if the element is nillable in the WSDL (W33). */
  readonly nillable: boolean;
  /** True if it is refused when absent or null (W42). */
  readonly required: boolean;
  readonly notEmpty: boolean;
  readonly allowed: readonly string[] | undefined;
}

/** A JSON value of one of several types. Its element contains one element, named after the type. */
export interface UnionType {
  readonly kind: 'union';
  readonly name: string;
  readonly documentation: string;
  /** In the order of elements. The last one accepts any value, as JSON text. */
  readonly variants: readonly Variant[];
}

/** One type of a union, and its element. */
export interface Variant extends Ruled {
  readonly xml: string;
  readonly type: Type;
  /** True if the element is nillable, so that proxies can leave out a value type (`optionalValues: nillable`). */
  readonly nillable?: true;
  /** The kind of JSON values that it accepts. */
  readonly takes: JsonKind;
  /** The member that identifies objects of the variant by its value; undefined if their member names do. */
  readonly tag: Tag | undefined;
}

/**
 * A JSON array with a type per position. There is an element for each position, which is absent after the array's end.
 */
export interface TupleType {
  readonly kind: 'tuple';
  readonly name: string;
  readonly documentation: string;
  /** In order. Each may be null. */
  readonly positions: readonly Position[];
  /** The last element, for the items after the positions, which have one type; undefined if there are none. */
  readonly rest: RestElement | undefined;
}

/** One position of a tuple, and its element. */
export interface Position extends Ruled {
  readonly xml: string;
  readonly type: Type;
  /** The documentation, as for a field. */
  readonly words?: Words;
}

/** The items of a tuple after its positions, as an array. */
export interface RestElement extends Ruled {
  readonly xml: string;
  readonly type: ArrayType;
}

/** A JSON array with items of one type. */
export interface ArrayType {
  readonly kind: 'array';
  readonly name: string;
  /** The namespace of the type and of its items. */
  readonly namespace: 'types' | 'arrays';
  readonly itemName: string;
  readonly item: Type;
  /** The document allows null items; undefined if it does not for any use of the type. */
  readonly takesNull?: true;
}

/** A JSON object with free keys and values of one type (W20). */
export interface MapType {
  readonly kind: 'map';
  readonly name: string;
  readonly namespace: 'types' | 'arrays';
  readonly entryName: string;
  readonly value: Type;
  /** The document allows null values; undefined if it does not for any use of the type. */
  readonly takesNull?: true;
}

/** A string with a fixed set of values. */
export interface EnumType {
  readonly kind: 'enum';
  readonly name: string;
  readonly documentation: string;
  readonly values: readonly string[];
}

/** A value without parts. */
export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
}

/** All namespace URIs except those of contracts. */
export const namespaces = {
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
  xop: 'http://www.w3.org/2004/08/xop/include',
  policy: 'http://schemas.xmlsoap.org/ws/2004/09/policy',
  mtomPolicy: 'http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization',
  xsd: 'http://www.w3.org/2001/XMLSchema',
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
  soap11Encoding: 'http://schemas.xmlsoap.org/soap/encoding/',
  soap12Encoding: 'http://www.w3.org/2003/05/soap-encoding',
  apacheSoap: 'http://xml.apache.org/xml-soap',
  addressing10: 'http://www.w3.org/2005/08/addressing',
  addressing2004: 'http://schemas.xmlsoap.org/ws/2004/08/addressing',
  wsse: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  wsse11: 'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd',
  wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  addressingNone: 'http://schemas.microsoft.com/ws/2005/05/addressing/none',
  serialization: 'http://schemas.microsoft.com/2003/10/Serialization/',
  /** For JSON as a tree: XSLT 3.0, 22.1. */
  jsonTree: 'http://www.w3.org/2005/xpath-functions',
  wsdl: 'http://schemas.xmlsoap.org/wsdl/',
  wsdlSoap11: 'http://schemas.xmlsoap.org/wsdl/soap/',
  wsdlSoap12: 'http://schemas.xmlsoap.org/wsdl/soap12/',
  wsdlAddressing: 'http://www.w3.org/2006/05/addressing/wsdl',
  httpTransport: 'http://schemas.xmlsoap.org/soap/http',
} as const;

/** Returns the types that a type is composed of. */
export function partsOf(type: NamedType): readonly Type[] {
  switch (type.kind) {
    case 'record': {
      const { typed, untyped } = type.additional ?? {};
      const others = [typed, untyped].flatMap((element) => (element === undefined ? [] : [element.type]));
      return [...type.fields.map((field) => field.type), ...others];
    }
    case 'union':
      return type.variants.map((variant) => variant.type);
    case 'tuple':
      return [...type.positions, ...(type.rest === undefined ? [] : [type.rest])].map((part) => part.type);
    case 'array':
      return [type.item];
    case 'map':
      return [type.value];
    case 'enum':
      return [];
  }
}

/** Yields the named types that are reachable from types, including those, the nearest first. */
export function* reachableFrom(roots: Iterable<Type>): Generator<NamedType> {
  const reached = new Set(roots);
  for (const type of reached) {
    if (type.kind === 'scalar') continue;
    yield type;
    for (const part of partsOf(type)) reached.add(part);
  }
}
