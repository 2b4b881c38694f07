import { fileURLToPath } from 'node:url';
import test from 'ava';
import { withConstants } from '../../constant-limits.ts';
import { file } from './file.ts';
import { run } from './run.ts';

const contract = ['--contract', fileURLToPath(new URL('../doctor/contract', import.meta.url))];
const envelope = (payload: string) =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${payload}</s:Body></s:Envelope>`;
const wrong = envelope('<FindOder xmlns="urn:Orders"><id>42</id></FindOder>');

test('explain reports each problem of a file with its position, and prints the corrected message', async (t) => {
  const path = file(t, wrong, 'message.xml');
  const flags = ['--content-type', 'text/xml', '--soapaction', '"FindOrder"'];
  const { code, out, err } = await run(t, ['explain', path, ...contract, ...flags]).ended;
  t.deepEqual([code, err], [1, '']);
  t.regex(out, /message\.xml calls FindOrder: 1 error, 0 warnings\n/);
  t.regex(
    out,
    /error: line 1, column 73: <FindOder> is not an operation of this service: did you mean <FindOrder>\?/,
  );
  t.regex(
    out,
    /\(the gateway accepts it\):\n\nContent-Type: text\/xml; charset=utf-8\nSOAPAction: "FindOrder"\n\n<\?xml/,
  );
});

test('explain reads the HTTP head of a copied request, and prints none of its credentials', async (t) => {
  const head = 'POST /soap11 HTTP/1.1\r\nContent-Type: application/soap+xml\r\nX-Api-Key: k-secret\r\n\r\n';
  const { code, out } = await run(t, ['explain', '-', ...contract], {}, head + wrong).ended;
  t.is(code, 1);
  t.regex(out, /warning: HTTP headers: SOAP 1\.2 content type on a 1\.1 envelope/);
  t.notRegex(out, /secret/);
});

test('explain exits with 0 for a correct message, and prints JSON for scripts', async (t) => {
  const right = envelope('<FindOrder xmlns="urn:Orders"><id>42</id></FindOrder>');
  const { code, out } = await run(t, ['explain', '-', ...contract, '--json'], {}, right).ended;
  const { operation, findings, corrected } = JSON.parse(out);
  t.deepEqual([code, operation, findings, corrected.isTaken], [0, 'FindOrder', [], true]);
});

test('explain exits with 2 and a sentence for a missing file and for a too long message', async (t) => {
  const none = await run(t, ['explain', 'nowhere.xml', ...contract]).ended;
  t.deepEqual(
    [none.code, none.err],
    [2, 'expected a file with a message, or - for standard input, got "nowhere.xml"\n'],
  );
  const environment = withConstants({ explainBytes: 10 });
  const long = await run(t, ['explain', '-', ...contract], environment, wrong).ended;
  t.deepEqual([long.code, long.err], [2, 'expected a message of at most 10 bytes, got a longer message\n']);
});
