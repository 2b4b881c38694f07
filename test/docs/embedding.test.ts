import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { limitTable } from '../../mappings/contract/limits.ts';
import { documentedNames, printNames } from './exported-names.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
const lend = readFileSync(join(root, 'docs/tutorial/lend.xml'));

/** Runs an example of the page with `soapbridge` resolved to the sources. */
function run(t: ExecutionContext, name: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--conditions=soapbridge-source', `docs/embedding/${name}.mts`], {
    cwd: root,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Starts the library service of the tutorial on a free port. */
async function libraryUpstream(t: ExecutionContext): Promise<string> {
  const upstream = createServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end('{"number":9007199254740993,"isbn":"1","reader":"Zoë","due":"2026-03-28"}');
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  t.teardown(() => upstream.close());
  return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/api`;
}

/** Runs an example that serves. Returns its address and a function that stops it as an operator would. */
async function serve(t: ExecutionContext, name: string) {
  const child = run(t, name, { UPSTREAM_URL: await libraryUpstream(t) });
  const [chunk] = await once(child.stdout, 'data');
  const port = /port: (\d+)/.exec(String(chunk))?.[1] ?? '';
  child.stdout.resume();
  return {
    base: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      return once(child, 'exit');
    },
  };
}

async function callSoap(url: string): Promise<string> {
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', Connection: 'close' };
  return (await fetch(url, { method: 'POST', headers, body: lend })).text();
}

test('docs/embedding.md: the Koa application serves its own routes and the contract, and stops', async (t) => {
  const { base, stop } = await serve(t, 'koa');
  t.is(await (await fetch(`${base}/hello`)).text(), 'hello\n');
  t.regex(await callSoap(`${base}/library/soap11`), /<number>9007199254740993<\/number>/);
  t.deepEqual(await stop(), [0, null]);
});

test('docs/embedding.md: the plain server serves the contract and its own page, and stops', async (t) => {
  const { base, stop } = await serve(t, 'node-http');
  t.regex(await callSoap(`${base}/soap11`), /<number>9007199254740993<\/number>/);
  t.regex(await (await fetch(`${base}/metrics`)).text(), /^soapbridge_requests_total\{.*\} 1$/m);
  t.deepEqual(await stop(), [0, null]);
});

test('docs/embedding.md: the upstream function answers calls', async (t) => {
  const { base, stop } = await serve(t, 'fetch');
  t.regex(await callSoap(`${base}/soap11`), /<number>1<\/number>.*<reader>Zoë<\/reader>/);
  t.deepEqual(await stop(), [0, null]);
});

test('docs/embedding.md: the Koa application sends calls to the real service by its own client', async (t) => {
  const { base, stop } = await serve(t, 'koa-fetch');
  t.regex(await callSoap(`${base}/library/soap11`), /<number>9007199254740993<\/number>/);
  t.deepEqual(await stop(), [0, null]);
});

test('docs/embedding.md: hooks report calls, and SIGHUP reloads the contract', async (t) => {
  const child = run(t, 'hooks', { UPSTREAM_URL: await libraryUpstream(t) });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const has = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(printed);
      if (found !== null) return found[1] ?? '';
      await once(child.stdout, 'data');
    }
  };
  const base = `http://127.0.0.1:${await has(/port: (\d+)/)}`;
  await callSoap(`${base}/soap11`);
  await has(/^lend 200 ok$/m);
  child.kill('SIGHUP');
  await has(/^reloaded$/m);
  t.regex(await callSoap(`${base}/soap11`), /<number>9007199254740993<\/number>/);
  child.kill('SIGTERM');
  t.deepEqual(await once(child, 'exit'), [0, null]);
});

test('docs/embedding.md: the example of soapbridge/authoring prints what the page shows', async (t) => {
  const child = run(t, 'authoring');
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  t.is(code, 0);
  t.true(page.includes(`\`\`\`\n${printed}\`\`\`\n`), printed);
});

for (const [module, names] of documentedNames(page)) {
  test(`docs/embedding.md: ${module} exports exactly the documented names`, (t) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=soapbridge-source', '--input-type=module', '--eval', printNames(module)],
      { cwd: root, encoding: 'utf8' },
    );
    t.is(status, 0, stderr);
    t.deepEqual(JSON.parse(stdout), names);
  });
}

test('docs/embedding.md: the example without a server prints what the page shows', async (t) => {
  const child = run(t, 'codec');
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  t.is(code, 0);
  t.true(page.includes(`\`\`\`\n${printed}\`\`\`\n`), printed);
});

test('docs/embedding.md names every option of createGateway', (t) => {
  const source = readFileSync(join(root, 'gateway/index.ts'), 'utf8');
  const [, members = ''] = /^export interface GatewayOptions \{\n(.*?)^\}/ms.exec(source) ?? [];
  const [, table = ''] = page.split('## Options of `createGateway`');
  const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  t.deepEqual(
    named,
    [...members.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name),
  );
});

test('docs/embedding.md names every limit that only serve’s own listener applies', (t) => {
  const ofListener = ['http/connections.ts', 'http/request-slicer.ts', 'process/listener.ts'];
  const cwd = join(root, 'gateway');
  const wordsOf = (files: readonly string[]): ReadonlySet<string> =>
    new Set(files.flatMap((file) => readFileSync(join(cwd, file), 'utf8').match(/\w+/g) ?? []));
  const known = wordsOf(ofListener);
  const others = wordsOf(globSync('**/*.ts', { cwd }).filter((file) => !ofListener.includes(file)));
  const [, sentence = ''] = /^- (`connections`.*?) have no effect/m.exec(page) ?? [];
  const named = new Set([...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const missing = Object.keys(limitTable).filter(
    (name) => known.has(name) && !others.has(name) && !named.has(name),
  );
  t.deepEqual(missing, []);
});

test('only one function is called loadContract, and every module exports it', (t) => {
  const found = globSync('{console,gateway,mappings,wsdl}/**/*.ts', { cwd: root }).filter((file) =>
    /^export (?:async )?(?:function|const) loadContract\b|\bas loadContract\b/m.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  );
  t.deepEqual(found, ['gateway/process/load-place.ts']);
});
