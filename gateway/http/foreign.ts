import type { IncomingMessage } from 'node:http';
import type { Credentials } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { isAuthorization } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';

/** Throws CallError UnsupportedMediaType for a cross-site call that a browser sends without a CORS preflight. */
export type RefuseForeign = (request: IncomingMessage, mediaType: string) => void;

/** Content-Types that a browser sends to any site without a preflight (Fetch §2.2.2). `''` means no Content-Type. */
const safelisted: ReadonlySet<string> = new Set([
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
]);

/**
 * Returns a function that rejects calls from pages of other sites. It is needed if a call needs no credentials, or only
 * those that a browser adds itself. Returns undefined if the contract needs other credentials, because a foreign page
 * cannot send those. SOAP stacks send neither Origin nor Sec-Fetch headers, so the Content-Type of their calls is not
 * restricted (W39).
 *
 * @param certified header that carries the client certificate as a credential; undefined for none
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
    if (!safelisted.has(mediaType) || (origin === undefined && site === undefined)) return;
    const isOwn =
      site === undefined ? origin === `http://${host}` || origin === `https://${host}` : !isOther(site);
    if (isOwn || known.has('*') || (origin !== undefined && known.has(origin.toLowerCase()))) return;
    const expected =
      request.method === 'GET'
        ? 'a POST, because the operation is not read-only and browsers send a GET from another site without a CORS preflight'
        : 'a Content-Type of XML or JSON in a request from another site, so that the browser sends a CORS preflight';
    throw new CallError('UnsupportedMediaType', {
      expected,
      detail: 'the cors key of the contract lists the allowed origins',
    });
  };
}

/** Throws CallError InvalidCallback for JSONP that a page of another site may have requested. */
export type RefuseForeignScript = (request: IncomingMessage) => void;

/**
 * Returns a function that rejects JSONP requests from other sites if they carry credentials that a browser adds itself.
 * Any page can load any address as a script and read the result. Returns undefined if the contract has no credentials
 * of this kind.
 */
export function compileRefuseForeignScript(
  { credentials, settings }: Contract,
  certified: string | undefined,
): RefuseForeignScript | undefined {
  if (credentials === undefined || !settings.jsonp || needsMore(credentials, certified)) return undefined;
  // a credential that is the whole Authorization header may be HTTP Basic too
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
        'no callback with HTTP Basic or a client certificate, because browsers send these for pages of other sites too',
    });
  };
}

/**
 * Returns true if a contract needs credentials that a browser does not add itself. A browser adds HTTP Basic and client
 * certificates to requests of any page.
 */
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
