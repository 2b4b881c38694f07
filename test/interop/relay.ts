import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A relay in front of a server that records the requests of clients. */
export interface Relay {
  readonly url: string;
  /** Sets the URL of the server. Must be called before the first client connects. */
  readonly passTo: (url: string) => void;
  /**
   * Returns the complete requests since the last call, byte for byte, in the order in which their connections were
   * opened.
   */
  readonly takeRequests: () => readonly Buffer[];
  /** Returns the server's bytes since the last call as latin1, connection by connection. */
  readonly takeReplies: () => string;
  readonly close: () => void;
}

/** Starts a relay on a free port of 127.0.0.1. */
export async function startRelay(): Promise<Relay> {
  let target: number | undefined;
  let connections: Buffer[][] = [];
  let answers: Buffer[][] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (target === undefined) throw new Error('relay: expected a server to pass to, got none');
    const received: Buffer[] = [];
    connections.push(received);
    const answered: Buffer[] = [];
    answers.push(answered);
    const behind = connect(target, '127.0.0.1');
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes: Buffer) => received.push(bytes));
    behind.on('data', (bytes: Buffer) => answered.push(bytes));
    client.pipe(behind).pipe(client);
    // when one side closes, the other side is closed too
    client.on('error', () => behind.destroy());
    behind.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passTo: (url) => {
      target = Number(new URL(url).port);
    },
    takeRequests: () => {
      const taken = connections.flatMap((chunks) => splitRequests(Buffer.concat(chunks)));
      connections = [];
      return taken;
    },
    takeReplies: () => {
      const taken = answers.map((chunks) => Buffer.concat(chunks).toString('latin1'));
      answers = [];
      return taken.join('\n');
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Splits the bytes of a connection into complete requests. Incomplete requests are dropped. */
export function splitRequests(bytes: Buffer): readonly Buffer[] {
  const requests: Buffer[] = [];
  let start = 0;
  for (;;) {
    const blank = bytes.indexOf('\r\n\r\n', start);
    if (blank < 0) return requests;
    const end = endOfBody(bytes, bytes.toString('latin1', start, blank), blank + 4);
    if (end === undefined || end > bytes.length) return requests;
    requests.push(bytes.subarray(start, end));
    start = end;
  }
}

function endOfBody(bytes: Buffer, head: string, from: number): number | undefined {
  if (/\r\ntransfer-encoding:[ \t]*chunked/i.test(head)) {
    const last = bytes.indexOf('\r\n0\r\n\r\n', from - 2);
    return last < 0 ? undefined : last + 7;
  }
  const [, length = '0'] = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head) ?? [];
  return from + Number(length);
}
