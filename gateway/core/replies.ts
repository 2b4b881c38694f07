import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission } from '../admission/admission.ts';
import type { Transfer } from '../admission/transfers.ts';
import type { WhenWaiting } from '../http/reply.ts';

/** What watches replies that wait for room in their connection: counts their bytes, and tells of those that are never sent whole. */
export function watchReplies(admission: Admission, reportCut: (requestId: string) => void): WhenWaiting {
  return (response, requestId, bytes) => {
    if (response.destroyed) {
      reportCut(requestId);
      return;
    }
    readAsStream(response.req.socket);
    const transfer = transferOf(response, bytes, admission);
    admission.depart(transfer);
    response.once('close', () => {
      admission.departed(transfer);
      if (!response.writableFinished) reportCut(requestId);
    });
  };
}

/**
 * Has Node's parser get what comes over TLS from the stream from now on, as it does once anybody else listens. Else it takes
 * what is decrypted beside the stream, also of a connection that it has paused just then, as a reply before waits for its
 * caller, and refuses the rest of what was read with it, a good request's body, as malformed. From the start it would be
 * 7 % of a small call over TLS.
 */
function readAsStream(socket: Socket): void {
  if (!('encrypted' in socket)) return;
  const listener = (): void => {};
  socket.on('data', listener).off('data', listener);
}

/** A reply on its way out through its connection. */
function transferOf(response: ServerResponse, bytes: number | Buffer, admission: Admission): Transfer {
  const { socket } = response.req;
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  const takenBefore = taken();
  const transfer: Transfer = {
    index: -1,
    heldBytes: typeof bytes === 'number' ? bytes : bytes.length,
    shared: typeof bytes === 'number' ? undefined : bytes,
    began: performance.now(),
    moved: () => taken() - takenBefore,
    cut: () => {
      admission.departed(transfer);
      socket.destroy();
    },
  };
  return transfer;
}
