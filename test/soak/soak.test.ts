import { Agent } from 'node:http';
import test from 'ava';
import { startGateway } from '../gateway/gateway.ts';
import { kinds } from './calls.ts';
import { fewestSamples, grows, growthOf, riseOf, type Sample } from './growth.ts';
import { startUpstream } from './upstream.ts';

test('soak: each kind of call, by an even and an odd number, gets its correct reply', async (t) => {
  const upstream = await startUpstream();
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => {
    agent.destroy();
    upstream.server.closeAllConnections();
    upstream.server.close();
  });
  const { port } = await startGateway(t, { serve: { upstreamUrl: upstream.url } });
  for (const { name, call } of kinds) {
    for (const number of [6, 7]) t.is(await call({ port, agent }, number), undefined, name);
  }
});

test('soak: another call’s reply is wrong', async (t) => {
  const agent = new Agent();
  t.teardown(() => agent.destroy());
  const gateway = await startGateway(t);
  gateway.answer({ body: JSON.stringify({ data: { subUser: { userName: 'echo 99 & <Söhne>' } } }) });
  for (const { name, call } of kinds.filter((kind) => kind.name.startsWith('a small call'))) {
    t.is(await call({ port: gateway.port, agent }, 99), undefined, name);
    t.regex((await call({ port: gateway.port, agent }, 1)) ?? '', /^expected .*echo 1 /, name);
  }
});

/** Returns a sample per minute: `start` and `step` in megabytes, with a saw-tooth of two megabytes. */
function saw(start: number, step: number, count = 30): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    minutes: index,
    bytes: (start + step * index + (index % 4) / 2) * 1e6,
  }));
}

test('soak: memory that rises and falls without growth is flat, one outlier included', (t) => {
  const samples = saw(100, 0);
  t.false(grows(samples, 1e6));
  t.false(grows([...samples, { minutes: 40, bytes: 500e6 }], 1e6));
  t.true(Math.abs(growthOf(samples).slope) < 0.2e6);
});

test('soak: memory that shrinks after the start is flat', (t) => {
  t.false(grows(saw(100, -1), 1e6));
});

test('soak: a leak of 2 MB in 10 minutes is found within fluctuations of that size', (t) => {
  t.true(grows(saw(100, 0.2), 1e6));
  t.true(Math.abs(growthOf(saw(100, 0.2)).slope - 2e6) < 0.3e6);
});

test('soak: growth below the bound passes, and so do too few samples', (t) => {
  t.false(grows(saw(100, 0.05), 1e6));
  t.false(grows(saw(100, 5, fewestSamples - 1), 1e6));
});

test('soak: growth is measured between the ends, whatever single samples are between', (t) => {
  const flat = saw(100, 0);
  t.true(Math.abs(riseOf([...flat.slice(0, 15), { minutes: 15.5, bytes: 900e6 }, ...flat.slice(15)])) < 2e6);
  t.true(Math.abs(riseOf(saw(100, 2)) - 44e6) < 4e6);
});
