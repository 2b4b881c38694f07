import test from 'ava';
import { padding } from '../../../mappings/bytes.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { Base64Spans } from '../../../mappings/json/base64-spans.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import {
  type Ignored,
  type Mismatch,
  nameKey,
  nodeKinds,
  Tape,
  withoutIgnored,
} from '../../../mappings/json/tape.ts';

/** In bytes: bodies up to this size, with padding, are copied into reused memory. */
const kept = 16 * 1024;

function begin(body: Uint8Array | string, limits: Partial<Limits> = {}, tape = new Tape()): Tape {
  tape.start(typeof body === 'string' ? Buffer.from(body) : body, { ...defaultLimits, ...limits });
  return tape;
}

/** Returns a JSON number of `size` bytes. */
const digits = (size: number): Buffer => Buffer.alloc(size, '1');

for (const [json, names, rest] of [
  ['{"a":1,"b":2,"c":3}', ['a'], '{"b":2,"c":3}'],
  ['{"a":1,"b":2,"c":3}', ['b'], '{"a":1,"c":3}'],
  ['{"a":1,"b":2,"c":3}', ['c'], '{"a":1,"b":2}'],
  ['{"a":1,"b":2,"c":3}', ['a', 'b'], '{"c":3}'],
  ['{"a":1,"b":2,"c":3}', ['a', 'c'], '{"b":2}'],
  ['{"a":1,"b":2,"c":3}', ['b', 'c'], '{"a":1}'],
  ['{"a":1,"b":2,"c":3}', ['a', 'b', 'c'], '{}'],
  ['{ "a":1 , "b":2 , "c":3 }', ['b'], '{ "a":1  , "c":3 }'],
  ['{ "a":1 , "b":2 }', ['a'], '{ "b":2 }'],
  ['{"a":1}', [], '{"a":1}'],
] as const)
  test(`${json} without ${names.join(' and ') || 'any name'} is ${rest}`, (t) => {
    const ignored = names.map((name): Ignored => {
      const start = json.indexOf(`"${name}"`);
      return { name, start, end: start + 5 };
    });
    t.is(withoutIgnored(Buffer.from(json), ignored), rest);
  });

test('an empty tape has counted nothing', (t) => {
  t.like(new Tape(), {
    position: 0,
    replaced: 0,
    dropped: 0,
    passed: 0,
    size: 0,
    top: 0,
    strict: false,
    wasted: 0,
    inexact: 0,
    missing: 0,
    attachFrom: Number.POSITIVE_INFINITY,
    failed: false,
    isPatienceOver: false,
  });
});

test('a tape starts empty with each body, whatever came before', (t) => {
  const tape = begin('[[1,2],{"a":3}]', { jsonDepth: 3, jsonMembers: 5 });
  tape.skip();
  tape.pushMade('x');
  tape.note({ kind: 'missing', type: 'T', member: 'm', at: 0 });
  Object.assign(tape, { replaced: 1, dropped: 2, passed: 3, inexact: 4, missing: 5, wasted: 1_000 });
  Object.assign(tape, { strict: true, failed: true, attachFrom: 9 });
  t.true(tape.isPatienceOver);
  begin('[[[1]],2]', { jsonDepth: 3, jsonMembers: 5 }, tape);
  t.like(tape, {
    position: 0,
    size: 9,
    top: 0,
    strict: false,
    failed: false,
    wasted: 0,
    inexact: 0,
    missing: 0,
    replaced: 0,
    dropped: 0,
    passed: 0,
    attachFrom: Number.POSITIVE_INFINITY,
  });
  t.deepEqual(tape.made, []);
  t.deepEqual(tape.mismatches, []);
  t.notThrows(() => tape.skip());
  t.notThrows(() => tape.end());
});

test('a truncated body leaves nothing for the next', (t) => {
  const tape = begin('[[1', { jsonDepth: 2, jsonMembers: 2 });
  t.throws(() => tape.skip());
  for (let time = 0; time < 3; time++) {
    begin('[[1]]', { jsonDepth: 2, jsonMembers: 2 }, tape);
    t.notThrows(() => tape.skip());
    t.throws(() => begin('[[1', { jsonDepth: 2, jsonMembers: 2 }, tape).skip(), {
      message: 'position 3: expected "," or "]", got the end',
    });
  }
});

