import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { compileMapping } from '../../../mappings/mapping/mapping.ts';
import { readEntries } from '../../../mappings/mapping/rules.ts';
import { faultOf, problemsOf, type Sides } from './documents.ts';

/** Declared faults for error responses (M7). */

const orderFault = `
    type: object
    required: ['@fault', code]
    properties:
      '@fault': { type: string, enum: [OrderFault] }
      '@message': { type: string }
      code: { type: string }
      reason: { type: string }
      places: { type: array, items: { type: object, required: [at], properties: { at: { type: string } } } }
`;
const plainFault = `
    type: object
    required: ['@fault', value]
    properties: { '@fault': { type: string, enum: [Busy] }, value: { type: integer } }
`;
const problemJson = `
  content:
    application/problem+json:
      schema:
        type: object
        properties:
          title: { type: string }
          detail: { type: string }
          status: { type: integer }
          errors: { type: array, items: { type: object, properties: { path: { type: string } } } }
`;

const sidesOf = (fault: string, more: Partial<Sides> = {}): Sides => ({
  old: '{ type: object, properties: { id: { type: string } } }',
  oldFaults: `oneOf:\n  - ${orderFault.trim()}\n  - ${plainFault.trim()}\n`,
  responses: `
'200': { content: { application/json: { schema: { type: object } } } }
'404': ${problemJson.replaceAll('\n', '\n  ')}
'5XX': { description: html }
`,
  rules: `{ omit: [id], fault: ${fault} }`,
  ...more,
});

const body = '{"title":"gone","detail":"no order 7","status":200,"errors":[{"path":"/id"}]}';
const order = 'OrderFault: { when: { status: 404 }, map: { code: title, reason: detail } }';

test('M7: an error response is the declared fault whose conditions match', (t) => {
  const sides = sidesOf(`{ ${order} }`);
  t.deepEqual(problemsOf(sides), []);
  t.is(faultOf(sides, { body }), '{"@fault":"OrderFault","code":"gone","reason":"no order 7"}');
  t.is(faultOf(sides, { body, status: 410 }), undefined);
  t.is(faultOf(sides, { body: '{"title":"gone"}' }), '{"@fault":"OrderFault","code":"gone"}');
});

test('M7: the first of several matching faults is used', (t) => {
  const rules = `
omit: [id]
fault:
  OrderFault:
    - { when: { status: 404, detail: present }, map: { code: title } }
    - { when: { status: [404, 409] }, map: { code: { const: none } } }
  Busy: { map: { value: { from: header.Retry-After, as: number, default: 9 } } }
`;
  const of = sidesOf('', { rules });
  t.deepEqual(problemsOf(of), []);
  t.is(faultOf(of, { body }), '{"@fault":"OrderFault","code":"gone"}');
  t.is(faultOf(of, { body: '{}' }), '{"@fault":"OrderFault","code":"none"}');
  t.is(faultOf(of, { body: '', status: 409 }), '{"@fault":"OrderFault","code":"none"}');
  t.is(
    faultOf(of, { status: 503, body: '<p>', headers: { 'retry-after': '3' } }),
    '{"@fault":"Busy","value":3}',
  );
  t.is(faultOf(of, { status: 500, body: Uint8Array.of(0xff) }), '{"@fault":"Busy","value":9}');
});

test('M7: rules also set the text of a fault, its lists, the status and headers', (t) => {
  const sides = sidesOf(
    `{ OrderFault: { when: { status: 404 }, map: { "@message": detail, code: { from: status, as: text }, reason: header.x-id, places: { each: errors, map: { at: path } } } } }`,
  );
  t.deepEqual(problemsOf(sides), []);
  t.is(
    faultOf(sides, { body, headers: { 'x-id': '8' } }),
    '{"@fault":"OrderFault","@message":"no order 7","code":"404","reason":"8","places":[{"at":"/id"}]}',
  );
});

