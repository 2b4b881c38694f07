import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { compileModule } from '../../../mappings/mapping/code.ts';
import { MappingError } from '../../../mappings/mapping/run.ts';
import { bodyOf, callsOf, mappingOf, problemsOf, replyOf, type Sides } from './documents.ts';

/** The rules M1 to M5 of an adopted service's mapping. */

const text = '{ type: string }';
const number = '{ type: integer }';

function object(members: string, required = ''): string {
  return `{ type: object, properties: { ${members} }, required: [${required}] }`;
}

test('M1: a rule sets a target path from a source path, relative to at and to', (t) => {
  const sides: Sides = {
    old: object(
      `Order: ${object(`Id: ${text}, Lines: { type: array, items: ${object(`Sku: ${text}, Kind: ${text}`)} }`)}`,
    ),
    body: object(`order: ${object(`id: ${text}, first: ${text}, gift: ${text}`)}`),
    rules: `
      at: Order
      to: order
      request: { id: Id, first: "Lines[0].Sku", gift: "Lines[Kind=gift].Sku" }
      omit: ["Order.Lines[].Kind"]`,
  };
  t.is(
    bodyOf(sides, '{"Order":{"Id":"7","Lines":[{"Sku":"a"},{"Sku":"g","Kind":"gift"}]}}'),
    '{"order":{"id":"7","first":"a","gift":"g"}}',
  );
  const error = t.throws(() => bodyOf(sides, '{"Order":{"Lines":[{"Sku":"a"},{"Sku":"b"}]}}'), {
    instanceOf: MappingError,
  });
  t.is(error?.message, 'Order.Lines[1].Sku: expected only members with a rule in the mapping, got a value');
});

test('M1: parameters of path, query and header are set, encoded for their place', (t) => {
  const sides: Sides = {
    old: object(`Id: ${text}, Tags: { type: array, items: ${text} }, Trace: ${text}`),
    path: '/do/{id}',
    parameters:
      '[{ name: id, in: path, required: true }, { name: $tag, in: query, schema: { type: array, items: { type: string } } }, { name: X-Trace, in: header, schema: { type: string } }]',
    rules: 'request: { path.id: Id, query.$tag: Tags, header.X-Trace: Trace }',
  };
  const [call] = callsOf(sides, '{"Id":"a/b","Tags":["x y","&"],"Trace":"t"}');
  t.is(call?.path, '/do/a%2Fb?%24tag=x%20y&%24tag=%26');
  t.is(call?.headers['x-trace'], 't');
  t.is(call?.body, undefined);
  for (const id of ['', '.', '..'])
    t.throws(() => callsOf(sides, JSON.stringify({ Id: id })), {
      message: /is valid in a path for path.id/,
    });
  t.throws(() => callsOf(sides, '{"Id":"a","Trace":"\\r\\nx: y"}'), {
    message: /expected printable ASCII for header/,
  });
  t.throws(() => callsOf(sides, '{}'), {
    message: /^expected a source for the required path\.id, got none$/,
  });
});

for (const [what, inputs, message] of [
  ['dots behind a slash', { Id: 'a/../b' }, /is valid in a path for path.id/],
  ['dots before a semicolon', { Id: '..;a' }, /is valid in a path for path.id/],
  ['a dot between several values', { Id: 'a/', Part: '/b' }, /is valid in a path for path.part/],
  ['a control in a path', { Id: 'a\n' }, /is valid in a path for path.id/],
  ['a control in a query', { Tags: ['a', '\0'] }, /no control characters for query.tag/],
  ['a blank at the end of a header', { Trace: 't ' }, /printable ASCII for header.X-Trace/],
  ['a comma in an item of a header’s list', { Traces: ['a,b', 'c'] }, /no "," in an item of the list/],
] as const)
  test(`M1: refuses ${what} as without a mapping`, (t) => {
    const list = `{ type: array, items: ${text} }`;
    const sides: Sides = {
      old: object(`Id: ${text}, Part: ${text}, Tags: ${list}, Trace: ${text}, Traces: ${list}`),
      path: '/do/{id}.{part}',
      parameters: `[{ name: id, in: path, required: true }, { name: part, in: path, required: true }, { name: tag, in: query, schema: ${list} }, { name: X-Trace, in: header, schema: ${text} }, { name: X-Traces, in: header, schema: ${list} }]`,
      rules:
        'request: { path.id: Id, path.part: Part, query.tag: Tags, header.X-Trace: Trace, header.X-Traces: Traces }',
    };
    const right = { Id: 'a', Part: 'b', Tags: ['c\n'], Trace: 't t', Traces: ['d', 'e'] };
    t.is(callsOf(sides, JSON.stringify(right))[0]?.headers['x-traces'], 'd,e');
    t.throws(() => callsOf(sides, JSON.stringify({ ...right, ...inputs })), { message });
  });

