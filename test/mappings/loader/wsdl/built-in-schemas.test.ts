import test from 'ava';
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';
import { builtInSchemas } from '../../../../mappings/loader/wsdl/built-in-schemas.ts';
import { documentName, writeDocument } from '../../../../wsdl/adopted.ts';
import { definitionsOf, get, load, schemaOf } from './wsdl-folder.ts';

const addressing = 'http://www.w3.org/2005/08/addressing';
const addressing2004 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const signature = 'http://www.w3.org/2000/09/xmldsig#';
const encryption = 'http://www.w3.org/2001/04/xmlenc#';

/** Returns a WSDL whose only schema has this content and imports a namespace from some locations. */
function importing(
  namespace: string,
  locations: readonly string[],
  content = '<xs:element name="Get" type="xs:int"/>',
) {
  const imports = locations.map(
    (location) => `<xs:import namespace="${namespace}" schemaLocation="${location}"/>`,
  );
  const prefix = namespace === 'http://www.w3.org/XML/1998/namespace' ? '' : ` xmlns:n="${namespace}"`;
  return definitionsOf(schemaOf(imports.join('') + content, `targetNamespace="urn:t"${prefix}`), get);
}

const links = {
  addressOf: () => 'http://new.example',
  locationOf: (document: Parameters<typeof documentName>[0]) =>
    `http://new.example/?${documentName(document)}`,
};

for (const namespace of builtInSchemas.keys())
  test(`A2: an import of ${namespace} without a file is served from the code`, (t) => {
    const wsdl = importing(namespace, ['missing', '../common/missing.xsd', 'classpath:missing.xsd']);
    const { service, warnings } = load(t, { 'service.wsdl': wsdl });
    t.deepEqual(warnings, []);
    const [main, copy, more] = service.documents;
    if (main === undefined || copy === undefined) return t.fail();
    t.is(copy.isBuiltIn, true);
    const text = Buffer.from(writeDocument(copy, links)).toString();
    t.true(text.includes(`targetNamespace="${namespace}"`));
    const served = Buffer.from(writeDocument(main, links)).toString();
    t.is(served.match(/schemaLocation="http:\/\/new\.example\/\?xsd=0"/g)?.length, 3);
    t.false(served.includes('missing'));
    // the schema of XML Encryption imports XML Signature
    t.is(more === undefined ? undefined : documentName(more), namespace === encryption ? 'xsd=1' : undefined);
    t.is(text.includes('schemaLocation="http://new.example/?xsd=1"'), namespace === encryption);
    return undefined;
  });

// the location in the schema of XML Encryption
const signatureFile = { 'xmldsig-core-schema.xsd': Buffer.from(builtInSchemas.get(signature) ?? '') };
xmlRegisterInputProvider(new XmlBufferInputProvider(signatureFile));

for (const namespace of builtInSchemas.keys())
  test(`A2: the built-in schema of ${namespace} is valid XML Schema`, (t) => {
    using document = XmlDocument.fromString(builtInSchemas.get(namespace) ?? '');
    t.notThrows(() => XsdValidator.fromDoc(document).dispose());
  });

test('A2: the envelopes of both versions of SOAP are built in', (t) => {
  t.true(builtInSchemas.has('http://schemas.xmlsoap.org/soap/envelope/'));
  t.true(builtInSchemas.has('http://www.w3.org/2003/05/soap-envelope'));
});

for (const [namespace, element] of [
  [addressing, 'EndpointReference'],
  [addressing, 'RelatesTo'],
  [addressing2004, 'EndpointReference'],
  [signature, 'Signature'],
  [encryption, 'EncryptedData'],
  [encryption, 'EncryptedKey'],
] as const)
  for (const location of [`${namespace}/schema.xsd`, 'missing.xsd'])
    test(`A2: an operation uses ${element} of ${namespace}, imported from ${location}`, (t) => {
      const content = `<xs:element name="Get"><xs:complexType><xs:sequence><xs:element ref="n:${element}"/></xs:sequence></xs:complexType></xs:element>`;
      const { service } = load(t, { 'service.wsdl': importing(namespace, [location], content) });
      t.is(service.operations.length, 1);
      const [main, copy] = service.documents;
      if (main === undefined) return t.fail();
      const served = Buffer.from(writeDocument(main, links)).toString();
      // clients can still load a URL of the web, as with the legacy service
      t.is(served.includes(location), location !== 'missing.xsd');
      t.is(copy?.isBuiltIn, location === 'missing.xsd' ? true : undefined);
      return undefined;
    });

test('A2: a file of the folder wins over the built-in schema', (t) => {
  const own = schemaOf('<xs:attribute name="own" type="xs:int"/>', `targetNamespace="${addressing}"`);
  const files = { 'service.wsdl': importing(addressing, ['ws-addr.xsd']), 'ws-addr.xsd': own };
  const [, copy] = load(t, files).service.documents;
  t.is(copy?.isBuiltIn, false);
  t.is(Buffer.from(copy?.bytes ?? []).toString(), own);
});
