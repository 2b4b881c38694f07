import test from 'ava';
import { CallError, type ErrorCode, errorCodes, failureOf } from '../../../gateway/call/error.ts';
import { soapReply, versionOf } from '../../../gateway/protocols/reply.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { contractWith, envelope, getSearch, send, startGateway, typesNamespace } from '../gateway.ts';

const security = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const contentTypes = { '1.1': 'text/xml', '1.2': 'application/soap+xml' } as const;

/** Messages that fail before an operation is called, with the status by which they count. */
const faults: readonly (readonly [
  fault: string,
  status: number,
  message: (version: '1.1' | '1.2') => string,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['MalformedRequest', 400, () => '<broken'],
  ['MalformedRequest', 400, () => '<!DOCTYPE a><a/>'],
  ['InvalidEnvelope', 400, () => '<a/>'],
  ['InvalidEnvelope', 400, (version) => envelope(version, { body: '' })],
  ['VersionMismatch', 400, () => '<e:Envelope xmlns:e="urn:soap3"><e:Body/></e:Envelope>'],
  ['OperationNotFound', 404, (version) => envelope(version, { body: `<NoSuch xmlns="${typesNamespace}"/>` })],
  ['WrongAction', 400, (version) => envelope(version), { SOAPAction: '"urn:x#DeleteClient"' }],
  [
    'MustUnderstand',
    400,
    (version) => envelope(version, { header: '<x:T xmlns:x="urn:x" e:mustUnderstand="1"/>' }),
  ],
  [
    'InvalidHeader',
    400,
    (version) => envelope(version, { header: '<x:T xmlns:x="urn:x" e:mustUnderstand="maybe"/>' }),
  ],
  [
    'OnlyAnonymousAddressSupported',
    400,
    (version) =>
      envelope(version, {
        header:
          '<w:ReplyTo e:mustUnderstand="1" xmlns:w="http://www.w3.org/2005/08/addressing"><w:Address>urn:x</w:Address></w:ReplyTo>',
      }),
  ],
  [
    'InvalidSecurity',
    400,
    (version) => envelope(version, { header: `<w:Security xmlns:w="${security}"/>`.repeat(2) }),
  ],
  [
    'UnsupportedSecurityToken',
    400,
    (version) =>
      envelope(version, {
        header: `<w:Security xmlns:w="${security}"><w:BinarySecurityToken>a</w:BinarySecurityToken></w:Security>`,
      }),
  ],
];

for (const overlay of ['soapErrors: in-band', 'soapErrors: fault', 'soap12FaultStatus: standard']) {
  for (const version of ['1.1', '1.2'] as const) {
    test(`W27: ${overlay}, SOAP ${version}: faults of callers count as 4xx`, async (t) => {
      const gateway = await startGateway(t, { overlay });
      const counts = new Map<number, number>();
      for (const [fault, status, message, headers] of faults) {
        const path = version === '1.1' ? '/soap11' : '/soap12';
        const before = gateway.log().length;
        const all = { 'Content-Type': contentTypes[version], ...headers };
        const reply = await gateway.send('POST', path, all, message(version));
        t.true([400, 500].includes(reply.status), fault);
        const line = JSON.parse(gateway.log().slice(before));
        t.is(line.fault, fault);
        t.is(line.level, 40, fault);
        t.is(line.meant ?? line.status, status, fault);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      const { text } = await send(gateway.port, 'GET', '/metrics');
      const label = `contract="/v2",transport="soap${version.replace('.', '')}"`;
      for (const [status, count] of counts)
        t.true(text.includes(`soapbridge_requests_total{${label},status="${status}"} ${count}\n`), text);
      t.notRegex(text, /soapbridge_requests_total\{[^}]*status="5/);
      t.is(gateway.hits.length, 0);
    });
  }
}

test('W29: each error code counts by its own status, in both SOAP versions and both forms', async (t) => {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  for (const overlay of ['soapErrors: in-band', 'soapErrors: fault', 'soap12FaultStatus: standard']) {
    const compiled = compileContract(readContract(contractWith(t, overlay)).contract);
    for (const operation of [undefined, compiled.operations.values().next().value]) {
      const context = {
        compiled,
        operation,
        requestId: 'r',
        header: undefined,
        upstreamStatus: 0,
        asXml: false,
      };
      for (const format of ['soap11', 'soap12'] as const) {
        for (const code of codes) {
          const failure = failureOf(new CallError(code), 'r', (text) => text);
          const reply = soapReply(versionOf[format], { kind: 'failure', failure }, context);
          const { status } = errorCodes[code];
          t.is(reply.xStatus ?? reply.counted ?? reply.status, status, `${overlay} ${format} ${code}`);
        }
      }
    }
  }
});

test('an internal error counts as 500 and is logged as an error', async (t) => {
  const gateway = await startGateway(t, { overlay: 'soapErrors: fault' });
  gateway.answer({ status: 500, body: '{}' });
  await gateway.send('POST', '/soap11', { 'Content-Type': 'text/xml' }, envelope('1.1', { body: getSearch }));
  const line = JSON.parse(gateway.log());
  t.is(line.level, 50);
  t.is(line.meant, 502);
});
