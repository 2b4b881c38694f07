import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type Network, newNetwork, RequestSlicer } from '../../../gateway/http/request-slicer.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import { emptyReply, startGateway } from '../gateway.ts';

const slice = 2 * 1024;
const usual = { ...defaultLimits, parsingMs: 10_000, parsingSliceUs: 10_000_000 };

/** Blocks the thread. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/**
 * Starts `RequestSlicer` with connections and a parser that accepts everything. Each 'data' listener acts like Node's
 * own.
 */
async function startReading(
  t: ExecutionContext,
  given: Partial<Limits>,
  parse: (socket: Socket) => void = () => {},
) {
  const connections = new Map<Socket, Network>();
  const turns = new RequestSlicer({ ...usual, ...given }, () => connections);
  const first = newNetwork(false);
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  t.teardown(() => server.close());
  const open = async (network = first) => {
    const caller = connect(port, '127.0.0.1').on('error', () => {});
    const [socket]: [Socket] = await once(server, 'connection').then(([accepted]) => [accepted]);
    const pieces: Buffer[] = [];
    const own = (data: Buffer | string): void => {
      pieces.push(Buffer.from(data));
      parse(socket);
    };
    socket.on('error', () => {}).on('data', own);
    connections.set(socket, network);
    turns.add(socket, network);
    t.teardown(() => {
      caller.destroy();
      socket.destroy();
    });
    return {
      caller,
      socket,
      pieces,
      network,
      isSliced: () => !socket.listeners('data').includes(own),
      text: () => Buffer.concat(pieces).toString(),
    };
  };
  return { turns, open };
}

async function openMany<Opened>(count: number, open: () => Promise<Opened>): Promise<Opened[]> {
  const opened: Opened[] = [];
  while (opened.length < count) opened.push(await open());
  return opened;
}

/** Switches all connections to slices, if `parsingMs` is 0. */
function begin(turns: RequestSlicer): void {
  const any = new Socket();
  const network = newNetwork(false);
  turns.note(any, network);
  turns.note(any, network);
}

/** A text in which all positions can be distinguished. */
function numbered(bytes: number): string {
  let text = '';
  for (let number = 0; text.length < bytes; number++) text += `${number} `;
  return text.slice(0, bytes);
}

/** Reports `count` parsed requests of a connection, each after `ms` milliseconds. */
function give(
  turns: RequestSlicer,
  { socket, network }: { readonly socket: Socket; readonly network: Network },
  count: number,
  ms = 0,
): void {
  for (let each = 0; each < count; each++) {
    turns.note(socket, network);
    work(ms);
  }
}

test('parsingMs: pipelined parsing may take that long per iteration; then connections are sliced', async (t) => {
  const patient = await startReading(t, { parsingMs: 10_000 });
  const there = await patient.open();
  give(patient.turns, there, 4, 20);
  t.false(there.isSliced());
  const strict = await startReading(t, { parsingMs: 30 });
  const [one, other] = [await strict.open(), await strict.open()];
  await turn();
  give(strict.turns, one, 4, 20);
  t.deepEqual([one.isSliced(), other.isSliced()], [true, true]);
});

test('parsingMs: other iterations and single requests of each connection do not count', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 100 });
  const [one, other] = [await open(), await open()];
  for (let round = 0; round < 4; round++) {
    give(turns, one, 2, 15);
    await turn();
    await turn();
  }
  for (let round = 0; round < 8; round++) {
    give(turns, one, 1, 15);
    give(turns, other, 1, 15);
  }
  t.false(one.isSliced());
});

test('parsingWatchMs: new connections are sliced for that long after an overload, later ones not', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingWatchMs: 60_000 });
  const first = await open();
  t.false(first.isSliced());
  give(turns, first, 2);
  t.true((await open()).isSliced());
  const short = await startReading(t, { parsingMs: 0, parsingWatchMs: 1 });
  give(short.turns, await short.open(), 2);
  await pause(20);
  t.false((await short.open()).isSliced());
});

