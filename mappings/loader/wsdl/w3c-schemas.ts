import { namespaces } from '../../contract/model.ts';
import { schema } from './schema-text.ts';

// Schemas of WS-Addressing, XML Signature and XML Encryption, which many WSDLs import by URL without including them.

/** WS-Addressing 1.0 Core and SOAP Binding. */
const addressing10 = [
  '<element name="EndpointReference" type="e:EndpointReferenceType"/>',
  '<complexType name="EndpointReferenceType"><sequence><element name="Address" type="e:AttributedURIType"/><element name="ReferenceParameters" type="e:ReferenceParametersType" minOccurs="0"/><element ref="e:Metadata" minOccurs="0"/><any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence><anyAttribute namespace="##other" processContents="lax"/></complexType>',
  '<complexType name="ReferenceParametersType"><sequence><any namespace="##any" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence><anyAttribute namespace="##other" processContents="lax"/></complexType>',
  '<element name="Metadata" type="e:MetadataType"/>',
  '<complexType name="MetadataType"><sequence><any namespace="##any" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence><anyAttribute namespace="##other" processContents="lax"/></complexType>',
  '<element name="MessageID" type="e:AttributedURIType"/>',
  '<element name="RelatesTo" type="e:RelatesToType"/>',
  '<complexType name="RelatesToType"><simpleContent><extension base="x:anyURI"><attribute name="RelationshipType" type="e:RelationshipTypeOpenEnum" default="http://www.w3.org/2005/08/addressing/reply"/><anyAttribute namespace="##other" processContents="lax"/></extension></simpleContent></complexType>',
  '<simpleType name="RelationshipTypeOpenEnum"><union memberTypes="e:RelationshipType x:anyURI"/></simpleType>',
  '<simpleType name="RelationshipType"><restriction base="x:anyURI"><enumeration value="http://www.w3.org/2005/08/addressing/reply"/></restriction></simpleType>',
  '<element name="ReplyTo" type="e:EndpointReferenceType"/>',
  '<element name="From" type="e:EndpointReferenceType"/>',
  '<element name="FaultTo" type="e:EndpointReferenceType"/>',
  '<element name="To" type="e:AttributedURIType"/>',
  '<element name="Action" type="e:AttributedURIType"/>',
  '<complexType name="AttributedURIType"><simpleContent><extension base="x:anyURI"><anyAttribute namespace="##other" processContents="lax"/></extension></simpleContent></complexType>',
  '<attribute name="IsReferenceParameter" type="x:boolean"/>',
  '<simpleType name="FaultCodesOpenEnumType"><union memberTypes="e:FaultCodesType x:QName"/></simpleType>',
  '<simpleType name="FaultCodesType"><restriction base="x:QName"><enumeration value="e:InvalidAddressingHeader"/><enumeration value="e:InvalidAddress"/><enumeration value="e:InvalidEPR"/><enumeration value="e:InvalidCardinality"/><enumeration value="e:MissingAddressInEPR"/><enumeration value="e:DuplicateMessageID"/><enumeration value="e:ActionMismatch"/><enumeration value="e:MessageAddressingHeaderRequired"/><enumeration value="e:DestinationUnreachable"/><enumeration value="e:ActionNotSupported"/><enumeration value="e:EndpointUnavailable"/></restriction></simpleType>',
  '<element name="RetryAfter" type="e:AttributedUnsignedLongType"/>',
  '<complexType name="AttributedUnsignedLongType"><simpleContent><extension base="x:unsignedLong"><anyAttribute namespace="##other" processContents="lax"/></extension></simpleContent></complexType>',
  '<element name="ProblemHeaderQName" type="e:AttributedQNameType"/>',
  '<complexType name="AttributedQNameType"><simpleContent><extension base="x:QName"><anyAttribute namespace="##other" processContents="lax"/></extension></simpleContent></complexType>',
  '<element name="ProblemHeader" type="e:AttributedAnyType"/>',
  '<complexType name="AttributedAnyType"><sequence><any namespace="##any" processContents="lax" minOccurs="1" maxOccurs="1"/></sequence><anyAttribute namespace="##other" processContents="lax"/></complexType>',
  '<element name="ProblemIRI" type="e:AttributedURIType"/>',
  '<element name="ProblemAction" type="e:ProblemActionType"/>',
  '<complexType name="ProblemActionType"><sequence><element ref="e:Action" minOccurs="0"/><element name="SoapAction" minOccurs="0" type="x:anyURI"/></sequence><anyAttribute namespace="##other" processContents="lax"/></complexType>',
].join('');