test('M1: one rule sets a parameter in any spelling of its name', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}, B: ${text}, C: ${text}`),
    parameters:
      '[{ name: a.b, in: query }, { name: A.B, in: query }, { name: X-Y, in: header }, { name: x-y, in: header }]',
    rules: `request: { query.a.b: A, 'query."a.b"': B, query.A.B: C, header.X-Y: A, header.x-y: B }`,
  };
  t.deepEqual(problemsOf(sides), [
    '/Do/request/query."a.b": expected one rule for query.a.b, got another rule',
    '/Do/request/header.x-y: expected one rule for header.x-y, got another rule',
  ]);
});

test('M1: no rule sets headers of the gateway or credentials, and none is required', (t) => {
  const sides = (name: string): Sides => ({
    old: object(`A: ${text}`),
    parameters: `[{ name: '${name}', in: header, required: true, schema: ${text} }]`,
    rules: `request: { 'header.${name}': A }`,
  });
  for (const name of ['Content-Length', 'transfer-encoding', 'Host', 'Accept', 'Content-Type', 'X Y'])
    t.is(
      problemsOf(sides(name))[0],
      `/Do/request/header.${name}: expected a header parameter of POST /do, which are none, got ${name}`,
    );
  for (const name of ['Accept', 'Authorization'])
    t.deepEqual(problemsOf({ ...sides(name), rules: 'omit: [A]' }), []);
  t.is(callsOf(sides('Authorization'), '{"A":"a"}')[0]?.headers.authorization, 'a');
});

test('M1: status and headers of a response are sources of the reply', (t) => {
  const sides: Sides = {
    old: 'type: object',
    oldReply: object(`Code: ${text}, Trace: ${text}, Other: ${text}`),
    rules: 'reply: { Code: { from: status, as: text }, Trace: { header: X-Trace }, Other: header.x-other }',
  };
  t.is(
    replyOf(sides, '{}', { status: 201, headers: { 'x-trace': 't', 'x-other': 'o' } }),
    '{"Code":"201","Trace":"t","Other":"o"}',
  );
});

test('M1: when can test status and headers of a response unless it has such members', (t) => {
  const rule =
    '{ const: gone, when: { status: [404, 410], header.x-why: present }, else: { const: failed } }';
  const sides: Sides = {
    old: 'type: object',
    answer: object(`id: ${text}`),
    oldReply: object(`X: ${text}`),
    rules: `reply: { X: { from: id, when: { status: 200 } } }\nerror: { X: ${rule} }`,
  };
  t.is(replyOf(sides, '{}', { body: '{"id":"1"}' }), '{"X":"1"}');
  t.is(replyOf(sides, '{}', { body: '{"id":"1"}', status: 201 }), '{}');
  const headers = { 'x-why': 'moved' };
  t.is(replyOf(sides, '{}', { status: 404, headers }), '{"X":"gone"}');
  t.is(replyOf(sides, '{}', { status: 404 }), '{"X":"failed"}');
  t.is(replyOf(sides, '{}', { status: 500, headers }), '{"X":"failed"}');
  const own = { ...sides, answer: object(`id: ${text}, status: ${text}`) };
  t.is(replyOf(own, '{}', { body: '{"id":"1","status":"new"}' }), '{}');
  t.is(replyOf(own, '{}', { body: '{"id":"1","status":"200"}', status: 201 }), '{"X":"1"}');
});

for (const [what, item] of [
  ['whose members are not said', 'type: object'],
  ['with members by any name', 'type: object, additionalProperties: { type: string }'],
] as const)
  test(`M1: within an item ${what} status and header are its own members`, (t) => {
    const sides: Sides = {
      old: 'type: object',
      answer: object(`l: { type: array, items: { ${item} } }, o: { ${item} }, c: ${object(`a: ${text}`)}`),
      oldReply: object(
        `L: { type: array, items: ${object(`S: ${text}, T: ${text}`)} }, O: ${text}, C: ${object(`A: ${text}, S: ${text}`)}`,
      ),
      rules: `
        reply:
          L: { each: l, map: { S: status, T: { const: new, when: { status: '201' } } } }
          O: { from: o.status }
          C: { from: c, map: { A: a, S: { from: status, as: text } } }`,
    };
    t.deepEqual(
      JSON.parse(
        replyOf(sides, '{}', {
          body: '{"l":[{"status":"open"},{},{"status":"201"}],"o":{"status":"x"},"c":{"a":"b"}}',
        }),
      ),
      { L: [{ S: 'open' }, {}, { S: '201', T: 'new' }], O: 'x', C: { A: 'b', S: '200' } },
    );
  });

test('M2: numbers keep their text', (t) => {
  const sides: Sides = {
    old: object(`A: ${number}, B: { type: number }, C: ${text}, D: ${number}`),
    body: object(`a: ${number}, b: { type: number }, c: { type: number }, d: ${text}, e: ${number}`),
    rules:
      "request: { a: A, b: B, c: { from: C, as: number }, d: { from: D, as: text }, e: { const: '18446744073709551616' } }",
  };
  t.is(
    bodyOf(sides, '{"A":123456789012345678901,"B":1.10,"C":"0.10","D":9007199254740993}'),
    '{"a":123456789012345678901,"b":1.10,"c":0.10,"d":"9007199254740993","e":18446744073709551616}',
  );
  t.throws(() => bodyOf(sides, '{"C":"ten"}'), { message: 'C: expected a number, got another value' });
});

test('M2: an enum table has a row per source value, and only values of the target', (t) => {
  const sides = (values: string, more = ''): Sides => ({
    old: object('Kind: { type: string, enum: [Sale, Order] }'),
    body: object('kind: { type: string, enum: [SALE, ORDER] }'),
    rules: `request: { kind: { from: Kind, values: ${values}${more} } }`,
  });
  t.is(bodyOf(sides('{ Sale: SALE, Order: ORDER }'), '{"Kind":"Order"}'), '{"kind":"ORDER"}');
  t.deepEqual(problemsOf(sides('{ Sale: SALE }')), [
    '/Do/request/kind/values: expected a row for each value of Kind, or a default, for kind; no row for Order',
  ]);
  t.deepEqual(problemsOf(sides('{ Sale: SALE }', ', default: ORDER')), []);
  t.deepEqual(problemsOf(sides('{ Sale: SOLD, Order: ORDER }')), [
    '/Do/request/kind/values: expected one of SALE, ORDER for kind, got SOLD',
  ]);
  t.deepEqual(problemsOf(sides('{ Sale: SALE, Order: ORDER, Gift: SALE }')), [
    '/Do/request/kind/values: expected values of Kind, which has no Gift',
  ]);
  t.throws(() => bodyOf(sides('{ Sale: SALE, Order: ORDER }'), '{"Kind":"Gift"}'), {
    message: 'Kind: expected one of Sale, Order, got a value without a rule',
  });
});

test('M2: dates, joined and split texts, first, lists of one, booleans', (t) => {
  const sides: Sides = {
    old: object(
      `D: ${text}, L: { type: array, items: ${text} }, S: ${text}, F: { type: array, items: ${text} }, O: ${text}, B: ${text}`,
    ),
    body: object(
      `d: ${text}, l: ${text}, s: { type: array, items: ${text} }, f: ${text}, o: { type: array, items: ${text} }, b: { type: boolean }`,
    ),
    rules: `request:
        d: { from: D, date: [DD.MM.YYYY, YYYY-MM-DD] }
        l: { from: L, join: "," }
        s: { from: S, split: ";" }
        f: { from: F, as: first }
        o: { from: O, as: list }
        b: { from: B, as: boolean }`,
  };
  t.is(
    bodyOf(sides, '{"D":"29.02.2024","L":["a","b"],"S":"x;y","F":["1","2"],"O":"o","B":"1"}'),
    '{"d":"2024-02-29","l":"a,b","s":["x","y"],"f":"1","o":["o"],"b":true}',
  );
  t.throws(() => bodyOf(sides, '{"D":"2024-02-29"}'), {
    message: 'D: expected a date as DD.MM.YYYY writes it, got another value',
  });
});

for (const [from, to, value, written] of [
  ['DD.MM.YYYY', 'YYYY-MM-DD', '29.02.2024', '2024-02-29'],
  ['DD.MM.YYYY', 'YYYY-MM-DD', '29.02.2023', undefined],
  ['DD.MM.YYYY', 'YYYY-MM-DD', '31.02.2024', undefined],
  ['DD.MM.YYYY', 'YYYY-MM-DD', '31.04.2024', undefined],
  ['DD.MM.', 'MM-DD', '29.02.', '02-29'],
  ['DD', 'DD', '31', '31'],
  ['hh:mm:ss', 'hhmmss', '24:00:00', '240000'],
  ['hh:mm:ss', 'hhmmss', '24:00:00.5', undefined],
  ['hh:mm', 'hhmm', '24:30', undefined],
  ['hh:mmZ', 'mm hh Z', '09:30-14:00', '30 09 -14:00'],
  ['hh:mmZ', 'mm hh Z', '09:30+14:01', undefined],
  ['hh:mmZ', 'mm hh Z', '09:30+09:60', undefined],
] as const)
  test(`M2: ${value} is ${written === undefined ? 'no date or time' : `one, ${written}`}, as ${from} writes it`, (t) => {
    const sides: Sides = {
      old: object(`D: ${text}`),
      body: object(`d: ${text}`),
      rules: `request: { d: { from: D, date: ['${from}', '${to}'] } }`,
    };
    const json = JSON.stringify({ D: value });
    if (written === undefined) t.throws(() => bodyOf(sides, json), { message: /^D: expected a date as/ });
    else t.is(bodyOf(sides, json), JSON.stringify({ d: written }));
  });

for (const [what, kind, rule, value, wanted] of [
  ['split', 'type: number', '{ from: A, split: "," }', '"1,2.50"', '[1,2.50]'],
  ['split', 'type: number', '{ from: A, split: "," }', '"1,x"', /^A: expected a number, got string/],
  [
    'split',
    'type: boolean',
    '{ from: A, split: "," }',
    '"true"',
    /expected true or false for l\[\], got A, which is a text/,
  ],
  [
    'a list of one',
    'type: number',
    '{ from: A, as: list }',
    '"1"',
    /expected a number for l\[\], got A, which is a text/,
  ],
  ['split', 'type: string, enum: [a, b]', '{ from: A, split: "," }', '"a,c"', /^A: expected one of a, b/],
  ['a list of one', 'type: string, enum: [a, b]', '{ from: A, as: list }', '"c"', /^A: expected one of a, b/],
  ['a function', 'type: number', '{ from: A, code: several }', '"x"', /^A: expected a number, got string/],
  ['a list of one of a table', 'type: number', '{ from: A, values: { a: 1 }, as: list }', '"a"', '[1]'],
  ['a list of one made a number', 'type: number', '{ from: A, as: list, code: one }', '"007"', '[7]'],
  ['a function', 'type: number', '{ from: A, code: several }', '"1"', '[1,1]'],
  ['split', 'type: string, enum: [a, b]', '{ from: A, split: "," }', '"a,b"', '["a","b"]'],
] as const)
  test(`M2: items made by a rule match the target's kind and enum: ${what}, ${kind}, ${value}`, (t) => {
    const sides: Sides = {
      old: object(`A: ${text}`),
      body: object(`l: { type: array, items: { ${kind} } }`),
      rules: `request: { l: ${rule} }`,
      code: 'export const several = (value: string) => [value, value];\nexport const one = (value: string) => String(BigInt(value));',
    };
    const made = () => bodyOf(sides, `{"A":${value}}`);
    if (typeof wanted === 'string') t.is(made(), `{"l":${wanted}}`);
    else t.regex(t.throws(made)?.message ?? '', wanted);
  });

