import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Served, serveContract, serveWith } from '../gateway.ts';
import type { Stack } from '../stacks.ts';
import { callOne, type Gateway, isCalledBy, type ServiceResult } from './call.ts';
import { type Service, services } from './checks.ts';
import { loadPath } from './seen.ts';

// A gateway for an adopted service, with a legacy service and a new service. The legacy service is another gateway
// with the same contract and the same stores, so each mode gives the same values.

const root = join(import.meta.dirname, '../../..');

/** Reads of the services, and the list and key of their replies. */
const reads: Readonly<Record<string, { readonly operation: string; readonly blend?: object }>> = {
  orders: { operation: 'GetOrder', blend: { list: 'GetOrderResult.Line', key: 'Article' } },
  'orders-rpc': { operation: 'getOrder' },
  catalogue: { operation: 'Find', blend: { list: 'Item', key: 'sku' } },
};

type Mode = 'legacy' | 'new' | 'blend' | 'package' | 'switch';

/** Returns `migration` for a mode; undefined if the service does not have it. */
function migrationFor(mode: Mode, { name }: Service): object | undefined {
  const { operation = '', blend } = reads[name] ?? {};
  if (mode === 'legacy') return {};
  if (mode === 'switch') return name === 'orders' ? {} : undefined;
  if (mode === 'new') return { routes: [{ name: 'all', mode }] };
  if (mode === 'package') return { routes: [{ name: 'all', mode: 'new' }], replies: { package: 'always' } };
  if (blend === undefined) return undefined;
  return { routes: [{ name: 'list', operations: [operation], mode }], blend: { [operation]: blend } };
}

function modesOf(stack: Stack): readonly Mode[] {
  const readsPackages = existsSync(join(stack.folder, 'upload.sh'));
  return ['legacy', 'blend', 'switch', ...(readsPackages ? (['package'] as const) : [])];
}

/** Interval of the changes of routes in mode `switch`, in ms. */
const switchMs = 100;

/** Starts the legacy service and the gateway in front of it. */
async function startMigration(mode: Mode, service: Service, upstream: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-migration-'));
  const contract = join(folder, 'contract');
  cpSync(join(root, service.folder), contract, { recursive: true });
  const { operation = '' } = reads[service.name] ?? {};
  const overlay = { operations: { [operation]: { readOnly: true } } };
  writeFileSync(join(contract, 'soap.yaml'), JSON.stringify(overlay));
  const legacy = await serveContract(contract, upstream);
  const config = join(folder, 'soapbridge.yaml');
  const write = (to: Mode): void => {
    const one = { contract, upstream, legacy: legacy.url, migration: migrationFor(to, service) };
    writeFileSync(config, JSON.stringify({ contracts: { '/': one, [loadPath]: one } }));
  };
  write(mode);
  const front = await serveWith(['--config', config]);
  const switching = mode === 'switch' ? switchUnderLoad(front, service, write) : undefined;
  return {
    ...front,
    wsdl: front.wsdl.filter((url) => !url.startsWith(`${front.url}${loadPath}/`)),
    problem: async () => {
      const routed = async (): Promise<string | undefined> =>
        problemOfRoutes(mode, await (await fetch(`${front.url}/metrics`)).text());
      // a quick client ends before the first change
      for (let turn = 0; mode === 'switch' && turn < 100 && (await routed()) !== undefined; turn++)
        await delay(switchMs);
      return (await switching?.end()) ?? (await routed());
    },
    stop: async () => {
      await switching?.end();
      await front.stop();
      await legacy.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns a problem if other modes or sides than those of the mode answered. */
function problemOfRoutes(mode: Mode, metrics: string): string | undefined {
  const samples = metrics.matchAll(
    /^soapbridge_migration_calls_total\{.*mode="(\w+)",side="(\w*)"\} [1-9]/gm,
  );
  const used = [...new Set([...samples].map(([, routed, side]) => `${routed}, side ${side}`))].toSorted();
  const expected: Record<Mode, readonly string[]> = {
    legacy: ['legacy, side legacy'],
    new: ['new, side new'],
    package: ['new, side new'],
    blend: ['blend, side', 'legacy, side legacy'],
    switch: ['legacy, side legacy', 'new, side new'],
  };
  const isExpected = expected[mode].every((start) => used.some((text) => text.startsWith(start)));
  const isOther = used.some((text) => !expected[mode].some((start) => text.startsWith(start)));
  return isExpected && !isOther
    ? undefined
    : `expected ${expected[mode].join(' and ')}, got ${used.join(' and ')}`;
}

/** Changes all routes from legacy to new and back, and reads order 1 all the time, until `end` is called. */
function switchUnderLoad(
  front: Served,
  { path = '' }: Service,
  write: (to: Mode) => void,
): { readonly end: () => Promise<string | undefined> } {
  let isEnded = false;
  let failure: string | undefined;
  const body =
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetOrder xmlns="http://orders.example/"><orderId>1</orderId></GetOrder></s:Body></s:Envelope>';
  const headers = { 'content-type': 'text/xml', soapaction: '"http://orders.example/GetOrder"' };
  const read = async (): Promise<void> => {
    while (!isEnded) {
      const reply = await fetch(`${front.url}${loadPath}${path}`, { method: 'POST', headers, body });
      const text = await reply.text();
      if (reply.status !== 200 || !text.includes('129.50'))
        failure ??= `expected order 1 during a change of routes, got ${reply.status}: ${text.slice(0, 300)}`;
    }
  };
  const change = async (): Promise<void> => {
    for (let turn = 0; !isEnded; turn++) {
      write(turn % 2 === 0 ? 'new' : 'legacy');
      front.reload();
      await delay(switchMs);
    }
  };
  const all = Promise.all([change(), read(), read(), read()]).catch((error: unknown) => {
    failure ??= String(error);
  });
  const end = async (): Promise<string | undefined> => {
    isEnded = true;
    await all;
    return failure;
  };
  return { end };
}

/** Calls the adopted services with each stack in each mode. */
export async function callThroughMigration(stacks: readonly Stack[]): Promise<readonly ServiceResult[]> {
  const results: ServiceResult[] = [];
  for (const stack of stacks)
    for (const service of services)
      for (const mode of modesOf(stack)) {
        if (reads[service.name] === undefined || !isCalledBy(stack, service)) continue;
        if (migrationFor(mode, service) === undefined) continue;
        const titled = { ...service, title: `${service.title}, mode ${mode}` };
        results.push(
          ...(await callOne(stack, titled, (_service, url) => startMigration(mode, service, url))),
        );
      }
  return results;
}
