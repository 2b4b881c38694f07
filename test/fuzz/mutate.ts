import type { Random } from './random.ts';

/** Maximum size of an input, large enough to reveal slow code. */
export const mostBytes = 100_000;

type Mutation = (input: Buffer, random: Random, words: readonly string[], other: Buffer) => Buffer;

/** Replaces the bytes from `start` to `end`. */
function splice(input: Buffer, start: number, end: number, put: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, start), put, input.subarray(end)]);
}

/** Returns start and end of a random range, mostly a short one. */
function range(input: Buffer, random: Random): readonly [start: number, end: number] {
  const start = random.below(input.length + 1);
  const most = random.once(8) ? input.length : 12;
  return [start, Math.min(input.length, start + random.below(most + 1))];
}

const oddBytes = [0, 1, 9, 10, 13, 31, 32, 34, 38, 39, 44, 45, 47, 48, 57, 60, 62, 92, 93, 127, 128, 255];

const mutations: readonly [Mutation, ...Mutation[]] = [
  function changeByte(input, random) {
    if (input.length === 0) return input;
    const changed = Buffer.from(input);
    changed[random.below(input.length)] = random.once(2)
      ? random.below(256)
      : (oddBytes[random.below(oddBytes.length)] ?? 0);
    return changed;
  },
  function flipBit(input, random) {
    if (input.length === 0) return input;
    const changed = Buffer.from(input);
    const at = random.below(input.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    return changed;
  },
  function cut(input, random) {
    const [start, end] = range(input, random);
    return splice(input, start, end, Buffer.alloc(0));
  },
  function putWord(input, random, words) {
    const [start, end] = random.once(2) ? range(input, random) : [0, 0];
    const at = random.below(input.length + 1);
    const word = Buffer.from(words[random.below(words.length)] ?? '');
    return end > start ? splice(input, start, end, word) : splice(input, at, at, word);
  },
  function swapWord(input, random, words) {
    const from = words[random.below(words.length)] ?? '';
    const at = from === '' ? -1 : input.indexOf(from, random.below(input.length + 1));
    if (at === -1) return input;
    const to = Buffer.from(words[random.below(words.length)] ?? '');
    return splice(input, at, at + Buffer.byteLength(from), to);
  },
  function putCharacter(input, random) {
    const at = random.below(input.length + 1);
    const code = random.pick(random.below(0x80), random.below(0x3000), random.below(0x110000));
    return splice(input, at, at, Buffer.from(String.fromCodePoint(code)));
  },
  function copyPiece(input, random) {
    const [start, end] = range(input, random);
    const at = random.below(input.length + 1);
    return splice(input, at, at, input.subarray(start, end));
  },
  function takeFromOther(input, random, _words, other) {
    const [start, end] = range(input, random);
    const [from, to] = range(other, random);
    return splice(input, start, end, other.subarray(from, to));
  },
];

/** One of this many mutations repeats a piece until the input is large. */
const growOneOf = 1_000;

function grow(input: Buffer, random: Random): Buffer {
  const [start, end] = range(input, random);
  if (start === end) return input;
  const times = Math.floor((1 + random.below(mostBytes)) / (end - start));
  return splice(input, start, end, Buffer.concat(Array(times).fill(input.subarray(start, end))));
}

/** Applies one to eight small changes to an input. `other` is an input from which pieces are taken. */
export function mutate(input: Buffer, random: Random, words: readonly string[], other: Buffer): Buffer {
  let mutated = input;
  for (let changes = 1 + random.below(random.pick(1, 2, 8)); changes > 0; changes--) {
    mutated = random.pick(...mutations)(mutated, random, words, other);
  }
  if (random.once(growOneOf)) mutated = grow(mutated, random);
  return mutated.subarray(0, mostBytes);
}
