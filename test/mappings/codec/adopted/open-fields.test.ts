import test, { type ExecutionContext } from 'ava';
import { type CompiledAdoptedOperation, compileAdopted } from '../../../../mappings/codec/adopted/compile.ts';
import { problemText } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { defaultSettings } from '../../../../mappings/contract/overlay-keys.ts';
import { openFieldsOf } from '../../../../mappings/loader/wsdl/renames.ts';
import { getOf, serviceOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, get, many, readMessage, sequence, writeMessage } from './messages.ts';

const more =
  '<xs:any namespace="##targetNamespace" minOccurs="0" maxOccurs="unbounded" processContents="lax"/>';
const sObject = (any: string): string =>
  `<xs:complexType name="sObject"><xs:sequence>${e('Id', 'xs:string', 'minOccurs="0"')}${any}</xs:sequence></xs:complexType>` +
  '<xs:complexType name="Money"><xs:sequence><xs:element name="amount" type="xs:decimal"/></xs:sequence></xs:complexType>';

/** Compiles the operation `Get` whose body has the type sObject, with its wildcard elements as members. */
function fields(t: ExecutionContext, any = more): CompiledAdoptedOperation {
  const type =
    '<xs:complexType><xs:complexContent><xs:extension base="t:sObject"/></xs:complexContent></xs:complexType>';
  const service = serviceOf(t, getOf(type, sObject(any)));
  openFieldsOf(service, ['sObject'], (pointer, problem) => t.fail(`${pointer}: ${problem}`));
  const operation = compileAdopted(service, defaultSettings.adopted, defaultLimits).operations.get('Get');
  if (operation === undefined) throw new Error('no operation');
  return operation;
}

for (const [title, xml, json, written] of [
  ['text', '<t:Id>1</t:Id><t:Name>A &amp; B</t:Name>', '{"Id":"1","@any":{"Name":"A & B"}}'],
  ['no text', '<t:Name></t:Name>', '{"@any":{"Name":""}}', '<t:Name/>'],
  ['nil', '<t:Name xsi:nil="true"/>', '{"@any":{"Name":null}}'],
  [
    'several of one name',
    '<t:To>a</t:To><t:To xsi:nil="true"/><t:Cc>b</t:Cc>',
    '{"@any":{"To":["a",null],"Cc":"b"}}',
  ],
  ['an element whose place is taken', '<t:Id>1</t:Id><t:Id>2</t:Id>', '{"Id":"1","@any":{"Id":"2"}}'],
  [
    'a string that says so',
    '<t:Name xsi:type="xs:string">x</t:Name>',
    '{"@any":{"Name":"x"}}',
    '<t:Name>x</t:Name>',
  ],
  [
    'a type of XSD',
    '<t:Amount xsi:type="xs:decimal">1.50</t:Amount>',
    '{"@any":{"Amount":{"@type":"xs:decimal","value":1.50}}}',
  ],
  [
    'a type of the service',
    '<t:Price xsi:type="t:Money"><t:amount>2.0</t:amount></t:Price>',
    '{"@any":{"Price":{"@type":"Money","amount":2.0}}}',
  ],
  [
    'elements within',
    '<t:Owner><t:Name>x</t:Name></t:Owner>',
    '{"@any":{"Owner":{"@xml":"<t:Name xmlns:t=\\"urn:t\\">x</t:Name>"}}}',
  ],
] as const)
  test(`A22: with open fields, ${title} is a member by its name, in both directions`, (t) => {
    const { request: input } = fields(t);
    const { json: read, problems } = readMessage(input, get(xml));
    t.deepEqual(problems, []);
    t.is(read, json);
    const back = readMessage(input, writeMessage(input, json));
    t.deepEqual(back.problems, []);
    t.is(back.json, json);
    if (written !== undefined)
      t.regex(writeMessage(input, json), new RegExp(written.replaceAll('t:', '\\w+:')));
  });