test('M3: an object as a list of one, or the first of a list, is mapped by its members', (t) => {
  const sides = (members: string): Sides => ({
    old: object(
      `O: ${object(members)}, L: { type: array, items: ${object(members)} }, N: { type: array, items: ${text} }`,
    ),
    body: object(
      `o: { type: array, items: ${object(`a: ${text}`)} }, l: ${object(`a: ${text}`)}, n: ${text}`,
    ),
    rules: 'request: { o: { from: O, as: list }, l: { from: L, as: first }, n: { from: N, as: first } }',
  });
  t.deepEqual(problemsOf(sides(`a: ${text}, b: ${text}`)), [
    '/Do: expected a rule from O.b of the request to POST /do, auto, or its path under omit, got none',
    '/Do: expected a rule from L[].b of the request to POST /do, auto, or its path under omit, got none',
  ]);
  const json = '{"O":{"a":"1"},"L":[{"a":"2"},{"a":"3"}],"N":["x","y"]}';
  t.is(bodyOf(sides(`a: ${text}`), json), '{"o":[{"a":"1"}],"l":{"a":"2"},"n":"x"}');
  t.is(bodyOf(sides(`a: ${text}`), '{"L":[],"N":[]}'), '{}');
  const lists = `{ type: array, items: { type: array, items: ${text} } }`;
  const ofLists: Sides = {
    old: object(`L: ${lists}`),
    body: object(`l: { type: array, items: ${text} }, n: ${text}`),
    rules: 'request: { l: { from: L, as: first } }',
  };
  t.is(bodyOf(ofLists, '{"L":[["x","y"],["z"]]}'), '{"l":["x","y"]}');
  t.true(mappingOf(ofLists).oneWay.some(({ message }) => message === 'l: items after the first are omitted'));
});

test('M2: groups make objects, lists of objects and built lists', (t) => {
  const money = object(`currencyID: ${text}, value: ${text}`);
  const sides: Sides = {
    old: object(`Total: ${money}, Lines: { type: array, items: ${object(`Sku: ${text}, Price: ${money}`)} }`),
    body: object(
      `total: ${object(`cur: ${text}, val: ${text}`)}, lines: { type: array, items: ${object(`sku: ${text}, price: ${object(`cur: ${text}, val: ${text}`)}`)} }, notes: { type: array, items: ${object(`kind: ${text}`)} }`,
    ),
    rules: `request:
        total: { from: Total, map: &m { cur: currencyID, val: value } }
        lines: { each: Lines, map: { sku: Sku, price: { from: Price, map: *m } } }
        notes: { list: [{ kind: { const: a } }, { kind: { const: b } }] }`,
  };
  t.is(
    bodyOf(
      sides,
      '{"Total":{"currencyID":"EUR","value":"1"},"Lines":[{"Sku":"s","Price":{"currencyID":"USD","value":"2"}},{"Sku":"u"}]}',
    ),
    '{"total":{"cur":"EUR","val":"1"},"lines":[{"sku":"s","price":{"cur":"USD","val":"2"}},{"sku":"u"}],"notes":[{"kind":"a"},{"kind":"b"}]}',
  );
});

test('M2: null stays null if the target allows it: objects, lists, items, constants', (t) => {
  const inner = (nullable: boolean) =>
    `{ type: ${nullable ? "[object, 'null']" : 'object'}, properties: { x: ${text} } }`;
  const lists = (nullable: boolean) =>
    `{ type: ${nullable ? "[array, 'null']" : 'array'}, items: ${inner(nullable)} }`;
  const sides = (nullable: boolean): Sides => ({
    old: object(`O: ${inner(true)}, L: ${lists(true)}, S: ${text}, same: ${lists(true)}`),
    body: object(
      `o: ${inner(nullable)}, l: ${lists(nullable)}, p: ${lists(nullable)}, s: { type: [string, 'null'] }, c: { type: [string, 'null'] }, f: { type: [string, 'null'] }, same: ${lists(nullable)}`,
    ),
    rules: `
      auto: same
      request:
        o: { from: O, map: { x: x } }
        l: { each: L, map: { x: x } }
        p: L
        s: { from: S, values: { none: null, some: S }, default: other }
        c: { const: null, when: { S: none }, else: S }
        f: { from: S, code: noneOf }`,
    code: 'export const noneOf = (value: string) => (value === "none" ? null : value);',
  });
  const nulls = '{"O":null,"L":[{"x":"1"},null,{}],"S":"none","same":[null,{"x":"2"}]}';
  const list = '[{"x":"1"},null,{}]';
  t.deepEqual(JSON.parse(bodyOf(sides(true), nulls) ?? ''), {
    ...JSON.parse(`{"o":null,"l":${list},"p":${list}}`),
    ...{ s: null, c: null, f: null, same: [null, { x: '2' }] },
  });
  t.deepEqual(JSON.parse(bodyOf(sides(true), '{"L":null,"S":"some","same":null}') ?? ''), {
    ...{ l: null, p: null, s: 'S', c: 'some', f: 'some', same: null },
  });
  t.deepEqual(JSON.parse(bodyOf(sides(false), nulls) ?? ''), {
    ...{ l: [{ x: '1' }, {}], p: [{ x: '1' }, {}], s: null, c: null, f: null, same: [{ x: '2' }] },
  });
  t.is(bodyOf(sides(true), '{"S":null}'), '{"s":"other","c":null,"f":null}');
});

test('M2: auto maps each common path of one kind, through recursive types', (t) => {
  const sides: Sides = {
    old: `{ $ref: '#/components/schemas/Old' }`,
    body: `{ $ref: '#/components/schemas/New' }`,
    components: `
      Old: ${object(`Name: ${text}, Parts: { type: array, items: { $ref: '#/components/schemas/Old' } }, Size: ${number}`)}
      New: ${object(`Name: ${text}, Parts: { type: array, items: { $ref: '#/components/schemas/New' } }, Size: ${text}`)}`,
    rules: 'auto: same\nomit: [Size]',
  };
  t.deepEqual(problemsOf(sides), [
    '/Do: expected a rule from Parts[].Size of the request to POST /do, auto, or its path under omit, got none',
  ]);
  const whole = {
    ...sides,
    components: sides.components?.replace(', Size: { type: integer }', '') ?? '',
    rules: 'auto: same',
  };
  const json = '{"Name":"a","Parts":[{"Name":"b","Parts":[{"Name":"c"}]},{}]}';
  t.is(bodyOf(whole, json), json);
});

