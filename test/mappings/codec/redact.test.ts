import test from 'ava';
import { compileRedact } from '../../../mappings/codec/redact.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Field, RecordType, ScalarName, Type } from '../../../mappings/contract/model.ts';
import { fc } from '../../property.ts';
import { screening } from './contracts.ts';

const scalar = (name: ScalarName): Type => ({ kind: 'scalar', scalar: name });
const types = { namespace: 'types', documentation: '' } as const;
const field = (json: string, type: Type): Field => {
  return { json, xml: json, type, nillable: true, required: false, notEmpty: false, allowed: undefined };
};
const record = (name: string, members: Record<string, Type>): RecordType => {
  return {
    kind: 'record',
    name,
    documentation: '',
    fields: Object.entries(members).map(([json, type]) => field(json, type)),
  };
};

const cat = record('Cat', { name: scalar('string'), lives: scalar('int') });
const dog = record('Dog', { name: scalar('string'), bark: scalar('string') });
const variant = (type: Type) => ({ xml: 'a', type, takes: 'any', tag: undefined }) as const;
const labels: Type = { kind: 'map', name: 'M', ...types, entryName: 'E', value: scalar('string') };
const parcel: RecordType = {
  ...record('Parcel', {
    name: scalar('string'),
    grams: scalar('long'),
    when: scalar('dateTime'),
    state: { kind: 'enum', name: 'State', documentation: '', values: ['sent'] },
    anything: scalar('json'),
    pets: {
      kind: 'array',
      name: 'Pets',
      namespace: 'types',
      itemName: 'Pet',
      item: { kind: 'union', name: 'Pet', documentation: '', variants: [cat, dog].map(variant) },
    },
    labels,
    place: {
      kind: 'tuple',
      name: 'Place',
      documentation: '',
      positions: [
        { xml: 'Item1', type: scalar('int') },
        { xml: 'Item2', type: cat },
      ],
      rest: undefined,
    },
    more: {
      kind: 'tuple',
      name: 'More',
      documentation: '',
      positions: [{ xml: 'Item1', type: scalar('int') }],
      rest: {
        xml: 'Items',
        type: { kind: 'array', name: 'Flags', namespace: 'types', itemName: 'Flag', item: scalar('boolean') },
      },
    },
    either: {
      kind: 'array',
      name: 'Eithers',
      namespace: 'types',
      itemName: 'Either',
      item: {
        kind: 'union',
        name: 'Either',
        documentation: '',
        variants: [
          variant(scalar('int')),
          variant({ kind: 'union', name: 'Pet', documentation: '', variants: [cat, dog].map(variant) }),
        ],
      },
    },
    open: {
      ...record('Open', {}),
      additional: {
        typed: { xml: 'Others', type: { ...labels, value: scalar('json') } },
        untyped: undefined,
      },
    },
    both: {
      ...record('Both', {}),
      additional: {
        typed: { xml: 'Numbers', type: { ...labels, value: scalar('int') } },
        untyped: { xml: 'Others', type: { ...labels, value: scalar('string') } },
      },
    },
    status: screening.responseStatus,
    authentication: cat,
  }),
  additional: { typed: { xml: 'Others', type: { ...labels, value: scalar('int') } }, untyped: undefined },
};

const redact = compileRedact({ ...screening, personal: ['name'] }, defaultLimits);
const hide = (text: string): string => text.replaceAll('canary', '***');
const shown = (json: string): unknown => JSON.parse(redact(json, parcel, hide));

