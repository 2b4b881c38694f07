import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { readYamlFile } from '../../mappings/loader/document/yaml.ts';
import { printError } from './output.ts';

/** How long a name of a stored document may be. */
const longestName = 120;

/**
 * The document at a URL as a file of the working directory, where it is stored and said to be. It is fetched once: what
 * is there already is taken as it is. Throws RangeError where it can't be had, and writes nothing then.
 */
export async function fetchDocument(address: string, limits: Limits = defaultLimits): Promise<string> {
  const url = URL.parse(address);
  if (url === null || url.hostname === '') throw new RangeError(`${address}: expected a URL, got none`);
  if (url.username !== '' || url.password !== '')
    throw new RangeError(
      `--fetch: expected a URL without a user and a password, which logs would show, got one of ${url.host}`,
    );
  const path = fileOf(url);
  const shown = url.origin + url.pathname; // a query may hold a key
  if (existsSync(path)) {
    printError(`${shown} is not fetched: ${path} is there; remove it to have it fetched anew`);
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
        `${shown}: expected an OpenAPI document, an object with openapi or swagger, got ${problems[0]?.message ?? 'another one'}`,
      );
    renameSync(partial, path);
  } finally {
    rmSync(partial, { force: true });
  }
  printError(`${shown} is stored as ${path}, ${bytes.length} bytes; it is not fetched again`);
  return path;
}

/** What a document is stored as: its host and path, and a digest of its query. */
function fileOf(url: URL): string {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);
  const query = url.search === '' ? '' : `_${digest(url.search)}`;
  const words = (url.host + url.pathname).replaceAll(/[^A-Za-z0-9.-]+/g, '_').replace(/_$/, '');
  const extension = /\.(?:json|ya?ml)$/i.exec(words)?.[0] ?? '';
  const stem = words.slice(0, words.length - extension.length);
  const short = stem.length > longestName ? `${stem.slice(0, longestName)}_${digest(stem)}` : stem;
  return short + query + (extension || '.yaml');
}

/** The bytes at a URL. Throws RangeError. */
async function load(url: URL, shown: string, limits: Limits): Promise<Buffer> {
  const { contractBytes, contractMs } = limits;
  const signal = AbortSignal.timeout(contractMs);
  try {
    const accept = 'application/json, application/yaml;q=0.9, */*;q=0.5';
    const answer = await fetch(url, { headers: { accept }, signal });
    if (!answer.ok) throw new RangeError(`${shown}: expected status 200, got ${answer.status}`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > contractBytes)
        throw new RangeError(`${shown}: expected at most ${contractBytes} bytes (contractBytes), got more`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    if (signal.aborted)
      throw new RangeError(`${shown}: expected it within ${contractMs} ms (contractMs), got no further`);
    throw new RangeError(`${shown}: can't be fetched (${causeOf(error)})`);
  }
}

/** Why a fetch failed, in the words of the system. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || causeCode(error.cause) : error.message;
}

/** The code of an error that has no message, such as that of several addresses that all refuse. */
function causeCode(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