test('M3: every request member and every required target member needs a rule', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}, B: ${object(`C: ${text}, D: ${text}`)}`),
    body: object(`a: ${text}, must: ${text}`, 'must'),
    oldReply: object(`Ack: ${text}`, 'Ack'),
    rules: 'request: { a: A, typo: B.C }',
  };
  t.deepEqual(problemsOf(sides), [
    '/Do/request/typo: expected a path of the target, got typo; there are a, must',
    '/Do/request: expected a rule for must, which the call requires, got none',
    '/Do/reply: expected a rule for Ack, which the reply requires, got none',
    '/Do: expected a rule from B of the request to POST /do, auto, or its path under omit, got none',
  ]);
});

test('M3: refuses a request with a member without a rule, and accepts one listed in omit', (t) => {
  const sides = (rules: string): Sides => ({ old: 'type: object', body: object(`a: ${text}`), rules });
  t.throws(() => bodyOf(sides('request: { a: A }'), '{"A":"1","X":{"Y":2}}'), {
    message: 'X: expected only members with a rule in the mapping, got a value',
  });
  t.is(bodyOf(sides('request: { a: A }\nomit: [X]'), '{"A":"1","X":{"Y":2}}'), '{"a":"1"}');
  t.is(bodyOf(sides('request: { a: A }'), '{"A":"1","X":null}'), '{"a":"1"}');
});

test('M3: the first of several items for one path is used; others are refused unless listed', (t) => {
  const sides = (omit: string): Sides => ({
    old: object(`L: { type: array, items: ${object(`k: ${text}, v: ${text}, w: ${text}`)} }`),
    body: object(`v: ${text}, w: ${text}`),
    rules: `request: { v: "L[k=gift].v", w: "L[k=gift].w" }\nomit: [${omit}]`,
  });
  const gifts = '{"L":[{"k":"gift","v":"1","w":"2"},{"k":"gift","v":"3"},{"k":"gift"}]}';
  t.is(bodyOf(sides(''), '{"L":[{"k":"gift","v":"1","w":"2"}]}'), '{"v":"1","w":"2"}');
  t.throws(() => bodyOf(sides(''), gifts), { message: /^L\[1\]: expected only members with a rule/ });
  t.is(bodyOf(sides("'L[k=gift]'"), gifts), '{"v":"1","w":"2"}');
});

test('M3: a missing member, and a value outside the legacy enumeration, is a mismatch', (t) => {
  const sides: Sides = {
    old: 'type: object',
    answer: object(`ack: ${text}`),
    oldReply: object('Ack: { type: string, enum: [Success] }', 'Ack'),
    rules: 'reply: { Ack: ack }',
  };
  t.is(replyOf(sides, '{}', { body: '{"ack":"Success"}' }), '{"Ack":"Success"}');
  for (const [body, message] of [
    ['{}', 'expected a source for the required Ack, got none'],
    ['{"ack":"CREATED"}', 'ack: expected one of Success, got another value'],
  ] as const) {
    const error = t.throws(() => replyOf(sides, '{}', { body }), { instanceOf: MappingError, message });
    t.is(error?.side, 'reply');
  }
});

test('M3: reports a source path into each item, and a path parameter without a rule', (t) => {
  const inner = `{ type: array, items: ${object(`x: ${text}, l: { type: array, items: ${text} }`)} }`;
  const sides = (rules: string): Sides => ({
    old: object(`L: ${inner}`),
    body: object(`a: ${text}, l: { type: array, items: ${text} }`),
    rules,
  });
  for (const [rules, place, path] of [
    ["request: { a: 'L[].x' }\nomit: [L]", '/request/a', 'L[].x'],
    ["request: { l: { each: 'L[].l' } }\nomit: [L]", '/request/l', 'L[].l'],
    ["forEach: 'L[].l'\nrequest: { a: . }\nomit: [L]", '/forEach', 'L[].l'],
    ["when: { 'L[].x': present }\nomit: [L]", '/when/L[].x', 'L[].x'],
  ] as const)
    t.deepEqual(problemsOf(sides(rules)), [
      `/Do${place}: expected a path to one value, got ${path}, which has a value per item. Use each with rules for the items`,
    ]);
  t.deepEqual(problemsOf(sides("omit: ['L[].x', 'L[].l']")), []);
  t.deepEqual(problemsOf({ ...sides('omit: [L]'), path: '/do/{id}' }), [
    '/Do/call: expected a parameter of the OpenAPI document for {id} of /do/{id}, got none',
  ]);
});

for (const [rule, unused, beside] of [
  ['list: [A], join: ","', 'join', 'list'],
  ['const: x, values: { x: y }', 'values', 'const'],
  ['from: O, map: { x: x }, as: first', 'as', 'map'],
  ['from: O, auto: same, code: upper', 'code', 'auto'],
  ['header: X, map: { x: x }', 'map', 'header'],
  ['const: x, auto: same', 'auto', 'const'],
] as const)
  test(`M2: ${unused} next to ${beside} is reported as without effect`, (t) => {
    const sides: Sides = {
      old: object(`A: ${text}, O: ${object(`x: ${text}`)}`),
      body: object('b: {}'),
      rules: `request: { b: { ${rule} } }\nomit: [A, O]`,
    };
    t.true(
      problemsOf(sides).includes(
        `/Do/request/b/${unused}: expected no ${unused} with ${beside}, which ignores it`,
      ),
      problemsOf(sides).join('\n'),
    );
  });

test('M3: different kinds are reported with both paths', (t) => {
  t.deepEqual(
    problemsOf({ old: object(`N: ${number}`), body: object(`n: ${text}`), rules: 'request: { n: N }' }),
    ['/Do/request/n: expected a text for n, got N, which is a number. Use as, join, split, each or map'],
  );
});

test('M3: irreversible rules are reported', (t) => {
  const { oneWay, problems } = mappingOf({
    old: object(`K: { type: string, enum: [A, B] }, L: { type: array, items: ${text} }, M: ${text}`),
    body: object(`k: ${text}, l: ${text}, m: ${text}`),
    rules: 'request: { k: { from: K, values: { A: x, B: x } }, l: { from: L, as: first }, m: M }',
  });
  t.deepEqual(problems, []);
  t.deepEqual(
    oneWay.map(({ pointer, message }) => `${pointer}: ${message}`),
    ['/Do/request/k: k: several values become one', '/Do/request/l: l: items after the first are omitted'],
  );
});

test('M4: when selects one of several entries; a request that matches none is refused', (t) => {
  const sides: Sides = {
    old: object(`Mode: ${text}, A: ${text}, B: ${text}`),
    body: object(`a: ${text}, b: ${text}`),
    rules:
      '[{ when: { Mode: one }, request: { a: A } }, { when: { Mode: [two, three], B: present }, request: { b: B } }]',
  };
  t.is(bodyOf(sides, '{"Mode":"one","A":"x"}'), '{"a":"x"}');
  t.is(bodyOf(sides, '{"Mode":"three","B":"y"}'), '{"b":"y"}');
  t.throws(() => bodyOf(sides, '{"Mode":"one","B":"y"}'), {
    message: /^B: expected only members with a rule/,
  });
  t.throws(() => bodyOf(sides, '{"Mode":"two"}'), { message: /that matches no `when`$/ });
});

for (const [what, value, wanted] of [
  ['a number is that of the rule by its value', '1', 'one'],
  ['1.0 is 1', '1.0', 'one'],
  ['10e-1 is 1', '10e-1', 'one'],
  ['1.01 is not 1', '1.01', 'other'],
  ['a text is that of the rule as it is written', '"1.0"', 'other'],
  ['what is not there has no text', 'null', 'other'],
] as const)
  test(`M4: ${what}, in when, values, paths and enumerations`, (t) => {
    const kind = "{ type: [number, string, 'null'] }";
    const item = object(`k: ${kind}, v: ${text}`);
    const sides: Sides = {
      old: object(`N: ${kind}, L: { type: array, items: ${item} }, E: { type: number }`),
      body: object(`w: ${text}, t: ${text}, p: ${text}, e: { type: number, enum: [1, 1.01] }`),
      rules: `
        request:
          w: { const: one, when: { N: [1, ''] }, else: { const: other } }
          t: { from: N, values: { 1: one }, default: other }
          p: { from: 'L[k=1].v', default: other }
          e: E
        omit: [L]`,
    };
    const body = JSON.parse(bodyOf(sides, `{"N":${value},"L":[{"k":${value},"v":"one"}]}`) ?? '');
    t.deepEqual(body, { w: wanted, t: wanted, p: wanted });
    if (/^[0-9]/.test(value)) t.is(bodyOf(sides, `{"E":${value}}`)?.split('"e":')[1], `${value}}`);
  });

for (const [what, asked, message] of [
  [
    'a value that an enumeration lacks',
    '{ Mode: [one, tow] }',
    'Mode: expected values of Mode, which has no tow',
  ],
  ['a number that an enumeration lacks', '{ Size: 3 }', 'Size: expected values of Size, which has no 3'],
  ['a text for true', "{ Flag: 'yes' }", 'Flag: expected values of Flag, which has no yes'],
  ['a list', '{ L: one }', 'L: expected a value to compare at L, which is a list'],
  [
    'a member that items lack',
    "{ 'L[knd=gift].v': x }",
    'L[knd=gift].v: expected a member of the items of L[knd=gift], got knd; there are k, v',
  ],
  [
    'a value that items lack',
    "{ 'L[k=gfit].v': present }",
    'L[k=gfit].v: expected values of L[k=gfit].k, which has no gfit',
  ],
  ['what may be there', "{ Mode: two, Size: [1.0, '2'], Flag: true, 'L[k=gift].v': x }", undefined],
] as const)
  test(`M3: a condition that never holds is reported at start: ${what}`, (t) => {
    const sides: Sides = {
      old: object(
        `Mode: { type: string, enum: [one, two] }, Size: { type: number, enum: [1, 2.0] }, Flag: { type: boolean }, L: { type: array, items: ${object(`k: { type: string, enum: [gift] }, v: ${text}`)} }`,
      ),
      body: object(`a: ${text}`),
      rules: `request: { a: { const: x, when: ${asked} } }\nomit: [Mode, Size, Flag, L]`,
    };
    const told = message === undefined ? [] : [`/Do/request/a/when/${message}`];
    t.deepEqual(problemsOf(sides), told);
  });

test('M4: a number of a condition that JavaScript would round must be quoted', (t) => {
  const sides = (wanted: string): Sides => ({
    old: object(`N: ${number}`),
    body: object(`n: ${text}`),
    rules: `request: { n: { const: big, when: { N: ${wanted} } } }`,
  });
  t.is(bodyOf(sides("'12345678901234567890'"), '{"N":12345678901234567890}'), '{"n":"big"}');
  t.deepEqual(problemsOf(sides('12345678901234567890')), [
    '/Do/request/n/when/N: expected a number of at most 15 digits, or its text in quotes, got 12345678901234567000',
  ]);
});

test('M4: forEach makes a call per item, and collects replies and errors in order', (t) => {
  const sides: Sides = {
    old: object(`Ids: { type: array, items: ${object(`Id: ${text}`)} }`),
    path: '/do/{id}',
    parameters: '[{ name: id, in: path, required: true }]',
    answer: object(`id: ${text}`),
    oldReply: object(`Results: { type: array, items: ${object(`Id: ${text}, Error: ${text}`)} }`, 'Results'),
    rules: `
      forEach: Ids
      request: { path.id: Id }
      reply: { Results: { list: [{ Id: id }] } }
      error: { Results: { list: [{ Error: { from: status, as: text } }] } }`,
    limits: { mappingCalls: 3 },
  };
  const json = '{"Ids":[{"Id":"1"},{"Id":"2"},{"Id":"3"}]}';
  t.deepEqual(
    callsOf(sides, json).map(({ path }) => path),
    ['/do/1', '/do/2', '/do/3'],
  );
  t.is(
    replyOf(sides, json, { body: '{"id":"1"}' }, { status: 404 }, { body: '{"id":"3"}' }),
    '{"Results":[{"Id":"1"},{"Error":"404"},{"Id":"3"}]}',
  );
});

test('M4: a failed response keeps its position, whatever its body', (t) => {
  const sides: Sides = {
    old: object(`Ids: { type: array, items: ${text} }`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    answer: object(`id: ${text}`),
    oldReply: object(
      `Results: { type: array, items: ${object(`Id: ${text}, Error: ${text}, Why: ${text}`)} }`,
    ),
    rules: `
      forEach: Ids
      request: { query.id: . }
      reply: { Results: { list: [{ Id: id }] } }
      error: { Results: { list: [{ Error: { from: status, as: text }, Why: why }] } }`,
  };
  const answers = ['<html>', '{"why":"gone"}', '', '{"why":"a","why":"b"}', '[]'].map((body) => ({
    status: 404,
    body,
  }));
  t.deepEqual(
    JSON.parse(replyOf(sides, '{"Ids":["1","2","3","4","5","6"]}', { body: '{"id":"1"}' }, ...answers)),
    {
      Results: [
        { Id: '1' },
        ...[
          { Error: '404' },
          { Error: '404', Why: 'gone' },
          { Error: '404' },
          { Error: '404' },
          { Error: '404' },
        ],
      ],
    },
  );
});

for (const [what, item, rule, wanted] of [
  ['a text that may be null', "{ type: [string, 'null'] }", '{ list: [id] }', '["1",null,null,null,"5"]'],
  ['a list of one', "{ type: [string, 'null'] }", '{ from: id, as: list }', '["1",null,null,null,"5"]'],
  ['a record', object(`Id: ${text}`), '{ list: [{ Id: id }] }', '[{"Id":"1"},{},{},{},{"Id":"5"}]'],
  [
    'a text that has another',
    text,
    '{ list: [{ from: id, default: none }] }',
    '["1","none","none","none","5"]',
  ],
  [
    'a list that has another',
    text,
    '{ from: id, as: list, default: [none] }',
    '["1","none","none","none","5"]',
  ],
  [
    'an item of several',
    "{ type: [string, 'null'] }",
    '{ list: [id, { const: x }] }',
    '["1","x",null,"x",null,"x",null,"x","5","x"]',
  ],
  ['what when holds back', text, '{ list: [{ from: id, when: { id: present } }] }', '["1","5"]'],
  ['a text', text, '{ list: [id] }', undefined],
  ['a list of a text', text, '{ from: id, as: list }', undefined],
  ['a record that needs a member', object(`Id: ${text}`, 'Id'), '{ list: [{ Id: id }] }', undefined],
] as const)
  test(`M4: an item of forEach keeps its position in a list if its response is empty: ${what}`, (t) => {
    const sides: Sides = {
      old: object(`Ids: { type: array, items: ${text} }`),
      parameters: '[{ name: id, in: query, schema: { type: string } }]',
      answer: object(`id: { type: [string, 'null'] }`),
      oldReply: object(`R: ${object(`L: { type: array, items: ${item} }`)}`),
      rules: `forEach: Ids\nrequest: { query.id: . }\nreply: { R.L: ${rule} }`,
    };
    const bodies = ['{"id":"1"}', '{}', '{"id":null}', '', '{"id":"5"}'];
    const inRecord: Sides = {
      ...sides,
      answer: object(`r: ${object(`id: { type: [string, 'null'] }`)}`),
      rules: sides.rules.replace(`R.L: ${rule}`, `R: { from: r, map: { L: ${rule} } }`),
    };
    const records = ['{"r":{"id":"1"}}', '{}', '{"r":null}', '', '{"r":{"id":"5"}}'];
    for (const [how, answers] of [
      [sides, bodies],
      [inRecord, records],
    ] as const) {
      const gathered = () =>
        replyOf(how, '{"Ids":["1","2","3","4","5"]}', ...answers.map((body) => ({ body })));
      if (wanted !== undefined) t.is(gathered(), `{"R":{"L":${wanted}}}`);
      else
        t.throws(gathered, {
          instanceOf: MappingError,
          message: /^(r: )?expected a source for R\.L\[\], because each call has its item, got none$/,
        });
    }
  });

test('M4: data of several replies without a target is reported as irreversible', (t) => {
  const sides = (error: string): Sides => ({
    old: object(`Ids: { type: array, items: ${text} }`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    answer: object(`id: ${text}`),
    oldReply: object(
      `R: ${object(`L: { type: array, items: ${object(`Id: ${text}`)} }`)}, S: ${text}, C: ${text}`,
    ),
    rules: `forEach: Ids\nrequest: { query.id: . }\nreply: { R: { L: { list: [{ Id: id }] } }, S: id, C: { const: x } }\n${error}`,
  });
  const told = (error: string) =>
    mappingOf(sides(error)).oneWay.map(({ pointer, message }) => `${pointer}: ${message}`);
  const scalar = '/Do/reply/S: S: values from replies after the first are omitted';
  const place = '/Do/error: R.L: an item whose call fails is missing in it';
  t.deepEqual(told(''), [scalar]);
  t.deepEqual(told('error: {}'), [scalar, place]);
  t.deepEqual(told('error: { C: { const: y } }'), [scalar, place]);
  t.deepEqual(told('error: { R.L: { list: [{ Id: { const: none } }] } }'), [scalar]);
});

test('M4: without items of forEach the reply has its required members, or the request is refused', (t) => {
  const ids = `{ type: array, items: ${text} }`;
  const sides = (oldReply: string, reply: string): Sides => ({
    old: object(`A: ${object(`Ids: ${ids}`)}`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    answer: object(`id: ${text}, r: ${object(`l: ${ids}`)}`),
    oldReply,
    rules: `at: A\nforEach: Ids\nrequest: { query.id: . }\nreply: ${reply}`,
  });
  const inList = object(`R: ${object(`L: ${ids}, Note: ${text}`, 'L')}`, 'R');
  const listed = sides(inList, '{ R.L: { list: [id] } }');
  for (const none of ['{}', '{"A":{"Ids":[]}}', '{"A":{"Ids":null}}', '{"A":null}'])
    t.is(replyOf(listed, none), '{"R":{"L":[]}}');
  for (const rule of [
    '{ R.L: { from: id, as: list } }',
    '{ R: { from: r, map: { L: { each: l } } } }',
    '{ R: { from: r, map: { L: l } } }',
  ])
    t.is(replyOf(sides(inList, rule), '{}'), '{"R":{"L":[]}}', rule);
  const constant = sides(
    object(`R: ${text}, L: ${ids}`, 'R'),
    '{ R: { const: done }, L: { list: [id, { const: x }] } }',
  );
  t.is(replyOf(constant, '{}'), '{"R":"done","L":[]}');
  const needed = sides(object(`R: ${text}`, 'R'), '{ R: id }');
  t.is(replyOf(needed, '{"A":{"Ids":["1"]}}', { body: '{"id":"1"}' }), '{"R":"1"}');
  t.throws(() => callsOf(needed, '{"A":{"Ids":[]}}'), {
    instanceOf: MappingError,
    message:
      'A.Ids: expected an item for a call, got none; of the reply: expected a source for the required R, got none',
  });
});

test('M4: refuses a null item of forEach, because its call would request everything', (t) => {
  const sides: Sides = {
    old: object("Ids: { type: array, items: { type: [string, 'null'] } }"),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    rules: 'forEach: Ids\nrequest: { query.id: . }',
  };
  t.throws(() => callsOf(sides, '{"Ids":["1",null]}'), {
    instanceOf: MappingError,
    message: 'Ids[1]: expected an item for a call, got null',
  });
});

test('M4: a null of one reply hides no other value; a second value is reported', (t) => {
  const sides: Sides = {
    old: object(`Ids: { type: array, items: ${text} }`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    answer: object('x: {}'),
    oldReply: object('X: {}'),
    rules: 'forEach: Ids\nrequest: { query.id: . }\nreply: { X: x }',
  };
  const gathered = (...values: readonly unknown[]) =>
    JSON.parse(
      replyOf(
        sides,
        JSON.stringify({ Ids: values.map(String) }),
        ...values.map((x) => ({ body: JSON.stringify({ x }) })),
      ),
    ).X;
  t.deepEqual(gathered(null, ['a'], null, ['b', null]), ['a', 'b', null]);
  t.deepEqual(gathered(null, { a: null }, { a: 1, b: ['c'] }), { a: 1, b: ['c'] });
  t.is(gathered(null, 'a', 'b'), 'a');
  t.is(gathered(null, null), null);
  for (const values of [
    [['a'], { b: 1 }],
    ['a', ['b']],
    [{ a: 1 }, 'b'],
  ])
    t.throws(() => gathered(...values), {
      instanceOf: MappingError,
      message:
        'X: expected the same kind (list, object or value) in the replies of several calls, got several kinds',
    });
});

for (const [what, body, message] of [
  ['a list', '{"o":[{"x":"1"}],"l":[]}', 'o: expected an object, got a list'],
  ['a text', '{"o":"1"}', 'o: expected an object, got a text'],
  ['an item of a list that is a list', '{"l":[{"x":"1"},["2"]]}', 'l[1]: expected an object, got a list'],
  ['a number under auto', '{"O":1}', 'O: expected an object, got a number'],
  ['an item that is a text under auto', '{"L":["2"]}', 'L[0]: expected an object, got a text'],
  ['a whole answer that is a list', '[{"o":{"x":"1"}}]', 'expected an object, got a list'],
] as const)
  test(`M3: ${what} instead of the documented object of a response is a mismatch`, (t) => {
    const inner = object(`x: ${text}`);
    const members = `O: ${inner}, L: { type: array, items: ${inner} }`;
    const sides: Sides = {
      old: 'type: object',
      answer: object(
        `o: ${inner}, l: { type: array, items: ${inner} }, t: { type: array, items: ${text} }, ${members}`,
      ),
      oldReply: object(
        `o: ${inner}, l: { type: array, items: ${inner} }, t: { type: array, items: ${inner} }, ${members}`,
      ),
      rules:
        'autoReply: same\nreply: { o: { from: o, map: { x: x } }, l: { each: l, map: { x: x } }, t: { each: t, map: { x: . } } }',
    };
    const right = '{"o":{"x":"1"},"l":[{"x":"1"}],"t":[{"x":"1"}],"O":{"x":"1"},"L":[{"x":"1"}]}';
    const json = replyOf(sides, '{}', { body: right.replace('"t":[{"x":"1"}]', '"t":["1"]') });
    t.deepEqual(JSON.parse(json), JSON.parse(right));
    t.throws(() => replyOf(sides, '{}', { body }), { instanceOf: MappingError, message });
  });

test('M1: autoReply: same adds members to an open target by their names', (t) => {
  const any = '{ type: object, additionalProperties: { type: string } }';
  const named = `{ type: object, properties: { a: ${text}, b: ${text}, n: ${number} }, additionalProperties: { type: string } }`;
  const sides: Sides = {
    old: 'type: object',
    answer: object(`Named: ${object(`a: ${text}, n: ${number}`)}, Both: ${named}, Ruled: ${named}`),
    oldReply: object(`Named: ${any}, Both: ${any}, Ruled: ${any}`),
    rules: 'autoReply: same\nreply: { Ruled.b: Ruled.a }',
  };
  const body =
    '{"Named":{"a":"1","n":2},"Both":{"z":"4","a":"1","n":2,"c":"3"},"Ruled":{"a":"1","b":"lost","x":"5"}}';
  t.deepEqual(JSON.parse(replyOf(sides, '{}', { body })), {
    Named: { a: '1' }, // a number is of another type
    Both: { a: '1', z: '4', c: '3' },
    Ruled: { a: '1', b: '1', x: '5' },
  });
  t.throws(() => replyOf(sides, '{}', { body: '{"Both":{"c":{"d":"1"}}}' }), {
    message: 'Both.c: expected a text, got object',
  });
});

test('M1: auto: same maps the rest of an object with rules, into an open target too', (t) => {
  const inner = object(`y: ${text}, z: ${text}`);
  const sides = (body: string): Sides => ({
    old: object(`X: ${inner}, Y: ${text}`),
    body,
    rules: 'auto: same\nrequest: { X.y: Y }\nomit: [X.y]',
  });
  const request = '{"X":{"y":"lost","z":"2"},"Y":"1"}';
  for (const body of [object(`X: ${inner}`), `{ type: object, additionalProperties: ${inner} }`])
    t.is(bodyOf(sides(body), request), '{"X":{"y":"1","z":"2"}}');
});

test('W22: a response with a repeated member is invalid', (t) => {
  const sides: Sides = {
    old: 'type: object',
    answer: object(`id: ${text}`),
    oldReply: object(`Id: ${text}`),
    rules: 'reply: { Id: id }',
  };
  t.throws(() => replyOf(sides, '{}', { body: '{"id":"1","\\u0069d":"2"}' }), {
    message: /expected each member once/,
  });
});

test('mappingCalls: 3 calls of one request are made, 4 are refused', (t) => {
  const sides: Sides = {
    old: object(`Ids: { type: array, items: ${text} }`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    rules: 'forEach: Ids\nrequest: { query.id: . }',
    limits: { mappingCalls: 3 },
  };
  t.is(callsOf(sides, '{"Ids":["1","2","3"]}').length, 3);
  t.throws(() => callsOf(sides, '{"Ids":["1","2","3","4"]}'), { message: 'expected at most 3 calls, got 4' });
});

test('mappingValues: 4 values are created, 5 are refused', (t) => {
  const sides: Sides = {
    old: object(`L: { type: array, items: ${text} }`),
    body: object(`l: { type: array, items: ${text} }`),
    rules: 'request: { l: { each: L } }',
    limits: { mappingValues: 4 }, // the list and its items
  };
  t.is(bodyOf(sides, '{"L":["1","2","3"]}'), '{"l":["1","2","3"]}');
  t.throws(() => bodyOf(sides, '{"L":["1","2","3","4"]}'), { message: /at most 4 values, got more values/ });
});

for (const [what, rule] of [
  ['constants of each record', 'map: { k: { const: a }, m: { const: b }, n: { const: c } }'],
  ['a constant of four values', 'map: { k: { const: { x: a, y: b, z: c } } }'],
  ['a default of so many characters', `map: { k: { from: X, default: ${'x'.repeat(130)} } }`],
  ['a row of so many', `map: { k: { from: Y, values: { y: ${'x'.repeat(130)} } } }`],
] as const)
  test(`mappingValues: ${what} count each time`, (t) => {
    const sides: Sides = {
      old: object(`L: { type: array, items: ${object(`X: ${text}, Y: ${text}`)} }`),
      body: object(`l: { type: array, items: ${object('k: {}, m: {}, n: {}')} }`),
      rules: `request: { l: { each: L, ${rule} } }\nomit: ['L[].X', 'L[].Y']`,
      limits: { mappingValues: 9 }, // the list, and four values per item
    };
    const ofItems = (count: number) =>
      JSON.stringify({ L: Array.from({ length: count }, () => ({ Y: 'y' })) });
    t.truthy(bodyOf({ ...sides, limits: { mappingValues: 11 } }, ofItems(2)));
    t.throws(() => bodyOf(sides, ofItems(3)), { message: /at most 9 values, got more values/ });
  });

test('mappingValues: values of all responses to a request count together', (t) => {
  const sides: Sides = {
    old: object(`Ids: { type: array, items: ${text} }`),
    parameters: '[{ name: id, in: query, schema: { type: string } }]',
    answer: object(`l: { type: array, items: ${text} }`),
    oldReply: object(`L: { type: array, items: ${text} }`),
    rules: 'forEach: Ids\nrequest: { query.id: . }\nreply: { L: { each: l } }',
    limits: { mappingValues: 6 },
  };
  const answer = { body: '{"l":["a","b"]}' };
  const ids = '{"Ids":["1","2","3"]}';
  t.is(replyOf(sides, ids, answer, answer), '{"L":["a","b","a","b"]}');
  t.throws(() => replyOf(sides, ids, answer, answer, answer), {
    message: /at most 6 values, got more values/,
  });
});

test('M3: items are checked by their kind if rules differ, in nested lists too', (t) => {
  const sides: Sides = {
    old: object(
      `L: { type: array, items: ${object(`k: ${text}, v: ${text}`)} }, T: { $ref: '#/components/schemas/Tree' }`,
    ),
    body: object(`a: ${text}, b: ${text}, T: { $ref: '#/components/schemas/Tree' }`),
    components: "Tree: { type: array, items: { $ref: '#/components/schemas/Tree' } }",
    rules: 'request: { a: "L[k=1].v", b: "L[1].k", T: T }\nomit: ["L[1].v"]',
  };
  t.is(
    bodyOf(sides, '{"L":[{"k":"1","v":"x"},{"k":"2","v":"y"}],"T":[[],[[]]]}'),
    '{"a":"x","b":"2","T":[[],[[]]]}',
  );
  t.throws(() => bodyOf(sides, '{"L":[{"k":"3","v":"x"}]}'), {
    message: /^L\[0\]: expected only members with a rule/,
  });
  t.throws(() => bodyOf(sides, '{"L":[{"k":"1"},{"k":"2"},{"k":"1","w":"z"}]}'), {
    message: /^L\[2\]: expected only members with a rule/,
  });
  t.throws(() => bodyOf(sides, '{"T":[[],["x"]]}'), { message: /^T\[1\]\[0\]: expected/ });
});

test('mappingRules: 3 rules are read, 4 are refused', (t) => {
  const sides = (most: number): Sides => ({
    old: 'type: object',
    body: 'type: object',
    rules: 'request: { a: A, b: { map: { c: C } } }',
    limits: { mappingRules: most },
  });
  t.deepEqual(problemsOf(sides(3)), []);
  t.true(problemsOf(sides(2))[0]?.includes('expected at most 2 rules'));
});

const functions = `
import type { Whatever } from './types.ts';
export function upper(value: string): string { return value.toUpperCase(); }
export const sum = (value: readonly string[]): string => String(value.reduce((all, one) => all + BigInt(one), 0n));
export function forever(): never { for (;;) {} }
export function reach(): string { return typeof process + typeof require + typeof fetch + typeof Date + typeof setTimeout; }
export function where(_: string, ctx: { at: string }): string { return ctx.at; }
`;

test('M5: functions get values with numbers as text, and only the language’s own objects', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}, N: { type: array, items: ${number} }, R: ${text}, W: ${text}`),
    body: object(`a: ${text}, n: ${number}, r: ${text}, w: ${text}`),
    rules:
      'request: { a: { from: A, code: upper }, n: { from: N, code: sum }, r: { from: R, code: reach }, w: { from: W, code: where } }',
    code: functions,
  };
  t.is(
    bodyOf(sides, '{"A":"é","N":[9007199254740993,1],"R":"","W":""}'),
    '{"a":"É","n":9007199254740994,"r":"undefinedundefinedundefinedundefinedundefined","w":"w"}',
  );
  t.deepEqual(problemsOf({ ...sides, rules: sides.rules.replace('upper', 'lower') }), [
    '/Do/request/a/code: expected a function that the module of the operation exports, got lower',
  ]);
});

