import test from 'ava';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { fc } from '../../../property.ts';
import { findInvalid } from '../../../wsdl/libxml2.ts';
import { get as binding, definitionsOf, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, many, maybe, operationOf, readMessage } from './messages.ts';
import { comparable, picker, randomBody } from './random-messages.ts';

/** A schema with some of everything. */
const schema = schemaOf(
  `<xs:element name="Get"><xs:complexType><xs:sequence>${e('pet', 't:Animal', many)}${e('ids', 't:Ids', maybe)}${e('items', 't:Items', maybe)}${e('price', 't:Price', 'nillable="true"')}` +
    `<xs:choice minOccurs="0">${e('a')}<xs:sequence>${e('b', 'xs:int')}${e('c', 'xs:boolean', maybe)}</xs:sequence></xs:choice>` +
    `<xs:sequence minOccurs="0" maxOccurs="unbounded">${e('k')}${e('v', 'xs:decimal', many)}</xs:sequence>` +
    `<xs:element ref="t:Path" ${many}/><xs:any namespace="##other" processContents="skip" ${many}/></xs:sequence><xs:attribute name="id" type="xs:long" use="required"/><xs:attribute name="note" type="xs:string"/></xs:complexType></xs:element>` +
    `<xs:complexType name="Animal"><xs:sequence>${e('Name', 'xs:string', 'nillable="true"')}${e('Young', 't:Animal', many)}</xs:sequence></xs:complexType>` +
    `<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Animal"><xs:sequence>${e('Born', 'xs:date', maybe)}</xs:sequence><xs:attribute name="tag" type="t:Tags"/></xs:extension></xs:complexContent></xs:complexType>` +
    `<xs:simpleType name="Tags"><xs:list itemType="xs:NMTOKEN"/></xs:simpleType>` +
    `<xs:complexType name="Ids"><xs:sequence>${e('id', 'xs:int', many)}</xs:sequence></xs:complexType>` +
    `<xs:complexType name="Items"><xs:choice ${many}>${e('x', 'xs:hexBinary')}${e('y', 't:Color')}</xs:choice></xs:complexType>` +
    '<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="blue"/></xs:restriction></xs:simpleType>' +
    '<xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:token"/></xs:extension></xs:simpleContent></xs:complexType>' +
    `${e('Path', 'xs:string', 'abstract="true"')}${e('Field', 'xs:string', 'substitutionGroup="t:Path"')}${e('Index', 'xs:string', 'substitutionGroup="t:Path"')}`,
);
const wsdl = definitionsOf(schema, binding);

test('A10 to A28: any message goes from XML to JSON and back, and is valid then', (t) => {
  const { request, operation } = operationOf(t, wsdl, 'Get');
  using document = XmlDocument.fromString(schema);
  const validator = XsdValidator.fromDoc(document);
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const text = randomBody(operation.input.body, picker(seed)) ?? '';
      const read = readMessage(request, text);
      t.deepEqual([read.problems, read.missing], [[], []], text);
      const back = request.write(Buffer.from(read.json)).xml.toString();
      t.is(comparable(back), comparable(text));
      t.is(findInvalid(validator, back), undefined, back);
      t.is(readMessage(request, back).json, read.json);
    }),
    { numRuns: 150 },
  );
});

test('W10: a mutilated message is read, refused or no XML; nothing else is thrown', (t) => {
  const { request, operation } = operationOf(t, wsdl, 'Get');
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.nat(), (seed, at, length) => {
      const text = randomBody(operation.input.body, picker(seed)) ?? '';
      const from = at % text.length;
      const cut = text.slice(0, from) + text.slice(from + 1 + (length % 12));
      try {
        JSON.parse(readMessage(request, cut).json);
      } catch (error) {
        if (!(error instanceof XmlError)) throw error;
      }
    }),
    { numRuns: 400 },
  );
  t.pass();
});