test('a body is read to its end, for any position and size', (t) => {
  const tape = new Tape();
  for (const size of [1, 9, 8, kept - padding, kept - padding + 1, 3, kept, 100_000, 2]) {
    begin(digits(size), {}, tape);
    tape.skip();
    t.is(tape.position, size);
    t.notThrows(() => tape.end(), `${size}`);
    t.is(tape.slice(0, size), '1'.repeat(size));
    t.is(tape.view.getUint8(size - 1), 0x31);
    tape.release();
  }
});

test('a large body followed by zeros is read in place, otherwise from a copy', (t) => {
  const size = kept;
  for (const before of [0, 8, 24])
    for (const [behind, isInPlace] of [
      ['\0'.repeat(padding), true],
      ['\0'.repeat(padding + 1), true],
      [`${'\0'.repeat(padding)}1`, true],
      ['\0'.repeat(padding - 1), false],
      [`${'\0'.repeat(padding - 1)}1`, false],
      [`1${'\0'.repeat(padding)}`, false],
      ['', false],
    ] as const) {
      const memory = new Uint8Array(before + size + behind.length);
      memory.set(digits(size), before);
      memory.set(Buffer.from(behind), before + size);
      const tape = begin(memory.subarray(before, before + size));
      t.is(tape.bytes.buffer === memory.buffer, isInPlace);
      tape.skip();
      t.is(tape.position, size);
      t.is(tape.view.getUint32(0, true), 0x31313131);
      t.is(tape.slice(size - 2, size), '11');
    }
});

test('a body that fits into the reserved memory is copied there, up to its last byte', (t) => {
  const tape = new Tape();
  const { buffer } = begin('1', {}, tape).bytes;
  t.is(begin(digits(kept - padding), {}, tape).bytes.buffer, buffer);
  const large = begin(digits(kept - padding + 1), {}, tape);
  t.not(large.bytes.buffer, buffer);
  large.release();
  t.is(large.bytes.buffer, buffer);
  t.is(large.view.buffer, buffer);
});

test('the tape grows as needed, and shrinks again after a large body', (t) => {
  const tape = begin('1');
  const count = 40_000;
  for (let index = 0; index < count; index++) tape.pushRange(nodeKinds.plain, index, index + 1);
  t.is(tape.top, 3 * count);
  for (let index = 0; index < count; index++)
    if (tape.words[3 * index + 1] !== index || tape.words[3 * index + 2] !== index + 1) t.fail(`${index}`);
  t.true(tape.words.length > 1 << 16);
  tape.release();
  t.is(tape.words.length, 4096);
  begin('1', {}, tape);
  for (const [room, length] of [
    [4096, 4096],
    [4097, 8192],
    [8193, 16_384],
    [40_000, 40_000],
    [1 << 16, 80_000],
  ] as const) {
    tape.reserve(room);
    t.is(tape.words.length, length);
  }
  begin('1', {}, tape).words = new Int32Array(1 << 16);
  tape.release();
  t.is(tape.words.length, 1 << 16);
});

test('nodes of one word make the tape grow too', (t) => {
  const tape = begin('1');
  for (let index = 0; index < 10_000; index++) tape.pushKind(nodeKinds.empty);
  t.is(tape.top, 10_000);
  t.true(tape.words.subarray(0, 10_000).every((word) => word === nodeKinds.empty));
});

test('nodes have one word for their kind, and two for their content', (t) => {
  const tape = begin('"a"');
  tape.pushKind(nodeKinds.nothing);
  tape.pushRange(nodeKinds.text, 1, 2);
  tape.pushMade('2020-01-01');
  tape.pushKind(nodeKinds.empty);
  tape.pushMade('x');
  t.is(tape.top, 11);
  const { nothing, text, made, empty } = nodeKinds;
  t.deepEqual([...tape.words.subarray(0, 11)], [nothing, text, 1, 2, made, 0, 0, empty, made, 1, 0]);
  t.deepEqual(tape.made, ['2020-01-01', 'x']);
});

test('kinds of nodes are distinguished', (t) => {
  const kinds = Object.values(nodeKinds);
  t.is(new Set(kinds).size, kinds.length);
});

