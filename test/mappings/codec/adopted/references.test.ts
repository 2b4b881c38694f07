import test, { type ExecutionContext } from 'ava';
import { problemText, startReading, TooManySteps } from '../../../../mappings/codec/problem.ts';
import { defaultLimits, type Limits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { definitionsOf, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, maybe, operationOf } from './messages.ts';

/** References of SOAP encoding and their targets (A30). */

const body = '<soap:body use="encoded" namespace="urn:t"/>';
const wsdl = definitionsOf(
  schemaOf(
    `<xs:complexType name="Node"><xs:sequence>${e('id', 'xs:int', maybe)}${e('next', 't:Node', maybe)}${e('also', 't:Node', maybe)}</xs:sequence></xs:complexType>`,
    'targetNamespace="urn:t"',
  ),
  '<w:message name="in"><w:part name="node" type="t:Node"/><w:part name="any" type="xs:anyType"/><w:part name="more" type="xs:anyType"/></w:message>' +
    '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/></w:operation></w:portType>' +
    `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input></w:operation></w:binding>` +
    '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
);

/** Reads a message with this content of the wrapper and additional elements. Returns its JSON and problems. */
function read(
  t: ExecutionContext,
  content: string,
  beside = '',
  limits: Limits = defaultLimits,
  mostSteps?: number,
) {
  const { request } = operationOf(t, wsdl, 'Get', {}, limits);
  const xml = new XmlReader(`<Body><t:Get xmlns:t="urn:t">${content}</t:Get>${beside}</Body>`, defaultLimits);
  xml.readRoot();
  xml.nextChild();
  const reading = startReading(20, mostSteps);
  const json = request.read(xml, reading);
  xml.finish();
  return [json, ...reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`)];
}

const soap12 = 'http://www.w3.org/2003/05/soap-encoding';
const nowhere = (path: string, href: string): string =>
  `InvalidType ${path}: expected href with the id of an element of the message, got "${href}"`;

test('A30: an id is an attribute without a prefix, or that of SOAP 1.2’s encoding', (t) => {
  for (const [attributes, isTarget] of [
    ['id="a"', true],
    ["id = 'a'", true],
    [`xmlns:e="${soap12}" e:id="a"`, true],
    [`xmlns:a="urn:a" xmlns:e="${soap12}" a:b="c" e:id="a"`, true],
    [`xmlns:e="urn:a" e:id="a"`, false],
    [`xmlns:a="urn:a" xmlns:e="${soap12}" a:id="a" e:b="c"`, false],
    [`xmlns:e="${soap12}" e:xx="a"`, false],
    [`xmlns:e="${soap12}" e:idx="a"`, false],
    ['xml:id="a"', false],
    ['ide="a" ID="a"', false],
  ] as const)
    t.deepEqual(
      read(t, '<any href="#a"/>', `<m ${attributes}>x</m>`),
      isTarget ? ['{"any":"x"}'] : ['{}', nowhere('any', '#a')],
      attributes,
    );
});

test('A30: a reference is # with the id of an element', (t) => {
  const beside = '<w><m id="a">1</m><m id="b">2</m></w><m id="">4</m>';
  for (const [href, json] of [
    ['#a', '{"any":"1"}'],
    ['#', '{"any":"4"}'],
    ['a', undefined],
    ['xa', undefined],
    ['', undefined],
    ['#A', undefined],
  ] as const)
    t.deepEqual(
      read(t, `<any href="${href}"/>`, beside),
      json === undefined ? ['{}', nowhere('any', href)] : [json],
      href,
    );
});

test('A30: refuses one id on two elements', (t) => {
  const problem = 'InvalidType expected the id "a" on one element, got it on several';
  const e12 = `xmlns:e="${soap12}"`;
  for (const beside of [
    '<m id="a">1</m><m id="a">2</m>',
    '<m id="a">1</m><w><m id="a">2</m></w>',
    '<m id="a"><m id="a">2</m></m>',
    `<m ${e12} e:id="a">1</m><m ${e12} e:id="a">2</m>`,
    `<m id="a">1</m><m ${e12} e:id="a">2</m>`,
  ]) {
    const [, ...problems] = read(t, '<any href="#a"/>', beside);
    t.deepEqual(problems, [problem], beside);
  }
  const [, ...problems] = read(t, `<node id="a"/><any ${e12} e:ref="b"/>`, '<m id="b">1</m><m id="a"/>');
  t.deepEqual(problems, [problem]);
  t.is(read(t, '<any href="#a"/>', '<m id="b">1</m><m id="b">2</m><m id="a">3</m>').length, 2);
});

test('A30: a referenced element has the namespaces of its own position', (t) => {
  for (const [beside, inner] of [
    ['<m id="a"><k/></m>', '<k></k>'],
    ['<w xmlns="urn:o"><m id="a"><k/></m></w>', '<k xmlns=\\"urn:o\\"></k>'],
    ['<w xmlns="urn:o"><v xmlns=""><m id="a"><k/></m></v></w>', '<k></k>'],
    ['<w b="1"><m id="a"><k/></m></w>', '<k></k>'],
    ['<w><v xmlns="urn:o"/><m id="a"><k/></m></w>', '<k></k>'],
    [
      '<w xmlns:o="urn:1"><o:v xmlns:p="urn:2" p:b=""><m id="a"><o:k p:c="1"/></m></o:v></w>',
      '<o:k xmlns:o=\\"urn:1\\" xmlns:p=\\"urn:2\\" p:c=\\"1\\"></o:k>',
    ],
    [
      '<o:w xmlns:o="urn:1"><o:v xmlns:o="urn:2"><m id="a"><o:k/></m></o:v></o:w>',
      '<o:k xmlns:o=\\"urn:2\\"></o:k>',
    ],
    [
      '<o:w xmlns:o="urn:1"><o:v xmlns:o="urn:2"/><m id="a"><o:k/></m></o:w>',
      '<o:k xmlns:o=\\"urn:1\\"></o:k>',
    ],
    ['<w><v><u/></v><m id="a"><k><l/></k>x</m></w>', '<k><l></l></k>x'],
  ] as const)
    t.deepEqual(read(t, '<any href="#a"/>', beside), [`{"any":{"@xml":"${inner}"}}`], beside);
});

test('A30: refuses an element that leads back to itself, and reads a repeated one', (t) => {
  t.deepEqual(read(t, '<node href="#a"/>', '<m id="a"><id>1</id><next href="#a"/></m>'), [
    '{"node":{"id":1}}',
    'InvalidType node.next: expected a value, got a reference to an element around it, "#a"',
  ]);
  t.deepEqual(read(t, '<any href="#a"/><more href="#a"/>', '<m id="a">x</m>'), ['{"any":"x","more":"x"}']);
});

test('A30: follows references as deep as elements may nest, and no deeper', (t) => {
  const chain = (length: number): string =>
    Array.from({ length }, (_, index) => `<m id="a${index}"><next href="#a${index + 1}"/></m>`).join('');
  const limits = { ...defaultLimits, xmlDepth: 5 };
  const at = (length: number) =>
    read(t, '<node href="#a0"/>', `${chain(length)}<m id="a${length}"><id>1</id></m>`, limits);
  t.deepEqual(at(4), ['{"node":{"next":{"next":{"next":{"next":{"id":1}}}}}}']);
  t.deepEqual(at(5), [
    '{"node":{"next":{"next":{"next":{"next":{}}}}}}',
    'OutOfRange node.next.next.next.next.next: expected fewer or shorter references, got too much behind them',
  ]);
});

test('A30: each reference counts as 1 KiB; a shared target counts fully each time', (t) => {
  const problem = 'OutOfRange more: expected fewer or shorter references, got too much behind them';
  const limits = (rereadText: number): Limits => ({ ...defaultLimits, rereadText });
  const two = '<any href="#a"/><more href="#a"/>';
  const late = `<w>${'-'.repeat(3000)}</w>`;
  t.deepEqual(read(t, two, `<w>${late}<m id="a">x</m></w>`, limits(2048)), ['{"any":"x","more":"x"}']);
  t.deepEqual(read(t, two, '<m id="a">x</m>', limits(2047)), ['{"any":"x"}', problem]);
  const long = 'x'.repeat(2000);
  const target = `<m id="a">${long}</m>`;
  const most = 2 * target.length;
  t.deepEqual(read(t, two, target, limits(most)), [`{"any":"${long}","more":"${long}"}`]);
  t.deepEqual(read(t, two, target, limits(most - 1)), [`{"any":"${long}"}`, problem]);
});

test('A30: a reference in content read before counts as 4 KiB, any other as 1 KiB', (t) => {
  const chain = '<m id="a"><next href="#b"/></m><m id="b"><next href="#c"/></m><m id="c"><id>1</id></m>';
  const twice = '<m id="w"><next href="#a"/><also href="#a"/></m>';
  const most = (5 + 2 * 4) * 1024;
  const limits = (rereadText: number): Limits => ({ ...defaultLimits, rereadText });
  const told = '{"next":{"next":{"id":1}}}';
  t.deepEqual(read(t, '<node href="#w"/>', twice + chain, limits(most)), [
    `{"node":{"next":${told},"also":${told}}}`,
  ]);
  t.is(read(t, '<node href="#w"/>', twice + chain, limits(most - 1)).length, 2);
});

test('A30: each element in a referenced element counts as 128 characters more', (t) => {
  const count = 10;
  const inner = '<k>1</k>'.repeat(count);
  const target = `<m id="a">${inner}</m>`;
  // a target of any type is sent as text, which counts too
  const most = target.length + count * 128 + inner.length;
  const limits = (rereadText: number): Limits => ({ ...defaultLimits, rereadText });
  t.deepEqual(read(t, '<any href="#a"/>', target, limits(most)), [`{"any":{"@xml":"${inner}"}}`]);
  t.is(read(t, '<any href="#a"/>', target, limits(most - 1)).length, 2);
  t.deepEqual(read(t, '<node href="#a"/>', target, limits(target.length + count * 128 - 1)), [
    '{}',
    'OutOfRange node: expected fewer or shorter references, got too much behind them',
  ]);
});

test('A30: declarations around a referenced element count again at each reference', (t) => {
  const declaration = ` xmlns:p="${'u'.repeat(1000)}"`;
  const beside = `<p:w${declaration}><m id="a">${'<p:k/>'.repeat(10)}</m></p:w>`;
  const inner = `<p:k${declaration}></p:k>`.repeat(10);
  const readAt = (most: number) =>
    read(t, '<any href="#a"/>', beside, { ...defaultLimits, rereadText: most });
  // the target is counted when it is read, and again as text
  const most = `<m id="a">${inner}</m>`.length + inner.length;
  t.deepEqual(readAt(most), [JSON.stringify({ any: { '@xml': inner } })]);
  t.is(readAt(most - 1).length, 2);
  t.deepEqual(readAt(`<m id="a">${inner}</m>`.length - 1), [
    '{}',
    'OutOfRange any: expected fewer or shorter references, got too much behind them',
  ]);
});

test('A30: one namespace on many elements makes a message at most its source plus the limit long', (t) => {
  const uri = 'u'.repeat(1000);
  const message = (count: number) =>
    read(t, '<any href="#a"/>', `<w xmlns:p="${uri}"><m id="a">1</m>${'<p:k/>'.repeat(count)}</w>`, {
      ...defaultLimits,
      rereadText: 10_000,
    });
  t.deepEqual(message(10), ['{"any":"1"}']);
  t.deepEqual(message(12), [
    '{}',
    'OutOfRange expected fewer or shorter names of namespaces, got too much of them',
  ]);
});

test('A30: rereadText limits the growth of a message by references', (t) => {
  const uri = 'u'.repeat(1000);
  const item = '<p:k/>'.repeat(10);
  const beside = `<w xmlns:p="${uri}"><m id="a">1</m>${item}</w>`;
  const canonical = `<w><m id="a">1</m>${`<p:k xmlns:p="${uri}"></p:k>`.repeat(10)}</w>`;
  const most = canonical.length - beside.length + '></any>'.length - '/>'.length;
  const at = (rereadText: number) => read(t, '<any href="#a"/>', beside, { ...defaultLimits, rereadText });
  t.deepEqual(at(most), ['{"any":"1"}']);
  t.is(at(most - 1).length, 2);
});

test('many references, and their namespace declarations, are resolved in a worker thread', (t) => {
  const doubled = `<m id="a">${'<next href="#b"/>'.repeat(100)}</m><m id="b"><id>1</id></m>`;
  const spread = `<w xmlns:p="${'u'.repeat(1000)}"><m id="a">1</m>${'<p:k/>'.repeat(100)}</w>`;
  for (const beside of [doubled, spread])
    t.throws(() => read(t, '<any href="#a"/><node href="#a"/>', beside, defaultLimits, 20_000), {
      instanceOf: TooManySteps,
    });
  t.notThrows(() => read(t, '<any href="#a"/>', '<m id="a">1</m>', defaultLimits, 20_000));
});
