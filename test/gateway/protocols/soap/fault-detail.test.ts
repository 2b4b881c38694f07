import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readContract } from '../../../../mappings/loader/load.ts';
import { writeWsdl } from '../../../../wsdl/wsdl.ts';
import { compileSchema, findInvalid } from '../../../wsdl/libxml2.ts';
import {
  type Answer,
  elementText,
  envelope,
  send,
  sharedGateway,
  soap11Namespace,
  soap12Namespace,
  startGateway,
} from '../../gateway.ts';

const pet = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    born: { type: 'string', format: 'date' },
    legs: { type: 'integer' },
  },
};
const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const document = (schemas: object): object => ({
  openapi: '3.1.0',
  info: { title: 'Pets' },
  paths: {
    '/pets': {
      post: {
        operationId: 'addPet',
        requestBody: json({ $ref: '#/components/schemas/Pet' }),
        responses: { 200: { description: 'done', ...json({ $ref: '#/components/schemas/Pet' }) } },
      },
    },
  },
  components: {
    schemas: { Pet: pet, ...schemas },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  },
});

function folderOf(schemas: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'fault-detail-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document(schemas)));
  writeFileSync(join(folder, 'soap.yaml'), 'service: Pets\n');
  return folder;
}

const folder = folderOf({});
const { contract } = readContract(folder);
const gateway = await sharedGateway({ serve: { contract: folder } });
rmSync(folder, { recursive: true });
const schema = compileSchema(contract);

const namespaceOf = { '1.1': soap11Namespace, '1.2': soap12Namespace } as const;

/** Returns the detail of the fault for a Body, without the request id; undefined for none. */
async function detailOf(
  content: string,
  version: keyof typeof namespaceOf = '1.1',
  header = '',
): Promise<string | undefined> {
  const body = `<s:Envelope xmlns:s="${namespaceOf[version]}">${header}<s:Body>${content}</s:Body></s:Envelope>`;
  const { text } = await send(gateway.port, 'POST', '/soap11', { 'X-Key': 'secret-1' }, body);
  const shape = version === '1.1' ? /<detail>(.*)<\/detail>/s : /<s:Detail>(.*)<\/s:Detail>/s;
  const detail = shape.exec(text)?.[1];
  return detail?.replace(/<requestId>[\w-]+<\/requestId>/, '');
}

const addPet = (content: string): string => `<addPet xmlns="urn:Pets"><Body>${content}</Body></addPet>`;
const problem = (path: string, code: string, message: string, expected: string, got: string): string => {
  const where = path === '' ? '' : `<path>${path}</path>`;
  return `<problem>${where}<code>${code}</code><message>${message}</message><expected>${expected}</expected><got>${got}</got></problem>`;
};
const problems = (...list: readonly string[]): string => `<problems>${list.join('')}</problems>`;

const born = 'Body.born: expected xs:date, got "2026-02-30; no"';
const legs = 'Body.legs: expected xs:long, got "four"';
const unfit = "the reply's Result.legs: expected xs:long, got a string that is no number";
const cases: readonly (readonly [what: string, body: string, answer: Answer | undefined, content: string])[] =
  [
    [
      'two wrong members: each with its path, what was expected and what came',
      addPet('<name>Rex</name><born>2026-02-30; no</born><legs>four</legs>'),
      undefined,
      `<status>400</status><code>ValidationError</code><message>${born}</message>${problems(
        problem('Body.born', 'InvalidType', born, 'xs:date', '"2026-02-30; no"'),
        problem('Body.legs', 'InvalidType', legs, 'xs:long', '"four"'),
      )}`,
    ],
    [
      'a missing member: none came',
      addPet(''),
      undefined,
      `<status>400</status><code>ValidationError</code><message>Body.name is missing</message>${problems(
        problem('Body.name', 'NotEmpty', 'Body.name is missing', 'a value', 'none'),
      )}`,
    ],
    [
      'an error of the service behind: its status and all of it, the caller’s secret aside',
      addPet('<name>Rex</name>'),
      { status: 422, body: '{"code":"taken","message":"secret-1 & <Rex>"}' },
      '<status>422</status><upstreamStatus>422</upstreamStatus><code>taken</code><message>*** &amp; &lt;Rex&gt;</message><upstream>{"code":"taken","message":"*** &amp; &lt;Rex&gt;"}</upstream>',
    ],
    [
      'a status that callers get as another one: both',
      addPet('<name>Rex</name>'),
      { status: 302, body: '' },
      '<status>502</status><upstreamStatus>302</upstreamStatus><code>UpstreamInvalidResponse</code><message>the response of the upstream does not match the types of the contract</message>',
    ],
    [
      'a reply that is wrong: where in it, and the status that it came with',
      addPet('<name>Rex</name>'),
      { status: 200, body: '{"name":"Rex","legs":"four"}' },
      `<status>502</status><upstreamStatus>200</upstreamStatus><code>UpstreamInvalidResponse</code><message>${unfit}</message>${problems(
        problem('Result.legs', 'UpstreamInvalidResponse', unfit, 'xs:long', 'a string that is no number'),
      )}`,
    ],
    [
      'an unknown operation',
      '<addPets xmlns="urn:Pets"/>',
      undefined,
      `<status>404</status><code>OperationNotFound</code><message>expected an operation of the contract in Body, got &lt;addPets&gt;, did you mean addPet?</message>${problems(
        problem(
          '',
          'OperationNotFound',
          'expected an operation of the contract in Body, got &lt;addPets&gt;, did you mean addPet?',
          'an operation of the contract in Body',
          '&lt;addPets&gt;',
        ),
      )}`,
    ],
  ];