test('M7: a function computes members of a fault', (t) => {
  const rules = `{ omit: [id], code: ./do.ts, fault: { OrderFault: { map: { code: { from: title, code: f } } } } }`;
  const code = 'export const f = (value: string): string => value.toUpperCase();';
  t.is(faultOf(sidesOf('', { rules, code }), { body }), '{"@fault":"OrderFault","code":"GONE"}');
});

test('M7: a required member of a fault that a response lacks is a mismatch', (t) => {
  t.throws(() => faultOf(sidesOf(`{ ${order} }`), { body: '<p>' }), {
    message: /expected a source for the required code, got none/,
  });
});

for (const [what, fault, message] of [
  [
    'a name',
    '{ Lost: { map: {} } }',
    /^\/Do\/fault\/Lost: expected a fault that the WSDL declares for Do, got Lost; there are OrderFault, Busy$/,
  ],
  [
    'a required member',
    '{ OrderFault: { map: { reason: detail } } }',
    /^\/Do\/fault\/OrderFault\/map: expected a rule for code, which the reply requires, got none$/,
  ],
  ['a fault without rules', '{ Busy: {} }', /^\/Do\/fault\/Busy\/map: expected a rule for value/],
  [
    'a target',
    '{ OrderFault: { map: { code: title, cause: detail } } }',
    /expected a path of the target, got cause/,
  ],
  [
    'a source',
    '{ OrderFault: { when: { status: 404 }, map: { code: titel } } }',
    /expected a path of the source, got titel/,
  ],
  [
    'a condition',
    '{ OrderFault: { when: { status: 404, titel: x }, map: { code: title } } }',
    /expected a path of the source, got titel/,
  ],
  [
    'a kind',
    '{ Busy: { when: { status: 404 }, map: { value: title } } }',
    /expected a number for value, got title/,
  ],
  [
    'a status of success',
    `{ OrderFault: { when: { status: [404, 200] }, map: { code: title } } }`,
    /^\/Do\/fault\/OrderFault\/when\/status: expected the status of an error response, got 200$/,
  ],
  [
    'a fault after one for all',
    '{ OrderFault: { map: { code: title } }, Busy: { map: { value: { const: 1 } } } }',
    /^\/Do\/fault\/Busy: expected no fault after OrderFault/,
  ],
] as const)
  test(`M7: invalid ${what} is reported at start`, (t) => {
    t.regex(problemsOf(sidesOf(fault)).join('\n'), message);
  });

test('M7: undocumented paths of an error body are accepted', (t) => {
  t.deepEqual(problemsOf(sidesOf('{ OrderFault: { when: { status: 500 }, map: { code: any.path } } }')), []);
  t.deepEqual(problemsOf(sidesOf('{ OrderFault: { map: { code: any.path } } }')), []);
});

test('M7: an operation without faults accepts no rules for faults', (t) => {
  const sides = sidesOf(`{ ${order} }`, { oldFaults: undefined });
  t.regex(problemsOf(sides).join(), /got OrderFault; there are none/);
});

test('M7: a fault may be named as in the port type', (t) => {
  const content = {
    'application/json': {
      schema: {
        type: 'object',
        required: ['@fault'],
        properties: { '@fault': { type: 'string', enum: ['Missing'] } },
      },
    },
  };
  const { problems, operations } = compileMapping({
    derived: { paths: { '/Do': { post: { responses: { 200: { content: {} }, '4XX': { content } } } } } },
    openapi: { paths: { '/do': { post: { responses: {} } } } },
    entries: readEntries({ Do: { call: { POST: '/do' }, fault: { NotFound: {} } } }, t.fail, defaultLimits),
    faults: { Do: { NotFound: 'Missing' } },
    moduleOf: () => undefined,
    limits: defaultLimits,
  });
  t.deepEqual(problems, []);
  const answer = { status: 404, headers: {}, body: '' };
  t.is(operations.get('Do')?.toFault(0, answer), '{"@fault":"Missing"}');
});
