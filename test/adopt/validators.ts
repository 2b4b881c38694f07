import {
  XmlBufferInputProvider,
  XmlDocument,
  XmlElement,
  XsdValidator,
  xmlCleanupInputProvider,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import type { AdoptedDocument, AdoptedService } from '../../mappings/contract/adopted.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { documentName, writeDocument } from '../../wsdl/adopted.ts';

const base = 'http://service.example/';
const xs = namespaces.xsd;

const nameOf = (document: AdoptedDocument): string => `${base}${documentName(document)}.xsd`;
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Returns imports of namespaces, each with its location. */
function importsOf(places: readonly (readonly [namespace: string, place: string])[]): string {
  return places
    .map(
      ([namespace, place]) =>
        `<i:import xmlns:i="${xs}" namespace="${escaped(namespace)}" schemaLocation="${place}"/>`,
    )
    .join('');
}

/** Schemas for namespaces that no document of the service defines. */
const builtIn: Readonly<Record<string, string>> = {
  'http://www.w3.org/XML/1998/namespace': `<xs:schema xmlns:xs="${xs}" targetNamespace="http://www.w3.org/XML/1998/namespace"><xs:attribute name="lang" type="xs:language"/><xs:attribute name="space" type="xs:NCName"/><xs:attribute name="base" type="xs:anyURI"/><xs:attribute name="id" type="xs:ID"/></xs:schema>`,
  'http://www.w3.org/2005/05/xmlmime': `<xs:schema xmlns:xs="${xs}" xmlns:m="http://www.w3.org/2005/05/xmlmime" targetNamespace="http://www.w3.org/2005/05/xmlmime"><xs:attribute name="contentType" type="xs:string"/><xs:attribute name="expectedContentTypes" type="xs:string"/><xs:complexType name="base64Binary"><xs:simpleContent><xs:extension base="xs:base64Binary"><xs:attribute ref="m:contentType"/></xs:extension></xs:simpleContent></xs:complexType></xs:schema>`,
};

/**
 * Calls a function with the schemas of a service, compiled by libxml2. libxml2 reads a namespace from one location
 * only, so each namespace becomes one schema that includes all documents. Throws libxml2's errors.
 */
export function withValidator<T>(service: AdoptedService, use: (validator: XsdValidator) => T): T {
  const files = new Map<string, string>();
  const byNamespace = new Map<string, string[]>();
  const trees: XmlDocument[] = [];
  const schemas: (readonly [name: string, schema: XmlElement])[] = [];
  try {
    for (const document of service.documents) {
      const links = { addressOf: () => base, locationOf: nameOf };
      const tree = XmlDocument.fromBuffer(writeDocument(document, links));
      trees.push(tree);
      const found = tree.find('//x:schema', { x: xs }).filter((node) => node instanceof XmlElement);
      for (const [index, schema] of found.entries())
        schemas.push([document.kind === 'xsd' ? nameOf(document) : `${nameOf(document)}.${index}`, schema]);
    }
    for (const [name, schema] of schemas) {
      const namespace = schema.attr('targetNamespace')?.value;
      if (namespace !== undefined) byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), name]);
    }
    const places = new Map(
      [...byNamespace.keys()].map((namespace, index) => [namespace, `${base}all${index}.xsd`]),
    );
    for (const [index, [namespace, text]] of Object.entries(builtIn).entries()) {
      if (places.has(namespace)) continue;
      const place = `${base}built-in${index}.xsd`;
      places.set(namespace, place);
      files.set(place, text);
    }
    for (const [name, schema] of schemas) {
      const known = new Set([schema.attr('targetNamespace')?.value ?? '']);
      for (const node of schema.find('x:import', { x: xs })) {
        if (!(node instanceof XmlElement)) continue;
        known.add(node.attr('namespace')?.value ?? '');
        const place = places.get(node.attr('namespace')?.value ?? '');
        if (place === undefined) continue;
        const location = node.attr('schemaLocation');
        if (location === null) node.setAttr('schemaLocation', place);
        else location.value = place;
      }
      // namespaces that a schema uses without importing them (A3)
      const lacking = [...places].filter(([namespace]) => !known.has(namespace));
      files.set(
        name,
        schema.canonicalizeToString().replace(/^<[^>]*>/, (start) => start + importsOf(lacking)),
      );
    }
    for (const [namespace, names] of byNamespace) {
      const includes = names.map((name) => `<xs:include schemaLocation="${escaped(name)}"/>`).join('');
      const place = places.get(namespace) ?? '';
      files.set(
        place,
        `<xs:schema xmlns:xs="${xs}" targetNamespace="${escaped(namespace)}">${includes}</xs:schema>`,
      );
    }
    const all = [...places].filter(([namespace]) => byNamespace.has(namespace));
    const buffers = [...files].map(([name, text]) => [name, Buffer.from(text)] as const);
    xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(buffers)));
    using root = XmlDocument.fromString(`<xs:schema xmlns:xs="${xs}">${importsOf(all)}</xs:schema>`);
    using validator = XsdValidator.fromDoc(root);
    return use(validator);
  } finally {
    xmlCleanupInputProvider();
    for (const tree of trees) tree.dispose();
  }
}
