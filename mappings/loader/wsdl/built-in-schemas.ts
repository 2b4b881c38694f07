import { namespaces } from '../../contract/model.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';
import { schema } from './schema-text.ts';
import { w3cSchemas } from './w3c-schemas.ts';

const { soap11Encoding, soap12Encoding, wsdl, soap11, soap12 } = namespaces;
const xop = 'http://www.w3.org/2004/08/xop/include';

/** Simple types of XSD that the SOAP encodings redeclare (SOAP 1.1, 5.2; SOAP 1.2, part 2, 3). */
const encoded =
  'string normalizedString token language Name NCName NMTOKEN NMTOKENS ID IDREF IDREFS ENTITY ENTITIES anyURI QName NOTATION boolean decimal integer nonPositiveInteger negativeInteger nonNegativeInteger positiveInteger byte unsignedByte short unsignedShort int unsignedInt long unsignedLong float double duration dateTime time date gYearMonth gYear gMonthDay gDay gMonth hexBinary base64Binary'.split(
    ' ',
  );

function encoding(namespace: string, more: string): [string, string] {
  const types = encoded
    .map((name) => `<simpleType name="${name}"><restriction base="x:${name}"/></simpleType>`)
    .join('');
  const elements = encoded
    .map((name) => `<element name="${name}" type="e:${name}" nillable="true"/>`)
    .join('');
  const array =
    '<complexType name="Array"><sequence><any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></sequence><anyAttribute/></complexType>';
  const struct = array.replace('Array', 'Struct');
  return schema(
    namespace,
    `${types}${elements}${array}${struct}<element name="Array" type="e:Array"/><element name="Struct" type="e:Struct"/><attributeGroup name="commonAttributes"><anyAttribute/></attributeGroup><attributeGroup name="arrayAttributes"/><attributeGroup name="arrayMemberAttributes"/>${more}`,
  );
}

function mime(namespace: string): [string, string] {
  const binary = (name: string): string =>
    `<complexType name="${name}"><simpleContent><extension base="x:${name}"><attribute ref="e:contentType"/></extension></simpleContent></complexType>`;
  const attributes =
    '<attribute name="contentType" type="x:string"/><attribute name="expectedContentTypes" type="x:string"/>';
  return schema(namespace, `${attributes}${binary('base64Binary')}${binary('hexBinary')}`);
}

/**
 * Schemas that documents often refer to but do not include, by namespace (A2). They contain only the commonly used
 * parts. They cover XML, SOAP encodings and envelopes, xmlmime, xop, swaRef (WS-I), Apache SOAP, WSDL, WS-Addressing,
 * XML Signature and XML Encryption. A schema in the folder takes precedence.
 */
export const builtInSchemas: ReadonlyMap<string, string> = new Map([
  schema(
    xmlNamespace,
    '<attribute name="lang" type="x:language"/><attribute name="space" type="x:NCName"/><attribute name="base" type="x:anyURI"/><attribute name="id" type="x:ID"/><attributeGroup name="specialAttrs"><attribute ref="xml:base"/><attribute ref="xml:lang"/><attribute ref="xml:space"/><attribute ref="xml:id"/></attributeGroup>',
  ),
  encoding(
    soap11Encoding,
    '<simpleType name="base64"><restriction base="x:base64Binary"/></simpleType><attribute name="arrayType" type="x:string"/><attribute name="offset" type="x:string"/><attribute name="root" type="x:boolean"/>',
  ),
  encoding(
    soap12Encoding,
    '<attribute name="itemType" type="x:QName"/><attribute name="arraySize" type="x:string"/><attribute name="nodeType" type="x:string"/>',
  ),
  schema(
    soap11,
    '<attribute name="mustUnderstand" type="x:boolean"/><attribute name="actor" type="x:anyURI"/><attribute name="encodingStyle" type="x:anyURI"/>',
  ),
  schema(
    soap12,
    '<attribute name="mustUnderstand" type="x:boolean"/><attribute name="role" type="x:anyURI"/><attribute name="relay" type="x:boolean"/><attribute name="encodingStyle" type="x:anyURI"/>',
  ),
  mime('http://www.w3.org/2005/05/xmlmime'),
  mime('http://www.w3.org/2004/11/xmlmime'),
  mime('http://www.w3.org/2004/06/xmlmime'),
  schema(
    xop,
    '<element name="Include" type="e:Include"/><complexType name="Include"><attribute name="href" type="x:anyURI" use="required"/></complexType>',
  ),
  schema(
    'http://ws-i.org/profiles/basic/1.1/xsd',
    '<simpleType name="swaRef"><restriction base="x:anyURI"/></simpleType>',
  ),
  // The types are in mappings/contract/apache-types.ts.
  schema(namespaces.apacheSoap, ''),
  schema(wsdl, '<attribute name="arrayType" type="x:string"/><attribute name="required" type="x:boolean"/>'),
  ...w3cSchemas,
]);
