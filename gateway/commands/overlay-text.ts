import { relative, resolve } from 'node:path';
import { type ContractKind, overlaySettings, type Settings } from '../../mappings/contract/overlay-keys.ts';
import type { Setting } from '../../mappings/contract/setting.ts';

/**
 * Returns the first line of an overlay, with the path of its JSON Schema for editors. The path is relative to the
 * overlay's folder.
 */
export function schemaLine(folder: string, schemaFile: string): string {
  return `# yaml-language-server: $schema=${relative(resolve(folder), schemaFile).replaceAll('\\', '/')}`;
}

/** YAML lines by key. Each includes the key's name. */
export type KeyLines = Readonly<Partial<Record<string, readonly string[]>>>;

/**
 * Returns all keys of an overlay as comments: the description, and a line with the default or an example.
 *
 * @param settings the defaults
 * @param lines lines that replace the default or example of a key; an empty array omits the key
 */
export function commentedKeys(kind: ContractKind, settings: Settings, lines: KeyLines): readonly string[] {
  const defaults = new Map<string, unknown>(Object.entries(settings));
  const keys: Readonly<Record<string, Setting>> = overlaySettings[kind].keys;
  return Object.entries(keys).flatMap(([name, setting]) => {
    const value = 'default' in setting ? defaults.get(name) : undefined;
    const text = typeof value === 'object' ? JSON.stringify(value) : (value ?? setting.example);
    const own = lines[name] ?? [`${name}: ${text}`];
    const words = setting.kind === 'keyword' ? ` One of ${setting.keywords.join(', ')}.` : '';
    return own.length === 0
      ? []
      : [`# ${setting.description}${words}`, ...own.map((line) => `# ${line}`), ''];
  });
}
