import test from 'ava';
import { problemText, startReading, TooManySteps } from '../../../../mappings/codec/problem.ts';
import { isFormat, isOfFormat } from '../../../../mappings/codec/scalars/formats.ts';
import {
  compareDecimals,
  type Decimal,
  decimalOf,
  isMultiple,
  zero,
} from '../../../../mappings/json/decimal.ts';
import { load } from '../../../plain/documents.ts';
import { fc } from '../../../property.ts';
import { compile, operationOf, readJson, readXml } from '../codec-calls.ts';

/** Compiles a contract that checks all rules of a member's schema. */
function compileStrict(schema: object, limits = {}, openapi = '3.1.0', schemas = {}) {
  const body = { type: 'object', properties: { m: schema } };
  const requestBody = { content: { 'application/json': { schema: body } } };
  const put = { operationId: 'put', requestBody, responses: { 204: { description: '' } } };
  const info = { title: 'Strict', version: '1' };
  const document = { openapi, info, paths: { '/': { put } }, components: { schemas } };
  const { contract, unchecked } = load(document, undefined, { validate: 'strict' });
  return { compiled: compile(contract, {}, limits), unchecked };
}

/** Returns the problems of a value's JSON, relative to the member. */
function faultsOf(schema: object, value: string, openapi?: string): readonly string[] {
  const { compiled } = compileStrict(schema, {}, openapi);
  return readJson(compiled, 'put', `{"Body":{"m":${value}}}`).problems.map((problem) =>
    problem.replace(' Body.m: ', ' '),
  );
}

