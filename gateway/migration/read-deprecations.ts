import type { Contract } from '../../mappings/contract/model.ts';
import { expectedInstant, instantText, readDuration, readInstant } from '../../mappings/contract/times.ts';
import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { shown } from '../../mappings/loader/document/node.ts';
import type { StatedMigration } from '../process/migration-setting.ts';
import { checkCaller, checkOperation } from './known-names.ts';

type StatedDeprecation = NonNullable<StatedMigration['deprecate']>[number];

/** Times are ms since 1970. */
export interface Brownout {
  readonly from: number;
  readonly to: number;
}

/** The deprecation of some operations (G64, G65). Times are ms since 1970. */
export interface Deprecation {
  readonly operations: readonly string[];
  readonly since: number;
  readonly sunset: number | undefined;
  readonly link: string | undefined;
  readonly message: string;
  /** In the order of their times. */
  readonly brownouts: readonly Brownout[];
  /** Ends of exemptions by the caller's name or pseudonym. */
  readonly exempt: ReadonlyMap<string, number>;
}

const usualMessage = 'Operation is no longer served.';

/** Maximum duration of a brown-out, in ms (G65). */
const longestBrownout = 86_400_000;

/** Maximum number of brown-outs of a deprecation. */
export const maxBrownouts = 100;

/** Checks `migration.deprecate` of a contract, and reports all problems (G3, G65). */
export function readDeprecations(
  stated: readonly StatedDeprecation[],
  at: string,
  { contract, callerNames }: { readonly contract: Contract; readonly callerNames: ReadonlySet<string> },
  report: Report,
): readonly Deprecation[] {
  const names = contract.operations.map(({ name }) => name);
  const seen = new Set<string>();
  return stated.map((entry, index) => {
    const pointer = `${at}/${index}`;
    const { operations = names, since, sunset, link, message = usualMessage } = entry;
    for (const [position, name] of operations.entries()) {
      const place = entry.operations === undefined ? pointer : `${pointer}/operations/${position}`;
      checkOperation(name, names, place, report);
      if (seen.has(name)) report(place, `expected an operation of one entry, got ${name} in two entries`);
      seen.add(name);
    }
    if (since === undefined) report(pointer, 'expected since, the time of the deprecation, got none');
    const from = readTime(since, `${pointer}/since`, report);
    const end = readTime(sunset, `${pointer}/sunset`, report);
    if (from !== undefined && end !== undefined && from > end)
      report(`${pointer}/since`, `expected a time up to sunset, ${instantText(end)}, got ${since}`);
    const exempt = [...(entry.exempt ?? [])].map(([caller, until]) => {
      const place = `${pointer}/exempt${pointerSegment(caller)}`;
      checkCaller(caller, callerNames, place, report);
      return [caller, readTime(until, place, report) ?? 0] as const;
    });
    return {
      operations,
      since: from ?? 0,
      sunset: end,
      link,
      message,
      brownouts: readBrownouts(entry.brownouts ?? [], end, `${pointer}/brownouts`, report),
      exempt: new Map(exempt),
    };
  });
}

function readTime(stated: string | undefined, at: string, report: Report): number | undefined {
  if (stated === undefined) return undefined;
  const time = readInstant(stated);
  if (time === undefined) report(at, `expected ${expectedInstant}, got ${shown(stated)}`);
  return time;
}

function readBrownouts(
  stated: NonNullable<StatedDeprecation['brownouts']>,
  sunset: number | undefined,
  at: string,
  report: Report,
): readonly Brownout[] {
  if (stated.length > maxBrownouts)
    report(at, `expected at most ${maxBrownouts} brown-outs, got ${stated.length}`);
  const found = stated.slice(0, maxBrownouts).flatMap((one, index) => {
    const pointer = `${at}/${index}`;
    if (one.at === undefined) report(pointer, 'expected at, the start of the brown-out, got none');
    if (one.for === undefined) report(pointer, 'expected for, the duration of the brown-out, got none');
    const from = readTime(one.at, `${pointer}/at`, report);
    const ms = one.for === undefined ? undefined : readDuration(one.for);
    if (from === undefined || ms === undefined) return [];
    if (ms > longestBrownout) report(`${pointer}/for`, `expected at most 24h, got ${one.for}`);
    const to = from + ms;
    if (sunset !== undefined && to > sunset)
      report(pointer, `expected an end up to sunset, ${instantText(sunset)}, got ${instantText(to)}`);
    return [{ from, to, pointer }];
  });
  const ordered = found.toSorted((a, b) => a.from - b.from);
  for (const [index, { from, pointer }] of ordered.entries()) {
    const before = ordered[index - 1];
    if (before !== undefined && from < before.to)
      report(pointer, `expected a start after the brown-out until ${instantText(before.to)}, got an overlap`);
  }
  return ordered.map(({ from, to }) => ({ from, to }));
}
