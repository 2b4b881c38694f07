import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Commands to the upstream in a call's `subUserName`: a word, then a number. */
export type Wish = 'echo' | 'document' | 'slow' | 'error' | 'break' | 'garbage';

/** Returns the base64 of a document whose content is unique for its number. */
export function documentOf(number: number): string {
  const kilobytes = [4, 200, 1500][number % 3] ?? 4;
  return Buffer.alloc(kilobytes * 1024, `document ${number};`).toString('base64');
}

/** Starts a JSON service that executes the commands in its calls. */
export async function startUpstream(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(async (request, response) => {
    const body: { request?: { subUserName?: string; id?: number } } = JSON.parse(await text(request));
    const [wish = 'echo', number = '0'] = (body.request?.subUserName ?? '').split(' ');
    answer(wish as Wish, Number(number), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function answer(wish: Wish, number: number, response: ServerResponse): void {
  const send = (status: number, data: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  };
  const subUser = { userName: `echo ${number} & <Söhne>`, permissions: ['a', 'b'] };
  if (wish === 'document') {
    send(200, { document: { id: number, documentBytes: documentOf(number) }, responseStatus: {} });
  } else if (wish === 'slow') {
    const timer = setTimeout(
      () => send(200, { searchRecord: { id: number }, responseStatus: {} }),
      200 + (number % 5) * 50,
    );
    response.on('close', () => clearTimeout(timer));
  } else if (wish === 'error')
    send(404, { responseStatus: { errorCode: 'NotFound', message: `none of ${number}` } });
  else if (wish === 'break') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('{"data":');
    setImmediate(() => response.destroy());
  } else if (wish === 'garbage') response.end('<html>');
  else send(200, { subUser, responseStatus: {} });
}
