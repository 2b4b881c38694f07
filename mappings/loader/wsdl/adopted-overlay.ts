import { type AdoptedSettings, adoptedDefaults } from '../../contract/adopted.ts';
import type { Settings } from '../../contract/model.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { flag, keyword, map, readSettings, record, text, type ValueOf } from '../document/settings-file.ts';
import { dialects } from '../overlay/dialects.ts';
import { readHeaderNames, settingsOf } from '../overlay/overlay.ts';
import { overlaySettings } from '../overlay/overlay-keys.ts';

const {
  basePath,
  upstreamTimeZone,
  unknownEnumValues,
  nonFiniteNumbers,
  invalidDates,
  emptyElements,
  unknownElements,
  illegalCharacterReferences,
  upstreamErrors,
  soap12FaultStatus,
  soapReplyContentType,
  stackTrace,
  replyHeaders,
  cors,
  refs,
  personal,
} = overlaySettings.keys;

const operation = record('Exceptions for one operation.', {
  readOnly: flag(
    'Repeating the call changes nothing upstream, so one that got no answer may be sent once more.',
  ),
  name: text('What it is called in JSON: POST /{name}.', 'an identifier', /^[A-Za-z_][A-Za-z0-9_.-]*$/),
  hide: flag('Whether it is left out: callers see and call the others alone.'),
});

const movedHeader = record('Where a scalar of a header block goes upstream.', {
  header: text('The HTTP header.', "the name of an HTTP header of the API's own", /^[A-Za-z0-9_-]+$/),
  format: text(
    "What the header holds, with {} for the scalar's text.",
    'a text with {} once, such as "Bearer {}"',
    /^[\x20-\x7a|~]*\{\}[\x20-\x7a|~]*$/,
  ),
});

