import test from 'ava';
import { FastPath } from '../../../../mappings/codec/fast-path/fast-path.ts';
import { mostBytes } from '../../../../mappings/codec/fast-path/text-tokenizer.ts';
import type { Input } from '../../../../mappings/codec/input.ts';
import { maxReportedProblems, startReading } from '../../../../mappings/codec/problem.ts';
import type { CompiledContract } from '../../../../mappings/compile.ts';
import type { Contract, Type } from '../../../../mappings/contract/model.ts';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { load } from '../../../plain/documents.ts';
import { compile, depot, operationOf, screening } from '../contracts.ts';

/** Number of readings after which a prefix, and then the shape after it, is cached. */
const often = 24;
const quirks = { illegalReferences: true };

/** Reads an operation's requests, each a wrapper as a document, with the fast path if their shape is cached. */
function shapesOf(compiled: CompiledContract, name: string) {
  const operation = operationOf(compiled, name);
  const path = new FastPath<string>(compiled.limits, quirks);
  const opens = `<${name} xmlns="${compiled.contract.namespaces.types}">`;
  const documentOf = (content: string): string => `${opens}${content}</${name}>`;
  /** Reads the input with the codec only. */
  const slowly = (content: string): Input => {
    const xml = new XmlReader(documentOf(content), compiled.limits, quirks);
    xml.readRoot();
    return operation.readXml(xml, startReading(maxReportedProblems));
  };
  const isGood = (content: string): boolean => {
    try {
      return slowly(content).reading.problems.length === 0;
    } catch (error) {
      if (error instanceof XmlError) return false;
      throw error;
    }
  };
  /** Reads the input with the fast path. Returns undefined, and learns the shape, if it is not cached. */
  const read = (content: string): Input | undefined => {
    const text = documentOf(content);
    const bytes = Buffer.from(text);
    const match = path.match(bytes, undefined);
    const known = match?.readInput();
    if (known !== undefined) return known;
    if (match === undefined)
      path.learnOpening(bytes, undefined, opens.length, name, {
        input: operation.operation.input,
        writeCredentials: operation.writeCredentials,
      });
    else if (isGood(content))
      match.learnShape(text, (snapshot, reading) => {
        const xml = new XmlReader(text, compiled.limits, quirks);
        xml.resume(snapshot);
        return operation.readXml(xml, reading);
      });
    return undefined;
  };
  const learn = (content: string): void => {
    for (let time = 0; time < often; time++) read(content);
  };
  return { operation, path, opens, documentOf, read, learn, slowly };
}

/** Converts texts stored as bytes to strings. */
const plainOf = (input: Input | undefined) =>
  input && { reading: input.reading, closes: input.closes, text: input.text.toString() };

const family = compile(screening);
const credentials = (user: string, key = 'key') =>
  `<Authentication><ApiUserId>${user}</ApiUserId><ApiUserKey>${key}</ApiUserKey></Authentication>`;
const requestOf = (names: readonly string[], user = 'jane', rest = ''): string =>
  `<Request><Permissions>${names.map((name) => `<string>${name}</string>`).join('')}</Permissions><SubUserName>${user}</SubUserName>${rest}</Request>`;

for (const [operation, learned, contents] of [
  [
    'UpdateSubUser',
    credentials('a') + requestOf(['b']),
    [
      credentials('Zo\u00eb &amp; S\u00f6hne', '"\\') + requestOf(['\u6f22\ud83d\ude00'], '&lt;'),
      credentials('a', '&#1;&#2;') + requestOf(['b']),
    ],
  ],
  ['UpdateSubUser', requestOf(['b', 'c']), [requestOf(['d', 'e'], 'f')]],
  ['UpdateSubUser', requestOf([]), [requestOf([], 'f')]],
  ['UpdateSubUser', credentials('a'), [credentials('b')]],
  [
    'UpdateSubUser',
    '<Authentication><ApiUserKey>a</ApiUserKey></Authentication>',
    ['<Authentication><ApiUserKey>b</ApiUserKey></Authentication>'],
  ],
  ['UpdateSubUser', '', ['']],
  ['GetPdf', '<Request><Id>1</Id></Request>', ['<Request><Id>23</Id></Request>']],
] as const)
  test(`${operation} with ${learned} is read by its shape as by its codec`, (t) => {
    const { read, learn, slowly } = shapesOf(family, operation);
    learn(learned);
    for (const content of [learned, ...contents, learned])
      t.deepEqual(plainOf(read(content)), plainOf(slowly(content)));
  });