test('parsingSliceUs: an iteration parses slices until it has passed; the next one continues', async (t) => {
  const perTurn: number[] = [];
  let inTurn = 0;
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 12_000 }, () => {
    inTurn++;
    work(5);
  });
  const { caller, text } = await open();
  begin(turns);
  const sent = numbered(20 * slice);
  caller.write(sent);
  while (text().length < sent.length) {
    await turn();
    if (inTurn > 0) perTurn.push(inTurn);
    inTurn = 0;
  }
  t.is(text(), sent);
  t.true(perTurn.length >= 5, `${perTurn}`);
  // an iteration as counted here may contain data from before its slices
  t.true(
    perTurn.every((slices) => slices <= 6),
    `${perTurn}`,
  );
});

/** An iteration in which each connection has a request that takes `ms` milliseconds. */
async function crowdedTurn(
  turns: RequestSlicer,
  connections: readonly { readonly socket: Socket; readonly network: Network }[],
  ms: number,
): Promise<void> {
  for (const connection of connections) give(turns, connection, 1, ms);
  await turn();
  await turn();
}

test('parsingMs: two iterations of one network’s burst may take that long per second, then slices', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 20 });
  const crowd = await openMany(16, open);
  const other = await open(newNetwork(false));
  await turn();
  await crowdedTurn(turns, crowd, 2);
  t.false(other.isSliced());
  await crowdedTurn(turns, crowd, 2);
  t.deepEqual([other.isSliced(), crowd[0]?.isSliced()], [true, true]);
});

for (const [what, requests, parsingMs, isProxy, hasOther] of [
  ['fewer requests', 15, 20, false, true],
  ['requests of a shorter turn', 16, 10_000, false, true],
  ['requests of a proxy', 16, 20, true, true],
  ['requests while nobody else is connected', 16, 20, false, false],
] as const)
  test(`${what} are not a burst`, async (t) => {
    const { turns, open } = await startReading(t, { parsingMs });
    const network = newNetwork(isProxy);
    const crowd = await openMany(requests, () => open(network));
    if (hasOther) await open(newNetwork(false));
    await turn();
    for (let round = 0; round < 3; round++) await crowdedTurn(turns, crowd, 2);
    t.false(crowd[0]?.isSliced());
  });

test('bytes of another network are parsed at once, however large a burst of one network waits', async (t) => {
  let order = '';
  const honest = newNetwork(false);
  const others = new Set<Socket>();
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, (socket) => {
    order += others.has(socket) ? 'o' : 'c';
    work(3);
  });
  const crowd = await openMany(30, open);
  const other = await open(honest);
  others.add(other.socket);
  begin(turns);
  for (const { caller } of crowd) caller.write('one slice');
  await until(() => order.length >= 1);
  other.caller.write('one slice');
  await until(() => other.pieces.length > 0);
  t.true(order.length < 10, order);
  await until(() => crowd.every(({ pieces }) => pieces.length > 0));
});

test('two bursts are parsed alternately', async (t) => {
  let order = '';
  const names = new Map<Socket, string>();
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, (socket) => {
    order += names.get(socket);
    work(2);
  });
  const second = newNetwork(false);
  const one = await openMany(20, open);
  const other = await openMany(20, () => open(second));
  for (const { socket } of one) names.set(socket, 'a');
  for (const { socket } of other) names.set(socket, 'b');
  begin(turns);
  for (const { caller } of [...one, ...other]) caller.write('one slice');
  await until(() => order.length === 40);
  // all connections wait before the first slices are done, so the middle contains equally many of each
  const middle = order.slice(10, 30);
  const ofOne = middle.split('a').length - 1;
  t.true(ofOne >= 7 && ofOne <= 13, order);
});

test('while connections are accepted, a waiting slice is parsed every eighth iteration', async (t) => {
  let inTurn = 0;
  const perTurn: number[] = [];
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000_000 }, () => {
    inTurn++;
  });
  const crowd = await openMany(12, open);
  begin(turns);
  const blocker = await open();
  blocker.caller.write('x'.repeat(200 * slice)); // one connection of its network waits from now on
  await until(() => inTurn > 0);
  for (const { caller } of crowd) caller.write('one slice');
  await pause(20);
  const any = new Socket();
  inTurn = 0;
  for (let round = 0; round < 33; round++) {
    turns.add(any, blocker.network);
    await turn();
    perTurn.push(inTurn);
    inTurn = 0;
  }
  // the first iteration began earlier
  const slices = perTurn.slice(1).filter((count) => count > 0);
  t.deepEqual(slices, [1, 1, 1, 1], `${perTurn}`);
});