for (const [what, json, expected] of [
  ['numbers are shown as they are', '{"grams":9007199254740993}', '{"grams":9007199254740993}'],
  ['dates and enums are shown', '{"when":"/Date(0)/","state":"sent"}', '{"when":"/Date(0)/","state":"sent"}'],
  [
    'a personal member is hidden, in any case',
    '{"name":"Jane","NAME":["Jane"]}',
    '{"name":"***","NAME":"***"}',
  ],
  ['credentials are hidden', '{"authentication":{"lives":9}}', '{"authentication":"***"}'],
  ['an error’s texts are hidden', '{"status":{"message":"Jane"}}', '{"status":"***"}'],
  ['null is shown', '{"name":null,"grams":null}', '{"name":"***","grams":null}'],
  [
    'what is of another type is hidden',
    '{"grams":"Jane","when":{"a":1},"pets":{}}',
    '{"grams":"***","when":"***","pets":"***"}',
  ],
  ['JSON of no type is hidden', '{"anything":{"of":["Jane"]}}', '{"anything":"***"}'],
  [
    'a union shows what any of its variants has',
    '{"pets":[{"name":"Tom","lives":9},{"bark":"wau","tail":1}]}',
    '{"pets":[{"name":"***","lives":9},{"bark":"wau","***":1}]}',
  ],
  [
    'a list of positions shows what each of them has',
    '{"place":[1,{"name":"Tom","lives":9},"Jane"]}',
    '{"place":[1,{"name":"***","lives":9},"***"]}',
  ],
  [
    'a map shows its keys, but for those called like a personal member',
    '{"labels":{"a":"b","Name":"Jane"}}',
    '{"labels":{"a":"b","Name":"***"}}',
  ],
  [
    'other members are shown where the type takes them',
    '{"width":7,"note":"Jane"}',
    '{"width":7,"note":"***"}',
  ],
  [
    'a secret is hidden wherever it stands',
    '{"labels":{"my canary":"a canary"}}',
    '{"labels":{"my ***":"a ***"}}',
  ],
  ['names with escapes are what they mean', '{"n\\u0061me":"Jane"}', '{"name":"***"}'],
] as const) {
  test(`redaction: ${what}`, (t) => {
    t.is(JSON.stringify(redact(json, parcel, hide)), JSON.stringify(expected));
  });
}

for (const [what, json, expected] of [
  ['numbers of JSON of no type', '{"anything":7}', '{"anything":"***"}'],
  ['texts of JSON of no type', '{"anything":"Jane"}', '{"anything":"***"}'],
  ['a text where a number is meant', '{"grams":"7"}', '{"grams":"***"}'],
  [
    'a number and a boolean where a text is meant',
    '{"labels":{"a":7,"b":true}}',
    '{"labels":{"a":7,"b":true}}',
  ],
  ['an empty object and an empty list', '{"labels":{},"pets":[]}', '{"labels":{},"pets":[]}'],
  [
    'several members and items',
    '{"grams":1,"pets":[{},{},null],"when":"x"}',
    '{"grams":1,"pets":[{},{},null],"when":"x"}',
  ],
  ['blanks', ' { "grams" : 1 , "pets" : [ ] } ', '{"grams":1,"pets":[]}'],
  [
    'an object where a list is meant, and the other way',
    '{"pets":{"a":1},"labels":["Jane"]}',
    '{"pets":"***","labels":"***"}',
  ],
  ['an object where a position is a number', '{"place":[{"a":1},7]}', '{"place":["***","***"]}'],
  ['a list of positions with more behind', '{"more":[7,8,true,"Jane"]}', '{"more":[7,8,true,"***"]}'],
  [
    'a union in a union',
    '{"either":[7,{"lives":9},{"bark":"wau"},[1]]}',
    '{"either":[7,{"lives":9},{"bark":"wau"},"***"]}',
  ],
  [
    'other members of any type',
    '{"open":{"a":7,"b":"Jane","c":{"d":1}}}',
    '{"open":{"a":"***","b":"***","c":"***"}}',
  ],
  ['other members of two types', '{"both":{"a":7,"b":"c"}}', '{"both":{"a":7,"b":"c"}}'],
] as const) {
  test(`redaction: shows the known parts of ${what}`, (t) => {
    t.is(redact(json, parcel, hide), expected);
  });
}

test('redaction: hides a number or a key that contains a secret', (t) => {
  const secret = (text: string): string => text.replaceAll('90071', '***');
  t.is(
    redact('{"grams":90071,"labels":{"a90071":"90071"}}', parcel, secret),
    '{"grams":"***","labels":{"a***":"***"}}',
  );
});

test('redaction: shows the type of values that are not objects', (t) => {
  t.is(redact('7', scalar('int'), hide), '7');
  t.is(redact('"a"', scalar('string'), hide), '"a"');
  t.is(redact('{"a":1}', scalar('int'), hide), '"***"');
  t.is(redact('null', cat, hide), 'null');
});

