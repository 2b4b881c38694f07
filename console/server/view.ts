import { createDoctor, type Doctor } from '../../gateway/doctor/explain.ts';
import type { TryIt } from '../../gateway/http/pages.ts';
import { createPreview, type Preview } from '../../gateway/protocols/preview.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { Contract, Operation, RecordType, Type } from '../../mappings/contract/model.ts';
import { partsOf } from '../../mappings/contract/model.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { soapPathsOf } from '../../wsdl/binding.ts';
import { createSampler, type Sampler } from '../../wsdl/samples/samples.ts';
import { type PreparedEntry, prepareEntries, type SearchEntry } from '../search.ts';
import { summary } from './prose.ts';
import { folderOf } from './requests.ts';
import type { Texts } from './texts.ts';

/** The most operations that the overview and the side navigation list; of more they list the tags. */
export const mostListed = 120;

/** The title of the document, or the service's name. */
export function titleOf({ contract }: Pick<Site, 'contract'>): string {
  return contract.about?.title || contract.service;
}

/** What pages know of a contract, made once. */
export interface Site {
  readonly compiled: CompiledContract;
  readonly contract: Contract;
  readonly tryIt: TryIt;
  /** Where pages are below the base path: `docs`, or `_docs` where the contract has routes of its own there. */
  readonly folder: string;
  /** By name in lower case. */
  readonly operations: ReadonlyMap<string, CompiledOperation>;
  /** By tag, tags in the order in which operations name them. */
  readonly tags: ReadonlyMap<string, readonly Operation[]>;
  readonly untagged: readonly Operation[];
  readonly entries: readonly PreparedEntry[];
  /** Writes samples; made when one is first shown. */
  readonly sampler: () => Sampler;
  /** Writes samples of required members only; made when one is first shown. */
  readonly sparseSampler: () => Sampler;
  /** Says what is wrong with a message; made when it is first asked for. */
  readonly doctor: () => Doctor;
  /** Tells what a request becomes upstream; made when it is first asked for. */
  readonly preview: () => Preview;
  /** Where SOAP calls go, below the base path: each path with each SOAP version that the WSDL declares for it. */
  readonly soapPaths: readonly { readonly path: string; readonly version: string }[];
}

/** One visit of a page: in which language, from where. */
export interface View {
  readonly site: Site;
  readonly texts: Texts;
  /** The way up from the page to the base path, such as `../`. */
  readonly up: string;
  /** The contract's public address, without a slash at the end. */
  readonly address: string;
  /** The language, where a link chose it. */
  readonly chosen: string | undefined;
  /** The page itself below the base path, for links to other languages. */
  readonly self: string;
}

/** Makes what pages know of a contract. */
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

/** The header blocks of the first operation of an adopted contract that holds credentials in them (A8), as XML; else `''`. */
export function credentialBlocks({ contract, sampler }: Site): string {
  const moved = new Set(contract.credentials?.parts.map((part) => part.moved?.block));
  const graph = typeGraphOf(contract);
  const operation = contract.operations.find((each) =>
    graph.messagesOf(each).input.headers.some(({ name }) => moved.has(name.local)),
  );
  return operation === undefined ? '' : (sampler().samplesOf(operation.name)?.requests[0]?.blocks ?? '');
}

/** The operations of a tag, none of an unknown one; all of them where no tag is named. */
export function operationsOf({ contract, tags }: Site, tag: string | undefined): readonly Operation[] {
  return tag === undefined ? contract.operations : (tags.get(tag) ?? []);
}

/** A link to a page below the base path, in the language that was chosen. */
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

/** A link to an operation's page. */
export function operationHref(view: View, name: string): string {
  return href(view, `${view.site.folder}/${encodeURIComponent(name)}`);
}

/** So many names of members of one operation are searched. */
const mostMembers = 40;

function entryOf(operation: Operation): SearchEntry {
  const names = new Set<string>();
  const seen = new Set<Type>();
  const waiting: Type[] = [operation.input, operation.output];
  // nearest first: members of members come after all members
  for (let type = waiting.shift(); type !== undefined && names.size < mostMembers; type = waiting.shift()) {
    if (seen.has(type) || type.kind === 'scalar') continue;
    seen.add(type);
    for (const name of memberNames(type)) if (names.size < mostMembers) names.add(name.toLowerCase());
    for (const part of partsOf(type)) waiting.push(part);
  }
  return {
    n: operation.name,
    t: operation.tags,
    w: summary(operation.documentation),
    m: [...names].join(' '),
  };
}

function memberNames(type: Type): readonly string[] {
  return type.kind === 'record' ? (type as RecordType).fields.map(({ json }) => json) : [];
}
