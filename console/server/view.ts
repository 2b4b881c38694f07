import { createDoctor, type Doctor } from '../../gateway/doctor/explain.ts';
import type { TryIt } from '../../gateway/http/pages.ts';
import { createPreview, type Preview } from '../../gateway/protocols/preview.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import { type Contract, type Operation, reachableFrom } from '../../mappings/contract/model.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { type SoapPath, soapPathsOf } from '../../wsdl/binding.ts';
import { createSampler, type Sampler } from '../../wsdl/samples/samples.ts';
import { type PreparedEntry, prepareEntries, type SearchEntry } from '../search.ts';
import { summary } from './prose.ts';
import { folderOf } from './requests.ts';
import type { Texts } from './texts.ts';

/**
 * Maximum number of operations that the overview and the side navigation list. If there are more, they list the tags.
 */
export const mostListed = 120;

/** Returns the title of the document, or the service's name. */
export function titleOf({ contract }: Pick<Site, 'contract'>): string {
  return contract.about?.title || contract.service;
}

/** Data about a contract shared by all pages. */
export interface Site {
  readonly compiled: CompiledContract;
  readonly contract: Contract;
  readonly tryIt: TryIt;
  /** Folder of the pages below the base path: `docs`, or `_docs` if the contract has its own routes there. */
  readonly folder: string;
  /** Operations by name in lower case. */
  readonly operations: ReadonlyMap<string, CompiledOperation>;
  /** Operations by tag. Tags are in the order in which operations name them. */
  readonly tags: ReadonlyMap<string, readonly Operation[]>;
  readonly untagged: readonly Operation[];
  readonly entries: readonly PreparedEntry[];
  /** Returns the sampler, created on first use. */
  readonly sampler: () => Sampler;
  /** Returns the sampler of required members only, created on first use. */
  readonly sparseSampler: () => Sampler;
  /** Returns the doctor that checks messages, created on first use. */
  readonly doctor: () => Doctor;
  /** Returns the preview of upstream requests, created on first use. */
  readonly preview: () => Preview;
  /** Paths of SOAP endpoints below the base path, with each SOAP version that the WSDL declares for the path. */
  readonly soapPaths: readonly SoapPath[];
}

/** Language and location of one visit of a page. */
export interface View {
  readonly site: Site;
  readonly texts: Texts;
  /** Relative path from the page to the base path, for example `../`. */
  readonly up: string;
  /** The contract's public address, without a slash at the end. */
  readonly address: string;
  /** The language, if a link chose it. */
  readonly chosen: string | undefined;
  /** The page's path below the base path, for links to other languages. */
  readonly self: string;
}

/** Creates the data shared by all pages. */
export function createSite(compiled: CompiledContract, tryIt: TryIt): Site {
  const { contract } = compiled;
  let doctor: Doctor | undefined;
  let sampler: Sampler | undefined;
  let sparseSampler: Sampler | undefined;
  let preview: Preview | undefined;
  const tags = new Map<string, Operation[]>();
  for (const operation of contract.operations)
    for (const tag of new Set(operation.tags)) {
      const members = tags.get(tag);
      if (members === undefined) tags.set(tag, [operation]);
      else members.push(operation);
    }
  const soapPaths = soapPathsOf(contract);
  return {
    compiled,
    contract,
    tryIt,
    folder: folderOf(contract),
    operations: new Map([...compiled.operations].map(([name, each]) => [name.toLowerCase(), each])),
    tags,
    untagged: contract.operations.filter(({ tags: own }) => own.length === 0),
    entries: prepareEntries(contract.operations.map(entryOf)),
    soapPaths,
    doctor: () => {
      doctor ??= createDoctor(compiled);
      return doctor;
    },
    preview: () => {
      preview ??= createPreview(compiled);
      return preview;
    },
    sparseSampler: () => {
      sparseSampler ??= createSampler(compiled, true);
      return sparseSampler;
    },
    sampler: () => {
      sampler ??= createSampler(compiled);
      return sampler;
    },
  };
}

/**
 * Returns the header blocks of the first operation of an adopted contract that has credentials in them (A8), as XML;
 * otherwise `''`.
 */
export function credentialBlocks({ contract, sampler }: Site): string {
  const moved = new Set(movedHeadersOf(contract.credentials).map(({ block }) => block));
  if (moved.size === 0) return '';
  const graph = typeGraphOf(contract);
  const operation = contract.operations.find((each) =>
    graph.messagesOf(each).input.headers.some(({ name }) => moved.has(name.local)),
  );
  return operation === undefined ? '' : (sampler().samplesOf(operation.name)?.requests[0]?.blocks ?? '');
}

/** Returns the operations of a tag, or all operations if no tag is given. Empty for an unknown tag. */
export function operationsOf({ contract, tags }: Site, tag: string | undefined): readonly Operation[] {
  return tag === undefined ? contract.operations : (tags.get(tag) ?? []);
}

/** Returns a link to a page below the base path, in the chosen language. */
export function href(
  { up, chosen }: View,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const words = new URLSearchParams(query);
  if (chosen !== undefined) words.set('lang', chosen);
  const text = words.toString();
  return `${up}${path}${text === '' ? '' : `?${text}`}`;
}

/** Returns a link to an operation's page. */
export function operationHref(view: View, name: string): string {
  return href(view, `${view.site.folder}/${encodeURIComponent(name)}`);
}

/** Maximum number of searchable member names per operation. */
const mostMembers = 40;

function entryOf(operation: Operation): SearchEntry {
  const names = new Set<string>();
  // nested members follow all direct members
  for (const type of reachableFrom([operation.input, operation.output])) {
    if (names.size >= mostMembers) break;
    for (const { json } of type.kind === 'record' ? type.fields : [])
      if (names.size < mostMembers) names.add(json.toLowerCase());
  }
  return {
    n: operation.name,
    t: operation.tags,
    w: summary(operation.documentation),
    m: [...names].join(' '),
  };
}
