import test from 'ava';
import { Admission, smallBytes } from '../../../gateway/admission/admission.ts';
import type { Slot } from '../../../gateway/admission/permits.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

const newSlot = (): Slot => ({ admitted: false, enteredAfter: 0, heldBytes: 0, stats: { queueMs: 0 } });
const heldBytes = 10 * smallBytes;
const tooMany = { message: 'too many requests are waiting' };

test('heldBytes: calls hold as many bytes as the limit allows, and one more byte is refused', (t) => {
  const admission = new Admission({ ...defaultLimits, heldBytes });
  const [first, second] = [newSlot(), newSlot()];
  t.true(admission.hold(first, heldBytes - 1));
  t.true(admission.hold(second, 1));
  t.false(admission.hold(second, 1));
  t.is(admission.load().heldBytes, heldBytes + 1);
  admission.release(first);
  t.true(admission.hold(second, 1));
});

test('heldBytes: a large body is refused unread while the memory is full, a small one is not', (t) => {
  const admission = new Admission({ ...defaultLimits, heldBytes });
  const slot = newSlot();
  admission.hold(slot, heldBytes - 1);
  t.notThrows(() => admission.look(smallBytes + 1));
  admission.hold(slot, 1);
  t.throws(() => admission.look(smallBytes + 1), tooMany);
  t.notThrows(() => admission.look(smallBytes));
});
