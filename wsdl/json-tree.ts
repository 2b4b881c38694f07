import { namespaces } from '../mappings/contract/model.ts';
import { type Attributes, type DocumentNode, element } from './document.ts';

/** Namespace prefix. Generators derive class names from it, so it is part of the contract. */
export const treePrefix = 'json';

/** Element names for the kinds of JSON values. */
export const treeElements = ['map', 'array', 'string', 'number', 'boolean', 'null'] as const;

const key = { key: 'xs:string', 'escaped-key': 'xs:boolean' };

/**
 * Creates the schema of JSON as a tree. It is that of XSLT 3.0 (22.1) with two differences: a number is a string, so
 * that no digit is lost, and keys may repeat, as in JSON.
 */
export function treeSchema(): DocumentNode {
  const names = treeElements.map((name) =>
    element('xs:element', { name, type: `${treePrefix}:${name}Type` }),
  );
  return element(
    'xs:schema',
    {
      'xmlns:xs': namespaces.xsd,
      [`xmlns:${treePrefix}`]: namespaces.jsonTree,
      elementFormDefault: 'qualified',
      targetNamespace: namespaces.jsonTree,
    },
    ...names,
    holder('mapType'),
    holder('arrayType'),
    text('stringType', 'xs:string', { ...key, escaped: 'xs:boolean' }),
    text('numberType', 'xs:string', key),
    text('booleanType', 'xs:boolean', key),
    element('xs:complexType', { name: 'nullType' }, ...attributes(key)),
  );
}

/** `<xs:complexType name="…"><xs:choice> values </xs:choice> key </xs:complexType>` */
function holder(name: string): DocumentNode {
  const any = treeElements.map((ref) => element('xs:element', { ref: `${treePrefix}:${ref}` }));
  const choice = element('xs:choice', { minOccurs: '0', maxOccurs: 'unbounded' }, ...any);
  return element('xs:complexType', { name }, choice, ...attributes(key));
}

/** `<xs:complexType name="…"><xs:simpleContent><xs:extension base="…"> attributes </…>` */
function text(name: string, base: string, of: Attributes): DocumentNode {
  const extension = element('xs:extension', { base }, ...attributes(of));
  return element('xs:complexType', { name }, element('xs:simpleContent', {}, extension));
}

function attributes(of: Attributes): DocumentNode[] {
  return Object.entries(of).map(([name, type]) => element('xs:attribute', { name, type }));
}