test('a reply has a record at the slot of its record type', (t) => {
  const { nothing, record, list } = nodeKinds;
  const holds = (words: readonly number[], slot = 1): boolean => {
    const tape = begin('1');
    tape.words.set(words);
    return tape.holdsRecord(slot);
  };
  t.true(holds([record, 2, record]));
  t.true(holds([record, -1, 3, record], 2));
  t.false(holds([record, 2, list]));
  t.false(holds([record, -1, record]));
  t.false(holds([list, 2, record]));
  t.false(holds([nothing, 2, record]));
});

test('a rewind undoes reads since a mark, and counts them as wasted', (t) => {
  const tape = begin('[[1],[2,3],4]', { jsonDepth: 2, jsonMembers: 6 });
  const see = (): unknown => {
    const { position, top, made, mismatches: misfits, dropped, replaced, passed, inexact, missing } = tape;
    return {
      position,
      top,
      made: [...made],
      mismatches: [...misfits],
      dropped,
      replaced,
      passed,
      inexact,
      missing,
    };
  };
  tape.enter();
  tape.next(true, 93);
  tape.skip();
  tape.pushMade('kept');
  tape.note({ kind: 'missing', type: 'T', member: 'kept', at: 0 });
  Object.assign(tape, { replaced: 1, dropped: 2, passed: 3, inexact: 4, missing: 5 });
  const before = see();
  const mark = tape.mark();
  for (let time = 1; time < 4; time++) {
    tape.next(false, 93);
    tape.enter();
    tape.next(true, 93);
    tape.pushMade('x');
    tape.pushKind(0);
    tape.note({ kind: 'missing', type: 'T', member: 'x', at: 0 });
    for (const count of ['replaced', 'dropped', 'passed', 'inexact', 'missing'] as const) tape[count]++;
    tape.rewind(mark);
    t.deepEqual(see(), before);
    t.is(tape.wasted, time * 2);
  }
  // neither depth nor members were counted
  while (tape.next(false, 93)) tape.skip();
  t.notThrows(() => tape.end());
});

test('notes withdrawn since a mark do not return on a rewind', (t) => {
  const tape = begin('[1]');
  tape.note({ kind: 'dropped', type: 'T', member: 'a', at: 0 });
  const mark = tape.mark();
  tape.forget('a', 0);
  tape.rewind(mark);
  t.deepEqual(tape.mismatches, []);
});

test('the attempt limit is reached after eight times the reply was read in vain', (t) => {
  const tape = begin('[1,2]');
  for (let time = 1; time <= 9; time++) {
    const mark = tape.mark();
    tape.skip();
    tape.rewind(mark);
    t.is(tape.isPatienceOver, time === 9, `${time}`);
  }
});

test('replyMisfits: that many unknown members are recorded', (t) => {
  const tape = begin('1', { replyMisfits: 2 });
  const misfits = ['a', 'b', 'c'].map((member, at): Mismatch => ({ kind: 'dropped', type: 'T', member, at }));
  for (const misfit of misfits) tape.note(misfit);
  t.deepEqual(tape.mismatches, misfits.slice(0, 2));
});

test('the last note of a dropped member is removed from an offset on', (t) => {
  const misfits: readonly Mismatch[] = [
    { kind: 'dropped', type: 'T', member: 'a', at: 3 },
    { kind: 'dropped', type: 'T', member: 'a', at: 5 },
    { kind: 'missing', type: 'T', member: 'a', at: 7 },
    { kind: 'dropped', type: 'T', member: 'b', at: 9 },
  ];
  const left = (member: string, from: number): readonly number[] => {
    const tape = begin('1');
    for (const misfit of misfits) tape.note(misfit);
    tape.forget(member, from);
    return tape.mismatches.map(({ at }) => at);
  };
  t.deepEqual(left('a', 0), [3, 7, 9]);
  t.deepEqual(left('a', 5), [3, 7, 9]);
  t.deepEqual(left('a', 6), [3, 5, 7, 9]);
  t.deepEqual(left('b', 9), [3, 5, 7]);
  t.deepEqual(left('c', 0), [3, 5, 7, 9]);
});

