import { readFileSync } from 'node:fs';

/** Returns the version of this package. */
export function readVersion(): string {
  const here = import.meta.dirname;
  const root = here.endsWith('/dist/gateway/process') ? '../../..' : '../..';
  const manifest: { version: string } = JSON.parse(readFileSync(`${here}/${root}/package.json`, 'utf8'));
  return manifest.version;
}
