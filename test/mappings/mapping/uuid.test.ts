import test from 'ava';
import { callsOf, problemsOf, replyOf, type Sides } from './documents.ts';

/** The `uuid` source (M2). */

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const sides: Sides = {
  old: '{ type: object, properties: { ids: { type: array, items: { type: object, properties: { id: { type: string } } } } } }',
  oldReply: '{ type: object, properties: { trace: { type: string } } }',
  parameters:
    '[{ name: Idempotency-Key, in: header, required: true, schema: { type: string, format: uuid } }]',
  body: '{ type: object, properties: { id: { type: string }, ref: { type: string }, count: { type: integer } } }',
  rules: `
forEach: ids
request: { header.Idempotency-Key: { uuid: true }, id: id, ref: { uuid: true } }
reply: { trace: { uuid: true } }
`,
};

test('M2: uuid makes a new UUID for each target and each call', (t) => {
  t.deepEqual(problemsOf(sides), []);
  const calls = callsOf(sides, '{"ids":[{"id":"a"},{"id":"b"}]}');
  const made = calls.flatMap(({ headers, body }) => [headers['idempotency-key'], JSON.parse(body ?? '').ref]);
  t.is(new Set(made).size, 4);
  for (const one of made) t.regex(one, version4);
  t.regex(JSON.parse(replyOf(sides, '{"ids":[{}]}', { body: '{}' })).trace, version4);
});

test('M2: uuid is converted and made conditional like other sources', (t) => {
  const rules = `
omit: [ids]
code: ./do.ts
request: { header.Idempotency-Key: { uuid: true, code: f }, ref: { uuid: true, when: { ids: present } } }
reply: { trace: { uuid: true, values: {}, default: none } }
`;
  const code = 'export const f = (value: string): string => "order-" + value.length;';
  const [call] = callsOf({ ...sides, rules, code }, '{}');
  t.is(call?.headers['idempotency-key'], 'order-36');
  t.is(call?.body, '{}');
});

for (const [rule, message] of [
  ['{ uuid: false }', /^\/Do\/request\/ref\/uuid: expected true, got false/],
  [
    '{ uuid: true, const: a }',
    /expected one of from, each, const, header, list and uuid, got const and uuid/,
  ],
  ['{ uuid: true, map: {} }', /expected no map with uuid/],
] as const)
  test(`M2: ${rule} is reported at start`, (t) => {
    const rules = `{ omit: [ids], request: { header.Idempotency-Key: { uuid: true }, ref: ${rule} } }`;
    t.regex(problemsOf({ ...sides, rules }).join('\n'), message);
  });

test('M2: a UUID for a number is reported at start', (t) => {
  const rules = '{ omit: [ids], request: { header.Idempotency-Key: { uuid: true }, count: { uuid: true } } }';
  t.regex(problemsOf({ ...sides, rules }).join(), /^\/Do\/request\/count: expected a number for count/);
});

test('M2: a target member called uuid is set by a group of rules', (t) => {
  const body =
    '{ type: object, properties: { buyer: { type: object, properties: { uuid: { type: string } } } } }';
  const rules = `{ omit: [ids], request: { header.Idempotency-Key: { uuid: true }, buyer: { uuid: 'ids[0].id' } } }`;
  const [call] = callsOf({ ...sides, body, rules }, '{"ids":[{"id":"a"}]}');
  t.is(call?.body, '{"buyer":{"uuid":"a"}}');
});
