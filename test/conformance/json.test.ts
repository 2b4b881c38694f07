import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import test from 'ava';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { errorOf } from '../mappings/json/values.ts';
import { readArchive } from '../records.ts';

/** JSONTestSuite by Nicolas Seriot: `y_` must be accepted, `n_` must be rejected, `i_` is implementation-defined. */
const suite = join(import.meta.dirname, '../fixtures/json-test-suite/test_parsing.archive');

const cases = new Map<string, Buffer>(readArchive(suite).map(({ name, bytes }) => [name, bytes]));
// The two large files of the suite are generated.
cases.set('n_structure_100000_opening_arrays.json', Buffer.from('['.repeat(100_000)));
cases.set('n_structure_open_array_object.json', Buffer.from(`${'[{"":'.repeat(50_000)}\n`));

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the result of reading a body. Bytes are decoded like those of a request (W37): UTF-8 only, with the byte
 * order mark skipped.
 */
function outcomeOf(bytes: Buffer, limits: Limits = defaultLimits): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return 'no UTF-8';
  }
  const error = errorOf(text, limits);
  if (error === undefined) return 'read';
  return error.limit ?? error.message;
}

/** Decisions for the implementation-defined cases. */
const decisions: Readonly<Record<string, readonly string[]>> = {
  // Numbers are kept as text. Their type decides whether they are in range (W14, W15).
  read: [
    'i_number_double_huge_neg_exp',
    'i_number_huge_exp',
    'i_number_neg_int_huge_exp',
    'i_number_pos_double_huge_exp',
    'i_number_real_neg_overflow',
    'i_number_real_pos_overflow',
    'i_number_real_underflow',
    'i_number_too_big_neg_int',
    'i_number_too_big_pos_int',
    'i_number_very_big_negative_int',
    // JSON allows an escaped lone surrogate. In XML it becomes U+FFFD, and is counted (W21).
    'i_object_key_lone_2nd_surrogate',
    'i_string_1st_surrogate_but_2nd_missing',
    'i_string_1st_valid_surrogate_2nd_invalid',
    'i_string_incomplete_surrogate_and_escape_valid',
    'i_string_incomplete_surrogate_pair',
    'i_string_incomplete_surrogates_escape_valid',
    'i_string_invalid_lonely_surrogate',
    'i_string_invalid_surrogate',
    'i_string_inverted_surrogates_U+1D11E',
    'i_string_lone_second_surrogate',
    // A byte order mark is skipped (W37).
    'i_structure_UTF-8_BOM_empty_object',
  ],
  // Rejected before the reader: JSON must be UTF-8 (W37), and nothing is replaced silently.
  'no UTF-8': [
    'i_string_UTF-16LE_with_BOM',
    'i_string_UTF-8_invalid_sequence',
    'i_string_UTF8_surrogate_U+D800',
    'i_string_invalid_utf-8',
    'i_string_iso_latin_1',
    'i_string_lone_utf8_continuation_byte',
    'i_string_not_in_unicode_range',
    'i_string_overlong_sequence_2_bytes',
    'i_string_overlong_sequence_6_bytes',
    'i_string_overlong_sequence_6_bytes_null',
    'i_string_truncated-utf-8',
    'i_string_utf16BE_no_BOM',
    'i_string_utf16LE_no_BOM',
  ],
  // Exceeds the limit of 64; with a limit of 500 it is accepted.
  jsonDepth: ['i_structure_500_nested_arrays'],
};

const named = (prefix: string) => [...cases].filter(([name]) => name.startsWith(prefix));

test('JSONTestSuite has 95 texts to accept, 188 to reject and 35 that are open', (t) => {
  t.deepEqual([named('y_').length, named('n_').length, named('i_').length, cases.size], [95, 188, 35, 318]);
});

for (const [name, bytes] of named('y_')) {
  test(`${name} is accepted`, (t) => {
    t.is(outcomeOf(bytes), 'read');
  });
}

for (const [name, bytes] of named('n_')) {
  test(`${name} is rejected`, (t) => {
    t.not(outcomeOf(bytes), 'read');
  });
}

for (const [outcome, names] of Object.entries(decisions)) {
  for (const name of names) {
    test(`${name} is ${outcome === 'read' ? 'accepted' : `rejected: ${outcome}`}`, (t) => {
      t.is(outcomeOf(cases.get(`${name}.json`) ?? Buffer.alloc(0)), outcome);
    });
  }
}

test('every open case of the suite has a decision', (t) => {
  const decided = Object.values(decisions).flat();
  t.deepEqual(
    decided.toSorted(),
    named('i_')
      .map(([name]) => name.replace('.json', ''))
      .toSorted(),
  );
});

test('500 nested arrays are accepted with a limit of 500 and rejected with 499', (t) => {
  const bytes = cases.get('i_structure_500_nested_arrays.json') ?? Buffer.alloc(0);
  t.is(outcomeOf(bytes, { ...defaultLimits, jsonDepth: 500 }), 'read');
  t.is(outcomeOf(bytes, { ...defaultLimits, jsonDepth: 499 }), 'jsonDepth');
});

test('the UTF-8 check for upstream responses agrees with the one for requests', (t) => {
  for (const [name, bytes] of cases) t.is(isUtf8(bytes), outcomeOf(bytes) !== 'no UTF-8', name);
});

test('a rejected text always throws a JsonError with its position', (t) => {
  for (const [name, bytes] of named('n_').filter(([, content]) => isUtf8(content))) {
    const error = errorOf(utf8.decode(bytes));
    t.true(error instanceof JsonError && error.position <= bytes.length, name);
  }
});
