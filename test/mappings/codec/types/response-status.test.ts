import test from 'ava';
import { readStatus, statusJson } from '../../../../mappings/codec/types/response-status.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import type { Contract, RecordType } from '../../../../mappings/contract/model.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import { compile, screening, writeReply } from '../contracts.ts';

/**
 * Returns a responseStatus after reading, with the number of omitted members. Texts that contain `secret` are masked;
 * texts that contain `none` are removed.
 */
function read(
  text: string,
  stackTrace: 'keep' | 'drop' = 'drop',
  type: RecordType = screening.responseStatus,
): string {
  const json = new JsonReader(text, defaultLimits);
  const status = readStatus(json, type, { ...screening.settings, stackTrace }, (member, value) =>
    value.includes('none') ? undefined : value.replace('secret', `*${member}*`),
  );
  json.end();
  return `${status?.errorCode ?? 'no code'} ${status === undefined ? 'no status' : statusJson(status.members)} ${json.dropped} dropped`;
}

for (const [given, becomes] of [
  ['{}', 'no code {} 0 dropped'],
  ['{ }', 'no code {} 0 dropped'],
  ['null', 'no code no status 0 dropped'],
  ['[1]', 'no code no status 1 dropped'],
  ['"secret"', 'no code no status 1 dropped'],
  ['7', 'no code no status 1 dropped'],
  ['{"errorCode":"X","message":"m"}', 'X {"errorCode":"X","message":"m"} 0 dropped'],
  ['{"errorCode":""}', 'no code {"errorCode":""} 0 dropped'],
  ['{"errorCode":null,"message":null}', 'no code {"errorCode":null,"message":null} 0 dropped'],
  ['{"errorCode":404,"message":true}', '404 {"errorCode":"404","message":"true"} 0 dropped'],
  ['{"errorCode":-1.50,"message":false}', '-1.50 {"errorCode":"-1.50","message":"false"} 0 dropped'],
  ['{"errorCode":"none"}', 'none {} 0 dropped'],
  ['{"errorCode":"a secret"}', 'a secret {"errorCode":"a *errorCode*"} 0 dropped'],
  [
    '{"message":"a secret","errors":[{"message":"secret","fieldName":"none"}]}',
    'no code {"message":"a *message*","errors":[{"message":"*message*"}]} 0 dropped',
  ],
  ['{"errors":[{"errorCode":"Y"}]}', 'no code {"errors":[{"errorCode":"Y"}]} 0 dropped'],
  [
    '{"errors":[{"errorCode":"Y"}],"errorCode":"X"}',
    'X {"errors":[{"errorCode":"Y"}],"errorCode":"X"} 0 dropped',
  ],
  ['{"errors":[],"errorCode":"X"}', 'X {"errors":[],"errorCode":"X"} 0 dropped'],
  [
    '{"errors":[null,{},"x",[],7,{"errorCode":"Y"}]}',
    'no code {"errors":[null,{},{"errorCode":"Y"}]} 3 dropped',
  ],
  ['{"errors":{"a":1}}', 'no code {} 1 dropped'],
  [
    '{"meta":{"k":"v","secret":"secret","none":1,"a":"none","b":{},"k":"w"}}',
    'no code {"meta":{"k":"v","*meta*":"*meta*"}} 3 dropped',
  ],
  [
    '{"meta":{"errorCode":"Z","stackTrace":"at x"}}',
    'no code {"meta":{"errorCode":"Z","stackTrace":"at x"}} 0 dropped',
  ],
  ['{"meta":["x"]}', 'no code {} 1 dropped'],
  ['{"message":["x"],"errorCode":{"a":"X"}}', 'no code {} 2 dropped'],
  ['{"message":"a","message":"b"}', 'no code {"message":"a"} 1 dropped'],
  ['{"other":{"errorCode":"X"},"message":"m"}', 'no code {"message":"m"} 1 dropped'],
  ['{"stackTrace":"at x","message":"m"}', 'no code {"message":"m"} 0 dropped'],
  ['{"m\\u0065ssage":"\\"\\n\\u0000"}', 'no code {"message":"\\"\\n\\u0000"} 0 dropped'],
] as const)
  test(`W30: a status of ${given}`, (t) => t.is(read(given), becomes));

