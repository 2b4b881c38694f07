import {
  choice,
  count,
  flag,
  keyword,
  list,
  map,
  record,
  type TextSetting,
  text,
  type ValueOf,
} from '../document/settings-file.ts';

const headerName = text(
  'The HTTP header that may hold it.',
  "the name of an HTTP header of the API's own",
  /^[A-Za-z0-9_-]+$/,
);

const credentialNames = (says: string) => list(says, 'names from /credentials/headers', text('A name.'));

const credentialName = (says: string) => text(says, 'a name from /credentials/headers');

const credentials = record(
  'Who calls. Without it no header of a caller goes upstream but those of the document.',
  {
    member: text("The member of every request's body, an object of strings, that may hold the credentials."),
    headers: map(
      'The name of each credential, and the HTTP header that may hold it.',
      '`name: Header-Name`',
      headerName,
    ),
    required: credentialNames('Those without which a call is 401.'),
    secret: credentialNames('Those whose values may stand in no error.'),
    send: keyword('How they go upstream.', 'body', 'headers'),
    basic: record('The credentials that HTTP Basic gives; without it that is not read.', {
      username: credentialName('The credential that the user is.'),
      password: credentialName('The credential that the password is.'),
    }),
  },
);

/** What is read of WS-Security. */
export const wsse = record('Reads a UsernameToken and a Timestamp of WS-Security; without it neither is.', {
  username: credentialName('The credential that Username is.'),
  password: credentialName('The credential that Password is.'),
  digest: choice(
    'A digest in place of the password: refused, checked by the secrets of SOAPBRIDGE_WSSE_SECRETS, or its parts passed on as credentials.',
    keyword('Refused, or checked by secrets.', 'refuse', 'secrets'),
    record('The credentials that its parts go upstream as.', {
      password: credentialName('The credential that the digest is.'),
      nonce: credentialName('The credential that Nonce is.'),
      created: credentialName('The credential that Created is.'),
    }),
  ),
  timestamp: keyword('Whether a call without a Timestamp is refused.', 'optional', 'required'),
  unverified: list(
    'What is left out, unchecked, in place of a refusal: for callers behind a proxy that checked it.',
    'Signature, BinarySecurityToken, Assertion',
    keyword('A child of the Security block.', 'Signature', 'BinarySecurityToken', 'Assertion'),
  ),
});

