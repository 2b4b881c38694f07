import type { ScalarName, Settings } from '../../contract/model.ts';
import type { ElementNames } from '../names/portable.ts';

/** A preset of the overlay: how a family of callers names, orders and encodes things. Data, never an `if` in a codec. */
export interface Dialect {
  readonly typesNamespace: string | undefined;
  /** Where string arrays and maps live; undefined puts them into the types namespace. */
  readonly arraysNamespace: string | undefined;
  /** XML name = JSON name, with its first letter upper-cased (W20), or as every client stack can use it. */
  readonly names: ElementNames;
  /** Elements in the document's order, or by UTF-16 code unit over all of a type (W18). */
  readonly order: 'declared' | 'ordinal';
  /** The schema's types in the order in which operations reach them, or by name, so that an edit moves none. */
  readonly types: 'reached' | 'by-name';
  /** Inline types that are equal are one type, or each is one of its own. */
  readonly equalTypes: 'once' | 'apart';
  /** JSON members that come first whatever the order (W18). */
  readonly first: readonly string[];
  /** Nillable: every element of replies and what W33 lists of requests, or what the document says. */
  readonly nillable: 'w33' | 'declared';
  /** Optional numbers, booleans, dates and enums: nillable as `nillable` has it, or all of them (W33). */
  readonly optionalValues: 'declared' | 'nillable';
  /** A request body's members as children of the wrapper, or the body as one element beside the parameters. */
  readonly body: 'members' | { readonly element: string };
  /** A reply body's members as children of the wrapper, or the body as one element. */
  readonly reply: 'members' | { readonly element: string };
  /** Item and entry names of arrays and maps of strings. */
  readonly mapEntry: string;
  readonly mapName: string;
  /** Scalars for formats that mean more to this family than to JSON Schema. */
  readonly formats: Readonly<Record<string, ScalarName>>;
  /** Whether callers read an xs:decimal into .NET's, which holds 28 digits: a number without bounds is told of then. */
  readonly decimals: 'of-dotnet' | 'any';
  readonly settings: Settings;
}

const servicestack: Dialect = {
  typesNamespace: 'http://schemas.servicestack.net/types',
  arraysNamespace: 'http://schemas.microsoft.com/2003/10/Serialization/Arrays',
  names: 'upper-first',
  order: 'ordinal',
  types: 'reached',
  equalTypes: 'apart',
  first: ['authentication', 'responseStatus'],
  nillable: 'w33',
  optionalValues: 'declared',
  body: 'members',
  reply: 'members',
  mapEntry: 'KeyValueOfstringstring',
  mapName: 'ArrayOfKeyValueOfstringstring',
  formats: { uuid: 'guid' },
  decimals: 'of-dotnet',
  settings: {
    dates: 'wcf',
    upstreamTimeZone: undefined,
    utcDates: 'zoned',
    unknownEnumValues: 'refuse',
    nonFiniteNumbers: 'refuse',
    invalidDates: 'refuse',
    unknownElements: 'refuse',
    replies: 'note',
    validate: 'types',
    json: 'text',
    required: 'words',
    documentation: 'full',
    emptyElements: 'refuse',
    illegalCharacterReferences: 'accept',
    soapErrors: 'in-band',
    faultDetail: 'declared',
    upstreamErrors: 'hide',
    soap12FaultStatus: 'compatible',
    soapReplyContentType: 'by-version',
    mtomReplies: 'never',
    mtomThreshold: 768, // Microsoft's writer has it so
    stackTrace: 'drop',
    jsonp: true,
    replyHeaders: [],
    cors: [],
  },
};

const plain: Dialect = {
  typesNamespace: undefined,
  arraysNamespace: undefined,
  names: 'same',
  order: 'declared',
  types: 'by-name',
  equalTypes: 'once',
  first: [],
  nillable: 'declared',
  optionalValues: 'declared',
  body: { element: 'Body' },
  reply: { element: 'Result' },
  mapEntry: 'Entry',
  mapName: 'MapOfstring',
  formats: {},
  decimals: 'any',
  settings: {
    ...servicestack.settings,
    dates: 'iso',
    unknownEnumValues: 'pass',
    soapErrors: 'fault',
    upstreamErrors: 'tell',
    jsonp: false,
  },
};

/** The presets, by the names that `dialect` in an overlay has for them. */
export const dialects = { servicestack, plain } as const satisfies Record<string, Dialect>;
