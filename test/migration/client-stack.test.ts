import test from 'ava';
import { type ClientStack, clientStackOf } from '../../gateway/migration/client-stack.ts';
import { readRecordings, recordedStacks } from '../recordings/recordings.ts';

/** The stacks of the recorded clients. Clients that are not listed are unknown. */
const expected: Readonly<Record<string, ClientStack>> = {
  axis: 'Axis 1',
  axis2: 'Axis 2',
  rampart: 'Axis 2',
  cxf: 'CXF',
  'cxf-dynamic': 'CXF',
  dotnet: '.NET WCF',
  gsoap: 'gSOAP',
  'jaxws-ri': 'JAX-WS RI',
  metro: 'JAX-WS RI',
  'mono-asmx': '.NET asmx proxy',
  'mono-wcf': '.NET WCF',
  'node-soap': 'node-soap',
  php: 'PHP SoapClient',
  'php-plain': 'PHP SoapClient',
  'soap-lite': 'SOAP::Lite',
  'soap-wsdl': 'SOAP::Lite', // SOAP::WSDL sends through SOAP::Lite
  suds: 'suds',
  zeep: 'zeep',
};

for (const stack of recordedStacks)
  test(`G62: calls of ${stack} are attributed to ${expected[stack] ?? 'an unknown stack'}`, (t) => {
    const calls = readRecordings(stack).filter(({ bytes }) => bytes.toString('latin1', 0, 5) === 'POST ');
    t.true(calls.length > 0);
    for (const { name, bytes } of calls) {
      const text = bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const agent = /^user-agent: *(.*?)\r?$/im.exec(text.slice(0, end))?.[1];
      t.is(clientStackOf(agent, text.slice(end + 4, end + 1_028)), expected[stack] ?? 'unknown', name);
    }
  });

test('G62: the User-Agents of other versions are known', (t) => {
  for (const [agent, stack] of [
    ['Metro/2.3 (tags/2.3-7528; 2013-04-29T19:34:10+0000) JAXWS-RI/2.2.8 JAXWS/2.2', 'JAX-WS RI'],
    ['Eclipse Metro/4.0.5 (UNKNOWN-05d1549) XMLWS-Impl/4.0.3', 'JAX-WS RI'],
    ['Apache CXF 2.7.18', 'CXF'],
    ['Python-urllib/3.11', 'unknown'],
    ['curl/7.88.1', 'unknown'],
  ] as const)
    t.is(clientStackOf(agent, '<soap:Envelope xmlns:soap="x">'), stack, agent);
});

test('G62: a client without User-Agent is WCF only with the prefix of WCF', (t) => {
  t.is(clientStackOf(undefined, '<?xml version="1.0"?><s:Envelope xmlns:s="x">'), '.NET WCF');
  t.is(clientStackOf(undefined, '<soap:Envelope xmlns:soap="x">'), 'unknown');
  t.is(clientStackOf(undefined, 'Envelope'), 'unknown');
  t.is(clientStackOf(undefined, undefined), 'unknown');
});
