import { zipSync } from 'fflate';
import type { CompiledContract } from '../../mappings/compiled.ts';
import { adoptedOperation } from '../../mappings/contract/adopted.ts';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import { credentialHeaders } from '../samples/placeholders.ts';
import { createSampler, type OperationSamples, type Sampler } from '../samples/samples.ts';
import { ports } from '../wsdl.ts';
import { type Collected, writeBruno, writePostman, writeSoapUi } from './collections.ts';
import { foldersOf, sampleSuffix } from './file-names.ts';
import { type Snippet, snippetsOf } from './snippets.ts';

/** What clients of a contract begin with: programs, and collections for tools. The same contract and address give the same bytes. */
export interface Kits {
  /** A program for each stack that calls the operation; undefined for a name that the contract lacks. */
  readonly snippets: (operation: string) => readonly Snippet[] | undefined;
  /** A SoapUI project of some operations, all of them by default. Throws RangeError for a name that the contract lacks. */
  readonly soapUi: (operations?: readonly string[]) => string;
  /** A Postman collection, format 2.1. Throws RangeError as above. */
  readonly postman: (operations?: readonly string[]) => string;
  /** The files of a Bruno collection by their paths. Throws RangeError as above. */
  readonly bruno: (operations?: readonly string[]) => ReadonlyMap<string, string>;
  /** The programs and samples of one operation, by path. Throws RangeError as above. */
  readonly filesOf: (operation: string) => ReadonlyMap<string, string>;
  /** What tools take in of several operations, by path, with words to read first. Throws RangeError as above. */
  readonly collections: (operations?: readonly string[]) => ReadonlyMap<string, string>;
  /** All of that, by path. Throws RangeError as above. */
  readonly files: (operations?: readonly string[]) => ReadonlyMap<string, string>;
  /** The same as a zip. Throws RangeError as above. */
  readonly zip: (operations?: readonly string[]) => Uint8Array;
}

/**
 * The kits of a contract.
 *
 * @param publicAddress the contract's public address, without a slash at the end
 */
export function createKits(
  compiled: CompiledContract,
  publicAddress: string,
  sampler: Sampler = createSampler(compiled),
): Kits {
  // it stands in comments of programs, too
  const address = publicAddress.replace(/[\s\\]/g, '');
  const samplesOf = (operation: string): OperationSamples => {
    const samples = sampler.samplesOf(operation);
    if (samples === undefined)
      throw new RangeError(
        `operation: expected one of the contract, got ${JSON.stringify(operation)}${didYouMean(operation, compiled.operations.keys())}`,
      );
    return samples;
  };
  const folders = foldersOf(compiled.operations.keys());
  const folderOf = (operation: string): string => folders.get(operation) ?? operation;
  const collected = (operations?: readonly string[]): Collected => ({
    ...factsOf(compiled, address),
    operations: (operations ?? [...compiled.operations.keys()]).map((name) => ({
      name,
      folder: folderOf(name),
      requests: samplesOf(name).requests,
    })),
  });
  const snippets = (operation: string): readonly Snippet[] | undefined =>
    compiled.operations.has(operation) ? programsOf(compiled, address, samplesOf(operation)) : undefined;
  const filesOf = (operation: string): ReadonlyMap<string, string> => {
    const all = new Map<string, string>();
    const folder = folderOf(operation);
    for (const { file, text } of snippets(operation) ?? []) all.set(`${folder}/${file}`, text);
    const { requests, replies } = samplesOf(operation);
    for (const [side, messages] of [
      ['request', requests],
      ['reply', replies],
    ] as const)
      for (const { format, text } of messages)
        all.set(`${folder}/samples/${side}${sampleSuffix(format)}`, text);
    return all;
  };
  const collections = (operations?: readonly string[]): ReadonlyMap<string, string> => {
    const facts = collected(operations);
    return new Map([
      ['README.txt', readme(facts)],
      ['soapui-project.xml', writeSoapUi(facts)],
      ['postman-collection.json', writePostman(facts)],
      ...[...writeBruno(facts)].map(([path, text]) => [`bruno/${path}`, text] as const),
    ]);
  };
  const files = (operations: readonly string[] = [...compiled.operations.keys()]) =>
    new Map([...collections(operations), ...operations.flatMap((name) => [...filesOf(name)])]);
  return {
    snippets,
    soapUi: (operations) => writeSoapUi(collected(operations)),
    postman: (operations) => writePostman(collected(operations)),
    bruno: (operations) => writeBruno(collected(operations)),
    filesOf,
    collections,
    files,
    zip: (operations) => {
      const encoder = new TextEncoder();
      const entries = [...files(operations)].map(([path, text]) => [path, encoder.encode(text)] as const);
      return zipSync(Object.fromEntries(entries), { mtime: zipTime, level: 6 });
    },
  };
}

