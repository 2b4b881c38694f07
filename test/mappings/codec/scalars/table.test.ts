import test from 'ava';
import { compileRedact } from '../../../../mappings/codec/redact.ts';
import {
  compileScalars,
  isWithin,
  type ScalarRow,
  scalarRows,
} from '../../../../mappings/codec/scalars/table.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import type { Contract, RecordType, ScalarName, UnionType } from '../../../../mappings/contract/model.ts';
import type { Settings } from '../../../../mappings/contract/overlay-keys.ts';
import { JsonError } from '../../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';
import {
  integerScalar,
  isTypedFormat,
  numberScalar,
  stringScalar,
} from '../../../../mappings/loader/schema/keywords.ts';
import { compareContracts } from '../../../../wsdl/diff.ts';
import { writeSample } from '../../../../wsdl/sample.ts';
import { writeWsdl } from '../../../../wsdl/wsdl.ts';
import {
  codecsOf,
  compile,
  depot,
  passOne,
  readOne,
  readXmlText,
  scalar,
  screening,
  writeOne,
  writeReply,
} from '../contracts.ts';

const contracts: readonly (readonly [string, Contract])[] = [
  ['with dates of ISO 8601', depot],
  ['with dates of /Date()/', screening],
];

/** A JSON token of each kind. */
const tokens = {
  string: '"?"',
  integer: '7',
  number: '7.5',
  boolean: 'true',
  object: '{}',
  array: '[]',
} as const;

for (const [name, row] of scalarRows) {
  const { formats = [], wider: widerNames = [] } = row;
  const type = scalar(name);

  for (const [title, contract] of contracts) {
    const codec = codecsOf(contract).codecOf(type);
    // `/Date(ms-0000)/` has no zone (W17)
    const isWcf = name === 'dateTime' && contract.settings.dates === 'wcf';
    const sample = isWcf ? row.sample.replace('Z', '') : row.sample;

    test(`${name} ${title}: its sample is read, valid as JSON, and written unchanged`, (t) => {
      const { value, problem } = readOne(codec, sample);
      t.is(problem, undefined);
      t.deepEqual(passOne(codec, value ?? ''), { value: value ?? '' });
      t.is(writeOne(codec, value ?? ''), sample);
    });

    test(`${name} ${title}: its rule for text agrees with its shortcut for bytes`, (t) => {
      const { value = '' } = readOne(codec, sample);
      const { [name]: compiled } = compileScalars({ settings: contract.settings, limits: defaultLimits });
      const reader = new JsonReader(`\t${value}\r`, defaultLimits);
      t.is(compiled.toXml(reader), sample);
      t.notThrows(() => reader.end());
    });

    test(`${name} ${title}: blanks around its sample are ignored, and nothing else may follow`, (t) => {
      const { value = '' } = readOne(codec, sample);
      t.is(writeOne(codec, ` \n${value} `), sample);
      for (const tail of ['x', '"', ',', ']']) {
        t.throws(() => writeOne(codec, value + tail), { instanceOf: JsonError }, tail);
        t.throws(() => passOne(codec, value + tail), { instanceOf: JsonError }, tail);
      }
    });

    test(`${name} ${title}: in a union its value matches, one of another kind does not`, (t) => {
      const union: UnionType = {
        kind: 'union',
        name: 'Either',
        documentation: '',
        variants: [
          { xml: 'Own', type, takes: row.json, tag: undefined },
          { xml: 'Json', type: scalar('json'), takes: 'any', tag: undefined },
        ],
      };
      const either = codecsOf(contract).codecOf(union);
      const { value = '' } = readOne(codec, sample);
      // for JSON text both variants are the same
      t.is(
        writeOne(either, value ?? ''),
        row.json === 'any' ? `<Json>${sample}</Json>` : `<Own>${sample}</Own>`,
      );
      if (row.json === 'any') return;
      const kinds = row.json === 'integer' || row.json === 'number' ? ['integer', 'number'] : [row.json];
      for (const [kind, token] of Object.entries(tokens)) {
        if (!kinds.includes(kind)) t.true(writeOne(either, token)?.startsWith('<Json>'), `${kind} ${token}`);
      }
    });

    test(`${name} ${title}: in a union of objects a token of another kind selects another variant`, (t) => {
      const record: RecordType = {
        kind: 'record',
        name: 'Holder',
        documentation: '',
        fields: [
          {
            json: 'm',
            xml: 'm',
            type,
            nillable: false,
            required: false,
            notEmpty: false,
            allowed: undefined,
          },
        ],
      };
      const holder: UnionType = {
        kind: 'union',
        name: 'Either',
        documentation: '',
        variants: [
          { xml: 'Holder', type: record, takes: 'object', tag: undefined },
          { xml: 'Json', type: scalar('json'), takes: 'any', tag: undefined },
        ],
      };
      const either = codecsOf(contract).codecOf(holder);
      const { value } = readOne(codec, sample);
      t.is(writeOne(either, `{"m":${value}}`), `<Holder><m>${sample}</m></Holder>`);
      if (row.json === 'any') return;
      const other = row.json === 'string' ? '7' : '"7"';
      t.true(writeOne(either, `{"m":${other}}`)?.startsWith('<Json>'));
    });
  }

  test(`${name}: a log shows only values of its kind`, (t) => {
    const redact = compileRedact(depot, defaultLimits);
    const { value = '' } = readOne(codecsOf(depot).codecOf(type), row.sample);
    t.is(
      redact(value ?? '', type, (text) => text),
      row.json === 'any' ? '"***"' : (value ?? ''),
    );
  });

  if (formats.length > 0)
    test(`${name}: its formats select it, with a schema's type of its kind`, (t) => {
      for (const format of formats) {
        t.is(scalarOf(row.json, format, 'iso'), name);
        t.is(scalarOf(row.json, format, 'text'), row.temporal === true ? 'string' : name);
        t.true(isTypedFormat(format));
      }
    });

  if (widerNames.length > 0)
    test(`${name}: wider scalars accept its values`, (t) => {
      for (const wider of widerNames) {
        t.true(isWithin(name, wider));
        t.false(isWithin(wider, name));
        const codec = codecsOf(depot).codecOf(scalar(wider));
        for (const bound of Object.values(row.bounds ?? {}))
          t.deepEqual(readOne(codec, bound), { value: bound });
      }
    });

  const { bounds } = row;
  if (bounds !== undefined)
    test(`${name}: its bounds are read and written, numbers beyond them are not`, (t) => {
      const codec = codecsOf(depot).codecOf(type);
      for (const [bound, beyond] of [
        [bounds.min, BigInt(bounds.min) - 1n],
        [bounds.max, BigInt(bounds.max) + 1n],
      ] as const) {
        t.deepEqual(readOne(codec, bound), { value: bound });
        t.is(writeOne(codec, bound), bound);
        t.regex(readOne(codec, `${beyond}`).problem ?? '', /^OutOfRange/);
        t.regex(passOne(codec, `${beyond}`).problem ?? '', /^OutOfRange/);
        t.throws(() => writeOne(codec, `${beyond}`), { message: /outside it/ });
      }
    });
}

