import test from 'ava';
import { declaration } from '../../mappings/xml/declaration.ts';
import { expressionsOfProduct } from './expressions.ts';

process.env.RECHECK_SYNC_BACKEND = 'pure'; // its JavaScript build; the others are a JAR and binaries
const { checkSync } = await import('recheck');

/** Returns the reason against an expression, or undefined if it is proven to take linear time for all texts. */
function faultOf(source: string, flags: string): string | undefined {
  // the automaton checker gives a proof; the fuzz checker does not
  const found = checkSync(source, flags, { checker: 'automaton', timeout: 100_000 });
  if (found.status === 'safe') return undefined;
  if (found.status === 'unknown') return `no proof: ${found.error.kind}`;
  return `${found.complexity.summary}, as with ${found.attack.pattern}`;
}

const expressions = expressionsOfProduct();

test('the checker distinguishes linear expressions from others', (t) => {
  t.is(faultOf('^(?:[ \\t]*;[ \\t]*[\\x21-\\x3a\\x3c-\\x7e]+)*$', ''), undefined);
  t.regex(faultOf('^(?:\\s*;\\s*[\\x21-\\x7e]+)*$', '') ?? '', /^exponential, as with /);
  t.regex(faultOf('0+$', '') ?? '', /^2nd degree polynomial, as with /);
  t.regex(faultOf('(a*)\\1$', '') ?? '', /^no proof/);
});

test('the product has the expected number of regular expressions', (t) => {
  t.true(expressions.length > 100, `${expressions.length}`);
});

for (const text of new Set(expressions.filter(({ isMade }) => !isMade).map((one) => one.text))) {
  const places = expressions.filter((one) => one.text === text).map(({ place }) => place);
  test(`${text} takes linear time (${places.join(', ')})`, (t) => {
    const end = text.lastIndexOf('/');
    t.is(faultOf(text.slice(1, end), text.slice(end + 1)), undefined);
  });
}

/** Expressions created from texts. No text comes from an untrusted client or document. */
const made: Readonly<Record<string, RegExp>> = {
  'mappings/xml/declaration.ts': declaration,
};

test('only the listed expressions are built from text', (t) => {
  const files = expressions.filter(({ isMade }) => isMade).map(({ place }) => place.replace(/:\d+$/, ''));
  t.deepEqual(files.toSorted(), Object.keys(made).toSorted());
});

for (const [file, { source, flags }] of Object.entries(made)) {
  test(`expressions built by ${file} take linear time`, (t) => {
    t.is(faultOf(source, flags), undefined);
  });
}