test('slices of 2 KiB parse everything in order, however much was sent at once', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0 });
  const connections: ({ readonly bytes: number } & Awaited<ReturnType<typeof open>>)[] = [];
  for (const bytes of [1, slice, slice + 1, 300_000]) connections.push({ bytes, ...(await open()) });
  begin(turns);
  for (const { caller, bytes } of connections) caller.write(numbered(bytes));
  await until(() => connections.every(({ bytes, text }) => text().length === bytes));
  for (const { bytes, text, pieces } of connections) {
    t.is(text(), numbered(bytes));
    t.true(pieces.every(({ length }) => length <= slice));
  }
});

test('a slice ends after its second head, so a disconnected caller starts no more requests', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0 });
  const { caller, pieces } = await open();
  begin(turns);
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  caller.write(get.repeat(5));
  await until(() => pieces.length === 3);
  t.deepEqual(pieces.map(String), [get + get, get + get, get]);
});

test('a new connection is parsed before one that sent much', async (t) => {
  let order = '';
  const names = new Map<Socket, string>();
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 5_000 }, (socket) => {
    order += names.get(socket);
    work(5);
  });
  const [much, little] = [await open(), await open()];
  names.set(much.socket, 'm').set(little.socket, 'l');
  begin(turns);
  much.caller.write(numbered(64 * slice));
  await until(() => order.length >= 2);
  little.caller.write('one slice');
  await until(() => little.pieces.length > 0);
  t.true(order.length < 64, order);
  await until(() => much.text().length === 64 * slice);
  t.is(much.text(), numbered(64 * slice));
});

test('a single request waits at most one iteration of slices, however much was sent before', async (t) => {
  let order = '';
  const little = new Set<Socket>();
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, (socket) => {
    order += little.has(socket) ? 'l' : 'm';
    work(3);
  });
  const crowd = await openMany(20, open);
  const honest = await open();
  little.add(honest.socket);
  begin(turns);
  for (const { caller } of crowd) caller.write(numbered(8 * slice));
  await until(() => order.length >= 2);
  honest.caller.write('one slice');
  await until(() => honest.pieces.length > 0);
  // all twenty connections wait, and most of them have not been parsed at all
  t.true(order.length < 20, order);
  await until(() => crowd.every(({ text }) => text().length === 8 * slice));
});

test('connections that sent more than a slice leave most of the time to others', async (t) => {
  let workedMs = 0;
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, () => {
    work(2);
    workedMs += 2;
  });
  const crowd = await openMany(5, open);
  begin(turns);
  const began = performance.now();
  for (const { caller } of crowd) caller.write(numbered(8 * slice));
  await until(() => crowd.every(({ text }) => text().length === 8 * slice));
  const tookMs = performance.now() - began;
  t.is(workedMs, 80);
  t.true(tookMs > 2.5 * workedMs, `${tookMs}`); // there is no pause before the first slices and after the last
});

test('a reader that asks for more before its slice does not buffer more', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, (socket) => {
    work(2);
    socket.resume();
  });
  const { caller, socket, text } = await open();
  begin(turns);
  caller.write(numbered(2_000_000));
  await until(() => text().length > 20 * slice);
  // the data that is read but not parsed is one read and Node's read-ahead
  t.true(socket.bytesRead - text().length < 400_000, `${socket.bytesRead} ${text().length}`);
});

test('the remaining bytes of a closed connection are released', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, (socket) => {
    work(2);
    socket.end('bye');
  });
  const { caller, pieces } = await open();
  begin(turns);
  caller.write(numbered(50 * slice));
  await once(caller.resume(), 'end');
  await pause(20);
  t.is(pieces.length, 1);
});

