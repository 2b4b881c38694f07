import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksFile, type Version } from './checks.ts';
import { startGateway } from './gateway.ts';
import { judgeBuild, judgeRun, type Result } from './judge.ts';
import { knownGaps } from './known-gaps.ts';
import { startRelay } from './relay.ts';
import { type Finished, run } from './run-command.ts';
import type { Stack } from './stacks.ts';
import { startUpstream } from './upstream.ts';

/** All that a stack did. */
export interface StackRun {
  readonly stack: Stack;
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
  const requests = new Map<Version, readonly Buffer[]>();
  try {
    const wsdl = `${gateway.address}/soap11?wsdl`;
    if (stack.builds) {
      const built = await command(stack, 'build.sh', [wsdl, out], buildLimitMs);
      if (!built.ok) return { stack, results: judgeBuild(stack, built), requests };
    }
    const results: Result[] = [];
    for (const version of stack.versions) {
      const endpoint = version === '1.1' ? '/soap11' : '/soap12';
      const complained = upstream.complaints.length;
      relay.takeRequests();
      const finished = await command(stack, 'run.sh', [wsdl, version, out], runLimitMs, {
        ENDPOINT: `${gateway.address}${endpoint}`,
        FAULT_ENDPOINT: `${faultAddress}${endpoint}`,
      });
      requests.set(version, relay.takeRequests());
      const complaints = upstream.complaints.slice(complained);
      results.push(...judgeRun(stack, version, finished, complaints, knownGaps));
    }
    return { stack, results, requests };
  } finally {
    rmSync(out, { recursive: true, force: true });
    await gateway.stop(0);
    relay.close();
    upstream.close();
  }
}

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
