import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Line, problemOf, type Version } from '../checks.ts';
import { type Served, serveContract } from '../gateway.ts';
import { type Finished, run } from '../run-command.ts';
import type { Stack } from '../stacks.ts';
import { type Service, services } from './checks.ts';
import { serviceGaps } from './gaps.ts';
import { importProblem, type Seen, versionProblem, watchRequests } from './seen.ts';
import { startStores } from './upstream.ts';

/** The result of one check of a stack's client for one service, in one SOAP version. */
export interface ServiceResult {
  readonly stack: Stack;
  readonly service: Service;
  readonly version: Version;
  /** `import`, or a key of the service's `checks`. */
  readonly check: string;
  /** `gap`: fails for a known reason. */
  readonly outcome: 'passed' | 'failed' | 'gap';
  /** The problem, or the gap's reason. */
  readonly why?: string;
}

const root = join(import.meta.dirname, '../../..');
const limitMs = 300_000;

/** Calls the services with each stack that has a `service.sh`, two stacks at a time. */
export async function callServices(stacks: readonly Stack[]): Promise<readonly ServiceResult[]> {
  const able = stacks.filter(({ folder }) => existsSync(join(folder, 'service.sh')));
  const waiting = able.values();
  const results: ServiceResult[] = [];
  const work = async (): Promise<void> => {
    for (const stack of waiting)
      for (const service of services)
        if (isCalledBy(stack, service)) results.push(...(await callOne(stack, service)));
  };
  await Promise.all([work(), work()]);
  const order = (result: ServiceResult): number => able.indexOf(result.stack);
  return results.toSorted((a, b) => order(a) - order(b));
}

/** Returns true if the stack has a program for the service: for all services unless its `stack.json` lists them. */
export function isCalledBy(stack: Stack, { name }: Service): boolean {
  return existsSync(join(stack.folder, 'service.sh')) && (stack.services?.includes(name) ?? true);
}

/** The SOAP versions in which a stack calls a service: those that both have. */
export function versionsOf(stack: Stack, service: Service): readonly Version[] {
  return service.versions.filter((version) => stack.versions.includes(version));
}

/** Starts the gateway that a stack calls, in front of the stores. */
type Start = (service: Service, upstreamUrl: string) => Promise<Gateway>;

/** A gateway for one stack and service. */
export interface Gateway extends Pick<Served, 'url' | 'wsdl' | 'stop'> {
  /** Returns a problem of the gateway after all calls; absent if nothing else is checked. */
  readonly problem?: () => Promise<string | undefined>;
}

const startPlain: Start = (service, upstreamUrl) => serveContract(join(root, service.folder), upstreamUrl);

/** Calls one service with one stack in each version, with a separate gateway and store. */
export async function callOne(
  stack: Stack,
  service: Service,
  startGateway: Start = startPlain,
): Promise<readonly ServiceResult[]> {
  const upstream = await startStores();
  const gateway = await startGateway(service, upstream.url);
  const read = watchRequests(gateway.url);
  const out = mkdtempSync(join(tmpdir(), `interop-${stack.name}-${service.name}-`));
  try {
    const results: ServiceResult[] = [];
    for (const version of versionsOf(stack, service)) {
      upstream.reset();
      const before = await read();
      const finished = await run(
        '/bin/bash',
        ['service.sh', service.name, gateway.wsdl[0] ?? '', out, version],
        {
          folder: stack.folder,
          limitMs,
          environment: { LANG: 'C.UTF-8', TZ: 'America/New_York' },
        },
      );
      const seen = [before, await read()] as const;
      results.push(...judgeAll({ stack, service, version }, finished, upstream.complaints, seen));
    }
    const [version = '1.1'] = versionsOf(stack, service);
    if (gateway.problem !== undefined)
      results.push(judge({ stack, service, version, check: 'routes' }, await gateway.problem()));
    return results;
  } finally {
    rmSync(out, { recursive: true, force: true });
    await gateway.stop();
    upstream.close();
  }
}

/** The stack, the service and the version of a run. */
type Called = Pick<ServiceResult, 'stack' | 'service' | 'version'>;

/** @param seen the counters of the gateway before and after the run */
function judgeAll(
  called: Called,
  { output, errors }: Finished,
  complaints: readonly string[],
  [before, after]: readonly [Seen, Seen],
): readonly ServiceResult[] {
  const { service, version } = called;
  const wire = versionProblem(before, after, version);
  const lines = new Map(linesOf(output).map((line) => [line.situation, line]));
  const said = errors.trim().split('\n').slice(-8).join(' | ');
  const imported = judge({ ...called, check: 'import' }, importProblem(before, after, version));
  const others = Object.entries(service.checks).map(([check, read]) => {
    const line = lines.get(check);
    const problem =
      line === undefined ? `expected a line of it, got none; ${said}` : problemOf({ read }, version, line);
    const complaint =
      (check === 'write' || check === 'change') && problem === undefined ? complaints[0] : undefined;
    return judge({ ...called, check }, problem ?? wire ?? complaint);
  });
  return [imported, ...others];
}

/** Reads a client's output. Lines that are not JSON are ignored. */
function linesOf(output: string): readonly Line[] {
  return output.split('\n').flatMap((text) => {
    if (!text.startsWith('{')) return [];
    try {
      return [JSON.parse(text) as Line];
    } catch {
      return []; // without a line, the check fails
    }
  });
}

function judge(judged: Called & Pick<ServiceResult, 'check'>, problem: string | undefined): ServiceResult {
  const { stack, service, version, check } = judged;
  const gap = serviceGaps.find(
    (known) =>
      known.stack === stack.name &&
      (known.service === undefined || known.service === service.name) &&
      (known.version === undefined || known.version === version) &&
      (known.check === undefined || known.check === check),
  );
  if (problem === undefined && gap === undefined) return { ...judged, outcome: 'passed' };
  if (problem === undefined)
    return { ...judged, outcome: 'failed', why: 'passes, but gaps.ts says that it can’t' };
  return gap === undefined
    ? { ...judged, outcome: 'failed', why: problem }
    : { ...judged, outcome: 'gap', why: gap.reason };
}
