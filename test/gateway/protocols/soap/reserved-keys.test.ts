import test from 'ava';
import { OwnBurntKeys } from '../../../../gateway/call/burnt-keys.ts';
import { CallError } from '../../../../gateway/call/error.ts';
import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { type ReadMessage, readReserved } from '../../../../gateway/protocols/soap/reserved-keys.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';

// The keys of a message with AES-CBC are burnt before they are used.

const lock = { keys: ['k'.repeat(32)], caller: 'alice', mayHideSigner: false };
const locked = new Fault(soap11, 'FailedCheck', { detail: 'locked' }, { lock });
const failed = new Fault(soap11, 'FailedCheck', { detail: 'failed' });
const invalid = new Fault(soap11, 'InvalidSecurity', { detail: 'late' });
const overloaded = new CallError('Overloaded');
const gone = new CallError('CallerGone');
const lost = new Error('the worker thread ended');

/** Returns the number of keys that stay burnt after a message with keys is read. */
async function burntAfter(read: ReadMessage<string>): Promise<number> {
  const burnt = new OwnBurntKeys(10);
  const all: ReadMessage<string> = (hasReservedKeys, onStart) => {
    if (!hasReservedKeys) throw locked;
    return read(hasReservedKeys, onStart);
  };
  try {
    await readReserved(burnt, all);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return burnt.sizeAt(Date.now());
}

/** Reads in a worker thread that has the message if it is started. */
function inThread(isStarted: boolean, error: Error): ReadMessage<string> {
  return (_, onStart) => {
    if (isStarted) onStart();
    return Promise.reject(error);
  };
}

test('X24: a result and a later refusal release the keys', async (t) => {
  t.is(await burntAfter(() => 'call'), 0);
  t.is(await burntAfter(() => Promise.resolve('call')), 0);
  t.is(await burntAfter(inThread(true, invalid)), 0);
  t.is(
    await burntAfter(() => {
      throw invalid;
    }),
    0,
  );
});

for (const [name, error] of Object.entries({ failed, overloaded, gone, lost })) {
  test(`X24: after the thread has the message, the keys stay burnt: ${name}`, async (t) => {
    t.is(await burntAfter(inThread(true, error)), 1);
    t.is(
      await burntAfter(() => {
        throw error;
      }),
      1,
    );
  });

  test(`X24: before the thread has the message, the keys are released: ${name}`, async (t) => {
    t.is(await burntAfter(inThread(false, error)), 0);
  });
}