for (const [what, learned, content] of [
  ['a text not of its type', '<Request><Id>1</Id></Request>', '<Request><Id>x</Id></Request>'],
  ['an empty text', '<Request><Id>1</Id></Request>', '<Request><Id></Id></Request>'],
  ['a wrong reference', '<Request><Id>1</Id></Request>', '<Request><Id>&x;</Id></Request>'],
  ['other markup', '<Request><Id>1</Id></Request>', '<Request><Id>1</Id> </Request>'],
  ['more behind', '<Request><Id>1</Id></Request>', '<Request><Id>1</Id></Request><Request/>'],
  ['less', '<Request><Id>1</Id></Request>', ''],
  ['a comment', '<Request><!-- a --><Id>1</Id></Request>', '<Request><!-- a --><Id>1</Id></Request>'],
  [
    'a CDATA section',
    '<Request><Id><![CDATA[1]]></Id></Request>',
    '<Request><Id><![CDATA[1]]></Id></Request>',
  ],
] as const)
  test(`what has ${what} is left to its codec`, (t) => {
    const { read, learn } = shapesOf(family, 'GetPdf');
    learn(learned);
    t.is(read(learned) !== undefined, learned !== content);
    t.is(read(content), undefined);
  });

test('bytes that are no UTF-8, too many, or behind the end are left to the codecs', (t) => {
  const { path, documentOf, learn } = shapesOf(family, 'UpdateSubUser');
  const document = (user: string): string => documentOf(requestOf(['b'], user));
  learn(requestOf(['b']));
  const read = (bytes: Buffer) => path.match(bytes, undefined)?.readInput();
  t.true(read(Buffer.from(document('é'))) !== undefined);
  t.is(read(Buffer.from(document('é'), 'latin1')), undefined);
  t.is(read(Buffer.from(`${document('a')} `)), undefined);
  t.is(read(Buffer.from(document('a').slice(0, -1))), undefined);
});

test('a shape is of 8,192 bytes at most, when it is met and when it is read', (t) => {
  const contentOf = (size: number, name = 'b'): string => {
    const { documentOf } = shapesOf(family, 'UpdateSubUser');
    const rest = size - Buffer.byteLength(documentOf(requestOf([name], '')));
    return requestOf([name], 'x'.repeat(rest));
  };
  const { read, learn } = shapesOf(family, 'UpdateSubUser');
  learn(contentOf(8_192));
  t.true(read(contentOf(8_192)) !== undefined);
  t.true(read(contentOf(1_000)) !== undefined);
  t.is(read(contentOf(8_193)), undefined);
  const other = shapesOf(family, 'UpdateSubUser');
  other.learn(contentOf(8_193));
  t.is(other.read(contentOf(1_000)), undefined);
});

test('shapes of 32,768 characters in all are kept, and then others in their place', (t) => {
  const { documentOf, read, learn } = shapesOf(family, 'UpdateSubUser');
  const contentOf = (names: number): string => {
    const of = (user: string) => requestOf(Array<string>(names).fill('n'), user);
    return of('x'.repeat(mostBytes - Buffer.byteLength(documentOf(of('')))));
  };
  const contents = [1, 2, 3, 4, 5].map(contentOf);
  const known = () => contents.map((content) => read(content) !== undefined);
  for (const content of contents.slice(0, 4)) learn(content);
  t.deepEqual(known(), [true, true, true, true, false]);
  learn(contentOf(5));
  t.deepEqual(known(), [false, false, false, false, true]);
  for (const names of [1, 2, 3]) learn(contentOf(names));
  t.deepEqual(known(), [true, true, true, false, true]);
});

