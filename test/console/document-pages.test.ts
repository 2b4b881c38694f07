import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../console/server/pages.ts';
import { send, startGateway } from '../gateway/gateway.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

const done = { 204: { description: 'done' } };

const document = {
  openapi: '3.1.0',
  info: {
    title: 'Pet shop <b>',
    version: '4.2',
    description: 'All about pets.',
    contact: { name: 'Jo', url: 'https://jo.example/', email: 'jo@example.com' },
    license: { name: 'Apache 2.0', url: 'javascript:alert(1)' },
    termsOfService: 'https://terms.example/',
  },
  externalDocs: { url: 'https://more.example/' },
  tags: [
    { name: 'pets', description: 'Cats and **dogs**.' },
    { name: 'unused', description: 'Nothing.' },
  ],
  components: { responses: { Gone: { description: 'The pet is gone.' } } },
  paths: {
    '/pets': {
      get: { operationId: 'findPets', tags: ['pets'], deprecated: true, responses: done },
      delete: {
        operationId: 'removePets',
        tags: ['pets'],
        responses: {
          ...done,
          404: { description: 'There is no pet.' },
          410: { $ref: '#/components/responses/Gone' },
          '5XX': { $ref: '#/components/responses/Nothing' },
          default: { description: 'Something else.' },
        },
      },
      trace: { operationId: 'tracePets', responses: done },
    },
  },
};

async function pageOf(t: ExecutionContext, contract: string, path: string): Promise<string> {
  const gateway = await startGateway(t, { serve: { pages: createPages, contract } });
  const { status, text } = await send(gateway.port, 'GET', path, { Accept: 'text/html' });
  t.is(status, 200, path);
  return text.replaceAll('<wbr/>', '').replaceAll(/\s+/g, ' ');
}

function petsOf(t: ExecutionContext, stated: object = document): string {
  return folderOf(t, { 'openapi.json': JSON.stringify(stated) });
}

test('the overview shows title, version, contact, licence and external documentation', async (t) => {
  const text = await pageOf(t, petsOf(t), '/');
  for (const part of [
    '<h1 dir="auto">Pet shop &lt;b></h1>',
    '<span>Version:</span> 4.2',
    '<a href="https://jo.example/" rel="noreferrer nofollow">Jo</a>, jo@example.com',
    '<span>Licence:</span> Apache 2.0<',
    'href="https://terms.example/"',
    'href="https://more.example/"',
    'All about pets.',
  ])
    t.true(text.includes(part), part);
  t.false(text.includes('javascript:'));
});

test('a document without these facts has no lines for them', async (t) => {
  const bare = {
    ...document,
    info: { title: 'Pets', version: '' },
    externalDocs: undefined,
    tags: undefined,
  };
  const text = await pageOf(t, petsOf(t, bare), '/');
  t.notRegex(text, /Version:|Contact:|Licence:|Terms of service:|More documentation:/);
});

test('the overview shows tag descriptions, badges of operations and unserved operations', async (t) => {
  const text = await pageOf(t, petsOf(t), '/');
  t.regex(
    text,
    /<h3 dir="auto">pets<\/h3><div class="prose" dir="auto"><p>Cats and <strong>dogs<\/strong>\.<\/p>/,
  );
  const listed = text.slice(text.indexOf('<ul class="operations">'));
  t.regex(
    listed,
    /findPets<\/a> <span class="badges"><span class="badge method">GET<\/span> <span class="badge read">reads only<\/span> <span class="badge warn">deprecated/,
  );
  t.regex(
    listed,
    /removePets<\/a> <span class="badges"><span class="badge method">DELETE<\/span> <span class="badge write">writes<\/span><\/span>/,
  );
  t.regex(text, /<h2 id="not-served">.*<code>TRACE \/pets<\/code><\/dt><dd dir="auto">[^<]+<\/dd>/);
});

