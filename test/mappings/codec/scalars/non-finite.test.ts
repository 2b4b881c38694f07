import test from 'ava';
import { problemText } from '../../../../mappings/codec/problem.ts';
import { type NonFiniteNumbers, withNonFinite } from '../../../../mappings/codec/scalars/non-finite.ts';
import { floating } from '../../../../mappings/codec/scalars/numeric.ts';
import { quoteText } from '../../../../mappings/codec/scalars/text.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import {
  compiledGet,
  element as e,
  get,
  many,
  readMessage,
  sequence,
  writeMessage,
} from '../adopted/messages.ts';

const reader = (json: string): JsonReader => new JsonReader(json, defaultLimits);
const names = ['INF', '-INF', 'NaN'] as const;

for (const xsd of ['double', 'float'] as const) {
  const scalar = (form: NonFiniteNumbers) => withNonFinite(floating(xsd), form);
  const expected = (name: string): string => `a finite xs:${xsd}, as JSON has no ${name}`;

  test(`W15: refuses INF, -INF and NaN of xs:${xsd}, and explains that JSON lacks them`, (t) => {
    const { fromXml, toXml, checkJson } = scalar('refuse');
    for (const name of names) {
      const refusal = { code: 'InvalidType', reason: { expected: expected(name), got: quoteText(name) } };
      t.deepEqual(fromXml(` ${name} `), refusal);
      t.deepEqual(checkJson(reader(`"${name}"`)), refusal);
      t.throws(() => toXml(reader(`"${name}"`)), {
        message: `expected ${expected(name)}, got a string`,
      });
    }
    t.deepEqual(fromXml('inf'), {
      code: 'InvalidType',
      reason: { expected: `xs:${xsd}`, got: quoteText('inf') },
    });
  });

  test(`W15: reads INF, -INF and NaN of xs:${xsd} as null with asNull`, (t) => {
    const { fromXml, toXml } = scalar('asNull');
    for (const name of names) {
      t.is(fromXml(name), 'null');
      t.throws(() => toXml(reader(`"${name}"`)), {
        message: `expected ${expected(name)}, got a string`,
      });
    }
  });

  test(`W15: reads and writes INF, -INF and NaN of xs:${xsd} as strings with asText`, (t) => {
    const { fromXml, toXml, checkJson, isInexact } = scalar('asText');
    for (const name of names) {
      t.is(fromXml(` ${name}`), `"${name}"`);
      t.is(toXml(reader(`"${name}"`)), name);
      t.is(checkJson(reader(`"${name}"`)), undefined);
      t.false(isInexact?.(name));
    }
    t.is(fromXml('1.5'), '1.5');
    t.is(toXml(reader('"1.5"')), '1.5');
    t.is(toXml(reader('1e3')), '1e3');
    t.throws(() => toXml(reader('"Infinity"')), {
      message: `expected xs:${xsd}, got a string that is no number`,
    });
  });
}

const type = sequence(
  e('d', 'xs:double', many) +
    e('l', 't:List') +
    e('any', 'xs:anyType') +
    e('b', 't:Bounded', 'minOccurs="0"'),
  '<xs:attribute name="at" type="xs:float"/>',
);
const declarations =
  '<xs:simpleType name="List"><xs:list itemType="xs:double"/></xs:simpleType><xs:simpleType name="Bounded"><xs:restriction base="xs:double"><xs:maxInclusive value="5"/></xs:restriction></xs:simpleType>';
const message = get(
  '<t:d>INF</t:d><t:d>1</t:d><t:l>NaN 2</t:l><t:any xsi:type="xs:float">-INF</t:any>',
  ' at="INF"',
);

for (const [form, value] of [
  ['asNull', () => null],
  ['asText', (name: string) => name],
] as const)
  test(`A26: nonFiniteNumbers: ${form} applies to lists, attributes and values of any type`, (t) => {
    const { request } = compiledGet(t, type, declarations, { nonFiniteNumbers: form });
    const { json, problems } = readMessage(request, message);
    t.deepEqual(problems, []);
    const body = {
      at: value('INF'),
      d: [value('INF'), 1],
      l: [value('NaN'), 2],
      any: { '@type': 'xs:float', value: value('-INF') },
    };
    t.deepEqual(JSON.parse(json), body);
    if (form === 'asText') t.is(readMessage(request, writeMessage(request, json)).json, json);
  });

test('A26: an enumeration may have INF', (t) => {
  const restricted =
    '<xs:simpleType name="F"><xs:restriction base="xs:double"><xs:enumeration value="INF"/><xs:enumeration value="1"/></xs:restriction></xs:simpleType>';
  const read = (form: NonFiniteNumbers, text: string) => {
    const { request } = compiledGet(t, sequence(e('v', 't:F')), restricted, { nonFiniteNumbers: form });
    const { json, problems } = readMessage(request, get(`<t:v>${text}</t:v>`));
    return problems.length === 0 ? json : problems.map(problemText).join();
  };
  t.is(read('asText', 'INF'), '{"v":"INF"}');
  t.is(read('asText', '1.0'), '{"v":1.0}');
  t.is(read('asText', '-INF'), 'v: expected one of INF, 1, got "-INF"');
  t.is(read('asNull', 'INF'), '{"v":null}');
});

test('A26: under validate: strict INF is out of bounds, and null is not checked', (t) => {
  const read = (form: NonFiniteNumbers) =>
    readMessage(
      compiledGet(t, type, declarations, { nonFiniteNumbers: form, validate: 'strict' }).request,
      get('<t:l/><t:any/><t:b>INF</t:b>'),
    ).problems.map(problemText);
  t.deepEqual(read('asText'), ['b: expected a finite number, got INF']);
  t.deepEqual(read('asNull'), []);
});
