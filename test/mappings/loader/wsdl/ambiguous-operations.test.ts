import test, { type ExecutionContext } from 'ava';
import { readContract } from '../../../../mappings/loader/load.ts';
import { definitionsOf, folderOf, schemaOf } from './wsdl-folder.ts';

/** An operation by its body element and action, in a separate port type and port. */
interface Written {
  readonly element?: string;
  readonly action?: string;
  readonly port?: string;
}

const schema = schemaOf(
  '<xs:element name="Get"><xs:complexType/></xs:element><xs:element name="Put"><xs:complexType/></xs:element>',
);

/** Returns a WSDL whose ports have the same path. */
function wsdlOf(operations: Readonly<Record<string, Written>>, style = 'document'): string {
  const all = Object.entries(operations).map(([name, { element = '', action = '', port = 'P' }]) => {
    const part = element === '' ? '' : `<w:part name="p" element="t:${element}"/>`;
    return {
      port,
      message: `<w:message name="${name}In">${part}</w:message>`,
      abstract: `<w:operation name="${name}"><w:input message="t:${name}In"/></w:operation>`,
      bound: `<w:operation name="${name}"><soap:operation soapAction="${action}"/><w:input><soap:body use="literal"/></w:input></w:operation>`,
    };
  });
  const ports = [...Map.groupBy(all, ({ port }) => port)].map(([port, own]) => ({
    types: `<w:portType name="${port}Type">${own.map(({ abstract }) => abstract).join('')}</w:portType><w:binding name="${port}Binding" type="t:${port}Type"><soap:binding style="${style}" transport="http://schemas.xmlsoap.org/soap/http"/>${own.map(({ bound }) => bound).join('')}</w:binding>`,
    port: `<w:port name="${port}" binding="t:${port}Binding"><soap:address location="http://old.example/s"/></w:port>`,
  }));
  return definitionsOf(
    schema,
    `${all.map(({ message }) => message).join('')}${ports.map(({ types }) => types).join('')}<w:service name="S">${ports.map(({ port }) => port).join('')}</w:service>`,
  );
}

function warningsOf(t: ExecutionContext, wsdl: string, overlay = '{}'): readonly string[] {
  const { warnings } = readContract(folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': overlay }));
  return warnings.map(({ message }) => message);
}

const told = (names: string, count = 2, shared = 'the body element {urn:t}Get'): string =>
  `no message to /s can select ${names}: ${count} operations have ${shared} and no unique action. Set different paths with "endpoints" in soap.yaml, or remove operations with "hide"`;

for (const [what, operations, warning] of [
  ['one body element and no action', { A: { element: 'Get' }, B: { element: 'Get' } }, told('A, B')],
  [
    'one body element and one action',
    { A: { element: 'Get', action: 'urn:x' }, B: { element: 'Get', action: 'urn:x' } },
    told('A, B'),
  ],
  [
    'one body element, and one of them no action',
    { A: { element: 'Get', action: 'urn:x' }, B: { element: 'Get' } },
    told('B'),
  ],
  [
    'one body element, in ports of one path',
    { A: { element: 'Get', port: 'P' }, B: { element: 'Get', port: 'Q' } },
    told('A, B'),
  ],
  ['an empty body', { A: {}, B: {}, C: { element: 'Put' } }, told('A, B', 2, 'an empty body')],
] as const) {
  test(`A6: loading warns of operations with ${what}`, (t) => {
    t.deepEqual(warningsOf(t, wsdlOf(operations)), [warning]);
  });
}

test('A6: loading does not warn of operations that a body or an action selects', (t) => {
  const element = 'Get';
  t.deepEqual(warningsOf(t, wsdlOf({ A: { element }, B: { element: 'Put' } })), []);
  t.deepEqual(
    warningsOf(t, wsdlOf({ A: { element, action: 'urn:a' }, B: { element, action: 'urn:b' } })),
    [],
  );
  t.deepEqual(warningsOf(t, wsdlOf({ A: {}, B: {} }, 'rpc')), []);
});

test('A6: endpoints and hide end the warning', (t) => {
  const element = 'Get';
  const wsdl = wsdlOf({ A: { element, port: 'P' }, B: { element, port: 'Q' } });
  t.deepEqual(warningsOf(t, wsdl, 'endpoints: { Q: /q }'), []);
  t.deepEqual(warningsOf(t, wsdl, 'operations: { B: { hide: true } }'), []);
});
