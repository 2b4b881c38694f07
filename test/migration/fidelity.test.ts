import { createHash } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { differences, type RandomExchange, randomExchange, type Seen } from './random-exchanges.ts';
import { RawClient, type RawMessage, type RawStub, startRawStub } from './raw-http.ts';
import { contractFolder, startSite } from './scenario.ts';

const contract = contractFolder('contracts/agency');
/** Number of random exchanges: `FIDELITY=10000 TESTS=whole npx ava test/migration/fidelity.test.ts`. */
const count = Number(process.env.FIDELITY ?? 300);

async function exchangeOver(client: RawClient, stub: RawStub, exchange: RandomExchange): Promise<Seen> {
  stub.reply = exchange.reply;
  stub.request = undefined;
  const reply = await client.send(exchange.request, exchange.pieces);
  const { request } = stub as { request: RawMessage | undefined };
  if (request === undefined) throw new Error(`expected a request, got only a reply: ${reply.line}`);
  return { request, reply };
}

test(`G14, G16: ${count} random exchanges differ from direct ones only in the headers of a gateway`, async (t) => {
  t.timeout(60_000 + count * 100);
  const stub = await startRawStub();
  t.teardown(stub.close);
  const legacy = `http://127.0.0.1:${stub.port}`;
  const site = await startSite(t, { contract, config: { legacy } });
  const [direct, through] = [new RawClient(stub.port), new RawClient(site.port)];
  t.teardown(() => {
    direct.close();
    through.close();
  });
  const seenFeatures = new Map<string, number>();
  const failed: string[] = [];
  for (let seed = 1; seed <= count && failed.length < 20; seed++) {
    const exchange = randomExchange(seed);
    for (const feature of exchange.features) seenFeatures.set(feature, (seenFeatures.get(feature) ?? 0) + 1);
    try {
      const before = await exchangeOver(direct, stub, exchange);
      const after = await exchangeOver(through, stub, exchange);
      const found = differences(before, after, exchange.isHttp10);
      if (found.length > 0) failed.push(`seed ${seed}: ${exchange.features.join(', ')}: ${found.join('; ')}`);
    } catch (error) {
      failed.push(`seed ${seed}: ${exchange.features.join(', ')}: ${String(error)}`);
      direct.close();
      through.close();
    }
  }
  t.deepEqual(failed, []);
  for (const feature of [
    'MTOM',
    'gzip',
    'chunked',
    'trailers',
    'empty',
    'HEAD',
    'HTTP/1.0',
    'interim',
    'reply end',
  ])
    t.true((seenFeatures.get(feature) ?? 0) >= 5, feature);
});

test('G16: the comparison notices each planted change', (t) => {
  const message = (line: string, headers: readonly string[]): RawMessage => ({
    line,
    headers,
    body: Buffer.from('body'),
    isChunked: false,
    trailers: [],
    interim: [['HTTP/1.1 103 Early Hints', 'Link', '</a>']],
  });
  const headers = ['X-One', '1', 'x-Two', 'a, b', 'Content-Length', '4', 'Connection', 'x-hop', 'X-Hop', '1'];
  const seen: Seen = {
    request: message('POST /a?b HTTP/1.1', ['Host', 'a', ...headers]),
    reply: message('HTTP/1.1 200 Own Words', headers),
  };
  const withAdded = message('POST /a?b HTTP/1.1', [...headers, 'Host', 'b', 'X-Forwarded-For', '::1']);
  t.deepEqual(differences(seen, { ...seen, request: withAdded }, false), []);
  const changes: Record<string, Partial<RawMessage>> = {
    line: { line: 'PUT /a HTTP/1.1' },
    'a byte of the body': { body: Buffer.from('bodY') },
    'a missing byte': { body: Buffer.from('bod') },
    'case of a name': { headers: headers.with(0, 'x-one') },
    'a value': { headers: headers.with(3, 'a,b') },
    'a missing header': { headers: headers.slice(2) },
    'another header': { headers: [...headers, 'Via', '1.1 gateway'] },
    order: { headers: ['x-Two', 'a, b', 'X-One', '1', 'Content-Length', '4'] },
    'another length': { headers: headers.with(5, '5') },
  };
  for (const [name, change] of Object.entries(changes))
    for (const side of ['request', 'reply'] as const) {
      const changed = { ...seen, [side]: { ...seen[side], ...change } };
      t.is(differences(seen, changed, false).length, 1, `${side}: ${name}`);
    }
  const interim = { ...seen, reply: { ...seen.reply, interim: [] } };
  t.is(differences(seen, interim, false).length, 1);
  t.is(differences(seen, interim, true).length, 0); // HTTP/1.0 has no interim responses
});