test('W29: a stackTrace is kept if the settings say so', (t) => {
  t.is(
    read('{"stackTrace":"at x","errors":[{"stackTrace":"at y"}]}', 'keep'),
    'no code {"stackTrace":"at x","errors":[{}]} 1 dropped',
  );
});

test('names of members are not texts of the upstream, values of enumerations are', (t) => {
  const [field] = screening.responseStatus.fields;
  if (field === undefined) return t.fail('no field');
  const type = { kind: 'enum', name: 'Way', documentation: '', values: ['up'] } as const;
  const status = { ...screening.responseStatus, fields: [{ ...field, json: 'secret', type }] };
  t.is(read('{"secret":"up"}', 'drop', status), 'no code {"secret":"up"} 0 dropped');
  t.is(read('{"secret":"a secret"}', 'drop', status), 'no code {"secret":"a *secret*"} 0 dropped');
});

test('dropped and replaced values in the status of a reply count with the rest', (t) => {
  const family = compile(screening);
  for (const [status, xml, dropped, replaced] of [
    [
      '{"message":"<a>\\u0000","x":1}',
      '<ResponseStatus><Message>&lt;a&gt;\uFFFD</Message></ResponseStatus>',
      1,
      1,
    ],
    ['{"errorCode":"","message":{}}', '<ResponseStatus><ErrorCode/></ResponseStatus>', 1, 0],
    ['{"errors":[]}', '<ResponseStatus><Errors/></ResponseStatus>', 0, 0],
    ['{"x":{}}', '<ResponseStatus/>', 1, 0],
  ] as const) {
    const reply = `{"more":1,"data":{"responseStatus":${status},"count":1}}`;
    const written = writeReply(family, 'RenewAllPepSearches', reply);
    t.is(/<Data>(.*)<Count>1<\/Count><\/Data>/.exec(written.xml)?.[1], xml, status);
    t.is(written.dropped, dropped + 1, status);
    t.is(written.replaced, replaced, status);
  }
});

/** Returns the contract with a number as the status's message. */
function withNumber(): Contract {
  const { fields } = screening.responseStatus;
  const responseStatus: RecordType = {
    ...screening.responseStatus,
    fields: fields.map((field) =>
      field.json === 'message'
        ? { ...field, nillable: false, type: { kind: 'scalar', scalar: 'int' } }
        : field,
    ),
  };
  const inside = (record: RecordType): RecordType => ({
    ...record,
    fields: record.fields.map((field) => {
      const { type } = field;
      if (type === screening.responseStatus) return { ...field, type: responseStatus };
      return type.kind === 'record' ? { ...field, type: inside(type) } : field;
    }),
  });
  const operations = screening.operations.map((operation) => ({
    ...operation,
    output: inside(operation.output),
  }));
  return { ...screening, responseStatus, operations };
}

test('W30: a wrongly typed scalar of the status is dropped and counted, and the rest is read', (t) => {
  const compiled = compile(withNumber());
  for (const [status, xml, dropped] of [
    ['{"message":"12"}', '<Message>12</Message>', 0],
    ['{"message":"twelve","errorCode":"","errors":[]}', '<ErrorCode/><Errors/>', 1],
    ['{"errors":[],"message":true}', '<Errors/>', 1],
  ] as const) {
    const reply = `{"data":{"responseStatus":${status},"count":1}}`;
    const written = writeReply(compiled, 'RenewAllPepSearches', reply);
    t.is(/<ResponseStatus>(.*)<\/ResponseStatus>/.exec(written.xml)?.[1], xml, status);
    t.is(written.dropped, dropped, status);
  }
});
