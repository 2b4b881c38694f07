import {
  defaultSettings,
  type OverlayValues,
  overlaySettings,
  type Settings,
} from '../../contract/overlay-keys.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readSettings } from '../document/settings-file.ts';
import { checkEncryptedReplies } from '../overlay/encrypted-replies.ts';
import { basePathOf, noFiles, readHeaderNames, readSignatureKeys, settingsOf } from '../overlay/overlay.ts';

type Keys = OverlayValues<'adopted'>;

/** The overlay of an adopted contract, with its defaults. */
export interface AdoptedOverlay {
  /** Undefined: the only WSDL of the folder. */
  readonly wsdl: string | undefined;
  readonly refs: ReadonlyMap<string, string>;
  readonly basePath: string;
  /** Port → path. */
  readonly endpoints: ReadonlyMap<string, string>;
  readonly operations: NonNullable<Keys['operations']>;
  /** `Type.member` → name. */
  readonly rename: ReadonlyMap<string, string>;
  /** Types with wildcard elements that become members of an object (A22). */
  readonly open: readonly string[];
  readonly settings: Settings;
  /** `Block.member` → HTTP header and its format. */
  readonly headers: ReadonlyMap<string, { readonly header: string; readonly format: string }>;
  readonly personal: readonly string[];
  /** Settings of signatures; undefined for none, or while names of files are missing (X37). */
  readonly signatures: ReturnType<typeof readSignatureKeys> | undefined;
  /** Pointers of missing names of files. */
  readonly missingFiles: readonly string[];
}

/** Reads the overlay of an adopted contract. Wrong values are reported. An empty file is valid. */
export function readAdoptedOverlay(
  document: unknown,
  report: Report,
  readBytes: ReadBytes = noFiles,
): AdoptedOverlay {
  const keys = readSettings(overlaySettings.adopted, document ?? {}, '', report) ?? {};
  const missingFiles = keys.wsse === undefined ? [] : emptyNames(keys.wsse, '/wsse');
  if (keys.wsse?.x509?.credential !== undefined)
    report('/wsse/x509/credential', 'expected none for a WSDL, because its callers have no such credential');
  const settings = settingsOf('adopted', keys, defaultSettings.adopted, report);
  const signatures =
    keys.wsse === undefined || missingFiles.length > 0
      ? undefined
      : readSignatureKeys(keys.wsse, new Map(), report, readBytes);
  checkEncryptedReplies(settings.mtomReplies, signatures, '/mtomReplies', report);
  return {
    wsdl: keys.wsdl,
    refs: keys.refs ?? new Map(),
    basePath: basePathOf(keys),
    endpoints: keys.endpoints ?? new Map(),
    operations: keys.operations ?? new Map(),
    rename: keys.rename ?? new Map(),
    open: [...(keys.open ?? [])].flatMap(([type, how]) => (how === 'fields' ? [type] : [])),
    settings,
    headers: readMoved(keys.headers, report),
    personal: keys.personal ?? [],
    missingFiles,
    signatures,
  };
}

/** Returns the pointers of empty texts in a value of the overlay. They are names of files to fill in. */
function emptyNames(value: unknown, at: string): readonly string[] {
  if (value === '') return [at];
  if (typeof value !== 'object' || value === null) return [];
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, inner]) => emptyNames(inner, at + pointerSegment(String(key))));
}

function readMoved(given: Keys['headers'], report: Report): AdoptedOverlay['headers'] {
  const names = new Map<string, string>();
  for (const [place, { header }] of given ?? []) {
    if (header === undefined)
      report(
        `/headers${pointerSegment(place)}`,
        'expected the name of an HTTP header for the value, got none',
      );
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
