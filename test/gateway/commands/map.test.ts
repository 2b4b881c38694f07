import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { file } from './file.ts';
import { run } from './run.ts';

/** Tests of `soapbridge map` (M6). */

const wsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:o" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" name="Orders">
<types><xs:schema targetNamespace="urn:o" elementFormDefault="qualified">
<xs:element name="GetOrder"><xs:complexType><xs:sequence><xs:element name="OrderNumber" type="xs:string"/><xs:element name="Trace" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
<xs:element name="GetOrderResponse"><xs:complexType><xs:sequence><xs:element name="Lines" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="ItemCode" type="xs:string"/><xs:element name="Quantity" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema></types>
<message name="in"><part name="p" element="t:GetOrder"/></message><message name="out"><part name="p" element="t:GetOrderResponse"/></message>
<portType name="P"><operation name="GetOrder"><input message="t:in"/><output message="t:out"/></operation></portType>
<binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><operation name="GetOrder"><soap:operation soapAction="urn:o/GetOrder"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
<service name="Orders"><port name="OrdersSoap" binding="t:B"><soap:address location="http://old.example/Orders.asmx"/></port></service>
</definitions>`;

const openapi = `
openapi: 3.1.0
info: { title: Orders, version: '1' }
paths:
  /orders/{order_number}:
    get:
      operationId: get_order
      parameters: [{ name: order_number, in: path, required: true, schema: { type: string } }]
      responses:
        200:
          description: The order.
          content:
            application/json:
              schema:
                type: object
                properties:
                  items:
                    type: array
                    items: { type: object, properties: { item_code: { type: string }, quantity: { type: string } } }
`;

const mapping = `
GetOrder:
  call: { GET: '/orders/{order_number}' }
  request: { path.order_number: OrderNumber }
  omit: [Trace]
  code: ./orders.ts
  reply:
    Lines:
      each: items
      map: { ItemCode: { from: item_code, code: code }, Quantity: { from: quantity, as: number } }
