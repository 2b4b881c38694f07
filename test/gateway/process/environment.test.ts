import test from 'ava';
import { withEnvironment } from '../../../gateway/process/environment.ts';

process.env.SET_FOR_TEST = 'set';

/** Returns a reference to a variable. */
const variable = (name: string, otherwise = ''): string => `$\{${name}${otherwise}}`;

function filled(value: unknown): { value: unknown; problems: string[] } {
  const problems: string[] = [];
  const result = withEnvironment(value, (pointer, message) => problems.push(`${pointer}: ${message}`));
  return { value: result, problems };
}

test('a variable is replaced by its value, or by its default if it is not set', (t) => {
  const given = { a: variable('SET_FOR_TEST'), b: [`x-${variable('UNSET_FOR_TEST', ':-y')}`] };
  t.deepEqual(filled(given), { value: { a: 'set', b: ['x-y'] }, problems: [] });
});

for (const [name, otherwise] of [
  ['UNSET_FOR_TEST', `:-${variable('B', ':-c')}`],
  ['UNSET_FOR_TEST', `:-x${variable('B')}y`],
  ['SET_FOR_TEST', `:-${variable('B')}`],
] as const) {
  test(`refuses a variable in the default of a variable: ${variable(name, otherwise)}`, (t) => {
    const expected = `/a: expected a text without variables as the default of ${name}, got a text with a variable`;
    t.deepEqual(filled({ a: variable(name, otherwise) }).problems, [expected]);
  });
}
