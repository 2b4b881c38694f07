import type { CompiledContract } from '../../mappings/compile.ts';
import { claimedCredentials } from '../call/credentials.ts';
import { readHead } from '../call/head.ts';
import { compileReaders, openSoap, splitSoap, withoutKeys } from '../protocols/read-call.ts';
import { type SoapAddress, soap11, soap12 } from '../protocols/soap/versions.ts';
import { type CallerId, compileCallerId } from '../telemetry/callers.ts';
import { compileDecision } from './decide.ts';
import { leadsToLegacy } from './place.ts';
import { isUnreadable } from './receive.ts';
import { type Routing, unreadable } from './routing.ts';
import { parseRequest } from './values.ts';

/** Input of `explainRoute`: a message and the id of its caller. */
export interface ExplainedCall {
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Id of the caller; undefined if the message identifies it, or nothing does. */
  readonly id: CallerId | undefined;
}

/** The route of a message (G49). */
export interface ExplainedRoute {
  /** `?` if no operation is known. */
  readonly operation: string;
  readonly mode: string;
  readonly rule: string;
}

const noBody: ReadonlyMap<string, string> = new Map();

/**
 * Returns the route of a message, with the functions that decide about calls. Nothing is sent. `mode` is `new` for an
 * unreadable message if every call goes to the new service, which then gets a fault.
 *
 * @param nameOf returns the name or pseudonym of a caller
 * @param decrypts true if encrypted messages are decrypted. Only who has the keys may see the route (X24).
 */
export function explainRoute(
  compiled: CompiledContract,
  routing: Routing,
  { rawHeaders, body, id }: ExplainedCall,
  nameOf: (id: CallerId) => string,
  decrypts = false,
): ExplainedRoute {
  const { contract, limits } = compiled;
  const readers = compileReaders(decrypts ? compiled : withoutKeys(compiled), Number.POSITIVE_INFINITY);
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers[rawHeaders[at]?.toLowerCase() ?? ''] = rawHeaders[at + 1] ?? '';
  const head = readHead({ headers, rawHeaders });
  const names = contract.operations.map(({ name }) => name);
  const decide = compileDecision(routing, names);
  try {
    const address = addressOf(compiled, head.contentType.type);
    const envelope = openSoap(readers, head, address, body, splitSoap(readers, head, address.version, body));
    const { name } = envelope.operation.operation;
    const inHeader = envelope.findings?.values;
    const values = claimedCredentials(contract.credentials, { body: noBody, ...inHeader }, head, limits);
    const caller = id ?? compileCallerId(contract.credentials)(values);
    const facts = {
      caller: caller === undefined ? undefined : nameOf(caller),
      callerKey: () => (caller === undefined ? 'net 127.0.0.1' : `${caller.kind} ${caller.value}`),
      rawHeaders,
    };
    let decision = decide(name, { ...facts, request: undefined });
    if (decision === 'payload') {
      const { operation, input } = envelope.readPayload();
      decision = decide(name, { ...facts, request: { json: parseRequest(operation.jsonOf(input)) } });
    }
    if (decision === 'payload') throw new Error('the decision needs a payload that was read');
    const { mode, rule } = decision;
    return { operation: name, mode, rule };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const mode = leadsToLegacy(routing, contract.operations) ? 'legacy' : 'new';
    return { operation: '?', mode, rule: unreadable };
  }
}

/** Returns an endpoint of the contract. The version of the envelope decides. */
function addressOf({ contract }: CompiledContract, type: string): SoapAddress {
  const version = type === 'application/soap+xml' ? soap12 : soap11;
  const port = contract.ports.find(({ soap }) => soap === version.name) ?? contract.ports[0];
  return { version, endpoint: port?.path };
}
