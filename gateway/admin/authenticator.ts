import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AskMemory, MemoryAnswer, Session } from '../process/admin-memory.ts';
import type { SessionView } from './api-types.ts';
import { Problem } from './problem.ts';
import { type AdminToken, identify, isValid, type Role, tokenOf } from './tokens.ts';

/** An authenticated client. */
export interface Actor {
  readonly name: string;
  readonly role: Role;
  readonly means: 'bearer' | 'certificate' | 'session';
  /** Undefined for other means than `session`. */
  readonly session: Session | undefined;
}

/** Parts of an authenticator. */
export interface AuthenticatorOptions {
  readonly tokens: () => readonly AdminToken[];
  readonly memory: AskMemory;
  /** Returns `admin.origin`, or the origin of the listener. */
  readonly origin: () => string;
}

const challenge = { 'WWW-Authenticate': 'Bearer realm="soapbridge"' };
const wrongToken = { 'WWW-Authenticate': 'Bearer realm="soapbridge", error="invalid_token"' };

/** Authenticates the clients of an admin listener, and opens browser sessions (G69, G70). */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** `admin.origin`, or the origin of the listener. */
  get origin(): string {
    return this.#options.origin();
  }

  /** Throws Problem 429 for a blocked network. Returns the session of the request's cookie, unless it has ended. */
  async enter(request: IncomingMessage, network: string): Promise<Session | undefined> {
    const { blockedMs = 0, session } = await this.#options.memory({
      kind: 'enter',
      network,
      session: this.#secretOf(request),
    });
    if (blockedMs === 0) return session;
    const seconds = String(Math.ceil(blockedMs / 1_000));
    throw new Problem(429, 'too many failed attempts from this network', { 'Retry-After': seconds });
  }

  /** Returns the client of a request. Throws Problem 401, and counts a wrong token as a failure. */
  async identify(request: IncomingMessage, network: string, session: Session | undefined): Promise<Actor> {
    const { authorization } = request.headers;
    if (authorization === undefined && this.#secretOf(request) !== undefined) return this.#actorOf(session);
    const found = identify(request, this.#options.tokens(), Date.now());
    if (found === 'none')
      throw new Problem(
        401,
        'expected a bearer token, a session or a client certificate, got none',
        challenge,
      );
    if (found === 'unknown') throw await this.#failure(network);
    const { name, role } = found;
    return { name, role, means: authorization === undefined ? 'certificate' : 'bearer', session: undefined };
  }

  /**
   * Throws Problem 403 or 415 if a page of another origin may have caused a request that changes something.
   *
   * @param actor undefined for a sign-in
   */
  checkOrigin({ headers }: IncomingMessage, actor: Actor | undefined): void {
    if (actor?.means === 'bearer' || (actor === undefined && headers.authorization !== undefined)) return;
    const origin = this.#options.origin();
    if (headers.origin !== origin) throw new Problem(403, `Origin: expected ${origin}, got another or none`);
    if (!headers['content-type']?.toLowerCase().startsWith('application/json'))
      throw new Problem(415, 'Content-Type: expected application/json, got another type or none');
    const token = headers['x-csrf-token'];
    if (actor?.session !== undefined && !isEqual(String(token ?? ''), actor.session.csrf))
      throw new Problem(403, 'X-CSRF-Token: expected the token of the session, got another or none');
  }

  /** Returns the client of a token. Throws Problem 401, and counts a wrong token as a failure. */
  async signIn(
    token: string,
    network: string,
  ): Promise<{ readonly actor: Actor; readonly open: () => Promise<MemoryAnswer> }> {
    const found = tokenOf(token, this.#options.tokens(), Date.now());
    if (found?.sha256 === undefined) throw await this.#failure(network);
    const { name, role, sha256 } = found;
    return {
      actor: { name, role, means: 'bearer', session: undefined },
      open: () => this.#options.memory({ kind: 'open', token: sha256.toString('hex') }),
    };
  }

  /** Ends the session of a request. */
  async signOut(request: IncomingMessage): Promise<void> {
    const session = this.#secretOf(request);
    if (session !== undefined) await this.#options.memory({ kind: 'end', session });
  }

  /** Returns the header that sets or, without a secret, removes the cookie. */
  cookie(secret: string | undefined): string {
    const age = secret === undefined ? '; Max-Age=0' : '';
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#cookieName}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure}${age}`;
  }

  get #isSecure(): boolean {
    return this.#options.origin().startsWith('https:');
  }

  /** Browsers accept a cookie with this prefix only from this host and with `Secure`. */
  get #cookieName(): string {
    return this.#isSecure ? '__Host-soapbridge' : 'soapbridge';
  }

  #secretOf({ headers }: IncomingMessage): string | undefined {
    const prefix = `${this.#cookieName}=`;
    const cookies = headers.cookie?.split(';').map((cookie) => cookie.trim());
    return cookies?.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length);
  }

  /** Returns the client of a session. Throws Problem 401 if the session or its token has ended. */
  #actorOf(session: Session | undefined): Actor {
    const entry = this.#options
      .tokens()
      .find(({ sha256 }) => session !== undefined && sha256?.toString('hex') === session.token);
    if (session === undefined || entry === undefined || !isValid(entry, Date.now()))
      throw new Problem(401, 'expected a session that has not ended, got another. Sign in again', challenge);
    return { name: entry.name, role: entry.role, means: 'session', session };
  }

  async #failure(network: string): Promise<Problem> {
    await this.#options.memory({ kind: 'fail', network });
    const detail = 'expected a token or certificate of the token file, got an unknown or expired one';
    return new Problem(401, detail, wrongToken);
  }
}

/** Returns the view of a client and its session. */
export function sessionView({ name, role, session }: Actor): SessionView {
  if (session === undefined) return { name, role, csrf: null, idleUntil: null, until: null };
  const { csrf, idleUntil, until } = session;
  return {
    name,
    role,
    csrf,
    idleUntil: new Date(idleUntil).toISOString(),
    until: new Date(until).toISOString(),
  };
}

/** Compares texts in a time that does not depend on their content. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
