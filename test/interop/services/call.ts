import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Line, problemOf } from '../checks.ts';
import { serveContract } from '../gateway.ts';
import { run } from '../run-command.ts';
import type { Stack } from '../stacks.ts';
import { type Service, services } from './checks.ts';
import { serviceGaps } from './gaps.ts';
import { startStores } from './upstream.ts';

/** The result of one check of a stack's client for one service. */
export interface ServiceResult {
  readonly stack: Stack;
  readonly service: Service;
  readonly check: string;
  /** `gap`: fails, and a known gap says why. */
  readonly outcome: 'passed' | 'failed' | 'gap';
  /** What was wrong, or the gap's reason. */
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

/** One stack and one service, before a gateway and a store of their own. */
async function callOne(stack: Stack, service: Service): Promise<readonly ServiceResult[]> {
  const upstream = await startStores();
  const gateway = await serveContract(join(root, service.folder), upstream.url);
  const out = mkdtempSync(join(tmpdir(), `interop-${stack.name}-${service.name}-`));
  try {
    const { output, errors } = await run(
      '/bin/bash',
      ['service.sh', service.name, gateway.wsdl[0] ?? '', out],
      {
        folder: stack.folder,
        limitMs,
        environment: { LANG: 'C.UTF-8', TZ: 'America/New_York' },
      },
    );
    const lines = new Map(linesOf(output).map((line) => [line.situation, line]));
    const said = errors.trim().split('\n').slice(-8).join(' | ');
    return Object.entries(service.checks).map(([check, read]) => {
      const line = lines.get(check);
      const problem =
        line === undefined ? `expected a line of it, got none; ${said}` : problemOf({ read }, '1.1', line);
      const complaint =
        (check === 'write' || check === 'change') && problem === undefined
          ? upstream.complaints[0]
          : undefined;
      return judge({ stack, service, check }, problem ?? complaint);
    });
  } finally {
    rmSync(out, { recursive: true, force: true });
    await gateway.stop();
    upstream.close();
  }
}

/** What a client printed; what isn't a line of JSON tells nothing. */
function linesOf(output: string): readonly Line[] {
  return output.split('\n').flatMap((text) => {
    if (!text.startsWith('{')) return [];
    try {
      return [JSON.parse(text) as Line];
    } catch {
      return []; // so the check has no line, which fails it
    }
  });
}

function judge(
  judged: Pick<ServiceResult, 'stack' | 'service' | 'check'>,
  problem: string | undefined,
): ServiceResult {
  const { stack, service, check } = judged;
  const gap = serviceGaps.find(
    (known) =>
      known.stack === stack.name &&
      known.service === service.name &&
      (known.check === undefined || known.check === check),
  );
  if (problem === undefined && gap === undefined) return { ...judged, outcome: 'passed' };
  if (problem === undefined)
    return { ...judged, outcome: 'failed', why: 'passes, but gaps.ts says that it can’t' };
  return gap === undefined
    ? { ...judged, outcome: 'failed', why: problem }
    : { ...judged, outcome: 'gap', why: gap.reason };
}
