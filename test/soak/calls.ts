import { type Agent, request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { documentOf } from './upstream.ts';

/** Target of the calls. */
export interface Caller {
  readonly port: number;
  readonly agent: Agent;
}

export interface Reply {
  readonly status: number;
  readonly xStatus: string | undefined;
  readonly text: string;
}

/** A kind of traffic. `call` makes the call of a number and returns the problem of the reply, or undefined. */
export interface Kind {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  readonly call: (caller: Caller, number: number) => Promise<string | undefined>;
}

const types = 'http://schemas.servicestack.net/types';
const namespaces = {
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
} as const;

function element(operation: string, request: string): string {
  return `<${operation} xmlns="${types}"><Authentication><ApiUserId>soak</ApiUserId><ApiUserKey>soak-key</ApiUserKey></Authentication><Request>${request}</Request></${operation}>`;
}

function envelope(version: keyof typeof namespaces, body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?><e:Envelope xmlns:e="${namespaces[version]}"><e:Body>${body}</e:Body></e:Envelope>`;
}

function ask(wish: string, number: number): string {
  return `<SubUserName>${wish} ${number}</SubUserName>`;
}

/** Sends a body, in pieces with pauses if there are several, and returns the whole reply. */
async function send({ port, agent }: Caller, path: string, ...pieces: readonly string[]): Promise<Reply> {
  const request = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: `/v2${path}`, agent });
  const replied = new Promise<Reply>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const xStatus = headers['x-status'];
      buffer(response).then(
        (bytes) =>
          resolve({
            status,
            xStatus: typeof xStatus === 'string' ? xStatus : undefined,
            text: bytes.toString('utf8'),
          }),
        reject,
      );
    });
  });
  for (const piece of pieces.slice(0, -1)) {
    request.write(piece);
    await delay(20);
  }
  request.end(pieces.at(-1));
  return replied;
}

/** Compares a reply with the expected status, X-Status and text. */
function expecting(
  { status, xStatus, text }: Reply,
  expected: { readonly status?: number; readonly xStatus?: string; readonly holds: string },
): string | undefined {
  const wanted = `${expected.status ?? 200} ${expected.xStatus}`;
  if (`${status} ${xStatus}` !== wanted)
    return `expected ${wanted}, got ${status} ${xStatus}: ${text.slice(0, 300)}`;
  return text.includes(expected.holds)
    ? undefined
    : `expected ${expected.holds.slice(0, 100)} in ${text.slice(0, 300)}`;
}

const echo = (number: number): string => `<UserName>echo ${number} &amp; &lt;Söhne&gt;</UserName>`;

/** The traffic of a soak. */
export const kinds: readonly Kind[] = [
  ...(['soap11', 'soap12'] as const).map((version) => ({
    name: `a small call of ${version}`,
    weight: 30,
    call: async (caller: Caller, number: number) =>
      expecting(
        await send(caller, `/${version}`, envelope(version, element('UpdateSubUser', ask('echo', number)))),
        {
          holds: echo(number),
        },
      ),
  })),
  {
    name: 'a small call of XML',
    weight: 15,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/xml/reply/UpdateSubUser', element('UpdateSubUser', ask('echo', number))),
        {
          holds: echo(number),
        },
      ),
  },
  {
    name: 'a small call of JSON',
    weight: 15,
    call: async (caller, number) => {
      const authentication = { apiUserId: 'soak', apiUserKey: 'soak-key' };
      const body = { request: { subUserName: `echo ${number}` }, authentication };
      return expecting(await send(caller, '/json/reply/UpdateSubUser', JSON.stringify(body)), {
        holds: `"userName":"echo ${number} & <Söhne>"`,
      });
    },
  },
  {
    name: 'a document',
    weight: 6,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/soap11', envelope('soap11', element('GetPdf', ask('document', number)))),
        {
          holds: `<DocumentBytes>${documentOf(number)}</DocumentBytes>`,
        },
      ),
  },
  {
    name: 'an error of the upstream',
    weight: 6,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/soap12', envelope('soap12', element('GetSearch', ask('error', number)))),
        {
          xStatus: '404',
          holds: `<Message>none of ${number}</Message>`,
        },
      ),
  },
  {
    name: 'a misspelt element',
    weight: 6,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/soap11', envelope('soap11', element('GetSearch', `<Idd>${number}</Idd>`))),
        {
          xStatus: '400',
          holds: 'Request.Idd: unknown element, did you mean Id?',
        },
      ),
  },
  {
    name: 'an envelope that breaks off',
    weight: 6,
    call: async (caller, number) =>
      expecting(await send(caller, '/soap11', envelope('soap11', `<GetSearch>${number}`).slice(0, -30)), {
        status: 500,
        holds: '<faultcode>s:Client</faultcode>',
      }),
  },
  {
    name: 'an upstream that talks HTML',
    weight: 3,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/soap11', envelope('soap11', element('UpdateSubUser', ask('garbage', number)))),
        {
          xStatus: '502',
          holds: '<ErrorCode>UpstreamInvalidResponse</ErrorCode>',
        },
      ),
  },
  {
    name: 'a slow upstream',
    weight: 6,
    call: async (caller, number) =>
      expecting(
        await send(caller, '/soap11', envelope('soap11', element('GetSearch', ask('slow', number)))),
        {
          holds: `<Id>${number}</Id>`,
        },
      ),
  },
  {
    name: 'a slow caller',
    weight: 4,
    call: async (caller, number) => {
      const text = envelope('soap11', element('UpdateSubUser', ask('echo', number)));
      const third = Math.ceil(text.length / 3);
      const pieces = [text.slice(0, third), text.slice(third, third * 2), text.slice(third * 2)];
      return expecting(await send(caller, '/soap11', ...pieces), { holds: echo(number) });
    },
  },
  {
    name: 'a caller that leaves',
    weight: 6,
    call: ({ port }, number) =>
      new Promise((resolve) => {
        const text = envelope('soap11', element('GetSearch', ask('slow', number)));
        const headers = { 'Content-Length': Buffer.byteLength(text) };
        const path = '/v2/soap11';
        const request = httpRequest({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
        request.on('error', () => {}); // the connection that is aborted here
        request.on('close', () => resolve(undefined));
        // aborts before the body is complete, or during the upstream call
        request.write(number % 2 === 0 ? text.slice(0, 100) : text);
        setTimeout(() => request.destroy(), 30);
      }),
  },
];
