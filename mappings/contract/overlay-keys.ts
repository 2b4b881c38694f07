import { adoptedWsse, credentials, headerName, wsse } from './credential-keys.ts';
import { hide, operation, operationNameRule, readOnly, timeoutMs } from './operation-keys.ts';
import {
  choice,
  count,
  flag,
  keyword,
  list,
  map,
  type RecordSetting,
  record,
  type Setting,
  text,
  type ValueOf,
} from './setting.ts';

// The keys of `soap.yaml`. The reader, the JSON Schemas, the tables in the docs, the files that `init` and `adopt` write
// and the type `Settings` derive from this table.

/** A contract is loaded from an OpenAPI document, or from the WSDL of a legacy service. */
export type ContractKind = 'openapi' | 'adopted';

const kinds = {
  openapi: 'a contract that is loaded from an OpenAPI document',
  adopted: 'a contract that is loaded from a WSDL',
} as const satisfies Record<ContractKind, string>;

/** A key with a default is a member of `Settings`. Another key has an example, in YAML. */
type Key = Setting & ({ readonly default: unknown } | { readonly example: string });

/** A key of both kinds of contract. */
function both<const K extends Key>(key: K) {
  return { openapi: key, adopted: key };
}

/** A key of contracts that are loaded from an OpenAPI document. */
function openapi<const K extends Key>(key: K) {
  return { openapi: key };
}

/** A key of contracts that are loaded from a WSDL. */
function wsdl<const K extends Key>(key: K) {
  return { adopted: key };
}

/** One of these keywords, with its default. */
function oneOf<const Keywords extends readonly string[]>(keywords: Keywords, preset: Keywords[number]) {
  return { kind: 'keyword', keywords, default: preset } as const;
}

