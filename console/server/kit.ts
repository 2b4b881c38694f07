import { Kits } from '../../wsdl/kits/kits.ts';
import type { Snippet } from '../../wsdl/kits/snippets.ts';
import type { Site } from './view.ts';

/** A file of a client kit, for a download: a program or a collection. */
export interface KitFile {
  readonly file: string;
  readonly contentType: string;
  readonly content: string | Uint8Array;
}

/** Returns the programs that call an operation at an address, one per stack. Empty for an operation without samples. */
export function programsOf(site: Site, address: string, operation: string): readonly Snippet[] {
  return kitsOf(site, address).snippets(operation) ?? [];
}

/** A file with the requests of one or several operations: a project that a tool imports, or a zip of all files. */
export interface Collection extends Pick<KitFile, 'file' | 'contentType'> {
  /** Text of the link: the name of the tool or the format. */
  readonly title: string;
  readonly write: (kits: Kits, operations: readonly string[]) => string | Uint8Array;
}

/** All collections, in the order of their links on the pages. */
export const collections: readonly Collection[] = [
  {
    file: 'soapui-project.xml',
    title: 'SoapUI',
    contentType: 'application/xml; charset=utf-8',
    write: (kits, operations) => kits.soapUi(operations),
  },
  {
    file: 'postman-collection.json',
    title: 'Postman',
    contentType: 'application/json; charset=utf-8',
    write: (kits, operations) => kits.postman(operations),
  },
  {
    file: 'all.zip',
    title: 'ZIP',
    contentType: 'application/zip',
    write: (kits, operations) => kits.zip(operations),
  },
];

/** Returns the collection with a file name, or undefined for an unknown name. */
export function collectionOf(file: string): Collection | undefined {
  return collections.find((each) => each.file === file);
}

/** Returns a file of an operation's kit by its name, or undefined for an unknown name. */
export function kitFile(site: Site, address: string, operation: string, file: string): KitFile | undefined {
  const kits = kitsOf(site, address);
  const collection = collectionOf(file);
  if (collection !== undefined)
    return { file, contentType: collection.contentType, content: collection.write(kits, [operation]) };
  const program = kits.snippets(operation)?.find((each) => each.file === file);
  return program === undefined
    ? undefined
    : { file, contentType: 'text/plain; charset=utf-8', content: program.text };
}

/** Returns the writer of kits whose programs call a contract at an address. */
function kitsOf({ compiled, sampler }: Site, address: string): Kits {
  return new Kits(compiled, address, sampler());
}
