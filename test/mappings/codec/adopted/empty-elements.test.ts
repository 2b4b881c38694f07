import test from 'ava';
import { compiledGet, element, get, many, maybe, readMessage, sequence } from './messages.ts';

const priced =
  '<xs:complexType name="Priced"><xs:simpleContent><xs:extension base="xs:decimal">' +
  '<xs:attribute name="currency" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>';
const type = sequence(
  element('count', 'xs:int') +
    element('day', 'xs:date', maybe) +
    element('flag', 'xs:boolean', many) +
    element('price', 't:Priced', maybe) +
    element('text', 'xs:string', maybe),
  '<xs:attribute name="size" type="xs:int"/><xs:attribute name="rank" type="xs:int" use="required"/>',
);

const read = (t: Parameters<typeof compiledGet>[0], content: string, attributes: string, isAbsent = true) =>
  readMessage(
    compiledGet(t, type, priced, { emptyElements: isAbsent ? 'absent' : 'refuse' }).request,
    get(content, attributes),
  );

test('A25: with emptyElements: absent empty numbers, booleans and dates are absent', (t) => {
  const { json, problems, missing } = read(
    t,
    '<t:count>1</t:count><t:day/><t:flag> </t:flag><t:flag>true</t:flag><t:price/><t:text/>',
    ' size="" rank="1"',
  );
  t.deepEqual([problems, missing], [[], []]);
  t.is(json, '{"rank":1,"count":1,"flag":[true],"text":""}');
});

test('A25: with emptyElements: absent an empty value keeps its attributes', (t) => {
  const { json } = read(t, '<t:count>1</t:count><t:price currency="EUR"/>', ' rank="1"');
  t.is(json, '{"rank":1,"count":1,"price":{"currency":"EUR"}}');
});

test('A28: with emptyElements: absent an empty required element or attribute is missing', (t) => {
  const { missing } = read(t, '<t:count/>', ' rank=" "');
  t.deepEqual(
    missing.map(({ path }) => path),
    ['rank', 'count'],
  );
});

test('A25: by default refuses an empty number or date', (t) => {
  const { problems } = read(t, '<t:count/><t:day/>', ' rank=""', false);
  t.deepEqual(
    problems.map(({ code, path }) => [code, path]),
    [
      ['NotEmpty', 'rank'],
      ['NotEmpty', 'count'],
      ['NotEmpty', 'day'],
    ],
  );
});
