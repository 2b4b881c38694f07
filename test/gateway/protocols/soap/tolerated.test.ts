import test, { type ExecutionContext } from 'ava';
import { definitionsOf, folderOf, schemaOf } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { load as loadDocument } from '../../../plain/documents.ts';
import { envelope, type Gateway, send, startGateway } from '../../gateway.ts';

const versions = ['1.1', '1.2'] as const;
type Version = (typeof versions)[number];

interface Served extends Gateway {
  /** Posts a body. Returns the reply and the deviations in the log. */
  readonly call: (
    version: Version,
    body: string,
    headers?: Record<string, string>,
    attributes?: string,
  ) => Promise<{ readonly status: number; readonly text: string; readonly deviations: readonly string[] }>;
}

async function serve(t: ExecutionContext, contract: string, path = '/Things.asmx'): Promise<Served> {
  const gateway = await startGateway(t, { serve: { contract } });
  return {
    ...gateway,
    call: async (version, body, headers = {}, attributes = '') => {
      const type = version === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8';
      const message = envelope(version, { body }).replace(/Envelope /, `Envelope ${attributes} `);
      const { status, text } = await send(
        gateway.port,
        'POST',
        path,
        { 'Content-Type': type, ...headers },
        message,
      );
      const line = gateway.log().trimEnd().split('\n').at(-1) ?? '{}';
      return { status, text, deviations: JSON.parse(line).noted?.deviations ?? [] };
    },
  };
}

