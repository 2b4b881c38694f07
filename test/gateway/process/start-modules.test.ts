import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { start } from '../commands/run.ts';

const parcels = 'test/fixtures/contracts/parcels';

/** Starts `soapbridge serve`, makes a GET, and returns the modules that the process has loaded until it stopped. */
async function modulesOf(t: ExecutionContext, args: readonly string[], path: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-modules-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'modules.txt');
  const { child, ended, port } = await start(t, args, {
    NODE_OPTIONS: `--import=${new URL('list-modules.ts', import.meta.url).href}`,
    MODULES_FILE: file,
    SOAPBRIDGE_DRAIN_DELAY: '0',
  });
  const headers = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key', Connection: 'close' };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, path, headers }, (reply) => reply.resume().on('end', () => resolve(reply.statusCode)))
      .on('error', reject)
      .end();
  });
  t.is(status, 200);
  child.kill('SIGTERM');
  t.is((await ended).code, 0);
  return readFileSync(file, 'utf8');
}

/** Modules that a call to an OpenAPI contract does not need. */
const unneeded = [
  /\/node_modules\/koa/,
  /\/gateway\/admin\//,
  /\/gateway\/commands\/(?:adopt|check|diff|explain|init|kit|map|names|translate|wsdl)\.ts/,
  /\/gateway\/doctor\//,
  /\/gateway\/migration\//, // G1
  /\/gateway\/store\/(?!store\.ts)/, // G53
  /\/gateway\/protocols\/read-thread\.ts/,
  /\/mappings\/codec\/adopted\//,
  /\/mappings\/loader\/wsdl\/load-adopted\.ts/,
  /\/mappings\/mapping\/load\.ts/,
  /\/wsdl\/derived-openapi\//,
  /^node:(?:http|https|tls)$/m, // see gateway/node-http.ts
];

test('the demo starts and answers with the modules that a call needs', async (t) => {
  const modules = await modulesOf(t, ['--demo'], '/v2/clients/template');
  for (const pattern of unneeded) t.notRegex(modules, pattern);
  for (const pattern of [/\/node_modules\/(?:undici|yaml)\//, /\/mappings\/loader\/build-contract\.ts/])
    t.notRegex(modules, pattern);
  const count = modules.split('\n').length;
  t.true(count <= 335, `${count} modules`);
});

test('an OpenAPI contract starts without the modules for WSDLs, mappings and pages', async (t) => {
  const args = ['--contract', parcels, '--upstream', 'http://127.0.0.1:9'];
  const modules = await modulesOf(t, args, '/post?wsdl');
  for (const pattern of unneeded) t.notRegex(modules, pattern);
  t.regex(modules, /\/mappings\/loader\/build-contract\.ts/);
});

test('the process’s own pages load Koa at their first request', async (t) => {
  t.regex(await modulesOf(t, ['--demo'], '/readyz'), /\/node_modules\/koa\//);
});