for (const [schema, good, bad, says] of [
  [{ type: 'string', minLength: 2 }, '"ab"', '"😀"', 'OutOfRange expected at least 2 characters, got 1'],
  [{ type: 'string', maxLength: 1 }, '"😀"', '"ab"', 'OutOfRange expected at most 1 characters, got 2'],
  [{ type: 'string', pattern: 'b' }, '"abc"', '"x"', 'InvalidType expected text that matches b, got "x"'],
  [
    { type: 'string', pattern: '^\\u00e9\\/$' },
    '"é/"',
    '"e/"',
    'InvalidType expected text that matches ^\\u00e9\\/$, got "e/"',
  ],
  [
    { type: 'string', format: 'ipv4' },
    '"10.0.0.1"',
    '"10.0.0.256"',
    'InvalidType expected a ipv4, got "10.0.0.256"',
  ],
  [{ type: 'integer', minimum: 3 }, '3', '2', 'OutOfRange expected at least 3, got 2'],
  [{ type: 'integer', exclusiveMaximum: 3 }, '2', '3', 'OutOfRange expected less than 3, got 3'],
  [
    { type: 'number', multipleOf: 0.01 },
    '0.07',
    '0.075',
    'OutOfRange expected a multiple of 0.01, got 0.075',
  ],
  [
    { type: 'number', maximum: 1e-7 },
    '1.0e-7',
    '0.00000010001',
    'OutOfRange expected at most 1e-7, got 0.00000010001',
  ],
  [{ type: 'number', enum: [1, 2.5] }, '2.50', '3', 'InvalidEnum expected one of 1, 2.5, got "3"'],
  [{ type: 'string', const: '1' }, '"\\u0031"', '"2"', 'InvalidEnum expected 1, got "2"'],
  [{ const: { a: [1] } }, '{"a":[1.0]}', '{"a":[2]}', 'InvalidEnum expected {"a":[1]}, got "{\\"a\\":[2]}"'],
  [
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    '["a"]',
    '["a","b"]',
    'OutOfRange expected at most 1 items, got 2',
  ],
  [
    { type: 'array', items: {}, uniqueItems: true },
    '[1,"1"]',
    '[{"a":1,"b":2},{"b":2.0,"a":1}]',
    'DuplicateElement expected items that differ, got one again',
  ],
  [
    { type: 'object', additionalProperties: {}, minProperties: 1 },
    '{"a":1}',
    '{}',
    'OutOfRange expected at least 1 members, got 0',
  ],
  [
    { allOf: [{ type: 'string', maxLength: 3 }, { minLength: 2 }] },
    '"ab"',
    '"a"',
    'OutOfRange expected at least 2 characters, got 1',
  ],
  [
    { allOf: [{ type: 'array', items: { type: 'string', maxLength: 3 } }, { items: { minLength: 2 } }] },
    '["ab","abc"]',
    '["abcd"]',
    'OutOfRange Body.m[0]: expected at most 3 characters, got 4',
  ],
  [
    {
      allOf: [
        { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer', minimum: 2 } } },
        { additionalProperties: { items: { maximum: 3 } } },
      ],
    },
    '{"a":[2,3]}',
    '{"a":[1]}',
    'OutOfRange Body.m.a[0]: expected at least 2, got 1',
  ],
  [
    { anyOf: [{ type: 'integer', minimum: 2 }, { type: 'null' }] },
    'null',
    '1',
    'OutOfRange expected at least 2, got 1',
  ],
  [
    { type: ['string', 'null'], readOnly: true },
    'null',
    '"a"',
    'UnknownElement expected none, as it is read only, got a value',
  ],
] as const) {
  test(`validate: strict checks ${JSON.stringify(schema)}`, (t) => {
    t.deepEqual(faultsOf(schema, good), []);
    t.deepEqual(faultsOf(schema, bad), [says]);
  });
}

test('additional members of the surrounding object’s type follow its rules, at any depth', (t) => {
  for (const [index, said] of [
    { maxProperties: 1, additionalProperties: { $ref: '#/components/schemas/Tree' } },
    { allOf: [{ additionalProperties: { $ref: '#/components/schemas/Tree' } }, { maxProperties: 1 }] },
  ].entries()) {
    const tree = { type: 'object', properties: { leaf: { type: 'boolean' } }, ...said };
    const { compiled } = compileStrict({ $ref: '#/components/schemas/Tree' }, {}, '3.1.0', { Tree: tree });
    const problemsOf = (value: string) => readJson(compiled, 'put', `{"Body":{"m":${value}}}`).problems;
    const two = '{"a":{},"b":{}}';
    for (const [value, place] of [
      [two, 'm'],
      [`{"a":${two}}`, 'm.a'],
      [`{"a":{"b":${two}}}`, 'm.a.b'],
    ])
      t.deepEqual(
        problemsOf(value ?? ''),
        [`OutOfRange Body.${place}: expected at most 1 members, got 2`],
        `${index}`,
      );
    t.deepEqual(problemsOf('{"a":{"b":{}}}'), []);
  }
});

const file = { type: 'string', format: 'binary' };
for (const [mediaType, schema, good, bad, says] of [
  [
    'text/plain',
    { type: 'string', maxLength: 1 },
    '"a"',
    '"ab"',
    'Body: expected at most 1 characters, got 2',
  ],
  ['text/plain', { type: 'integer', enum: [1] }, '"1"', undefined, ''],
  [
    'application/x-ndjson',
    { type: 'string', maxLength: 1 },
    '["a"]',
    '["ab"]',
    'Body[0]: expected at most 1 characters, got 2',
  ],
  [
    'application/x-ndjson',
    { type: 'array', maxItems: 1, items: { type: 'integer', minimum: 2 } },
    '[2]',
    '[2,3]',
    'Body: expected at most 1 items, got 2',
  ],
  [
    'application/x-ndjson',
    { type: 'array', items: { type: 'integer', minimum: 2 } },
    '[2]',
    '[1]',
    'Body[0]: expected at least 2, got 1',
  ],
  [
    'multipart/form-data',
    { type: 'object', minProperties: 1, properties: { file, files: { type: 'array', items: file } } },
    '{"file":{"Content":""}}',
    '{}',
    'Body: expected at least 1 members, got 0',
  ],
  [
    'multipart/form-data',
    { type: 'object', properties: { files: { type: 'array', maxItems: 1, items: file } } },
    '{"files":[{"Content":""}]}',
    '{"files":[{"Content":""},{"Content":""}]}',
    'Body.files: expected at most 1 items, got 2',
  ],
] as const)
  test(`a body of ${mediaType} is checked by ${JSON.stringify(schema)}`, (t) => {
    const requestBody = { content: { [mediaType]: { schema } } };
    const put = { operationId: 'put', requestBody, responses: { 204: { description: '' } } };
    const document = { openapi: '3.1.0', info: { title: 'Strict', version: '1' }, paths: { '/': { put } } };
    const compiled = compile(load(document, undefined, { validate: 'strict' }).contract);
    const problemsOf = (body: string) => readJson(compiled, 'put', `{"Body":${body}}`).problems;
    t.deepEqual(problemsOf(good), []);
    if (bad !== undefined) t.deepEqual(problemsOf(bad), [`OutOfRange ${says}`]);
  });

test('members of a merge patch are not counted, because null removes one; its lists are complete', (t) => {
  const labels = {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: { type: 'string', maxLength: 1 },
  };
  const size = {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    properties: { a: { type: 'integer', maximum: 2 }, b: { type: 'integer' } },
  };
  const schema = {
    type: 'object',
    properties: { labels, size, list: { type: 'array', maxItems: 1, items: size } },
  };
  const requestBody = { content: { 'application/merge-patch+json': { schema } } };
  const patch = { operationId: 'patch', requestBody, responses: { 204: { description: '' } } };
  const document = { openapi: '3.1.0', info: { title: 'Strict', version: '1' }, paths: { '/': { patch } } };
  const compiled = compile(load(document, undefined, { validate: 'strict' }).contract);
  const problemsOf = (body: string) => readJson(compiled, 'patch', `{"Body":${body}}`).problems;
  t.deepEqual(problemsOf('{"labels":{"old":null,"new":"x"},"size":{"a":null,"b":2}}'), []);
  t.deepEqual(problemsOf('{"labels":{},"size":{}}'), []);
  t.deepEqual(problemsOf('{"labels":{"new":"xy"},"size":{"a":3}}'), [
    'OutOfRange Body.labels.new: expected at most 1 characters, got 2',
    'OutOfRange Body.size.a: expected at most 2, got 3',
  ]);
  t.deepEqual(problemsOf('{"list":[{"a":1,"b":2}]}'), [
    'OutOfRange Body.list[0]: expected 1 to 1 members, got 2',
  ]);
});

test('OpenAPI 3.0 marks an exclusive bound by a boolean', (t) => {
  const schema = { type: 'integer', minimum: 3, exclusiveMinimum: true };
  t.deepEqual(faultsOf(schema, '3', '3.0.3'), ['OutOfRange expected more than 3, got 3']);
});

test('rules skip a null and a value of another type', (t) => {
  const schema = { type: ['string', 'null'], minLength: 2, readOnly: true };
  t.deepEqual(faultsOf(schema, 'null'), []);
  t.deepEqual(faultsOf({ type: 'string', minLength: 2 }, '7'), [
    'InvalidType expected a string, got a number',
  ]);
});

test('a pattern with exponential backtracking is matched in linear time', (t) => {
  const { compiled } = compileStrict({ type: 'string', pattern: '^(a|aa)+(a|aa)+$' });
  const { problems } = readXml(compiled, 'put', `<Body><m>${'a'.repeat(100_000)}!</m></Body>`);
  t.is(problems.length, 1);
});

test('the steps of all patterns of a request have one limit', (t) => {
  const schema = { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } };
  const { compiled } = compileStrict(schema, { patternSteps: 1_000 });
  const item = `<string>${'a'.repeat(60)}</string>`;
  t.deepEqual(readXml(compiled, 'put', `<Body><m>${item}</m></Body>`).problems, []);
  const { problems } = readXml(compiled, 'put', `<Body><m>${item.repeat(4)}</m></Body>`);
  t.is(problems.at(-1), 'OutOfRange Body.m[3]: expected less text to match with patterns in one request');
});