test('A22: with open fields, a name in another namespace includes it', (t) => {
  const { request: input } = fields(t, more.replace('##targetNamespace', '##other'));
  const json = '{"@any":{"{urn:o}Name":"x","{urn:o}Nil":null}}';
  t.is(
    readMessage(input, get('<o:Name xmlns:o="urn:o">x</o:Name><Nil xmlns="urn:o" xsi:nil="1"/>')).json,
    json,
  );
  t.is(readMessage(input, writeMessage(input, json)).json, json);
  const inXml = '{"@any":{"{http://www.w3.org/XML/1998/namespace}a":"x"}}';
  t.regex(writeMessage(input, inXml), /><xml:a>x<\/xml:a></);
  t.is(readMessage(input, writeMessage(input, inXml)).json, inXml);
  const nil = inXml.replace('"x"', 'null');
  t.regex(writeMessage(input, nil), /><xml:a i:nil="true"\/></);
  t.is(readMessage(input, writeMessage(input, nil)).json, nil);
});

test('A22: with open fields, bare numbers and booleans of a reply are written as text', (t) => {
  const { request: input } = fields(t);
  const xml = writeMessage(input, '{"@any":{"A":9007199254740993.10,"B":true,"C":[false,-1]}}');
  t.is(readMessage(input, xml).json, '{"@any":{"A":"9007199254740993.10","B":"true","C":["false","-1"]}}');
});

test('A22: a reply’s open fields are elements of their names, after any other output', (t) => {
  const { request: input } = fields(t);
  const messages = [
    ['{"@any":null}', ''],
    ['{"@any":{}}', ''],
    ['{"@any":{"a":null,"b":""}}', '<n0:a i:nil="true"/><n0:b/>'],
    ['{"@any":{"a":["\\n","x"]}}', '<n0:a>\n</n0:a><n0:a>x</n0:a>'],
    ['{"@any":{"a":[]}}', ''],
    [
      '{"@any":{"a":[[1,"x"]]}}',
      '<n0:a><item i:type="xsd:long">1</item><item i:type="xsd:string">x</item></n0:a>',
    ],
    ['{"@any":{"{}x":"1","{}y":null}}', '<x>1</x><y i:nil="true"/>'],
    ['{"@any":{"{urn:a&b}x":"1"}}', '<f:x xmlns:f="urn:a&amp;b">1</f:x>'],
    [
      '{"@any":{"{u}ä-1":{"@type":"Money","amount":1}}}',
      '<f:ä-1 xmlns:f="u" i:type="n0:Money"><n0:amount>1</n0:amount></f:ä-1>',
    ],
  ] as const;
  for (const [before] of messages)
    for (const [json, xml] of messages) {
      writeMessage(input, before);
      const written = writeMessage(input, json);
      const content = /^<n0:Get [^>]*?(?:\/>|>([\s\S]*)<\/n0:Get>)$/.exec(written)?.[1] ?? '';
      t.is(content, xml, `${json} after ${before}`);
    }
});

test('A22: many open fields of a reply are all written', (t) => {
  const { request: input } = fields(t);
  for (let before = 0; before < 6; before++) {
    const nulls = 'null,'.repeat(before);
    const written = writeMessage(input, `{"@any":{"z":0,"a":[${nulls}${'1,'.repeat(14_000)}1]}}`);
    const all = `<n0:z>0</n0:z>${'<n0:a i:nil="true"/>'.repeat(before)}${'<n0:a>1</n0:a>'.repeat(14_001)}`;
    t.true(written.endsWith(`>${all}</n0:Get>`), `${before}`);
  }
});

test('A22: a refused open field is not a member', (t) => {
  const { json, problems } = readMessage(
    fields(t).request,
    get('<t:a xsi:type="q:No"/><t:b>x</t:b><t:c xsi:nil="1">x</t:c>'),
  );
  t.is(json, '{"@any":{"b":"x","c":null}}');
  t.deepEqual(problems.map(problemText), [
    'a: expected xsi:type with a bound prefix, got "q:No" with an unbound prefix',
    'c: expected no content in an element with xsi:nil',
  ]);
});

for (const [json, problem] of [
  ['{"@any":{"a b":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"a!b":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"a}b":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"{urn:o}":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"{http://www.w3.org/2000/xmlns/}x":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"{urn:o}1x":"x"}}', /^@any: expected names of elements, got another$/],
  ['{"@any":{"a":[{"@xml":1}]}}', /^@any\.a\.@xml: expected well-formed XML as a string, got a number$/],
  ['{"@any":{1:"x"}}', /^position 9: expected a member name, got byte 31$/],
  ['{"@any":{"a":tru}}', /^position 13: expected a value, got byte 74$/],
  ['{"@any":{"a":"x","a":"y"}}', /expected each name once/],
  ['{"@any":{"{urn:o":"x"}}', /expected names of elements/],
  ['{"@any":["<t:a/>"]}', /expected an object, got an array/],
  ['{"@any":{"a":{"@xml":"<b>"}}}', /expected well-formed XML/],
] as const)
  test(`A22: a reply of open fields that is ${json} is a mismatch`, (t) => {
    const error = t.throws(() => writeMessage(fields(t).request, json));
    t.regex(error?.message ?? '', problem);
  });

