import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A reply read from a socket. */
export interface RawReply {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if `100 Continue` preceded it. */
  readonly continued: boolean;
}

const blankLine = Buffer.from('\r\n\r\n');

/**
 * Sends a request's bytes unchanged over a new socket and reads the reply, which must have a length (W8). A request
 * with `Expect: 100-continue` holds its body until asked for it, as its client did.
 */
export function sendRaw(address: string, request: Buffer): Promise<RawReply> {
  const { hostname, port } = new URL(address);
  const headEnd = request.indexOf(blankLine) + blankLine.length;
  const waits = /\r\nexpect: *100-continue/i.test(request.toString('latin1', 0, headEnd));
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received: Buffer = Buffer.alloc(0);
    let continued = false;
    const giveUp = (why: string): void => {
      socket.destroy();
      reject(new Error(`${why}, got ${JSON.stringify(received.toString('latin1', 0, 200))}`));
    };
    socket.setTimeout(10_000, () => giveUp('expected a reply within 10 s'));
    socket.on('error', reject);
    socket.on('close', () => giveUp('expected a whole reply before the connection closed'));
    socket.write(waits ? request.subarray(0, headEnd) : request);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.toString('latin1', 0, 12) === 'HTTP/1.1 100') {
        const end = received.indexOf(blankLine);
        if (end < 0) return;
        received = received.subarray(end + blankLine.length);
        continued = true;
        if (waits) socket.write(request.subarray(headEnd));
      }
      const reply = parseReply(received, continued);
      if (reply === undefined) return;
      resolve(reply);
      socket.destroy();
    });
  });
}

/** Parses the reply, or returns undefined if it is incomplete. */
function parseReply(bytes: Buffer, continued: boolean): RawReply | undefined {
  const headEnd = bytes.indexOf(blankLine);
  if (headEnd < 0) return undefined;
  const [start = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const from = headEnd + blankLine.length;
  const to = from + Number(headers['content-length']);
  if (Number.isNaN(to)) throw new Error(`expected a Content-Length, got ${start}`);
  if (bytes.length < to) return undefined;
  const body = bytes.subarray(from, to);
  const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  return { status: Number(start.split(' ')[1]), headers, body: plain.toString('utf8'), continued };
}
