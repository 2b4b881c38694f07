import test from 'ava';
import { readCorpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { fuzzLive } from './live.ts';
import { mostBytes, mutate } from './mutate.ts';
import { Random } from './random.ts';
import { target } from './target.ts';
import { json } from './targets/json.ts';
import { targets } from './targets.ts';

for (const { name, probe } of targets) {
  test(`fuzz: saved inputs of ${name} are read without a crash and as the oracle does`, (t) => {
    const corpus = readCorpus(name);
    t.true(corpus.length > 0);
    for (const input of corpus) t.is(probe(input, true).finding, undefined, input.toString('base64'));
  });

  if (name === 'contract') continue; // slow; included in `npm run whole`
  test(`fuzz: 500 new inputs of ${name} are read without a crash and as the oracle does`, (t) => {
    const findings: string[] = [];
    fuzz(targets.find((one) => one.name === name) ?? json, {
      seed: 1,
      corpus: [],
      isOver: (executions) => executions >= 500,
      onFinding: (input, finding) => findings.push(`${finding}: ${input.toString('base64')}`),
    });
    t.deepEqual(
      findings.filter((finding) => !finding.startsWith('slow')),
      [],
    );
  });
}

/** A reader with two planted faults: a crash and a wrong result. */
const faulty = target<unknown>({
  name: 'faulty',
  words: ['true', 'false', '1e5', '\\u0041'],
  make: (random) => json.make(random),
  run: (input) => {
    const text = input.toString('utf8');
    if (text.includes('1e5')) throw new TypeError('planted');
    try {
      return JSON.parse(text.replaceAll('false', 'true'));
    } catch {
      return undefined; // not JSON
    }
  },
  kind: (outcome) => typeof outcome,
  judge: (input, outcome) => {
    if (outcome === undefined) return undefined;
    return JSON.stringify(JSON.parse(input.toString('utf8'))) === JSON.stringify(outcome)
      ? undefined
      : 'another value';
  },
});

test('fuzz: a planted crash and a planted disagreement are found', (t) => {
  const findings = new Map<string, Buffer>();
  fuzz(faulty, {
    seed: 1,
    corpus: [],
    isOver: (executions) => findings.size === 2 || executions > 1_000_000,
    onFinding: (input, finding) => findings.set(finding.slice(0, 13), input),
  });
  t.true(findings.get('crash: TypeEr')?.includes('1e5'));
  t.true(findings.get('another value')?.includes('false'));
});

test('fuzz: a failing process is found with its input, and restarted', async (t) => {
  const findings: string[] = [];
  let opened = 0;
  const { executions } = await fuzzLive(
    {
      name: 'faulty',
      make: (random) => random.pick('well', 'ill'),
      open: async () => {
        opened++;
        return {
          run: async (input) => (input.includes('ill') ? 'it is ill' : undefined),
          close: async () => {},
        };
      },
    },
    {
      seed: 1,
      corpus: [Buffer.from('well'), Buffer.from('very ill')],
      isOver: () => findings.length === 3,
      onFinding: (input, finding) => findings.push(`${finding}: ${input}`),
    },
  );
  t.deepEqual(findings.slice(0, 2), ['it is ill: very ill', 'it is ill: ill']);
  t.is(opened, 4);
  t.true(executions >= 4);
});

test('fuzz: a seed always gives the same numbers and mutations, another seed others', (t) => {
  const run = (seed: number): string => {
    const random = new Random(seed);
    let input: Buffer = Buffer.from('{"a":[1,2]}');
    for (let step = 0; step < 50; step++) input = mutate(input, random, json.words, Buffer.from('true'));
    return input.toString('base64');
  };
  t.is(run(1), run(1));
  t.not(run(1), run(2));
});

test('fuzz: a mutation is never longer than the longest input', (t) => {
  const random = new Random(1);
  let input: Buffer = Buffer.alloc(mostBytes, 'a');
  for (let step = 0; step < 200; step++) {
    input = mutate(input, random, ['word'], input);
    t.true(input.length <= mostBytes);
  }
});