for (const version of ['1.1', '1.2'] as const) {
  for (const [what, body, answer, content] of cases) {
    test.serial(`SOAP ${version}: the detail of ${what}`, async (t) => {
      if (answer !== undefined) gateway.answer(answer);
      const detail = await detailOf(body, version);
      t.is(detail, `<FaultDetail xmlns="urn:Pets">${content}</FaultDetail>`);
      t.is(findInvalid(schema, detail ?? ''), undefined);
    });
  }
}

test.serial('malformed XML is reported as such', async (t) => {
  const detail = await detailOf('<addPet>');
  t.is(elementText(detail ?? '', 'code'), 'MalformedRequest');
  t.is(elementText(detail ?? '', 'status'), '400');
  t.is(findInvalid(schema, detail ?? ''), undefined);
});

for (const [what, status, code, path, headers, body] of [
  ['a body that is too large', '413', 'RequestTooLarge', '/soap11', {}, ' '.repeat(1_048_577)],
  ['a media type', '415', 'UnsupportedMediaType', '/soap11', { 'content-type': 'application/dime' }, 'x'],
  ['an unknown path', '404', 'NotFound', '/other', {}, 'x'],
] as const) {
  for (const version of ['1.1', '1.2'] as const) {
    test.serial(
      `W44: the fault for ${what} has its status and code in the detail, in SOAP ${version}`,
      async (t) => {
        const isDime = 'content-type' in headers;
        const type = version === '1.1' || isDime ? 'text/xml' : 'application/soap+xml';
        const mark = version === '1.1' || isDime ? { soapaction: '""' } : {};
        const to = version === '1.2' && path === '/soap11' ? '/soap12' : path;
        const reply = await send(
          gateway.port,
          'POST',
          to,
          { 'content-type': type, ...mark, ...headers },
          body,
        );
        t.is(reply.status, 500, reply.text);
        t.is(reply.headers['x-status'], status);
        t.is(elementText(reply.text, 'status'), status, reply.text);
        t.is(elementText(reply.text, 'code'), code);
        t.regex(reply.text, version === '1.1' ? /<faultcode>s:Client</ : /<s:Value>s:Sender</);
      },
    );
  }
}

test.serial('a fault about a header block has no detail, as SOAP requires', async (t) => {
  const unknown = '<s:Header><a xmlns="urn:a" s:mustUnderstand="1"/></s:Header>';
  t.is(await detailOf(addPet('<name>Rex</name>'), '1.1', unknown), undefined);
  const wrong = '<s:Header><Credentials xmlns="urn:a"/></s:Header>';
  t.is(await detailOf(addPet('<name>Rex</name>'), '1.1', wrong), undefined);
});

test('a contract with in-band errors has no detail, and declares none', async (t) => {
  const screening = await startGateway(t);
  const { text } = await screening.send('POST', '/soap11', {}, envelope('1.1', { body: '<Nothing/>' }));
  t.true(text.includes('Fault>'), text);
  t.false(text.includes('detail'), text);
  const wsdl = await screening.send('GET', '/soap11?wsdl');
  t.false(wsdl.text.includes('ServiceFault'));
});

test('every operation declares the fault: Axis2 in both bindings, Axis 1.4 in SOAP 1.2 as in 1.1', (t) => {
  const wsdl = writeWsdl(contract, { address: 'http://gateway.example' });
  t.true(wsdl.includes('<wsdl:part name="detail" element="typ:FaultDetail"/>'));
  t.is(wsdl.split('message="tns:ServiceFault"').length - 1, 1);
  t.is(wsdl.split('<wsdl:fault name="ServiceFault">').length - 1, 2);
  const [, binding11, binding12] = wsdl.split('<wsdl:binding ');
  const faultsOf = (binding = ''): readonly string[] => binding.match(/<soap\d*:fault [^>]*>/g) ?? [];
  t.deepEqual(faultsOf(binding11), ['<soap:fault name="ServiceFault" use="literal"/>']);
  t.deepEqual(faultsOf(binding12), [
    '<soap12:fault name="ServiceFault" use="literal"/>',
    '<soap:fault name="ServiceFault" use="literal"/>',
  ]);
});

test('a type of the document called FaultDetail keeps its name', (t) => {
  const own = folderOf({
    Pet: { ...pet, properties: { ...pet.properties, detail: { $ref: '#/components/schemas/FaultDetail' } } },
    FaultDetail: { type: 'object', properties: { a: { type: 'string' } } },
  });
  const loaded = readContract(own).contract;
  rmSync(own, { recursive: true });
  t.true(loaded.types.some(({ name }) => name === 'FaultDetail'));
  t.regex(loaded.faultDetail?.element ?? '', /^FaultDetail_[0-9a-f]{4}$/);
  t.notThrows(() => compileSchema(loaded));
});
