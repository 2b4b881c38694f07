import test from 'ava';
import { readCorpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { fuzzLive } from './live.ts';
import { contract } from './targets/contract.ts';
import { liveTargets } from './targets.ts';

for (const target of liveTargets) {
  test(`fuzz: the process is healthy after each saved input of ${target.name} and three new ones`, async (t) => {
    const corpus = readCorpus(target.name);
    t.true(corpus.length > 0);
    const findings: string[] = [];
    await fuzzLive(target, {
      seed: 1,
      corpus,
      isOver: (executions) => executions >= corpus.length + 3,
      onFinding: (input, finding) => findings.push(`${finding}: ${input.toString('base64')}`),
    });
    t.deepEqual(findings, []);
  });
}

test('fuzz: 256 new contract documents are served, or refused with position and reason', (t) => {
  const findings: string[] = [];
  fuzz(contract, {
    seed: 1,
    corpus: [],
    isOver: (executions) => executions >= 256,
    onFinding: (input, finding) => findings.push(`${finding}: ${input.toString('base64')}`),
  });
  t.deepEqual(
    findings.filter((finding) => !finding.startsWith('slow')),
    [],
  );
});