test('an operation shows its badges and the errors that the document declares for it', async (t) => {
  const contract = petsOf(t);
  const text = await pageOf(t, contract, '/docs/removePets');
  t.regex(text, /<h1>removePets<\/h1><p><span class="badges"><span class="badge method">DELETE</);
  const errors = text.slice(
    text.indexOf('Errors that the document declares'),
    text.indexOf('Errors of the gateway'),
  );
  for (const [status, description] of [
    ['404', 'There is no pet.'],
    ['410', 'The pet is gone.'],
    ['5XX', ''],
    ['default', 'Something else.'],
  ])
    t.regex(errors, new RegExp(`>${status}</td><td[^>]*><span dir="auto">${description}</span>`));
  const without = await pageOf(t, contract, '/docs/findPets');
  t.false(without.includes('Errors that the document declares'));
});

test('docs.json has the facts of the pages', async (t) => {
  const data = JSON.parse(await pageOf(t, petsOf(t), '/docs.json'));
  t.like(data.about, { title: 'Pet shop <b>', version: '4.2' });
  t.is(data.about.notServed[0].name, 'TRACE /pets');
  t.like(data.operations[0], { name: 'findPets', deprecated: true });
  t.is(data.operations[1].errors.length, 4);
});

/** A WSDL with a declared fault, and an operation that is not served. */
const wsdl = definitionsOf(
  schemaOf(
    '<xs:element name="Get"><xs:complexType><xs:sequence><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType></xs:element>' +
      '<xs:element name="Missing"><xs:complexType><xs:sequence><xs:element name="number" type="xs:int"/></xs:sequence></xs:complexType></xs:element>',
  ),
  get
    .replace(
      '<w:portType',
      '<w:message name="f"><w:part name="p" element="t:Missing"/></w:message><w:message name="two"><w:part name="a" type="xs:int"/><w:part name="b" type="xs:int"/></w:message><w:portType',
    )
    .replace(
      '</w:operation></w:portType>',
      '<w:fault name="NoSuchThing" message="t:f"/></w:operation><w:operation name="Sum"><w:input message="t:two"/><w:output message="t:out"/></w:operation></w:portType>',
    )
    .replace(
      '</w:operation></w:binding>',
      '<w:fault name="NoSuchThing"><soap:fault name="NoSuchThing" use="literal"/></w:fault></w:operation><w:operation name="Sum"><soap:operation soapAction="urn:t/Sum"/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation></w:binding>',
    ),
);

test('pages of an imported WSDL show declared faults with members, and unserved operations', async (t) => {
  const contract = folderOf(t, { 'service.wsdl': wsdl });
  const operation = await pageOf(t, contract, '/docs/Get');
  t.regex(operation, /<summary><code>NoSuchThing<\/code><\/summary>.*<code class="name">number<\/code>/);
  t.notRegex(operation, /badge method/);
  const overview = await pageOf(t, contract, '/');
  t.regex(overview, /<h2 id="not-served">.*Sum/);
});

test('the page about the WSDL has its own address, and a line per importing stack', async (t) => {
  for (const [contract, path] of [
    [petsOf(t), '/soap11'],
    [folderOf(t, { 'service.wsdl': wsdl }), '/Things.asmx'],
  ] as const) {
    const text = await pageOf(t, contract, '/docs/-/document?wsdl');
    const address = /<code>(http:[^<]*\?wsdl)<\/code>/.exec(text)?.[1] ?? '';
    t.true(address.endsWith(`${path}?wsdl`), address);
    const overview = await pageOf(t, contract, '/');
    for (const line of [
      'dotnet-svcutil',
      'wsimport',
      'wsdl2java',
      'new SoapClient',
      'zeep.Client',
      'createClientAsync',
    ])
      for (const page of [text, overview]) t.regex(page, new RegExp(`${line}[^<]*:\\d+${path}\\?wsdl`), line);
    t.true(text.includes(`href="../../${path.slice(1)}?wsdl&amp;raw"`), text.slice(0, 3_000));
    t.regex(overview, /href="\.\/docs\/-\/document\?wsdl"/);
  }
});
