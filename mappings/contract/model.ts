import type { Adopted } from './adopted.ts';
import type { Settings } from './overlay-keys.ts';
import type { Demands, JsonKind, Ruled, ScalarName, Tag, Words } from './values.ts';

export type { Bound, Check, FormatName, JsonKind, Ruled, Rules, ScalarName, Tag, Words } from './values.ts';

// A contract as data, and the limits on what is done with it: types of plain frozen values, their names and few look-ups
// in them. Nothing here reads, compiles or imports anything, so that all else may import it.
/** The contract: everything soapbridge knows of one service, built once at start and never changed. */
export interface Contract {
  /** The WSDL's service name, such as `ScreeningApi`. */
  readonly service: string;
  readonly documentation: string;
  /** Where the contract's endpoints hang, such as `/v2`; `''` for the root (W1). */
  readonly basePath: string;
  readonly namespaces: { readonly types: string; readonly arrays: string };
  /** What `xsi:nil` and JSON null mean: by the kind of the type (W13, W19), or null wherever either stands. */
  readonly nulls: 'by-kind' | 'kept';
  /** What the schema calls JSON of no closed type. */
  readonly jsonType: string;
  readonly operations: readonly Operation[];
  /** Every named type that an operation reaches, in the order the contract names them. */
  readonly types: readonly NamedType[];
  readonly routes: readonly Route[];
  readonly credentials: Credentials | undefined;
  /** What of WS-Security is read (W45); undefined: nothing. */
  readonly wsse?: Wsse | undefined;
  /** The record of an in-band error (W26); what `ErrorResponse` carries in every dialect (W36). */
  readonly responseStatus: RecordType;
  /** What the `detail` of faults holds; undefined where faults have none of ours. */
  readonly faultDetail?: FaultDetail | undefined;
  readonly settings: Settings;
  /** JSON members whose values no log may show. */
  readonly personal: readonly string[];
  /** What an existing service's WSDL says, where that is the contract (A1); undefined for one of an OpenAPI document. */
  readonly adopted?: Adopted | undefined;
  /** The document's description of itself, for human-readable pages; undefined for an adopted contract. */
  readonly about?: About | undefined;
}

/** The title, contact and tags of an OpenAPI document, and the operations that are not served. Texts are `''` if missing. */
export interface About {
  readonly title: string;
  readonly version: string;
  readonly contact: { readonly name: string; readonly email: string; readonly url: string };
  readonly license: { readonly name: string; readonly url: string };
  readonly termsOfService: string;
  readonly externalDocs: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly notServed: readonly { readonly name: string; readonly why: string }[];
}

/** An error response that the document declares for an operation. */
export interface DeclaredError {
  /** Such as `404`, `4XX` or `default`. */
  readonly status: string;
  readonly description: string;
}

/** The names of what the `detail` of a fault holds, as the WSDL declares it (W27). */
export interface FaultDetail {
  /** Of the element, and of its type. */
  readonly element: string;
  /** Of the type of one problem. */
  readonly problem: string;
  /** Of the type of a list of them. */
  readonly problems: string;
}

/** One operation: what it takes, what it gives, and the one upstream call behind it. */
export interface Operation {
  readonly name: string;
  readonly documentation: string;
  /** What the document groups it under. */
  readonly tags: readonly string[];
  readonly deprecated?: true;
  /** The error responses of the document, in its order; undefined for none. */
  readonly errors?: readonly DeclaredError[];
  /** True when repeating the call changes nothing upstream. */
  readonly readOnly: boolean;
  /** Whether the one file that its upstream body is may flow through, and not be held (W64). */
  readonly stream: boolean;
  /** The request wrapper; its fields are the children of `{types}{name}`. */
  readonly input: RecordType;
  /** The reply wrapper, of element `{types}{name}Response`. */
  readonly output: RecordType;
  readonly upstream: UpstreamCall;
  /** Whether the input or the output holds base64, for the limits. */
  readonly binaryInput: boolean;
  readonly binaryOutput: boolean;
}

/** How an operation is called upstream (W35). */
export interface UpstreamCall {
  readonly server: Server;
  readonly method: string;
  /** Path with `{name}` for path parameters, below the upstream's address. */
  readonly path: string;
  /** What becomes of each input that isn't a member of the body object. */
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody;
  /** The media types of the replies that are read, as an Accept header. */
  readonly accept: string;
  readonly reply: ReplyMapping;
}