/** Schemas of members, and their type in the WSDL with whether they are nillable in requests. */
const called: readonly (readonly [member: string, schema: object, told: string])[] = [
  ['any', {}, 'tns:Json nillable'],
  ['at', { type: 'string', format: 'date-time' }, 'xs:dateTime nillable'],
  ['bytes', { type: 'string', format: 'byte' }, 'xs:base64Binary nillable'],
  ['exact', { type: 'number' }, 'xs:decimal'],
  ['float32', { type: 'number', format: 'float' }, 'xs:float'],
  ['float64', { type: 'number', format: 'double' }, 'xs:double'],
  ['huge', { type: 'integer', maximum: 1e30 }, 'xs:integer'],
  ['id', { type: 'string', format: 'uuid' }, 'xs:string nillable'],
  ['int16', { type: 'integer', format: 'int16' }, 'xs:short'],
  ['int32', { type: 'integer', format: 'int32' }, 'xs:int'],
  ['int64', { type: 'integer', format: 'int64' }, 'xs:long'],
  ['int8', { type: 'integer', format: 'int8' }, 'xs:byte'],
  ['list', { type: 'array', items: { type: 'string' } }, 'arr:ArrayOfstring nillable'],
  ['on', { type: 'string', format: 'date' }, 'xs:date nillable'],
  ['record', { type: 'object', properties: { a: {} } }, 'tns:PutRecord nillable'],
  ['state', { type: 'string', enum: ['a', 'b'] }, 'tns:PutState nillable'],
  ['takes', { type: 'string', format: 'duration' }, 'xs:duration nillable'],
  ['text', { type: 'string' }, 'xs:string nillable'],
  ['truth', { type: 'boolean' }, 'xs:boolean'],
  ['uint16', { type: 'integer', format: 'uint16' }, 'xs:unsignedShort'],
  ['uint32', { type: 'integer', format: 'uint32' }, 'xs:unsignedInt'],
  ['uint64', { type: 'integer', format: 'uint64' }, 'xs:unsignedLong'],
  ['uint8', { type: 'integer', format: 'uint8' }, 'xs:unsignedByte'],
  ['whole', { type: 'integer' }, 'xs:long'],
];