test('a pattern without a linear form, and a rounded bound, are listed and not checked', (t) => {
  const { unchecked } = compileStrict({
    anyOf: [
      { type: 'string', pattern: '^(?!a)(b)\\1$' },
      { type: 'integer', maximum: 2 ** 60 },
    ],
  });
  const member = '/paths/~1/put/requestBody/content/application~1json/schema/properties/m/anyOf';
  t.deepEqual(unchecked, [
    { pointer: `${member}/0/pattern`, why: 'no regular expression that matches in linear time' },
    {
      pointer: `${member}/1/maximum`,
      why: 'more than 2 to the power of 53, so digits of the document are lost',
    },
  ]);
});

for (const [format, good, bad] of [
  ['uuid', ['6F9619FF-8B86-D011-B42D-00CF4FC964FF'], ['6f9619ff8b86d011b42d00cf4fc964ff', '']],
  ['ipv4', ['0.0.0.0', '255.255.255.255'], ['1.2.3', '1.2.3.4.', '01.2.3.400']],
  ['ipv6', ['::', '2001:db8::1', '::ffff:10.0.0.1'], ['1', 'g::', '1:2:3:4:5:6:7:8:9']],
  ['hostname', ['a', 'a-b.example', 'a'.repeat(63)], ['-a', 'a-.b', 'a_b', '', 'a..b', 'a'.repeat(64)]],
  ['email', ['a@b'], ['a', '@b', 'a b@c']],
  ['uri', ['urn:a', 'https://a/b?c#d'], ['/a', 'a b:c', 'http://a/<b>']],
  ['time', ['23:59:60Z', '10:00:00.5+02:00'], ['10:00', '24:00:00Z']],
  ['duration', ['P1D', 'PT0.5S', 'P2W', 'P1Y2M3DT4H5M6S'], ['P', 'PT', '1D', 'P1S', 'P1DT', 'P1D2W']],
] as const) {
  test(`format ${format} accepts only ${good.join(', ')}`, (t) => {
    if (!isFormat(format)) return t.fail('unknown');
    for (const text of good) t.true(isOfFormat(format, text), text);
    for (const text of bad) t.false(isOfFormat(format, text), text);
  });
}

