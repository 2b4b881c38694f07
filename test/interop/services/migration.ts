import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Served, serveContract, serveWith } from '../gateway.ts';
import type { Stack } from '../stacks.ts';
import { callOne, isCalledBy, type ServiceResult } from './call.ts';
import { type Service, services } from './checks.ts';

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
  if (mode === 'legacy' || mode === 'switch') return {};
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
async function startMigration(
  mode: Mode,
  service: Service,
  upstream: string,
): Promise<Omit<Served, 'reload'>> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-migration-'));
  const contract = join(folder, 'contract');
  cpSync(join(root, service.folder), contract, { recursive: true });
  const { operation = '' } = reads[service.name] ?? {};
  const overlay = { operations: { [operation]: { readOnly: true } } };
  writeFileSync(join(contract, 'soap.yaml'), JSON.stringify(overlay));
  const legacy = await serveContract(contract, upstream);
  const config = join(folder, 'soapbridge.yaml');
  const write = (migration: object | undefined): void =>
    writeFileSync(
      config,
      JSON.stringify({ contracts: { '/': { contract, upstream, legacy: legacy.url, migration } } }),
    );
  write(migrationFor(mode, service));
  const front = await serveWith(['--config', config]);
  const ending = new AbortController();
  const switching =
    mode === 'switch'
      ? switchUntil(ending.signal, front, (to) => write(migrationFor(to, service)))
      : undefined;
  return {
    ...front,
    stop: async () => {
      ending.abort();
      await switching;
      await front.stop();
      await legacy.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Changes all routes from legacy to new and back, until `signal`. */
async function switchUntil(signal: AbortSignal, front: Served, write: (to: Mode) => void): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    write(turn % 2 === 0 ? 'new' : 'legacy');
    front.reload();
    await delay(switchMs);
  }
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
