import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { createOperatorPages } from '../../../console/operators/pages.ts';
import { openAdmin } from '../../../gateway/admin/listener.ts';
import { type AdminRequestOptions, ask, changeToken, entries } from '../../gateway/admin/admin.ts';
import { type Gateway, send, startGateway } from '../../gateway/gateway.ts';
import { until } from '../../until.ts';

type Scope = Pick<ExecutionContext, 'teardown'>;

/**
 * Starts a service of examples/migration on a free port. Returns its address.
 *
 * @param values replacements in its data
 */
async function startService(
  t: Scope,
  file: string,
  values: readonly (readonly [from: string, to: string])[] = [],
): Promise<string> {
  const source = values.reduce(
    (text, [from, to]) => text.replaceAll(from, to.replaceAll('<', '&lt;')),
    readFileSync(`examples/migration/${file}`, 'utf8'),
  );
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    env: { LEGACY_PORT: '0', NEW_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await until(() => /http:\S+\n/.test(out));
  return /http:\S+/.exec(out)?.[0] ?? '';
}

/** A gateway with the contract, services and requests of examples/migration, and its console. */
export interface Console {
  readonly gateway: Gateway;
  /** Runs a statement on the file of the store. */
  readonly store: (sql: string, ...values: (string | number | null)[]) => void;
  /** Address of the console. */
  readonly url: string;
  /** Requests a page or a call with a token of role change. */
  readonly get: (path: string, options?: AdminRequestOptions) => ReturnType<typeof ask>;
  /** Sends calls until the findings are in the store. A busy gateway skips comparisons (G27). */
  readonly findings: () => Promise<void>;
  /** Sends a request of the example, or another one. */
  readonly call: (
    request: 'info' | 'opportunities' | 'submissions',
    headers?: Record<string, string>,
  ) => Promise<string>;
}

/** Settings of the contract, replacements in the data of the legacy service, and settings of the gateway. */
export interface ConsoleOptions {
  readonly migration?: object;
  readonly values?: readonly (readonly [from: string, to: string])[];
  readonly [setting: string]: unknown;
}

/** Path of the contract. */
export const contract = '/agency';

export async function startConsole(
  t: Scope,
  { migration = {}, values, ...config }: ConsoleOptions = {},
): Promise<Console> {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync('examples/migration/agency', join(folder, 'agency'), { recursive: true });
  const [legacy, upstream] = await Promise.all([
    startService(t, 'legacy.mjs', values),
    startService(t, 'new.mjs'),
  ]);
  writeFileSync(join(folder, 'tokens.yaml'), JSON.stringify(entries), { mode: 0o600 });
  writeFileSync(join(folder, 'key'), 'k'.repeat(32), { mode: 0o600 });
  const stated = {
    contracts: {
      [contract]: {
        contract: 'agency',
        upstream,
        legacy,
        migration: {
          ready: { calls: 1, callers: 1, days: 7 },
          compare: {
            rules: [
              { path: 'OpportunityDetails', sameSet: 'FundingOpportunityNumber', reason: 'no defined order' },
            ],
          },
          ...migration,
        },
      },
    },
    store: 'sqlite:store.db',
    admin: { listen: '127.0.0.1:0', tokens: 'tokens.yaml' },
    ...config,
  };
  writeFileSync(join(folder, 'soapbridge.yaml'), JSON.stringify(stated));
  const gateway = await startGateway(t, {
    serve: {
      config: join(folder, 'soapbridge.yaml'),
      callerFiles: { callers: undefined, callerKey: join(folder, 'key') },
      openAdmin: (options) => openAdmin({ ...options, pages: createOperatorPages() }),
    },
  });
  const url = gateway.running.adminUrl ?? '';
  const call: Console['call'] = async (request, headers = {}) => {
    const body = readFileSync(`examples/migration/${request}.xml`);
    const type = { 'Content-Type': 'text/xml; charset=utf-8', ...headers };
    const path = `${contract}/agency/services/v2/AgencyPort`;
    return (await send(gateway.port, 'POST', path, type, body)).text;
  };
  return {
    gateway,
    url,
    store: (sql, ...values) => {
      const database = new DatabaseSync(join(folder, 'store.db'), { timeout: 5_000 });
      database.prepare(sql).run(...values);
      database.close();
    },
    get: (path, options) => ask(url, path, { token: changeToken, ...options }),
    findings: () =>
      until(async () => {
        await call('opportunities');
        await pause(500); // fewer requests than the listener permits
        const { text } = await ask(url, `/${encodeURIComponent(contract)}/findings`, { token: changeToken });
        return text.includes('OfferingAgency value');
      }),
    call,
  };
}