test('redaction: shows up to 256 characters of a text, and scans no more of it', (t) => {
  const asked: (number | undefined)[] = [];
  const looking = (text: string, most?: number): string => {
    asked.push(most);
    return text;
  };
  const long = 'x'.repeat(256);
  t.is(redact(`"${long}"`, scalar('string'), looking), `"${long}"`);
  t.is(redact(`"${long}y"`, scalar('string'), looking), `"${long}…"`);
  t.deepEqual(asked, [257, 257]);
});

test('redaction: earlier content is read again, however deep and wide', (t) => {
  const narrow = compileRedact(screening, { ...defaultLimits, jsonDepth: 2, jsonMembers: 2 });
  t.is(
    narrow('{"grams":1,"pets":[{"lives":1},{"lives":2},{"lives":3}]}', parcel, hide),
    '{"grams":1,"pets":[{"lives":1},{"lives":2},{"lives":3}]}',
  );
});

test('redaction: a contract without credentials hides personal data', (t) => {
  const open = compileRedact({ ...screening, credentials: undefined, personal: ['name'] }, defaultLimits);
  t.is(
    open('{"name":"Jane","authentication":{"lives":9}}', parcel, hide),
    '{"name":"***","authentication":{"lives":9}}',
  );
});

test('loggedMessage: the shown message ends after that many characters', (t) => {
  const shownWith = (loggedMessage: number, json: string): string =>
    compileRedact({ ...screening, personal: ['name'] }, { ...defaultLimits, loggedMessage })(
      json,
      parcel,
      hide,
    );
  for (const [json, length, cut] of [
    // the shown length of names and values counts
    ['{"grams":1234,"when":"x"}', 9, '{"grams":1234,"…":"…"}'],
    ['{"when":"abc","grams":1}', 7, '{"when":"abc","…":"…"}'],
    ['{"name":"Jane","grams":1}', 9, '{"name":"***","…":"…"}'],
    ['{"labels":{"a":"b","c":"d"},"grams":1}', 8, '{"labels":{"a":"b","…":"…"},"…":"…"}'],
    ['{"place":[12,{"lives":1}],"grams":1}', 7, '{"place":[12,"…"],"…":"…"}'],
    ['{"anything":"Jane","grams":1}', 13, '{"anything":"***","…":"…"}'],
  ] as const) {
    t.is(shownWith(length, json), cut, json);
    t.is(shownWith(length + 1_000, json), redact(json, parcel, hide));
    t.not(shownWith(length + 1, json), cut, json);
  }
  t.is(shownWith(8, '{"place":[12]}'), '{"place":[12]}');
  t.is(shownWith(8, '{"when":"abc"}'), '{"when":"abc"}');
  t.is(shownWith(10, '{"grams":1234,"when":"x"}'), '{"grams":1234,"when":"x","…":"…"}');
  t.is(shownWith(11, '{"grams":1234,"pets":[1,2]}'), '{"grams":1234,"pets":["…"],"…":"…"}');
  const long = 'x'.repeat(300);
  t.is(
    shownWith(263, `{"labels":{"a":"${long}"},"grams":1}`),
    `{"labels":{"a":"${'x'.repeat(256)}…","…":"…"},"…":"…"}`,
  );
  t.is(
    shownWith(265, `{"labels":{"a":"${long}"},"grams":1}`),
    `{"labels":{"a":"${'x'.repeat(256)}…"},"grams":1,"…":"…"}`,
  );
});

test('redaction: unknown members of a closed type are counted, with names and values hidden', (t) => {
  const text = redact('{"lives":9,"Jane":"Jane","__proto__":1}', cat, hide);
  t.is(text, '{"lives":9,"***":2}');
});

test('redaction: any input gives JSON without a personal member’s value', (t) => {
  const names = fc.constantFrom(
    'name',
    'grams',
    'pets',
    'labels',
    'status',
    'lives',
    'Jane',
    'authentication',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 7, true, 'a'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(names, tie('value'), { maxKeys: 5 }).map(withPerson),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => !JSON.stringify(shown(JSON.stringify(given))).includes('Doe')),
    { numRuns: 2_000 },
  );
  t.pass();
});

/** Returns an object whose personal and credentials members have unique values. */
function withPerson(members: Record<string, unknown>): Record<string, unknown> {
  const hiddenOnes = Object.keys(members).filter((key) => key === 'name' || key === 'authentication');
  return { ...members, ...Object.fromEntries(hiddenOnes.map((key) => [key, { name: 'Doe', lives: 'Doe' }])) };
}
