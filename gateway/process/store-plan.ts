import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { choice, record, text, type ValueOf } from '../../mappings/contract/setting.ts';
import type { Report } from '../../mappings/loader/document/error.ts';
import { missingPackages } from '../../mappings/optional-packages.ts';
import { withoutUserinfo } from './shown-settings.ts';
import { file, readText } from './upstream-plan.ts';

// the scheme is checked by readStorePlan, because the error about a wrong text contains the text with its password
const url = (description: string) => text(description, 'sqlite:PATH or a postgres:// URL');

/** `store` in `soapbridge.yaml`. */
export const storeSetting = choice(
  'Database for findings, recordings, usage, route changes and the audit: its URL, or its URL and password. Default: none.',
  url('`sqlite:PATH`, relative to the folder of this file, or `postgres://USER@HOST/DATABASE`.'),
  record('Database with its password.', {
    url: url('URL of the database, without the password.'),
    password: record('Password of the user. Default: PGPASSWORD.', { file: file('File of the password.') }),
  }),
);

/** Setting of the store (G53). */
export interface StorePlan {
  /** `sqlite:PATH` with an absolute path, or `postgres://…` with the password. */
  readonly url: string;
  /** The URL without its user and password. */
  readonly shown: string;
  readonly configFile: string;
}

const schemes = /^(?:sqlite:|postgres(?:ql)?:\/\/)/;

/** Reads the setting `store`. Returns undefined after it has reported a problem (G3). */
export function readStorePlan(
  stated: NonNullable<ValueOf<typeof storeSetting>>,
  configFile: string,
  hasCallerKey: boolean,
  inFolder: (name: string) => string,
  report: Report,
): StorePlan | undefined {
  const pointer = '/store';
  const { url: given, password = undefined } = typeof stated === 'string' ? { url: stated } : stated;
  if (given === undefined) {
    report(pointer, 'expected url, sqlite:PATH or a postgres:// URL, got none', 'url');
    return undefined;
  }
  const at = typeof stated === 'string' ? pointer : `${pointer}/url`;
  if (!schemes.test(given)) {
    report(at, `expected sqlite:PATH or a postgres:// URL, got ${withoutUserinfo(given)}`);
    return undefined;
  }
  if (!hasCallerKey)
    report(
      pointer,
      'expected SOAPBRIDGE_CALLER_KEY with store, got none. Without it, pseudonyms change at each start',
    );
  if (given.startsWith('sqlite:')) {
    const path = given.slice('sqlite:'.length);
    if (password !== undefined)
      report(`${pointer}/password`, 'expected a postgres:// URL with password, got SQLite');
    if (path === '') report(at, 'expected sqlite:PATH, got no path');
    else checkFolder(inFolder(path), at, report);
    return { url: `sqlite:${inFolder(path)}`, shown: given, configFile };
  }
  const parsed = URL.parse(given);
  if (parsed === null || parsed.hostname === '' || parsed.password !== '') {
    const why = parsed?.password ? 'a URL with a password' : 'another text';
    report(at, `expected postgres://USER@HOST/DATABASE without a password, got ${why}`);
    return undefined;
  }
  if (password?.file !== undefined)
    parsed.password = encodeURIComponent(
      readText(inFolder(password.file), `${pointer}/password/file`, report).trimEnd(),
    );
  const missing = missingPackages('store');
  if (missing !== undefined) report(pointer, missing);
  return { url: parsed.href, shown: String(withoutUserinfo(given)), configFile };
}

function checkFolder(path: string, at: string, report: Report): void {
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (statSync(folder).isDirectory() && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      return;
  } catch {
    // reported below
  }
  report(at, `expected a file in a folder that exists and is writable, got ${path}`);
}
