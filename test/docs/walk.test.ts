import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { startGateway } from '../gateway/gateway.ts';

const root = join(import.meta.dirname, '../..');

/** The rows of the walk in ARCHITECTURE.md: a file and the functions to start with. */
const walk = [
  ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^\| \d+ \| `([^`]+)` \| (.*) \|$/gm),
].map(([, file = '', words = '']) => ({
  file,
  functions: [...words.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
}));

const request = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><UpdateSubUser xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserId>demo</ApiUserId><ApiUserKey>demo-key</ApiUserKey></Authentication><Request><SubUserName>walker</SubUserName></Request></UpdateSubUser></s:Body></s:Envelope>`;
const reply =
  '{"data":{"subUser":{"userName":"walker","permissions":[]},"responseStatus":null},"errors":null}';

test('a call runs every function on the path in ARCHITECTURE.md, in at most 25 files', async (t) => {
  const session = new Session();
  session.connect();
  t.teardown(() => session.disconnect());
  await session.post('Profiler.enable');
  // starts before the gateway is created, since some functions compile code for calls
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const gateway = await startGateway(t);
  gateway.answer({ body: reply });
  const answer = await gateway.send('POST', '/soap11', { 'Content-Type': 'text/xml' }, request);
  t.is(answer.status, 200);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const run = new Map(
    result.map(({ url, functions }) => [
      url,
      new Set(
        functions
          .filter(({ ranges: [range] }) => (range?.count ?? 0) > 0)
          .map(({ functionName }) => functionName),
      ),
    ]),
  );
  t.true(walk.length > 15 && walk.length <= 25, `${walk.length} files`);
  const missed = walk.flatMap(({ file, functions }) =>
    functions
      .filter((name) => run.get(pathToFileURL(join(root, file)).href)?.has(name) !== true)
      .map((name) => `${file} ${name}`),
  );
  t.deepEqual(missed, []);
});