test('base64 letters are known as far as they were read', (t) => {
  const letters = 'A'.repeat(64 * 1024);
  const body = Buffer.from(`"${letters}"`);
  const spans = new Base64Spans();
  spans.add(body);
  const tape = new Tape();
  tape.start(body, defaultLimits, spans);
  t.is(tape.knownLetters(1), 1 + letters.length);
  tape.release();
  t.is(tape.knownLetters(1), 1);
  tape.start(body, defaultLimits, spans);
  tape.start(body, defaultLimits);
  t.is(tape.knownLetters(1), 1);
});

test('a name is identified by its bytes and its closing quote', (t) => {
  for (const name of ['', 'a', 'id', 'number', 'é', 'a"b', 'a\\b', '漢😀', 'responseStatus']) {
    const token = JSON.stringify(name);
    const tape = begin(`{${token}:1}`);
    t.true(tape.matches(2, nameKey(name)), name);
    t.false(tape.matches(2, nameKey(`${name}x`)), name);
    t.false(tape.matches(0, nameKey(name)), name);
    t.is(tape.decode(2, Buffer.byteLength(token)), name);
  }
});

test('text is read from the body’s memory position', (t) => {
  const memory = new Uint8Array(8 + kept + padding);
  memory.set(Buffer.from(`"é\\n${'x'.repeat(kept - 6)}"`), 8);
  const tape = begin(memory.subarray(8, 8 + kept));
  t.is(tape.bytes.byteOffset, 8);
  t.is(tape.slice(0, 5), '"é\\n');
  t.is(tape.decode(1, 6), 'é\nx');
});

/** A method of the tape, its result, and the position after it. */
const moves: readonly (readonly [text: string, move: (tape: Tape) => unknown, says: unknown, end: number])[] =
  [
    ['1', (tape) => tape.scanNumber(), true, 1],
    ['0', (tape) => tape.scanNumber(), true, 1],
    ['-0,', (tape) => tape.scanNumber(), true, 2],
    ['-19 ', (tape) => tape.scanNumber(), true, 3],
    ['9081726354', (tape) => tape.scanNumber(), true, 10],
    ['1.5', (tape) => tape.scanNumber(), false, 3],
    ['0.5', (tape) => tape.scanNumber(), false, 3],
    ['-9.25]', (tape) => tape.scanNumber(), false, 5],
    ['1e5', (tape) => tape.scanNumber(), false, 3],
    ['12E+5', (tape) => tape.scanNumber(), false, 5],
    ['0e-5', (tape) => tape.scanNumber(), false, 4],
    ['true', (tape) => tape.literal(), 'true', 4],
    ['false,', (tape) => tape.literal(), 'false', 5],
    ['null', (tape) => tape.literal(), 'null', 4],
    ['""', (tape) => tape.scanString(), true, 2],
    ['"a b"', (tape) => tape.scanString(), true, 5],
    ['"é"', (tape) => tape.scanString(), true, 4],
    ['"a&b"', (tape) => tape.scanString(), false, 5],
    ['"<"', (tape) => tape.scanString(), false, 3],
    ['">"', (tape) => tape.scanString(), false, 3],
    ['"\\""', (tape) => tape.scanString(), false, 4],
    ['"\\u0041"', (tape) => tape.scanString(), false, 8],
    ['"\uffff"', (tape) => tape.scanString(), false, 5],
    [':', (tape) => tape.colon(), undefined, 1],
    [' \n:', (tape) => tape.colon(), undefined, 3],
    [' \t\r\n1', (tape) => tape.peek(), 0x31, 4],
    ['  ', (tape) => tape.peek(), 0, 2],
    ['{"a":[1,{}],"b":"x"} ', (tape) => tape.skip(), undefined, 20],
  ];

test('a move advances behind its value, and reports if numbers and strings are plain', (t) => {
  for (const [text, move, says, end] of moves) {
    const tape = begin(text);
    t.is(move(tape), says, text);
    t.is(tape.position, end, text);
  }
});

