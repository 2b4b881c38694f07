import test from 'ava';
import { Collector } from '../../../gateway/upstream/collector.ts';
import { padding } from '../../../mappings/bytes.ts';
import { fc } from '../../property.ts';
import { elementText, envelope, keyHeaders, sharedGateway, typesNamespace } from '../gateway.ts';

const gateway = await sharedGateway();

const megabyte = 1024 * 1024;

test('a body equals its chunks, for any sizes and any announced length', (t) => {
  const sizes = fc.array(fc.oneof(fc.nat(10), fc.nat(200_000), fc.constant(megabyte)), { maxLength: 8 });
  t.notThrows(() =>
    fc.assert(
      fc.property(sizes, fc.constantFrom(0, 10, megabyte, 5 * megabyte), (lengths, announced) => {
        const pieces = lengths.map((length, index) => Buffer.alloc(length, `${index}é"`));
        const collector = new Collector(true);
        collector.announced = announced;
        for (const piece of pieces) collector.add(piece);
        const { body, runs } = collector.take();
        if (!body.equals(Buffer.concat(pieces))) throw new Error('another body');
        if ((runs !== undefined) !== body.length > megabyte) throw new Error('looked through, or not');
        const behind = new Uint8Array(body.buffer, body.byteOffset + body.length);
        if (runs !== undefined && !behind.subarray(0, padding).every((byte) => byte === 0))
          throw new Error('no zeros');
      }),
      { numRuns: 40 },
    ),
  );
});

test('a small body of one chunk is that chunk, not a copy', (t) => {
  const piece = Buffer.from('{}');
  const collector = new Collector(true);
  collector.add(piece);
  t.is(collector.take().body, piece);
});

const getPdf = `<GetPdf xmlns="${typesNamespace}"><Request><Id>1</Id></Request></GetPdf>`;

/** A reply with a document that is followed by its name. */
function replyWith(documentBytes: string): string {
  return `{"data":{"document":{"documentBytes":"${documentBytes}","name":"Zoë & co","id":7},"responseStatus":{}}}`;
}

for (const [what, bytes] of [
  ['without padding', 3 * megabyte],
  ['with one byte of padding', 3 * megabyte + 2],
  ['with two bytes of padding', 3 * megabyte + 1],
] as const) {
  for (const [how, headers] of [
    ['its length known', true],
    ['in chunks', false],
  ] as const) {
    test.serial(
      `a document of 4 MB of base64 ${what}, ${how}, arrives unchanged in SOAP and XML`,
      async (t) => {
        const base64 = Buffer.alloc(bytes, 'any bytes: \u0000\u0001\u00ff').toString('base64');
        const body = Buffer.from(replyWith(base64));
        gateway.answer({ body, headers: headers ? { 'content-length': String(body.length) } : {} });
        for (const [path, message] of [
          ['/soap11', envelope('1.1', { body: getPdf })],
          ['/soap12', envelope('1.2', { body: getPdf })],
          ['/xml/reply/GetPdf', getPdf],
        ] as const) {
          const reply = await gateway.send('POST', path, keyHeaders, message);
          t.is(reply.status, 200);
          t.is(Number(reply.headers['content-length']), Buffer.byteLength(reply.text));
          t.true(elementText(reply.text, 'DocumentBytes') === base64, path);
          t.is(elementText(reply.text, 'Name'), 'Zoë &amp; co');
          t.is(elementText(reply.text, 'Id'), '7');
          t.regex(reply.text, /<\/GetPdfResponse>(?:<\/s:Body><\/s:Envelope>)?$/);
        }
      },
    );
  }
}

test.serial('a document of 4 MB reaches a JSON caller byte for byte', async (t) => {
  const body = replyWith(Buffer.alloc(3 * megabyte, 'bytes').toString('base64'));
  gateway.answer({ body });
  const reply = await gateway.send('POST', '/json/reply/GetPdf', keyHeaders, '{"request":{"id":1}}');
  t.true(reply.text === body);
});

const letters = Buffer.alloc(3 * megabyte, 'bytes').toString('base64');
for (const [what, bytes] of [
  ['a character that is none of base64', `${letters.slice(0, -8)}AAA!${letters.slice(-4)}`],
  ['a length that base64 can’t have', `${letters}A`],
  ['padding in its middle', `${letters.slice(0, 2_000_000)}A===${letters.slice(2_000_000)}`],
] as const) {
  test.serial(`a document of 4 MB with ${what} is refused like a small one`, async (t) => {
    gateway.answer({ body: replyWith(bytes) });
    const reply = await gateway.send('POST', '/soap11', keyHeaders, envelope('1.1', { body: getPdf }));
    t.is(reply.headers['x-status'], '502');
    t.regex(reply.text, /data\.document\.documentBytes: expected base64, got other text/);
  });
}

test.serial('a document of 4 MB whose slashes are escaped arrives without the escapes', async (t) => {
  const base64 = Buffer.alloc(3 * megabyte, '\u00ff\u00fe?').toString('base64');
  gateway.answer({ body: replyWith(base64.replaceAll('/', '\\/')) });
  const reply = await gateway.send('POST', '/soap11', keyHeaders, envelope('1.1', { body: getPdf }));
  t.true(elementText(reply.text, 'DocumentBytes') === base64);
});

for (const [where, from, to] of [
  ['behind', 'Zoë', 'Zo\u00ff'],
  ['before', '{"data":{', '{"data":{"note":"\u00ff",'],
] as const) {
  test.serial(
    `bytes ${where} a document of 4 MB that are not UTF-8 are refused as in a small reply`,
    async (t) => {
      const text = replyWith(letters).replace('Zoë', () => (where === 'behind' ? 'Zoë' : 'Zoe'));
      gateway.answer({
        body: Buffer.from(
          text.replace(from, () => to),
          'latin1',
        ),
      });
      for (const path of ['/soap11', '/json/reply/GetPdf']) {
        const isJson = path !== '/soap11';
        const body = isJson ? '{"request":{"id":1}}' : envelope('1.1', { body: getPdf });
        const reply = await gateway.send('POST', path, keyHeaders, body);
        t.is(reply.headers['x-status'] ?? String(reply.status), '502');
        t.regex(reply.text, /text that is not UTF-8/);
      }
    },
  );
}
