import { zipSync } from 'fflate';
import type { CompiledContract } from '../../mappings/compiled.ts';
import { requiresSignature } from '../../mappings/contract/credentials.ts';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import { credentialHeaders } from '../samples/placeholders.ts';
import { acceptedSamples, createSampler, type OperationSamples, type Sampler } from '../samples/samples.ts';
import { type Collected, writeBruno, writePostman, writeSoapUi } from './collections.ts';
import { foldersOf, sampleSuffix } from './file-names.ts';
import { signingFiles } from './signing.ts';
import { type Snippet, snippetsOf } from './snippets.ts';

/**
 * Client starting points for a contract: programs, and collections for tools. The same contract and address give the
 * same bytes. All methods except `snippets` throw a RangeError for an unknown operation, and use all operations by
 * default.
 */
export class Kits {
  readonly #compiled: CompiledContract;
  readonly #address: string;
  readonly #sampler: Sampler;
  readonly #folders: ReadonlyMap<string, string>;

  /** @param publicAddress the contract's public address, without a slash at the end */
  constructor(compiled: CompiledContract, publicAddress: string, sampler: Sampler = createSampler(compiled)) {
    this.#compiled = compiled;
    // the address is also written to comments of programs
    this.#address = publicAddress.replace(/[\s\\]/g, '');
    this.#sampler = sampler;
    this.#folders = foldersOf(compiled.operations.keys());
  }

  /**
   * Returns one program per stack that calls the operation, or undefined if the contract does not have the operation.
   */
  snippets(operation: string): readonly Snippet[] | undefined {
    if (!this.#compiled.operations.has(operation)) return undefined;
    return programsOf(this.#compiled, this.#address, this.#samplesOf(operation));
  }

  /** Returns a SoapUI project. */
  soapUi(operations?: readonly string[]): string {
    return writeSoapUi(this.#collected(operations));
  }

  /** Returns a Postman collection, format 2.1. */
  postman(operations?: readonly string[]): string {
    return writePostman(this.#collected(operations));
  }

  /** Returns the files of a Bruno collection by their paths. */
  bruno(operations?: readonly string[]): ReadonlyMap<string, string> {
    return writeBruno(this.#collected(operations));
  }

  /** Returns the programs and samples of one operation by their paths. */
  filesOf(operation: string): ReadonlyMap<string, string> {
    const all = new Map<string, string>();
    const folder = this.#folderOf(operation);
    for (const { file, text } of this.snippets(operation) ?? []) all.set(`${folder}/${file}`, text);
    const { requests, replies } = this.#samplesOf(operation);
    for (const [side, messages] of [
      ['request', requests],
      ['reply', replies],
    ] as const)
      for (const { format, text } of messages)
        all.set(`${folder}/samples/${side}${sampleSuffix(format)}`, text);
    return all;
  }

  /** Returns the collections for all tools and a README, by path. */
  collections(operations?: readonly string[]): ReadonlyMap<string, string> {
    const facts = this.#collected(operations);
    return new Map([
      ['README.txt', readme(facts, requiresSignature(this.#compiled.contract.wsse))],
      ['soapui-project.xml', writeSoapUi(facts)],
      ['postman-collection.json', writePostman(facts)],
      ...[...writeBruno(facts)].map(([path, text]) => [`bruno/${path}`, text] as const),
      ...signingFiles(this.#compiled.contract.wsse, facts.wsdl),
    ]);
  }

  /** Returns the collections, programs and samples by path. */
  files(operations: readonly string[] = [...this.#compiled.operations.keys()]): ReadonlyMap<string, string> {
    return new Map([
      ...this.collections(operations),
      ...operations.flatMap((name) => [...this.filesOf(name)]),
    ]);
  }

  /** Returns the same files as a zip. */
  zip(operations?: readonly string[]): Uint8Array {
    const encoder = new TextEncoder();
    const entries = [...this.files(operations)].map(([path, text]) => [path, encoder.encode(text)] as const);
    return zipSync(Object.fromEntries(entries), { mtime: zipTime, level: 6 });
  }

  #samplesOf(operation: string): OperationSamples {
    const samples = this.#sampler.samplesOf(operation);
    if (samples !== undefined) return acceptedSamples(this.#compiled.contract, samples);
    throw new RangeError(
      `operation: expected one of the contract, got ${JSON.stringify(operation)}${didYouMean(operation, this.#compiled.operations.keys())}`,
    );
  }

  #folderOf(operation: string): string {
    return this.#folders.get(operation) ?? operation;
  }

  #collected(operations: readonly string[] = [...this.#compiled.operations.keys()]): Collected {
    return {
      ...factsOf(this.#compiled, this.#address),
      operations: operations.map((name) => ({
        name,
        folder: this.#folderOf(name),
        requests: this.#samplesOf(name).requests,
      })),
    };
  }
}

/**
 * Modification time of files in a zip, in local time, so that the same contract gives the same bytes in all time zones.
 */
export const zipTime: Date = new Date(1980, 0, 1);

/** Returns the facts shared by all operations of a contract. */
function factsOf({ contract }: CompiledContract, address: string): Omit<Collected, 'operations'> {
  const { ports } = contract;
  const bindingFor = (version: '1.1' | '1.2') => ports.find(({ soap }) => soap === version)?.binding;
  return {
    service: contract.service,
    namespace: contract.namespaces.types,
    address,
    wsdl: `${address}${ports[0]?.path ?? ''}?wsdl`,
    bindings: { '1.1': bindingFor('1.1'), '1.2': bindingFor('1.2') },
    credentials: credentialHeaders(contract),
  };
}

function programsOf(
  compiled: CompiledContract,
  address: string,
  samples: OperationSamples,
): readonly Snippet[] {
  const { contract } = compiled;
  const facts = factsOf(compiled, address);
  const [soap11, soap12] = samples.requests;
  if (soap11 === undefined || soap12 === undefined) return [];
  const { wsdlName, use } = samples.binding;
  return snippetsOf({
    operation: wsdlName,
    address,
    wsdl: facts.wsdl,
    soap11,
    soap12,
    service: {
      namespace: facts.namespace,
      name: contract.service,
      port: contract.ports[0]?.name ?? '',
    },
    isEncoded: use === 'encoded',
  });
}

function readme({ service, address, wsdl, credentials, operations }: Collected, isSigned: boolean): string {
  const formats = isSigned ? 'SOAP 1.1 and SOAP 1.2' : 'SOAP 1.1, SOAP 1.2, XML and JSON';
  const signing = isSigned
    ? 'signing/                 Calls must be signed. The programs and collections do not sign: add a file of this folder.\n'
    : '';
  const names = operations.map(({ name }) => `  ${name}\n`).join('');
  return `${service}\n\nAddress: ${address}\nWSDL: ${wsdl}\n${credentialWords(credentials)}
soapui-project.xml       SoapUI: File, Import Project
postman-collection.json  Postman: Import
bruno/                   Bruno: Open Collection
${signing}samples/ in each folder  requests and replies in ${formats}
The other files of each folder are programs that make the call; those that no test runs say so.
The collections have each credential once, as a variable of the collection or project.

${names}`;
}

/** Returns the README's lines about credentials. */
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
