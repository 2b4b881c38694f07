import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Returns the WSDLs of a folder that no other WSDL in the folder imports. */
export function firstWsdls(folder: string): readonly string[] {
  const wsdls = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.wsdl'))
    .toSorted();
  const imported = wsdls
    .flatMap((path) => [...readFileSync(join(folder, path), 'utf8').matchAll(/\blocation="([^"]+\.wsdl)"/g)])
    .map(([, location = '']) => basename(location));
  return wsdls.filter((path) => !imported.includes(basename(path)));
}
