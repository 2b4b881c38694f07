import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { maxLoopRequestBytes } from '../../../mappings/http-mapping/related-stream.ts';
import { elementText, send, sharedGateway, soap11Namespace, soap12Namespace } from '../gateway.ts';

/** Texts of a contract that look like parts of error messages. */
const colors = ['red, got blue', 'expected x', 'a; b', 'green, did you mean blue'];
const oneOf = `one of ${colors.join(', ')}`;
const pattern = '^(?:expected|, got |; )+$';
const namespace = 'urn:Paints';

const paint = {
  type: 'object',
  properties: {
    color: { type: 'string', enum: colors },
    fixed: { type: 'string', const: 'x, got y; z' },
    note: { type: 'string', pattern },
    'size, got height': { type: 'integer', default: 1 },
    padding: { type: 'string' },
  },
};
const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const document = {
  openapi: '3.1.0',
  info: { title: 'Paints' },
  paths: {
    '/paints': {
      post: {
        operationId: 'addPaint',
        requestBody: json(paint),
        responses: {
          200: {
            description: 'done',
            ...json({ type: 'object', properties: { color: paint.properties.color } }),
          },
        },
      },
    },
  },
};
const folder = mkdtempSync(join(tmpdir(), 'error-data-'));
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
writeFileSync(join(folder, 'soap.yaml'), 'validate: strict\nreplies: strict\nunknownEnumValues: refuse\n');
const gateway = await sharedGateway({ serve: { contract: folder } });
rmSync(folder, { recursive: true });

const paths = { soap11: '/soap11', soap12: '/soap12', xml: '/xml/reply/addPaint' } as const;
const large = `<padding>${'p'.repeat(maxLoopRequestBytes)}</padding>`;

/**
 * Returns the path, the message, `expected` and `got` of the first problem in a reply; the reply's text if it has none.
 */
function problemIn(reply: string): unknown {
  const problem = /<problem>(.*?)<\/problem>/s.exec(reply)?.[1];
  return (
    problem &&
    ['path', 'message', 'expected', 'got'].map((name) =>
      elementText(problem, name)?.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
    )
  );
}

/** Returns the same for an XML request. */
async function problemOf(face: keyof typeof paths, content: string, ofElement = namespace): Promise<unknown> {
  const element = `<addPaint xmlns="${ofElement}"><Body>${content}</Body></addPaint>`;
  const soap = face === 'soap11' ? soap11Namespace : soap12Namespace;
  const body =
    face === 'xml' ? element : `<s:Envelope xmlns:s="${soap}"><s:Body>${element}</s:Body></s:Envelope>`;
  return problemIn((await send(gateway.port, 'POST', paths[face], {}, body)).text);
}

const cases: readonly (readonly [
  what: string,
  content: string,
  path: string,
  expected: string,
  got: string,
])[] = [
  ['values of an enum', '<color>nope</color>', 'Body.color', oneOf, '"nope"'],
  [
    'a value that is a sentence',
    '<color>expected a, got "b"; c</color>',
    'Body.color',
    oneOf,
    '"expected a, got \\"b\\"; c"',
  ],
  ['a constant', '<fixed>x</fixed>', 'Body.fixed', 'x, got y; z', '"x"'],
  ['a pattern', '<note>, got</note>', 'Body.note', `text that matches ${pattern}`, '", got"'],
  [
    'a name',
    '<size_x002C__x0020_got_x0020_height>one</size_x002C__x0020_got_x0020_height>',
    'Body.size_x002C__x0020_got_x0020_height',
    'xs:long',
    '"one"',
  ],
];
for (const face of ['soap11', 'soap12', 'xml'] as const) {
  for (const [what, content, path, expected, got] of cases) {
    for (const [size, padding] of [
      ['a small', ''],
      ['a large', large],
    ] as const) {
      test(`W27: ${face}: ${what} in ${size} request does not shorten expected and got`, async (t) => {
        t.deepEqual(await problemOf(face, content + padding), [
          path,
          `${path}: expected ${expected}, got ${got}`,
          expected,
          got,
        ]);
      });
    }
  }
}

test('W27: a namespace of a request does not shorten expected and got', async (t) => {
  const found = await problemOf('soap11', '', 'urn:expected a, got b; c');
  const [expected, got] = [
    '<addPaint> in namespace "urn:Paints"',
    '<addPaint> in namespace "urn:expected a, got b; c"',
  ];
  t.deepEqual(found, [undefined, `expected ${expected}, got ${got}`, expected, got]);
});

test('W27: a wrong reply does not shorten expected and got', async (t) => {
  gateway.answer({ body: '{"color":"red"}' });
  const where = 'Result.color';
  t.deepEqual(await problemOf('soap12', '<color>a; b</color>'), [
    where,
    `the reply's ${where}: expected ${oneOf}, got another value`,
    oneOf,
    'another value',
  ]);
});

const unknown = `unknown member, expected ${Object.keys(paint.properties).join(', ')}`;
for (const [what, body, path, text, expected, got] of [
  ['an enum', '{"Body":{"color":"nope"}}', 'Body.color', `expected ${oneOf}, got "nope"`, oneOf, '"nope"'],
  [
    'a name',
    '{"Body":{"size, got height":{}}}',
    'Body.size, got height',
    'expected xs:long, got an object',
    'xs:long',
    'an object',
  ],
  ['an unknown name', '{"Body":{"zzzzzzzz":1}}', 'Body.zzzzzzzz', unknown, undefined, undefined],
] as const)
  test(`W27: ${what} of JSON does not shorten expected and got, and the JSON message is the same`, async (t) => {
    const message = `${path}: ${text}`;
    const inXml = await send(gateway.port, 'POST', '/json/reply/addPaint?format=xml', {}, body);
    t.deepEqual(problemIn(inXml.text), [path, message, expected, got]);
    const inJson = await send(gateway.port, 'POST', '/json/reply/addPaint', {}, body);
    const [error] = JSON.parse(inJson.text).data.responseStatus.errors;
    t.deepEqual([error.fieldName, error.message], [path, message]);
  });
