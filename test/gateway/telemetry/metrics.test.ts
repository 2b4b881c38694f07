import test from 'ava';
import { keyHeaders, send, startGateway } from '../gateway.ts';

test('each request is counted once, by transport and the status meant', async (t) => {
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
