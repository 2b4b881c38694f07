import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { screeningContract } from '../../mappings/loader/load.ts';
import { checksFile, type Version } from './checks.ts';
import { endpointOf, type Served, serveChanged, serveContract } from './gateway.ts';
import { judgeBuild, judgeDistrust, judgeRun, judgeWire, type Result, type Run } from './judge.ts';
import { knownGaps } from './known-gaps.ts';
import { type Relay, startRelay } from './relay.ts';
import { type Finished, run } from './run-command.ts';
import type { Stack } from './stacks.ts';
import { makeUploads } from './uploads.ts';
import { type Break, type ScriptedUpstream, startUpstream } from './upstream.ts';
import { problemOnTheWire, trusting, type Variant, variants } from './variants.ts';

/** Results of a stack. */
export interface StackRun {
  readonly stack: Stack;
  readonly results: readonly Result[];
  /** The clients' requests by version. */
  readonly requests: ReadonlyMap<Version, readonly Buffer[]>;
}

const buildLimitMs = 300_000;
const runLimitMs = 120_000;

/**
 * Builds the stack's client from the WSDL and runs it in each version and variant, with its own gateways and upstream.
 * A stack without a `run.sh` only calls the other services, and has no results here.
 */
export async function runStack(stack: Stack, broken?: Break): Promise<StackRun> {
  if (!existsSync(join(stack.folder, 'run.sh'))) return { stack, results: [], requests: new Map() };
  const upstream = await startUpstream(broken);
  const plain = await startGateways(upstream, {});
  const out = mkdtempSync(join(tmpdir(), `interop-${stack.name}-`));
  const requests = new Map<Version, readonly Buffer[]>();
  try {
    if (stack.builds) {
      const built = await command(stack, 'build.sh', [plain.wsdl, out], buildLimitMs);
      if (!built.ok) return { stack, results: judgeBuild(stack, built), requests };
    }
    const results: Result[] = [];
    for (const version of stack.versions) {
      plain.relay.takeRequests();
      results.push(...(await runOnce({ stack, version }, plain, upstream, out)));
      requests.set(version, plain.relay.takeRequests());
    }
    const wanted = broken === undefined ? (stack.variants ?? []) : [];
    for (const variant of variants.filter(({ name }) => wanted.includes(name)))
      results.push(...(await runVariant(stack, variant, plain, upstream, out)));
    if (broken === undefined) results.push(...(await makeUploads(stack)));
    return { stack, results, requests };
  } finally {
    rmSync(out, { recursive: true, force: true });
    await plain.stop();
    upstream.close();
  }
}

/** Makes a stack's calls in a variant, in each version, through gateways that accept the variant. */
async function runVariant(
  stack: Stack,
  variant: Variant,
  plain: Gateways,
  upstream: ScriptedUpstream,
  out: string,
): Promise<readonly Result[]> {
  const overlay = variant.overlay();
  const isPlain = Object.keys(overlay).length === 0;
  const gateways = isPlain ? plain : await startGateways(upstream, overlay);
  const { relay } = gateways;
  relay.takeRequests();
  relay.takeReplies();
  try {
    const results: Result[] = [];
    for (const version of stack.versions) {
      const run = { stack, version, variant };
      results.push(...(await runOnce(run, gateways, upstream, out)));
      const problem = problemOnTheWire(variant, relay.takeRequests(), relay.takeReplies());
      results.push(judgeWire(run, problem));
      if (variant.isDistrusted) results.push(await runDistrusted(run, gateways, upstream, out));
    }
    return results;
  } finally {
    if (!isPlain) await gateways.stop();
  }
}

/** Two screening gateways. The second returns upstream errors as faults. The first has a relay in front. */
interface Gateways {
  readonly inBand: Served;
  readonly faults: Served;
  readonly relay: Relay;
  readonly wsdl: string;
  readonly stop: () => Promise<void>;
}

/** @param overlay members of the overlay that differ from the shipped contract */
async function startGateways({ url }: ScriptedUpstream, overlay: object): Promise<Gateways> {
  const relay = await startRelay();
  const isDefault = Object.keys(overlay).length === 0;
  const [inBand, faults] = await Promise.all([
    isDefault ? serveContract(screeningContract, url) : serveChanged(screeningContract, overlay, url),
    serveChanged(screeningContract, { ...overlay, soapErrors: 'fault' }, url),
  ]);
  relay.passTo(inBand.url);
  return {
    inBand,
    faults,
    relay,
    // clients fetch the WSDL through the relay, and call the address in ENDPOINT
    wsdl: `${endpointOf(inBand, '1.1', relay.url)}?wsdl`,
    stop: async () => {
      await Promise.all([inBand.stop(), faults.stop()]);
      relay.close();
    },
  };
}

/** Runs all checks once. */
async function runOnce(
  run: Run,
  gateways: Gateways,
  upstream: ScriptedUpstream,
  out: string,
): Promise<readonly Result[]> {
  const complained = upstream.complaints.length;
  const finished = await runClient(run, gateways, out, run.variant?.environment());
  return judgeRun(run, finished, upstream.complaints.slice(complained), knownGaps);
}

/** Runs the checks with a client that trusts another certificate of the gateway, so it must refuse all replies. */
async function runDistrusted(
  run: Run,
  gateways: Gateways,
  upstream: ScriptedUpstream,
  out: string,
): Promise<Result> {
  const called = upstream.calls.length;
  const finished = await runClient(run, gateways, out, trusting('other'));
  gateways.relay.takeRequests();
  gateways.relay.takeReplies();
  return judgeDistrust(run, finished, upstream.calls.length - called, knownGaps);
}

function runClient(
  { stack, version }: Run,
  { inBand, faults, relay, wsdl }: Gateways,
  out: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return command(stack, 'run.sh', [wsdl, version, out], runLimitMs, {
    ENDPOINT: endpointOf(inBand, version, relay.url),
    FAULT_ENDPOINT: endpointOf(faults, version),
    ...environment,
  });
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
    // a zone other than the contract's, which reveals clients that confuse them
    environment: { CHECKS: checksFile, LANG: 'C.UTF-8', TZ: 'America/New_York', ...environment },
  });
}
