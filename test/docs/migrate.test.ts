import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkMigrations } from '../../gateway/migration/migrations.ts';
import { readConfig } from '../../gateway/process/config.ts';
import { createCallers } from '../../gateway/telemetry/callers.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { readPage } from './page.ts';

// "Try it" has another example
const [, page = ''] = readPage('migrate.md').split('\n## Requirements\n');
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
const [overlay = '', base = '', ...parts] = blocks;

const callers = createCallers({
  namesById: new Map([
    ['a', 'acme'],
    ['t', 'tester'],
  ]),
});

/** Returns the configuration of the first step with another part of the page. */
function configWith(part: string): string {
  if (/^ {4}legacy:/.test(part)) return base.replace(/^ {4}legacy:.*\n/m, part);
  return base + (/^ {6}routes:/.test(part) ? `    migration:\n${part}` : part);
}

test('docs/migrate.md: the gateway accepts each example for the orders service', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-migrate-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'orders'));
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'orders/Orders.wsdl'));
  writeFileSync(join(folder, 'orders/soap.yaml'), overlay);
  const file = join(folder, 'soapbridge.yaml');
  t.true(parts.length >= 6);
  process.env.HOSTNAME = 'gateway-0';
  const states: (string | undefined)[] = [];
  for (const part of ['', ...parts]) {
    // a client certificate is needed for a fingerprint
    const listener = 'clientCertificate: { header: X-Certificate, from: fingerprint }\n';
    writeFileSync(file, configWith(part) + listener);
    const [site] = readConfig(file);
    const plan = site?.legacy;
    if (plan === undefined) throw new Error('expected a plan of the legacy service');
    states.push(plan.stated.state);
    const { contract } = readContract(join(folder, 'orders'));
    const [checked] = checkMigrations([{ contract, plan, unmapped: [] }], callers, []);
    t.deepEqual(checked?.warnings, []);
  }
  t.true(states.includes('orders-state-gateway-0.json'));
});