/** Invalid bytes and the error message. */
const refused: readonly (readonly [text: string, message: string])[] = [
  ['', 'position 0: expected a value, got the end'],
  ['\n\t', 'position 2: expected a value, got the end'],
  ['1 2', 'position 2: expected nothing more, got byte 32'],
  ['[1\v]', 'position 2: expected "," or "]", got byte 0B'],
  ['[1:2]', 'position 2: expected "," or "]", got byte 3A'],
  ['[1,]', 'position 3: expected a value after ",", got byte 5D'],
  ['{"a":1;}', 'position 6: expected "," or "}", got byte 3B'],
  ['{"a":1,}', 'position 7: expected a value after ",", got byte 7D'],
  ['{a:1}', 'position 1: expected a member name, got byte 61'],
  ['{"a" 1}', 'position 5: expected ":", got byte 31'],
  ['[', 'position 1: expected a value, got the end'],
  ['[1', 'position 2: expected "," or "]", got the end'],
  ['tru', 'position 0: expected a value, got byte 74'],
  ['nulL', 'position 0: expected a value, got byte 6E'],
  ['-', 'position 1: expected a value, got the end'],
  ['-x', 'position 1: expected a value, got byte 78'],
  ['01', 'position 1: expected nothing more, got byte 31'],
  ['1.', 'position 2: expected a digit, got the end'],
  ['1e', 'position 2: expected a digit, got the end'],
  ['1e+', 'position 3: expected a digit, got the end'],
  ['"é', 'position 3: expected a character of a string or its closing quote, got the end'],
  ['"\u001f"', 'position 1: expected a character of a string or its closing quote, got byte 1F'],
  ['"\u0000"', 'position 1: expected a character of a string or its closing quote, got byte 00'],
  ['"\\x"', 'position 2: expected an escape of JSON, got byte 78'],
  ['"\\é"', 'position 2: expected an escape of JSON, got byte C3'],
  ['"\\u00g0"', 'position 5: expected a hexadecimal digit, got byte 67'],
];

test('invalid JSON bytes are refused at their position, and described as bytes', (t) => {
  for (const [text, message] of refused) {
    const tape = begin(text);
    const read = (): void => {
      tape.skip();
      tape.end();
    };
    t.throws(read, { instanceOf: JsonError, message }, text);
  }
});

test('depth, members and items are limited in bytes as in text', (t) => {
  const limits = { jsonDepth: 2, jsonMembers: 3 };
  t.notThrows(() => begin('[[1,2],[]]', { ...limits, jsonMembers: 4 }).skip());
  t.throws(() => begin('[[1,2],[]]', limits).skip(), {
    message: 'position 7: more than 3 members and items',
  });
  t.throws(() => begin('[[[]]]', limits).skip(), { message: 'position 2: nesting deeper than 2' });
});

test('a value is described by its kind in bytes too', (t) => {
  for (const [text, kind] of [
    ['"a"', 'a string'],
    ['{}', 'an object'],
    ['[]', 'an array'],
    ['true', 'a boolean'],
    ['false', 'a boolean'],
    [' null', 'null'],
    ['-1', 'a number'],
    ['0', 'a number'],
    ['9', 'a number'],
  ] as const)
    t.is(begin(text).kind(), kind);
  for (const text of ['/', ':', '+1', 'x'])
    t.throws(() => begin(text).kind(), { message: /^position 0: expected a value, got byte / }, text);
});

test('bytes have the same three literals, and no others', (t) => {
  for (const text of ['oull', 'urue', 'llun', 'eurt', 'galse', 'mull', 'nul', 'nulk', 'trud', 'x', ''])
    t.throws(() => begin(text).literal(), { message: /^position 0: expected a value, got / }, text);
});

test('strings and names are decoded, and the tape advances behind them', (t) => {
  for (const [json, text] of [
    ['"plain"', 'plain'],
    ['"é & \\u0041\\n"', 'é & A\n'],
  ] as const) {
    const tape = begin(`${json} : 1`);
    t.is(tape.string(), text);
    t.is(tape.position, Buffer.byteLength(json));
    const member = begin(` ${json} : 1`);
    t.is(member.name(), text);
    t.is(member.slice(member.position, member.size), ' 1');
  }
  t.throws(() => begin('#a":1').name(), { message: 'position 0: expected a member name, got byte 23' });
  t.throws(() => begin('"a";1').name(), { message: 'position 3: expected ":", got byte 3B' });
});