test('of shapes that begin alike the one that a request has is found, in whichever order they were met', (t) => {
  const contents = [
    credentials('a'),
    credentials('a') + requestOf([]),
    credentials('a') + requestOf(['b']),
    credentials('a') + requestOf(['b', 'c']),
    credentials('a') + requestOf(['b', 'c'], 'd', '<Permissions/>').replace('<Permissions/>', ' '),
    requestOf(['b']),
    requestOf(['', 'b']),
    requestOf(['', '', 'b']),
    requestOf(['a', 'b']),
    '',
    ' ',
  ];
  for (const order of [contents, contents.toReversed(), [...contents.slice(3), ...contents.slice(0, 3)]]) {
    const { read, learn, slowly } = shapesOf(family, 'UpdateSubUser');
    for (const content of order) learn(content);
    for (const content of contents) t.deepEqual(plainOf(read(content)), plainOf(slowly(content)), content);
  }
});

test('an empty text is no text of a shape that begins alike, whichever was met first', (t) => {
  const contents = [['a', 'b'], ['', 'b'], ['', '', 'b'], ['']].map((names) => requestOf(names));
  for (const first of contents)
    for (const second of contents) {
      const { read, learn, slowly } = shapesOf(family, 'UpdateSubUser');
      learn(first);
      learn(second);
      for (const content of [first, second])
        t.deepEqual(plainOf(read(content)), plainOf(slowly(content)), content);
    }
});

test('W42: what a request lacks hangs on its markup, and is told each time', (t) => {
  const { read, learn } = shapesOf(family, 'UpdateSubUser');
  const content = '<Request><Permissions><string>a</string></Permissions></Request>';
  learn(content);
  for (let time = 0; time < 3; time++)
    t.deepEqual(
      read(content)?.reading.missing.map(({ path }) => path),
      ['Request.SubUserName', 'Authentication.ApiUserId', 'Authentication.ApiUserKey'],
    );
});

test('parameters and headers of a call have slots of their own, with and without a value', (t) => {
  const compiled = compile(depot);
  const { read, learn, slowly } = shapesOf(compiled, 'GetParcel');
  const contents = [
    [
      '<id>a</id><since>2024-02-29T12:00:00Z</since><state>sent</state><most>7</most><X_Trace>t</X_Trace>',
      '<id>"é</id><since>2024-03-01T00:00:00Z</since><state>under way</state><most>123</most><X_Trace>&amp;</X_Trace>',
    ],
    ['<id>a</id>', '<id>b</id>'],
    ['<id>a</id><most>7</most>', '<id>b</id><most>8</most>'],
  ] as const;
  for (const [learned, other] of contents) {
    learn(learned);
    for (const content of [learned, other])
      t.deepEqual(plainOf(read(content)), plainOf(slowly(content)), content);
  }
});

/** Returns an operation that takes a body of a schema. */
function taking(schema: object, validate: string): CompiledContract {
  const content = { 'application/json': { schema } };
  const put = { operationId: 'Put', requestBody: { content }, responses: { 204: { description: '' } } };
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Shapes', version: '1' },
    paths: { '/': { put } },
    components: {
      schemas: {
        State: { type: 'string', enum: ['x', 'y'] },
        Tree: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            parts: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
          },
        },
      },
    },
  };
  return compile(load(openapi, undefined, { validate }).contract);
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string' };

for (const [what, schema, hasShape, validate = 'types'] of [
  ['a text', object({ m: text }), true],
  ['an enum', object({ m: { $ref: '#/components/schemas/State' } }), true],
  ['a list', object({ m: text, l: { type: 'array', items: text } }), true],
  ['an object within', object({ m: text, o: object({ n: text }) }), true],
  ['a type that holds itself', object({ m: text, t: { $ref: '#/components/schemas/Tree' } }), true],
  ['a map', object({ m: text, o: { type: 'object', additionalProperties: text } }), false],
  [
    'a list of maps',
    object({ m: text, l: { type: 'array', items: { type: 'object', additionalProperties: text } } }),
    false,
  ],
  ['other members', object({ m: text }, { additionalProperties: true }), false],
  ['positions', object({ m: text, p: { type: 'array', prefixItems: [text, { type: 'integer' }] } }), false],
  ['a union', object({ m: text, u: { oneOf: [{ type: 'integer' }, object({ n: text })] } }), false],
  ['a rule that is looked at', object({ m: { type: 'string', maxLength: 3 } }), false, 'strict'],
  ['a rule that is not', object({ m: { type: 'string', maxLength: 3 } }), true],
] as const)
  test(`requests of a body with ${what} ${hasShape ? 'have' : 'have no'} shapes`, (t) => {
    const { read, learn, slowly } = shapesOf(taking(schema, validate), 'Put');
    const content = '<Body><m>x</m></Body>';
    learn(content);
    t.is(read(content) !== undefined, hasShape);
    if (hasShape) t.deepEqual(plainOf(read(content)), plainOf(slowly(content)));
  });

