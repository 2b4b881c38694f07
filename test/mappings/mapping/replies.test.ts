import test from 'ava';
import { MappingError } from '../../../mappings/mapping/run.ts';
import { problemsOf, replyOf, type Sides } from './documents.ts';

/** Responses that are not JSON, and bodies that rules cannot create (M1, M3). */

const old = `{ type: object, properties: { id: { type: string } } }`;
const oldReply = `
type: object
properties:
  file: { type: string, format: byte }
  text: { type: string }
  count: { type: integer }
  lines: { type: array, items: { type: string } }
  files: { type: array, items: { type: string, format: byte } }
  inner: { type: object, properties: { file: { type: string, format: byte } } }
`;

function sidesOf(content: string, reply: string, more: Partial<Sides> = {}): Sides {
  const responses = `{ '200': { content: { ${content} } } }`;
  return { old, oldReply, responses, rules: `{ omit: [id], reply: ${reply} }`, ...more };
}

const binary = '{ schema: { type: string, format: binary } }';
const bytes = Uint8Array.of(0x25, 0x50, 0, 0xff, 0xfe);

for (const type of ['application/pdf', 'application/octet-stream', 'image/png', "'*/*'", 'text/csv'])
  test(`M1: bytes of ${type} are mapped to base64`, (t) => {
    const sides = sidesOf(`${type}: ${binary}`, '{ file: . }');
    t.deepEqual(problemsOf(sides), []);
    t.is(replyOf(sides, '{}', { body: bytes }), '{"file":"JVAA//4="}');
  });

test('M1: bytes are mapped into lists, nested members, and into text if requested', (t) => {
  const pdf = (reply: string) => sidesOf(`application/pdf: ${binary}`, reply);
  const answer = { body: bytes, headers: { 'x-count': '5' } };
  for (const [reply, made] of [
    ['{ inner.file: . }', '{"inner":{"file":"JVAA//4="}}'],
    ['{ files: { from: ., as: list } }', '{"files":["JVAA//4="]}'],
    ['{ text: { from: ., as: text } }', '{"text":"JVAA//4="}'],
    ['{ file: ., count: { from: status, as: number } }', '{"file":"JVAA//4=","count":200}'],
    ['{ file: ., text: header.X-Count }', '{"file":"JVAA//4=","text":"5"}'],
    ['{}', '{}'],
  ] as const) {
    t.deepEqual(problemsOf(pdf(reply)), [], reply);
    t.is(replyOf(pdf(reply), '{}', answer), made);
  }
});

for (const type of ['text/plain', 'text/csv', 'application/xml', "'text/*'", 'application/yaml'])
  test(`M1: text of ${type} is mapped to text, and to base64 of its own bytes`, (t) => {
    const content = `${type}: { schema: { type: string } }`;
    const answer = {
      body: Uint8Array.of(0x61, 0xe9),
      headers: { 'content-type': 'text/x; charset="ISO-8859-1"' },
    };
    t.is(replyOf(sidesOf(content, '{ text: . }'), '{}', answer), '{"text":"aé"}');
    t.is(replyOf(sidesOf(content, '{ file: . }'), '{}', answer), '{"file":"Yek="}');
    t.is(replyOf(sidesOf(content, '{ text: . }'), '{}', { body: '' }), '{"text":""}');
  });

test('M1: text is converted like other texts', (t) => {
  const csv = (reply: string) => sidesOf('text/csv: {}', reply);
  t.is(replyOf(csv('{ lines: { from: ., split: "," } }'), '{}', { body: 'a,b' }), '{"lines":["a","b"]}');
  t.is(replyOf(csv('{ count: { from: ., as: number } }'), '{}', { body: '12' }), '{"count":12}');
});

test('M1: the charset of a response is quoted, so that the log does not have it', (t) => {
  const text = sidesOf('text/plain: { schema: { type: string } }', '{ text: . }');
  const headers = { 'content-type': 'text/plain; charset=secret' };
  const error = t.throws(() => replyOf(text, '{}', { body: Uint8Array.of(0x61), headers }), {
    instanceOf: MappingError,
    message: /expected text in secret, got other bytes/,
  });
  t.deepEqual(error?.reason.expected, { text: 'text in secret', kind: 'a text' });
});

