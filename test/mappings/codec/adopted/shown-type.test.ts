import test from 'ava';
import { shownTypeOf } from '../../../../mappings/codec/adopted/shown-type.ts';
import { compileRedact } from '../../../../mappings/codec/redact.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { definitionsOf, get as document, schemaOf, serviceOf } from '../../loader/wsdl/wsdl-folder.ts';
import { screening } from '../contracts.ts';
import { element as e, many, maybe, sequence } from './messages.ts';

/** Names of an adopted service's messages that a log may contain. */

const own = [
  '@code',
  '@actor',
  '@fault',
  '@headers',
  '@items',
  '@message',
  '@nil',
  '@type',
  '@value',
  'value',
];

const schema = schemaOf(
  `<xs:element name="Get">${sequence(
    e('pet', 't:Animal', maybe) +
      '<xs:element name="place" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="street" type="xs:string"/></xs:sequence><xs:attribute name="country" type="xs:string"/></xs:complexType></xs:element>' +
      `<xs:sequence minOccurs="0" maxOccurs="unbounded">${e('key')}${e('note', 'xs:string', maybe)}<xs:sequence ${many}>${e('deep')}${e('deeper')}</xs:sequence></xs:sequence>` +
      `<xs:element ref="t:Path" ${maybe}/><xs:any namespace="##other" ${many}/>`,
    '<xs:attribute name="id" type="xs:long"/><xs:attribute name="pet" type="xs:string"/>',
  )}</xs:element>` +
    `<xs:element name="Path" type="xs:string"/><xs:element name="Field" substitutionGroup="t:Path" type="xs:string"/>` +
    `<xs:complexType name="Animal"><xs:sequence>${e('name')}${e('young', 't:Animal', many)}</xs:sequence></xs:complexType>` +
    `<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Animal"><xs:sequence>${e('barks', 'xs:boolean')}</xs:sequence></xs:extension></xs:complexContent></xs:complexType>` +
    '<xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>' +
    '<xs:simpleType name="Color"><xs:restriction base="xs:string"/></xs:simpleType>' +
    `<xs:element name="Session">${sequence(e('token', 'xs:string'))}</xs:element>` +
    `<xs:element name="NoOrder">${sequence(e('order', 'xs:int', maybe))}</xs:element>`,
);

const wsdl = definitionsOf(
  schema,
  `<w:message name="h"><w:part name="s" element="t:Session"/></w:message><w:message name="f"><w:part name="f" element="t:NoOrder"/></w:message>${document
    .replace('<w:input><soap:body', '<w:input><soap:header message="t:h" part="s" use="literal"/><soap:body')
    .replace(
      '<w:output message="t:out"/>',
      '<w:output message="t:out"/><w:fault name="NoOrder" message="t:f"/>',
    )
    .replace(
      '</w:output></w:operation></w:binding>',
      '</w:output><w:fault name="NoOrder"><soap:fault name="NoOrder" use="literal"/></w:fault></w:operation></w:binding>',
    )}`,
);

const body = '<soap:body use="literal" namespace="urn:t"/>';
const rpc = definitionsOf(
  schemaOf(`<xs:complexType name="Order"><xs:sequence>${e('id')}</xs:sequence></xs:complexType>`),
  '<w:message name="in"><w:part name="order" type="t:Order"/></w:message><w:message name="out"><w:part name="done" type="xs:boolean"/></w:message>' +
    '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:out"/></w:operation><w:operation name="Tell"><w:input message="t:in"/></w:operation></w:portType>' +
    `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation><w:operation name="Tell"><soap:operation soapAction=""/><w:input>${body}</w:input></w:operation></w:binding>` +
    '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
);

test('a log may show known members of an imported service: elements, attributes, blocks', (t) => {
  const namesOf = (text: string): readonly string[] =>
    shownTypeOf(serviceOf(t, text))
      .fields.map(({ json }) => json)
      .toSorted();
  t.deepEqual(
    namesOf(wsdl),
    [
      ...own,
      ...['@pet', 'Field', 'Path', 'Session', 'barks', 'country', 'currency', 'deep', 'deeper', 'id'],
      ...['key', 'name', 'note', 'order', 'pet', 'place', 'street', 'token', 'young'],
    ].toSorted(),
  );
  t.deepEqual(namesOf(rpc), [...own, 'done', 'id', 'order'].toSorted());
});

test('a log shows texts, numbers, booleans, objects and lists of these, and no open content', (t) => {
  const redact = compileRedact({ ...screening, personal: [], credentials: undefined }, defaultLimits);
  const type = shownTypeOf(serviceOf(t, wsdl));
  const shown = (json: string): string => redact(json, type, (text) => text);
  const json =
    '{"@type":"Dog","pet":{"name":"x","barks":true,"value":1.50},"place":[{"street":null},["a",7]],"id":9007199254740993}';
  t.is(shown(json), json);
  t.is(
    shown('{"@any":["<secret/>"],"pet":{"@xml":"<secret/>","other":1,"name":"x"}}'),
    '{"pet":{"name":"x","***":2},"***":1}',
  );
});
