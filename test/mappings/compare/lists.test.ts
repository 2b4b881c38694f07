import test from 'ava';
import fc from 'fast-check';
import { compileComparison } from '../../../mappings/compare/compare.ts';
import { align, isPermutation } from '../../../mappings/compare/lists.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { contractFolder } from '../../migration/scenario.ts';
import { envelope, legacyReply } from './replies.ts';

/** Formats an alignment: `A-A B- -C` for items on both sides, on the legacy side, on the new side. */
function aligned(legacy: string, fresh: string): string {
  const idOf = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
  return align(idOf(legacy), idOf(fresh), () => {})
    .map(
      ({ legacy: at, new: by }) =>
        `${at === undefined ? '' : legacy[at]}-${by === undefined ? '' : fresh[by]}`,
    )
    .join(' ');
}

const cases: readonly (readonly [string, string, string])[] = [
  ['ABC', 'ABC', 'A-A B-B C-C'],
  ['ABC', 'BC', 'A- B-B C-C'],
  ['BC', 'ABC', '-A B-B C-C'],
  ['ABC', 'AXC', 'A-A B-X C-C'],
  ['ABC', 'AXYC', 'A-A B-X -Y C-C'],
  ['ABCD', 'AXD', 'A-A B-X C- D-D'],
  ['AB', 'BA', 'A- B-B -A'],
  ['A', 'ABA', 'A-A -B -A'],
  ['', 'A', '-A'],
  ['A', '', 'A-'],
  ['', '', ''],
];
for (const [legacy, fresh, expected] of cases)
  test(`G39: ${legacy} and ${fresh} are aligned as ${expected}`, (t) => {
    t.is(aligned(legacy, fresh), expected);
  });

/** Returns the length of the longest common subsequence, by its definition. */
function longest(one: readonly number[], other: readonly number[]): number {
  const [first, ...rest] = one;
  const [their, ...others] = other;
  if (first === undefined || their === undefined) return 0;
  if (first === their) return 1 + longest(rest, others);
  return Math.max(longest(rest, other), longest(one, others));
}

test('G39: an alignment has each item once, in order, and the longest common subsequence', (t) => {
  const list = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 });
  fc.assert(
    fc.property(list, list, (legacy, fresh) => {
      const pairs = align(legacy, fresh, () => {});
      t.deepEqual(
        pairs.flatMap(({ legacy: at }) => at ?? []),
        [...legacy.keys()],
      );
      t.deepEqual(
        pairs.flatMap(({ new: by }) => by ?? []),
        [...fresh.keys()],
      );
      const same = pairs.filter(
        ({ legacy: at, new: by }) => at !== undefined && by !== undefined && legacy[at] === fresh[by],
      );
      t.true(same.length >= longest(legacy, fresh));
    }),
  );
});

test('G39: a permutation has the same items as often', (t) => {
  t.true(isPermutation([1, 1, 2], [2, 1, 1]));
  t.false(isPermutation([1, 1, 2], [2, 2, 1]));
  t.false(isPermutation([1], [1, 1]));
});

const { contract } = readContract(contractFolder('contracts/types'));

function reply(codes: readonly string[]) {
  const items = codes.map((code) => `<Code>${code}</Code>`).join('');
  return legacyReply({
    status: 200,
    body: envelope(`<GetResponse xmlns="urn:types.example">${items}</GetResponse>`),
  });
}

test('compareItems: 5,000 items are aligned, 5,001 are compared by position (G39)', (t) => {
  const { compareItems } = defaultLimits;
  t.is(compareItems, 5_000);
  const { compare } = compileComparison(contract);
  const differencesOf = (count: number): number => {
    const codes = Array.from({ length: count }, (_, index) => `c${index}`);
    const { differences, more } = compare('Get', reply(codes), reply(codes.slice(1)));
    return differences.length + more;
  };
  t.is(differencesOf(compareItems), 1);
  t.is(differencesOf(compareItems + 1), compareItems + 1);
});

test('two lists of 5,000 different items are aligned within the maximum of steps (G39, G40)', (t) => {
  const { compare } = compileComparison(contract);
  const codes = (prefix: string): string[] =>
    Array.from({ length: 5_000 }, (_, index) => `${prefix}${index}`);
  const { result, differences, more } = compare('Get', reply(codes('a')), reply(codes('b')));
  t.is(result, 'different');
  t.is(differences.length, 200);
  t.is(more, 4_800);
});

/** Amounts of items by letter. `a` and `A` are equal. */
const amounts: Readonly<Record<string, string>> = { a: '1', A: '1.0', b: '2', c: '3' };

function submissions(letters: string) {
  const items = [...letters].map(
    (letter) =>
      `<a:SubmissionInfo><a:RequestedAmount>${amounts[letter]}</a:RequestedAmount></a:SubmissionInfo>`,
  );
  return legacyReply({
    status: 200,
    body: envelope(
      `<a:GetSubmissionListResponse xmlns:a="http://desk.example/services/Agency-V2">${items.join('')}</a:GetSubmissionListResponse>`,
    ),
  });
}

/** Returns the differences of two lists by their alignment as a whole. */
function expectedOf(legacy: string, fresh: string): readonly string[] {
  const [ours, theirs] = [legacy, fresh].map((letters) =>
    [...letters.toLowerCase()].map((letter) => letter.charCodeAt(0)),
  ) as [number[], number[]];
  if (ours.join() !== theirs.join() && isPermutation(ours, theirs)) return ['SubmissionInfo order'];
  return align(ours, theirs, () => {}).flatMap(({ legacy: at, new: by }) => {
    if (at === undefined) return [`SubmissionInfo[${by}] extra`];
    if (by === undefined) return [`SubmissionInfo[${at}] missing`];
    return ours[at] === theirs[by] ? [] : [`SubmissionInfo[${at}].RequestedAmount value`];
  });
}

test('equal ends of lists do not change their alignment (G39)', (t) => {
  const { compare } = compileComparison(readContract(contractFolder('contracts/agency')).contract);
  const differencesOf = (legacy: string, fresh: string): readonly string[] =>
    compare('GetSubmissionList', submissions(legacy), submissions(fresh)).differences.map(
      ({ path, kind }) => `${path} ${kind}`,
    );
  const letters = fc.string({ unit: fc.constantFrom(...'aAbc'), maxLength: 4 });
  fc.assert(
    fc.property(letters, letters, letters, letters, (head, one, other, tail) => {
      const [legacy, fresh] = [head + one + tail, head + other + tail];
      t.deepEqual(differencesOf(legacy, fresh), expectedOf(legacy, fresh), `${legacy} and ${fresh}`);
    }),
    { numRuns: 2_000 },
  );
});
