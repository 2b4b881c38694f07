import { readdirSync, statSync } from 'node:fs';

/** Returns the names of the WSDLs in a folder; none if it is not a folder. */
export function wsdlsIn(folder: string): readonly string[] {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? readdirSync(folder).filter((name) => /\.wsdl$/i.test(name)) : [];
}