test('A22: a reply with two fields for a wildcard of one element is a mismatch', (t) => {
  const { request: input } = fields(t, more.replace('maxOccurs="unbounded"', ''));
  t.regex(writeMessage(input, '{"@any":{"a":"x"}}'), /<\w+:a>x</);
  for (const json of ['{"@any":{"a":"x","b":"y"}}', '{"@any":{"a":["x","y"]}}'])
    t.regex(t.throws(() => writeMessage(input, json))?.message ?? '', /expected one element, got several/);
  t.deepEqual(readMessage(input, get('<t:a>x</t:a><t:b>y</t:b>')).problems.map(problemText), [
    'b: unknown element, expected Id',
  ]);
});

test('A22: with open fields, a required wildcard without content is missing in a reply', (t) => {
  const { request: input } = fields(t, more.replace('minOccurs="0"', 'minOccurs="1"'));
  const missing = (json: string): number => input.write(Buffer.from(json)).missing;
  t.deepEqual(['{}', '{"@any":null}', '{"@any":{}}', '{"@any":{"a":null}}'].map(missing), [1, 1, 1, 0]);
});

test('A13, A22: a type with only open fields is an object, one with only a wildcard an array', (t) => {
  const type = `<xs:complexType><xs:sequence>${e('o', 't:Open')}${e('w', 't:Wild')}</xs:sequence></xs:complexType>`;
  const any = `<xs:sequence>${more}</xs:sequence>`;
  const declared = `<xs:complexType name="Open">${any}</xs:complexType><xs:complexType name="Wild">${any}</xs:complexType>`;
  const service = serviceOf(t, getOf(type, declared));
  openFieldsOf(service, ['Open'], (pointer, problem) => t.fail(`${pointer}: ${problem}`));
  const { request } = compileAdopted(service, defaultSettings.adopted, defaultLimits).operations.get(
    'Get',
  ) as CompiledAdoptedOperation;
  const { json } = readMessage(request, get('<t:o><t:a>1</t:a></t:o><t:w><t:a>1</t:a></t:w>'));
  t.is(json, '{"o":{"@any":{"a":"1"}},"w":["<t:a xmlns:t=\\"urn:t\\">1</t:a>"]}');
});

test('A33: refuses open for a type without wildcard, and for an unknown type', (t) => {
  const told: string[] = [];
  const service = serviceOf(t, getOf('<xs:complexType><xs:sequence/></xs:complexType>', sObject(more)));
  openFieldsOf(service, ['Money', 'Nothing'], (pointer, problem) => told.push(`${pointer}: ${problem}`));
  t.deepEqual(told, [
    '/open/Money: expected a type with an xs:any, got a type without it',
    '/open/Nothing: expected a type of the WSDL, got "Nothing"',
  ]);
});

test('A22: the namespace of open fields counts for each of them, and is limited', (t) => {
  const service = serviceOf(
    t,
    getOf(sequence(e('s', 't:sObject', many)), sObject('<xs:any minOccurs="0"/>')),
  );
  openFieldsOf(service, ['sObject'], (pointer, problem) => t.fail(`${pointer}: ${problem}`));
  const limits = { ...defaultLimits, rereadText: 9_500 };
  const operation = compileAdopted(service, defaultSettings.adopted, limits).operations.get('Get');
  if (operation === undefined) throw new Error('no operation');
  const codec = operation.request;
  const spread = (count: number): string =>
    get('<t:s><p:a/></t:s>'.repeat(count), ` xmlns:p="${'u'.repeat(1000)}"`);
  t.deepEqual(readMessage(codec, spread(9)).problems, []);
  t.is(
    readMessage(codec, spread(10)).problems.map(problemText)[0],
    's[9].a: expected at most 9500 characters of XML as text and of namespaces in all, got more characters',
  );
});
