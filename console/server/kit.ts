import { createKits, type Kits } from '../../wsdl/kits/kits.ts';
import type { Snippet } from '../../wsdl/kits/snippets.ts';
import type { Site } from './view.ts';

/** A file of an operation's kit. */
export interface KitFile {
  readonly file: string;
  readonly contentType: string;
  readonly content: string | Uint8Array;
}

/** The programs that call an operation at an address, a stack each; none of an operation without samples. */
export function programsOf(site: Site, address: string, operation: string): readonly Snippet[] {
  return kitsOf(site, address).snippets(operation) ?? [];
}

/** What tools take in of an operation, beside its programs: the names of the files, with what people call them. */
export const collections: readonly (readonly [file: string, title: string])[] = [
  ['soapui-project.xml', 'SoapUI'],
  ['postman-collection.json', 'Postman'],
  ['all.zip', 'ZIP'],
];

/** A file of an operation's kit by its name; undefined for another name. */
export function kitFile(site: Site, address: string, operation: string, file: string): KitFile | undefined {
  const kits = kitsOf(site, address);
  const only = [operation];
  if (file === 'all.zip') return { file, contentType: 'application/zip', content: kits.zip(only) };
  if (file === 'soapui-project.xml')
    return { file, contentType: 'application/xml; charset=utf-8', content: kits.soapUi(only) };
  if (file === 'postman-collection.json')
    return { file, contentType: 'application/json; charset=utf-8', content: kits.postman(only) };
  const program = kits.snippets(operation)?.find((each) => each.file === file);
  return program === undefined
    ? undefined
    : { file, contentType: 'text/plain; charset=utf-8', content: program.text };
}

function kitsOf({ compiled, sampler }: Site, address: string): Kits {
  return createKits(compiled, address, sampler());
}
