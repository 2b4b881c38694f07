import test from 'ava';
import { parse } from 'yaml';
import { draftEntry, likestOperation } from '../../../mappings/mapping/draft.ts';
import { SchemaReader } from '../../../mappings/mapping/schemas.ts';
import { targetOperation } from '../../../mappings/mapping/target.ts';

/** Rules that `map draft` proposes (M6). */

const operation = (id: string) => ({ operationId: id, responses: {} });
const paths = {
  '/orders': { post: operation('addOrder'), get: operation('listOrders') },
  '/orders/{id}': {
    put: operation('changeOrder'),
    get: operation('readOrder'),
    delete: operation('dropOrder'),
  },
  '/orders/{id}/lines/{line}': { get: operation('readLine') },
  '/parts/search': { post: operation('searchParts') },
  '/parts': { post: operation('addPart') },
  '/tickets': { post: operation('tickets') },
};

const requestOf = (...names: readonly string[]) => {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  return new SchemaReader({}, 100).shapeOf({ type: 'object', properties });
};

for (const [name, members, chosen] of [
  ['FindOrder', ['id'], 'GET /orders/{id}'],
  ['GetOrder', ['OrderId'], 'GET /orders/{id}'],
  ['RetrieveOrder', ['id', 'trace'], 'GET /orders/{id}'],
  ['GetOrder', ['OrderNumber'], 'GET /orders/{id}'],
  ['GetOrder', ['Trace', 'OrderNo'], 'GET /orders/{id}'],
  ['ListOrders', [], 'GET /orders'],
  ['FindOrders', [], 'GET /orders'],
  ['OrderLookup', ['id'], 'GET /orders/{id}'],
  ['GetOrderLine', ['id', 'line'], 'GET /orders/{id}/lines/{line}'],
  ['CreateOrder', ['total'], 'POST /orders'],
  ['PlaceOrder', [], 'POST /orders'],
  ['UpdateOrder', ['id', 'total'], 'PUT /orders/{id}'],
  ['RemoveOrder', ['id'], 'DELETE /orders/{id}'],
  ['FindParts', ['name'], 'POST /parts/search'],
  ['CreatePart', ['name'], 'POST /parts'],
  ['GetTickets', [], 'POST /tickets'],
  ['GetWeather', ['id'], undefined],
] as const)
  test(`M6: ${name}(${members.join(', ')}) is drafted onto ${chosen ?? 'nothing'}`, (t) => {
    const found = likestOperation(name, { paths }, 100, requestOf(...members));
    t.is(found && `${found.method} ${found.path}`, chosen);
  });

const schema = (text: string) => ({ content: { 'application/json': { schema: parse(text) } } });

function draft(
  sides: {
    readonly old?: string;
    readonly body?: string;
    readonly answer?: object;
    readonly oldReply?: string;
  },
  parameters: readonly object[] = [],
  path = '/do',
) {
  const targetOf = (root: object, path: string) => {
    const found = targetOperation(
      root as Record<string, unknown>,
      new SchemaReader(root as Record<string, unknown>, 100),
      'POST',
      path,
    );
    if (typeof found === 'string') throw new Error(found);
    return found;
  };
  const old = {
    ...(sides.old !== undefined && { requestBody: schema(sides.old) }),
    responses: { 200: sides.oldReply === undefined ? {} : schema(sides.oldReply) },
  };
  const made = {
    parameters,
    ...(sides.body !== undefined && { requestBody: schema(sides.body) }),
    responses: { 200: sides.answer ?? {} },
  };
  return draftEntry(
    targetOf({ paths: { '/Do': { post: old } } }, '/Do'),
    targetOf({ paths: { [path]: { post: made } } }, path),
  );
}

const order = `
type: object
required: [number, lines, buyer]
properties:
  number: { type: string }
  note: { type: string }
  buyer: { type: object, required: [name], properties: { name: { type: string }, mail: { type: string } } }
  sender: { type: object, required: [town], properties: { street: { type: string }, town: { type: string } } }
  lines:
    type: array
    items:
      type: object
      required: [sku, prices]
      properties:
        sku: { type: string }
        count: { type: integer }
        prices: { type: array, items: { type: object, required: [amount, currency], properties: { amount: { type: number }, currency: { type: string } } } }
`;

test('M6: each required member without a rule is listed, in lists and objects too', (t) => {
  const { entry, unmatchedRequired, unmatchedRequest } = draft({
    old: `
type: object
properties:
  Street: { type: string }
  Lines: { type: array, items: { type: object, properties: { Count: { type: integer }, Colour: { type: string }, Prices: { type: array, items: { type: object, properties: { Amount: { type: number } } } } } } }
`,
    body: order,
  });
  t.deepEqual(unmatchedRequired, [
    'number',
    'buyer.name',
    'sender.town',
    'lines[].sku',
    'lines[].prices[].currency',
  ]);
  t.deepEqual(unmatchedRequest, ['Lines[].Colour']);
  t.is((entry.request as Record<string, unknown>)['sender.street'], 'Street');
});

test('M6: members that an optional object requires are not listed if no rule fills it', (t) => {
  t.false(draft({ old: '{ type: object }', body: order }).unmatchedRequired.includes('sender.town'));
});

test('M6: required members are listed if the other side has no body', (t) => {
  t.deepEqual(draft({ body: order }).unmatchedRequired, ['number', 'buyer.name', 'lines']);
  t.deepEqual(draft({ oldReply: order }).unmatchedRequired, ['number', 'buyer.name', 'lines']);
});

test('M6: a required parameter takes a member the body has too; an idempotency key is a UUID', (t) => {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const key = { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } };
  const other = { name: 'branch', in: 'query', required: true, schema: { type: 'string' } };
  const members = '{ type: object, properties: { id: { type: string } } }';
  const { entry, unmatchedRequired } = draft({ old: members, body: members }, [id, key, other]);
  t.deepEqual(entry.request, {
    id: 'id',
    'path.id': { from: 'id', as: 'number' },
    'header.Idempotency-Key': { uuid: true },
  });
  t.deepEqual(unmatchedRequired, ['query.branch']);
});

test('M6: plural names match singular ones, and a number matches the id in the path', (t) => {
  const lines = (name: string) =>
    `{ type: object, properties: { ${name}: { type: array, items: { type: string } }, OrderNumber: { type: string } } }`;
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const { entry } = draft(
    { old: lines('Line'), body: lines('lines').replace('OrderNumber', 'n') },
    [id],
    '/orders/{id}',
  );
  t.deepEqual(entry.request, { lines: { each: 'Line' }, 'path.id': 'OrderNumber' });
});

for (const [type, rules] of [
  ['application/pdf', { file: '.' }],
  ['text/csv', { text: '.' }],
] as const)
  test(`M6: a response of ${type} is drafted onto a compatible member`, (t) => {
    const { entry, unmatchedReply } = draft({
      answer: { content: { [type]: {} } },
      oldReply:
        '{ type: object, properties: { count: { type: integer }, text: { type: string }, file: { type: string, format: byte } } }',
    });
    t.deepEqual(entry.reply, rules);
    t.is(unmatchedReply.length, 2);
  });