const any = '<any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>';
const anyAttribute = '<anyAttribute namespace="##other" processContents="lax"/>';

/** WS-Addressing, the member submission of August 2004. */
const addressing2004 = [
  '<element name="EndpointReference" type="e:EndpointReferenceType"/>',
  `<complexType name="EndpointReferenceType"><sequence><element name="Address" type="e:AttributedURI"/><element name="ReferenceProperties" type="e:ReferencePropertiesType" minOccurs="0"/><element name="ReferenceParameters" type="e:ReferenceParametersType" minOccurs="0"/><element name="PortType" type="e:AttributedQName" minOccurs="0"/><element name="ServiceName" type="e:ServiceNameType" minOccurs="0"/>${any}</sequence>${anyAttribute}</complexType>`,
  '<complexType name="ReferencePropertiesType"><sequence><any processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence></complexType>',
  '<complexType name="ReferenceParametersType"><sequence><any processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence></complexType>',
  `<complexType name="ServiceNameType"><simpleContent><extension base="x:QName"><attribute name="PortName" type="x:NCName"/>${anyAttribute}</extension></simpleContent></complexType>`,
  `<complexType name="Relationship"><simpleContent><extension base="x:anyURI"><attribute name="RelationshipType" type="x:QName"/>${anyAttribute}</extension></simpleContent></complexType>`,
  '<simpleType name="RelationshipTypeValues"><restriction base="x:QName"><enumeration value="e:Reply"/></restriction></simpleType>',
  '<element name="MessageID" type="e:AttributedURI"/>',
  '<element name="RelatesTo" type="e:Relationship"/>',
  '<element name="To" type="e:AttributedURI"/>',
  '<element name="Action" type="e:AttributedURI"/>',
  '<element name="From" type="e:EndpointReferenceType"/>',
  '<element name="ReplyTo" type="e:EndpointReferenceType"/>',
  '<element name="FaultTo" type="e:EndpointReferenceType"/>',
  '<attribute name="Action" type="x:anyURI"/>',
  '<simpleType name="FaultSubcodeValues"><restriction base="x:QName"><enumeration value="e:InvalidMessageInformationHeader"/><enumeration value="e:MessageInformationHeaderRequired"/><enumeration value="e:DestinationUnreachable"/><enumeration value="e:ActionNotSupported"/><enumeration value="e:EndpointUnavailable"/></restriction></simpleType>',
  '<element name="ReplyAfter" type="e:ReplyAfterType"/>',
  `<complexType name="ReplyAfterType"><simpleContent><extension base="x:nonNegativeInteger">${anyAttribute}</extension></simpleContent></complexType>`,
  `<complexType name="AttributedQName"><simpleContent><extension base="x:QName">${anyAttribute}</extension></simpleContent></complexType>`,
  `<complexType name="AttributedURI"><simpleContent><extension base="x:anyURI">${anyAttribute}</extension></simpleContent></complexType>`,
].join('');