const upstreamCall = record("The call upstream, where it isn't the document's.", {
  method: keyword('Its method.', 'GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'QUERY'),
  path: text(
    "Its path below the upstream's address, with {name} for each path parameter of the document.",
    'a path such as /parcels/{number}',
    /^\/[^\s?#]*$/,
  ),
});

const server = record('Where the calls of a server go.', {
  upstream: text(
    'Its address.',
    'an http or https URL without query, such as https://files.internal.example/v1',
    /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/,
  ),
  credentials: flag("Whether callers' credentials go there too."),
});

const operation = record('Exceptions for one operation.', {
  readOnly: flag(
    'Repeating the call changes nothing upstream, so one that got no answer may be sent once more.',
  ),
  stream: flag(
    'Whether the file that its request body is, of bytes, flows through where it comes as a part of a multipart message, and may be as long as the limit streamBytes.',
  ),
  name: text('What callers call it.', 'an identifier', /^[A-Za-z_][A-Za-z0-9_]*$/),
  hide: flag('Whether it is left out: callers see and call the others alone.'),
  upstream: upstreamCall,
  mediaType: text(
    'The media type of its request body, where the document has several.',
    'a media type of the request body',
  ),
  accept: text('The media type of its replies, where the document has several.', 'a media type of a reply'),
  as: list(
    'Media types in which it is served once more, as an operation of its own each: FindParcel_as_xml.',
    'media types of the request body or the replies',
    text('A media type.', 'a media type', /^[^\s/]+\/\S/),
  ),
  spansSegments: list(
    'Path parameters whose slashes are slashes of the path.',
    'names of path parameters',
    text('A path parameter.'),
  ),
});

const type = record('Exceptions for one type, by its name in the WSDL.', {
  order: list(
    'All its members in the order of the wire.',
    'all JSON members of the type',
    text('A JSON name.'),
  ),
  item: text(
    'What the elements in arrays of it are called.',
    'the name of an XML element',
    /^[A-Za-z_][A-Za-z0-9_.-]*$/,
  ),
});

const pattern = (says: string) => text(says, 'a pattern of at most 200 characters', /^[\s\S]{1,200}$/);

const operationName = record('What operations are called of which all that is said here holds.', {
  operationId: pattern('What their operationId is like, as a whole; its groups are {1}, {2}, … in `name`.'),
  path: pattern('What their path is like.'),
  tag: pattern('What their first tag is like.'),
  method: text('Their method.', 'a method such as GET', /^[A-Za-z]+$/),
  name: text(
    'Their name: text, and {1} for a group of the pattern of operationId, {path1} and {tag1} for one of theirs, {operationId}, {path}, {tag} and {method} for the whole, each in PascalCase; {1:singular} for one of several.',
    'a name such as {2}{1:singular}',
    /^(?:[A-Za-z0-9_]|\{(?:operationId|path[1-9]?|tag[1-9]?|method|[1-9])(?::singular)?\})+$/,
  ),
});

/** The keys of an overlay (`soap.yaml`); its reader adds what depends on other keys or on the document. */
export const overlaySettings = record('The SOAP face of an OpenAPI document; every key has a default.', {
  dialect: keyword('The preset that all other keys start from.', 'servicestack', 'plain'),
  service: text("The WSDL's service name, an identifier."),
  basePath: text(
    'What all endpoints hang under.',
    'a path such as /v2, without a slash at its end',
    /^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/,
  ),
  namespaces: record('What callers compile in.', {
    types: namespace('The namespace of every element.'),
    arrays: namespace('The namespace of the items of string arrays and of maps of strings.'),
  }),
  names: keyword(
    'Elements named as JSON members, with their first letter upper-cased, or as every client stack can use them.',
    'same',
    'upper-first',
    'portable',
  ),
  operationNames: choice(
    'What operations are called: `fastapi` takes the path and the method from its operationIds, or rules, of which the first that fits counts.',
    keyword('The names of the functions.', 'fastapi'),
    list('Rules.', 'rules such as { operationId: "(.+)/(.+)", name: "{2}{1:singular}" }', operationName),
  ),
  order: keyword(
    "Elements in the document's order, or by code unit over all of a type.",
    'declared',
    'ordinal',
  ),
  equalTypes: keyword('Inline types that are equal: one type, or one for each place.', 'once', 'apart'),
  optionalValues: keyword(
    'Optional numbers, booleans, dates and enums in the WSDL: nillable where the document allows null, or always.',
    'declared',
    'nillable',
  ),
  dates: keyword(
    'How dates travel in JSON: /Date(ms-0000)/, ISO 8601, or as any text.',
    'wcf',
    'iso',
    'text',
  ),
  utcDates: keyword('With wcf, whether a UTC date has its offset.', 'zoned', 'bare'),
  upstreamTimeZone: text('The IANA zone of dates in requests that have no offset.'),
  unknownEnumValues: keyword('An enum value in a reply that the document lacks.', 'refuse', 'pass'),
  nonFiniteNumbers: keyword(
    'INF, -INF and NaN of a double or float in JSON: an error, null, or a string.',
    'refuse',
    'asNull',
    'asText',
  ),
  invalidDates: keyword(
    'A date, time or duration in a reply that is invalid and cannot be repaired: an error, or passed on.',
    'refuse',
    'pass',
  ),
  unknownElements: keyword('An element in a request that the document lacks.', 'refuse', 'ignore'),
  replies: keyword(
    "A reply's members that are missing, or that its type lacks: an error, told in the log, or let through.",
    'strict',
    'note',
    'lenient',
  ),
  validate: keyword('What of a request is checked: types, or all that the document asks.', 'types', 'strict'),
  json: keyword('JSON of no closed type: its text, or a tree of elements.', 'text', 'tree'),
  documentation: keyword(
    'What the WSDL tells people: of members too, of operations and types alone, or nothing.',
    'full',
    'types',
    'none',
  ),
  required: keyword(
    'What a request must have, in the WSDL: by its words, or by minOccurs too, by which many clients refuse early.',
    'words',
    'schema',
  ),
  emptyElements: keyword('An empty element for a number, boolean, date or enum.', 'refuse', 'absent'),
  illegalCharacterReferences: keyword('References such as &#xB;, which XML forbids.', 'accept', 'refuse'),
  soapErrors: keyword(
    'A failed call: an ordinary reply with its status, or a SOAP fault.',
    'in-band',
    'fault',
  ),
  faultDetail: keyword(
    'The detail of SOAP faults: declared in the WSDL, with status, code and problems, or none.',
    'declared',
    'none',
  ),
  upstreamErrors: keyword("An upstream's error in a shape of its own.", 'tell', 'hide'),
  soap12FaultStatus: keyword(
    'HTTP status of a SOAP 1.2 Sender fault: 500, or 400.',
    'compatible',
    'standard',
  ),
  soapReplyContentType: keyword('That of the envelope, or application/xml.', 'by-version', 'documented'),
  mtomReplies: keyword('Replies of MTOM: none, or to requests of MTOM.', 'never', 'requested'),
  mtomThreshold: count(
    'Bytes from which on a value of such a reply is a part, and no base64.',
    'a number of bytes',
    1,
    2 ** 31 - 1,
  ),
  stackTrace: keyword("An upstream's stackTrace in error replies and in XML.", 'drop', 'keep'),
  replyHeaders: list(
    "Headers of the service's answers that callers get as headers of their replies.",
    "names of HTTP headers of the API's own",
    text('A header.', "the name of an HTTP header of the API's own", /^[A-Za-z0-9_-]+$/),
  ),
  deepLists: keyword(
    'Lists of deepObject parameters and of forms: n[0]=a&n[1]=b, or n[]=a&n[]=b.',
    'numbered',
    'bare',
  ),
  reply: keyword(
    'Replies as a record with status and headers where the document needs one, or all of them.',
    'declared',
    'envelope',
  ),
  jsonp: flag('Whether ?callback= wraps JSON replies in a function call.'),
  cors: list(
    'Origins whose web pages may call and read replies.',
    'origins such as https://app.example, or "*"',
    text('An origin.', 'an origin such as https://app.example, or "*"', /^(?:\*|https?:\/\/[^/\s*]+)$/),
  ),
  credentials,
  wsse,
  routes: map(
    "Paths of the caller's own, each with the operation it calls.",
    '`METHOD /path: Operation`',
    text('The operation.', 'the name of an operation'),
  ),
  operations: choice(
    'Exceptions for operations by their names in the document, or a list of those to serve alone.',
    list('The operations to serve; all others are left out.', 'operations to serve', text('An operation.')),
    map('Exceptions for single operations.', '`Operation: { readOnly, name, hide, upstream }`', operation),
  ),
  types: map('Exceptions for single types.', '`Type: { order, item }`', type),
  refs: map(
    "Folders that stand for the beginnings of URLs in references, or of paths out of the document's folder; no URL is ever fetched.",
    '`https://schemas.example/: folder` or `../: ..`',
    text('A folder, as seen from the overlay.', 'a folder'),
  ),
  patches: list(
    'OpenAPI Overlays (1.0, 1.1) that change the document before anything of it is read, one after the other.',
    'files',
    text('A file, as seen from the overlay.', 'a file'),
  ),
  servers: map(
    "Addresses of the document's servers that aren't the upstream, by their URLs there.",
    '`https://files.example/v1: { upstream, credentials }`',
    server,
  ),
  personal: list(
    'JSON members whose values are about a person: no log ever shows them.',
    'JSON members',
    text('A JSON name.'),
  ),
});

/** What an overlay's keys hold, each undefined where the file doesn't say. */
export type OverlayKeys = ValueOf<typeof overlaySettings>;

/** One of the overlay's `operations`. */
export type OperationKeys = ValueOf<typeof operation>;

function namespace(says: string): TextSetting {
  const expected = "a URI of the contract's own, such as urn:example:parcels";
  return text(says, expected, /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`\p{Cc}]+$/u);
}