`;

function folder(t: ExecutionContext, rules = mapping): string {
  const directory = join(file(t, wsdl, 'service.wsdl'), '..');
  writeFileSync(join(directory, 'openapi.yaml'), openapi);
  writeFileSync(join(directory, 'mapping.yaml'), rules);
  writeFileSync(
    join(directory, 'orders.ts'),
    'export function code(value: string): string { return value.trim(); }\n',
  );
  return directory;
}

for (const when of ['absent', 'present'])
  test(`translate --to xml makes a reply by rules for requests with an optional member ${when}`, async (t) => {
    const rules = mapping.replace('  call:', `  when: { Trace: ${when} }\n  call:`);
    const args = ['translate', '-c', folder(t, rules), '--to', 'xml', '--operation', 'GetOrder'];
    const answer = '{"items":[{"item_code":" A1 ","quantity":"2"}]}';
    const { code, out, err } = await run(t, args, {}, answer).ended;
    t.is(code, 0, err);
    t.regex(out, /<n0:ItemCode>A1<\/n0:ItemCode><n0:Quantity>2<\/n0:Quantity>/);
  });

test('M6: map check lists the mapped operations, and problems with file and line', async (t) => {
  const good = await run(t, ['map', 'check', '-c', folder(t)]).ended;
  t.is(good.code, 0, good.err);
  t.regex(good.out, /^GetOrder -> GET \/orders\/\{order_number\}\none direction only: .*made by code\(\)/);
  const bad = await run(t, ['map', 'check', '-c', folder(t, mapping.replace('OrderNumber', 'Number'))]).ended;
  t.is(bad.code, 2);
  t.regex(
    bad.err,
    /mapping.yaml:4#\/GetOrder\/request\/path.order_number: expected a path of the source, got Number; there are OrderNumber, Trace/,
  );
});

test('M6: a misspelt operation or path of a mapping gets a suggestion', async (t) => {
  const misspelt = mapping.replace('GetOrder:', 'GetOrdr:');
  const check = await run(t, ['map', 'check', '-c', folder(t, misspelt)]).ended;
  t.regex(check.err, /expected an operation of the WSDL, got GetOrdr\. Did you mean GetOrder\?$/m);
  const path = await run(t, ['map', 'check', '-c', folder(t, mapping.replace('/orders/{', '/ordrs/{'))])
    .ended;
  t.regex(path.err, /got \/ordrs\/\{order_number\}\. Did you mean \/orders\/\{order_number\}\?$/m);
  const draft = await run(t, ['map', 'draft', 'GetOrdr', '-c', folder(t)]).ended;
  t.is(draft.err, 'operation: expected one of GetOrder, got "GetOrdr". Did you mean GetOrder?\n');
});

test('M6: map try runs samples and validates their output', async (t) => {
  const directory = folder(t);
  writeFileSync(join(directory, 'GetOrder.one.json'), '{"OrderNumber":"7 8"}');
  writeFileSync(
    join(directory, 'GetOrder.one.answer.json'),
    '{"items":[{"item_code":" A ","quantity":"1.5"}]}',
  );
  const valid = await run(t, ['map', 'try', '-c', directory, join(directory, 'GetOrder.one.json')]).ended;
  t.is(valid.code, 1, valid.err);
  t.regex(
    valid.out,
    /GET \/orders\/7%208\n {2}reply: \{"Lines":\[\{"ItemCode":"A","Quantity":1.5\}\]\}\n {2}reply: \/Lines\/0\/Quantity must be integer/,
  );
  writeFileSync(join(directory, 'GetOrder.two.json'), '{"OrderNumber":"7","Gift":true}');
  const refused = await run(t, [
    'map',
    'try',
    '--json',
    '-c',
    directory,
    join(directory, 'GetOrder.two.json'),
  ]).ended;
  t.is(refused.code, 1, refused.err);
  t.deepEqual(JSON.parse(refused.out).samples[0].problems, [
    'Gift: expected only members with a rule in the mapping, got a value',
  ]);
});

test('M6: map try reads all files of a shell pattern, responses included', async (t) => {
  const directory = folder(t);
  const sample = join(directory, 'GetOrder.json');
  const answer = join(directory, 'GetOrder.answer.json');
  writeFileSync(sample, '{"OrderNumber":"7"}');
  writeFileSync(answer, '{"items":[{"item_code":"A","quantity":"1"}]}');
  const tried = await run(t, ['map', 'try', '-c', directory, answer, sample]).ended;
  t.is(tried.code, 0, tried.out);
  t.regex(tried.out, /GetOrder\.json: GetOrder, valid\n.*\n {2}reply: .*\n$/);
  t.is(tried.out.match(/: GetOrder/g)?.length, 1);
  const none = await run(t, ['map', 'try', '-c', directory, answer]).ended;
  t.is(none.code, 2);
  t.regex(none.err, /samples: expected at least one, got none in .*GetOrder\.answer\.json/);
});

test('M6: map check reads the mapping that serve reads, in any format', async (t) => {
  const directory = folder(t);
  renameSync(join(directory, 'mapping.yaml'), join(directory, 'mapping.yml'));
  const { code, out, err } = await run(t, ['map', 'check', '-c', directory]).ended;
  t.is(code, 0, err);
  t.regex(out, /^GetOrder -> GET /);
});

test('M6: map draft proposes rules by name, kind and structure, and lists what is unmatched', async (t) => {
  const { code, out, err } = await run(t, ['map', 'draft', '-c', folder(t), 'GetOrder']).ended;
  t.is(code, 1, err);
  t.is(
    out,
    `# proposed from names, types and structure; review each rule
# request members without a match (add rules or omit them): Trace
GetOrder:
  call:
    GET: /orders/{order_number}
  request:
    path.order_number: OrderNumber
  reply:
    Lines:
      each: items
      map:
        ItemCode: item_code
        Quantity:
          from: quantity
          as: number
`,
  );
});

test('M6: names of a document stay inside the comments that map draft writes, and are escaped', async (t) => {
  const directory = folder(t);
  const parameters =
    '- { name: "a\\nb: c", in: query, required: true }\n        - { name: "o\\x9brder", in: query }';
  writeFileSync(
    join(directory, 'openapi.yaml'),
    openapi.replace(/parameters: \[(.*)\]/, `parameters:\n        - $1\n        ${parameters}`),
  );
  const { out, err } = await run(t, ['map', 'draft', '-c', directory, 'GetOrder']).ended;
  t.regex(out, /^# required members without a match: query\..*a\\u000ab: c/m, err);
  t.notRegex(out, /^b: c|(?!\n)\p{Cc}/mu);
});

test('M5: map types writes types of both documents with numbers as text, and a test skeleton once', async (t) => {
  const directory = folder(t);
  const args = ['map', 'types', '-c', directory, '--out', directory];
  t.is((await run(t, args).ended).code, 0);
  const types = readFileSync(join(directory, 'mapping-types.ts'), 'utf8');
  t.regex(types, /readonly "Quantity": string;/);
  t.regex(readFileSync(join(directory, 'orders.test.ts'), 'utf8'), /import \{ code \} from '\.\/orders\.ts'/);
  writeFileSync(join(directory, 'orders.test.ts'), '// mine\n');
  t.is((await run(t, args).ended).code, 0);
  t.is(readFileSync(join(directory, 'orders.test.ts'), 'utf8'), '// mine\n');
});

const notFound = `        404:
          description: None.
          content: { application/problem+json: { schema: { type: object, properties: { title: { type: string } } } } }