/** A part of a body that is written again and again, and the number of times. */
const piece = Buffer.alloc(64 * 1024, 'file \0 with 漢字\r\n');
const pieces = 1600;
const mebibyte = 1024 * 1024;

/** Counts the bytes of a package of 100 MB between its writer and its slower reader. */
class Transfer {
  readonly #head: string;
  #sent = 0;
  #received = 0;
  /** Maximum number of bytes that were written and not yet read. */
  mostBetween = 0;

  constructor(envelope: string) {
    const type = 'Content-Type: application/xop+xml; type="text/xml"';
    this.#head = `--b\r\n${type}\r\nContent-ID: <r>\r\n\r\n${envelope}\r\n--b\r\nContent-ID: <f>\r\n\r\n`;
  }

  *#bytes(): Generator<Buffer> {
    yield Buffer.from(this.#head);
    for (let count = 0; count < pieces; count++) yield piece;
    yield Buffer.from('\r\n--b--\r\n');
  }

  stream(): Readable {
    const counted = function* (this: Transfer): Generator<Buffer> {
      for (const bytes of this.#bytes()) {
        this.#sent += bytes.length;
        yield bytes;
      }
    };
    return Readable.from(counted.call(this), { objectMode: false, highWaterMark: piece.length });
  }

  digest(): string {
    const hash = createHash('sha256');
    for (const bytes of this.#bytes()) hash.update(bytes);
    return hash.digest('hex');
  }

  /** Reads a message more slowly than the writer writes, and returns its digest. */
  async read(message: IncomingMessage): Promise<string> {
    const hash = createHash('sha256');
    let next = mebibyte;
    for await (const bytes of message as AsyncIterable<Buffer>) {
      hash.update(bytes);
      this.#received += bytes.length;
      this.mostBetween = Math.max(this.mostBetween, this.#sent - this.#received);
      if (this.#received < next) continue;
      next += mebibyte;
      await delay(10);
    }
    return hash.digest('hex');
  }
}

test('G15: of a package of 100 MB at most 48 MB are between the writer and a slow reader', async (t) => {
  t.timeout(120_000);
  const envelope =
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><a:NotifyArrivalRequest xmlns:a="http://desk.example/services/Agency-V2"/></s:Body></s:Envelope>';
  const [up, down] = [new Transfer(envelope), new Transfer(envelope)];
  const type =
    'multipart/related; type="application/xop+xml"; start="<r>"; start-info="text/xml"; boundary=b';
  let received = '';
  const server = createServer(async (request, response) => {
    received = await up.read(request);
    response.writeHead(200, { 'Content-Type': type });
    await pipeline(down.stream(), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const legacy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site = await startSite(t, { contract, config: { legacy } });
  const path = '/agency/services/v2/AgencyPort';
  const headers = { 'Content-Type': type };
  const request = httpRequest({ host: '127.0.0.1', port: site.port, method: 'POST', path, headers });
  const reply = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  await pipeline(up.stream(), request);
  const digest = await down.read(await reply);
  t.is(received, up.digest());
  t.is(digest, down.digest());
  for (const { mostBetween } of [up, down]) {
    t.true(mostBetween <= 48 * mebibyte, `${mostBetween} bytes`);
    t.true(mostBetween > 0);
    t.log(`${(mostBetween / mebibyte).toFixed(1)} MB`);
  }
});
