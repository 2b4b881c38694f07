import { request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { type Limits, limitsWith } from '../../../../mappings/contract/limits.ts';
import { readRelatedType, splitRelated, takeParts } from '../../../../mappings/http-mapping/related.ts';
import { contractWith, type Gateway, send, startGateway } from '../../gateway.ts';
import { bytesOf, documents, related, storeDocument } from './related.ts';

/** A gateway with this value of `mtomReplies`. */
async function replying(
  t: ExecutionContext,
  setting = 'requested',
  limits: Partial<Limits> = {},
): Promise<Gateway> {
  const contract = contractWith(t, `mtomReplies: ${setting}`, documents);
  return startGateway(t, { serve: { contract }, limits });
}

interface Told {
  readonly status: number;
  readonly type: string;
  readonly length: number;
  readonly body: Buffer;
}

/** Returns the reply to a request, which by default is an MTOM message. */
function ask(
  { port }: Gateway,
  { headers, body }: ReturnType<typeof related> = related({ root: storeDocument('<name>a.pdf</name>') }),
): Promise<Told> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, path: '/soap11', method: 'POST', headers, agent: false },
      (response) => {
        buffer(response).then((bytes) => {
          const { 'content-type': type = '', 'content-length': length } = response.headers;
          resolve({ status: response.statusCode ?? 0, type, length: Number(length), body: bytes });
        }, reject);
      },
    );
    request.on('error', reject).end(body);
  });
}

const plainType = 'text/xml; charset=utf-8';
const whole = limitsWith({ bodyBytes: 2 ** 30, mimeParts: 1_000 });

/** Returns a reply's envelope and its parts, read with the functions for requests. */
function partsOf({ type, body }: Told) {
  const { root, parts, form } = takeParts(body, splitRelated(body, readRelatedType(type), whole));
  return { envelope: root.toString(), parts, form };
}

