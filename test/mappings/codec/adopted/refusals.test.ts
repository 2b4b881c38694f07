import test from 'ava';
import { MismatchError, problemText } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import {
  compiledGet,
  element as e,
  get,
  many,
  maybe,
  readMessage,
  sequence,
  writeMessage,
} from './messages.ts';

const animals =
  '<xs:complexType name="Animal" abstract="true"><xs:sequence><xs:element name="Name" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>' +
  '<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Animal"/></xs:complexContent></xs:complexType><xs:complexType name="Stone"/>';
const choice = `<xs:complexType><xs:choice>${e('a')}<xs:sequence>${e('b')}${e('c')}</xs:sequence></xs:choice></xs:complexType>`;

for (const [title, type, content, problems, attributes = ''] of [
  [
    'A10: a misspelt element',
    sequence(e('Name', 'xs:string', maybe)),
    '<t:Nam/>',
    ['Nam: unknown element, did you mean Name?'],
  ],
  [
    'A10: an element of another namespace',
    sequence(e('Name', 'xs:string', maybe)),
    '<o:Name xmlns:o="urn:o"/>',
    ['Name: expected it in namespace "urn:t", got namespace "urn:o"'],
  ],
  [
    'A12: a misspelt attribute',
    sequence('', '<xs:attribute name="id" type="xs:int"/>'),
    '',
    ['ids: unknown attribute, did you mean id?'],
    ' ids="1"',
  ],
  [
    'A15: members of two branches of a choice',
    choice,
    '<t:a/><t:c/>',
    ['c: expected it or a, which are a choice, got both'],
  ],
  [
    'A15: an element that comes twice',
    sequence(e('a', 'xs:string', maybe)),
    '<t:a/><t:a/>',
    ['a: expected the element once, got it again'],
  ],
  [
    'A18: a type that is not derived from the declared one',
    sequence(e('Pet', 't:Animal', many)),
    '<t:Pet xsi:type="t:Dog"/><t:Pet xsi:type="t:Stone"/>',
    [
      'Pet[1]: expected Animal in namespace "urn:t" or a type derived from it, got "t:Stone" in namespace "urn:t"',
    ],
  ],
  [
    'A18: an abstract type',
    sequence(e('Pet', 't:Animal', many)),
    '<t:Pet/>',
    ['Pet[0]: expected xsi:type with a type derived from Animal, got none'],
  ],
  [
    'A22: an element that no wildcard takes',
    sequence('<xs:any namespace="##other" minOccurs="0"/>'),
    '<t:x/>',
    ['x: unknown element, none is expected here'],
  ],
  [
    'A25: nil where a value is required',
    sequence(e('a')),
    '<t:a xsi:nil="true"/>',
    ['a: expected a value, got xsi:nil'],
  ],
  [
    'A25: an empty number',
    sequence(e('n', 'xs:int')),
    '<t:n/>',
    ['n: expected xs:int, got an empty element; leave it out where no value is meant'],
  ],
  [
    'A26: scalars that are none',
    sequence(e('d', 'xs:date') + e('f', 'xs:double') + e('h', 'xs:hexBinary') + e('p', 'xs:positiveInteger')),
    '<t:d>2023-02-29</t:d><t:f>INF</t:f><t:h>abc</t:h><t:p>0</t:p>',
    [
      'd: expected xs:date, got "2023-02-29"',
      'f: expected a finite xs:double, as JSON has no INF, got "INF"',
      'h: expected xs:hexBinary, got "abc"',
      'p: expected xs:positiveInteger, got "0"',
    ],
  ],
] as const)
  test(`refuses ${title} in a request`, (t) => {
    const { request } = compiledGet(t, type, animals);
    t.deepEqual(readMessage(request, get(content, attributes)).problems.map(problemText), [...problems]);
  });