test('a request whose JSON is much longer than its markup is read whole', (t) => {
  const { contract } = taking(
    object({ p: text, l: { type: 'array', items: object({ v: text, m: text }) } }),
    'types',
  );
  const { read, learn, slowly } = shapesOf(compile(renamed(contract, 'v', 'n'.repeat(1_500))), 'Put');
  const list = contract.types.find(({ kind }) => kind === 'array');
  const name = list?.kind === 'array' ? list.itemName : '';
  const item = `<${name}><v>${'v'.repeat(40)}</v><m>m</m></${name}>`;
  const content = (pad: number): string => `<Body><p>${'x'.repeat(pad)}</p><l>${item.repeat(60)}</l></Body>`;
  learn(content(1));
  for (let pad = 1; pad < 1_600; pad += 15) {
    const json = read(content(pad))?.reading.slots.at(-1) ?? '';
    t.true(json === slowly(content(pad)).reading.slots.at(-1), `${pad}`);
    t.true(json.length > 90_000);
  }
});

/** Returns a contract in which members with a name get another JSON name. */
function renamed(contract: Contract, name: string, json: string): Contract {
  const copy = structuredClone(contract);
  const seen = new Set<Type>(copy.operations.map(({ input }) => input));
  for (const type of seen) {
    if (type.kind === 'array') seen.add(type.item);
    if (type.kind !== 'record') continue;
    for (const field of type.fields) {
      seen.add(field.type);
      if (field.json === name) Object.assign(field, { json });
    }
  }
  return copy;
}

test('a wrapper that was met before is known by what it means, and by no other charset', (t) => {
  const { path, documentOf, read, learn } = shapesOf(family, 'GetSearch');
  const bytes = Buffer.from(documentOf(''));
  t.is(path.match(bytes, undefined), undefined);
  learn('');
  t.true(read('') !== undefined);
  t.is(path.match(bytes, undefined)?.meaning, 'GetSearch');
  t.is(path.match(bytes, 'utf-8'), undefined);
});

test('credentials of a known shape go upstream in the body as the codec has them, with those of headers too', (t) => {
  const key = (text: string): string => `<ApiUserKey>${text}</ApiUserKey>`;
  const contents = [
    requestOf(['a', '漢字'], 'jane'),
    requestOf([], 'j&amp;&quot;\\&lt;é漢😀'),
    `<Authentication><ApiUserId>a long name of a caller</ApiUserId>${key('another&#9;one, a long one')}<UserId>me</UserId></Authentication>`,
    '<Authentication><ApiUserId>jane</ApiUserId></Authentication><Request><SubUserName>joe</SubUserName></Request>',
    `<Authentication><ApiUserId></ApiUserId>${key('key')}</Authentication><Request><SubUserName>joe</SubUserName></Request>`,
    '<Request><SubUserName>joe</SubUserName></Request>',
    '<Authentication></Authentication>',
  ];
  const { operation, learn, read, slowly } = shapesOf(family, 'UpdateSubUser');
  const bodies = (input: Input): readonly (string | undefined)[] => {
    const all = new Map([...operation.credentialsOf(input)].filter(([, value]) => value !== ''));
    const more = new Map([...all, ['apiUserKey', 'of a header']]);
    const none = new Set<string>();
    return [
      operation.request(input, { all, fromHeaders: none }),
      operation.request(input, { all: more, fromHeaders: new Set(['apiUserKey']) }),
      operation.request(input, undefined),
    ].map((request) => request?.body?.toString());
  };
  let short = 0;
  for (const content of contents) {
    learn(content);
    const known = read(content);
    if (known === undefined) continue;
    short++;
    t.deepEqual(bodies(known), bodies(slowly(content)), content);
    t.is(known.text.toString(), slowly(content).text.toString());
  }
  t.true(short >= 5, `${short} of ${contents.length} are known`);
});
