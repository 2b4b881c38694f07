import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

// HTTP messages as bytes on sockets, without the parser of Node.

/** Alternating names and values, as on the wire. */
export type RawHeaders = readonly string[];

/** A message as it arrived. Text has one character per byte. */
export interface RawMessage {
  /** Request line or status line. */
  readonly line: string;
  readonly headers: RawHeaders;
  /** The body without its framing. */
  readonly body: Buffer;
  readonly isChunked: boolean;
  readonly trailers: RawHeaders;
  /** Interim responses before a reply: status line and headers. */
  readonly interim: readonly (readonly string[])[];
}

/** A request of a plan. */
export interface RawRequest {
  readonly bytes: Buffer;
  readonly isHead: boolean;
}

/** A reply of the stub, and whether its body ends with the connection. */
export interface RawReply {
  readonly bytes: Buffer;
  readonly endsConnection: boolean;
}

/** Reads messages from a socket. */
class Incoming {
  readonly #socket: Socket;
  #held = Buffer.alloc(0);
  #isEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#held = Buffer.concat([this.#held, chunk]);
      socket.emit('more');
    });
    const end = (): void => {
      this.#isEnded = true;
      socket.emit('more');
    };
    socket.on('end', end).on('close', end).on('error', end);
  }

  /** True if the other end closed the connection and nothing is left to read. */
  get isOver(): boolean {
    return this.#isEnded && this.#held.length === 0;
  }

  async #more(): Promise<void> {
    if (this.#isEnded)
      throw new Error(`expected more bytes, got ${JSON.stringify(this.#held.toString('latin1'))}`);
    await once(this.#socket, 'more');
  }

  async take(count: number): Promise<Buffer> {
    while (this.#held.length < count) await this.#more();
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async through(end: string): Promise<string> {
    let at = this.#held.indexOf(end);
    for (; at < 0; at = this.#held.indexOf(end)) await this.#more();
    const text = (await this.take(at)).toString('latin1');
    await this.take(end.length);
    return text;
  }

  async rest(): Promise<Buffer> {
    while (!this.#isEnded) await this.#more();
    return this.take(this.#held.length);
  }

  /** True once a byte has arrived, false if the connection ends before. */
  async hasMore(): Promise<boolean> {
    while (this.#held.length === 0 && !this.#isEnded) await this.#more();
    return this.#held.length > 0;
  }
}

/** Returns the values of a header. */
export function valuesOf(headers: RawHeaders, name: string): readonly string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}

function headersIn(lines: readonly string[]): RawHeaders {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')];
  });
}

async function readHead(source: Incoming): Promise<{ readonly line: string; readonly headers: RawHeaders }> {
  const [line = '', ...lines] = (await source.through('\r\n\r\n')).split('\r\n');
  return { line, headers: headersIn(lines) };
}

async function readChunks(source: Incoming): Promise<Pick<RawMessage, 'body' | 'trailers'>> {
  const chunks: Buffer[] = [];
  for (;;) {
    const size = Number.parseInt(await source.through('\r\n'), 16);
    if (size === 0) break;
    chunks.push(await source.take(size));
    await source.take(2);
  }
  const trailers: string[] = [];
  for (let line = await source.through('\r\n'); line !== ''; line = await source.through('\r\n'))
    trailers.push(line);
  return { body: Buffer.concat(chunks), trailers: headersIn(trailers) };
}

async function readBody(
  source: Incoming,
  headers: RawHeaders,
  withoutLength: 'empty' | 'rest',
): Promise<Pick<RawMessage, 'body' | 'trailers' | 'isChunked'>> {
  if (valuesOf(headers, 'transfer-encoding').length > 0)
    return { ...(await readChunks(source)), isChunked: true };
  const [length] = valuesOf(headers, 'content-length');
  const missing = async (): Promise<Buffer> =>
    withoutLength === 'rest' ? await source.rest() : Buffer.alloc(0);
  const body = length === undefined ? await missing() : await source.take(Number(length));
  return { body, trailers: [], isChunked: false };
}

async function readRequest(source: Incoming): Promise<RawMessage> {
  const head = await readHead(source);
  return { ...head, ...(await readBody(source, head.headers, 'empty')), interim: [] };
}

async function readReply(source: Incoming, isHead: boolean): Promise<RawMessage> {
  const interim: (readonly string[])[] = [];
  let head = await readHead(source);
  for (; / 1\d\d/.test(head.line.slice(8, 12)); head = await readHead(source))
    if (head.line.slice(9, 12) !== '100') interim.push([head.line, ...head.headers]);
  const isBare = isHead || /^(?:204|304)/.test(head.line.slice(9));
  const body = isBare
    ? {
        body: Buffer.alloc(0),
        trailers: [],
        isChunked: valuesOf(head.headers, 'transfer-encoding').length > 0,
      }
    : await readBody(source, head.headers, 'rest');
  return { ...head, ...body, interim };
}

/** A stub that answers each request with the bytes of `reply`. */
export interface RawStub {
  readonly port: number;
  /** The last request. */
  request: RawMessage | undefined;
  reply: RawReply;
  readonly close: () => void;
}

export async function startRawStub(): Promise<RawStub> {
  const sockets = new Set<Socket>();
  const answer = async (socket: Socket): Promise<void> => {
    const source = new Incoming(socket);
    while (await source.hasMore()) {
      stub.request = await readRequest(source);
      socket.write(stub.reply.bytes);
      if (stub.reply.endsConnection) {
        socket.end();
        return;
      }
    }
    socket.end();
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    answer(socket).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const reply = { bytes: Buffer.alloc(0), endsConnection: true };
  const stub: RawStub = { port, request: undefined, reply, close };
  return stub;
}

/** A client that keeps its connection while the server does. */
export class RawClient {
  readonly #port: number;
  #socket: Socket | undefined;
  #source: Incoming | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request in `pieces` writes and returns the reply. */
  async send({ bytes, isHead }: RawRequest, pieces: number): Promise<RawMessage> {
    if (this.#source === undefined || this.#source.isOver) {
      this.#socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
      this.#source = new Incoming(this.#socket);
      await once(this.#socket, 'connect');
    }
    const size = Math.ceil(bytes.length / pieces);
    for (let at = 0; at < bytes.length; at += size) {
      this.#socket?.write(bytes.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const reply = await readReply(this.#source, isHead);
    const words = valuesOf(reply.headers, 'connection').join().toLowerCase();
    if (words.includes('close') || reply.line.startsWith('HTTP/1.0') || !this.#endsItself(reply, isHead))
      this.close();
    return reply;
  }

  #endsItself({ headers, isChunked }: RawMessage, isHead: boolean): boolean {
    return isHead || isChunked || valuesOf(headers, 'content-length').length > 0;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#source = undefined;
  }
}
