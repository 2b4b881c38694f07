import { namespaces } from '../../contract/model.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';

const { xsd } = namespaces;

/**
 * Returns the namespace and the text of a schema. In the content, prefix `x` is XML Schema and `e` the schema's
 * namespace.
 *
 * @param attributes more attributes of the schema element, each after a space
 */
export function schema(namespace: string, content: string, attributes = ''): [string, string] {
  // XML 1.0 reserves a prefix for the XML namespace and forbids any other prefix for it.
  const own = namespace === xmlNamespace ? '' : ` xmlns:e="${namespace}"`;
  const start = `<schema xmlns="${xsd}" xmlns:x="${xsd}"${own} targetNamespace="${namespace}"${attributes}>`;
  return [namespace, `${start}${content}</schema>`];
}
