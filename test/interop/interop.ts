import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checks, checksFile, importCheck, type Line, nameOf, problemOf, type Version } from './checks.ts';
import { startGateway } from './gateway.ts';
import { type KnownGap, knownGaps } from './known-gaps.ts';
import { startRelay } from './relay.ts';
import { type Finished, run } from './run-command.ts';
import type { Stack } from './stacks.ts';
import { startUpstream } from './upstream.ts';

/** What became of one check of a stack in one SOAP version. */
export interface Result {
  readonly stack: Stack;
  readonly version: Version;
  readonly check: string;
  /** `gap`: fails, and `known-gaps.ts` says why. */
  readonly outcome: 'passed' | 'failed' | 'gap';
  /** What was wrong, or the gap's reason. */
  readonly why?: string;
}

/** All that a stack did. */
export interface StackRun {
  readonly results: readonly Result[];
  /** What its clients sent, by version. */
  readonly requests: ReadonlyMap<Version, readonly Buffer[]>;
}

const buildLimitMs = 300_000;
const runLimitMs = 120_000;

/** Builds the stack's client from the WSDL and runs it in each version, before a gateway and an upstream of its own. */
export async function runStack(stack: Stack, faultAddress: string): Promise<StackRun> {
  const upstream = await startUpstream();
  const relay = await startRelay();
  const gateway = await startGateway(upstream.url, `http://127.0.0.1:${relay.port}`);
  relay.passTo(Number(new URL(gateway.url).port));
  const out = mkdtempSync(join(tmpdir(), `interop-${stack.name}-`));
  try {
    const wsdl = `${gateway.address}/soap11?wsdl`;
    const built = stack.builds ? await command(stack, 'build.sh', [wsdl, out], buildLimitMs) : undefined;
    const results: Result[] = [];
    const requests = new Map<Version, readonly Buffer[]>();
    relay.takeRequests();
    for (const version of stack.versions) {
      if (built?.ok === false) {
        const why = `build.sh: ${lastLines(built.errors || built.output)}`;
        results.push(...allChecks.map((check) => failed({ stack, version, check: nameOf(check) }, why)));
        continue;
      }
      const endpoint = version === '1.1' ? '/soap11' : '/soap12';
      const complained = upstream.complaints.length;
      const finished = await command(stack, 'run.sh', [wsdl, version, out], runLimitMs, {
        ENDPOINT: `${gateway.address}${endpoint}`,
        FAULT_ENDPOINT: `${faultAddress}${endpoint}`,
      });
      const lines = linesOf(finished);
      if (built !== undefined) lines.set('import', { situation: 'import', got: [] });
      const complaints = upstream.complaints.slice(complained);
      for (const check of allChecks) {
        const name = nameOf(check);
        const line = lines.get(name);
        if (line === undefined) {
          results.push(failed({ stack, version, check: name }, 'expected a line of it, got none'));
          continue;
        }
        const problem = problemOf(check, version, line);
        const beside = complaints.find((complaint) => complaint.startsWith(`${check.operation}:`));
        const why = problem === undefined || beside === undefined ? problem : `${problem}; ${beside}`;
        results.push(judge({ stack, version, check: name }, why));
      }
      if (!finished.ok) {
        const why = `expected it to end well; ${lastLines(finished.errors)}`;
        results.push(failed({ stack, version, check: 'run.sh' }, why));
      }
      requests.set(version, relay.takeRequests());
    }
    return { results, requests };
  } finally {
    rmSync(out, { recursive: true, force: true });
    await gateway.stop(0);
    relay.close();
    upstream.close();
  }
}

const allChecks = [importCheck, ...checks];

function command(
  stack: Stack,
  script: string,
  args: readonly string[],
  limitMs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return run('/bin/bash', [script, ...args], {
    folder: stack.folder,
    limitMs,
    // a zone that isn't the contract's, so that a client that mixes them up is seen
    environment: { CHECKS: checksFile, LANG: 'C.UTF-8', TZ: 'America/New_York', ...environment },
  });
}

/** What a client printed, by the check's name. A line that isn't JSON is no line. */
function linesOf({ output }: Finished): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const text of output.split('\n').filter((line) => line.startsWith('{'))) {
    const line: Line = JSON.parse(text);
    lines.set(nameOf({ operation: line.operation ?? '', situation: line.situation }), line);
  }
  return lines;
}

type Judged = Pick<Result, 'stack' | 'version' | 'check'>;

function failed(judged: Judged, why: string): Result {
  return { ...judged, outcome: 'failed', why };
}

/** A line that is there against the known gaps. */
function judge(judged: Judged, problem: string | undefined): Result {
  const gap = knownGaps.find((known) => covers(known, judged));
  if (gap === undefined) {
    return problem === undefined ? { ...judged, outcome: 'passed' } : failed(judged, problem);
  }
  if (problem !== undefined) return { ...judged, outcome: 'gap', why: gap.reason };
  return failed(judged, 'passes, but known-gaps.ts says that it can’t');
}

function covers(gap: KnownGap, { stack, version, check }: Judged): boolean {
  return (
    gap.stack === stack.name && gap.check === check && (gap.version === undefined || gap.version === version)
  );
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-15).join(' | ');
}
