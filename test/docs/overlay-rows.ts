import { type ContractKind, defaultSettings, overlaySettings } from '../../mappings/contract/overlay-keys.ts';
import type { Setting } from '../../mappings/contract/setting.ts';
import { expectedBy } from '../../mappings/loader/document/settings-file.ts';
import { dialects } from '../../mappings/loader/overlay/dialects.ts';

/** Formats the possible values of a key as Markdown. */
function valuesOf(setting: Setting): string {
  if (setting.kind === 'keyword') return setting.keywords.map((word) => `\`${word}\``).join(', ');
  if (setting.kind === 'choice') return setting.of.map(valuesOf).join(', or ');
  return setting.kind === 'text' ? 'text' : expectedBy(setting);
}

/** Splits a description into its text and the default that its last sentence states. */
function splitDefault(description: string): readonly [text: string, stated: string] {
  const [, text = description, stated = ''] = /^(.+?) Default: (.+)\.$/.exec(description) ?? [];
  return [text, stated];
}

/** Formats a default as Markdown; an empty text for none. */
function shownDefault(value: unknown): string {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${String(value)}\``;
}

function defaultOf(kind: ContractKind, key: string): string {
  const presetIn = (settings: object): string =>
    shownDefault(new Map<string, unknown>(Object.entries(settings)).get(key));
  const general = presetIn(defaultSettings[kind]);
  const special = presetIn(dialects.servicestack.settings);
  return kind === 'adopted' || special === '' ? general : `${general}; \`servicestack\`: ${special}`;
}

/** Returns the rows of the table of overlay keys in docs/overlay-keys.md (openapi) or docs/adopt.md (adopted). */
export function overlayRows(kind: ContractKind): string {
  const keys: Readonly<Record<string, Setting>> = overlaySettings[kind].keys;
  return Object.entries(keys)
    .map(([key, setting]) => {
      const preset = 'default' in setting ? defaultOf(kind, key) : '';
      const [text, stated] = splitDefault(setting.description);
      const cells = [`\`${key}\``, valuesOf(setting), preset === '' ? stated : preset, text];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
    })
    .join('');
}

/** Matches the rows of that table on the page. */
export const overlayTableForm =
  /(?<=\| key \| values \| default \| decides \|\n\|---\|---\|---\|---\|\n)(?:\|.*\n)*/;
