import test from 'ava';
import { logText } from '../../../gateway/telemetry/request-stats.ts';
import { envelope, keyHeaders, send, startGateway } from '../gateway.ts';

for (const [text, expected] of [
  ['/Old/Service.asmx', '/Old/Service.asmx'],
  ['Mono Web Services "1"', 'Mono Web Services "1"'],
  ['urn:x\u202e', 'urn:x%E2%80%AE'],
  ['a\u0000\u001b[31m\n', 'a%00%1B[31m%0A'],
  ['\ud800', '%EF%BF%BD'],
  ['a'.repeat(201), 'a'.repeat(200)],
  ['é'.repeat(100), '%C3%A9'.repeat(34).slice(0, 200)],
] as const) {
  test(`the log shows ${JSON.stringify(text).slice(0, 40)} in printable ASCII, at most 200 bytes`, (t) => {
    t.is(logText(text), expected);
  });
}

test('the log line of a request without an operation has path and User-Agent, and no query', async (t) => {
  const gateway = await startGateway(t);
  await send(gateway.port, 'GET', '/Old/Service.asmx?wsdl&key=SECRET', { 'User-Agent': 'wsdl.exe "4"' });
  const line = JSON.parse(gateway.log());
  t.like(line, { level: 40, status: 404, path: '/Old/Service.asmx', userAgent: 'wsdl.exe "4"' });
  t.false(gateway.log().includes('SECRET'));
});

test('the log line of a call has no path', async (t) => {
  const gateway = await startGateway(t);
  await gateway.send('POST', '/json/reply/GetSearch', { ...keyHeaders, 'User-Agent': 'a' }, '{}');
  t.false(/"path"|"userAgent"/.test(gateway.log()));
});

test('the level of a log line is 50 for a failure and 40 for a SOAP fault of the caller', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer((_hit, response) => response.destroy());
  const soap = (body: string) => gateway.send('POST', '/soap11', { 'Content-Type': 'text/xml' }, body);
  await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  await soap('junk');
  const header =
    '<b xmlns="urn:x\u202e" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:mustUnderstand="1"/>';
  const body = '<UpdateSubUser xmlns="http://schemas.servicestack.net/types"/>';
  await soap(envelope('1.1', { header, body }));
  const lines = gateway
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.deepEqual(
    lines.map(({ level, fault }) => [level, fault]),
    [
      [50, undefined],
      [40, 'MalformedRequest'],
      [40, 'MustUnderstand'],
    ],
  );
  t.is(lines[2].block, '{urn:x%E2%80%AE}b');
});
