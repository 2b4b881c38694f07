import test from 'ava';
import { compileComparison } from '../../../mappings/compare/compare.ts';
import type { Comparison, Difference, Note } from '../../../mappings/compare/comparison.ts';
import { compileRules } from '../../../mappings/compare/rules.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { contractFolder, readScenario } from '../../migration/scenario.ts';
import { compileNewReply, legacyReply, type StubReply } from './replies.ts';

interface Scenario {
  readonly title: string;
  readonly rules: readonly string[];
  readonly contract: string;
  readonly calls: readonly {
    readonly rules?: readonly object[];
    readonly legacy: StubReply;
    readonly new: StubReply;
    readonly expect: {
      readonly operation: string;
      readonly compare: {
        readonly result: string;
        readonly differences: readonly object[];
        readonly explained?: readonly object[];
        readonly notes?: readonly { readonly path: string; readonly note: string }[];
      };
    };
  }[];
}

/** Returns notes in the form of the scenarios: `offContract InvalidEnum`. */
function notesOf({ notes }: Comparison): readonly { readonly path: string; readonly note: string }[] {
  return notes.map(({ path, note, code }: Note) => ({
    path,
    note: code === undefined ? note : `${note} ${code}`,
  }));
}

function plain({ sensitivity: _, ...difference }: Difference): object {
  return difference;
}

for (const name of ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'S09', 'S10', 'S11', 'S13', 'S31']) {
  const scenario = readScenario<Scenario>(name);
  const { contract } = readContract(contractFolder(scenario.contract));
  const newReply = compileNewReply(contract);
  for (const [index, call] of scenario.calls.entries())
    test(`scenario ${name}, call ${index}: ${scenario.title} (${scenario.rules.join(', ')})`, (t) => {
      const problems: string[] = [];
      const rules = compileRules(call.rules ?? [], '', { contract }, (_, message) => problems.push(message));
      t.deepEqual(problems, []);
      const { operation, compare: expected } = call.expect;
      const { compare } = compileComparison(contract, { rules, strict: false });
      const found = compare(operation, legacyReply(call.legacy), newReply(operation, call.new));
      t.deepEqual(found.differences.map(plain), expected.differences);
      t.is(found.result as string, expected.result);
      t.deepEqual(found.explained.map(plain), expected.explained ?? []);
      if (expected.notes !== undefined) t.deepEqual(notesOf(found), expected.notes);
    });
}