/** XML Signature Syntax and Processing. */
const signature = [
  '<simpleType name="CryptoBinary"><restriction base="x:base64Binary"/></simpleType>',
  '<element name="Signature" type="e:SignatureType"/>',
  '<complexType name="SignatureType"><sequence><element ref="e:SignedInfo"/><element ref="e:SignatureValue"/><element ref="e:KeyInfo" minOccurs="0"/><element ref="e:Object" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="SignatureValue" type="e:SignatureValueType"/>',
  '<complexType name="SignatureValueType"><simpleContent><extension base="x:base64Binary"><attribute name="Id" type="x:ID"/></extension></simpleContent></complexType>',
  '<element name="SignedInfo" type="e:SignedInfoType"/>',
  '<complexType name="SignedInfoType"><sequence><element ref="e:CanonicalizationMethod"/><element ref="e:SignatureMethod"/><element ref="e:Reference" maxOccurs="unbounded"/></sequence><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="CanonicalizationMethod" type="e:CanonicalizationMethodType"/>',
  '<complexType name="CanonicalizationMethodType" mixed="true"><sequence><any namespace="##any" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<element name="SignatureMethod" type="e:SignatureMethodType"/>',
  '<complexType name="SignatureMethodType" mixed="true"><sequence><element name="HMACOutputLength" type="e:HMACOutputLengthType" minOccurs="0"/><any namespace="##other" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<element name="Reference" type="e:ReferenceType"/>',
  '<complexType name="ReferenceType"><sequence><element ref="e:Transforms" minOccurs="0"/><element ref="e:DigestMethod"/><element ref="e:DigestValue"/></sequence><attribute name="Id" type="x:ID"/><attribute name="URI" type="x:anyURI"/><attribute name="Type" type="x:anyURI"/></complexType>',
  '<element name="Transforms" type="e:TransformsType"/>',
  '<complexType name="TransformsType"><sequence><element ref="e:Transform" maxOccurs="unbounded"/></sequence></complexType>',
  '<element name="Transform" type="e:TransformType"/>',
  '<complexType name="TransformType" mixed="true"><choice minOccurs="0" maxOccurs="unbounded"><any namespace="##other" processContents="lax"/><element name="XPath" type="x:string"/></choice><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<element name="DigestMethod" type="e:DigestMethodType"/>',
  '<complexType name="DigestMethodType" mixed="true"><sequence><any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<element name="DigestValue" type="e:DigestValueType"/>',
  '<simpleType name="DigestValueType"><restriction base="x:base64Binary"/></simpleType>',
  '<element name="KeyInfo" type="e:KeyInfoType"/>',
  '<complexType name="KeyInfoType" mixed="true"><choice maxOccurs="unbounded"><element ref="e:KeyName"/><element ref="e:KeyValue"/><element ref="e:RetrievalMethod"/><element ref="e:X509Data"/><element ref="e:PGPData"/><element ref="e:SPKIData"/><element ref="e:MgmtData"/><any namespace="##other" processContents="lax"/></choice><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="KeyName" type="x:string"/>',
  '<element name="MgmtData" type="x:string"/>',
  '<element name="KeyValue" type="e:KeyValueType"/>',
  '<complexType name="KeyValueType" mixed="true"><choice><element ref="e:DSAKeyValue"/><element ref="e:RSAKeyValue"/><any namespace="##other" processContents="lax"/></choice></complexType>',
  '<element name="RetrievalMethod" type="e:RetrievalMethodType"/>',
  '<complexType name="RetrievalMethodType"><sequence><element ref="e:Transforms" minOccurs="0"/></sequence><attribute name="URI" type="x:anyURI"/><attribute name="Type" type="x:anyURI"/></complexType>',
  '<element name="X509Data" type="e:X509DataType"/>',
  '<complexType name="X509DataType"><sequence maxOccurs="unbounded"><choice><element name="X509IssuerSerial" type="e:X509IssuerSerialType"/><element name="X509SKI" type="x:base64Binary"/><element name="X509SubjectName" type="x:string"/><element name="X509Certificate" type="x:base64Binary"/><element name="X509CRL" type="x:base64Binary"/><any namespace="##other" processContents="lax"/></choice></sequence></complexType>',
  '<complexType name="X509IssuerSerialType"><sequence><element name="X509IssuerName" type="x:string"/><element name="X509SerialNumber" type="x:integer"/></sequence></complexType>',
  '<element name="PGPData" type="e:PGPDataType"/>',
  '<complexType name="PGPDataType"><choice><sequence><element name="PGPKeyID" type="x:base64Binary"/><element name="PGPKeyPacket" type="x:base64Binary" minOccurs="0"/><any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence><sequence><element name="PGPKeyPacket" type="x:base64Binary"/><any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/></sequence></choice></complexType>',
  '<element name="SPKIData" type="e:SPKIDataType"/>',
  '<complexType name="SPKIDataType"><sequence maxOccurs="unbounded"><element name="SPKISexp" type="x:base64Binary"/><any namespace="##other" processContents="lax" minOccurs="0"/></sequence></complexType>',
  '<element name="Object" type="e:ObjectType"/>',
  '<complexType name="ObjectType" mixed="true"><sequence minOccurs="0" maxOccurs="unbounded"><any namespace="##any" processContents="lax"/></sequence><attribute name="Id" type="x:ID"/><attribute name="MimeType" type="x:string"/><attribute name="Encoding" type="x:anyURI"/></complexType>',
  '<element name="Manifest" type="e:ManifestType"/>',
  '<complexType name="ManifestType"><sequence><element ref="e:Reference" maxOccurs="unbounded"/></sequence><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="SignatureProperties" type="e:SignaturePropertiesType"/>',
  '<complexType name="SignaturePropertiesType"><sequence><element ref="e:SignatureProperty" maxOccurs="unbounded"/></sequence><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="SignatureProperty" type="e:SignaturePropertyType"/>',
  '<complexType name="SignaturePropertyType" mixed="true"><choice maxOccurs="unbounded"><any namespace="##other" processContents="lax"/></choice><attribute name="Target" type="x:anyURI" use="required"/><attribute name="Id" type="x:ID"/></complexType>',
  '<simpleType name="HMACOutputLengthType"><restriction base="x:integer"/></simpleType>',
  '<element name="DSAKeyValue" type="e:DSAKeyValueType"/>',
  '<complexType name="DSAKeyValueType"><sequence><sequence minOccurs="0"><element name="P" type="e:CryptoBinary"/><element name="Q" type="e:CryptoBinary"/></sequence><element name="G" type="e:CryptoBinary" minOccurs="0"/><element name="Y" type="e:CryptoBinary"/><element name="J" type="e:CryptoBinary" minOccurs="0"/><sequence minOccurs="0"><element name="Seed" type="e:CryptoBinary"/><element name="PgenCounter" type="e:CryptoBinary"/></sequence></sequence></complexType>',
  '<element name="RSAKeyValue" type="e:RSAKeyValueType"/>',
  '<complexType name="RSAKeyValueType"><sequence><element name="Modulus" type="e:CryptoBinary"/><element name="Exponent" type="e:CryptoBinary"/></sequence></complexType>',
].join('');

