import type { Contract } from '../../mappings/contract/model.ts';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import { map, record, text, value } from '../../mappings/contract/setting.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { readSettings } from '../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import type { CallerRules, ContractRules } from '../admission/caller-limits.ts';

const rules = record('Limits per caller.', {
  rate: text(
    'Rate limit: calls per time window, such as 100/s, 600/min or 50/10s.',
    'calls per time window, such as 100/s, 50/10s, 600/min or 5000/h',
    /^[1-9]\d{0,8}\/(?:s|min|h|[1-9]\d{0,4}s)$/,
  ),
  quota: value('Quota: calls per day (UTC).'),
  concurrent: value('Maximum number of concurrent calls.'),
});

const contractRules = {
  each: rules,
  callers: map(
    'Limits of the caller with this name, instead of `each`.',
    '`name: { rate, quota, concurrent }`',
    rules,
  ),
  operations: map(
    'Additional limits per caller for an operation.',
    '`Operation: { rate, quota, concurrent }`',
    rules,
  ),
};

/** Schema of a file of caller limits. */
const callerLimitSettings = record('Limits of callers.', {
  ...contractRules,
  contracts: map(
    'Limits for the contract at a path. They replace all other limits of this file.',
    '`/path: { each, callers, operations }`',
    record('Limits of callers for one contract.', contractRules),
  ),
});

/** Limits of callers, by contract. */
export interface CallerLimitsFile {
  /** Returns the rules of the contract at a path; undefined if it has none. */
  readonly rulesOf: (path: string) => ContractRules | undefined;
  /** Throws ContractError if the file names an operation that no contract has, or a contract that is not served. */
  readonly check: (contracts: readonly Contract[]) => void;
}

type Report = (pointer: string, message: string) => void;
type Entry = ReturnType<typeof readSettings<typeof callerLimitSettings>>;

/** Reads a file of caller limits. Throws ContractError with all problems of the file. */
export function readCallerLimits(file: string): CallerLimitsFile {
  const problems: ContractProblem[] = [];
  const report: Report = (pointer, message) => {
    problems.push({ file, pointer, message });
  };
  const root = readSettings(callerLimitSettings, readYamlFile(file, problems)?.root ?? {}, '', report) ?? {};
  const ofAll = rulesIn(root, '', report);
  const own = new Map<string, ContractRules>();
  for (const [path, entry] of root.contracts ?? new Map())
    own.set(path, rulesIn(entry, `/contracts${pointerSegment(path)}`, report));
  if (problems.length > 0) throw new ContractError(withLines(problems));
  const isEmpty = Object.keys(root).every((key) => key === 'contracts');
  return {
    rulesOf: (path) => own.get(path) ?? (isEmpty ? undefined : ofAll),
    check: (contracts) => {
      const wrong: ContractProblem[] = [];
      const byPath = new Map(contracts.map((contract) => [shownPath(contract.basePath), contract]));
      const others = contracts.filter(({ basePath }) => !own.has(shownPath(basePath)));
      const look = ({ operations }: ContractRules, among: readonly Contract[], at: string): void => {
        const known = new Set(among.flatMap((contract) => contract.operations.map((each) => each.name)));
        for (const name of operations.keys())
          if (!known.has(name))
            wrong.push({
              file,
              pointer: `${at}/operations${pointerSegment(name)}`,
              message: `expected an operation of the contract, got an unknown name${didYouMean(name, known)}`,
            });
      };
      look(ofAll, others, '');
      for (const [path, ofContract] of own) {
        const contract = byPath.get(path);
        const at = `/contracts${pointerSegment(path)}`;
        if (contract !== undefined) look(ofContract, [contract], at);
        else
          wrong.push({
            file,
            pointer: at,
            message: `expected the path of a served contract, one of ${[...byPath.keys()].join(', ')}`,
          });
      }
      if (wrong.length > 0) throw new ContractError(withLines(wrong));
    },
  };
}

function rulesIn(entry: NonNullable<Entry>, at: string, report: Report): ContractRules {
  const { each, callers = new Map(), operations = new Map() } = entry;
  const of = (all: ReadonlyMap<string, RulesEntry>, key: string): ReadonlyMap<string, CallerRules> =>
    new Map(
      [...all].map(([name, one]) => [name, rulesOf(one, `${at}/${key}${pointerSegment(name)}`, report)]),
    );
  return {
    each: rulesOf(each ?? {}, `${at}/each`, report),
    callers: of(callers, 'callers'),
    operations: of(operations, 'operations'),
  };
}

interface RulesEntry {
  readonly rate?: string | undefined;
  readonly quota?: unknown;
  readonly concurrent?: unknown;
}

const unitSeconds = { s: 1, min: 60, h: 3_600 } as const;

function rulesOf({ rate, quota, concurrent }: RulesEntry, at: string, report: Report): CallerRules {
  const [calls = '', time = ''] = rate?.split('/') ?? [];
  const seconds = unitSeconds[time as keyof typeof unitSeconds] ?? Number(time.slice(0, -1));
  return {
    rate: rate === undefined ? undefined : { calls: Number(calls), seconds },
    quota: countIn(quota, `${at}/quota`, report),
    concurrent: countIn(concurrent, `${at}/concurrent`, report),
  };
}

const most = 1_000_000_000;

function countIn(count: unknown, at: string, report: Report): number | undefined {
  if (count === undefined) return undefined;
  if (Number.isSafeInteger(count) && Number(count) >= 1 && Number(count) <= most) return Number(count);
  report(at, `expected a whole number from 1 to ${most}, got ${JSON.stringify(count)}`);
  return undefined;
}
