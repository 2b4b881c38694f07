import type { ServerResponse } from 'node:http';
import type { Admission } from '../admission/admission.ts';
import type { Transfer } from '../admission/transfers.ts';
import type { WhenWaiting } from '../http/reply.ts';

/**
 * Returns a function that accounts for replies that their connections did not accept at once, and reports those that
 * are never completely sent.
 */
export function watchReplies(admission: Admission, reportCut: (requestId: string) => void): WhenWaiting {
  return (response, requestId, bytes) => {
    if (response.destroyed) {
      reportCut(requestId);
      return;
    }
    const transfer = transferOf(response, bytes, admission);
    admission.depart(transfer);
    response.once('close', () => {
      admission.departed(transfer);
      if (!response.writableFinished) reportCut(requestId);
    });
  };
}

/** Returns the transfer of a reply. */
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