/** XML Encryption Syntax and Processing. */
const encryption = [
  '<complexType name="EncryptedType" abstract="true"><sequence><element name="EncryptionMethod" type="e:EncryptionMethodType" minOccurs="0"/><element ref="d:KeyInfo" minOccurs="0"/><element ref="e:CipherData"/><element ref="e:EncryptionProperties" minOccurs="0"/></sequence><attribute name="Id" type="x:ID"/><attribute name="Type" type="x:anyURI"/><attribute name="MimeType" type="x:string"/><attribute name="Encoding" type="x:anyURI"/></complexType>',
  '<complexType name="EncryptionMethodType" mixed="true"><sequence><element name="KeySize" type="e:KeySizeType" minOccurs="0"/><element name="OAEPparams" type="x:base64Binary" minOccurs="0"/><any namespace="##other" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<simpleType name="KeySizeType"><restriction base="x:integer"/></simpleType>',
  '<element name="CipherData" type="e:CipherDataType"/>',
  '<complexType name="CipherDataType"><choice><element name="CipherValue" type="x:base64Binary"/><element ref="e:CipherReference"/></choice></complexType>',
  '<element name="CipherReference" type="e:CipherReferenceType"/>',
  '<complexType name="CipherReferenceType"><choice><element name="Transforms" type="e:TransformsType" minOccurs="0"/></choice><attribute name="URI" type="x:anyURI" use="required"/></complexType>',
  '<complexType name="TransformsType"><sequence><element ref="d:Transform" maxOccurs="unbounded"/></sequence></complexType>',
  '<element name="EncryptedData" type="e:EncryptedDataType"/>',
  '<complexType name="EncryptedDataType"><complexContent><extension base="e:EncryptedType"/></complexContent></complexType>',
  '<element name="EncryptedKey" type="e:EncryptedKeyType"/>',
  '<complexType name="EncryptedKeyType"><complexContent><extension base="e:EncryptedType"><sequence><element ref="e:ReferenceList" minOccurs="0"/><element name="CarriedKeyName" type="x:string" minOccurs="0"/></sequence><attribute name="Recipient" type="x:string"/></extension></complexContent></complexType>',
  '<element name="AgreementMethod" type="e:AgreementMethodType"/>',
  '<complexType name="AgreementMethodType" mixed="true"><sequence><element name="KA-Nonce" type="x:base64Binary" minOccurs="0"/><any namespace="##other" minOccurs="0" maxOccurs="unbounded"/><element name="OriginatorKeyInfo" type="d:KeyInfoType" minOccurs="0"/><element name="RecipientKeyInfo" type="d:KeyInfoType" minOccurs="0"/></sequence><attribute name="Algorithm" type="x:anyURI" use="required"/></complexType>',
  '<element name="ReferenceList"><complexType><choice minOccurs="1" maxOccurs="unbounded"><element name="DataReference" type="e:ReferenceType"/><element name="KeyReference" type="e:ReferenceType"/></choice></complexType></element>',
  '<complexType name="ReferenceType"><sequence><any namespace="##other" minOccurs="0" maxOccurs="unbounded"/></sequence><attribute name="URI" type="x:anyURI" use="required"/></complexType>',
  '<element name="EncryptionProperties" type="e:EncryptionPropertiesType"/>',
  '<complexType name="EncryptionPropertiesType"><sequence><element ref="e:EncryptionProperty" maxOccurs="unbounded"/></sequence><attribute name="Id" type="x:ID"/></complexType>',
  '<element name="EncryptionProperty" type="e:EncryptionPropertyType"/>',
  '<complexType name="EncryptionPropertyType" mixed="true"><choice maxOccurs="unbounded"><any namespace="##other" processContents="lax"/></choice><attribute name="Target" type="x:anyURI"/><attribute name="Id" type="x:ID"/><anyAttribute namespace="http://www.w3.org/XML/1998/namespace"/></complexType>',
  '<element name="DHKeyValue" type="e:DHKeyValueType"/>',
  '<complexType name="DHKeyValueType"><sequence><sequence minOccurs="0"><element name="P" type="d:CryptoBinary"/><element name="Q" type="d:CryptoBinary"/><element name="Generator" type="d:CryptoBinary"/></sequence><element name="Public" type="d:CryptoBinary"/><sequence minOccurs="0"><element name="seed" type="d:CryptoBinary"/><element name="pgenCounter" type="d:CryptoBinary"/></sequence></sequence></complexType>',
].join('');

const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';
const qualified = ' elementFormDefault="qualified"';

/** Each schema by its namespace. */
export const w3cSchemas: readonly (readonly [namespace: string, text: string])[] = [
  schema(namespaces.addressing10, addressing10, qualified),
  schema(namespaces.addressing2004, addressing2004, qualified),
  schema(signatureNamespace, signature, qualified),
  schema(
    'http://www.w3.org/2001/04/xmlenc#',
    `<import namespace="${signatureNamespace}" schemaLocation="xmldsig-core-schema.xsd"/>${encryption}`,
    `${qualified} xmlns:d="${signatureNamespace}"`,
  ),
];