for (const [given, told] of [
  ['NaN', 'expected a number, got NaN'],
  ['{ x: [1 / 0] }', 'expected a number, got Infinity'],
  ['2 ** 53', 'expected a text for a number of more than 15 digits'],
  ['[undefined, 1]', 'expected a value for each item of a list, got none'],
  ['[, 1]', 'expected a value for each item of a list, got none'],
  ['new Map([[1, 2]])', 'expected a list or an object, got a Map'],
  ['{ x: Promise.resolve(1) }', 'expected a list or an object, got a Promise'],
  ['[10n]', 'expected a value, got a bigint'],
  ['() => 1', 'expected a value, got a function'],
  [`JSON.parse('['.repeat(65) + ']'.repeat(65))`, 'position 64: nesting deeper than 64'],
] as const)
  test(`M5: ${given} of a function is an error with its name and target`, (t) => {
    const sides = (gives: string): Sides => ({
      old: object(`A: ${text}`),
      body: object('a: {}'),
      rules: 'request: { a: { from: A, code: gives } }',
      code: `export const gives = () => (${gives});`,
    });
    t.throws(() => bodyOf(sides(given), '{"A":"x"}'), {
      instanceOf: MappingError,
      message: new RegExp(`^A: do.ts: gives\\(\\) for a: ${told}`),
    });
    t.is(
      bodyOf(sides('{ x: undefined, y: [null, 0.5, 9007199254740991] }'), '{"A":"x"}'),
      '{"a":{"y":[null,0.5,9007199254740991]}}',
    );
  });