/** A WSDL of rpc operations, each with the parts `in` and `pair`. `body` is the namespace of `soap:body`. */
function rpc(
  use: 'literal' | 'encoded',
  body: string | undefined,
  names: readonly string[] = ['Op'],
): string {
  const pair = schemaOf(
    '<xs:complexType name="Pair"><xs:sequence><xs:element name="x" type="xs:int" minOccurs="0"/><xs:any namespace="##other" processContents="lax" minOccurs="0"/></xs:sequence></xs:complexType>',
    'targetNamespace="urn:t"',
  );
  const soapBody = `<soap:body use="${use}"${body === undefined ? '' : ` namespace="${body}"`}/>`;
  const operations = names.map(
    (name) =>
      `<w:operation name="${name}"><w:input name="${name}" message="t:${name}In"/><w:output message="t:out"/></w:operation>`,
  );
  const messages = names.map(
    (name) =>
      `<w:message name="${name}In"><w:part name="in" type="xs:int"/><w:part name="pair" type="t:Pair"/><w:part name="any" type="xs:anyType"/></w:message>`,
  );
  const bound = names.map(
    (name) =>
      `<w:operation name="${name}"><soap:operation soapAction="urn:${name}"/><w:input name="${name}">${soapBody}</w:input><w:output>${soapBody}</w:output></w:operation>`,
  );
  return definitionsOf(
    pair,
    `${messages.join('')}<w:message name="out"/><w:portType name="P">${operations.join('')}</w:portType>` +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>${bound.join('')}</w:binding>` +
      '<w:service name="S"><w:port name="Port" binding="t:B"><soap:address location="http://old.example/Things.asmx"/></w:port></w:service>',
  );
}

const serveRpc = (t: ExecutionContext, ...parts: Parameters<typeof rpc>) =>
  serve(t, folderOf(t, { 'service.wsdl': rpc(...parts) }));

for (const use of ['literal', 'encoded'] as const)
  for (const version of versions) {
    test(`A30: SOAP ${version} rpc/${use} wrappers are found by local name, and counted`, async (t) => {
      const gateway = await serveRpc(t, use, 'urn:body');
      const content = '<in>1</in>';
      const cases = [
        [`<b:Op xmlns:b="urn:body">${content}</b:Op>`, []],
        [`<t:Op xmlns:t="urn:t">${content}</t:Op>`, ['wrapperNamespace']],
        [`<o:Op xmlns:o="urn:other">${content}</o:Op>`, ['wrapperNamespace']],
        [`<Op>${content}</Op>`, ['wrapperNamespace']],
        [`<p:Op xmlns:p="">${content}</p:Op>`, ['wrapperNamespace']],
        [`<p:Op xmlns:p=""><p:in>1</p:in></p:Op>`, ['wrapperNamespace']],
        [`<b:Op xmlns:b="urn:body"><b:in>1</b:in></b:Op>`, ['partNamespace']],
        [`<Op xmlns="urn:t"><in>1</in></Op>`, ['wrapperNamespace', 'partNamespace']],
      ] as const;
      // often enough for the forms of requests to be cached
      for (let round = 0; round < 10; round++)
        for (const [body, expected] of cases) {
          const { status, text, deviations } = await gateway.call(version, body);
          t.is(status, 200, text);
          t.deepEqual(deviations, expected, body);
          t.is(gateway.hits.at(-1)?.body, '{"in":1}');
        }
      const { text } = await send(gateway.port, 'GET', '/metrics');
      t.regex(
        text,
        /tolerated_deviations_total\{contract="\/",operation="Op",deviation="partNamespace"\} 20\n/,
      );
    });

    test(`A30: SOAP ${version} rpc/${use} values in a part are found by local name too`, async (t) => {
      const gateway = await serveRpc(t, use, undefined);
      const body = '<Op xmlns="urn:t"><in>1</in><pair><x>2</x></pair></Op>';
      const { status, deviations } = await gateway.call(version, body);
      t.is(status, 200);
      t.deepEqual(deviations, ['partNamespace']);
      t.is(gateway.hits[0]?.body, '{"in":1,"pair":{"x":2}}');
      const wrong = await gateway.call(version, '<Op xmlns="urn:t"><inn>1</inn><pair><y>2</y></pair></Op>');
      t.is(wrong.status, 500);
      t.regex(wrong.text, /inn: unknown element, did you mean in/);
      t.is(gateway.hits.length, 1);
    });

    test(`A30: SOAP ${version} rpc/${use} requests may bind a prefix to no namespace anywhere`, async (t) => {
      const gateway = await serveRpc(t, use, undefined);
      const open = '<ns1:Op><in>1</in><any><ns1:a ns1:b="c"><ns1:d/></ns1:a></any></ns1:Op>';
      const header = '<x:Trace xmlns:x="urn:x">1</x:Trace>';
      for (let round = 0; round < 10; round++) {
        const { status, text, deviations } = await gateway.call(version, open, {}, 'xmlns:ns1=""');
        t.is(status, 200, text);
        t.deepEqual(deviations, ['wrapperNamespace']);
        const { any } = JSON.parse(gateway.hits.at(-1)?.body ?? '');
        t.deepEqual(any, { '@xml': '<a b="c"><d></d></a>' });
        const message = envelope(version, { header, body: open }).replace(
          /Envelope /,
          'Envelope xmlns:ns1="" ',
        );
        const type = { 'Content-Type': version === '1.1' ? 'text/xml' : 'application/soap+xml' };
        t.is((await send(gateway.port, 'POST', '/Things.asmx', type, message)).status, 200);
      }
    });
  }

test('A30: references of encoded requests are followed where a prefix is bound to no namespace', async (t) => {
  const gateway = await serveRpc(t, 'encoded', undefined);
  const body =
    '<p:Op xmlns:p=""><p:in href="#a"/><pair href="#b"/></p:Op><multiRef id="a">1</multiRef><p:multiRef xmlns:p="" id="b"><p:x>2</p:x></p:multiRef>';
  const { status, text, deviations } = await gateway.call('1.1', body);
  t.is(status, 200, text);
  t.deepEqual(deviations, ['wrapperNamespace']);
  t.is(gateway.hits[0]?.body, '{"in":1,"pair":{"x":2}}');
});

test('A30: a local name that several operations have selects none', async (t) => {
  const first = rpc('literal', 'urn:a');
  const second = first
    .replaceAll('urn:a', 'urn:b')
    .replace(/^.*<\/w:types>/, '')
    .replace('</w:definitions>', '')
    .replaceAll('name="P"', 'name="P2"')
    .replaceAll('t:P"', 't:P2"')
    .replaceAll('name="B"', 'name="B2"')
    .replaceAll('t:B"', 't:B2"')
    .replaceAll(/<w:message name=".*?"(?:\/>|>.*?<\/w:message>)/g, '')
    .replace('name="S"', 'name="S2"')
    .replace('name="Port"', 'name="Port2"');
  const gateway = await serve(
    t,
    folderOf(t, { 'service.wsdl': first.replace('</w:definitions>', `${second}</w:definitions>`) }),
  );
  t.is((await gateway.call('1.1', '<b:Op xmlns:b="urn:b"><in>1</in></b:Op>')).status, 200);
  const refused = await gateway.call('1.1', '<o:Op xmlns:o="urn:other"><in>1</in></o:Op>');
  t.is(refused.status, 500);
  t.is(gateway.hits.length, 1);
});

/** A WSDL of document style: `Ping` and `Pong` without parts, and `Get` with the empty element `t:Get`. */
const documentStyle = definitionsOf(
  schemaOf(
    '<xs:element name="Get"><xs:complexType><xs:sequence/></xs:complexType></xs:element><xs:element name="Find"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>',
  ),
  '<w:message name="none"/><w:message name="get"><w:part name="p" element="t:Get"/></w:message><w:message name="find"><w:part name="p" element="t:Find"/></w:message>' +
    `<w:portType name="P">${[
      ['Ping', 'none'],
      ['Pong', 'none'],
      ['Get', 'get'],
      ['Find', 'find'],
    ]
      .map(
        ([name, message]) =>
          `<w:operation name="${name}"><w:input message="t:${message}"/><w:output message="t:get"/></w:operation>`,
      )
      .join('')}</w:portType>` +
    `<w:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>${[
      'Ping',
      'Pong',
      'Get',
      'Find',
    ]
      .map(
        (name) =>
          `<w:operation name="${name}"><soap:operation soapAction="urn:${name}"/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation>`,
      )
      .join('')}</w:binding>` +
    '<w:service name="S"><w:port name="Port" binding="t:B"><soap:address location="http://old.example/Things.asmx"/></w:port></w:service>',
);

const serveDocumentStyle = (t: ExecutionContext) => serve(t, folderOf(t, { 'service.wsdl': documentStyle }));

for (const version of versions) {
  test(`A7: SOAP ${version} accepts an empty element with the name of an operation without parts`, async (t) => {
    const gateway = await serveDocumentStyle(t);
    const bodies = [
      '<t:Ping xmlns:t="urn:t"/>',
      '<Ping/>',
      '<t:Ping xmlns:t="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"> <!-- none -->\n</t:Ping>',
    ];
    for (let round = 0; round < 10; round++)
      for (const body of bodies)
        for (const headers of [{}, { SOAPAction: '"urn:Ping"' }]) {
          const { status, text, deviations } = await gateway.call(version, body, headers);
          t.is(status, 200, text);
          t.deepEqual(deviations, ['operationElement']);
          const { path, body: sent } = gateway.hits.at(-1) ?? {};
          t.is(`${path} ${sent}`, '/Ping {}');
        }
    t.is((await gateway.call(version, '', { SOAPAction: '"urn:Pong"' })).deviations.length, 0);
    t.is(gateway.hits.at(-1)?.path, '/Pong');
  });

  test(`A7: SOAP ${version} refuses content, another namespace or action there`, async (t) => {
    const gateway = await serveDocumentStyle(t);
    const cases = [
      ['<t:Ping xmlns:t="urn:t"><a/></t:Ping>', {}],
      ['<t:Ping xmlns:t="urn:t">a</t:Ping>', {}],
      ['<t:Ping xmlns:t="urn:other"/>', {}],
      ['<t:Ping xmlns:t="urn:t"/>', { SOAPAction: '"urn:Pong"' }],
      ['<t:Ping xmlns:t="urn:t"/><t:Ping xmlns:t="urn:t"/>', {}],
      ['<t:Pang xmlns:t="urn:t"/>', {}],
    ] as const;
    for (const [body, headers] of cases) t.is((await gateway.call(version, body, headers)).status, 500, body);
    t.is(gateway.hits.length, 0);
  });

  test(`A6: SOAP ${version} document/literal elements keep their namespace`, async (t) => {
    const gateway = await serveDocumentStyle(t);
    for (const body of [
      '<Get xmlns="urn:other"/>',
      '<p:Get xmlns:p=""/>',
      '<Find xmlns="urn:t"><o:x xmlns:o="urn:other">1</o:x></Find>',
    ])
      t.is((await gateway.call(version, body)).status, 500, body);
    t.is(gateway.hits.length, 0);
  });
}

const nil = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"';

test('A25: nil on the element of an operation without inputs is accepted', async (t) => {
  const gateway = await serveDocumentStyle(t);
  for (const version of versions) {
    const { status, deviations } = await gateway.call(version, `<Get xmlns="urn:t" ${nil}/>`);
    t.is(status, 200);
    t.deepEqual(deviations, ['nilOperation']);
    t.is(gateway.hits.at(-1)?.body, '{}');
  }
  const { length } = gateway.hits;
  for (const body of [
    `<Get xmlns="urn:t" ${nil}><a/></Get>`,
    `<Get xmlns="urn:t" ${nil}>a</Get>`,
    `<Find xmlns="urn:t" ${nil}/>`,
  ])
    t.is((await gateway.call('1.1', body)).status, 500, body);
  t.is(gateway.hits.length, length);
});

test('W13: nil on the element of an operation without inputs is accepted, others keep refusing it', async (t) => {
  const answer = {
    200: { description: '', content: { 'application/json': { schema: { type: 'object' } } } },
  };
  const document = {
    openapi: '3.0.3',
    info: { title: 'Times', version: '1' },
    paths: {
      '/time': { get: { operationId: 'GetTime', responses: answer } },
      '/zone': {
        get: {
          operationId: 'GetZone',
          parameters: [{ name: 'at', in: 'query', schema: { type: 'string' } }],
          responses: answer,
        },
      },
    },
  };
  const { contract } = loadDocument(document);
  const { types } = contract.namespaces;
  const gateway = await serve(t, folderOf(t, { 'openapi.json': JSON.stringify(document) }), '/soap11');
  for (const version of versions) {
    const { status, text, deviations } = await gateway.call(version, `<GetTime xmlns="${types}" ${nil}/>`);
    t.is(status, 200, text);
    t.deepEqual(deviations, ['nilOperation']);
  }
  t.is(gateway.hits.length, 2);
  for (const body of [
    `<GetZone xmlns="${types}" ${nil}/>`,
    `<GetTime xmlns="${types}" ${nil}><a/></GetTime>`,
  ])
    t.is((await gateway.call('1.1', body)).status, 500, body);
  t.is(gateway.hits.length, 2);
});
