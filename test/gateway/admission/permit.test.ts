import test from 'ava';
import { Admission, smallBytes } from '../../../gateway/admission/admission.ts';
import { Permit } from '../../../gateway/admission/permit.ts';
import type { Transfer } from '../../../gateway/admission/transfers.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

const heldBytes = 10 * smallBytes;
const tooMany = { message: 'too many requests are waiting' };

const admissionOf = (): Admission => new Admission({ ...defaultLimits, heldBytes });
const permitOf = (admission: Admission): Permit => new Permit(admission, { queueMs: 0 });
const newTransfer = (): Transfer => ({ index: -1, heldBytes: 0, began: 0, moved: () => 0, cut: () => {} });

test('a permit requires memory for a large body, and never refuses a small one', (t) => {
  const admission = admissionOf();
  const [full, small, large] = [permitOf(admission), permitOf(admission), permitOf(admission)];
  t.notThrows(() => full.require(heldBytes));
  t.notThrows(() => small.require(smallBytes));
  t.throws(() => large.require(smallBytes + 1), tooMany);
  t.is(admission.load().shed, 1);
  for (const permit of [full, small, large]) permit.release();
  t.is(admission.load().heldBytes, 0);
});

test('a permit takes over the bytes of a body, shrinks them and releases the rest when it leaves', async (t) => {
  const admission = admissionOf();
  const permit = permitOf(admission);
  const [kept, dropped] = [newTransfer(), newTransfer()];
  for (const transfer of [kept, dropped]) {
    admission.arrive(transfer);
    admission.addReceived(transfer, 1000);
  }
  admission.dropArrival(dropped);
  permit.receive(kept);
  t.is(permit.heldBytes, 1000);
  t.is(admission.load().arriving, 0);
  t.is(permit.spare(), heldBytes - 1000);
  await permit.enter();
  t.is(admission.load().inFlight, 1);
  permit.shrink(10);
  t.is(admission.load().heldBytes, 10);
  permit.release();
  t.is(admission.load().heldBytes, 0);
  t.is(admission.load().inFlight, 0);
});

test('a permit waits for memory until another one leaves', async (t) => {
  const admission = admissionOf();
  const [first, second] = [permitOf(admission), permitOf(admission)];
  first.hold(heldBytes);
  await new Promise<void>((resolve) => first.whenFree(0, resolve));
  const room = new Promise<void>((resolve) => second.whenFree(smallBytes, resolve));
  t.is(second.heldBytes, 0);
  first.release();
  await room;
  t.is(second.heldBytes, smallBytes);
  second.release();
  t.is(admission.load().heldBytes, 0);
});
