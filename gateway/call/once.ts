import type { FoundCredentials } from './credentials.ts';
import { CallError } from './error.ts';
import type { NonceAnswer, NonceStore } from './nonces.ts';

// Digests and signatures that are accepted once (W49, X17).

/** Throws CallError FailedAuthentication or ReplayedMessage for credentials that were accepted before. */
export async function refuseUsed(nonces: NonceStore, values: FoundCredentials | undefined): Promise<void> {
  if (values?.nonce !== undefined && (await nonces.holds(values.nonce.key, Date.now())))
    throw new CallError('FailedAuthentication');
  for (const { key } of values?.signatures ?? [])
    if (await nonces.holds(key, Date.now())) throw new CallError('ReplayedMessage');
}

/**
 * Stores the nonce of a correct digest and the signatures of a message, after all other checks of its call passed. They
 * are stored in one step. Throws CallError, or rejects with it (W49, X17).
 */
export function keepOnce(
  nonces: NonceStore,
  { nonce, signatures }: FoundCredentials,
): Promise<void> | undefined {
  if (signatures !== undefined) {
    const entries = nonce === undefined ? signatures : [...signatures, nonce];
    const answer = nonces.keepAll(entries, Date.now());
    if (answer instanceof Promise) return answer.then(refuseRepeated);
    refuseRepeated(answer);
  } else if (nonce !== undefined) {
    const answer = nonces.keep(nonce.key, nonce.until, Date.now(), nonce.caller);
    if (answer instanceof Promise) return answer.then(refuseNonce);
    refuseNonce(answer);
  }
  return undefined;
}

function refuseRepeated(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('ReplayedMessage');
  refuseNonce(answer);
}

function refuseNonce(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('FailedAuthentication');
  if (answer === 'full' || answer === 'away')
    throw new CallError('Overloaded', {
      detail: `the store of valid digests is ${answer === 'full' ? 'full' : 'unavailable'}. Try again later`,
      retryAfter: '1',
    });
}
