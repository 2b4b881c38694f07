import type { IncomingMessage } from 'node:http';
import type { Contract, Credentials } from '../../mappings/contract/model.ts';
import { isAuthorization } from '../call/credentials.ts';
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
 * One function that refuses calls of other sites' pages, where whoever reaches the gateway may call, or a browser gives the
 * credentials: a contract that needs others takes them from messages and headers alone, of which such a page has none;
 * undefined there. SOAP stacks send none of the headers that tell of a page, so Content-Types are read as leniently as ever
 * (W39).
 *
 * @param certified the header of the credential that callers' certificates are; undefined: none is
 */
export function compileRefuseForeign(
  { credentials, settings }: Contract,
  certified: string | undefined,
): RefuseForeign | undefined {
  if (needsMore(credentials, certified)) return undefined;
  const known = new Set(settings.cors.map((origin) => origin.toLowerCase()));
  return (request, mediaType) => {
    const { origin, host } = request.headers;
    const site = request.headers['sec-fetch-site'];
    if (!unasked.has(mediaType) || (origin === undefined && site === undefined)) return;
    const isOwn =
      site === undefined ? origin === `http://${host}` || origin === `https://${host}` : !isOther(site);
    if (isOwn || known.has('*') || (origin !== undefined && known.has(origin.toLowerCase()))) return;
    const expected =
      request.method === 'GET'
        ? 'no call by GET, which a browser doesn’t ask for first, from a page of another site: the operation may change something'
        : 'a Content-Type of XML or JSON from a page of another site, which a browser asks for first';
    throw new CallError('UnsupportedMediaType', {
      expected,
      detail: 'the contract’s cors names the origins whose pages may call',
    });
  };
}

/** Throws CallError (InvalidCallback) for JSONP that a page of another site may have had a browser ask for. */
export type RefuseForeignScript = (request: IncomingMessage) => void;

/**
 * One function that refuses JSONP with credentials that a browser gives by itself, but to pages of its own site: any page can
 * have a script of any address, and read what it says. Undefined for a contract without such credentials.
 */
export function compileRefuseForeignScript(
  { credentials, settings }: Contract,
  certified: string | undefined,
): RefuseForeignScript | undefined {
  if (credentials === undefined || !settings.jsonp || needsMore(credentials, certified)) return undefined;
  // of a credential that is the whole header, a browser may know a name and password too
  const isBasic = credentials.basic !== undefined || credentials.parts.some(isAuthorization);
  const key = credentials.parts.find(({ header }) => isSame(header, certified))?.header.toLowerCase();
  if (!isBasic && key === undefined) return undefined;
  return ({ headers }) => {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && !isOther(site)) return;
    const isGiven = isBasic && /^basic /i.test(headers.authorization ?? '');
    if (!isGiven && (key === undefined || headers[key] === undefined)) return;
    throw new CallError('InvalidCallback', {
      expected:
        'no callback beside HTTP Basic or a certificate, which a browser sends for a page of another site too',
    });
  };
}

/** Whether a contract needs credentials that a browser doesn't send by itself, for any page, as it does what it was asked for by HTTP Basic and a certificate. */
function needsMore(credentials: Credentials | undefined, certified: string | undefined): boolean {
  if (credentials === undefined) return false;
  const { basic, parts } = credentials;
  return parts.some(
    (part) =>
      part.required &&
      part.name !== basic?.username &&
      part.name !== basic?.password &&
      !isSame(part.header, certified) &&
      !isAuthorization(part),
  );
}

function isSame(header: string, certified: string | undefined): boolean {
  return header.toLowerCase() === certified?.toLowerCase();
}

function isOther(site: string | string[]): boolean {
  return site !== 'same-origin' && site !== 'none';
}
