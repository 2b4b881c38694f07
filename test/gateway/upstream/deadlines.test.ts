import test from 'ava';
import { Watch, type Watched } from '../../../gateway/upstream/deadlines.ts';

interface Probe extends Watched {
  readonly name: string;
}

/** Creates an object that is due in `ms` and calls `onDue` then. */
function probe(name: string, ms: number, onDue: (name: string) => void): Probe {
  const due = performance.now() + ms;
  return { name, index: -1, due: () => due, onDue: () => onDue(name) };
}

test('each deadline is reported once, whatever was added and removed meanwhile', async (t) => {
  const watch = new Watch();
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    const note = (name: string): void => {
      told.push(name);
      if (name === 'last') resolve();
    };
    const early = [probe('a', 10, note), probe('b', 10, note), probe('c', 10, note), probe('d', 10, note)];
    for (const one of early) watch.add(one);
    watch.add(probe('last', 60, note));
    for (const one of early) if (one.name === 'a' || one.name === 'c') watch.delete(one);
  });
  t.deepEqual(told.toSorted(), ['b', 'd', 'last']);
});

test('removing a deadline twice removes no other one', async (t) => {
  const watch = new Watch();
  const gone = probe('gone', 0, () => t.fail());
  watch.add(gone);
  watch.delete(gone);
  const told = await new Promise((resolve) => {
    watch.add(probe('kept', 0, resolve));
    watch.delete(gone);
  });
  t.is(told, 'kept');
});
