import test, { type ExecutionContext } from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { compileRedaction } from '../../../mappings/redact/message.ts';
import { contractFolder } from '../../migration/scenario.ts';
import { envelope } from '../compare/replies.ts';
import { definitionsOf, folderOf, schemaOf } from '../loader/wsdl/wsdl-folder.ts';

const key = Buffer.from('0123456789abcdef');
const { contract: orders } = readContract(contractFolder('contracts/orders'));

const types = schemaOf(
  '<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="Red"/></xs:restriction></xs:simpleType>' +
    '<xs:complexType name="Person"><xs:sequence><xs:element name="Name" type="xs:string"/><xs:element name="Nick" type="xs:string"/><xs:element name="Vip" type="xs:boolean"/><xs:element name="Color" type="t:Color"/><xs:element name="Friend" type="t:Person"/></xs:sequence></xs:complexType>' +
    '<xs:complexType name="Pets"><xs:sequence><xs:element name="Nick" type="xs:string"/></xs:sequence></xs:complexType>',
  'targetNamespace="urn:t"',
);

/** Returns the contract of an rpc operation `Get` whose part `in` has a type. */
function rpc(t: ExecutionContext, type: string, personal: readonly string[], use = 'encoded'): Contract {
  const body = `<soap:body use="${use}" namespace="urn:t"/>`;
  const wsdl = definitionsOf(
    types,
    `<w:message name="in"><w:part name="in" type="${type}" xmlns:apache="http://xml.apache.org/xml-soap"/></w:message>` +
      '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:in"/></w:operation></w:portType>' +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
  const { contract } = readContract(folderOf(t, { 'A.wsdl': wsdl }));
  return { ...contract, personal };
}

/** Returns the redaction of an exchange of one operation. */
function exchange(contract: Contract, name: string, hide = (text: string) => text) {
  const operation = contract.operations.find((one) => one.name === name);
  if (operation === undefined) throw new RangeError(name);
  return compileRedaction(contract, '/t', 'pseudonyms', key, defaultLimits)(operation, hide, () => {});
}

const prefixes =
  'xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema"';

function get(contract: Contract, part: string, rest = ''): string {
  const message = envelope(`<t:Get ${prefixes}>${part}</t:Get>${rest}`);
  const shown = exchange(contract, 'Get').soap('input', Buffer.from(message), 'text/xml');
  if (shown === undefined) throw new RangeError('expected a readable message');
  return shown.toString();
}

const pair = (name: string, value: string): string =>
  `<item><key xsi:type="xs:string">${name}</key><value xsi:type="xs:string">${value}</value></item>`;

test('G57: a value of a map is personal by its decoded key', (t) => {
  const contract = rpc(t, 'apache:Map', ['in.Name']);
  for (const name of ['Name', ' Name ', '&#78;ame', 'N<!-- -->ame', '<![CDATA[Name]]>'])
    t.false(get(contract, `<in>${pair(name, 'Ann Lee')}</in>`).includes('Ann'), name);
  t.true(get(contract, `<in>${pair('Color', 'Red')}</in>`).includes('>Red<'));
});

test('G57: a value of a map without a plain key before it is hidden', (t) => {
  const contract = rpc(t, 'apache:Map', ['in.Name']);
  const value = '<value xsi:type="xs:string">Ann Lee</value>';
  for (const content of [
    value,
    `${value}<key>Name</key>`,
    `<key/>${value}`,
    `<key><a>Name</a></key>${value}`,
  ])
    t.true(get(contract, `<in><item>${content}</item></in>`).includes('>***</value>'), content);
});

test('G57: booleans and enumerations stay only with their values', (t) => {
  const contract = rpc(t, 't:Person', ['in.Vip', 'in.Color']);
  const kept = '<in><Vip>true</Vip><Color>Red</Color></in>';
  t.true(get(contract, kept).includes(kept));
  t.false(get(contract, '<in><Vip>Ann</Vip><Color>Lee</Color></in>').match(/Ann|Lee/) !== null);
});

test('G57: xsi:type changes the type only to a derived one', (t) => {
  const contract = rpc(t, 't:Person', ['in.Name']);
  for (const stated of ['xs:boolean', 't:Color', 't:Pets']) {
    t.false(get(contract, `<in><Name xsi:type="${stated}">Ann Lee</Name></in>`).includes('Ann'), stated);
    const nick = get(contract, `<in><Name xsi:type="${stated}"><Nick>Ann Lee</Nick></Name></in>`);
    t.false(nick.includes('Ann'), stated);
  }
});

test('G57: a target of references is redacted like the element that refers to it', (t) => {
  const contract = rpc(t, 't:Person', ['in.Name', 'Friend.Nick']);
  const refs = (id: string, content: string, type = 'xs:string') =>
    `<multiRef ${prefixes} id="${id}" xsi:type="${type}">${content}</multiRef>`;
  const shown = get(
    contract,
    '<in href="#p"/>',
    refs('p', '<Name href="#n"/><Nick href="#k"/><Friend href="#f"/>', 't:Person') +
      refs('n', 'Ann Lee') +
      refs('k', 'Bee') +
      refs('f', '<Nick>Cid Dee</Nick><Friend href="#f"/>', 't:Person') +
      refs('u', 'Eve'),
  );
  t.false(/Ann|Cid|Eve/.test(shown), shown);
  t.true(shown.includes('>Bee<'), shown);
  t.true(shown.includes('href="#f"'));
});

test('G57: a target before its references, and one with several, has the strictest level', (t) => {
  const contract = rpc(t, 't:Person', ['in.Name']);
  const shown = get(
    contract,
    '<in><Nick id="n">Ann Lee</Nick><Nick href="#m"/><Name href="#n"/><Name href="#m"/></in>',
    `<multiRef ${prefixes} id="m" xsi:type="xs:string">Bo Dee</multiRef>`,
  );
  t.false(/Ann Lee|Bo Dee/.test(shown), shown);
});

test('G57: id and href of undeclared elements stay only with the encoding of SOAP', (t) => {
  const undeclared = '<x id="Ann" href="#Lee" other="Bo"/>';
  const at = (use: string) => get(rpc(t, 't:Person', [], use), `<in>${undeclared}</in>`);
  t.true(at('encoded').includes('<x id="Ann" href="#Lee" other="***"/>'));
  t.true(at('literal').includes('<x id="***" href="***" other="***"/>'));
  t.false(get(rpc(t, 't:Person', []), '<in><x href="cid:Ann"/></in>').includes('Ann'));
});

test('G57: hides comments before and after the root, and those that begin with >', (t) => {
  const inner = envelope('<!-->Ann--><GetOrder xmlns="http://orders.example/"/>');
  const shown = exchange(orders, 'GetOrder')
    .soap('input', Buffer.from(`<!-- Ann -->\n${inner}<!--Ann-->`), 'text/xml')
    ?.toString();
  t.is(shown, `<!--***-->\n${inner.replace('>Ann', '***')}<!--***-->`);
});

test('G57: members of the gateway in JSON stay only with its values', (t) => {
  const json = (text: string) => exchange(orders, 'GetOrder').json('output', Buffer.from(text))?.toString();
  t.is(json('{"@fault":"OrderNotFound"}'), '{"@fault":"OrderNotFound"}');
  t.is(json('{"@fault":"Ann"}'), '{"@fault":"***"}');
  t.is(json('{"GetOrderResult":{"@fault":"OrderNotFound"}}'), '{"GetOrderResult":{"@fault":"***"}}');
  t.is(json('{"GetOrderResult":{"@nil":true}}'), '{"GetOrderResult":{"@nil":true}}');
  t.is(json('{"GetOrderResult":{"@nil":"Ann"}}'), '{"GetOrderResult":{"@nil":"***"}}');
  t.is(json('{"GetOrderResult":{"@nil":{"a":"Ann"}}}'), '{"GetOrderResult":{"@nil":{"a":"***"}}}');
  const customer = (type: string) => `{"GetOrderResult":{"Customer":{"@type":${type}}}}`;
  t.is(json(customer('"BusinessCustomer"')), customer('"BusinessCustomer"'));
  for (const type of ['"Ann"', '["Ann"]']) t.false(json(customer(type))?.includes('Ann'), type);
});

test('G57: a fault reason repeats no personal value of its detail, the longest first', (t) => {
  const own = { ...orders, personal: ['hint'] };
  const fault = envelope(
    '<s:Fault><faultcode>s:Client</faultcode><faultstring>Ann Lee of Anna</faultstring><x>Bo</x><detail><o:OrderNotFound xmlns:o="http://orders.example/"><o:hint>Anna</o:hint><o:hint>Ann Lee</o:hint><o:hint>Ann Lee of</o:hint></o:OrderNotFound></detail></s:Fault>',
  );
  const redaction = exchange(own, 'GetOrder');
  const shown = redaction.soap('output', Buffer.from(fault), 'text/xml')?.toString() ?? 'none';
  t.regex(shown, /<faultstring>p-[\w-]{16} p-[\w-]{16}<\/faultstring><x>\*\*\*<\/x>/);
});

const packageType = 'multipart/related; type="application/xop+xml"; boundary="a--b"';

/** Returns a redacted package with one part. */
function packaged(contract: Contract, name: string, body: string): string {
  const message = [
    'Dear Ann\r\n--a--b\r\nContent-Type: application/xop+xml; type="text/xml"\r\nContent-ID: <r>\r\n',
    `${body}\r\n--a--b\r\nContent-Type: image/png\r\nContent-ID: <p>\r\n`,
    'Lee\r\n--a--b--\r\nAnn',
  ].join('\r\n');
  return exchange(contract, name).soap('input', Buffer.from(message), packageType)?.toString() ?? 'Lee';
}

test('G57: a package keeps its boundary, and only parts of declared elements', (t) => {
  const binary = (personal: readonly string[], content: string) =>
    packaged(
      rpc(t, 'xs:base64Binary', personal, 'literal'),
      'Get',
      envelope(`<t:Get ${prefixes}>${content}</t:Get>`),
    );
  const include = '<xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:p"/>';
  const kept = binary([], `<in>${include}</in>`);
  t.true(kept.startsWith('--a--b\r\n'));
  t.true(kept.endsWith('\r\n\r\nLee\r\n--a--b--\r\n'), kept);
  t.true(kept.includes(include));
  t.false(binary(['in'], `<in>${include}</in>`).includes('Lee'));
  t.false(binary([], `<in>${include}</in><x>${include}</x>`).includes('Lee'));
  t.false(binary([], `<x>${include}</x><in>${include}</in>`).includes('Lee'));
});
