import test from 'ava';
import {
  applyEdits,
  countSteps,
  fieldPath,
  isFull,
  MismatchError,
  miss,
  problemText,
  recordDeviation,
  refuse,
  startReading,
  TooManySteps,
} from '../../../mappings/codec/problem.ts';

test('a path has names between dots and positions in brackets', (t) => {
  for (const [path, text] of [
    [[], ''],
    [['Request'], 'Request'],
    [['Request', 'Permissions', 1], 'Request.Permissions[1]'],
    [[0, 1, 'a'], '[0][1].a'],
    [['', 'a'], 'a'],
  ] as const)
    t.is(fieldPath(path), text);
});

test('W29: a problem has its path, none for the whole request, and errors are limited', (t) => {
  const reading = startReading(2);
  refuse(reading, 'InvalidType', { expected: 'a request', got: 'none' });
  t.false(isFull(reading));
  reading.path.push('a', 0);
  refuse(reading, 'OutOfRange', { expected: 'more' });
  t.true(isFull(reading));
  refuse(reading, 'OutOfRange', { expected: 'even more' });
  t.deepEqual(reading.problems, [
    { code: 'InvalidType', path: '', expected: 'a request', got: 'none' },
    { code: 'OutOfRange', path: 'a[0]', expected: 'more' },
  ]);
  t.deepEqual(reading.problems.map(problemText), ['expected a request, got none', 'a[0]: expected more']);
  t.deepEqual(reading.path, ['a', 0]);
  t.true(isFull(startReading(0)));
});

test('W42: a missing member is reported with path, and whether it was absent or empty', (t) => {
  const reading = startReading(2);
  miss(reading, ['a', 'b']);
  miss(reading, ['c'], true);
  miss(reading, ['d']);
  t.deepEqual(reading.missing, [
    {
      code: 'NotEmpty',
      path: 'a.b',
      expected: 'a value',
      got: 'an empty value',
      predicate: 'must not be empty',
    },
    { code: 'NotEmpty', path: 'c', expected: 'a value', got: 'none', predicate: 'is missing' },
  ]);
  t.deepEqual(reading.missing.map(problemText), ['a.b must not be empty', 'c is missing']);
  t.deepEqual(reading.problems, []);
});

test('W37: edits are inserted at their positions, for any start of the text', (t) => {
  const edits = [
    { start: 2, end: 4, text: 'XYZ' },
    { start: 4, end: 4, text: '+' },
    { start: 7, end: 8, text: '' },
  ];
  t.is(applyEdits('abcdefgh', []), 'abcdefgh');
  t.is(applyEdits('abcdefgh', edits), 'abXYZ+efg');
  t.is(applyEdits('abcdefgh', edits.slice(0, 1)), 'abXYZefgh');
  t.is(applyEdits('cdefgh', edits, 2), 'XYZ+efg');
  t.is(applyEdits('cdefghi', edits, 2), 'XYZ+efgi');
});

test('validate: strict: the maximum number of steps passes, one more is refused', (t) => {
  const reading = startReading(1, 10);
  countSteps(reading, 4);
  t.notThrows(() => countSteps(reading, 6));
  t.throws(() => countSteps(reading, 1), {
    instanceOf: TooManySteps,
    name: 'TooManySteps',
    message: 'rules take more steps than may be taken here',
  });
  t.notThrows(() => countSteps(startReading(1), 1e15));
});

test('a request without deviations has none, and each deviation is recorded once', (t) => {
  const reading = startReading(1);
  t.is(reading.deviations, undefined);
  recordDeviation(reading, 'decimalExponent');
  recordDeviation(reading, 'unknownAttribute');
  recordDeviation(reading, 'decimalExponent');
  t.deepEqual([...(reading.deviations ?? [])], ['decimalExponent', 'unknownAttribute']);
});

test('a new reading has nothing read, counted or recorded', (t) => {
  const { patternSteps, steps, rereadText, openText, illegalReferences: quirks } = startReading(1);
  t.deepEqual([patternSteps, steps, rereadText, openText, quirks], [0, 0, 0, 0, 0]);
});

test('W22: a mismatch has its path from the outermost step', (t) => {
  const error = new MismatchError({ expected: 'a string', got: 'a number' });
  t.is(error.message, 'expected a string, got a number');
  t.is(error.name, 'MismatchError');
  t.is(error.at(1), error);
  t.is(error.at('names').message, 'names[1]: expected a string, got a number');
  t.is(error.at('data').message, 'data.names[1]: expected a string, got a number');
  t.deepEqual(error.reason, { expected: 'a string', got: 'a number' });
});
