import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileReplyCodecs } from '../../../mappings/compare/compare.ts';
import { decodeReply, replyLimits } from '../../../mappings/compare/reply.ts';
import { serviceOf } from '../../../mappings/contract/adopted.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { instantText } from '../../../mappings/contract/times.ts';
import type { StoredExchange } from '../../store/tables/record.ts';
import { type Corpus, fileNames, type Meta } from './exchanges.ts';

/** Returns the SHA-256 of the documents of a contract's WSDL. */
export function wsdlDigest(contract: Contract): string {
  const hash = createHash('sha256');
  for (const { file, bytes } of serviceOf(contract).documents) hash.update(`${file}\n`).update(bytes);
  return hash.digest('hex');
}

/**
 * Writes exchanges to a new folder (G58). Equal exchanges give equal bytes. Throws RangeError for a folder with files, and
 * for personal data that were not asked for.
 *
 * @param path path of the contract
 */
export async function exportExchanges(
  exchanges: AsyncIterable<StoredExchange>,
  folder: string,
  { contract, path, limits, withPersonalData }: ExportTerms,
): Promise<Corpus> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length > 0)
    throw new RangeError(`--out: expected a new or empty folder, got ${folder} with files`);
  const codecs = compileReplyCodecs(contract, limits);
  let count = 0;
  let redaction: Corpus['redaction'] = 'pseudonyms';
  for await (const exchange of exchanges) {
    if (exchange.redaction === 'none' && !withPersonalData)
      throw new RangeError(
        'expected recordings with pseudonyms, got some with redact none. Add --with-personal-data to export personal data',
      );
    if (exchange.redaction === 'none') redaction = 'none';
    count++;
    const name = exchange.operation.replace(/[^\w.-]/g, '_');
    const own = join(folder, `${String(count).padStart(6, '0')}-${name}`);
    mkdirSync(own, { mode: 0o700 });
    const codec = codecs.get(exchange.operation);
    const { legacy, details } = exchange;
    const decoded =
      codec === undefined || legacy === undefined || details.legacy === undefined
        ? undefined
        : decodeReply(
            codec,
            {
              status: details.legacy.status,
              contentType: details.legacy.headers['Content-Type'],
              body: legacy,
            },
            replyLimits(limits),
          );
    const json = decoded === undefined || decoded.kind === 'unreadable' ? undefined : decoded.json;
    writeExchange(own, exchange, json);
  }
  const corpus: Corpus = { contract: path, wsdl: wsdlDigest(contract), redaction, count };
  write(join(folder, fileNames.corpus), jsonText(corpus));
  return corpus;
}

export interface ExportTerms {
  readonly contract: Contract;
  readonly path: string;
  readonly limits: Limits;
  readonly withPersonalData: boolean;
}

function writeExchange(folder: string, exchange: StoredExchange, legacyJson: string | undefined): void {
  const {
    operation,
    caller = null,
    at,
    mode,
    rule,
    redaction,
    details,
    request,
    legacy,
    new: fresh,
  } = exchange;
  const meta: Meta = { operation, caller, at: instantText(at), mode, rule, redaction, ...details };
  write(join(folder, fileNames.meta), jsonText(meta));
  write(join(folder, fileNames.message('request', details.request.headers)), request);
  write(join(folder, fileNames.message('legacy', details.legacy?.headers)), legacy);
  write(join(folder, fileNames.legacyJson), legacyJson);
  write(join(folder, fileNames.fresh), fresh);
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function write(file: string, content: string | Uint8Array | undefined): void {
  if (content !== undefined) writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
}
