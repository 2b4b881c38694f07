import { mock } from 'node:test';
import test from 'ava';
import fc from 'fast-check';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readTree } from '../../mappings/security/tree.ts';
import { type Change, changed, changeKinds, openReader, sources } from './changes.ts';

// Moves, copies, renames and re-identifies subtrees of accepted messages. Whatever is accepted gives the upstream body
// of the original.

const inputOf = openReader();

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom(...changeKinds),
  what: fc.nat(60),
  to: fc.nat(60),
  place: fc.nat(30),
});

test.serial('X12: a changed message is refused, or it has the inputs of the original', (t) => {
  let accepted = 0;
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    const originals = sources.map(({ text, time }) => {
      mock.timers.setTime(Date.parse(time));
      return { text, time, input: inputOf(text) };
    });
    t.true(originals.filter(({ text }) => text.includes('EncryptedKey')).length > 12);
    t.true(originals.every(({ input }) => input !== undefined));
    fc.assert(
      fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 4 }), (index, changes) => {
        const original = originals[index % originals.length];
        if (original === undefined) return;
        mock.timers.setTime(Date.parse(original.time));
        let text = original.text;
        for (const one of changes) {
          const next = changed(text, one);
          try {
            readTree(next, defaultLimits);
          } catch {
            continue; // not well-formed, so it is refused before its signature is read
          }
          text = next;
        }
        const input = inputOf(text);
        if (input === undefined) return;
        accepted++;
        if (input !== original.input) throw new Error(`${input}\n${text}`);
      }),
      { numRuns: 3_000 },
    );
  } finally {
    mock.timers.reset();
  }
  t.log(accepted);
  t.true(accepted > 100);
});
