import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { include } from './related.ts';

/** Files in a part of a message, and a service that receives them. */

export const uploads = join(import.meta.dirname, '../../../fixtures/uploads');

/** Data of one call that the service received. */
export interface Upload {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  bytes: number;
  hash: string;
  /** State of the request body; `broken`: the connection was closed before its end. */
  end: 'open' | 'whole' | 'broken';
}

/** Starts a service that counts and hashes what it receives, without keeping it. */
export async function startUploads(
  t: Pick<ExecutionContext, 'teardown'>,
  handle?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly got: readonly Upload[]; readonly settled: () => Promise<void> }> {
  const got: Upload[] = [];
  const ends: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    const hash = createHash('sha256');
    const upload: Upload = {
      path: request.url ?? '',
      headers: request.headers,
      bytes: 0,
      hash: '',
      end: 'open',
    };
    got.push(upload);
    ends.push(once(request, 'close').catch(() => {}));
    request.on('error', () => {});
    request.on('close', () => {
      if (upload.end === 'open') upload.end = 'broken';
    });
    if (handle !== undefined) {
      handle(request, response);
      return;
    }
    request.on('data', (piece: Buffer) => {
      upload.bytes += piece.length;
      hash.update(piece);
    });
    request.on('end', () => {
      upload.end = 'whole';
      upload.hash = hash.digest('hex');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ bytes: upload.bytes }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    got,
    settled: async () => {
      await Promise.all(ends);
    },
  };
}

export const boundary = 'upload-1';

/** A call of PutFile with this content. */
export function putFile(content: string): string {
  return `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><PutFile xmlns="urn:example:files"><name>a.bin</name>${content}</PutFile></e:Body></e:Envelope>`;
}

/** The start of a message, up to the bytes of its file. */
export function beginning(root = putFile(`<Body>${include('cid:file')}</Body>`), fileHeader = ''): string {
  return (
    `--${boundary}\r\nContent-Type: application/xop+xml; charset=utf-8\r\nContent-ID: <root>\r\n\r\n${root}` +
    `\r\n--${boundary}\r\nContent-ID: <file>\r\n${fileHeader}\r\n`
  );
}

/** The end of a message, after the bytes of its file. */
export const ending = `\r\n--${boundary}--\r\n`;

export const contentType = `multipart/related; type="application/xop+xml"; start="<root>"; boundary="${boundary}"`;

/** A client that sends its body in chunks, as fast as the gateway accepts them. */
export class Caller {
  readonly socket: Socket;
  #said = '';
  readonly #closed: Promise<unknown>;

  constructor(port: number, path = '/soap11', headers = '') {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => {});
    this.socket.on('data', (piece) => {
      this.#said += piece.toString('latin1');
    });
    this.#closed = new Promise((resolve) => this.socket.once('close', resolve)); // fires after an error too
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${contentType}\r\n${headers}Transfer-Encoding: chunked\r\n\r\n`,
    );
  }

  /** Sends a chunk. Resolves when the system accepts another one. */
  async send(piece: Buffer | string): Promise<void> {
    const bytes = Buffer.from(piece);
    this.socket.write(`${bytes.length.toString(16)}\r\n`);
    this.socket.write(bytes);
    if (!this.socket.write('\r\n') && !this.socket.destroyed)
      await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.#closed]);
  }

  /** Ends the body, and returns the reply. */
  async end(): Promise<string> {
    this.socket.write('0\r\n\r\n');
    return this.reply();
  }

  /** The reply received so far. */
  get received(): string {
    return this.#said;
  }

  /** Returns the complete reply when the connection is closed. */
  async reply(): Promise<string> {
    await this.#closed;
    return this.#said;
  }
}