for (const [title, type, json, message] of [
  [
    'A15: members of two branches of a choice',
    choice,
    '{"a":"1","b":"2"}',
    'b: expected it or a, which are a choice, got both',
  ],
  [
    'A18: an abstract type without @type',
    sequence(e('Pet', 't:Animal', many)),
    '{"Pet":[{}]}',
    'Pet[0]: expected "@type", got none',
  ],
  [
    'A18: a type that is not derived from the declared one',
    sequence(e('Pet', 't:Animal', many)),
    '{"Pet":[{"@type":"Stone"}]}',
    'Pet[0].@type: expected Animal or a type derived from it, got another',
  ],
  [
    'A22: wildcard text that is not well-formed',
    sequence(`<xs:any ${many}/>`),
    '{"@any":["<a/>","<a>"]}',
    '@any[1]: expected one well-formed XML element, got other text (line 1, column 4)',
  ],
  [
    'A22: two elements in one text',
    sequence('<xs:any minOccurs="0"/>'),
    '{"@any":"<a/><b/>"}',
    '@any: expected one well-formed XML element, got other text (line 1, column 5)',
  ],
  [
    'A24: inner XML that closes what it did not open',
    sequence(e('m', 't:Mixed')),
    '{"m":"</x><x>"}',
    'm: expected well-formed XML, got other text (line 1, column 8)',
  ],
  [
    'A12: an attribute’s name that is none',
    sequence('', '<xs:anyAttribute/>'),
    '{"@attributes":{"{urn:o}a!b":"x"}}',
    '@attributes: expected names of attributes, each once, got another',
  ],
  [
    'A25: null among items that can not be nil',
    sequence(e('a', 'xs:int', many)),
    '{"a":[1,null]}',
    'a[1]: expected a value, got null',
  ],
  [
    'A26: a number out of its range',
    sequence(e('a', 'xs:byte')),
    '{"a":300}',
    'a: expected xs:byte from -128 to 127, got a number outside it',
  ],
] as const)
  test(`${title} is a mismatch in a reply`, (t) => {
    const { request } = compiledGet(t, type, `${animals}<xs:complexType name="Mixed" mixed="true"/>`);
    t.throws(() => writeMessage(request, json), { instanceOf: MismatchError, message });
  });

test('A25: an optional element that cannot be nil is dropped if nil, and refused with content', (t) => {
  const { request } = compiledGet(t, sequence(e('a', 'xs:string', maybe) + e('b', 'xs:int', many)));
  const read = (xml: string) => {
    const { json, problems } = readMessage(request, get(xml));
    return [json, ...problems.map((problem) => `${problem.code} ${problemText(problem)}`)];
  };
  t.deepEqual(read('<t:a xsi:nil="true"/>'), ['{}']);
  t.deepEqual(read('<t:a xsi:nil=" 1 ">x</t:a>'), [
    '{}',
    'InvalidType a: expected no content in an element with xsi:nil',
  ]);
  t.deepEqual(read('<t:b xsi:nil="1"/>'), ['{"b":[]}', 'NotEmpty b[0]: expected a value, got xsi:nil']);
});

test('A18: @type may follow other members', (t) => {
  const { request } = compiledGet(t, sequence(e('Pet', 't:Animal', many)), animals);
  t.regex(
    writeMessage(request, '{"Pet":[{"Name":"x","@type":"Dog"}]}'),
    /<n0:Pet i:type="n0:Dog"><n0:Name>x<\/n0:Name><\/n0:Pet>/,
  );
});

test('A18: refuses two types of one object, and reads nothing after them as its parent’s', (t) => {
  const content = e('Pet', 't:Animal', maybe) + e('any', 'xs:anyType', maybe) + e('b', 'xs:string', maybe);
  const { request } = compiledGet(t, sequence(content), animals);
  for (const [json, place] of [
    ['{"Pet":{"@type":"Dog","@type":"Animal","b":"x"}', 'Pet'],
    ['{"Pet":{"Name":"x","@type":"Dog","@type":"Animal"}}', 'Pet'],
    ['{"any":{"@type":"Stone","@type":"Dog"}}', 'any'],
  ] as const)
    t.throws(() => writeMessage(request, json), {
      message: `${place}.@type: expected one type, got another later`,
    });
});