`;

/** Creates a folder with an operation that declares a fault. */
function folderWithFault(t: ExecutionContext): string {
  const directory = folder(
    t,
    `${mapping}  fault: { Lost: { when: { status: 404 }, map: { value: title } } }\n`,
  );
  const declared = wsdl
    .replace('</xs:schema>', '<xs:element name="Lost" type="xs:string"/></xs:schema>')
    .replace('<portType', '<message name="lost"><part name="p" element="t:Lost"/></message><portType')
    .replace('<output message="t:out"/>', '<output message="t:out"/><fault name="Lost" message="t:lost"/>')
    .replace(
      '</output></operation></binding>',
      '</output><fault name="Lost"><soap:fault name="Lost" use="literal"/></fault></operation></binding>',
    );
  writeFileSync(join(directory, 'service.wsdl'), declared);
  writeFileSync(join(directory, 'openapi.yaml'), openapi + notFound);
  return directory;
}

test('M7: map try makes a declared fault from a response whose name has a status', async (t) => {
  const directory = folderWithFault(t);
  writeFileSync(join(directory, 'GetOrder.lost.json'), '{"OrderNumber":"7"}');
  writeFileSync(join(directory, 'GetOrder.lost.answer.404.json'), '{"title":"gone"}');
  const lost = await run(t, ['map', 'try', directory, directory]).ended;
  t.deepEqual([lost.code, lost.err], [0, ''], lost.out);
  t.regex(lost.out, /reply: \{"@fault":"Lost","value":"gone"\}/);
  renameSync(
    join(directory, 'GetOrder.lost.answer.404.json'),
    join(directory, 'GetOrder.lost.answer.500.json'),
  );
  const other = await run(t, ['map', 'try', '-c', directory, join(directory, 'GetOrder.lost.json')]).ended;
  t.is(other.code, 1);
  t.regex(other.out, /expected a declared fault for status 500, got none/);
});

test('M1: map draft, check and try accept a binary response', async (t) => {
  const pdf = openapi.replace(/content:\n[\s\S]*$/, 'content: { application/pdf: {} }\n');
  const binary = wsdl.replace(
    /<xs:element name="GetOrderResponse">.*/,
    '<xs:element name="GetOrderResponse"><xs:complexType><xs:sequence><xs:element name="Pdf" type="xs:base64Binary" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>',
  );
  const directory = folder(t);
  writeFileSync(join(directory, 'openapi.yaml'), pdf);
  writeFileSync(join(directory, 'service.wsdl'), binary);
  const drafted = await run(t, ['map', 'draft', 'GetOrder', directory]).ended;
  t.regex(drafted.out, /\n {2}reply:\n {4}Pdf: \.\n/);
  writeFileSync(join(directory, 'mapping.yaml'), `${drafted.out}  omit: [Trace]\n`);
  writeFileSync(join(directory, 'GetOrder.json'), '{"OrderNumber":"7"}');
  writeFileSync(join(directory, 'GetOrder.answer.pdf'), Buffer.of(0x25, 0xff));
  const tried = await run(t, ['map', 'try', directory, join(directory, 'GetOrder.json')]).ended;
  t.deepEqual([tried.code, tried.err], [0, ''], tried.out);
  t.regex(tried.out, /reply: \{"Pdf":"Jf8="\}/);
});

for (const [what, args] of [
  ['check', ['check']],
  ['draft', ['draft', 'GetOrder']],
  ['types', ['types', '--out', 'DIR']],
] as const)
  test(`map ${what} reads the folder given by position, which wins over the environment`, async (t) => {
    const directory = folder(t);
    const given = args.map((one) => (one === 'DIR' ? directory : one));
    const { code, err } = await run(t, ['map', ...given, directory], { SOAPBRIDGE_CONTRACT: '/none' }).ended;
    t.deepEqual([code, err], [what === 'draft' ? 1 : 0, '']);
    const both = await run(t, ['map', ...given, directory, '-c', directory]).ended;
    t.is(both.code, 2);
    t.regex(both.err, /expected a contract as argument or --contract, got an argument and --contract/);
  });

test('map without a folder with a WSDL exits with 2 and a sentence', async (t) => {
  const none = await run(t, ['map', 'check']).ended;
  t.deepEqual([none.code, none.out], [2, '']);
  t.regex(none.err, /^contract: expected the folder with the WSDL as argument or --contract, got none\n$/);
  const other = await run(t, ['map', 'check', 'test/docs']).ended;
  t.regex(other.err, /^contract: expected a folder with a WSDL, got test\/docs\n$/);
});

test('M5: a TypeScript module prints no Node warning', async (t) => {
  const { code, err } = await run(t, ['map', 'check', folder(t)]).ended;
  t.deepEqual([code, err], [0, '']);
});
