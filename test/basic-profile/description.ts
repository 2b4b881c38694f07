import type { ExecutionContext } from 'ava';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { all, descendants, only, readTree, type Tree } from '../wsdl/tree.ts';

/** Requirements of the profiles for a description (WSDL 1.1, XML Schema), each with a check of the screening WSDL. */
export interface Requirement {
  readonly id: string;
  /** The requirement in the project's own wording. */
  readonly says: string;
}

export interface DescriptionRequirement extends Requirement {
  readonly check: (t: ExecutionContext) => void;
}

const text = writeWsdl(readContract(screeningContract).contract, { address: 'https://api.example.com/v2' });
const definitions = readTree(text);
const everything = descendants(definitions);
const types = only(definitions, 'wsdl:types');
const schemas = all(types, 'xs:schema');
const portType = only(definitions, 'wsdl:portType');
const bindings = all(definitions, 'wsdl:binding');
const messages = all(definitions, 'wsdl:message');
const operations = bindings.flatMap((binding) => all(binding, 'wsdl:operation'));
const bodies = everything.filter(({ name }) => /^soap(?:12)?:body$/.test(name));
const target = definitions.attributes.targetNamespace ?? '';

/** Returns elements with these names, at any depth. */
function named(...names: readonly string[]): readonly Tree[] {
  return everything.filter(({ name }) => names.includes(name));
}

/** Returns the values of an attribute of any element. */
function valuesOf(attribute: string): readonly string[] {
  return everything.flatMap(({ attributes }) => attributes[attribute] ?? []);
}

function globalElement(qname: string): Tree | undefined {
  const local = qname.replace(/^\w+:/, '');
  return schemas
    .flatMap((schema) => all(schema, 'xs:element'))
    .find(({ attributes }) => attributes.name === local);
}

