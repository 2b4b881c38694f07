import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { createGateway, type Gateway, type GatewayOptions, loadContract } from '../../../gateway/index.ts';

/** The contract of the tutorial: `getBook` is a GET, `lend` a POST. */
export const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });

const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;

export const lend = envelope(
  '<lend xmlns="urn:CityLibrary"><Body><isbn>1</isbn><reader>Zoë</reader></Body></lend>',
);
export const getBook = envelope('<getBook xmlns="urn:CityLibrary"><isbn>a b</isbn></getBook>');

export const loan = '{"number":9007199254740993,"isbn":"1","reader":"Zoë","due":"2026-03-28"}';

/** Creates a response of the upstream. */
export const replyWith = (body: BodyInit | null, status = 200): Response =>
  new Response(body, { status, headers: { 'content-type': 'application/json' } });

/** Serves on a free port until the test ends. Returns the address. */
export async function listen(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a gateway for the library. `call` sends a SOAP 1.1 message. */
export async function openGateway(
  t: ExecutionContext,
  options: Partial<GatewayOptions> & Pick<GatewayOptions, 'upstream'>,
): Promise<{
  readonly gateway: Gateway;
  readonly base: string;
  readonly call: (message: string, signal?: AbortSignal) => Promise<Response>;
}> {
  const gateway = createGateway({ contract, publicUrl: 'https://edge.example', ...options });
  t.teardown(() => gateway.close());
  const base = await listen(t, gateway.handler);
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', Connection: 'close' };
  const call = (message: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${base}/soap11`, { method: 'POST', headers, body: message, signal: signal ?? null });
  return { gateway, base, call };
}
