import test, { type ExecutionContext } from 'ava';
import type { Contract } from '../../mappings/contract/model.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { compareContracts } from '../../wsdl/diff.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

/** Effects of changes of an adopted WSDL on existing clients (A1). */

function contractOf(t: ExecutionContext, schema: string, rest = get): Contract {
  return readContract(folderOf(t, { 'service.wsdl': definitionsOf(schemaOf(schema), rest) })).contract;
}

const body = (content: string, attributes = ''): string =>
  `<xs:element name="Get"><xs:complexType><xs:sequence>${content}</xs:sequence>${attributes}</xs:complexType></xs:element>`;
const e = (name: string, type: string, more = ''): string =>
  `<xs:element name="${name}" type="${type}" ${more}/>`;
const a = (name: string, more = ''): string => `<xs:attribute name="${name}" type="xs:int" ${more}/>`;
const maybe = 'minOccurs="0"';
const many = 'minOccurs="0" maxOccurs="unbounded"';
const colors = (...values: readonly string[]): string =>
  `<xs:simpleType name="Color"><xs:restriction base="xs:string">${values.map((value) => `<xs:enumeration value="${value}"/>`).join('')}</xs:restriction></xs:simpleType>`;
const animal = (name: string, base = ''): string =>
  base === ''
    ? `<xs:complexType name="${name}"/>`
    : `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="t:${base}"/></xs:complexContent></xs:complexType>`;

/** Each change with its expected report for requests and replies. The body of `Get` is used in both directions. */
const changes: readonly (readonly [title: string, before: string, after: string, said: readonly string[]])[] =
  [
    ['nothing', body(e('a', 'xs:int')), body(e('a', 'xs:int')), []],
    [
      'an element that is gone',
      body(e('a', 'xs:int') + e('b', 'xs:int', maybe)),
      body(e('a', 'xs:int')),
      ['breaking Get in requests, b: it is gone', 'strict Get in replies, b: it is gone'],
    ],
    [
      'an element that a wildcard takes',
      body(`${e('a', 'xs:int', maybe)}<xs:any ${many} namespace="##other"/>`),
      body(`<xs:any ${many} namespace="##other"/>`),
      ['strict Get in replies, a: it is gone'],
    ],
    [
      'an element that is new',
      body(''),
      body(e('a', 'xs:int', maybe)),
      ['strict Get in replies, a: it is new', 'compatible Get in requests, a: it is new'],
    ],
    [
      'an element that is new and required',
      body(''),
      body(e('a', 'xs:int')),
      ['breaking Get in requests, a: it is new and required', 'strict Get in replies, a: it is new'],
    ],
    [
      'an element that is required now',
      body(e('a', 'xs:int', maybe)),
      body(e('a', 'xs:int')),
      ['breaking Get in requests, a: it is required'],
    ],
    [
      'an element that may be absent now',
      body(e('a', 'xs:int')),
      body(e('a', 'xs:int', maybe)),
      ['strict Get in replies, a: it may be absent', 'compatible Get in requests, a: it may be absent'],
    ],
    [
      'an element that repeats now',
      body(e('a', 'xs:int', maybe)),
      body(e('a', 'xs:int', many)),
      ['breaking Get in replies, a: it stands any number of times'],
    ],
    [
      'an element that stands once now',
      body(e('a', 'xs:int', many)),
      body(e('a', 'xs:int', maybe)),
      ['breaking Get in requests, a: it stands once'],
    ],
    [
      'another order of elements',
      body(e('a', 'xs:int', maybe) + e('b', 'xs:int', maybe)),
      body(e('b', 'xs:int', maybe) + e('a', 'xs:int', maybe)),
      ['breaking Get in replies: its elements are in another order'],
    ],
    [
      'an element of another type',
      body(e('a', 'xs:int')),
      body(e('a', 'xs:string')),
      ['breaking Get in requests, a: xs:int is xs:string', 'breaking Get in replies, a: xs:int is xs:string'],
    ],
    [
      'a nil that is no more',
      body(e('a', 'xs:int', 'nillable="true"')),
      body(e('a', 'xs:int')),
      ['breaking Get in requests, a: it can’t be nil', 'compatible Get in replies, a: it can’t be nil'],
    ],
    [
      'a nil that is new',
      body(e('a', 'xs:int')),
      body(e('a', 'xs:int', 'nillable="true"')),
      ['strict Get in replies, a: it may be nil', 'compatible Get in requests, a: it may be nil'],
    ],
    [
      'an attribute that is gone, one that is new',
      body('', a('x')),
      body('', a('y', 'use="required"')),
      [
        'breaking Get in requests, attribute x: it is gone',
        'breaking Get in requests, attribute y: it is new and required',
        'strict Get in replies, attribute x: it is gone',
        'strict Get in replies, attribute y: it is new',
      ],
    ],
    [
      'values of an enumeration',
      body(e('c', 't:Color')) + colors('red', 'blue'),
      body(e('c', 't:Color')) + colors('red', 'green'),
      [
        'breaking Color in requests: blue is gone',
        'strict Color in replies: green is new',
        'compatible Color in replies: blue is gone',
        'compatible Color in requests: green is new',
      ],
    ],
    [
      'derived types',
      body(e('p', 't:Animal')) + animal('Animal') + animal('Dog', 'Animal'),
      body(e('p', 't:Animal')) + animal('Animal') + animal('Cat', 'Animal'),
      [
        'breaking Animal in requests: the derived type Dog is gone',
        'strict Animal in replies: the derived type Cat is new',
      ],
    ],
    [
      'a type within itself that changes deep down',
      body(e('n', 't:Node')) +
        `<xs:complexType name="Node"><xs:sequence>${e('next', 't:Node', maybe)}${e('v', 'xs:int')}</xs:sequence></xs:complexType>`,
      body(e('n', 't:Node')) +
        `<xs:complexType name="Node"><xs:sequence>${e('next', 't:Node', maybe)}${e('v', 'xs:long')}</xs:sequence></xs:complexType>`,
      ['compatible Node in requests, v: xs:int is xs:long', 'breaking Node in replies, v: xs:int is xs:long'],
    ],
    [
      'text in place of elements',
      `${body(e('n', 't:N'))}<xs:complexType name="N"><xs:sequence/></xs:complexType>`,
      body(e('n', 't:N')) +
        '<xs:complexType name="N"><xs:simpleContent><xs:extension base="xs:int"/></xs:simpleContent></xs:complexType>',
      ['breaking N in requests: elements are a text', 'breaking N in replies: elements are a text'],
    ],
  ];

