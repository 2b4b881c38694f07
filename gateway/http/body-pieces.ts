import { CallError } from '../call/error.ts';
import { type Arrival, type BodyRules, refusalOf } from './body.ts';

/**
 * A body's pieces as they come, each once the one before was taken: who takes them slowly has the caller wait. Throws
 * CallError: RequestTimeout for a caller that makes others wait, by the same limits as any body but for `bodyMs`,
 * RequestTooLarge, MalformedRequest for one that breaks off.
 *
 * @param limitOf the most bytes of all of it, asked each time
 */
export async function* piecesOf(
  arrival: Arrival,
  rules: BodyRules,
  limitOf: () => number,
): AsyncGenerator<Buffer, void, undefined> {
  const { request } = arrival;
  const { limits } = rules.compiled;
  let wake = (): void => {};
  const onChange = (): void => wake();
  const changed = (): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limits.bodyIdleMs);
      wake = () => {
        clearTimeout(timer);
        wake = () => {};
        resolve(true);
      };
    });
  request.on('readable', onChange).on('end', onChange).on('close', onChange).on('error', onChange);
  let waitedMs = 0;
  let pieces = 0;
  try {
    for (;;) {
      const piece: Buffer | null = request.read();
      if (piece !== null) {
        arrival.stats.bytesIn += piece.length;
        const refusal = refusalOf(arrival.stats.bytesIn, ++pieces, { ...rules, bodyLimit: limitOf() });
        if (refusal !== undefined) throw refusal;
        yield piece;
        continue;
      }
      if (request.readableEnded) return;
      if (request.destroyed) throw brokenOff();
      const began = performance.now();
      if (!(await changed())) throw new CallError('RequestTimeout');
      waitedMs += performance.now() - began;
      const isSlow = arrival.stats.bytesIn * 1000 < limits.bodyBytesPerSecond * waitedMs;
      if (waitedMs >= limits.bodySlowMs && isSlow) throw new CallError('RequestTimeout');
    }
  } finally {
    request.off('readable', onChange).off('end', onChange).off('close', onChange).off('error', onChange);
  }
}

function brokenOff(): CallError {
  return new CallError('MalformedRequest', { message: 'the request ended before its body did' });
}
