import test from 'ava';
import { load } from '../../plain/documents.ts';
import { compile, operationOf, readXml } from './codec-calls.ts';

const kinds = {
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  moment: { type: 'string', format: 'date-time' },
  span: { type: 'string', format: 'duration' },
  state: { type: 'string', enum: ['open', 'done'] },
} as const;
const values: Readonly<Record<keyof typeof kinds, readonly [xml: string, json: string]>> = {
  number: ['1.5', '1.5'],
  integer: ['7', '7'],
  boolean: ['true', 'true'],
  date: ['2024-01-31', '"2024-01-31"'],
  moment: ['2024-01-31T10:00:00Z', '"2024-01-31T10:00:00Z"'],
  span: ['P1D', '"P1D"'],
  state: ['open', '"open"'],
};

/** Returns the upstream body for the member `m` of a schema, or its problems. */
function sent(schema: object, content: string, isRequired = false): string | readonly string[] {
  const body = { type: 'object', properties: { m: schema }, ...(isRequired && { required: ['m'] }) };
  const put = {
    operationId: 'put',
    requestBody: { content: { 'application/json': { schema: body } } },
    responses: { 204: { description: '' } },
  };
  const document = { openapi: '3.1.0', info: { title: 'Nils', version: '1' }, paths: { '/': { put } } };
  const compiled = compile(load(document).contract);
  const { input, problems, missing } = readXml(compiled, 'put', `<Body>${content}</Body>`);
  if (problems.length + missing.length > 0) return [...problems, ...missing];
  return String(operationOf(compiled, 'put').request(input, undefined)?.body);
}

const nullable = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });

for (const [kind, schema] of Object.entries(kinds)) {
  const [text, json] = values[kind as keyof typeof kinds];
  const name = kind === 'integer' ? 'long' : undefined;
  const itemOf = (of: object): string => {
    const document = load({
      openapi: '3.1.0',
      info: { title: 'Nils', version: '1' },
      paths: {
        '/': {
          put: {
            operationId: 'put',
            requestBody: {
              content: {
                'application/json': {
                  schema: { type: 'object', properties: { m: { type: 'array', items: of } } },
                },
              },
            },
            responses: { 204: { description: '' } },
          },
        },
      },
    });
    const type = document.contract.types.find((one) => one.kind === 'array');
    return type?.kind === 'array' ? type.itemName : '';
  };

  test(`W13: xsi:nil of a ${kind} that cannot be null is an absent member`, (t) => {
    t.is(sent(schema, '<m i:nil="true"/>'), '{}');
    t.is(sent(nullable(schema), '<m i:nil="true"/>'), '{"m":null}');
    t.deepEqual(sent(schema, '<m i:nil="true"/>', true), ['Body.m']);
  });

  test(`W13: xsi:nil of a ${kind} in a list that cannot be null is no item`, (t) => {
    const item = itemOf(schema);
    if (name !== undefined) t.is(item, name);
    const content = `<m><${item}>${text}</${item}><${item} i:nil="true"/><${item}>${text}</${item}></m>`;
    t.is(sent({ type: 'array', items: schema }, content), `{"m":[${json},${json}]}`);
    t.is(sent({ type: 'array', items: nullable(schema) }, content), `{"m":[${json},null,${json}]}`);
    t.is(sent({ type: 'array', items: schema }, `<m><${item} i:nil="true"/></m>`), '{"m":[]}');
  });

  test(`W13: a nil or missing ${kind} of a map that cannot be null is no entry`, (t) => {
    const content = `<m><Entry><Key>a</Key><Value i:nil="true"/></Entry><Entry><Key>b</Key></Entry><Entry><Key>c</Key><Value>${text}</Value></Entry></m>`;
    t.is(sent({ type: 'object', additionalProperties: schema }, content), `{"m":{"c":${json}}}`);
    t.is(
      sent({ type: 'object', additionalProperties: nullable(schema) }, content),
      `{"m":{"a":null,"b":null,"c":${json}}}`,
    );
  });
}

test('W13: xsi:nil of strings, records, lists and maps stays null', (t) => {
  for (const schema of [
    { type: 'string' },
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'array', items: { type: 'integer' } },
    { type: 'object', additionalProperties: { type: 'string' } },
  ])
    t.is(sent(schema, '<m i:nil="true"/>'), '{"m":null}');
});

test('W13: a map with listed members drops nil values too', (t) => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: { type: 'integer' },
  };
  const content =
    '<m><a>x</a><AdditionalProperties><Entry><Key>b</Key><Value i:nil="true"/></Entry><Entry><Key>c</Key><Value>7</Value></Entry></AdditionalProperties></m>';
  t.is(sent(schema, content), '{"m":{"a":"x","c":7}}');
});

test('W13: refuses to repeat a map key that was dropped for its nil value', (t) => {
  const content =
    '<m><Entry><Key>a</Key><Value i:nil="true"/></Entry><Entry><Key>a</Key><Value>7</Value></Entry></m>';
  t.deepEqual(sent({ type: 'object', additionalProperties: { type: 'integer' } }, content), [
    'DuplicateElement Body.m[1]: expected each key once, got one again',
  ]);
});
