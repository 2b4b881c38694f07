import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { describeSoap, describeStrongSoap } from './importers.ts';
import { parcels, plainParcels } from './parcels.ts';
import { all, descendants, only, readTree } from './tree.ts';

const address = 'https://api.example.com/edge/v1';
const wsdl = writeWsdl(parcels, { address });
const definitions = readTree(wsdl);

test('W32: definitions have the service name, the types namespace and the prefixes, in this order', (t) => {
  t.deepEqual(Object.entries(definitions.attributes), [
    ['xmlns:wsdl', 'http://schemas.xmlsoap.org/wsdl/'],
    ['xmlns:soap', 'http://schemas.xmlsoap.org/wsdl/soap/'],
    ['xmlns:soap12', 'http://schemas.xmlsoap.org/wsdl/soap12/'],
    ['xmlns:tns', 'urn:example:parcels'],
    ['xmlns:typ', 'urn:example:parcels'],
    ['xmlns:wsaw', 'http://www.w3.org/2006/05/addressing/wsdl'],
    ['name', 'Parcels'],
    ['targetNamespace', 'urn:example:parcels'],
  ]);
});

test('W32: definitions have types, messages, portType, bindings and one service', (t) => {
  t.deepEqual(
    definitions.children.map(({ name }) => name),
    [
      'wsdl:types',
      ...Array(4).fill('wsdl:message'),
      'wsdl:portType',
      'wsdl:binding',
      'wsdl:binding',
      'wsdl:service',
    ],
  );
});

test('W32: each operation has two messages of one part called parameters', (t) => {
  const rows = all(definitions, 'wsdl:message').map((message) => [
    message.attributes.name,
    ...message.children.map((part) => Object.values(part.attributes).join(' ')),
  ]);
  t.deepEqual(rows, [
    ['SendParcelIn', 'parameters typ:SendParcel'],
    ['SendParcelOut', 'parameters typ:SendParcelResponse'],
    ['TrackParcelIn', 'parameters typ:TrackParcel'],
    ['TrackParcelOut', 'parameters typ:TrackParcelResponse'],
  ]);
});

test('W32: the portType has wsaw:Action on input and output, and no fault', (t) => {
  const portType = only(definitions, 'wsdl:portType');
  t.is(portType.attributes.name, 'IParcels');
  const track = portType.children[1];
  t.deepEqual(
    track?.children.map(({ name, attributes }) => [name, attributes]),
    [
      ['wsdl:documentation', {}],
      ['wsdl:input', { 'wsaw:Action': 'TrackParcel', message: 'tns:TrackParcelIn' }],
      ['wsdl:output', { 'wsaw:Action': 'TrackParcelResponse', message: 'tns:TrackParcelOut' }],
    ],
  );
});

test('W32: an operation has the description of the contract, or no documentation', (t) => {
  const [send, track] = only(definitions, 'wsdl:portType').children;
  t.is(track?.children[0]?.text, 'Says where a parcel is,\nwhatever "it" is & <does>.');
  t.deepEqual(
    send?.children.map(({ name }) => name),
    ['wsdl:input', 'wsdl:output'],
  );
});

for (const [index, { name, prefix }] of [
  { name: 'Soap11Binding', prefix: 'soap' },
  { name: 'Soap12Binding', prefix: 'soap12' },
].entries()) {
  test(`W32: ${name} is document/literal over SOAP 1.1's transport, with soapAction as the name`, (t) => {
    const binding = all(definitions, 'wsdl:binding')[index];
    t.deepEqual(binding?.attributes, { name, type: 'tns:IParcels' });
    const [head, ...operations] = binding?.children ?? [];
    t.is(head?.name, `${prefix}:binding`);
    t.deepEqual(head?.attributes, {
      transport: 'http://schemas.xmlsoap.org/soap/http',
      style: 'document',
    });
    t.deepEqual(
      operations.map((operation) =>
        descendants(operation).map((tree) => [tree.name, ...Object.values(tree.attributes)]),
      ),
      ['SendParcel', 'TrackParcel'].map((operation) => [
        ['wsdl:operation', operation],
        [`${prefix}:operation`, operation, 'document'],
        ['wsdl:input'],
        [`${prefix}:body`, 'literal'],
        ['wsdl:output'],
        [`${prefix}:body`, 'literal'],
      ]),
    );
  });
}

test('W32, W34: the service has the SOAP 1.1 port first, each at its path below the address', (t) => {
  const service = only(definitions, 'wsdl:service');
  t.is(service.attributes.name, 'Parcels');
  t.deepEqual(
    service.children.map((port) => [...Object.values(port.attributes), only(port, '').attributes.location]),
    [
      ['Soap11', 'tns:Soap11Binding', `${address}/soap11`],
      ['Soap12', 'tns:Soap12Binding', `${address}/soap12`],
    ],
  );
});

for (const [soap, port, prefix, other] of [
  ['1.1', 'Soap11', 'soap', 'soap12'],
  ['1.2', 'Soap12', 'soap12', 'soap'],
] as const)
  test(`W2: a WSDL of SOAP ${soap} has no binding, port or extension of the other version`, (t) => {
    const text = writeWsdl(parcels, { address, soap });
    const tree = readTree(text);
    t.is(only(tree, 'wsdl:binding').attributes.name, `${port}Binding`);
    t.is(only(only(tree, 'wsdl:service'), 'wsdl:port').attributes.name, port);
    t.false(text.includes(`<${other}:`));
    t.false(text.includes(`xmlns:${other}=`));
    t.true(text.includes(`<${prefix}:address location="${address}/${port.toLowerCase()}"/>`));
  });

test('W32: the same contract gives the same bytes', (t) => {
  t.is(writeWsdl(structuredClone(parcels), { address }), wsdl);
});

for (const [title, contract] of [
  ['two namespaces', parcels],
  ['one namespace', plainParcels],
] as const) {
  test(`soap and strong-soap read a contract of ${title}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'wsdl-'));
    const path = join(folder, 'parcels.wsdl');
    try {
      await writeFile(path, writeWsdl(contract, { address }));
      const operations = ['SendParcel', 'TrackParcel'];
      const expected = { Parcels: { Soap11: operations, Soap12: operations } };
      t.deepEqual(await describeSoap(path), expected);
      t.deepEqual(await describeStrongSoap(path), expected);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