const numbers = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -20, max: 20 }))
  .map(([digits, exponent]) => ({ digits, exponent }));

/** A generated number with an exponent. */
interface Scaled {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Scales a number so that it has no fraction. */
function scaled({ digits, exponent }: Scaled): bigint {
  return digits * 10n ** BigInt(exponent + 20);
}

function told({ digits, exponent }: Scaled): Decimal {
  return decimalOf(`${digits}e${exponent}`) ?? zero;
}

test('decimals compare and divide like their integers', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const [large, small] = [scaled(a), scaled(b)];
        const order = large < small ? -1 : large > small ? 1 : 0;
        if (Math.sign(compareDecimals(told(a), told(b))) !== order) throw new Error('order');
        if (small !== 0n && isMultiple(told(a), told(b)) !== (large % small === 0n))
          throw new Error('multiple');
        if (
          !isMultiple(
            told({ ...a, digits: a.digits * (b.digits || 1n) }),
            told({ ...a, digits: b.digits || 1n }),
          )
        )
          throw new Error('product');
      }),
    ),
  );
});

test('a number with thousands of digits, or such an exponent, is not checked as a decimal', (t) => {
  t.is(decimalOf('9'.repeat(500)), undefined);
  t.is(decimalOf('1e99999999'), undefined);
  t.deepEqual(decimalOf('-01.500e3'), { isNegative: true, digits: '15', exponent: 2 });
  t.deepEqual(decimalOf('-0.00'), zero);
});

const differing = { type: 'array', uniqueItems: true } as const;
const oneAgain = 'expected items that differ, got one again';