/** Where calls go; operations of one server share it. */
export interface Server {
  /** The server's own, as the overlay has it; undefined for the upstream that the contract is served with. */
  readonly address: string | undefined;
  /** The path of the server's URL, and that of the document's first one; `''` for none. */
  readonly basePath: string;
  readonly root: string;
  /** Whether callers' credentials go there. */
  readonly credentials: boolean;
}

/** What of the inputs goes upstream as the body, in a media type as the document declares it. */
export type RequestBody =
  | { readonly kind: 'none' }
  /** The inputs that are no parameters, as one JSON object. */
  | { readonly kind: 'members'; readonly mediaType: string }
  /** One input, as JSON. */
  | {
      readonly kind: 'json';
      readonly field: string;
      readonly mediaType: string;
      /** The media type of an array, which may be another one: a JSON patch is an array, a merge patch an object. */
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
      /** What any other part is. */
      readonly others: BodyPart['kind'];
    }
  /** One input as it is: a text, in the charset that its media type says. */
  | {
      readonly kind: 'text';
      readonly field: string;
      readonly mediaType: string;
      readonly charset: TextCharset;
    }
  /** One input as it is: the bytes of a base64. */
  | { readonly kind: 'binary'; readonly field: string; readonly mediaType: string };

/** The charsets in which a body of text goes upstream. */
export type TextCharset = 'utf-8' | 'iso-8859-1' | 'us-ascii';

/** A member of a form whose encoding the document states. */
export interface FormMember extends Pick<Parameter, 'name' | 'explode' | 'allowReserved'> {
  readonly style: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';
}

/** What the document says of a part. */
export interface BodyPart {
  readonly name: string;
  /**
   * `json`: the whole value, a list too, as JSON; `text`: each scalar as it is, each object as JSON; `file`: bytes with
   * a file name; `bytes`: the same where the caller names a file, else a field.
   */
  readonly kind: 'text' | 'json' | 'file' | 'bytes';
  readonly contentType: string | undefined;
  /** What stands between the items of a list that is one part; undefined: each item is a part. */
  readonly separator?: string | undefined;
  /** How lists go among parts of their own for what lies in a value, as `n[0]` and `n[member]`; undefined: there are none such. */
  readonly deep?: DeepLists | undefined;
}

/** The JSON members of a file among the inputs. */
export const fileMembers = { content: 'Content', fileName: 'FileName', contentType: 'ContentType' } as const;

/** The JSON members that hold an error in a reply (W26): `{"data":{"responseStatus":{…}}}`. */
export const errorMembers = { data: 'data', status: 'responseStatus' } as const;

/** How a success of the upstream becomes the output's JSON. */
export type ReplyMapping =
  /** The body is an object, whose members are the wrapper's. */
  | { readonly kind: 'object' }
  /** The body is the wrapper's one member. */
  | {
      readonly kind: 'member';
      readonly name: string;
      readonly form: BodyForm;
      /** The document declares HTML, or a range such as `text/*`, for a success. */
      readonly takesHtml?: true;
    }
  /** Status, headers and body are members of a record, which is the wrapper's one member. */
  | {
      readonly kind: 'record';
      readonly name: string;
      /** Statuses of 3xx that are handed on rather than failures, such as `302` or `3XX`. */
      readonly redirects: readonly string[];
      readonly headers: readonly ReplyHeader[];
      readonly bodies: readonly ReplyBody[];
      /** As of `member`. */
      readonly takesHtml?: true;
    };

/** How a body is read: `lines` as a sequence of JSON values; `none` where the document has none, whatever comes. */
export type BodyForm = 'json' | 'lines' | 'text' | 'binary' | 'none';

/** A header of an upstream's answer that is a member of the reply. */
export interface ReplyHeader {
  readonly name: string;
  /** The record's member. */
  readonly member: string;
  readonly shape: HeaderShape;
}

/** How a header's text is read: as a whole, as items between commas, or as members (`simple`, OpenAPI 3.1, 4.8.12.3). */
export type HeaderShape =
  | { readonly kind: 'scalar'; readonly scalar: HeaderScalar }
  | { readonly kind: 'list'; readonly item: HeaderScalar }
  | {
      readonly kind: 'object';
      /** Whether members are `a=1,b=2` rather than `a,1,b,2`. */
      readonly explode: boolean;
      readonly members: readonly { readonly name: string; readonly scalar: HeaderScalar }[];
      /** What members of other names are. */
      readonly others: HeaderScalar;
    };