for (const [title, before, after, said] of changes) {
  test(`A1: ${title} is reported with its effect on clients`, (t) => {
    const found = compareContracts(contractOf(t, before), contractOf(t, after));
    t.deepEqual(
      found.map(({ grade, where, what }) => `${grade} ${where}: ${what}`).toSorted(),
      said.toSorted(),
    );
  });
}

test('A5, A6: a changed path, body or action, and a removed operation, are reported', (t) => {
  const schema = body('') + e('Other', 'xs:string');
  const before = contractOf(t, schema);
  const after = contractOf(
    t,
    schema,
    get
      .replace('Things.asmx', 'New.asmx')
      .replace('<w:part name="p" element="t:Get"/>', '<w:part name="p" element="t:Other"/>')
      .replace('urn:t/Get', 'urn:t/New'),
  );
  t.deepEqual(
    compareContracts(before, after).map(({ grade, where, what }) => `${grade} ${where}: ${what}`),
    [
      'breaking /Things.asmx: nothing answers there',
      'breaking Get in requests: {urn:t}Get is {urn:t}Other',
      'strict Get: the action urn:t/Get is gone',
    ],
  );
  const renamed = contractOf(t, schema, get.replaceAll('name="Get"', 'name="Take"'));
  t.deepEqual(
    compareContracts(before, renamed).map(({ grade, where, what }) => `${grade} ${where}: ${what}`),
    ['breaking Get: the operation is gone', 'compatible Take: the operation is new'],
  );
});