test('counts, bounds and equality follow JSON Schema, on both sides of each limit', (t) => {
  const count = { minItems: 1, maxItems: 2 };
  const digits = (first: string): string => `${first}${'0'.repeat(40)}`;
  for (const [schema, value, says] of [
    [{ type: 'string', minLength: 1, maxLength: 2 }, '""', 'expected 1 to 2 characters, got 0'],
    [{ type: 'string', minLength: 1, maxLength: 2 }, '"a😀"', undefined],
    [{ type: 'string', minLength: 1, maxLength: 2 }, '"abc"', 'expected 1 to 2 characters, got 3'],
    [{ type: 'string', maxLength: 1 }, '"\\ud83da"', 'expected at most 1 characters, got 2'],
    [{ type: 'array', ...count }, '[]', 'expected 1 to 2 items, got 0'],
    [{ type: 'array', ...count }, '[1,[2,3]]', undefined],
    [{ type: 'array', ...count }, '[1,2,3]', 'expected 1 to 2 items, got 3'],
    [{ type: 'object', minProperties: 1 }, '{}', 'expected at least 1 members, got 0'],
    [{ type: 'object', minProperties: 1 }, '{"a":{"b":1,"c":2}}', undefined],
    [{ type: 'object', maxProperties: 1 }, '{"a":1,"b":2}', 'expected at most 1 members, got 2'],
    [{ type: 'number', minimum: 0 }, '-0', undefined],
    [{ type: 'number', minimum: 0 }, '-1', 'expected at least 0, got -1'],
    [{ type: 'number', maximum: 9 }, '9.0', undefined],
    [{ type: 'number', maximum: 9 }, '9.01', 'expected at most 9, got 9.01'],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', 'expected more than 0, got 0'],
    [{ type: 'number', exclusiveMinimum: 0 }, '0.1', undefined],
    [{ type: 'number', exclusiveMaximum: 1 }, '0.9', undefined],
    [{ type: 'number', maximum: 1 }, digits('2'), `expected at most 1, got ${digits('2').slice(0, 32)}…`],
    [{ type: 'number', maximum: 1 }, '2'.repeat(32), `expected at most 1, got ${'2'.repeat(32)}`],
    [{ type: 'number', maximum: 1 }, '2'.repeat(33), `expected at most 1, got ${'2'.repeat(32)}…`],
    [{ type: 'string', maxLength: 1 }, '"😁"', undefined],
    [
      { type: 'integer', enum: Array.from({ length: 13 }, (_, index) => index) },
      '99',
      'expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, got "99"',
    ],
    [{ minLength: 2 }, '7', undefined],
    [{ minLength: 2 }, '["a"]', undefined],
    [{ maximum: 0 }, 'true', undefined],
    [{ maximum: 0 }, '"1"', undefined],
    [{ uniqueItems: true }, '7', undefined],
    [{ minItems: 1 }, '{}', undefined],
    [{ minProperties: 1 }, '[]', undefined],
    [{ enum: [true, null] }, 'false', 'expected true, got "false"'],
    [{ enum: ['true', 1] }, 'true', 'expected one of true, 1, got "true"'],
    [differing, '[1,1.0]', oneAgain],
    [differing, '[9,9e0]', oneAgain],
    [differing, '[0,-0]', oneAgain],
    [differing, '[-9,-9.0]', oneAgain],
    [differing, '["a","\\u0061"]', oneAgain],
    [differing, '[{"a":1,"b":[2]},{"b":[2.0],"\\u0061":1}]', oneAgain],
    [differing, '[["a b"], [ "a b"]]', oneAgain],
    [differing, '[["a",true],["\\u0061",true]]', oneAgain],
    [differing, '[{"a":"x","b":"y"},{"b":"y","a":"x"}]', oneAgain],
    [differing, '[[1],["a"],[1.0]]', oneAgain],
    [differing, '["","\\"","\\\\",""]', oneAgain],
    [differing, '["","\\"","\\\\"]', undefined],
    [differing, '[[1,2],[2,1]]', undefined],
    [differing, '[1,"1",true,"true",null,"null",[],{},[1],{"a":1}]', undefined],
    [differing, '[{"a":1,"b":2},{"a":2,"b":1}]', undefined],
    [{ type: 'object', const: { a: [1, 'x'] } }, '{"a":[1.0,"\\u0078"]}', undefined],
    [{ type: 'object', const: { a: 1 } }, '{"a":2}', 'expected {"a":1}, got "{\\"a\\":2}"'],
  ] as const) {
    const faults = faultsOf(schema, value).map((fault) => fault.replace(/^\w+ /, ''));
    t.deepEqual(faults, says === undefined ? [] : [says], `${JSON.stringify(schema)} ${value}`);
  }
});

test('a value of a wrong type has no further checks', (t) => {
  const schema = { type: 'array', items: { type: 'integer' }, maxItems: 1 };
  const { compiled } = compileStrict(schema);
  t.deepEqual(readJson(compiled, 'put', '{"Body":{"m":["x","y"]}}').problems, [
    'InvalidType Body.m[0]: expected xs:long, got "x"',
    'InvalidType Body.m[1]: expected xs:long, got "y"',
  ]);
  const inXml = (content: string) => readXml(compiled, 'put', `<Body>${content}</Body>`).problems;
  t.deepEqual(inXml('<m><long>x</long><long>1</long></m>'), [
    'InvalidType Body.m[0]: expected xs:long, got "x"',
  ]);
  t.deepEqual(inXml('<m><long>2</long><long>1</long></m>'), [
    'OutOfRange Body.m: expected at most 1 items, got 2',
  ]);
});

test('validate: strict skips an element that counts as absent', (t) => {
  const { compiled } = compileStrict({ type: 'integer', minimum: 3 });
  const lenient = compile(compiled.contract, { emptyElements: 'absent' });
  t.deepEqual(readXml(lenient, 'put', '<Body><m/></Body>').problems, []);
});