test('M1: text in another charset than declared, and undeclared HTML, is a mismatch', (t) => {
  const text = sidesOf('text/plain: {}', '{ text: . }');
  t.throws(() => replyOf(text, '{}', { body: Uint8Array.of(0xff) }), { message: /expected text in utf-8/ });
  const headers = { 'content-type': 'Text/HTML; charset=utf-8' };
  for (const sides of [text, sidesOf(`application/pdf: ${binary}`, '{ file: . }')])
    t.throws(() => replyOf(sides, '{}', { body: '<p>', headers }), { message: /got HTML/ });
  t.is(replyOf(sidesOf('text/html: {}', '{ text: . }'), '{}', { body: '<p>', headers }), '{"text":"<p>"}');
});

test('M1: JSON is read if the document declares other forms too', (t) => {
  const sides = sidesOf(
    `application/pdf: ${binary}, application/json: { schema: { type: object, properties: { a: { type: string } } } }`,
    '{ text: a }',
  );
  t.is(replyOf(sides, '{}', { body: '{"a":"x"}' }), '{"text":"x"}');
});

for (const [what, sides, message] of [
  [
    'bytes to text',
    sidesOf(`application/pdf: ${binary}`, '{ text: . }'),
    /^\/Do\/reply\/text: .*base64Binary/,
  ],
  ['bytes to a number', sidesOf(`application/pdf: ${binary}`, '{ count: . }'), /^\/Do\/reply\/count: /],
  [
    'a member of bytes',
    sidesOf(`application/pdf: ${binary}`, '{ text: a }'),
    /expected a path of the source, got a/,
  ],
  ['a member of text', sidesOf('text/csv: {}', '{ text: a }'), /expected a path of the source, got a/],
  ['text to a number', sidesOf('text/csv: {}', '{ count: . }'), /^\/Do\/reply\/count: /],
  [
    'auto of bytes',
    sidesOf(`application/pdf: ${binary}`, '{}', { rules: '{ omit: [id], autoReply: same }' }),
    /autoReply: expected a JSON response with members/,
  ],
  [
    'lines of JSON',
    sidesOf('application/x-ndjson: {}', '{}'),
    /^\/Do\/call: expected answers of POST \/do in JSON, text or bytes, got application\/x-ndjson for status 200$/,
  ],
  ['events', sidesOf('text/event-stream: {}', '{}'), /got text\/event-stream for status 200$/],
  ['parts', sidesOf('multipart/mixed: {}', '{}'), /got multipart\/mixed for status 200$/],
  [
    'a form',
    sidesOf('application/x-www-form-urlencoded: {}', '{}'),
    /got application\/x-www-form-urlencoded/,
  ],
] as const)
  test(`M3: ${what} is reported at start`, (t) => {
    const [problem = '', ...more] = problemsOf(sides);
    t.regex(problem, message);
    t.deepEqual(more, []);
  });

test('M3: two forms of successful responses are reported at start, except for a part of a body', (t) => {
  const responses = (status: string) =>
    `{ '200': { content: { application/json: {} } }, '${status}': { content: { application/pdf: ${binary} } } }`;
  const sides = (status: string) => sidesOf('', '{}', { responses: responses(status) });
  t.regex(problemsOf(sides('201')).join(), /in one form, got application\/json, application\/pdf/);
  t.deepEqual(problemsOf(sides('206')), []);
});

for (const type of [
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'text/csv',
  'application/octet-stream',
])
  test(`M3: a request body with only ${type} is reported at start`, (t) => {
    const sides = sidesOf('application/json: {}', '{}', {
      bodyContent: `{ ${type}: { schema: { type: object } } }`,
    });
    t.deepEqual(problemsOf(sides), [
      `/Do/call: expected an operation whose request body is JSON, got POST /do with ${type}`,
    ]);
    const both = { ...sides, bodyContent: `{ ${type}: {}, application/json: {} }` };
    t.deepEqual(problemsOf(both), []);
  });

