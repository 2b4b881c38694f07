import { createHash } from 'node:crypto';
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  genericTokenEndpointRequest,
  processClientCredentialsResponse,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import { Agent, fetch } from 'undici';
import type { Limits } from '../../mappings/contract/limits.ts';
import { causeOf, sentenceOf } from './cause.ts';
import { createConnector, type Way } from './connector.ts';
import { TokenError } from './token-error.ts';

/** Settings of the token request for an upstream (RFC 6749, 4.4; RFC 8693). */
export interface OAuthOptions {
  /**
   * `clientCredentials`: one token for all callers. `tokenExchange`: one token per caller, in exchange for the caller's
   * own.
   */
  readonly grant: 'clientCredentials' | 'tokenExchange';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** `basic` sends id and secret in the Authorization header, `post` in the body. */
  readonly clientAuthentication: 'basic' | 'post';
  /** Further parameters of the request by name: scope, audience, resource. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A cached token. Times are ms of `performance.now()`. */
interface Kept {
  readonly token: string;
  /** Time after which a new token is requested, while this one is still used. */
  readonly renewAt: number;
  readonly until: number;
}

/** Share of a token's lifetime after which it is renewed. */
const renewAfter = 0.8;
/**
 * A token is not used in the last part of its lifetime: the shorter of this time in ms and this share of its lifetime.
 */
const leastLeftMs = 5_000;
const leastLeft = 0.1;
/** Maximum number of tokens in the cache. There is one token, or one per caller in a token exchange. */
export const maxTokens = 1_000;
/** Maximum time of a token request, in ms. */
export const maxTokenMs = 10_000;
/** Maximum size of the response with a token, in bytes. */
export const maxTokenBytes = 64 * 1024;
/** Lifetime of a token in seconds if the server does not state it. */
const defaultLife = 60;

/**
 * Tokens of one authorization server for one upstream. They are cached, renewed before they expire, and requested once
 * even if several calls wait. Tokens of callers are cached under a hash of the token they were exchanged for.
 */
export class Tokens {
  readonly #options: OAuthOptions;
  readonly #limits: Limits;
  readonly #server: AuthorizationServer;
  readonly #client: Client;
  readonly #authentication: ClientAuth;
  readonly #agent: Agent;
  readonly #kept = new Map<string, Kept>();
  readonly #pending = new Map<string, Promise<string>>();

  constructor(options: OAuthOptions, limits: Limits, way: Way) {
    this.#options = options;
    this.#limits = limits;
    this.#server = { issuer: options.tokenUrl, token_endpoint: options.tokenUrl };
    this.#client = { client_id: options.clientId };
    const { clientSecret } = options;
    this.#authentication =
      options.clientAuthentication === 'post'
        ? ClientSecretPost(clientSecret)
        : ClientSecretBasic(clientSecret);
    this.#agent = new Agent({
      connect: createConnector(limits.upstreamConnectMs, () => {}, way),
      maxResponseSize: limits.tokenBytes ?? maxTokenBytes,
      keepAliveTimeout: 4_000,
    });
  }

  get isOfCaller(): boolean {
    return this.#options.grant === 'tokenExchange';
  }

  /**
   * Returns a token for a call. Throws TokenError.
   *
   * @param subject the caller's own token, for an exchange
   */
  async take(subject: string | undefined): Promise<string> {
    const key = keyOf(subject);
    const now = performance.now();
    const kept = this.#kept.get(key);
    if (kept === undefined || now >= kept.until) return this.#requestOnce(key, subject);
    if (now >= kept.renewAt) this.#requestOnce(key, subject).catch(() => {}); // reported when the cached token expires
    return kept.token;
  }

  /** Removes a token that the upstream rejected. */
  forget(subject: string | undefined, token: string): void {
    const key = keyOf(subject);
    if (this.#kept.get(key)?.token === token) this.#kept.delete(key);
  }

  /** Number of cached tokens. */
  get size(): number {
    return this.#kept.size;
  }

  #requestOnce(key: string, subject: string | undefined): Promise<string> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const answer = this.#request(subject)
      .then((response) => this.#keep(key, response))
      .catch((error: unknown) => {
        throw tokenErrorOf(error, this.#options);
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, answer);
    return answer;
  }

  #keep(key: string, { access_token: token, expires_in: seconds }: TokenEndpointResponse): string {
    const now = performance.now();
    const life = (seconds ?? defaultLife) * 1000;
    const until = now + life - Math.min(leastLeftMs, life * leastLeft);
    this.#kept.delete(key);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= (this.#limits.tokens ?? maxTokens))
      this.#kept.delete(oldest);
    this.#kept.set(key, { token, renewAt: now + life * renewAfter, until });
    return token;
  }

  async #request(subject: string | undefined): Promise<TokenEndpointResponse> {
    const { parameters, grant } = this.#options;
    const options = {
      [allowInsecureRequests]: true, // the operator chose the scheme of the URL
      [customFetch]: (url: string, init: object): Promise<Response> =>
        fetch(url, { ...init, dispatcher: this.#agent }) as unknown as Promise<Response>,
      signal: AbortSignal.timeout(this.#limits.tokenMs ?? maxTokenMs),
    };
    if (grant === 'clientCredentials') {
      const response = await clientCredentialsGrantRequest(
        this.#server,
        this.#client,
        this.#authentication,
        parameters,
        options,
      );
      return processClientCredentialsResponse(this.#server, this.#client, response);
    }
    const response = await genericTokenEndpointRequest(
      this.#server,
      this.#client,
      this.#authentication,
      'urn:ietf:params:oauth:grant-type:token-exchange',
      {
        subject_token: subject ?? '',
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        ...parameters,
      },
      options,
    );
    return processGenericTokenEndpointResponse(this.#server, this.#client, response);
  }
}

/** Returns a cache key without the token itself, because maps are visible in heap snapshots and debuggers. */
function keyOf(subject: string | undefined): string {
  return subject === undefined ? '' : createHash('sha256').update(subject).digest('base64');
}

/** Error codes of RFC 8693 and RFC 6749 for an invalid token. */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_request', 'invalid_token']);

function tokenErrorOf(error: unknown, { grant, tokenUrl }: OAuthOptions): TokenError {
  const { host } = new URL(tokenUrl);
  if (error instanceof ResponseBodyError) {
    const code = /^\w{1,40}$/.test(error.error) ? ` (${error.error})` : '';
    const isCallers = grant === 'tokenExchange' && refusals.has(error.error);
    return new TokenError(`${host} responded with status ${error.status}${code}`, isCallers, error);
  }
  if (error instanceof Error && error.name === 'TimeoutError')
    return new TokenError(`${host} did not respond in time`, false, error);
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : undefined;
  if (cause !== undefined) return new TokenError(`${host}: ${sentenceOf(causeOf(cause))}`, false, error);
  return new TokenError(`${host} returned no token`, false, error);
}
