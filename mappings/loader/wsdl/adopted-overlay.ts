import {
  defaultSettings,
  type OverlayValues,
  overlaySettings,
  type Settings,
} from '../../contract/overlay-keys.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readSettings } from '../document/settings-file.ts';
import { basePathOf, readHeaderNames, settingsOf } from '../overlay/overlay.ts';

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
}

/** Reads the overlay of an adopted contract. Wrong values are reported. An empty file is valid. */
export function readAdoptedOverlay(document: unknown, report: Report): AdoptedOverlay {
  const keys = readSettings(overlaySettings.adopted, document ?? {}, '', report) ?? {};
  return {
    wsdl: keys.wsdl,
    refs: keys.refs ?? new Map(),
    basePath: basePathOf(keys),
    endpoints: keys.endpoints ?? new Map(),
    operations: keys.operations ?? new Map(),
    rename: keys.rename ?? new Map(),
    open: [...(keys.open ?? [])].flatMap(([type, how]) => (how === 'fields' ? [type] : [])),
    settings: settingsOf('adopted', keys, defaultSettings.adopted, report),
    headers: readMoved(keys.headers, report),
    personal: keys.personal ?? [],
  };
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