test('M5: a module has its own globals, and changes to JSON do not affect the output', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}`),
    body: object(`a: ${text}`),
    rules: 'request: { a: { from: A, code: given } }',
    code: `const all = 'all', check = 'check', kindOf = 'kindOf';
JSON.stringify = () => '"other"';
export const given = (value: string) => value + all + check + kindOf;`,
  };
  t.is(bodyOf(sides, '{"A":"x"}'), '{"a":"xallcheckkindOf"}');
});

test('mappingCodeMs: a function that takes longer is stopped, and the request refused', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}`),
    body: object(`a: ${text}`),
    rules: 'request: { a: { from: A, code: forever } }',
    code: functions,
    limits: { mappingCodeMs: 20 },
  };
  const error = t.throws(() => bodyOf(sides, '{"A":"x"}'), { instanceOf: MappingError });
  t.is(
    error?.message,
    'do.ts: forever() for a: expected the functions of a message to end within 20 ms, got a function that was still running',
  );
});

test('mappingCodeMs: the limit of all functions of a message is that time per 64 KiB', (t) => {
  const sides: Sides = {
    old: object(`A: { type: array, items: ${text} }, B: ${text}`),
    body: object(`a: { type: array, items: ${text} }, b: ${text}`),
    rules: 'request: { a: { each: A, code: slow }, b: B }',
    code: 'let calls = 0;\nexport const slow = (value: string) => { calls += 1; if (calls % 100 === 0) for (;;) {} for (let i = 0; i < 1e6; i++); return value; };',
    limits: { mappingCodeMs: 2_000 },
  };
  const ofLength = (items: number, filler: number) =>
    JSON.stringify({ A: Array.from({ length: items }, () => 'x'), B: 'b'.repeat(filler) });
  t.is(JSON.parse(bodyOf(sides, ofLength(99, 0)) ?? '').a.length, 99);
  t.throws(() => bodyOf(sides, ofLength(100, 0)), { message: /end within 2000 ms/ });
  const long = { ...sides, limits: { mappingCodeMs: 50 } };
  t.throws(() => bodyOf(long, ofLength(100, 128 * 1024)), { message: /end within 150 ms/ });
});

