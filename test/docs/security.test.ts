import { existsSync, readdirSync, readFileSync } from 'node:fs';
import test from 'ava';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');

/** Returns the numbers of a table's rows. A row like `4–8` counts for each number. */
function numbersOf(form: RegExp): number[] {
  return [...page.matchAll(form)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
  );
}

const oneTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

test('every class of attack and every fault has exactly one row', (t) => {
  t.deepEqual(numbersOf(/^\| A(\d+) /gm), oneTo(26));
  const others = numbersOf(/^\| B(\d+) /gm);
  t.deepEqual(others, oneTo(others.length));
  t.true(others.length >= 29);
  t.deepEqual(numbersOf(/^\| (\d+)(?:–(\d+))? /gm), oneTo(30));
});

test('every test named in a row exists, and every file of attacks is named', (t) => {
  const named = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
  for (const path of named) t.true(existsSync(new URL(path, root)), path);
  for (const file of readdirSync(new URL('test/fire/attacks/', root)))
    t.true(named.includes(`test/fire/attacks/${file}`), file);
});

test('the page states the right number of raw messages', (t) => {
  const messages = readdirSync(new URL('test/fire/raw-http/', root)).filter((file) => file.endsWith('.http'));
  t.is(/(\d+) messages in `test\/fire\/raw-http\/`/.exec(page)?.[1], String(messages.length));
});
