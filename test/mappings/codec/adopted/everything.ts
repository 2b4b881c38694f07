import { definitionsOf, get, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, many, maybe } from './messages.ts';

/** A schema that uses every feature. */
export const everything = schemaOf(
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
/** A WSDL whose operation `Get` takes and returns an element of that schema. */
export const everythingWsdl = definitionsOf(everything, get);