/** When files of a zip were written: at no hour of any clock, so that the same contract gives the same bytes. */
export const zipTime: Date = new Date(1980, 0, 1);

/** What all operations of a contract share. */
function factsOf({ contract }: CompiledContract, address: string): Omit<Collected, 'operations'> {
  const { adopted } = contract;
  const port = (version: '1.1' | '1.2') => adopted?.service.ports.find(({ soap }) => soap === version);
  const path = adopted?.endpoints[0]?.path ?? ports[0]?.path ?? '';
  return {
    service: contract.service,
    namespace: adopted?.service.namespace ?? contract.namespaces.types,
    address,
    wsdl: `${address}${path}?wsdl`,
    bindings:
      adopted === undefined
        ? { '1.1': ports[0]?.binding, '1.2': ports[1]?.binding }
        : { '1.1': port('1.1')?.name, '1.2': port('1.2')?.name },
    credentials: credentialHeaders(contract),
  };
}

function programsOf(
  compiled: CompiledContract,
  address: string,
  samples: OperationSamples,
): readonly Snippet[] {
  const { contract, limits } = compiled;
  const facts = factsOf(compiled, address);
  const [soap11, soap12] = samples.requests;
  if (soap11 === undefined || soap12 === undefined) return [];
  const adopted = adoptedOperation(contract, samples.operation);
  return snippetsOf({
    operation: adopted?.wsdlName ?? samples.operation,
    address,
    wsdl: facts.wsdl,
    soap11,
    soap12,
    service: {
      namespace: facts.namespace,
      name: contract.adopted?.service.name ?? contract.service,
      port: contract.adopted?.service.ports[0]?.name ?? ports[0]?.name ?? '',
    },
    isEncoded: adopted?.input.use === 'encoded',
    limits,
  });
}

function readme({ service, address, wsdl, credentials, operations }: Collected): string {
  const names = operations.map(({ name }) => `  ${name}\n`).join('');
  return `${service}\n\nAddress: ${address}\nWSDL: ${wsdl}\n${credentialWords(credentials)}
soapui-project.xml       SoapUI: File, Import Project
postman-collection.json  Postman: Import
bruno/                   Bruno: Open Collection
samples/ in each folder  requests and replies in SOAP 1.1, SOAP 1.2, XML and JSON
The other files of each folder are programs that make the call; those that no test runs say so.
The collections have each credential once, as a variable of the collection or project.

${names}`;
}

/** The README's lines about credentials. */
function credentialWords(credentials: Collected['credentials']): string {
  const line = (required: boolean): string =>
    credentials
      .filter((each) => each.required === required)
      .map(({ placeholder }) => placeholder)
      .join(', ');
  const [needed, optional] = [line(true), line(false)];
  return [
    needed === '' ? '' : `Replace these placeholders by your credentials: ${needed}.\n`,
    optional === '' ? '' : `Optional credentials; remove them if you have none: ${optional}.\n`,
  ].join('');
}
