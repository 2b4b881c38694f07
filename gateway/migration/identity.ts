import type { IncomingMessage } from 'node:http';
import type { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import { claimedCredentials, type HeaderValues, type MessageCredentials } from '../call/credentials.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type CallerId, compileCallerId } from '../telemetry/callers.ts';
import type { NetworkOf } from '../upstream/upstream.ts';

// The caller of a call that may be forwarded without a check of its credentials (G7, G9).

/** The caller of a request. */
export interface Caller {
  /** Name or pseudonym; undefined without identification. */
  readonly name: string | undefined;
  /** `id ID`, `secret SECRET` or `net NETWORK`. */
  readonly key: () => string;
  /** Credentials that the message claims. */
  readonly values: CredentialValues;
}

/** Returns the caller that a message claims. */
export type IdentifyCaller = (
  context: RequestContext,
  inMessage: (HeaderValues & Partial<MessageCredentials>) | undefined,
) => Caller;

const noBody: ReadonlyMap<string, string> = new Map();
const noValues: CredentialValues = { all: new Map(), fromHeaders: new Set() };

/**
 * Compiles a function that finds a caller by its id, otherwise by its client certificate, otherwise by a secret.
 *
 * @param certified header with the value of the client certificate; undefined for none
 * @param nameOf returns the name or pseudonym of a caller
 * @param signed credentials that only a verified message can set (X20, X26)
 */
export function compileIdentifyCaller(
  credentials: Parameters<typeof compileCallerId>[0],
  certified: string | undefined,
  nameOf: (id: CallerId) => string,
  networkOf: NetworkOf,
  signed: ReturnType<typeof verifiedCredentialsOf>,
): IdentifyCaller {
  const idOf = compileCallerId(credentials);
  const header = certified?.toLowerCase();
  return ({ head, request, options }, inMessage) => {
    const { limits } = options.service.compiled;
    const values =
      credentials === undefined
        ? noValues
        : claimedCredentials(credentials, { body: noBody, ...inMessage }, head, limits, signed);
    const claimed = idOf(values);
    const certificate = header === undefined ? undefined : head.headers[header];
    const id =
      claimed?.kind !== 'id' && typeof certificate === 'string'
        ? ({ kind: 'id', value: certificate } as const)
        : claimed;
    return {
      name: id === undefined ? undefined : nameOf(id),
      key: () => (id === undefined ? `net ${networkOf(request)}` : `${id.kind} ${id.value}`),
      values,
    };
  };
}

/** Returns the value of `legacy.identity.header` for a request; undefined for none. */
export type IdentityOf = (request: IncomingMessage, caller: string | undefined) => string | undefined;
