import { deflateSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { folderOf, getAtPorts } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { envelope, type Gateway, type Reply, send, soap11Namespace, startGateway } from '../../gateway.ts';

// A fault has the SOAP version of the path until the version of the envelope is known (W3).

const limits = { bodyBytes: 5_000, bodyBytesWithBinary: 5_000, xmlDepth: 8, xmlText: 1_000 };

/**
 * A service, its path, and the versions of its faults: for any Content-Type except `application/soap+xml`, and for this
 * one.
 */
const services = [
  ['an OpenAPI document at /soap11', undefined, '/v2/soap11', '1.1', '1.1'],
  ['an OpenAPI document at /soap12', undefined, '/v2/soap12', '1.2', '1.2'],
  ['ports of both versions', ['1.1', '1.2'], '/Things.asmx', '1.1', '1.2'],
  ['ports of both versions, 1.2 first', ['1.2', '1.1'], '/Things.asmx', '1.1', '1.2'],
  ['ports of both versions at /soap12', ['1.1', '1.2'], '/soap12', '1.2', '1.2'],
  ['ports of both versions at /soap11', ['1.2', '1.1'], '/soap11', '1.1', '1.1'],
  ['a port of SOAP 1.1', ['1.1'], '/Things.asmx', '1.1', '1.1'],
  ['a port of SOAP 1.2', ['1.2'], '/Things.asmx', '1.2', '1.2'],
] as const;

const start = `<s:Envelope xmlns:s="${soap11Namespace}">`;

/** Messages of unknown version, with additional headers and a parameter of the Content-Type. */
const unread: readonly (readonly [
  what: string,
  message: string | Buffer,
  headers?: Record<string, string>,
  parameter?: string,
])[] = [
  ['no XML', 'GET'],
  ['nothing', ''],
  ['not well-formed before the root', '<?xml version="1.0"?><'],
  ['a start tag that does not end', start.slice(0, -1)],
  ['a DOCTYPE', `<!DOCTYPE x>${start}`],
  ['a root that is no Envelope', '<a/>'],
  ['an Envelope of another namespace', '<Envelope xmlns="urn:x"/>'],
  ['bytes that are no UTF-8', Buffer.from([0x3c, 0xff, 0xfe])],
  ['too large', envelope('1.1', { body: ' '.repeat(limits.bodyBytes) })],
  ['too large by its length', 'x', { 'Content-Length': '99999999', Expect: '100-continue' }],
  ['of another charset', 'x', {}, '; charset=utf-7'],
  ['of another coding', 'x', { 'Content-Encoding': 'br' }],
  ['not of its coding', 'x', { 'Content-Encoding': 'gzip' }],
  ['no XML, compressed', deflateSync('x'), { 'Content-Encoding': 'deflate' }],
];

/** Returns the version of a fault, from its Content-Type and its envelope. */
function versionOf({ headers, text }: Reply): string {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('text/xml') && text.includes('<faultcode>')) return '1.1';
  return type.startsWith('application/soap+xml') && text.includes('<s:Code>') ? '1.2' : `${type} ${text}`;
}

function startService(t: ExecutionContext, ports: readonly ('1.1' | '1.2')[] | undefined): Promise<Gateway> {
  if (ports === undefined) return startGateway(t, { limits });
  const contract = folderOf(t, { 'service.wsdl': getAtPorts(...ports) });
  return startGateway(t, { limits, serve: { contract } });
}

for (const [service, ports, path, otherwise, version12] of services)
  test(`W3: ${service}: a fault has the right version while the envelope is unknown`, async (t) => {
    const { port, hits } = await startService(t, ports);
    const types = [
      ['application/soap+xml', version12],
      ['Application/SOAP+XML; action="urn:t/Get"', version12],
      ['text/xml', otherwise],
      ['application/xml', otherwise],
    ] as const;
    for (const [type, version] of types)
      for (const [what, message, headers = {}, parameter = ''] of unread) {
        const all = { SOAPAction: '""', ...headers, 'Content-Type': type + parameter };
        const reply = await send(port, 'POST', path, all, message);
        t.is(versionOf(reply), version, `${type}: ${what}`);
      }
    t.is(hits.length, 0);
  });

for (const [kind, ports, path, version12] of [
  ['an OpenAPI document', undefined, '/v2/soap11', '1.1'],
  ['ports of both versions', ['1.1', '1.2'], '/Things.asmx', '1.2'],
] as const) {
  test(`W3: ${kind}: a fault has the version of the envelope once it is known`, async (t) => {
    const { port } = await startService(t, ports);
    for (const version of ['1.1', '1.2'] as const)
      for (const type of ['text/xml', 'application/soap+xml']) {
        const message = envelope(version, { body: '<Other xmlns="urn:o"/>' });
        for (const text of [message, message.replace('</Other>', '').slice(0, -3)]) {
          const reply = await send(port, 'POST', path, { 'Content-Type': type }, text);
          t.is(versionOf(reply), version, `${type}: ${text}`);
        }
      }
  });

  test(`W3: ${kind}: a multipart message that cannot be read gets a fault of the right version`, async (t) => {
    const { port } = await startService(t, ports);
    const related = 'multipart/related; boundary=b; type="application/xop+xml"; start-info=';
    for (const [info, version] of [
      ['text/xml', '1.1'],
      ['application/soap+xml', version12],
    ] as const)
      for (const message of ['x', '--b\r\nContent-Type: application/xop+xml\r\n\r\n<\r\n--b--']) {
        const headers = { 'Content-Type': `${related}"${info}"`, SOAPAction: '""' };
        const reply = await send(port, 'POST', path, headers, message);
        t.is(versionOf(reply), version, `${info}: ${message}`);
      }
  });
}

test('W44: a call rejected with 503 is plain text in both versions', async (t) => {
  for (const ports of [undefined, ['1.1', '1.2']] as const) {
    const local = await startGateway(t, {
      limits: { inFlight: 1, queue: 0 },
      serve: ports === undefined ? {} : { contract: folderOf(t, { 'service.wsdl': getAtPorts(...ports) }) },
    });
    const held: (() => void)[] = [];
    let reached = (): void => {};
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    local.answer((_hit, response) => {
      held.push(() => response.end('{}'));
      reached();
    });
    const path = ports === undefined ? '/v2/soap11' : '/Things.asmx';
    const body = ports === undefined ? undefined : '<Get xmlns="urn:t"/>';
    const message = envelope('1.1', body === undefined ? {} : { body });
    const first = send(local.port, 'POST', path, { SOAPAction: '""' }, message);
    await isReached;
    for (const type of ['text/xml', 'application/soap+xml']) {
      const shed = await send(local.port, 'POST', path, { 'Content-Type': type }, '<');
      t.is(shed.status, 503);
      t.is(shed.headers['content-type'], 'text/plain; charset=utf-8');
    }
    for (const release of held) release();
    await first;
  }
});
