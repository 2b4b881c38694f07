import { CallError, type ErrorCode } from '../call/error.ts';
import { unpackBody } from '../http/body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { refuseUnreadable } from '../protocols/read-call.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import { readSoapBody } from '../protocols/read-request.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { isUnreadable, type Received, receiveAll } from './receive.ts';

// Contracts that verify signatures or decrypt: only a whole message can be verified (X12).

/** Errors that say nothing about the message, so that it is not unreadable. */
const ofConnection: ReadonlySet<ErrorCode> = new Set(['Overloaded', 'CallerGone', 'RequestTimeout']);

/**
 * Receives a message and its parts completely, verifies its signatures, and decrypts it with reserved keys (X24).
 * Returns the reason if no operation is known (G12). Throws CallError for an error of the connection.
 */
export async function readVerified(
  address: SoapAddress,
  context: RequestContext,
  received: Received,
): Promise<{ readonly call: SoapCall | PreparedSoapCall } | { readonly error: unknown }> {
  const { head, options } = context;
  const { service } = options;
  try {
    await receiveAll(received, service.bodyLimit);
    received.body ??= await unpackBody(context, received.bytes, service);
    received.isAdmitted = true;
    service.observer.opened(context, received.body);
    refuseUnreadable(head);
    // a worker thread may take over the memory that it reads
    return { call: await readSoapBody(context, address, Buffer.from(received.body)) };
  } catch (error) {
    if (!isUnreadable(error) || (error instanceof CallError && ofConnection.has(error.code))) throw error;
    return { error };
  }
}
