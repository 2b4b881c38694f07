import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { type Place, run, type Served, serve, stepsOf } from './page.ts';

/** Ports on the page: of the gateway, the legacy service and the new service. */
const ports = { gateway: '8080', legacy: '9091', new: '9092' } as const;

/** Replaces durations, times and ids, which differ in each run. */
function steady(printed: string): string {
  return printed
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\d[\d.,]* ms/g, 'MS')
    .replace(/request [\w-]+/g, 'request ID')
    .trimEnd();
}

/** Waits until the gateway has compared a number of calls of GetOpportunityList. Comparisons follow the reply. */
async function awaitComparisons(t: ExecutionContext, { port }: Served, count: number): Promise<void> {
  await until(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const samples = [
      ...metrics.matchAll(/^soapbridge_migration_compared_total\{.*"GetOpportunityList".*\} (\d+)$/gm),
    ];
    return samples.reduce((sum, [, value]) => sum + Number(value), 0) >= count;
  });
  t.pass();
}

/**
 * Runs the commands of "Try it" in docs/migrate.md, and compares their output with the page. Stops the gateway where
 * the page says so: before another gateway starts, and before the state file is read or removed.
 *
 * @param place a folder with a copy of `examples`, whose configuration gets the ports of the services
 * @returns the number of commands that serve, and of compared outputs
 */
export async function walkMigration(
  t: ExecutionContext,
  page: string,
  place: Place,
): Promise<{ readonly served: number; readonly compared: number }> {
  const [walk = ''] = page.split('\n## Requirements\n');
  const environment = { ...place.environment, LEGACY_PORT: '0', NEW_PORT: '0' };
  let gateway: Served | undefined;
  let expected = 0;
  const counts = { served: 0, compared: 0 };
  const stop = async (): Promise<void> => {
    if (gateway !== undefined) await awaitComparisons(t, gateway, expected);
    await gateway?.stop();
    gateway = undefined;
    expected = 0;
  };
  for (const { command, serves, prints } of stepsOf(walk)) {
    if (command.includes('npx soapbridge') || command.startsWith('rm ')) await stop();
    const here = command.replaceAll(ports.gateway, gateway?.port ?? ports.gateway);
    if (serves) {
      const server = await serve(t, here, { ...place, environment });
      counts.served++;
      if (command.includes('legacy.mjs')) usePort(place.folder, ports.legacy, server.port);
      else if (command.includes('new.mjs')) usePort(place.folder, ports.new, server.port);
      else gateway = server;
      continue;
    }
    const { out, code } = await run(t, here, { ...place, environment });
    t.is(code, 0, command);
    if (command.startsWith('for i in 1 2 3;')) expected += 3;
    if (prints === undefined) continue;
    t.is(steady(out), steady(prints), command);
    counts.compared++;
  }
  await stop();
  return counts;
}

/** Replaces a port of the page in the configuration of the example. */
function usePort(folder: string, shown: string, port: string): void {
  for (const name of globSync('examples/migration/*.yaml', { cwd: folder })) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`127.0.0.1:${shown}`, `127.0.0.1:${port}`));
  }
}
