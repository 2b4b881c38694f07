import { type BurntKeys, type KeyLock, type KeyReservation, OwnBurntKeys } from '../../call/burnt-keys.ts';
import { CallError } from '../../call/error.ts';
import { Fault } from './faults.ts';

/** Reads messages of contracts that accept AES-CBC. */
export interface Reservations {
  readonly read: ReadReserved;
  /** Returns the number of keys that are refused at a time; undefined for keys that replicas share. */
  readonly sizeAt: (now: number) => number | undefined;
}

/**
 * Reads a message. `onStart` is called before a worker thread uses the keys. A message that is read at once is read before
 * the function returns.
 */
export type ReadMessage<Call> = (hasReservedKeys: boolean, onStart: () => void) => Call | Promise<Call>;

/** Reads a message with reserved keys (`readReserved`). */
export type ReadReserved = <Call>(read: ReadMessage<Call>) => Call | Promise<Call>;

/**
 * @param most maximum number of burnt keys
 * @param shared keys that replicas share; undefined if this process remembers its own
 */
export function createReservations(most: number, shared?: BurntKeys): Reservations {
  if (shared !== undefined) return { read: (read) => readReserved(shared, read), sizeAt: () => undefined };
  const own = new OwnBurntKeys(most);
  return { read: (read) => readReserved(own, read), sizeAt: (now) => own.sizeAt(now) };
}

/**
 * Reads a message. If it has keys to reserve, reserves them and reads it again. After the keys were used, they stay burnt
 * unless there is a result, or a Fault that is not the one of all failures of decryption (X24). Throws CallError, Fault.
 *
 * @param read throws Fault, with `lock` if it needs reserved keys
 */
export function readReserved<Call>(burnt: BurntKeys, read: ReadMessage<Call>): Call | Promise<Call> {
  let first: Call | Promise<Call>;
  try {
    first = read(false, () => undefined);
  } catch (error) {
    return readAgain(burnt, read, error);
  }
  return first instanceof Promise ? first.catch((error) => readAgain(burnt, read, error)) : first;
}

/** In one process, small messages are read in the same event-loop iteration in which their keys were reserved. */
function readAgain<Call>(burnt: BurntKeys, read: ReadMessage<Call>, error: unknown): Call | Promise<Call> {
  const lock = error instanceof Fault ? error.lock : undefined;
  if (lock === undefined) throw error;
  const answer = burnt.reserve(lock, Date.now());
  const use = (reservation: KeyReservation): Call | Promise<Call> => {
    if (reservation === 'burnt') throw error;
    if (reservation === 'full')
      throw new CallError('Overloaded', {
        detail: 'the store of keys that failed is full or unavailable. Try again later',
        retryAfter: '1',
      });
    return readLocked(burnt, lock, read);
  };
  return answer instanceof Promise ? answer.then(use) : use(answer);
}

function readLocked<Call>(burnt: BurntKeys, lock: KeyLock, read: ReadMessage<Call>): Call | Promise<Call> {
  const release = <Result>(end: () => Result): Result | Promise<Result> => {
    const released = burnt.release(lock, Date.now());
    return released instanceof Promise ? released.then(end) : end();
  };
  let hasStarted = false;
  const fail = (error: unknown): Call | Promise<Call> => {
    if (hasStarted && (!(error instanceof Fault) || error.code === 'FailedCheck')) throw error;
    return release<Call>(() => {
      throw error;
    });
  };
  let call: Call | Promise<Call>;
  try {
    call = read(true, () => {
      hasStarted = true;
    });
  } catch (error) {
    hasStarted = true;
    return fail(error);
  }
  return call instanceof Promise ? call.then((one) => release(() => one), fail) : release(() => call);
}