/** What a header's text may be. */
export type HeaderScalar = Extract<ScalarName, 'string' | 'long' | 'decimal' | 'boolean' | 'json'>;

/** The body of a reply by its status. */
export interface ReplyBody {
  /** Such as `200`, `2XX` or `default`. */
  readonly status: string;
  readonly member: string;
  readonly form: BodyForm;
}

/** The member of a reply's record that holds the upstream's status. */
export const statusMember = 'StatusCode';
/** The member that holds the links of a Link header (RFC 8288). */
export const linksMember = 'Links';

/** How one input goes upstream outside the body (OpenAPI 3.1, 4.8.12). */
export interface Parameter {
  /** The field of the input. */
  readonly field: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** The name upstream knows it by. */
  readonly name: string;
  readonly style: ParameterStyle;
  /** Whether each item of a list, each member of an object, stands for itself. */
  readonly explode: boolean;
  /** Whether the value keeps characters that mean something in a URL. */
  readonly allowReserved: boolean;
  /** Whether a slash in the value is one of the path. */
  readonly spansSegments: boolean;
  readonly deepLists: DeepLists;
}

/** How a list goes in `deepObject`: `n[0]=a&n[1]=b`, or `n[]=a&n[]=b`. */
export type DeepLists = 'numbered' | 'bare';

/** OpenAPI's styles (3.1, 4.8.12.3); `json` for a parameter described by `content`. */
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  | 'json';

/** A caller's REST-style route (W38). */
export interface Route {
  readonly method: string;
  /** Segments below the base path; a parameter names an input's JSON member. */
  readonly segments: readonly RouteSegment[];
  /** Query parameters, by the input's JSON member. */
  readonly query: readonly string[];
  readonly operation: Operation;
}

/** A part of a route's path: text, or an input's value. */
export type RouteSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly field: string };

/** Where credentials come from and go to (W24, W25). */
export interface Credentials {
  /** The input member that holds them, when callers may send them in the body. */
  readonly member: string | undefined;
  readonly parts: readonly CredentialPart[];
  readonly send: 'body' | 'headers';
  /** The credentials that user and password of HTTP Basic are; undefined where it isn't read. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  /** The SOAP header block that may hold them, in the types namespace; undefined where bodies have a place for them. */
  readonly block?: CredentialsBlock | undefined;
}

/** The SOAP header block of a caller's credentials, as the WSDL declares it (W24). */
export interface CredentialsBlock {
  /** The name of its element. */
  readonly element: string;
  /** The name of its type. */
  readonly type: string;
}

/** How the header block `Security` of a request is read (W45). */
export interface Wsse {
  /** The credential that a UsernameToken's Username is. */
  readonly username: string;
  /** The credential that its Password is. */
  readonly password: string;
  /** What becomes of a digest in place of a password: refused, checked by a secret, or passed on as credentials (W49). */
  readonly digest: 'refuse' | 'secrets' | DigestCredentials;
  readonly timestamp: 'optional' | 'required';
  /** Children of the block that are left out in place of a refusal (W50). */
  readonly unverified: readonly ('Signature' | 'BinarySecurityToken' | 'Assertion')[];
}

/** The credentials that the parts of a digest go upstream as. */
export interface DigestCredentials {
  readonly password: string;
  readonly nonce: string;
  readonly created: string;
}

/** One of the values that make up a caller's credentials, such as a user and a key. */
export interface CredentialPart {
  readonly name: string;
  /** XML name in the body's member, or in the SOAP header's block. */
  readonly xml: string;
  /** The header that callers may give it in. */
  readonly header: string;
  /** Where it goes upstream, unless that is the body. */
  readonly sent: { readonly in: 'header' | 'query' | 'cookie'; readonly name: string };
  readonly required: boolean;
  /** True for a value that may stand in no log, error or reply. */
  readonly secret: boolean;
  /** The place in a declared SOAP header block that callers send it in (A8); undefined for other credentials. */
  readonly moved?: MovedFrom | undefined;
}

/** A scalar of a SOAP header block that is sent upstream in an HTTP header (A8). */
export interface MovedFrom {
  readonly block: string;
  /** The path of the scalar in the block, by JSON names. */
  readonly path: readonly string[];
  /** The value of the HTTP header, with `{}` for the scalar's text. */
  readonly format: string;
}

