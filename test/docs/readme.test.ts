import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { createReferenceUpstream } from '../../upstream/service.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Returns the fenced blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 'gs'))].map(
    ([, text = '']) => text,
  );
}

test('README: the request gives the upstream call and the reply on the page', async (t) => {
  const upstream = createReferenceUpstream();
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(`${request.method} ${request.url} ${body}`);
    const reply = await upstream.handle({ method: request.method ?? '', path: request.url ?? '', body });
    response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway = await serve({
    contract: screeningContract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'silent',
    drainDelayMs: 0,
  });
  t.teardown(async () => {
    await gateway.stop(0);
    server.close();
    upstream.close();
  });

  const [request = '', reply = ''] = blocks('xml');
  const [call = ''] = blocks('json');
  const answer = await fetch(`${gateway.address}/soap11`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '"UpdateSubUser"' },
    body: request,
  });
  t.is(answer.status, 200);
  t.is(await answer.text(), reply);
  t.deepEqual(bodies, [`POST /json/reply/UpdateSubUser ${call}`]);
});

test('README: every npm script, page and folder on the page exists', (t) => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const named = [...readme.matchAll(/npm (?:run )?([a-z]+)/g)].map(([, name = '']) => name);
  for (const name of new Set(named)) t.true(['ci', 'run'].includes(name) || name in scripts, name);
  for (const [, link = ''] of readme.matchAll(/\]\(([^)#]+)\)/g)) {
    t.true(existsSync(new URL(`../../${link}`, import.meta.url)), link);
  }
});

test('README: links to every page and names every command', (t) => {
  const cwd = new URL('../..', import.meta.url);
  const missing = globSync('docs/*.md', { cwd }).filter((page) => !readme.includes(`](${page}`));
  t.deepEqual(missing, []);
  const commands = readFileSync(new URL('docs/commands.md', cwd), 'utf8').matchAll(/^## ([a-z]+)$/gm);
  const unnamed = [...commands].filter(([, name]) => !new RegExp(`\`${name}\\b`).test(readme));
  t.deepEqual(unnamed, []);
});
