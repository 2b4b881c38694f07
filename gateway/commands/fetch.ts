import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestInit } from 'undici';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { contractConstants } from '../../mappings/loader/document/allowance.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { readYamlFile } from '../../mappings/loader/document/yaml.ts';
import { printError } from './output.ts';
import { isPrivateAddress, lookUpPublic, privateRedirect } from './private-address.ts';

/** Maximum length of a stored document's name, without its extension. */
const longestName = 120;

/**
 * Fetches the document at a URL, stores it in the working directory and reports its path. An existing file is used
 * without fetching. Throws RangeError, and writes nothing then.
 */
export async function fetchDocument(address: string, limits: Limits = defaultLimits): Promise<string> {
  const url = URL.parse(address);
  if (url === null || url.hostname === '') throw new RangeError(`${address}: expected a URL, got none`);
  if (url.username !== '' || url.password !== '')
    throw new RangeError(
      `--fetch: expected a URL without user and password, got a URL with credentials for ${url.host}`,
    );
  const path = fileOf(url);
  const shown = url.origin + url.pathname; // a query may contain a key
  if (existsSync(path)) {
    printError(`${shown} not downloaded: ${path} exists. Delete the file to download it again`);
    return path;
  }
  const bytes = await load(url, shown, limits);
  const partial = `${path}.${process.pid}.part`;
  try {
    writeFileSync(partial, bytes, { flag: 'wx' });
    const problems: ContractProblem[] = [];
    const root = readYamlFile(partial, problems)?.root;
    if (!isNode(root) || (root.openapi === undefined && root.swagger === undefined))
      throw new RangeError(
        `${shown}: expected an OpenAPI document, an object with openapi or swagger, got ${problems[0]?.message ?? 'an unknown format'}`,
      );
    renameSync(partial, path);
  } finally {
    rmSync(partial, { force: true });
  }
  printError(`${shown} stored as ${path}, ${bytes.length} bytes`);
  return path;
}

/** Returns the file name for a document: its host and path, and a digest of its query. */
function fileOf(url: URL): string {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);
  const query = url.search === '' ? '' : `_${digest(url.search)}`;
  const words = (url.host + url.pathname).replaceAll(/[^A-Za-z0-9.-]+/g, '_').replace(/_$/, '');
  const extension = /\.(?:json|ya?ml)$/i.exec(words)?.[0] ?? '';
  const stem = words.slice(0, words.length - extension.length);
  const short = stem.length > longestName ? `${stem.slice(0, longestName)}_${digest(stem)}` : stem;
  return short + query + (extension || '.yaml');
}

/** Total time for all redirects and the document, in ms. */
const fetchMs = 30_000;
/** Maximum number of redirects that are followed. */
const mostRedirects = 5;

/** Returns the total time for fetching a document, in ms: 30 s, or `contractMs` if that is shorter. */
export function fetchDeadline({ contractMs }: Pick<Limits, 'contractMs'>): number {
  return Math.min(fetchMs, contractMs);
}

/** Returns the bytes at a URL. Throws RangeError. */
async function load(url: URL, shown: string, limits: Limits): Promise<Buffer> {
  const { contractBytes = contractConstants.contractBytes, contractMs } = limits;
  const totalMs = fetchDeadline(limits);
  const signal = AbortSignal.timeout(totalMs);
  try {
    const answer = await followRedirects(url, shown, signal);
    if (!answer.ok) throw new RangeError(`${shown}: expected status 200, got ${answer.status}`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > contractBytes)
        throw new RangeError(`${shown}: expected at most ${contractBytes} bytes, got more bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    if (error instanceof Error && error.cause instanceof RangeError) throw error.cause;
    if (signal.aborted)
      throw new RangeError(
        `${shown}: expected the document within ${totalMs} ms${totalMs === contractMs ? ' (contractMs)' : ''}, got a timeout`,
      );
    throw new RangeError(`${shown}: download failed (${causeOf(error)})`);
  }
}

/** The parts of a response that are read. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly body: (AsyncIterable<Uint8Array> & { readonly cancel: () => Promise<void> }) | null;
}

/**
 * Returns the response at the end of the redirects. A redirect to another host may only lead to public addresses,
 * because the first server chooses it. The host of the first URL may be private, because the user named it. Throws
 * RangeError.
 */
async function followRedirects(first: URL, shown: string, signal: AbortSignal): Promise<Answer> {
  const init = {
    headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5' },
    redirect: 'manual',
    signal,
  } as const;
  let answer: Answer = await fetch(first, init);
  let url = first;
  for (let count = 0; ; count++) {
    const location = answer.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === null) return answer;
    await answer.body?.cancel();
    if (count === mostRedirects)
      throw new RangeError(`${shown}: expected at most ${mostRedirects} redirects, got more redirects`);
    url = redirectTarget(location, url, shown);
    answer = isAtHost(url, first) ? await fetch(url, init) : await fetchPublic(url, init);
  }
}

function redirectTarget(location: string, base: URL, shown: string): URL {
  const target = URL.parse(location, base);
  if (target === null || !/^https?:$/.test(target.protocol) || target.username + target.password !== '')
    throw new RangeError(
      `${shown}: expected a redirect to an http or https URL without credentials, got another target`,
    );
  return target;
}

/** Returns true if a URL has the origin of the first one, or the same host with https in place of http. */
function isAtHost(url: URL, first: URL): boolean {
  const isUpgrade = first.protocol === 'http:' && url.protocol === 'https:' && first.port + url.port === '';
  return url.origin === first.origin || (isUpgrade && url.hostname === first.hostname);
}

/**
 * Fetches from public addresses only. The connection itself checks them, so a second lookup cannot return other
 * addresses.
 */
async function fetchPublic(url: URL, init: RequestInit): Promise<Answer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isPrivateAddress(host)) throw privateRedirect(host);
  const { Agent, fetch: fetchBy } = await import('undici');
  return fetchBy(url, { ...init, dispatcher: new Agent({ connect: { lookup: lookUpPublic } }) });
}

/** Returns the system's message about a failed fetch. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || causeCode(error.cause) : error.message;
}

/** Returns the code of an error without a message, for example if all addresses of a host refused the connection. */
function causeCode(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
