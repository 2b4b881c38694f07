import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from '../call/error.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import { withinDeadline } from './deadlines.ts';
import { refusalOf, TokenError } from './token-error.ts';
import type { Tokens } from './tokens.ts';
import type { Upstream, UpstreamReply, Waiting } from './upstream.ts';

/** The gateway's own credentials for an upstream, the same for every caller. */
export interface Access {
  /** Headers by name in lower case. They replace the caller's headers of the same name. */
  readonly headers: Readonly<Record<string, string>>;
  /** URL-encoded query without the question mark; `''` if empty. */
  readonly query: string;
  /** Undefined if calls need no token. */
  readonly tokens: Tokens | undefined;
}

/**
 * Returns an upstream that adds the gateway's own credentials to calls. They are only sent to the upstream's own
 * address, not to other servers that an operation names. Throws the errors of the upstream. It also throws CallError
 * Unauthorized, FailedAuthentication or UpstreamTokenUnavailable before anything is sent.
 */
export function withAccess(upstream: Upstream, { headers, query, tokens }: Access): Upstream {
  const own = new Set(Object.keys(headers));
  if (tokens !== undefined) own.add('authorization');
  const secrets = secretsOf(headers, query);
  return {
    ...upstream,
    call: async (request, waiting) => {
      if (request.operation.upstream.server.address !== undefined) return upstream.call(request, waiting);
      // a blended call has secrets of the other service, too
      waiting.ownSecrets = [...new Set([...waiting.ownSecrets, ...secrets])];
      const sent: UpstreamRequest = {
        ...request,
        path:
          query === '' ? request.path : `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`,
        headers: { ...others(request.headers, own), ...headers },
      };
      return tokens === undefined
        ? upstream.call(sent, waiting)
        : callWithToken(upstream, tokens, request, sent, waiting);
    },
  };
}

/** @param request the caller's request with the token to exchange */
async function callWithToken(
  upstream: Upstream,
  tokens: Tokens,
  request: UpstreamRequest,
  sent: UpstreamRequest,
  waiting: Waiting,
): Promise<UpstreamReply> {
  const subject = tokens.isOfCaller ? subjectOf(request, waiting) : undefined;
  let token: string;
  try {
    token = await withinDeadline(tokens.take(subject), waiting.deadline, 'UpstreamTimeout');
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    noteFailure(waiting.stats, { cause: 'token', reason: error.message }, 0);
    throw refusalOf(error);
  }
  if (waiting.response.destroyed) throw new CallError('CallerGone');
  waiting.ownSecrets = [...waiting.ownSecrets, token];
  const reply = await upstream.call(
    { ...sent, headers: { ...sent.headers, authorization: `Bearer ${token}` } },
    waiting,
  );
  // for example a revoked token: the next call requests a new one
  if (reply.status === 401) tokens.forget(subject, token);
  return reply;
}

/** Returns the secret values of headers and query: without a scheme, and for HTTP Basic also the password. */
function secretsOf(headers: Access['headers'], query: string): readonly string[] {
  const values = [...Object.values(headers), ...new URLSearchParams(query).values()];
  return values.flatMap((value) => {
    const space = value.indexOf(' ');
    const scheme = value.slice(0, Math.max(0, space)).toLowerCase();
    if (scheme !== 'basic' && scheme !== 'bearer') return [value];
    const rest = value.slice(space).trim();
    if (scheme === 'bearer') return [rest];
    const pair = Buffer.from(rest, 'base64').toString();
    return [rest, pair.slice(pair.indexOf(':') + 1)];
  });
}

/**
 * Returns the caller's Bearer token, from the credential in the contract or the Authorization header. Throws CallError
 * Unauthorized.
 */
function subjectOf({ headers }: UpstreamRequest, { request }: Waiting): string {
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const [, token] = /^Bearer +(\S+)$/i.exec(given ?? request.headers.authorization ?? '') ?? [];
  if (token !== undefined) return token;
  throw new CallError('Unauthorized', { expected: 'Authorization: Bearer and a token', got: 'none' });
}

function others(headers: UpstreamRequest['headers'], own: ReadonlySet<string>): UpstreamRequest['headers'] {
  const left: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (!own.has(name.toLowerCase())) left[name] = value;
  return left;
}
