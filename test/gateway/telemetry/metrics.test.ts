import test from 'ava';
import { emptyReply, envelope, getSearch, keyHeaders, send, startGateway } from '../gateway.ts';

test('each request is counted once, by transport and effective status', async (t) => {
  const gateway = await startGateway(t);
  const search = (body: string) => gateway.send('POST', '/json/reply/GetSearch', keyHeaders, body);
  await search('{}');
  await search('{}');
  await search('{');
  const { text } = await send(gateway.port, 'GET', '/metrics');
  t.true(text.includes('requests_total{contract="/v2",transport="json",status="200"} 2\n'), text);
  t.true(text.includes('requests_total{contract="/v2",transport="json",status="400"} 1\n'), text);
  t.true(
    text.includes(
      'operation_requests_total{contract="/v2",operation="GetSearch",transport="json",status="200"} 2\n',
    ),
  );
  t.true(text.includes('request_duration_seconds_count{contract="/v2",transport="json"} 3\n'));
});

test('a SOAP message is counted and logged by the version of its envelope, at either endpoint', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ body: emptyReply });
  const mediaTypes = { '1.1': 'text/xml', '1.2': 'application/soap+xml' } as const;
  const post = (endpoint: string, version: '1.1' | '1.2', body: string) =>
    gateway.send('POST', endpoint, { 'Content-Type': mediaTypes[version] }, envelope(version, { body }));
  for (const endpoint of ['/soap11', '/soap12']) {
    await post(endpoint, '1.1', getSearch);
    await post(endpoint, '1.2', getSearch);
    await post(endpoint, '1.2', '<NoSuchOperation/>');
  }
  const transports = gateway
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).transport);
  t.deepEqual(transports, ['soap11', 'soap12', 'soap12', 'soap11', 'soap12', 'soap12']);
  const { text } = await send(gateway.port, 'GET', '/metrics');
  for (const [transport, calls] of [
    ['soap11', 2],
    ['soap12', 2],
  ] as const)
    t.true(
      text.includes(
        `operation_requests_total{contract="/v2",operation="GetSearch",transport="${transport}",status="200"} ${calls}\n`,
      ),
      text,
    );
});
