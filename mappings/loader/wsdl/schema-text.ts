import { namespaces } from '../../contract/model.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';

const { xsd } = namespaces;

/**
 * A schema as its namespace and its text. In the content, `x` is the prefix of XML Schema, and `e` of the namespace itself.
 *
 * @param attributes more attributes of the schema element, each after a blank
 */
export function schema(namespace: string, content: string, attributes = ''): [string, string] {
  // XML 1.0 reserves the prefix of its namespace and forbids another one
  const own = namespace === xmlNamespace ? '' : ` xmlns:e="${namespace}"`;
  const start = `<schema xmlns="${xsd}" xmlns:x="${xsd}"${own} targetNamespace="${namespace}"${attributes}>`;
  return [namespace, `${start}${content}</schema>`];
}
