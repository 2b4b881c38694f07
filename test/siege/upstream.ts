import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A JSON service in a separate process that is controlled by its calls: a command and a number, in the screening
 * contract's `subUserName` or in `wish` of the files contract. It reports its port when it listens.
 *
 * - `echo N`: an immediate response with N
 * - `slow N`: the same after N ms
 * - `fail N`: a 500
 * - `break N`, `garbage N`: half a response, and invalid HTTP
 * - `large N`, `ampersands N`, `short N`: N MB of base64, N MB of `&` and N KB of text
 */
const server = createServer(async (request, response) => {
  const body = await buffer(request).catch(() => undefined); // the caller disconnected
  if (body === undefined) return;
  const [wish, number] = wishOf(request, body);
  answer(wish, number, response);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
process.once('disconnect', () => process.exit());

function wishOf({ url = '' }: IncomingMessage, body: Buffer): readonly [wish: string, number: number] {
  const asked = new URL(url, 'http://upstream').searchParams.get('wish');
  const text = asked ?? /"subUserName":"([^"]*)"/.exec(body.toString('utf8', 0, 4_096))?.[1] ?? '';
  const [wish = '', number = '0'] = text.split(' ');
  return [wish, Number(number)];
}

const made = new Map<string, Buffer>();

/** Creates large responses only once. */
function kept(name: string, make: () => object): Buffer {
  const known = made.get(name) ?? Buffer.from(JSON.stringify(make()));
  made.set(name, known);
  return known;
}

function answer(wish: string, number: number, response: ServerResponse): void {
  if (wish === 'slow') {
    const timer = setTimeout(() => response.end(echo(number)), number);
    response.on('close', () => clearTimeout(timer));
  } else if (wish === 'fail') response.writeHead(500).end('{}');
  else if (wish === 'break')
    response.writeHead(200, { 'content-length': 999 }).write('{', () => response.destroy());
  else if (wish === 'garbage') response.socket?.end('no HTTP\r\n\r\n');
  else if (wish === 'large')
    sendInPieces(
      response,
      kept(`large ${number}`, () => ({ content: Buffer.alloc(number * 750_000, 'file').toString('base64') })),
    );
  else if (wish === 'ampersands')
    sendInPieces(
      response,
      kept(`ampersands ${number}`, () => ({ notes: Array(number).fill('&'.repeat(1_000_000)) })),
    );
  else if (wish === 'short')
    response.end(kept(`short ${number}`, () => ({ notes: ['x'.repeat(number * 1_000)] })));
  else response.end(echo(number));
}

/** Bytes of a large response written per event-loop iteration. */
const pieceBytes = 64 * 1024;

/**
 * Sends a large response in pieces, one per event-loop iteration. If it were written at once, the kernel would copy up
 * to 4 MB. That delays the other responses of this service, and the delay would be attributed to the gateway.
 */
function sendInPieces(response: ServerResponse, answer: Buffer): void {
  response.writeHead(200, { 'content-length': answer.length });
  let sent = 0;
  const goOn = (): void => {
    if (response.destroyed) return;
    const piece = answer.subarray(sent, sent + pieceBytes);
    sent += piece.length;
    if (sent === answer.length) response.end(piece);
    else if (response.write(piece)) setImmediate(goOn);
    else response.once('drain', () => setImmediate(goOn));
  };
  goOn();
}

/** Returns a response with the members of all operations of both contracts. Unknown members are ignored. */
function echo(number: number): string {
  return JSON.stringify({
    data: {
      searchRecord: { id: number },
      subUser: { userName: `echo ${number} & <Söhne>` },
      responseStatus: {},
    },
    notes: [`echo ${number}`],
  });
}