const namespace = (description: string) =>
  text(
    description,
    "a URI of the contract's own, such as urn:example:parcels",
    /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`\p{Cc}]+$/u,
  );

const adoptedOperation = record(
  'Settings of one operation.',
  {
    readOnly,
    timeoutMs,
    name: text(
      'Name of the operation in JSON, such as `POST /{name}`.',
      'an identifier',
      /^[A-Za-z_][A-Za-z0-9_.-]*$/,
    ),
    hide,
  },
  { keys: Object.keys(operation.keys), of: kinds.openapi },
);

/** Each key of an overlay, with its type, its default or an example, and the contracts it is for. */
export const overlayKeys = {
  dialect: openapi({
    ...keyword('Preset that supplies the defaults of other keys. Default: plain.', 'servicestack', 'plain'),
    example: 'plain',
  }),
  service: openapi({
    ...text('Service name in the WSDL, an identifier. Default: made from the title of the document.'),
    example: 'Parcels',
  }),
  wsdl: wsdl({
    ...text(
      'WSDL file, relative to the overlay. Default: the only WSDL in the folder, or service.wsdl.',
      'a file of the folder',
    ),
    example: 'service.wsdl',
  }),
  refs: both({
    ...map(
      'Folders with the files that references name by a URL prefix or a path outside the folder. No URL is fetched.',
      '`https://schemas.example/: folder` or `../: ..`',
      text('Folder, relative to the overlay.', 'a folder'),
    ),
    example: '{ "https://schemas.example/": schemas }',
  }),
  patches: openapi({
    ...list(
      'OpenAPI Overlays (1.0, 1.1) that change the document before it is read, in this order.',
      'files',
      text('File, relative to the overlay.', 'a file'),
    ),
    example: '[]',
  }),
  basePath: both({
    ...text(
      'Path prefix of all endpoints, such as /v2. Default: the root.',
      'a path such as /v2, without a slash at its end',
      /^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/,
    ),
    example: '/',
  }),
  endpoints: wsdl({
    ...map(
      'Path of each port. Default: the path of its address in the WSDL.',
      '`Port: /path`',
      text('Path.', 'a path such as /Service.asmx', /^\/[A-Za-z0-9._~%!$&'()*+,;=:@/-]*[^/]$/),
    ),
    example: '{}',
  }),
  namespaces: openapi({
    ...record('XML namespaces that clients compile in.', {
      types: namespace('Namespace of all elements.'),
      arrays: namespace('Namespace of the items of string arrays and of the entries of string maps.'),
    }),
    example: '{ types: "urn:example:parcels" }',
  }),
  names: openapi({
    ...oneOf(['same', 'upper-first', 'portable'], 'same'),
    description:
      'Element names: equal to the JSON members, with an upper-case first letter, or usable by every client stack.',
  }), // W20
  operationNames: openapi({
    ...choice(
      "Operation names: `fastapi` takes them from FastAPI's operationIds. In a list of rules, the first match applies.",
      keyword('Function names of FastAPI.', 'fastapi'),
      list(
        'Rules.',
        'rules such as { operationId: "(.+)/(.+)", name: "{2}{1:singular}" }',
        operationNameRule,
      ),
    ),
    example: '[]',
  }),
  order: openapi({
    ...oneOf(['declared', 'ordinal'], 'declared'),
    description: 'Order of elements: as in the document, or by UTF-16 code unit over all members of a type.',
  }), // W18
  equalTypes: openapi({
    ...oneOf(['once', 'apart'], 'once'),
    description: 'Equal inline types: one shared type, or one type for each occurrence.',
  }),
  optionalValues: openapi({
    ...oneOf(['declared', 'nillable'], 'declared'),
    description:
      'Optional numbers, booleans, dates and enums in the WSDL: nillable if the document allows null, or always.',
  }), // W33
  rename: wsdl({
    ...map(
      'JSON names of members, by type and member. A type without a name is named by its element.',
      '`Type.member: name`',
      text('Name.', 'a name that does not begin with @', /^[A-Za-z_][A-Za-z0-9_.-]*$/),
    ),
    example: '{}',
  }),
  open: wsdl({
    ...map(
      "Elements of a type's wildcard (xs:any) in JSON: XML text, or members of an object.",
      '`Type: xml | fields`',
      keyword('Form in JSON.', 'xml', 'fields'),
    ),
    example: '{}',
  }), // A22
  headers: wsdl({
    ...map(
      'Values of SOAP header blocks that are sent upstream in HTTP headers. They are never logged.',
      '`Block.member: { header, format }`',
      record('HTTP header of one value.', {
        header: headerName('Name of the HTTP header.'),
        format: text(
          'Text of the header, with {} for the value.',
          'a text with {} once, such as "Bearer {}"',
          /^[\x20-\x7a|~]*\{\}[\x20-\x7a|~]*$/,
        ),
      }),
    ),
    example: '{ SessionHeader.session: { header: X-Session, format: "{}" } }',
  }), // A8
  bigNumbers: wsdl({
    ...oneOf(['number', 'text'], 'number'),
    description: 'Numbers that a double may not hold: JSON numbers with all digits, or strings.',
  }), // A26
  dates: {
    ...openapi({
      ...oneOf(['wcf', 'iso', 'text'], 'iso'),
      description: 'Dates in JSON: `/Date(ms-0000)/`, ISO 8601, or any text.',
    }), // W16, W17
    ...wsdl({
      ...oneOf(['text', 'utc'], 'text'),
      description: 'xs:dateTime in JSON: its XML text, or RFC 3339 (`utc`).',
    }), // A26
  },
  utcDates: openapi({
    ...oneOf(['zoned', 'bare'], 'zoned'),
    description: 'UTC dates with `dates: wcf`: with the offset -0000, or without an offset.',
  }),
  upstreamTimeZone: {
    ...openapi({
      ...text(
        'IANA time zone of request dates without an offset. Default: UTC with `dates: wcf`, otherwise none.',
      ),
      default: undefined,
      example: 'Europe/London',
    }), // W16
    ...wsdl({
      ...text(
        'IANA time zone of request dates without an offset. Default: UTC with `dates: utc`, otherwise none.',
      ),
      default: undefined,
      example: 'Europe/London',
    }), // A26
  },
  unknownEnumValues: both({
    ...oneOf(['refuse', 'pass'], 'pass'),
    description:
      'An enum value in a reply that the contract does not list: reject the reply, or pass the value on.',
  }), // W22
  nonFiniteNumbers: both({
    ...oneOf(['refuse', 'asNull', 'asText'], 'refuse'),
    description: 'INF, -INF and NaN of a double or float in JSON: an error, null, or a string.',
  }), // W15, A26
  invalidDates: both({
    ...oneOf(['refuse', 'pass'], 'refuse'),
    description:
      'An invalid date, time or duration in a reply that cannot be repaired: reject the reply, or pass the text on.',
  }), // W17
  unknownElements: both({
    ...oneOf(['refuse', 'ignore'], 'refuse'),
    description:
      'An element, attribute or member in a request that the contract lacks: reject the request, or ignore and log the name.',
  }), // W12
  replies: openapi({
    ...oneOf(['strict', 'note', 'lenient'], 'note'),
    description:
      'Unknown members and missing required members in a reply: reject the reply, log the names, or accept silently.',
  }), // W20, W22
  validate: both({
    ...oneOf(['types', 'strict'], 'types'),
    description: 'Checks of values in requests: types and enumerations, or all constraints of the schema.',
  }), // A26
  json: openapi({
    ...oneOf(['text', 'tree'], 'text'),
    description: 'JSON without a closed type in XML: JSON text in an xs:string, or a tree of elements.',
  }),
  required: openapi({
    ...oneOf(['words', 'schema'], 'words'),
    description:
      'Required members of requests in the WSDL: stated in the documentation, or by `minOccurs="1"` too.',
  }), // W33
  documentation: openapi({
    ...oneOf(['full', 'types', 'none'], 'full'),
    description:
      'Documentation in the WSDL: of operations, types and members, of operations and types only, or none.',
  }),
  emptyElements: both({
    ...oneOf(['refuse', 'absent'], 'refuse'),
    description:
      'An empty element for a number, boolean, date or enum: reject the request, or treat the element as absent.',
  }), // A25
  illegalCharacterReferences: both({
    ...oneOf(['accept', 'refuse'], 'accept'),
    description: 'Character references that XML forbids, such as `&#xB;`: accept or reject.',
  }),
  soapErrors: openapi({
    ...oneOf(['in-band', 'fault'], 'fault'),
    description: 'Reply to a failed call: `data.responseStatus` in a normal reply, or a SOAP fault.',
  }),
  faultDetail: openapi({
    ...oneOf(['declared', 'none'], 'declared'),
    description: 'Detail of SOAP faults: status, code and problems as the WSDL declares, or no detail.',
  }), // W27
  faultCodePrefix: wsdl({
    ...text(
      'Prefix of SOAP fault codes, for clients that compare the text of faultcode.',
      'a prefix such as SOAP-ENV',
      /^(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,
    ),
    default: 's',
  }), // A29
  upstreamErrors: both({
    ...oneOf(['tell', 'hide'], 'tell'),
    description:
      "An upstream error in the upstream's own format: report code, message and body, or only the status.",
  }), // W30
  soap12FaultStatus: both({
    ...oneOf(['compatible', 'standard'], 'compatible'),
    description: 'HTTP status of a SOAP 1.2 Sender fault: 500, or 400.',
  }), // W27
  soapReplyContentType: both({
    ...oneOf(['by-version', 'documented'], 'by-version'),
    description: 'Media type of SOAP replies: by SOAP version, or application/xml.',
  }),
  mtomReplies: both({
    ...oneOf(['never', 'requested'], 'never'),
    description: 'MTOM replies: never, or if the request is MTOM.',
  }), // W65
  mtomThreshold: both({
    ...count(
      'Minimum size in bytes of a base64 value that becomes a part of an MTOM reply.',
      'a number of bytes',
      1,
      2 ** 31 - 1,
    ),
    default: 768,
  }),
  stackTrace: both({
    ...oneOf(['drop', 'keep'], 'drop'),
    description: 'Stack traces in upstream errors: remove them, or pass them on.',
  }),
  replyHeaders: both({
    ...list(
      'Upstream response headers that callers receive with the reply.',
      'names of HTTP headers that only the API uses',
      headerName('Name of the HTTP header.'),
    ),
    default: [],
  }),
  deepLists: openapi({
    ...oneOf(['numbered', 'bare'], 'numbered'),
    description: 'Lists in deepObject parameters and forms: `n[0]=a&n[1]=b`, or `n[]=a&n[]=b`.',
  }),
  reply: openapi({
    ...oneOf(['declared', 'envelope'], 'declared'),
    description: 'Replies as a record with status and headers: if the document needs it, or always.',
  }),
  jsonp: openapi({
    ...flag('Let `?callback=` wrap JSON replies in a function call.'),
    default: false,
  }),
  cors: both({
    ...list(
      'Origins whose web pages may call the gateway and read replies.',
      'origins such as https://app.example, or "*"',
      text('Origin.', 'an origin such as https://app.example, or "*"', /^(?:\*|https?:\/\/[^/\s*]+)$/),
    ),
    default: [],
  }), // W40
  credentials: openapi({
    ...credentials,
    example: '{ headers: { apiKey: X-Api-Key }, secret: [apiKey] }',
  }), // W24
  wsse: {
    ...openapi({ ...wsse, example: '{ username: apiUser, password: apiKey }' }), // W45
    ...wsdl({ ...adoptedWsse, example: '{ timestamp: required }' }), // X37
  },
  routes: openapi({
    ...map(
      'Additional paths, each with the operation that it calls.',
      '`METHOD /path: Operation`',
      text('Name of the operation.', 'the name of an operation'),
    ),
    example: '{}',
  }), // W38
  operations: {
    ...openapi({
      ...choice(
        'Settings of single operations by their names in the document, or a list of the only operations to serve.',
        list('The operations to serve.', 'operations to serve', text('Name of the operation.')),
        map(
          'Settings of single operations.',
          '`Operation: { name, hide, readOnly, upstream, … }`',
          operation,
        ),
      ),
      example: '{}',
    }),
    ...wsdl({
      ...map(
        'Settings of single operations, by their names in JSON or as portType.operation.',
        '`Operation: { readOnly, timeoutMs, name, hide }`',
        adoptedOperation,
      ),
      example: '{}',
    }),
  },
  types: {
    ...openapi({
      ...map(
        'Settings of single types, by their names in the WSDL.',
        '`Type: { order, item }`',
        record('Settings of one type.', {
          order: list(
            'All members of the type, in the order of their elements.',
            'all JSON members of the type',
            text('Name of a JSON member.'),
          ),
          item: text(
            'Name of the elements in arrays of the type.',
            'the name of an XML element',
            /^[A-Za-z_][A-Za-z0-9_.-]*$/,
          ),
        }),
      ),
      example: '{}',
    }),
    ...wsdl({
      ...oneOf(['derived', 'always'], 'derived'),
      description: "`@type` in JSON: if a value's type differs from the declared type, or always.",
    }), // A18
  },
  servers: openapi({
    ...map(
      'Addresses of further servers of the document, by their URLs in the document.',
      '`https://files.example/v1: { upstream, credentials }`',
      record('Address of a server.', {
        upstream: text(
          'Base URL.',
          'an http or https URL without query, such as https://files.internal.example/v1',
          /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/,
        ),
        credentials: flag('Send the credentials of callers to this address.'),
      }),
    ),
    example: '{}',
  }),
  personal: both({
    ...list(
      'JSON members with personal data. Their values are never logged.',
      'JSON members',
      text('Name of a JSON member.'),
    ),
    example: '[]',
  }),
} as const;

type Table = typeof overlayKeys;

type KeysOf<Kind extends ContractKind> = {
  readonly [Key in keyof Table as Kind extends keyof Table[Key] ? Key : never]: Kind extends keyof Table[Key]
    ? Table[Key][Kind]
    : never;
};

type WithDefault<Key extends keyof Table> = Extract<
  Table[Key][keyof Table[Key]],
  { readonly default: unknown }
>;

type ValueWithDefault<Key> = Key extends { readonly default: infer Default }
  ? ValueOf<Key> | (undefined extends Default ? undefined : never)
  : never;

/** The values of all keys with a default, of both kinds of contract. */
export type Settings = {
  readonly [Key in keyof Table as [WithDefault<Key>] extends [never] ? never : Key]: ValueWithDefault<
    WithDefault<Key>
  >;
};

/** The content of an overlay. A key is undefined if the file lacks it. */
export type OverlayValues<Kind extends ContractKind> = ValueOf<RecordSetting<KeysOf<Kind>>>;

const entries: readonly (readonly [string, { readonly [Kind in ContractKind]?: Setting }])[] =
  Object.entries(overlayKeys);

/** The keys of one kind, as a setting. A key of the other kind only is reported as such. */
function overlayOf<Kind extends ContractKind>(kind: Kind, other: ContractKind): RecordSetting<KeysOf<Kind>> {
  const keysOf = (of: ContractKind) =>
    Object.fromEntries(entries.flatMap(([name, { [of]: key }]) => (key === undefined ? [] : [[name, key]])));
  const keys = keysOf(kind) as KeysOf<Kind>;
  const elsewhere = { keys: Object.keys(keysOf(other)), of: kinds[other] };
  return {
    kind: 'record',
    description: `Overlay of ${kinds[kind]}. Every key is optional.`,
    keys,
    elsewhere,
  };
}

/** The overlays of both kinds of contract, as settings that the reader and the JSON Schemas use. */
export const overlaySettings = {
  openapi: overlayOf('openapi', 'adopted'),
  adopted: overlayOf('adopted', 'openapi'),
} as const;

/** The defaults of a kind. A setting of the other kind only has its default there. */
function defaultsOf(kind: ContractKind): Settings {
  const defaults = entries.flatMap(([name, { openapi, adopted }]) => {
    const keys = kind === 'openapi' ? [openapi, adopted] : [adopted, openapi];
    const key = keys.find((one) => one !== undefined && 'default' in one);
    return key === undefined ? [] : [[name, key.default]];
  });
  return Object.fromEntries(defaults) as Settings;
}

/** The settings of a contract without an overlay, before a dialect changes them. */
export const defaultSettings: Readonly<Record<ContractKind, Settings>> = {
  openapi: defaultsOf('openapi'),
  adopted: defaultsOf('adopted'),
};

/** Completes the settings of a kind with its defaults. */
export function withDefaults(kind: ContractKind, settings: Partial<Settings>): Settings {
  return { ...defaultSettings[kind], ...settings };
}