test('requests of a caller that does not read its replies wait', async (t) => {
  const reply = Buffer.alloc(8_000_000);
  const { turns, open } = await startReading(t, { parsingMs: 0 }, (socket) => {
    if (!socket.writableNeedDrain) socket.write(reply);
  });
  const { caller, pieces, text } = await open();
  begin(turns);
  caller.pause().write(numbered(3 * slice));
  await until(() => pieces.length > 0);
  await pause(50);
  t.is(pieces.length, 1);
  caller.resume();
  await until(() => text().length === 3 * slice);
  t.is(text(), numbered(3 * slice));
});

test('sliced connections get the usual replies: bodies of any size, chunks, many in a row', async (t) => {
  const gateway = await startGateway(t, { limits: { parsingMs: 0, parsingWatchMs: 600_000 } });
  gateway.answer({ body: emptyReply });
  await gateway.raw(
    'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  const head = 'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: k\r\n';
  const credentials = '"authentication":{"apiUserId":"u","apiUserKey":"k"}';
  const large = '{}'.padEnd(900_000);
  const chunks = '{}'.padEnd(40_000).replace(/.{16}/g, '10\r\n$&\r\n');
  const message =
    `${head}Content-Length: ${large.length}\r\n\r\n${large}` +
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n` +
    `${head}Content-Length: 2\r\n\r\n{}`.repeat(100) +
    `${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
  const reply = await gateway.raw(message);
  t.deepEqual(reply.match(/HTTP\/1\.1 \d+/g), Array(103).fill('HTTP/1.1 200'));
  t.deepEqual(
    gateway.hits.map(({ body }) => body.length),
    [large.length, 40_000, ...Array(101).fill(2)].map((bytes) => bytes + credentials.length),
  );
});

test('a body of several slices that arrived while its request waited is complete', async (t) => {
  const gateway = await startGateway(t, { limits: { parsingMs: 0, parsingWatchMs: 600_000 } });
  gateway.answer((_hit, response) => setTimeout(() => response.end(emptyReply), 20));
  await gateway.raw(
    'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  const head = 'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: k\r\n';
  const credentials = '"authentication":{"apiUserId":"u","apiUserKey":"k"}';
  const lengths = [2, 5_000, 30_000, 60_000];
  const message = lengths
    .map((length) => `${head}Content-Length: ${length}\r\n\r\n${'{}'.padEnd(length)}`)
    .join('');
  const reply = await gateway.raw(message, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  t.deepEqual(reply.match(/HTTP\/1\.1 \d+/g), Array(5).fill('HTTP/1.1 200'));
  t.deepEqual(
    gateway.hits.map(({ body }) => body.length),
    lengths.map((length) => length + credentials.length),
  );
});

test('all bytes of a caller that closes its side after a message are read first', async (t) => {
  const { turns, open } = await startReading(t, { parsingMs: 0, parsingSliceUs: 1_000 }, () => work(1));
  const { caller, socket, text } = await open();
  let ended = -1;
  socket.on('end', () => {
    ended = text().length;
  });
  begin(turns);
  caller.end(numbered(30 * slice));
  await until(() => ended >= 0);
  t.is(ended, 30 * slice);
  t.is(text(), numbered(30 * slice));
});

test('a connection that waits for its replies when slicing starts is read afterwards', async (t) => {
  const gateway = await startGateway(t, { limits: { parsingMs: 0, requestsPerSocket: 10_000 } });
  const requests = 3_000; // more than one read contains
  const get = 'GET /v2/nothing HTTP/1.1\r\nHost: x\r\n';
  const replies = await gateway.raw(`${get}\r\n`.repeat(requests - 1), `${get}Connection: close\r\n\r\n`);
  t.is(replies.match(/HTTP\/1\.1 404 /g)?.length, requests);
});

test('bodies that wait when slicing starts are read to their ends', async (t) => {
  const gateway = await startGateway(t, { limits: { parsingMs: 0 } });
  const body = '{}'.padEnd(1_000_000);
  const upload = `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: k\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const uploads = Array.from({ length: 16 }, () => gateway.raw(upload));
  await until(() => gateway.running.load().arriving > 0);
  void gateway.raw('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
  for (const reply of await Promise.all(uploads)) t.regex(reply, /^HTTP\/1\.1 200 /);
});
