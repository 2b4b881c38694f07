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

test('redaction: members that a closed type lacks are counted, names and values hidden', (t) => {
  const text = redact('{"lives":9,"Jane":"Jane","__proto__":1}', cat, hide);
  t.is(text, '{"lives":9,"***":2}');
});

test('redaction: whatever comes, what is shown is JSON, and no personal member’s value is in it', (t) => {
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

/** An object whose personal and credentials members say something that nothing else says. */
function withPerson(members: Record<string, unknown>): Record<string, unknown> {
  const hiddenOnes = Object.keys(members).filter((key) => key === 'name' || key === 'authentication');
  return { ...members, ...Object.fromEntries(hiddenOnes.map((key) => [key, { name: 'Doe', lives: 'Doe' }])) };
}