/** The keys of an overlay (`soap.yaml`) beside a WSDL (A33). */
export const adoptedOverlaySettings = record(
  "What there is to decide of an existing service's WSDL; every key has a default.",
  {
    wsdl: text(
      'The WSDL, as seen from the overlay (default: the lone one, or service.wsdl).',
      'a file of the folder',
    ),
    refs,
    basePath,
    endpoints: map(
      'The path at which a port answers (default: that of its address in the WSDL).',
      '`Port: /path`',
      text('The path.', 'a path such as /Service.asmx', /^\/[A-Za-z0-9._~%!$&'()*+,;=:@/-]*[^/]$/),
    ),
    operations: map(
      'Exceptions for single operations, by their names in JSON, or as portType.operation.',
      '`Operation: { readOnly, name, hide }`',
      operation,
    ),
    rename: map(
      'What a member is called in JSON, by its type, or by the element of a type without a name.',
      '`Type.member: name`',
      text('The name.', 'a name that does not begin with @', /^[A-Za-z_][A-Za-z0-9_.-]*$/),
    ),
    open: map(
      "What elements that a type's wildcard takes are in JSON: XML as text, or members of an object.",
      '`Type: xml | fields`',
      keyword('One of both.', 'xml', 'fields'),
    ),
    types: keyword(
      "Whether @type says a value's type where it isn't the declared one, or always.",
      'derived',
      'always',
    ),
    bigNumbers: keyword(
      'Numbers that a double may not hold: as numbers with all digits, or as strings.',
      'number',
      'text',
    ),
    headers: map(
      'Scalars of header blocks that go upstream in HTTP headers, and into no log.',
      '`Block.member: { header, format }`',
      movedHeader,
    ),
    dates: keyword(
      'An xs:dateTime in JSON: its text, or RFC 3339, where one without a zone is by upstreamTimeZone.',
      'text',
      'utc',
    ),
    upstreamTimeZone,
    unknownEnumValues,
    nonFiniteNumbers,
    invalidDates,
    emptyElements,
    unknownElements,
    validate: keyword(
      'What of a request is checked: types and enumerations, or lengths, bounds, digits and patterns too.',
      'types',
      'strict',
    ),
    faultCodePrefix: text(
      'The prefix of SOAP codes in faults, for clients that compare the text of faultcode (default: s).',
      'a prefix such as SOAP-ENV',
      /^(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,
    ),
    illegalCharacterReferences,
    upstreamErrors,
    soap12FaultStatus,
    soapReplyContentType,
    stackTrace,
    replyHeaders,
    cors,
    personal,
  },
);

type Keys = ValueOf<typeof adoptedOverlaySettings>;

/** The overlay of an adopted contract, its defaults filled in. */
export interface AdoptedOverlay {
  /** Undefined: the lone WSDL of the folder. */
  readonly wsdl: string | undefined;
  readonly refs: ReadonlyMap<string, string>;
  readonly basePath: string;
  /** Port → path. */
  readonly endpoints: ReadonlyMap<string, string>;
  readonly operations: ReadonlyMap<string, ValueOf<typeof operation>>;
  /** `Type.member` → name. */
  readonly rename: ReadonlyMap<string, string>;
  /** The types whose open elements are members of an object (A22). */
  readonly open: readonly string[];
  readonly adopted: AdoptedSettings;
  readonly settings: Settings;
  /** `Block.member` → where it goes. */
  readonly headers: ReadonlyMap<string, { readonly header: string; readonly format: string }>;
  readonly personal: readonly string[];
}

/** An adopted service's errors are faults, and its values are checked by its own schema. */
const base: Settings = { ...dialects.plain.settings, dates: 'text' };

/** Reads the overlay of an adopted contract; what is wrong goes to `report`. An empty file is all defaults. */
export function readAdoptedOverlay(document: unknown, report: Report): AdoptedOverlay {
  const keys: Keys = readSettings(adoptedOverlaySettings, document ?? {}, '', report) ?? {};
  const settings = settingsOf({ ...keys, dates: undefined }, base, report);
  return {
    wsdl: keys.wsdl,
    refs: keys.refs ?? new Map(),
    basePath: keys.basePath === undefined || keys.basePath === '/' ? '' : keys.basePath,
    endpoints: keys.endpoints ?? new Map(),
    operations: keys.operations ?? new Map(),
    rename: keys.rename ?? new Map(),
    open: [...(keys.open ?? [])].flatMap(([type, how]) => (how === 'fields' ? [type] : [])),
    adopted: {
      types: keys.types ?? 'derived',
      bigNumbers: keys.bigNumbers ?? 'number',
      dates: keys.dates ?? 'text',
      upstreamTimeZone: settings.upstreamTimeZone,
      unknownEnumValues: settings.unknownEnumValues,
      nonFiniteNumbers: settings.nonFiniteNumbers,
      invalidDates: settings.invalidDates,
      emptyElements: settings.emptyElements,
      unknownElements: settings.unknownElements,
      validate: settings.validate,
      faultCodePrefix: keys.faultCodePrefix ?? adoptedDefaults.faultCodePrefix,
    },
    settings,
    headers: readMoved(keys.headers, report),
    personal: keys.personal ?? [],
  };
}

function readMoved(given: Keys['headers'], report: Report): AdoptedOverlay['headers'] {
  const names = new Map<string, string>();
  for (const [place, { header }] of given ?? []) {
    if (header === undefined)
      report(`/headers${pointerSegment(place)}`, 'expected the HTTP header that it goes in, got none');
    else if (!/^[^.\s]+(?:\.[^.\s]+)+$/.test(place))
      report(
        `/headers${pointerSegment(place)}`,
        `expected a header block and a member of it, such as SessionHeader.session, got ${shown(place)}`,
      );
    else names.set(place, header);
  }
  const headers = readHeaderNames(names, '/headers', report);
  return new Map(
    [...headers].map(([place, header]) => [place, { header, format: given?.get(place)?.format ?? '{}' }]),
  );
}
