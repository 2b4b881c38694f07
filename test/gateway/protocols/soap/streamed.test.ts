import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { readContract } from '../../../../mappings/loader/load.ts';
import { until } from '../../../until.ts';
import { contractWith, type GatewayOptions, startGateway } from '../../gateway.ts';
import { bytesOf, include } from './related.ts';
import {
  beginning,
  boundary,
  Caller,
  contentType,
  ending,
  putFile,
  startUploads,
  type Upload,
  uploads,
} from './uploads.ts';

/** A gateway in front of a service that accepts files. */
async function start(
  t: ExecutionContext,
  options: GatewayOptions = {},
  handle?: Parameters<typeof startUploads>[1],
) {
  const service = await startUploads(t, handle);
  const gateway = await startGateway(t, {
    ...options,
    serve: { contract: uploads, upstreamUrl: service.url, ...options.serve },
  });
  return { ...service, port: gateway.port, gateway };
}

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const onlyOf = (got: readonly Upload[]): Upload => {
  const [one, ...more] = got;
  if (one === undefined || more.length > 0) throw new RangeError(`expected one upload, got ${got.length}`);
  return one;
};

// --- complete files ----------------------------------------------------------------------------------------

test('W64: streams a file of 32 MiB, twice the size of a buffered message', async (t) => {
  const { port, got } = await start(t);
  const piece = bytesOf(64 * 1024);
  const pieces = 512;
  const expected = createHash('sha256');
  const caller = new Caller(port);
  await caller.send(beginning());
  for (let index = 0; index < pieces; index++) {
    await caller.send(piece);
    expected.update(piece);
  }
  await caller.send(ending);
  const reply = await caller.end();
  t.regex(reply, /^HTTP\/1\.1 200 /);
  t.regex(reply, />33554432</);
  const upload = onlyOf(got);
  t.is(upload.path, '/files/a.bin');
  t.is(upload.headers['content-type'], 'application/octet-stream');
  t.is(upload.headers['transfer-encoding'], 'chunked');
  t.is(upload.end, 'whole');
  t.is(upload.hash, expected.digest('hex'));
});

test('W64: the upstream call starts before the end of the file', async (t) => {
  const { port, got } = await start(t);
  const caller = new Caller(port);
  await caller.send(beginning() + 'a'.repeat(8_000));
  await until(() => got.some(({ bytes }) => bytes > 0));
  await caller.send(ending);
  t.regex(await caller.end(), />8000</);
});

for (const [what, content] of [
  ['no bytes', ''],
  [
    'bytes that look like a boundary but aren’t one',
    `\r\n--upload-\r\n--upload-2\r\n-\r\n\r\n--${'-'.repeat(99)}\r\n`,
  ],
  ['a line end last', 'a\r\n'],
  ['a carriage return last', 'a\r'],
] as const)
  test(`W59, W64: a file of ${what} is the same in packets of one byte and in one packet`, async (t) => {
    const { port, got } = await start(t, { limits: { bodyPieces: 100_000 } });
    const filler = 'x'.repeat(4_000);
    const message = `${beginning(putFile(`<Body>${include('cid:file')}</Body>`))}${content}${ending}`;
    for (const size of [1, message.length]) {
      const caller = new Caller(port);
      for (let at = 0; at < message.length; at += size) await caller.send(message.slice(at, at + size));
      t.regex(await caller.end(), new RegExp(`>${content.length}<`));
    }
    // a file that is long enough to be streamed
    const caller = new Caller(port);
    const long = `${beginning()}${filler}${content}${ending}`;
    for (let at = 0; at < long.length; at += 7) await caller.send(long.slice(at, at + 7));
    t.regex(await caller.end(), new RegExp(`>${filler.length + content.length}<`));
    t.is(got[2]?.hash, sha(Buffer.from(filler + content)));
  });