test('mappingCodeMs: CPU time of other processes does not count', (t) => {
  const { within } = compileModule('export const same = (value: string) => value;', 'do.ts', {
    ...defaultLimits,
  });
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  let runs = 0;
  const made = within(20, () => {
    runs += 1;
    if (runs < 3) Atomics.wait(waiting, 0, 0, 200);
    return 'made';
  });
  t.deepEqual([made, runs], ['made', 3]);
  t.throws(() => within(5, () => Atomics.wait(waiting, 0, 0, 2_000)), { message: /end within 5 ms/ });
});

test('mappingCodeMs: promises of a function end with it', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}`),
    body: object(`a: ${text}`),
    rules: 'request: { a: { from: A, code: later } }',
    code: 'export const later = (value: string) => { Promise.resolve().then(() => { for (;;) {} }); return value; };',
    limits: { mappingCodeMs: 20 },
  };
  t.throws(() => bodyOf(sides, '{"A":"x"}'), { instanceOf: MappingError, message: /a promise: .*20 ms/ });
});

test('mappingCodeMs: the functions of a reply share the limit, whatever mapping is between them', (t) => {
  const sides: Sides = {
    old: object(`A: ${text}`),
    oldReply: object(`B: ${text}`),
    answer: object(`b: ${text}`),
    rules: 'omit: [A]\nreply: { B: { from: b, code: forever } }',
    code: functions,
    limits: { mappingCodeMs: 20 },
  };
  t.throws(() => replyOf(sides, '{"A":"x"}', { body: '{"b":"y"}' }), {
    instanceOf: MappingError,
    message: /forever\(\) for B: .*20 ms/,
  });
});

test('mappingCodeMs: a thrown object whose message is code of the module is stopped too', (t) => {
  const looping = {
    old: object(`A: ${text}`),
    body: object(`a: ${text}`),
    rules: 'request: { a: { from: A, code: rude } }',
    limits: { mappingCodeMs: 20 },
  };
  for (const thrown of [
    '{ get message() { for (;;) {} } }',
    '{ toString() { for (;;) {} } }',
    '{ get message() { throw { get message() { for (;;) {} } }; } }',
  ]) {
    const before = performance.now();
    const sides: Sides = { ...looping, code: `export const rude = () => { throw ${thrown}; };` };
    t.throws(() => bodyOf(sides, '{"A":"x"}'), { instanceOf: MappingError }, thrown);
    t.true(performance.now() - before < 5_000);
  }
});

test('a recursive alias is reported with its position, in rules and in values', (t) => {
  const sides: Sides = { old: object(`Id: ${text}`), body: object(`id: ${text}, more: ${text}`), rules: '' };
  const alias = 'expected a value, got an alias of its own parent';
  const told = (rules: string) =>
    problemsOf({ ...sides, rules }).filter((problem) => problem.includes(alias));
  for (const [rules, place] of [
    ['request: &a { id: Id, more: *a }', '/request/more'],
    ['request: { id: Id, more: &a { else: *a } }', '/request/more/else'],
    ['request: { id: Id, more: { const: &a [*a] } }', '/request/more/const/0'],
  ] as const) {
    const [problem = '', ...more] = told(rules);
    t.true(problem.includes(`${place}: ${alias}`), problem);
    t.deepEqual(more, []);
  }
});
