import test, { type ExecutionContext } from 'ava';
import { definitionsOf, folderOf, schemaOf } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { elementText, envelope, send, startGateway } from '../../gateway.ts';

const wsa10 = 'http://www.w3.org/2005/08/addressing';
const wsa2004 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const wsam = 'http://www.w3.org/2007/05/addressing/metadata';
const wsaw = 'http://www.w3.org/2006/05/addressing/wsdl';

interface Attributes {
  readonly input?: string;
  readonly output?: string;
  readonly fault?: string;
  readonly namespace?: string;
  readonly soap?: string;
}

/** A WSDL with the operations `Add` and `Sum`, which share an element. The attributes are those of `Add`. */
function calculator({
  input = '',
  output = '',
  fault = '',
  namespace = 'urn:t',
  soap = '',
}: Attributes): string {
  const schema = schemaOf(
    '<xs:element name="Add"><xs:complexType/></xs:element><xs:element name="Failed"><xs:complexType/></xs:element>',
    `targetNamespace="${namespace}" xmlns:u="${namespace}"`,
  );
  const operation = (name: string, attributes: Attributes) =>
    `<w:operation name="${name}"><w:input message="u:m" ${attributes.input ?? ''}/><w:output message="u:m" ${attributes.output ?? ''}/><w:fault name="Bad" message="u:f" ${attributes.fault ?? ''}/></w:operation>`;
  const bound = (name: string) =>
    `<w:operation name="${name}"><soap:operation soapAction=""/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output><w:fault name="Bad"><soap:fault name="Bad" use="literal"/></w:fault></w:operation>`;
  const other: Attributes = { input: `a:Action="urn:sum" xmlns:a="${wsaw}"` };
  const wsdl = definitionsOf(
    schema,
    '<w:message name="m"><w:part name="p" element="u:Add"/></w:message><w:message name="f"><w:part name="p" element="u:Failed"/></w:message>' +
      `<w:portType name="ICalc">${operation('Add', { input, output, fault })}${operation('Sum', other)}</w:portType>` +
      `<w:binding name="B" type="u:ICalc"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>${bound('Add')}${bound('Sum')}</w:binding>` +
      '<w:service name="S"><w:port name="P" binding="u:B"><soap:address location="http://old.example/Calc.svc"/></w:port></w:service>',
    `targetNamespace="${namespace}" xmlns:u="${namespace}"`,
  );
  return soap === '' ? wsdl : wsdl.replace('http://schemas.xmlsoap.org/wsdl/soap/', soap);
}

/** Returns the `wsa:Action` of the reply to `Add`, and of its declared fault. */
async function actionsOf(
  t: ExecutionContext,
  attributes: Attributes,
  version: '1.1' | '1.2' = '1.2',
  addressing = wsa10,
): Promise<readonly (string | undefined)[]> {
  const folder = folderOf(t, {
    'service.wsdl': calculator({ input: `a:Action="urn:add" xmlns:a="${wsaw}"`, ...attributes }),
  });
  const gateway = await startGateway(t, { serve: { contract: folder } });
  const message = envelope(version, {
    header: `<a:Action xmlns:a="${addressing}">urn:add</a:Action>`,
    body: `<Add xmlns="${attributes.namespace ?? 'urn:t'}"/>`,
  });
  const type = version === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8';
  const call = async (): Promise<string | undefined> => {
    const { text } = await send(gateway.port, 'POST', '/Calc.svc', { 'Content-Type': type }, message);
    return elementText(text, 'Action');
  };
  gateway.answer({ body: '{}' });
  const reply = await call();
  t.deepEqual(
    gateway.hits.map(({ path }) => path),
    ['/Add'],
  );
  gateway.answer({ status: 400, body: '{"@fault":"Bad"}' });
  return [reply, await call()];
}

for (const version of ['1.1', '1.2'] as const)
  test(`A34: SOAP ${version} replies have the action of the default pattern`, async (t) => {
    const cases: readonly (readonly [Attributes, string, string])[] = [
      [
        { namespace: 'http://c.example' },
        'http://c.example/ICalc/AddResponse',
        'http://c.example/ICalc/Add/Fault/Bad',
      ],
      [
        { namespace: 'http://c.example/' },
        'http://c.example/ICalc/AddResponse',
        'http://c.example/ICalc/Add/Fault/Bad',
      ],
      [{ namespace: 'urn:t', output: 'name="Sum"' }, 'urn:t:ICalc:Sum', 'urn:t:ICalc:Add:Fault:Bad'],
      [{ namespace: 'URN:t:' }, 'URN:t:ICalc:AddResponse', 'URN:t:ICalc:Add:Fault:Bad'],
      [
        { namespace: 'urn:t', output: 'name="" xmlns:a="urn:other" a:Action="no"' },
        'urn:t:ICalc:AddResponse',
        'urn:t:ICalc:Add:Fault:Bad',
      ],
    ];
    for (const [attributes, reply, fault] of cases)
      t.deepEqual(await actionsOf(t, attributes, version), [reply, fault]);
  });

for (const namespace of [wsam, wsaw, 'http://www.w3.org/2006/02/addressing/wsdl', wsa10, wsa2004])
  test(`A34: replies have the action declared by an attribute of ${namespace}`, async (t) => {
    const declared = (action: string): string => `xmlns:a="${namespace}" a:Action="${action}"`;
    const attributes = {
      output: `name="x" ${declared(' urn:sum?a=1&amp;b\n ')}`,
      fault: declared('urn:bad'),
    };
    for (const addressing of [wsa10, wsa2004])
      t.deepEqual(await actionsOf(t, attributes, '1.2', addressing), ['urn:sum?a=1&amp;b', 'urn:bad']);
  });

test('A34: wsam:Action wins over wsaw:Action, and an empty Action is ignored', async (t) => {
  const both = `xmlns:a="${wsaw}" a:Action="urn:old" xmlns:m="${wsam}"`;
  t.is((await actionsOf(t, { output: `${both} m:Action="urn:new"` }))[0], 'urn:new');
  t.is((await actionsOf(t, { output: `${both} m:Action=""` }))[0], 'urn:old');
});

test('A34: a WSDL with only SOAP 1.2 declares actions in the same way', async (t) => {
  const soap = 'http://schemas.xmlsoap.org/wsdl/soap12/';
  t.deepEqual(await actionsOf(t, { soap }), ['urn:t:ICalc:AddResponse', 'urn:t:ICalc:Add:Fault:Bad']);
});

test('A34: WS-Addressing of 2004 has no default action for declared faults', async (t) => {
  const actions = await actionsOf(t, { namespace: 'http://c.example' }, '1.1', wsa2004);
  t.deepEqual(actions, ['http://c.example/ICalc/AddResponse', `${wsa2004}/fault`]);
});

test('A34: an undeclared error has the action of any SOAP fault', async (t) => {
  const gateway = await startGateway(t, {
    serve: {
      contract: folderOf(t, { 's.wsdl': calculator({ input: `a:Action="urn:add" xmlns:a="${wsaw}"` }) }),
    },
  });
  gateway.answer({ status: 500, body: '{}' });
  const header = `<a:Action xmlns:a="${wsa10}">urn:add</a:Action>`;
  const message = envelope('1.1', { header, body: '<Add xmlns="urn:t"/>' });
  const { text } = await send(gateway.port, 'POST', '/Calc.svc', { 'Content-Type': 'text/xml' }, message);
  t.is(elementText(text, 'Action'), `${wsa10}/soap/fault`);
});