/** Returns a contract with an operation that takes and returns these members. */
function contractOfAll(
  overlay: object,
  members: readonly (readonly [string, object, ...unknown[]])[] = called,
): Contract {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(members.map(([member, of]) => [member, of])),
  };
  const content = { 'application/json': { schema } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  return buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    openapi: { openapi: '3.1.0', info: { title: 'All', version: '1' }, paths: { '/': { put } } },
    overlay: { dialect: 'servicestack', service: 'All', soapErrors: 'fault', ...overlay },
  }).contract;
}

/** Returns the members of a request in the WSDL with their types. */
function toldIn(contract: Contract): Readonly<Record<string, string>> {
  const [request = ''] =
    /<xs:element name="put">.*?<\/xs:sequence>/s.exec(writeWsdl(contract, { address: 'http://x/' })) ?? [];
  const told: Record<string, string> = {};
  for (const [element] of request.matchAll(/<xs:element [^>]*minOccurs[^>]*>/g)) {
    const [, name = '', type] = /name="(\w+)".* type="([\w:]+)"/.exec(element) ?? [];
    told[name.toLowerCase()] = `${type}${element.includes(' nillable="true"') ? ' nillable' : ''}`;
  }
  return told;
}

test('W33: each schema has its type in the WSDL, nillable if null has a meaning', (t) => {
  t.deepEqual(
    toldIn(contractOfAll({})),
    Object.fromEntries(called.map(([member, , told]) => [member, told])),
  );
});

test('dates: text turns temporal types into strings, and no others', (t) => {
  t.deepEqual(
    toldIn(contractOfAll({ dates: 'text' })),
    Object.fromEntries(
      called.map(([member, , told]) => [
        member,
        told.replace(/xs:(?:date|dateTime|duration)\b/, 'xs:string'),
      ]),
    ),
  );
});

test('any JSON that is a number now was a text in the WSDL', (t) => {
  const before = contractOfAll({}, [['m', {}]]);
  const after = contractOfAll({}, [['m', { type: 'integer', format: 'int32' }]]);
  t.deepEqual(
    compareContracts(before, after).map(({ where, what }) => `${where} ${what}`),
    [
      'put in requests, M xs:string is xs:int',
      'putResponse in replies, M xs:string is xs:int',
      'put in requests, M it can’t be nil',
    ],
  );
});

test('W19: null of a text, bytes, JSON, object or list is an element, of other types it is none', (t) => {
  const nulls = `{${called.map(([member]) => `"${member}":null`).join(',')}}`;
  const { xml } = writeReply(compile(contractOfAll({})), 'put', nulls);
  t.deepEqual(
    [...xml.matchAll(/<(\w+) i:nil="true"\/>/g)].map(([, name]) => name),
    ['Any', 'Bytes', 'Id', 'List', 'Record', 'Text'],
  );
});

for (const [title, contract] of contracts)
  test(`${title} a union's value that is a date without a time is no dateTime`, (t) => {
    const union: UnionType = {
      kind: 'union',
      name: 'When',
      documentation: '',
      variants: [
        { xml: 'At', type: scalar('dateTime'), takes: 'string', tag: undefined },
        { xml: 'On', type: scalar('date'), takes: 'string', tag: undefined },
      ],
    };
    const when = codecsOf(contract).codecOf(union);
    for (const [json, xml] of [
      ['"2024-06-01"', '<On>2024-06-01</On>'],
      [' "2024-06-01Z"', '<On>2024-06-01Z</On>'],
      ['"2024-06-01+05:00"', '<On>2024-06-01+05:00</On>'],
      ['"2024-06-01T00:00:00"', '<At>2024-06-01T00:00:00</At>'],
      ['"2024-06-01T00:00:00Z"', '<At>2024-06-01T00:00:00Z</At>'],
    ] as const)
      t.is(writeOne(when, json), xml);
    t.is(writeOne(codecsOf(screening).codecOf(union), '"/Date(0)/"'), '<At>1970-01-01T00:00:00Z</At>');
  });

test('no format selects two scalars for the same type', (t) => {
  const stated = scalarRows.flatMap(([, { json, formats = [] }]) =>
    formats.map((format) => `${json} ${format}`),
  );
  t.is(new Set(stated).size, stated.length);
});

test('an operation reads its own sample', (t) => {
  for (const operation of depot.operations) {
    const read = readXmlText(compile(depot), operation.name, bodyOf(writeSample(depot, operation)));
    t.deepEqual(read.problems, [], operation.name);
  }
});

/** Returns the content of the Body of an envelope. */
function bodyOf(envelope: string): string {
  return /<soap:Body>(?<body>.*)<\/soap:Body>/s.exec(envelope)?.groups?.body?.trim() ?? '';
}

function scalarOf(json: ScalarRow['json'], format: string, dates: Settings['dates']): ScalarName {
  const schema = { type: json, format };
  if (json === 'integer') return integerScalar(schema);
  return json === 'number' ? numberScalar(schema) : stringScalar(schema, {}, dates);
}