test('W66: a reply with a long value is an MTOM message, byte for byte', async (t) => {
  const gateway = await replying(t);
  const content = bytesOf(40_000);
  const thumbnail = bytesOf(300);
  gateway.answer({
    body: JSON.stringify({
      name: 'a.pdf',
      content: content.toString('base64'),
      thumbnail: thumbnail.toString('base64'),
    }),
  });
  const reply = await ask(gateway);
  t.is(reply.status, 200);
  t.is(reply.length, reply.body.length);
  const [, boundary = ''] = /boundary="(soapbridge-[0-9a-f]{32})"$/.exec(reply.type) ?? [];
  t.is(
    reply.type,
    `multipart/related; type="application/xop+xml"; start="<root@soapbridge>"; start-info="text/xml"; boundary="${boundary}"`,
  );
  const envelope = `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><StoreDocumentResponse xmlns="urn:example:documents" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Result><name>a.pdf</name><content><xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:1@soapbridge"/></content><thumbnail>${thumbnail.toString('base64')}</thumbnail></Result></StoreDocumentResponse></s:Body></s:Envelope>`;
  t.deepEqual(
    reply.body,
    Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-ID: <root@soapbridge>\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/xop+xml; charset=utf-8; type="text/xml"\r\n\r\n${envelope}\r\n--${boundary}\r\nContent-ID: <1@soapbridge>\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/octet-stream\r\n\r\n`,
      ),
      content,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  );
});

test('W66: SOAP 1.2 has its own media type in both headers', async (t) => {
  const gateway = await replying(t);
  gateway.answer({ body: JSON.stringify({ content: bytesOf(1_000).toString('base64') }) });
  const root = storeDocument('').replace(
    'http://schemas.xmlsoap.org/soap/envelope/',
    'http://www.w3.org/2003/05/soap-envelope',
  );
  const reply = await ask(gateway, related({ root }));
  t.regex(reply.type, /; start-info="application\/soap\+xml"; /);
  t.regex(
    reply.body.toString('latin1'),
    /application\/xop\+xml; charset=utf-8; type="application\/soap\+xml"\r\n/,
  );
});

for (const [how, write, limits] of [
  ['as it is', (text: string) => text, {}],
  ['with escaped slashes', (text: string) => text.replaceAll('/', '\\/'), {}],
  ['beside the event loop', (text: string) => text, { replyAsideBytes: 1 }],
] as const)
  test(`W67: base64 ${how} becomes the same bytes in its part`, async (t) => {
    const gateway = await replying(t, 'requested', limits);
    for (const length of [768, 769, 770, 9_999, 49_152, 261_120, 261_121, 500_000]) {
      const items = [bytesOf(length), Buffer.alloc(length, 255)];
      const pages = items.map((item) => write(item.toString('base64')));
      gateway.answer({ body: `{"pages":["${pages.join('","')}"]}` });
      const reply = await ask(gateway);
      t.is(reply.length, reply.body.length);
      t.true(reply.type.startsWith('multipart/'), reply.body.toString('latin1', 0, 500));
      const { envelope, parts, form } = partsOf(reply);
      t.is(form, 'mtom');
      t.deepEqual(
        parts.map(({ id }) => id),
        ['1@soapbridge', '2@soapbridge'],
      );
      t.true(parts.every(({ bytes }, index) => bytes.equals(items[index] as Buffer)));
      t.is(envelope.match(/<xop:Include /g)?.length, 2);
    }
  });

test('W65: a reply without long values, or without a request for MTOM, is plain', async (t) => {
  const gateway = await replying(t);
  const never = await replying(t, 'never');
  const short = JSON.stringify({ content: bytesOf(767).toString('base64') });
  const long = JSON.stringify({ content: bytesOf(768).toString('base64') });
  const plain = { headers: { 'Content-Type': 'text/xml' }, body: Buffer.from(storeDocument('')) };
  for (const [local, body, request] of [
    [gateway, short, undefined],
    [gateway, long, plain],
    [gateway, long, related({ form: 'swa', root: storeDocument('') })],
    [never, long, undefined],
  ] as const) {
    local.answer({ body });
    const reply = await ask(local, request);
    t.is(reply.status, 200);
    t.is(reply.type, plainType);
    t.true(reply.body.includes(JSON.parse(body).content));
  }
});

test('W65, W67: a fault is plain, and invalid base64 is reported before the first byte of a reply', async (t) => {
  const gateway = await replying(t);
  const good = bytesOf(3_000).toString('base64');
  gateway.answer({ body: JSON.stringify({ content: good, thumbnail: `${good}-` }) });
  const reply = await ask(gateway);
  t.is(reply.status, 500);
  t.is(reply.type, plainType);
  t.regex(reply.body.toString(), /thumbnail: expected base64/);
});

test('W65: replies to the same call alternate between plain and MTOM', async (t) => {
  const gateway = await replying(t);
  gateway.answer({ body: JSON.stringify({ content: bytesOf(5_000).toString('base64') }) });
  const plain = { headers: { 'Content-Type': 'text/xml' }, body: Buffer.from(storeDocument('')) };
  for (let turn = 0; turn < 3; turn++) {
    t.true((await ask(gateway)).type.startsWith('multipart/related'));
    t.is((await ask(gateway, plain)).type, plainType);
  }
});

test('W68: with policy=mtom the WSDL bindings require MTOM if replies use it', async (t) => {
  const gateway = await replying(t);
  const never = await replying(t, 'never');
  const get = (port: number, query: string) => send(port, 'GET', `/?${query}`);
  const plain = await get(gateway.port, 'wsdl');
  const asking = await get(gateway.port, 'wsdl&policy=mtom');
  const policy =
    /\n *<wsp:Policy xmlns:wsp="http:\/\/schemas\.xmlsoap\.org\/ws\/2004\/09\/policy">\s*<wsoma:OptimizedMimeSerialization xmlns:wsoma="[^"]*\/optimizedmimeserialization"\/>\s*<\/wsp:Policy>/g;
  t.is(asking.status, 200);
  t.is(asking.text.match(policy)?.length, 2);
  t.is(asking.text.replace(policy, ''), plain.text);
  t.not(asking.headers.etag, plain.headers.etag);
  for (const [port, query] of [
    [never.port, 'wsdl&policy=mtom'],
    [gateway.port, 'wsdl&policy=other'],
    [gateway.port, 'wsdl&policy=mtom,other'],
  ] as const)
    t.is((await get(port, query)).status, 404);
});

test('W65: mtomThreshold is the number of bytes from which a value becomes a part', async (t) => {
  const gateway = await replying(t, 'requested\nmtomThreshold: 10');
  const value = (length: number): string => bytesOf(length).toString('base64');
  gateway.answer({ body: `{"content":"${value(10)}","thumbnail":"${value(9)}"}` });
  const { envelope, parts } = partsOf(await ask(gateway));
  t.is(parts.length, 1);
  t.true(envelope.includes(`<thumbnail>${value(9)}</thumbnail>`));
});

for (const wrong of ['0', '1.5', 'many', '3000000000'])
  test(`mtomThreshold: ${wrong} fails at start`, async (t) => {
    await t.throwsAsync(replying(t, `requested\nmtomThreshold: ${wrong}`), {
      message: /mtomThreshold: expected a number of bytes from 1 to 2147483647, got/,
    });
  });
