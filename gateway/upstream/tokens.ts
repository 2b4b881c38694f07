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

/** How tokens for an upstream are asked for (RFC 6749, 4.4; RFC 8693). */
export interface OAuthOptions {
  /** `clientCredentials`: one token for all callers. `tokenExchange`: one for each caller, for the token that it has. */
  readonly grant: 'clientCredentials' | 'tokenExchange';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether id and secret go in the Authorization header or in the body. */
  readonly clientAuthentication: 'basic' | 'post';
  /** What more is asked for, by the parameter's name: scope, audience, resource. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A token as it is kept, in ms of `performance.now()`. */
interface Kept {
  readonly token: string;
  /** From when on a new one is asked for while this one is still used. */
  readonly renewAt: number;
  readonly until: number;
}

/** The share of a token's life after which it is renewed. */
const renewAfter = 0.8;
/** In ms, and as a share of its life: so long before its end a token isn't used any more; the shorter of both. */
const leastLeftMs = 5_000;
const leastLeft = 0.1;
/** Maximum number of tokens in the cache: one, or one for each caller whose token is exchanged. */
export const maxTokens = 1_000;
/** Time to get a token, in ms. */
export const maxTokenMs = 10_000;
/** Bytes of the response that holds a token. */
export const maxTokenBytes = 64 * 1024;
/** In seconds, where the server doesn't say how long a token lives. */
const defaultLife = 60;

/**
 * Tokens of one authorization server for one upstream: kept until shortly before their end, renewed before it, asked for once
 * however many calls wait. Tokens of callers are kept by a hash of what they were exchanged for.
 */
export class Tokens {
  readonly #options: OAuthOptions;
  readonly #limits: Limits;
  readonly #server: AuthorizationServer;
  readonly #client: Client;
  readonly #authentication: ClientAuth;
  readonly #agent: Agent;
  readonly #kept = new Map<string, Kept>();
  readonly #asked = new Map<string, Promise<string>>();

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
   * A token for a call. Throws TokenError.
   *
   * @param subject the caller's own token, for an exchange
   */
  async take(subject: string | undefined): Promise<string> {
    const key = keyOf(subject);
    const now = performance.now();
    const kept = this.#kept.get(key);
    if (kept === undefined || now >= kept.until) return this.#ask(key, subject);
    if (now >= kept.renewAt) this.#ask(key, subject).catch(() => {}); // told when the kept one is over
    return kept.token;
  }

  /** Keeps a token no longer that the upstream didn't take. */
  forget(subject: string | undefined, token: string): void {
    const key = keyOf(subject);
    if (this.#kept.get(key)?.token === token) this.#kept.delete(key);
  }

  /** How many tokens are kept. */
  get size(): number {
    return this.#kept.size;
  }

  #ask(key: string, subject: string | undefined): Promise<string> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const answer = this.#request(subject)
      .then((response) => this.#keep(key, response))
      .catch((error: unknown) => {
        throw tokenErrorOf(error, this.#options);
      })
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, answer);
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
      [allowInsecureRequests]: true, // the operator's own choice, as with the upstream's address
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

/** A token itself is not a key: maps show up in heap snapshots and debuggers. */
function keyOf(subject: string | undefined): string {
  return subject === undefined ? '' : createHash('sha256').update(subject).digest('base64');
}

/** What RFC 8693 and RFC 6749 say of a token that is no good. */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_request', 'invalid_token']);

function tokenErrorOf(error: unknown, { grant, tokenUrl }: OAuthOptions): TokenError {
  const { host } = new URL(tokenUrl);
  if (error instanceof ResponseBodyError) {
    const code = /^\w{1,40}$/.test(error.error) ? ` (${error.error})` : '';
    const isCallers = grant === 'tokenExchange' && refusals.has(error.error);
    return new TokenError(`${host} answered with status ${error.status}${code}`, isCallers, error);
  }
  if (error instanceof Error && error.name === 'TimeoutError')
    return new TokenError(`${host} did not answer in time`, false, error);
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : undefined;
  if (cause !== undefined) return new TokenError(`${host}: ${sentenceOf(causeOf(cause))}`, false, error);
  return new TokenError(`${host} gave an answer that is no token`, false, error);
}
