import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** A scenario that consumes memory: what is sent, how the response is read, and what the upstream responds. */
export interface Mix {
  readonly what: string;
  /** Opens connections and returns the statuses when the scenario is finished. */
  readonly run: (port: number) => Promise<Statuses>;
  /** Responds to an upstream call. Undefined: with a minimal reply. */
  readonly answer?: Answer;
}

type Answer = (response: ServerResponse) => void;

/** Number of responses by status; 0 means a connection closed without a response. */
export type Statuses = Map<number, number>;

const envelope = (operation: string, element: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="urn:Documents"><Body>${element}</Body></${operation}></s:Body></s:Envelope>`;

/** Returns the bytes of a request. */
function post(path: string, body: string | Uint8Array, headers = ''): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), typeof body === 'string' ? Buffer.from(body) : body]);
}

const soap = (operation: string, element = ''): Buffer => post('/soap11', envelope(operation, element));
const json = (operation: string): Buffer => post(`/json/reply/${operation}`, '{}');

/** Speed of reading a reply, in bytes per second; 0: it is not read. */
interface Taking {
  readonly bytesPerSecond: number;
  /** Time in ms after which the connection is closed. */
  readonly forMs: number;
}

/** Sends bytes on a new connection and returns the status. */
function exchange(port: number, bytes: Buffer, taking?: Taking): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let head = '';
    let came = 0;
    let status = 0;
    let length = Number.POSITIVE_INFINITY;
    const onData = (chunk: Buffer): void => {
      came += chunk.length;
      if (head.includes('\r\n\r\n')) return;
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      status = Number(/\r\nx-status: (\d+)/i.exec(head)?.[1] ?? head.slice(9, 12));
      length = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    };
    socket.on('error', () => {});
    socket.on('close', () => resolve(came >= length || taking !== undefined ? status : 0));
    socket.on('data', (chunk: Buffer) => {
      onData(chunk);
      if (came >= length && taking?.bytesPerSecond !== 0) socket.destroy();
    });
    if (taking !== undefined) takeSlowly(socket, taking);
    socket.write(bytes);
  });
}

function takeSlowly(socket: Socket, { bytesPerSecond, forMs }: Taking): void {
  const began = performance.now();
  let came = 0;
  socket.on('data', (chunk) => {
    came += chunk.length;
    const dueMs = began + (came / bytesPerSecond) * 1000 - performance.now();
    if (dueMs <= 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), dueMs).unref();
  });
  if (bytesPerSecond === 0) socket.pause();
  setTimeout(() => socket.destroy(), forMs);
}

async function counted(all: readonly Promise<number>[]): Promise<Statuses> {
  const statuses: Statuses = new Map();
  for (const status of await Promise.all(all)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return statuses;
}

const times = <T>(count: number, each: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => each(index));

const content = (bytes: number): string => 'ZG9j'.repeat(bytes >> 2);
const note = 'Überweisung für Müller, Заметка, 備考 '.repeat(25);
const notesReply = (text: string, bytes: number): Buffer => {
  const item = text.repeat(Math.ceil((500 * kibibyte) / text.length));
  return Buffer.from(
    JSON.stringify({ notes: times(Math.floor(bytes / Buffer.byteLength(item)), () => item) }),
  );
};

const ofBytes = 30 * mebibyte;
const small = '{}';
const large = (): Buffer => Buffer.from(JSON.stringify({ content: content(ofBytes) }));
const answering = (reply: () => Buffer): Answer => {
  let made: Buffer | undefined;
  return (response) => {
    made ??= reply();
    response.end(made);
  };
};

/** Returns a valid request of 16 MiB whose characters need two bytes each in memory. */
function largeRequest(): Buffer {
  const count = Math.floor((16 * mebibyte - kibibyte) / (Buffer.byteLength(note) + 17));
  return soap('convert', `<notes>${`<string>${note}</string>`.repeat(count)}</notes>`);
}

function oneByteChunks(bytes: number): Buffer {
  const body = envelope('convert', `<content>${content(bytes)}</content>`);
  const head = 'POST /soap11 HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n';
  return Buffer.from(`${head}${body.replaceAll(/./gs, '1\r\n$&\r\n')}0\r\n\r\n`);
}

function gzipped(): Buffer {
  const body = envelope(
    'convert',
    `<notes>${`<string>${content(900 * kibibyte)}</string>`.repeat(18)}</notes>`,
  );
  // a gzip comment makes the body long enough to pass the limit on the compression ratio
  const packed = gzipSync(body);
  const comment = Buffer.alloc(170_000 - packed.length, 120);
  comment[comment.length - 1] = 0;
  const head = Buffer.from(packed.subarray(0, 10));
  head[3] = 0x10;
  const bytes = Buffer.concat([head, comment, packed.subarray(10)]);
  return post('/soap11', bytes, 'Content-Encoding: gzip\r\n');
}

/** Scenarios, each measured in a new process. `npm run fire:figures -- memory` runs all of them in this order. */
export const mixes: ReadonlyMap<string, Mix> = new Map<string, Mix>([
  [
    'chunks',
    {
      what: '60 bodies of 1 MiB in chunks of one byte',
      run: (port) => {
        const bytes = oneByteChunks(mebibyte);
        return counted(times(60, () => exchange(port, bytes)));
      },
    },
  ],
  [
    'gzip',
    {
      what: '220 bodies of 170 KB that unpack to 16 MB each',
      run: (port) => {
        const bytes = gzipped();
        return counted(times(220, () => exchange(port, bytes)));
      },
    },
  ],
  [
    'writes',
    {
      what: '48 writes at once, answered with 30 MiB of base64 each',
      run: (port) =>
        counted(times(48, (index) => exchange(port, index % 2 === 0 ? soap('store') : json('store')))),
      answer: answering(large),
    },
  ],
  [
    'escapes',
    {
      what: '24 writes and 24 reads at once, answered with 30 MiB of & each, which take five times that in XML',
      run: (port) =>
        counted(times(48, (index) => exchange(port, index % 2 === 0 ? soap('store') : soap('convert')))),
      answer: answering(() => notesReply('&', ofBytes)),
    },
  ],
  [
    'pipelines',
    {
      what: '160 connections that send 5 MB of requests, are answered with 60 KB each and take nothing',
      run: (port) => {
        const one = json('convert');
        const bytes = Buffer.concat(times(Math.ceil(5e6 / one.length), () => one));
        return counted(times(160, () => exchange(port, bytes, { bytesPerSecond: 0, forMs: 15_000 })));
      },
      answer: answering(() => Buffer.from(JSON.stringify({ content: content(60_000) }))),
    },
  ],
  [
    'waiting-chunks',
    {
      what: '300 connections with 60 KB of a body in chunks of one byte behind a call that is under way',
      run: (port) => {
        const bytes = Buffer.concat([json('convert'), oneByteChunks(mebibyte).subarray(0, 60 * kibibyte)]);
        return counted(times(300, () => exchange(port, bytes, { bytesPerSecond: 1e9, forMs: 10_000 })));
      },
      answer: (response) => {
        setTimeout(() => response.end(small), 6_000);
      },
    },
  ],
  [
    'slow-readers',
    {
      what: '60 connections that take replies of 30 MiB at 80 KB/s',
      run: (port) =>
        counted(
          times(60, (index) =>
            exchange(port, soap(index % 2 === 0 ? 'store' : 'convert'), {
              bytesPerSecond: 80_000,
              forMs: 20_000,
            }),
          ),
        ),
      answer: answering(large),
    },
  ],
  [
    'large-requests',
    {
      what: '64 requests of 16 MiB at once, each character of two bytes, answered after 3 s',
      run: (port) => {
        const bytes = largeRequest();
        return counted(times(64, () => exchange(port, bytes)));
      },
      answer: (response) => {
        setTimeout(() => response.end(small), 3_000);
      },
    },
  ],
  [
    'slow-bodies',
    {
      what: '600 connections that send 400 KB of a body at once and then a few bytes a second',
      run: (port) => {
        const head = Buffer.concat([
          Buffer.from('POST /soap11 HTTP/1.1\r\nHost: gateway\r\nContent-Length: 16000000\r\n\r\n'),
          Buffer.alloc(400_000, 60),
        ]);
        return counted(times(600, () => exchange(port, head, { bytesPerSecond: 1e9, forMs: 15_000 })));
      },
    },
  ],
]);