const required = `{ type: object, required: [count], properties: { count: { type: integer }, text: { type: string } } }`;
const answered = (statuses: string, reply: string): Sides => ({
  old,
  oldReply: required,
  responses: statuses,
  rules: `{ omit: [id], reply: ${reply} }`,
});
const count =
  '{ content: { application/json: { schema: { type: object, properties: { n: { type: integer } } } } } }';

for (const status of ['204', '205', '201'])
  test(`M3: a rule for the body of a ${status} without content is reported at start`, (t) => {
    const of = (reply: string) => answered(`{ '${status}': { description: none } }`, reply);
    t.regex(
      problemsOf(of('{ count: n }')).join(),
      /^\/Do\/reply\/count: .*the document describes no response body/,
    );
    t.regex(
      problemsOf(of('{ count: . }')).join(),
      /^\/Do\/reply\/count: expected a rule without the response body/,
    );
    t.regex(problemsOf(of('{}')).join(), /^\/Do\/reply: expected a rule for count/);
    t.deepEqual(problemsOf(of('{ count: { const: 1 } }')), []);
    t.deepEqual(problemsOf(of('{ count: { from: header.x, as: number } }')), []);
    t.is(replyOf(of('{ count: { const: 1 } }'), '{}', { status: Number(status) }), '{"count":1}');
    t.is(replyOf(of('{ count: { const: 1 } }'), '{}', { body: 'no JSON' }), '{"count":1}');
  });

test('M3: a required member without a source in an empty response is reported at start', (t) => {
  const of = (reply: string) => answered(`{ '200': ${count}, '204': { description: none } }`, reply);
  t.regex(
    problemsOf(of('{ count: n }')).join(),
    /^\/Do\/reply: expected a reply for responses of status 204, which have no body. Add default or else: .*count/,
  );
  for (const reply of [
    '{ count: { from: n, default: 0 } }',
    '{ count: { from: n, else: { const: 0 } } }',
    '{ count: { from: n, when: { status: 200 }, else: { from: status, as: number } } }',
  ])
    t.deepEqual(problemsOf(of(reply)), [], reply);
  t.is(replyOf(of('{ count: { from: n, default: 0 } }'), '{}', { status: 204 }), '{"count":0}');
  const optional = { ...of('{ text: { from: n, as: text } }'), oldReply };
  t.deepEqual(problemsOf(optional), []);
});

test('M3: a required member without a source in another response schema is reported at start', (t) => {
  const job =
    '{ content: { application/json: { schema: { type: object, properties: { job: { type: string } } } } } }';
  const of = (reply: string) => answered(`{ '200': ${count}, '202': ${job} }`, reply);
  t.regex(
    problemsOf(of('{ count: n }')).join(),
    /^\/Do\/reply: expected a reply for responses of status 202, which have another body. Add default or else: .*count/,
  );
  t.regex(problemsOf(of('{ count: m }')).join(), /expected a path of the source, got m; there are n, job/);
  const both = of('{ count: { from: n, else: { const: 0 } }, text: job }');
  t.deepEqual(problemsOf(both), []);
  t.is(replyOf(both, '{}', { status: 202, body: '{"job":"7"}' }), '{"count":0,"text":"7"}');
  t.deepEqual(problemsOf(answered(`{ '200': ${count}, '201': ${count} }`, '{ count: n }')), []);
  const some = of('{ count: { from: n, when: { n: 7 } } }');
  t.deepEqual(problemsOf(some), []);
});

test('M3: the check of empty responses at start does not call functions', (t) => {
  const sides = {
    ...answered(`{ '204': { description: none } }`, '{ count: { from: status, code: f } }'),
    code: 'let calls = 0;\nexport const f = (): number => ++calls;',
  };
  const rules = `{ omit: [id], code: ./do.ts, reply: { count: { from: status, code: f } } }`;
  t.is(replyOf({ ...sides, rules }, '{}', { status: 204 }), '{"count":1}');
});