test('A27: a required fixed element or attribute missing in a reply is written', (t) => {
  const type = sequence(
    e('a', 'xs:string', 'fixed="1"'),
    '<xs:attribute name="v" type="xs:string" fixed="2" use="required"/>',
  );
  const { request } = compiledGet(t, type);
  t.regex(writeMessage(request, '{}'), / v="2"><n0:a>1<\/n0:a><\/n0:Get>$/);
});

test('A28: required members missing in a request are reported', (t) => {
  const { request } = compiledGet(
    t,
    sequence(e('a') + e('b', 'xs:string', maybe), '<xs:attribute name="id" type="xs:int" use="required"/>'),
  );
  t.deepEqual(
    readMessage(request, get('')).missing.map(({ path }) => path),
    ['id', 'a'],
  );
});

test('A28: required members missing in a reply are counted, except fixed ones, nils and choices', (t) => {
  const type = sequence(
    e('a') +
      e('nillable', 'xs:string', 'nillable="true"') +
      e('fixed', 'xs:string', 'fixed="1"') +
      e('many', 'xs:string', 'maxOccurs="unbounded"') +
      e('maybe', 'xs:string', maybe) +
      `<xs:choice>${e('one')}${e('two')}</xs:choice>`,
    '<xs:attribute name="id" type="xs:int" use="required"/><xs:attribute name="v" type="xs:string"/>',
  );
  const { request } = compiledGet(t, type);
  const missing = (json: string): number => request.write(Buffer.from(json)).missing;
  t.is(missing('{"id":1,"a":"","nillable":null,"many":["x"]}'), 0);
  t.is(missing('{}'), 4);
  t.is(missing('{"id":null,"a":null,"nillable":null,"many":[]}'), 3);
});

test('A22: text of wildcards is limited, however long a namespace it repeats', (t) => {
  const { request } = compiledGet(t, sequence(`<xs:any ${many}/>`));
  const long = `urn:${'x'.repeat(1000)}`;
  const text = get('<o:x/>'.repeat(40_000), ` xmlns:o="${long}"`);
  const { problems } = readMessage(request, text);
  t.is(problems[0]?.code, 'OutOfRange');
});

for (const [type, text, characters] of [
  ['xs:QName', 'o:a', 20],
  ['t:Names', 'o:a o:b', 40],
] as const)
  test(`A22: namespaces of ${type} count towards the growth limit of a request`, (t) => {
    const list = '<xs:simpleType name="Names"><xs:list itemType="xs:QName"/></xs:simpleType>';
    const content = `<t:v xmlns:o="urn:${'o'.repeat(16)}">${text}</t:v>`;
    const read = (rereadText: number) => {
      const limits = { ...defaultLimits, rereadText };
      const { request } = compiledGet(t, sequence(e('v', type)), list, {}, limits);
      return readMessage(request, get(content), limits).problems.map(problemText);
    };
    t.deepEqual(read(characters), []);
    t.deepEqual(read(characters - 1), [
      `v: expected at most ${characters - 1} characters of XML as text and of namespaces in all, got more characters`,
    ]);
  });

test('A28: a required attribute or element missing in a request is reported as missing', (t) => {
  const { request } = compiledGet(
    t,
    sequence(e('a'), '<xs:attribute name="id" type="xs:int" use="required"/>'),
  );
  t.deepEqual(readMessage(request, get('')).missing.map(problemText), ['id is missing', 'a is missing']);
});

test('A18: the refusal of a long xsi:type namespace shows 200 characters of it', (t) => {
  const { request } = compiledGet(t, sequence(e('Pet', 't:Animal', many)), animals);
  const refusal = (length: number) =>
    readMessage(request, get('<t:Pet xsi:type="o:Dog"/>', ` xmlns:o="${'n'.repeat(length)}"`)).problems.map(
      problemText,
    )[0];
  t.true(refusal(200)?.endsWith(`got "o:Dog" in namespace "${'n'.repeat(200)}"`));
  t.true(refusal(201)?.endsWith(`got "o:Dog" in namespace "${'n'.repeat(200)}…"`));
});