/** A type with a name of its own in the WSDL's schema. */
export type NamedType = RecordType | UnionType | TupleType | ArrayType | MapType | EnumType;
/** Whatever a value may be of. */
export type Type = NamedType | ScalarType;

/** A JSON object of listed members: a sequence of elements. */
export interface RecordType {
  readonly kind: 'record';
  readonly name: string;
  readonly documentation: string;
  /** In the order of the wire (W18). */
  readonly fields: readonly Field[];
  /** Where members of other names go; undefined where they are none of the type (W20). */
  readonly additional?: AdditionalProperties;
}

/** Members that a record takes beside those it lists, as its last elements. */
export interface AdditionalProperties {
  readonly typed: AdditionalElement;
  /** Values that aren't of that type, as JSON text; undefined where `typed` takes any. */
  readonly untyped: AdditionalElement | undefined;
}

/** An element for the members that a record doesn't list: a map of them by their names. */
export interface AdditionalElement extends Ruled {
  readonly xml: string;
  readonly type: MapType;
}

/** A member of a record, and its element. */
export interface Field extends Demands {
  /** The JSON member. */
  readonly json: string;
  /** The XML element, in the types namespace. */
  readonly xml: string;
  readonly type: Type;
  /** What the WSDL says (W33). */
  readonly nillable: boolean;
  /** Refused when absent or null (W42). */
  readonly required: boolean;
  readonly notEmpty: boolean;
  readonly allowed: readonly string[] | undefined;
}

/** A JSON value of one of several types: an element that holds one element, which says of which. */
export interface UnionType {
  readonly kind: 'union';
  readonly name: string;
  readonly documentation: string;
  /** In the order of the wire; the last one takes any value, as JSON text. */
  readonly variants: readonly Variant[];
}

/** One of the types that a union's values may be of, and its element. */
export interface Variant extends Ruled {
  readonly xml: string;
  readonly type: Type;
  /** True if the element is nillable, so that proxies can leave out a value type (`optionalValues: nillable`). */
  readonly nillable?: true;
  /** The JSON values that may be of it. */
  readonly takes: JsonKind;
  /** The member of its objects whose value tells them from others; undefined where their members tell. */
  readonly tag: Tag | undefined;
}

/** A JSON array whose items have types of their own by position: an element for each, absent behind the array's end. */
export interface TupleType {
  readonly kind: 'tuple';
  readonly name: string;
  readonly documentation: string;
  /** In their order; each may be null. */
  readonly positions: readonly Position[];
  /** The items behind those, of one type, as the last element; undefined where there are none. */
  readonly rest: RestElement | undefined;
}

/** One of a tuple's first items, and its element. */
export interface Position extends Ruled {
  readonly xml: string;
  readonly type: Type;
  /** As a field's. */
  readonly words?: Words;
}

/** The items of a tuple behind those of its positions: an array of them. */
export interface RestElement extends Ruled {
  readonly xml: string;
  readonly type: ArrayType;
}

/** A JSON array whose items are of one type. */
export interface ArrayType {
  readonly kind: 'array';
  readonly name: string;
  /** The namespace of the type and of its items. */
  readonly namespace: 'types' | 'arrays';
  readonly itemName: string;
  readonly item: Type;
  /** The document allows null items; undefined: nowhere where it has such an array. */
  readonly takesNull?: true;
}

/** A JSON object with free keys and values of one type (W20). */
export interface MapType {
  readonly kind: 'map';
  readonly name: string;
  readonly namespace: 'types' | 'arrays';
  readonly entryName: string;
  readonly value: Type;
  /** The document allows null values; undefined: nowhere where it has such a map. */
  readonly takesNull?: true;
}

/** A string that is one of some. */
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

/** Every namespace URI that is not a contract's own. */
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
  /** Of JSON as a tree: XSLT 3.0, 22.1. */
  jsonTree: 'http://www.w3.org/2005/xpath-functions',
  wsdl: 'http://schemas.xmlsoap.org/wsdl/',
  wsdlSoap11: 'http://schemas.xmlsoap.org/wsdl/soap/',
  wsdlSoap12: 'http://schemas.xmlsoap.org/wsdl/soap12/',
  wsdlAddressing: 'http://www.w3.org/2006/05/addressing/wsdl',
  httpTransport: 'http://schemas.xmlsoap.org/soap/http',
} as const;

/** The types that a type is made of. */
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