test('W64: streams a file with Expect: 100-continue, and the connection stays open', async (t) => {
  const { gateway, port, got } = await start(t);
  const body = beginning() + 'a'.repeat(10_000) + ending;
  const head = (connection: string): string =>
    `POST /soap11 HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Type: ${contentType}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  t.is(port, gateway.port);
  const replies = await gateway.raw(head('keep-alive'), body, head('close'), body);
  t.is(replies.match(/HTTP\/1\.1 100 Continue/g)?.length, 2);
  t.is(replies.match(/>10000</g)?.length, 2);
  t.deepEqual(
    got.map(({ end }) => end),
    ['whole', 'whole'],
  );
});

test('W64: other operations of the contract are buffered, and so are other forms of a file', async (t) => {
  const { port, gateway, got } = await start(t);
  const inline = putFile(`<Body>${Buffer.from('abc').toString('base64')}</Body>`);
  const plain = await gateway.raw(
    `POST /soap11 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${inline.length}\r\n\r\n${inline}`,
  );
  t.regex(plain, />3</);
  const encoded = new Caller(port);
  await encoded.send(beginning(undefined, 'Content-Transfer-Encoding: base64\r\n') + 'YWJj'.repeat(2_000));
  await encoded.send(ending);
  t.regex(await encoded.end(), />6000</);
  const note = new Caller(port);
  const picture = '<AddNote xmlns="urn:example:files"><Body><text>a</text>';
  const root = putFile('').replace(
    /<PutFile.*<\/PutFile>/,
    `${picture}<picture>${include('cid:file')}</picture></Body></AddNote>`,
  );
  await note.send(beginning(root) + 'a'.repeat(9_000));
  await note.send(ending);
  await note.end();
  t.deepEqual(
    got.map(({ path, headers }) => [path, headers['content-length']]),
    [
      ['/files/a.bin', '3'],
      ['/files/a.bin', '6000'],
      ['/notes', String('{"text":"a","picture":""}'.length + 12_000)],
    ],
  );
});

test('W64: a file is read from its caller as fast as the upstream reads', async (t) => {
  let readOn = (): void => {};
  const { port, gateway } = await start(t, {}, (request, response) => {
    readOn = () => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"bytes":1}');
      });
    };
  });
  const caller = new Caller(port);
  await caller.send(beginning());
  const piece = bytesOf(256 * 1024);
  // the operating system buffers some megabytes; the gateway holds none of the rest
  let sent = 0;
  for (let isTaken = true; isTaken && sent < 400; sent++) {
    const taken = caller.send(piece).then(() => true);
    isTaken = await Promise.race([taken, pause(1_000, false)]);
  }
  t.true(sent < 200, `${sent} pieces`);
  const metrics = (await gateway.raw('GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).match(
    /soapbridge_held_bytes (\d+)/,
  );
  t.true(Number(metrics?.[1]) < 1024 * 1024, metrics?.[0]);
  readOn();
  await caller.send(ending);
  t.regex(await caller.end(), /^HTTP\/1\.1 200 /);
});

// --- interrupted messages ----------------------------------------------------------------------------------

for (const [what, end, said] of [
  [
    'has no closing boundary',
    '',
    /faultstring>expected the closing boundary at the end of the message, got none/,
  ],
  [
    'has another part behind it',
    `\r\n--${boundary}\r\nContent-ID: <b>\r\n\r\nb${ending}`,
    /faultstring>expected the closing boundary behind the streamed file/,
  ],
  [
    'holds what looks like the closing boundary, and goes on',
    `\r\n--${boundary}--c`,
    /faultstring>expected nothing but blanks behind the closing boundary on its line/,
  ],
  [
    'is followed by too much',
    `${ending}${'x'.repeat(1_100)}`,
    /faultstring>expected at most 1024 bytes behind/,
  ],
] as const)
  test(`W64: a file that ${what} never ends successfully upstream, and is a fault`, async (t) => {
    const { port, got, settled } = await start(t);
    const caller = new Caller(port);
    await caller.send(beginning() + 'a'.repeat(9_000));
    await until(() => got.length > 0);
    await caller.send(end);
    const reply = await caller.end();
    t.regex(reply, /^HTTP\/1\.1 500 /);
    t.regex(reply, said);
    await settled();
    t.is(onlyOf(got).end, 'broken');
  });

test('W64: a caller that leaves during its file leaves the upstream with an incomplete one', async (t) => {
  const { port, got, settled, gateway } = await start(t);
  const caller = new Caller(port);
  await caller.send(beginning() + 'a'.repeat(9_000));
  await until(() => got.length > 0);
  caller.socket.destroy();
  await until(() => got[0]?.end !== 'open');
  await settled();
  t.is(onlyOf(got).end, 'broken');
  await until(() => gateway.log().includes('"operation":"PutFile"'));
});

test('W64: an early response of the upstream is used, and the rest of the file is discarded', async (t) => {
  const { port } = await start(t, {}, (request, response) => {
    request.resume();
    response.writeHead(413, { 'content-type': 'application/json' });
    response.end('{}');
  });
  const caller = new Caller(port);
  await caller.send(beginning() + 'a'.repeat(9_000));
  for (let index = 0; index < 64 && !caller.socket.destroyed; index++) await caller.send(bytesOf(64 * 1024));
  const reply = await caller.reply();
  t.regex(reply, /^HTTP\/1\.1 500 /);
  t.regex(reply, /^X-Status: 413\r$/m);
});

/**
 * Returns a service that answers 200 with a complete reply before it has received the file. It then closes the
 * connection, or reads on.
 */
function answersEarly(connection: 'close' | 'keep-alive') {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const body = '{"bytes":1}';
    const headers = { 'content-type': 'application/json', 'content-length': body.length, connection };
    response.writeHead(200, headers).end(body);
    if (connection === 'keep-alive') request.resume();
  };
}

for (const connection of ['close', 'keep-alive'] as const) {
  test(`W64: an early 200 with Connection: ${connection} reaches the caller once the message is complete`, async (t) => {
    const { port, gateway, settled } = await start(t, {}, answersEarly(connection));
    const caller = new Caller(port);
    await caller.send(beginning() + 'a'.repeat(9_000));
    await settled();
    await caller.send('a'.repeat(9_000));
    await pause(50);
    t.is(caller.received, '');
    await caller.send(ending);
    t.regex(await caller.end(), /^HTTP\/1\.1 200 [\s\S]*>1</);
    t.regex(gateway.log(), /"outcome":"answered"/);
  });

  for (const [what, rest] of [
    ['has no end', undefined],
    ['goes on with another part', `\r\n--${boundary}\r\n\r\nx\r\n--${boundary}--`],
    ['is followed by too much', `${ending}${'x'.repeat(1_100)}`],
  ] as const)
    test(`W64: an early 200 with Connection: ${connection} is no success for a file that ${what}`, async (t) => {
      const { port, gateway, settled } = await start(t, {}, answersEarly(connection));
      const caller = new Caller(port);
      await caller.send(beginning() + 'a'.repeat(9_000));
      await settled();
      if (rest === undefined) caller.socket.end();
      else await caller.send(rest);
      if (rest !== undefined) t.regex(await caller.end(), /^HTTP\/1\.1 500 /);
      await until(() => gateway.log().includes('"outcome"'));
      t.regex(gateway.log(), /"outcome":"unknown"/);
    });
}

test('W64: streamMs: an early 200 is no success for a file that takes longer', async (t) => {
  const { port, settled } = await start(t, { limits: { streamMs: 300 } }, answersEarly('close'));
  const caller = new Caller(port, '/soap11', 'SOAPAction: ""\r\n');
  await caller.send(beginning() + 'a'.repeat(9_000));
  await settled();
  t.regex(await caller.reply(), /^HTTP\/1\.1 500 /);
});

test('W64: errors of the envelope are reported before the upstream is called', async (t) => {
  const { port, got } = await start(t);
  const caller = new Caller(port);
  await caller.send(beginning(putFile(`<Body>${include('cid:other')}</Body>`)) + 'a'.repeat(9_000));
  t.regex(await caller.reply(), /no such part/);
  const unknown = new Caller(port);
  await unknown.send(beginning(putFile('<nothing/>')) + 'a'.repeat(9_000));
  t.regex(await unknown.reply(), /unknown element/);
  t.deepEqual(got, []);
});

for (const [what, unknownElements, header] of [
  ['nothing refers to', 'ignore', ''],
  ['the header alone refers to', 'refuse', '<e:Header><h xmlns="urn:h" href="cid:file"/></e:Header>'],
] as const)
  test(`W64: a call with a file that ${what} is not made before its message ended`, async (t) => {
    const contract = contractWith(t, `unknownElements: ${unknownElements}`, uploads);
    const { port, got } = await start(t, { serve: { contract } });
    const root = putFile('<Body>YWJj</Body>').replace('<e:Body>', `${header}<e:Body>`);
    const cut = new Caller(port);
    await cut.send(beginning(root) + 'a'.repeat(9_000));
    t.regex(await cut.end(), /expected the closing boundary at the end of the message, got none/);
    t.deepEqual(got, []);
    const whole = new Caller(port);
    await whole.send(beginning(root) + 'a'.repeat(9_000) + ending);
    t.regex(await whole.end(), />3</);
    t.is(onlyOf(got).end, 'whole');
  });

test('W59, W64: skips a hundred blanks after a boundary, for any split of packets', async (t) => {
  const { port, got } = await start(t);
  const root = putFile(`<Body>${include('cid:file')}</Body>${' '.repeat(3_000)}`);
  const [before = '', behind = ''] = beginning(root).split('\r\nContent-ID: <file>');
  const caller = new Caller(port);
  await caller.send(before + ' '.repeat(90));
  await pause(50);
  await caller.send(`${' '.repeat(10)}\r\nContent-ID: <file>${behind}${'a'.repeat(9_000)}`);
  await until(() => got.length > 0);
  await caller.send(ending);
  t.regex(await caller.end(), />9000</);
});

test('W64: an unsupported charset is refused as in any other message', async (t) => {
  const { port, gateway } = await start(t);
  const caller = new Caller(port);
  await caller.send(beginning().replace('charset=utf-8', 'charset=ebcdic') + 'a'.repeat(9_000));
  t.regex(await caller.reply(), /^HTTP\/1\.1 415 [\s\S]*charset: expected utf-8 .*, got ebcdic/);
  t.notRegex(gateway.log(), /InternalError/);
});

// --- limits ------------------------------------------------------------------------------------------------

test('streamBytes: a message of 20000 bytes is streamed, one of 20001 is aborted', async (t) => {
  const { port, got, settled } = await start(t, { limits: { streamBytes: 20_000 } });
  const around = beginning().length + ending.length;
  for (const size of [20_000, 20_001]) {
    const caller = new Caller(port, '/soap11', 'SOAPAction: ""\r\n');
    await caller.send(beginning() + 'a'.repeat(9_000));
    await until(() => got.length > 0);
    await caller.send('a'.repeat(size - around - 9_000) + ending);
    const reply = await caller.end();
    t.regex(reply, size === 20_000 ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 500 [\s\S]*X-Status: 413/);
    await settled();
  }
  t.deepEqual(
    got.map(({ end }) => end),
    ['whole', 'broken'],
  );
  const announced = `POST /soap11 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${contentType}\r\nContent-Length: 20000001\r\n\r\n`;
  const { gateway } = await start(t, { limits: { streamBytes: 20_000_000 } });
  t.regex(await gateway.raw(announced), /^HTTP\/1\.1 413 [\s\S]*at most 20000000 bytes/);
});

test('streams: one at a time, a second gets 503, and a later one is accepted', async (t) => {
  const { port, got } = await start(t, { limits: { streams: 1 } });
  const first = new Caller(port);
  await first.send(beginning() + 'a'.repeat(9_000));
  await until(() => got.length > 0);
  const second = new Caller(port);
  await second.send(beginning() + 'a'.repeat(9_000));
  t.regex(await second.reply(), /^HTTP\/1\.1 503 /);
  await first.send(ending);
  t.regex(await first.end(), /^HTTP\/1\.1 200 /);
  const third = new Caller(port);
  await third.send(beginning() + 'a'.repeat(9_000) + ending);
  t.regex(await third.end(), /^HTTP\/1\.1 200 /);
  t.is(got.length, 2);
});

test('streams: one network leaves a slot for others, and gets one more after it releases one', async (t) => {
  const { port, got } = await start(t, {
    limits: { streams: 5 },
    serve: { trustedProxies: ['127.0.0.1'] },
  });
  const begin = async (network: string): Promise<Caller> => {
    const caller = new Caller(port, '/soap11', `X-Forwarded-For: 192.0.2.${network}\r\n`);
    await caller.send(beginning() + 'a'.repeat(9_000));
    return caller;
  };
  const going: Caller[] = [];
  for (let count = 1; count <= 4; count++) {
    going.push(await begin('1'));
    await until(() => got.length === count);
  }
  t.regex(await (await begin('1')).reply(), /^HTTP\/1\.1 503 /);
  going.push(await begin('2'));
  await until(() => got.length === 5);
  t.regex(await (await begin('3')).reply(), /^HTTP\/1\.1 503 /);
  for (const caller of going) {
    await caller.send(ending);
    t.regex(await caller.end(), /^HTTP\/1\.1 200 /);
  }
  const again = await begin('1');
  await again.send(ending);
  t.regex(await again.end(), /^HTTP\/1\.1 200 /);
});

test('streamMs: a file that takes longer is aborted', async (t) => {
  const { port, got, settled } = await start(t, { limits: { streamMs: 300 } });
  const caller = new Caller(port);
  await caller.send(beginning() + 'a'.repeat(9_000));
  const reply = await caller.reply();
  t.regex(reply, /^HTTP\/1\.1 500 [\s\S]*did not respond in time/);
  await settled();
  t.is(onlyOf(got).end, 'broken');
});

test('bodyIdleMs: a file whose caller stops sending is aborted, and the caller gets an error', async (t) => {
  const { port, got, settled } = await start(t, { limits: { bodyIdleMs: 200 } });
  const caller = new Caller(port, '/soap11', 'SOAPAction: ""\r\n');
  await caller.send(beginning() + 'a'.repeat(9_000));
  t.regex(await caller.reply(), /X-Status: 408/);
  await settled();
  t.is(onlyOf(got).end, 'broken');
});

test.serial('bodyMs and totalMs: a streamed file may take longer than other bodies', async (t) => {
  const { port } = await start(t, {
    limits: { bodyMs: 100, totalMs: 500, headersMs: 400, upstreamFirstByteMs: 300 },
  });
  const caller = new Caller(port);
  await caller.send(beginning() + 'a'.repeat(9_000));
  for (let index = 0; index < 8; index++) {
    await pause(100);
    await caller.send('a'.repeat(125));
  }
  await caller.send(ending);
  t.regex(await caller.end(), />10000</);
});

// --- settings of the contract ------------------------------------------------------------------------------

for (const [what, overlay, said] of [
  [
    'an operation whose body is no file',
    'AddNote: { stream: true }',
    '/operations/AddNote/stream: expected none, because the body of AddNote is not binary',
  ],
  [
    'a contract with validate: strict',
    'PutFile: { stream: true }\nvalidate: strict',
    '/operations/PutFile/stream: expected none with validate: strict, which checks all values before the call',
  ],
] as const)
  test(`W64: stream fails at start for ${what}`, (t) => {
    const contract = mkdtempSync(join(tmpdir(), 'uploads-'));
    t.teardown(() => rmSync(contract, { recursive: true }));
    cpSync(uploads, contract, { recursive: true });
    writeFileSync(join(contract, 'soap.yaml'), `dialect: plain\nservice: Files\noperations:\n  ${overlay}\n`);
    const error = t.throws(() => readContract(contract));
    t.true(error?.message.includes(said), error?.message);
  });
