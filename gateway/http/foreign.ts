import type { IncomingMessage } from 'node:http';
import type { Contract } from '../../mappings/contract/model.ts';
import { CallError } from '../call/error.ts';

/** Throws CallError (UnsupportedMediaType) for a call that a page of another site had a browser make unasked. */
export type RefuseForeign = (request: IncomingMessage, mediaType: string) => void;

/** What a browser sends to any site without asking it first (Fetch, 2.2.2); `''` for no Content-Type. */
const unasked: ReadonlySet<string> = new Set([
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
]);

/**
 * One function that refuses calls of other sites' pages, where whoever reaches the gateway may call: a contract that needs
 * credentials takes them from messages and headers alone, of which such a page has none; undefined there. SOAP stacks send
 * none of the headers that tell of a page, so Content-Types are read as leniently as ever (W39).
 */
export function compileRefuseForeign({ credentials, settings }: Contract): RefuseForeign | undefined {
  // what a browser was asked for once by HTTP Basic, it sends for any page
  const isBasic = credentials?.basic !== undefined;
  if (!isBasic && credentials?.parts.some(({ required }) => required)) return undefined;
  const known = new Set(settings.cors.map((origin) => origin.toLowerCase()));
  return (request, mediaType) => {
    const { origin, host } = request.headers;
    const site = request.headers['sec-fetch-site'];
    if (!unasked.has(mediaType) || (origin === undefined && site === undefined)) return;
    const isOwn =
      site === undefined ? origin === `http://${host}` || origin === `https://${host}` : !isOther(site);
    if (isOwn || known.has('*') || (origin !== undefined && known.has(origin.toLowerCase()))) return;
    throw new CallError('UnsupportedMediaType', {
      message:
        'expected a Content-Type of XML or JSON from a page of another site, which a browser asks for first; the contract’s cors names the origins whose pages may call',
    });
  };
}

function isOther(site: string | string[]): boolean {
  return site !== 'same-origin' && site !== 'none';
}
