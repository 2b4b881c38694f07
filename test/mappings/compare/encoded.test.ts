import test, { type ExecutionContext } from 'ava';
import { compileComparison, maxCompareParts } from '../../../mappings/compare/compare.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { definitionsOf, folderOf, getOf, schemaOf } from '../loader/wsdl/wsdl-folder.ts';
import { envelope, legacyReply } from './replies.ts';

const types = schemaOf(
  '<xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>' +
    '<xs:complexType name="Order"><xs:sequence><xs:element name="id" type="xs:int"/><xs:element name="note" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>' +
    '<xs:complexType name="Orders"><xs:complexContent><xs:restriction base="enc:Array" xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"><xs:attribute ref="enc:arrayType" xmlns:w="http://schemas.xmlsoap.org/wsdl/" w:arrayType="t:Order[]"/></xs:restriction></xs:complexContent></xs:complexType>',
  'targetNamespace="urn:t"',
);

/** Returns a contract of an rpc operation `Get` that returns `orders` and `any`. */
function rpcContract(t: ExecutionContext, use: 'literal' | 'encoded') {
  const body = `<soap:body use="${use}" namespace="urn:t"/>`;
  const wsdl = definitionsOf(
    types,
    '<w:message name="in"/><w:message name="out"><w:part name="orders" type="t:Orders"/><w:part name="any" type="xs:anyType"/></w:message>' +
      '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:out"/></w:operation></w:portType>' +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
  return readContract(folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': 'wsdl: service.wsdl\n' })).contract;
}

const names =
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:x="http://www.w3.org/2001/XMLSchema" xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:t="urn:t"';

function comparing(t: ExecutionContext, use: 'literal' | 'encoded') {
  const { compare } = compileComparison(rpcContract(t, use));
  const reply = (content: string, after = '') =>
    legacyReply({
      status: 200,
      body: envelope(`<t:GetResponse ${names}>${content}</t:GetResponse>${after}`),
    });
  return (legacy: readonly [string, string?], fresh: readonly [string, string?]) => {
    const { differences, notes } = compare('Get', reply(...legacy), reply(...fresh));
    return [
      ...differences.map(({ path, kind }) => `${path} ${kind}`),
      ...notes.map(({ path, note }) => `${path} ${note}`),
    ];
  };
}

test('references, array attributes and types of an encoded reply do not matter (G37, A30)', (t) => {
  const run = comparing(t, 'encoded');
  const item = (id: number, note = ''): string => `<item><id>${id}</id>${note}</item>`;
  const plain = `<orders>${item(1)}${item(2)}</orders>`;
  const typed = `<orders i:type="enc:Array" enc:arrayType="t:Order[2]"><e i:type="t:Order"><id i:type="x:int">1</id></e><e href="#2"/></orders>`;
  const referred = `<multiRef ${names} id="2"><id i:type="x:int">2</id></multiRef>`;
  t.deepEqual(run([plain], [typed, referred]), []);
  t.deepEqual(run([plain], [typed, referred.replace('>2<', '>3<')]), ['orders[1].id value']);
  t.deepEqual(run([`<orders>${item(1, '<note i:nil="true"/>')}</orders>`], [`<orders>${item(1)}</orders>`]), [
    'orders[0].note absence',
  ]);
  t.deepEqual(run([`${plain}<any i:type="x:int">5</any>`], [`${plain}<any i:type="x:int">+5</any>`]), []);
  t.deepEqual(run([`${plain}<any i:type="x:int">5</any>`], [`${plain}<any i:type="x:int">6</any>`]), [
    'any.value value',
  ]);
});

test('the parts of an rpc/literal reply are compared, in any namespace (G33)', (t) => {
  const run = comparing(t, 'literal');
  t.deepEqual(
    run(['<orders><item><id>1</id></item></orders>'], ['<orders><item><id>01</id></item></orders>']),
    [],
  );
  t.deepEqual(run(['<orders><item><id>1</id></item></orders>'], ['<orders/>']), ['orders[0] missing']);
  t.deepEqual(run(['<orders/>'], ['']), ['orders absence']);
});

test('a body that is no object has the path of its element (G40)', (t) => {
  const wsdl = getOf('<xs:complexType/>').replace(
    '<xs:element name="Get"><xs:complexType/></xs:element>',
    '<xs:element name="Get" type="xs:decimal"/>',
  );
  const { contract } = readContract(
    folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': 'wsdl: service.wsdl\n' }),
  );
  const { compare } = compileComparison(contract);
  const reply = (value: string) =>
    legacyReply({ status: 200, body: envelope(`<Get xmlns="urn:t">${value}</Get>`) });
  t.deepEqual(compare('Get', reply('1'), reply('2')).differences, [
    { path: 'Get', kind: 'value', class: 'other', legacy: '1', new: '2' },
  ]);
  t.deepEqual(compare('Get', reply('1'), reply('1.0')).notes, [{ path: 'Get', note: 'scale' }]);
});

test('a comparison that takes more than 20 million steps is unreadable (G40)', (t) => {
  const wsdl = getOf(
    '<xs:complexType><xs:sequence><xs:element name="Row" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="C" type="xs:int" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element></xs:sequence></xs:complexType>',
  );
  const { contract } = readContract(
    folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': 'wsdl: service.wsdl\n' }),
  );
  const { compare } = compileComparison(contract);
  const cells = Array.from({ length: 4_999 }, (_, index) => `<C>${index}</C>`);
  const moved = ['<C>-1</C>', ...cells.slice(2_500), ...cells.slice(0, 2_500)];
  const reply = (rows: number, row: readonly string[]) => {
    const all = Array.from({ length: rows }, (_, index) => `<Row n="${index}">${row.join('')}</Row>`);
    return legacyReply({ status: 200, body: envelope(`<Get xmlns="urn:t">${all.join('')}</Get>`) });
  };
  t.is(compare('Get', reply(2, cells), reply(2, moved)).differences[0]?.path, 'Row[0].C[0]');
  const { result, differences } = compare('Get', reply(30, cells), reply(30, moved));
  t.is(result, 'different');
  t.deepEqual(differences, [
    { path: '@reply', kind: 'unreadable', legacy: 'too much work', new: 'too much work' },
  ]);
});

/** Returns a function that compares two contents of an element with numbers, a list and open content. */
function comparingLarge(t: ExecutionContext) {
  const wsdl = getOf(
    '<xs:complexType><xs:sequence><xs:element name="I" type="xs:int" minOccurs="0" maxOccurs="unbounded"/><xs:element name="L" minOccurs="0"><xs:simpleType><xs:list itemType="xs:int"/></xs:simpleType></xs:element><xs:any namespace="##other" minOccurs="0" processContents="skip"/></xs:sequence></xs:complexType>',
  );
  const { contract } = readContract(
    folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': 'wsdl: service.wsdl\n' }),
  );
  const { compare } = compileComparison(contract);
  const reply = (content: string) =>
    legacyReply({ status: 200, body: envelope(`<Get xmlns="urn:t">${content}</Get>`) });
  return (legacy: string, fresh: string): readonly string[] =>
    compare('Get', reply(legacy), reply(fresh)).differences.map(
      ({ path, kind, legacy: value }) => `${path} ${kind} ${value}`,
    );
}

const tooMuch = ['@reply unreadable too much work'];

test('replies with more than 500,000 elements and attributes are too much work (G40)', (t) => {
  const run = comparingLarge(t);
  // three elements and two declarations are around the content
  const half = maxCompareParts / 2 - 5;
  const items = '<I>1</I>'.repeat(half);
  t.deepEqual(run(items, items), []);
  t.deepEqual(run(`${items}<I>1</I>`, items), tooMuch);
  t.deepEqual(run(items, `${items}<I>1</I>`), tooMuch);
  // an element in open content has a declaration
  const open = (count: number): string => `<x xmlns="urn:o">${'<y a="1"/>'.repeat(count)}</x>`;
  t.deepEqual(run(open(half / 2), open(half / 2)), tooMuch);
});

test('replies with more than 500,000 values are too much work (G40)', (t) => {
  const run = comparingLarge(t);
  // each side has an object and a list
  const items = '1 '.repeat(maxCompareParts / 2 - 2);
  t.deepEqual(run(`<L>${items}</L>`, `<L>${items.slice(0, -2)}2</L>`), [
    `L[${maxCompareParts / 2 - 3}] value 1`,
  ]);
  t.deepEqual(run(`<L>${items}1</L>`, `<L>${items}</L>`), tooMuch);
});