test('validate: strict checks the text of a parameter like a value', (t) => {
  const parameters = [{ name: 'p', in: 'query', schema: { type: 'integer', minimum: 3 } }];
  const get = { operationId: 'get', parameters, responses: { 204: { description: '' } } };
  const document = { openapi: '3.1.0', info: { title: 'Strict', version: '1' }, paths: { '/': { get } } };
  const operation = operationOf(compile(load(document, undefined, { validate: 'strict' }).contract), 'get');
  const problemsOf = (text: string): readonly string[] => {
    const reading = startReading(5);
    operation.readParameters([{ field: 'p', shownName: 'p', text }], reading);
    return reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`);
  };
  t.deepEqual(problemsOf('3'), []);
  t.deepEqual(problemsOf('2'), ['OutOfRange p: expected at least 3, got 2']);
  t.deepEqual(problemsOf('x'), ['InvalidType p: expected xs:long, got "x"']);
});

const tooMuch = 'OutOfRange Body.m: expected less in lists and objects in one another in one request';
const unique = (items: object) => ({ ...differing, items });
const text = { type: 'string' };
const integer = { type: 'integer' };

for (const [schema, value, characters] of [
  [{ enum: ['a'] }, '"a"', 0],
  [{ enum: [7] }, '7', 0],
  [{ readOnly: true }, '[1]', 0],
  [{ enum: [[1, 2]] }, '[1,2]', 10],
  [{ enum: [{ a: 1 }] }, '{"a":1}', 14],
  [{ type: 'array', uniqueItems: true, minItems: 1, items: {} }, '[1]', 6],
  [{ type: 'array', minItems: 1, items: {} }, '[1]', 3],
  [{ type: 'object', minProperties: 1, additionalProperties: {} }, '{"a":1}', 7],
  [unique(unique(integer)), '[[1,2],[3]]', 2 * (5 + 3 + 11)],
  [unique(unique(unique(text))), '[[["a"],["b"]]]', 2 * (5 + 5 + 13 + 15)],
  // text that is rewritten for comparison, once per enclosing list, counts ten times
  [unique(unique(unique(integer))), '[[[1],[2]]]', 2 * (3 + 3 + 9 + 11) + 10 * (3 + 3)],
  [unique(unique(unique(text))), '[[["\\n"],["b"]]]', 2 * (6 + 5 + 14 + 16) + 10 * 6],
] as const)
  test(`rereadText: ${JSON.stringify(schema)} reads ${characters} characters of ${value} again`, (t) => {
    const problemsOf = (rereadText: number) =>
      readJson(compileStrict(schema, { rereadText }).compiled, 'put', `{"Body":{"m":${value}}}`).problems;
    t.false(problemsOf(characters).includes(tooMuch));
    t.is(problemsOf(characters - 1).includes(tooMuch), characters > 0);
  });

test('rereadText: checks without lists continue beyond the limit', (t) => {
  const list = { type: 'array', items: { type: 'integer' } };
  const properties = { a: { ...list, uniqueItems: true }, b: { ...list, readOnly: true } };
  const { compiled } = compileStrict({ type: 'object', properties }, { rereadText: 0 });
  t.deepEqual(readJson(compiled, 'put', '{"Body":{"m":{"a":[1],"b":[2]}}}').problems, [
    'OutOfRange Body.m.a: expected less in lists and objects in one another in one request',
    'UnknownElement Body.m.b: expected none, as it is read only, got a value',
  ]);
});

for (const [schema, value, steps] of [
  [{ type: 'string', minLength: 1 }, '"ab"', 4 + 64],
  [{ type: 'string', minLength: 1, format: 'uuid' }, '"ab"', 8 + 2 * 64],
  [{ type: 'string', pattern: 'a' }, '"ab"', 13 + 64],
  [{ type: 'string', pattern: 'a', minLength: 1 }, '"abcd"', 27 + 2 * 64],
  [{ type: 'array', items: { type: 'integer', minimum: 0 } }, '[1,2,3]', 3 * 65],
] as const)
  test(`${JSON.stringify(schema)} takes ${steps} steps for ${value}`, (t) => {
    const { compiled } = compileStrict(schema);
    const read = (mostSteps: number) => {
      const reading = startReading(5, mostSteps);
      operationOf(compiled, 'put').readJson(`{"Body":{"m":${value}}}`, reading);
      return reading;
    };
    t.is(read(Infinity).steps, steps);
    t.notThrows(() => read(steps));
    t.throws(() => read(steps - 1), { instanceOf: TooManySteps });
  });
