import { isDeepStrictEqual } from 'node:util';
import { type Check, checks, importCheck, type Line, nameOf, problemOf, type Version } from './checks.ts';
import type { KnownGap } from './known-gaps.ts';
import type { Finished } from './run-command.ts';
import type { Stack } from './stacks.ts';
import type { Variant } from './variants.ts';

/** Result of one check of a stack in one SOAP version. */
export interface Result {
  readonly stack: Stack;
  readonly version: Version;
  /** Undefined for plain calls. */
  readonly variant?: Variant;
  readonly check: string;
  /** `gap`: fails for a known reason. */
  readonly outcome: 'passed' | 'failed' | 'gap';
  /** The problem, or the gap's reason. */
  readonly why?: string;
}

/** A client's run. */
export type Run = Pick<Result, 'stack' | 'version' | 'variant'>;
type Judged = Run & Pick<Result, 'check'>;

const allChecks: readonly Pick<Check, 'operation' | 'situation' | 'read'>[] = [importCheck, ...checks];

/** Returns a failure of every check if a client could not be built. */
export function judgeBuild(stack: Stack, built: Finished): readonly Result[] {
  const why = `build.sh: ${lastLines(built.errors || built.output)}`;
  return stack.versions.flatMap((version) =>
    allChecks.map((check) => failed({ stack, version, check: nameOf(check) }, why)),
  );
}

/** Judges the checks of a client's run by its output. `complaints` are problems that the upstream found. */
export function judgeRun(
  run: Run,
  finished: Finished,
  complaints: readonly string[],
  gaps: readonly KnownGap[],
): readonly Result[] {
  const lines = linesOf(finished.output);
  // a build is an import
  if (run.stack.builds) lines.set('import', { situation: 'import', got: [] });
  const results = allChecks.map((check) => {
    const judged = { ...run, check: nameOf(check) };
    const line = lines.get(judged.check);
    if (line === undefined) return failed(judged, 'expected a line of it, got none');
    const problem = problemOf(check, run.version, line);
    const complaint = complaints.find((text) => text.startsWith(`${check.operation}:`));
    const gap = gaps.find((known) => covers(known, judged));
    return judge(judged, [problem, complaint], gap);
  });
  if (finished.ok) return results;
  const why = `expected it to end well; ${lastLines(finished.errors)}`;
  return [...results, failed({ ...run, check: 'run.sh' }, why)];
}

function judge(
  judged: Judged,
  [problem, complaint]: readonly (string | undefined)[],
  gap: KnownGap | undefined,
): Result {
  if (gap !== undefined) {
    if (problem === undefined) return failed(judged, 'passes, but known-gaps.ts says that it can’t');
    return { ...judged, outcome: 'gap', why: gap.reason };
  }
  return resultOf(
    judged,
    problem === undefined || complaint === undefined ? problem : `${problem}; ${complaint}`,
  );
}

/** Judges the raw requests of a variant's calls. */
export function judgeWire(run: Run, problem: string | undefined): Result {
  return resultOf({ ...run, check: 'on the wire' }, problem);
}

/**
 * Judges the checks of a client that must refuse all replies.
 *
 * @param calls number of calls that reached the upstream
 */
export function judgeDistrust(
  run: Run,
  { output, errors }: Finished,
  calls: number,
  gaps: readonly KnownGap[],
): Result {
  const judged = { ...run, check: 'other certificate' };
  if (calls === 0) return failed(judged, `expected calls upstream, got none; ${lastLines(errors)}`);
  const lines = linesOf(output);
  const isRead = (check: Check): boolean => {
    const line = lines.get(nameOf(check));
    return line !== undefined && problemOf(check, run.version, line) === undefined;
  };
  const read = checks.filter(isRead).map(nameOf);
  const problem = read.length === 0 ? undefined : `expected refused replies, got ${read.join(', ')}`;
  return judge(
    judged,
    [problem],
    gaps.find((known) => covers(known, judged)),
  );
}

/** Judges the upload of a document by the client's output and the raw request. */
export function judgeUpload(
  run: Run,
  { output, errors }: Finished,
  expected: readonly string[],
  wire: string | undefined,
): Result {
  const judged = { ...run, check: 'upload' };
  const got = linesOf(output).get('upload')?.got;
  if (got === undefined) return failed(judged, `expected a line of it, got none; ${lastLines(errors)}`);
  if (!isDeepStrictEqual(got, expected))
    return failed(judged, `expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  return resultOf(judged, wire);
}

/** Returns `passed` if there is no problem. */
function resultOf(judged: Judged, problem: string | undefined): Result {
  return problem === undefined ? { ...judged, outcome: 'passed' } : failed(judged, problem);
}

function failed(judged: Judged, why: string): Result {
  return { ...judged, outcome: 'failed', why };
}

function covers(gap: KnownGap, { stack, version, variant, check }: Judged): boolean {
  return (
    gap.stack === stack.name &&
    gap.check === check &&
    (gap.version === undefined || gap.version === version) &&
    (gap.variant === undefined || gap.variant === variant?.name)
  );
}

/** Reads a client's output by check name. Lines that are not JSON are ignored. */
function linesOf(output: string): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const text of output.split('\n')) {
    const line = lineOf(text);
    if (line === undefined) continue;
    lines.set(nameOf({ operation: line.operation ?? '', situation: line.situation }), line);
  }
  return lines;
}

function lineOf(text: string): Line | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // without a line, the check fails
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-15).join(' | ');
}