export const descriptionRequirements: readonly DescriptionRequirement[] = [
  {
    id: 'R1034',
    says: 'the prefix xml is not declared',
    check: (t) => t.deepEqual(valuesOf('xmlns:xml'), []),
  },
  {
    id: 'R4005',
    says: 'the same as R1034',
    check: (t) => t.deepEqual(valuesOf('xmlns:xml'), []),
  },
  {
    id: 'R4002',
    says: 'the document may begin with a byte order mark; here it does not',
    check: (t) => t.false(text.startsWith('\ufeff')),
  },
  {
    id: 'R4003',
    says: 'the document is UTF-8 or UTF-16',
    check: (t) => t.regex(text, /^<\?xml version="1\.0" encoding="utf-8"\?>/),
  },
  {
    id: 'R4004',
    says: 'the document is XML 1.0',
    check: (t) => t.regex(text, /^<\?xml version="1\.0"/),
  },
  {
    id: 'R2001',
    says: 'wsdl:import is used only for WSDL',
    check: (t) => t.deepEqual(named('wsdl:import'), []),
  },
  {
    id: 'R2003',
    says: 'xs:import is used only in xs:schema',
    check: (t) => {
      const inSchemas = schemas.flatMap((schema) => all(schema, 'xs:import'));
      t.deepEqual(inSchemas, named('xs:import'));
    },
  },
  {
    id: 'R2004',
    says: 'an xs:import refers to a schema of its namespace',
    check: (t) => {
      for (const { attributes } of named('xs:import')) {
        t.true(schemas.some((schema) => schema.attributes.targetNamespace === attributes.namespace));
        t.is(attributes.schemaLocation, undefined);
      }
    },
  },
  {
    id: 'R2022',
    says: 'imports come before all other parts of the document',
    check: (t) => t.deepEqual(named('wsdl:import'), []),
  },
  {
    id: 'R2023',
    says: 'wsdl:types comes before all other parts except imports',
    check: (t) => t.is(definitions.children[0], types),
  },
  {
    id: 'R2026',
    says: 'no extension is marked wsdl:required',
    check: (t) => t.deepEqual(valuesOf('wsdl:required'), []),
  },
  {
    id: 'R2028',
    says: 'the document is valid by the schema of WSDL 1.1 (checked: the order of its parts)',
    check: (t) =>
      t.regex(
        definitions.children.map(({ name }) => name.replace('wsdl:', '')).join(' '),
        /^types(?: message)+ portType(?: binding)+ service$/,
      ),
  },
  {
    id: 'R2029',
    says: 'the document is valid by the schema of the SOAP binding (checked: its attributes)',
    check: (t) => {
      for (const { attributes } of named('soap:binding', 'soap12:binding')) {
        t.deepEqual(Object.keys(attributes).toSorted(), ['style', 'transport']);
      }
      for (const { attributes } of bodies) t.deepEqual(Object.keys(attributes), ['use']);
    },
  },
  {
    id: 'R2030',
    says: 'wsdl:documentation is the first child of its parent',
    check: (t) => {
      for (const parent of everything) {
        for (const child of all(parent, 'wsdl:documentation')) t.is(parent.children[0], child);
      }
    },
  },
  {
    id: 'R2101',
    says: 'names of messages, portTypes and bindings refer to definitions in the document',
    check: (t) => {
      const defined = [...messages, portType, ...bindings].map(({ attributes }) => `tns:${attributes.name}`);
      for (const name of [
        ...valuesOf('message'),
        ...valuesOf('binding'),
        ...bindings.map((b) => b.attributes.type),
      ]) {
        t.true(defined.includes(name ?? ''), name);
      }
    },
  },
  {
    id: 'R2102',
    says: 'schema components are in the document; other namespaces are imported',
    check: (t) => {
      for (const { attributes } of named('wsdl:part')) t.truthy(globalElement(attributes.element ?? ''));
      for (const schema of schemas) {
        const imported = all(schema, 'xs:import').map(({ attributes }) => attributes.namespace ?? '');
        const own = [
          schema.attributes.targetNamespace ?? '',
          'http://www.w3.org/2001/XMLSchema',
          ...imported,
        ];
        for (const { attributes } of descendants(schema)) {
          const prefix = attributes.type?.split(':')[0];
          if (prefix !== undefined)
            t.true(own.includes(schema.attributes[`xmlns:${prefix}`] ?? ''), attributes.type);
        }
      }
    },
  },
  {
    id: 'R2105',
    says: 'every schema has a target namespace',
    check: (t) => {
      for (const { attributes } of schemas) t.truthy(attributes.targetNamespace);
    },
  },
  {
    id: 'R2110',
    says: 'no type is derived from SOAP’s encoded array',
    check: (t) =>
      t.deepEqual(
        valuesOf('base').filter((base) => /:Array$/.test(base)),
        [],
      ),
  },
  {
    id: 'R2111',
    says: 'no wsdl:arrayType',
    check: (t) => t.deepEqual(valuesOf('wsdl:arrayType'), []),
  },
  {
    id: 'R2114',
    says: 'description and schema may have the same target namespace; here they do',
    check: (t) => t.true(schemas.some(({ attributes }) => attributes.targetNamespace === target)),
  },
  {
    id: 'R2800',
    says: 'any construct of XML Schema 1.0 may be used; the gateway uses few',
    check: (t) =>
      t.deepEqual(named('xs:redefine', 'xs:group', 'xs:attribute', 'xs:any', 'xs:union', 'xs:list'), []),
  },
  {
    id: 'R2801',
    says: 'schemas have the namespace of XML Schema 1.0',
    check: (t) => {
      for (const { attributes } of schemas) t.is(attributes['xmlns:xs'], 'http://www.w3.org/2001/XMLSchema');
    },
  },
  {
    id: 'R2201',
    says: 'a document/literal soap:body names at most one part',
    check: (t) => {
      for (const { attributes } of bodies) t.is(attributes.parts, undefined);
    },
  },
  {
    id: 'R2202',
    says: 'a document/literal body may have no part; here it has one',
    check: (t) => {
      for (const message of messages) t.is(message.children.length, 1);
    },
  },
  {
    id: 'R2204',
    says: 'document/literal parts refer to an element',
    check: (t) => {
      for (const { attributes } of named('wsdl:part')) t.truthy(attributes.element);
    },
  },
  {
    id: 'R2206',
    says: 'a part refers only to a global element',
    check: (t) => {
      for (const { attributes } of named('wsdl:part')) t.truthy(globalElement(attributes.element ?? ''));
    },
  },
  {
    id: 'R2209',
    says: 'every part of a message is bound',
    check: (t) => {
      for (const message of messages) t.is(message.children.length, 1);
      for (const { attributes } of bodies) t.is(attributes.parts, undefined);
    },
  },
  {
    id: 'R2210',
    says: 'without a parts attribute the message has at most one part',
    check: (t) => {
      for (const message of messages) t.true(message.children.length <= 1);
    },
  },
  {
    id: 'R2303',
    says: 'no solicit-response and no notification',
    check: (t) => {
      for (const operation of portType.children) {
        const order = operation.children
          .map(({ name }) => name)
          .filter((name) => name !== 'wsdl:documentation');
        t.deepEqual(order, ['wsdl:input', 'wsdl:output']);
      }
    },
  },
  {
    id: 'R2304',
    says: 'operations of a portType have distinct names',
    check: (t) => {
      const names = portType.children.map(({ attributes }) => attributes.name);
      t.is(new Set(names).size, names.length);
    },
  },
  {
    id: 'R2306',
    says: 'a part refers to a type or an element, not both',
    check: (t) => {
      for (const { attributes } of named('wsdl:part')) t.is(attributes.type, undefined);
    },
  },
  {
    id: 'R2401',
    says: 'bindings are SOAP bindings',
    check: (t) => {
      for (const binding of bindings) t.regex(binding.children[0]?.name ?? '', /^soap(?:12)?:binding$/);
    },
  },
  {
    id: 'R2701',
    says: 'a SOAP binding names its transport',
    check: (t) => {
      for (const { attributes } of named('soap:binding', 'soap12:binding')) t.truthy(attributes.transport);
    },
  },
  {
    id: 'R2702',
    says: 'the transport is HTTP',
    check: (t) => {
      for (const { attributes } of named('soap:binding', 'soap12:binding')) {
        t.is(attributes.transport, 'http://schemas.xmlsoap.org/soap/http');
      }
    },
  },
  {
    id: 'R2705',
    says: 'a binding is document or rpc in all its operations',
    check: (t) => t.deepEqual([...new Set(valuesOf('style'))], ['document']),
  },
  {
    id: 'R2706',
    says: 'bodies are literal',
    check: (t) => {
      for (const { attributes } of bodies) t.is(attributes.use, 'literal');
    },
  },
  {
    id: 'R2709',
    says: 'a portType may have any number of bindings; here one per version',
    check: (t) => {
      for (const { attributes } of bindings) t.is(attributes.type, `tns:${portType.attributes.name}`);
    },
  },
  {
    id: 'R2710',
    says: 'no two operations have the same element on the wire',
    check: (t) => {
      const elements = named('wsdl:part').map(({ attributes }) => attributes.element);
      t.is(new Set(elements).size, elements.length);
    },
  },
  {
    id: 'R2711',
    says: 'no two ports have the same address',
    check: (t) => {
      const locations = valuesOf('location');
      t.is(new Set(locations).size, locations.length);
    },
  },
  {
    id: 'R2716',
    says: 'soap:body of document/literal has no namespace',
    check: (t) => {
      for (const { attributes } of bodies) t.is(attributes.namespace, undefined);
    },
  },
  {
    id: 'R2718',
    says: 'a binding has the operations of its portType',
    check: (t) => {
      const expected = portType.children.map(({ attributes }) => attributes.name);
      for (const binding of bindings) {
        t.deepEqual(
          all(binding, 'wsdl:operation').map(({ attributes }) => attributes.name),
          expected,
        );
      }
    },
  },
  {
    id: 'R2745',
    says: 'SOAPAction is empty if the description has no soapAction; here it always has one',
    check: (t) => {
      for (const operation of operations) {
        t.is(operation.children[0]?.attributes.soapAction, operation.attributes.name);
      }
    },
  },
];
