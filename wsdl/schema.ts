import {
  type Contract,
  type NamedType,
  namespaces,
  partsOf,
  reachableFrom,
  type Type,
} from '../mappings/contract/model.ts';
import type { Settings } from '../mappings/contract/overlay-keys.ts';
import type {
  ComplexType,
  ElementDeclaration,
  Particle,
  SchemaType,
} from '../mappings/contract/type-graph.ts';
import { typeGraphOf } from '../mappings/type-graph.ts';
import { type DocumentNode, documentation, element, writeXml } from './document.ts';
import { treeElements, treePrefix, treeSchema } from './json-tree.ts';

type SchemaName = 'types' | 'arrays';

/** Namespace prefixes. Generators derive class names from them, so they are part of the contract (W32). */
const prefixes = { types: 'tns', arrays: 'arr' } as const satisfies Record<SchemaName, string>;

/** The numbers in `?xsd=`. */
const schemaNumbers = { types: 0, arrays: 1, tree: 2 } as const satisfies Record<SchemaName | 'tree', number>;

/** Values of `?xsd=`. */
export const schemaList: readonly SchemaNumber[] = [0, 1, 2];

/** Number of a schema document. */
export type SchemaNumber = 0 | 1 | 2;

/**
 * Creates the content of `wsdl:types`: the schema of JSON as a tree, the arrays schema, then the types schema (W32).
 * The tree schema is omitted if no value uses it. The arrays schema is omitted if the contract has one namespace for
 * both or no type in the arrays namespace.
 */
export function createSchemas(contract: Contract): DocumentNode[] {
  const tree = usesTree(contract) ? [treeSchema()] : [];
  const arrays = hasSchema(contract, 'arrays') ? [createSchema(contract, 'arrays')] : [];
  return [...tree, ...arrays, createSchema(contract, 'types')];
}

/**
 * Writes one schema as a separate document: 0 the types, 1 the arrays, 2 JSON as a tree. Returns undefined if the
 * contract has no such schema (W2). `address` is the contract's public base, for example `https://api.example.com/v2`.
 */
export function writeSchema(
  contract: Contract,
  number: SchemaNumber,
  options: { readonly address: string },
): string | undefined {
  if (!hasSchemaNumber(contract, number)) return undefined;
  if (number === schemaNumbers.tree) return writeXml(treeSchema());
  const name = number === schemaNumbers.types ? 'types' : 'arrays';
  return writeXml(createSchema(contract, name, options.address));
}

/** Returns true if the contract has a schema of that number. */
export function hasSchemaNumber(contract: Contract, number: SchemaNumber): boolean {
  if (number === schemaNumbers.tree) return usesTree(contract);
  return hasSchema(contract, number === schemaNumbers.types ? 'types' : 'arrays');
}

/** Returns the name of the schema that contains the type. */
export function schemaOf(contract: Contract, type: NamedType): SchemaName {
  if (contract.namespaces.types === contract.namespaces.arrays) return 'types';
  return type.kind === 'array' || type.kind === 'map' ? type.namespace : 'types';
}

function hasSchema(contract: Contract, name: SchemaName): boolean {
  return name === 'types' || contract.types.some((type) => schemaOf(contract, type) === name);
}

/**
 * Creates `<xs:schema elementFormDefault="qualified" targetNamespace="…"> import, wrappers, types </xs:schema>`.
 * Without an address, imports have no location, because both schemas are in the same WSDL.
 */
function createSchema(contract: Contract, name: SchemaName, address?: string): DocumentNode {
  const other = name === 'types' ? 'arrays' : 'types';
  const types = contract.types.filter((type) => schemaOf(contract, type) === name);
  const inReplies = typesInReplies(contract);
  const imports = name === 'types' ? hasSchema(contract, 'arrays') : types.some(usesTypes(contract));
  const hasTree = name === 'types' && usesTree(contract);
  const importOf = (namespace: string, of: SchemaName | 'tree'): DocumentNode => {
    const location = address === undefined ? undefined : `${address}/soap11?xsd=${schemaNumbers[of]}`;
    return element('xs:import', { namespace, schemaLocation: location });
  };
  return element(
    'xs:schema',
    {
      'xmlns:xs': namespaces.xsd,
      'xmlns:tns': name === 'types' || imports ? contract.namespaces.types : undefined,
      'xmlns:arr': name === 'arrays' || imports ? contract.namespaces.arrays : undefined,
      [`xmlns:${treePrefix}`]: hasTree ? namespaces.jsonTree : undefined,
      elementFormDefault: 'qualified',
      targetNamespace: contract.namespaces[name],
    },
    hasTree ? importOf(namespaces.jsonTree, 'tree') : undefined,
    imports ? importOf(contract.namespaces[other], other) : undefined,
    ...(name === 'types' ? ownElements(contract) : []),
    ...types.map((type) => typeDefinition(contract, type, !inReplies.has(type))),
  );
}

/** Returns the elements and types that precede the named types of the contract in the types schema. */
function ownElements(contract: Contract): DocumentNode[] {
  const all = [...wrapperElements(contract), ...credentialsBlock(contract), ...faultSchema(contract)];
  return usesJson(contract) ? [...all, jsonType(contract)] : all;
}

/** Returns true if values without a closed type are served as JSON trees. */
function usesTree(contract: Contract): boolean {
  return contract.settings.json === 'tree' && usesJson(contract);
}

/** Returns true if the contract has JSON values without a closed type. */
function usesJson({ types, operations }: Contract): boolean {
  const all = [...types, ...operations.flatMap(({ input, output }) => [input, output])];
  return all.some((type) => partsOf(type).some((part) => part.kind === 'scalar' && part.scalar === 'json'));
}

/**
 * Creates `<xs:simpleType name="Json"><xs:restriction base="xs:string"/></xs:simpleType>`, or for trees a record of the
 * six tree elements.
 */
function jsonType({ jsonType: name, settings }: Contract): DocumentNode {
  if (settings.json === 'tree') {
    const elements = treeElements.map((ref) =>
      element('xs:element', { minOccurs: '0', ref: `${treePrefix}:${ref}` }),
    );
    const annotated = annotation(settings, 'Exactly one of the elements.');
    return sequenceType(name, annotated, elements);
  }
  return element('xs:simpleType', { name }, element('xs:restriction', { base: 'xs:string' }));
}

/** `<xs:complexType name="…"> annotation, <xs:sequence> elements </xs:sequence> </xs:complexType>` */
function sequenceType(
  name: string | undefined,
  annotated: DocumentNode | undefined,
  elements: readonly DocumentNode[],
): DocumentNode {
  return element('xs:complexType', { name }, annotated, element('xs:sequence', {}, ...elements));
}

/** Returns true for an array or map whose items or values are in the types schema. */
function usesTypes(contract: Contract): (type: NamedType) => boolean {
  return (type) => {
    const part = type.kind === 'array' ? type.item : type.kind === 'map' ? type.value : undefined;
    return part !== undefined && part.kind !== 'scalar' && schemaOf(contract, part) === 'types';
  };
}

/**
 * Creates `<xs:element name="{Op}"> anonymous type </xs:element>` and `{Op}Response`, not nillable. The only other
 * global elements are those of the header and of faults. Credentials are optional in the input, since callers may send
 * them in headers instead (W24).
 */
function wrapperElements(contract: Contract): DocumentNode[] {
  const graph = typeGraphOf(contract);
  return contract.operations.flatMap(({ name, input, output }) =>
    [input, output].map((type) => {
      const isInput = type === input;
      const particles = particlesOf(graph.nodeOf(type)).map((particle) =>
        isInput && particle.json === contract.credentials?.member ? { ...particle, least: 0 } : particle,
      );
      const elements = particles.map((particle) => particleElement(contract, particle, isInput));
      return element(
        'xs:element',
        { name: isInput ? name : `${name}Response` },
        sequenceType(undefined, undefined, elements),
      );
    }),
  );
}

/**
 * Creates `<xs:element name="Credentials" type="tns:Credentials"/>` and its type, the optional SOAP header block (W24).
 */
function credentialsBlock({ credentials, settings }: Contract): DocumentNode[] {
  if (credentials?.block === undefined) return [];
  const { element: name, type } = credentials.block;
  const parts = credentials.parts.map(({ xml, header }) =>
    element(
      'xs:element',
      { minOccurs: '0', name: xml, type: 'xs:string' },
      fullAnnotation(settings, `What the HTTP header ${header} may hold.`),
    ),
  );
  const annotated = annotation(settings, 'Who calls: each here or in its HTTP header.');
  return [
    element('xs:element', { name, type: `${prefixes.types}:${type}` }),
    sequenceType(type, annotated, parts),
  ];
}

/** Documentation of the elements of a fault's detail and of one problem in it, by element name. */
const problemWords = {
  path: 'Where: members by their names, positions of lists from 0.',
  code: 'What kind of problem it is, such as InvalidType.',
  message: 'The whole sentence.',
  expected: 'What would have been right.',
  got: 'What came: a value in quotes, or words.',
} as const;
const detailWords = {
  status: 'The HTTP status that a caller of JSON gets.',
  upstreamStatus: 'The HTTP status that the service behind answered with; absent without an answer.',
  code: 'The code of the error, such as ValidationError.',
  message: 'The sentence for people.',
  requestId: 'What the logs know the request by.',
  problems: undefined,
  upstream: 'The error of the service behind, as JSON.',
} as const;

/**
 * Creates `<xs:element name="FaultDetail" type="tns:FaultDetail"/>` with its types, which
 * `gateway/protocols/soap/fault-detail.ts` writes (W27). A list has its own type because .NET's DataContract needs it.
 */
function faultSchema({ faultDetail, settings }: Contract): DocumentNode[] {
  if (faultDetail === undefined) return [];
  const { element: name, problem, problems } = faultDetail;
  const typeOf = (member: string): string => {
    if (member === 'problems') return `${prefixes.types}:${problems}`;
    return member === 'status' || member === 'upstreamStatus' ? 'xs:int' : 'xs:string';
  };
  const record = (
    type: string,
    docText: string,
    words: Readonly<Record<string, string | undefined>>,
  ): DocumentNode =>
    sequenceType(
      type,
      annotation(settings, docText),
      Object.entries(words).map(([member, text = '']) =>
        element(
          'xs:element',
          { minOccurs: '0', name: member, type: typeOf(member) },
          fullAnnotation(settings, text),
        ),
      ),
    );
  const item = { minOccurs: '0', maxOccurs: 'unbounded', name: 'problem', nillable: 'true' };
  return [
    element('xs:element', { name, nillable: 'true', type: `${prefixes.types}:${name}` }),
    record(name, 'What a SOAP fault of this service is about.', detailWords),
    sequenceType(problems, undefined, [
      element('xs:element', { ...item, type: `${prefixes.types}:${problem}` }),
    ]),
    record(problem, 'One thing that is wrong.', problemWords),
  ];
}

/**
 * Returns the types used in replies. Their members are always optional, since upstreams omit members that they declare
 * as required (W33).
 */
function typesInReplies({ operations, settings }: Contract): ReadonlySet<Type> {
  return new Set(reachableFrom(settings.required === 'schema' ? operations.map(({ output }) => output) : []));
}

/**
 * Creates the definition of a type. An enumeration has no annotation, because node-soap does not support one here.
 *
 * @param isRequestOnly true if only requests use the type
 */
function typeDefinition(contract: Contract, type: NamedType, isRequestOnly: boolean): DocumentNode {
  const node = typeGraphOf(contract).nodeOf(type);
  if (node.kind === 'simple') {
    const values = (node.facets.enumeration ?? []).map((value) => element('xs:enumeration', { value }));
    const restriction = element('xs:restriction', { base: 'xs:string' }, ...values);
    return element('xs:simpleType', { name: type.name }, restriction);
  }
  if (node.content.kind === 'map') return mapType(contract, type.name, node.content);
  const elements = particlesOf(node).map((particle) => particleElement(contract, particle, isRequestOnly));
  const rule = rules[node.json?.kind ?? ''] ?? '';
  const docText = [node.documentation, rule].filter((text) => text !== '').join('\n');
  return sequenceType(type.name, annotation(contract.settings, docText), elements);
}

/**
 * Rules for unions and tuples that the schema cannot state. Their elements are a sequence of optional ones, since some
 * generators fail on `xs:choice`.
 */
const rules: Readonly<Record<string, string>> = {
  union: 'Exactly one of the elements.',
  tuple: 'A list whose items have types of their own: none may be missing before another one.',
};

/** An element of a sequence. */
type ElementParticle = Extract<Particle, { kind: 'element' }>;

/** Returns the elements of a type; none for text. */
function particlesOf(type: SchemaType): readonly ElementParticle[] {
  if (type.kind === 'simple' || type.content.kind !== 'elements') return [];
  const { particle } = type.content;
  return particle.kind === 'sequence' ? particle.particles.filter((each) => each.kind === 'element') : [];
}

/**
 * Creates `<xs:element minOccurs="0" name="…" nillable="true" type="…"> annotation </xs:element>`. Required elements
 * are optional too, and only documented (W33), unless `required: schema` demands them in types of requests only.
 */
function particleElement(
  contract: Contract,
  { element: declared, least, most }: ElementParticle,
  isRequestOnly: boolean,
): DocumentNode {
  const isDemanded = isRequestOnly && contract.settings.required === 'schema' && least > 0;
  const occurs = { minOccurs: isDemanded ? '1' : '0', maxOccurs: most > 1 ? 'unbounded' : undefined };
  return element(
    'xs:element',
    { ...occurs, ...elementAttributes(contract, declared) },
    fullAnnotation(contract.settings, wordsOf(declared, least > 0)),
  );
}

function elementAttributes(contract: Contract, { name, nillable, type }: ElementDeclaration) {
  return { name: name.local, nillable: nillable ? 'true' : undefined, type: typeName(contract, type) };
}

/** Returns the documentation of an element, followed by a line of facts. */
function wordsOf({ demands }: ElementDeclaration, isRequired: boolean): string {
  const { description, facts } = demands?.words ?? { description: '', facts: '' };
  const line = [isRequired ? 'Required.' : '', facts].filter((text) => text !== '').join(' ');
  return [description, line].filter((text) => text !== '').join('\n');
}

/**
 * Creates `<xs:annotation><xs:documentation> text </xs:documentation></xs:annotation>`. Returns undefined if the text
 * is empty or the contract's documentation is `none`.
 */
function annotation(settings: Settings, text: string): DocumentNode | undefined {
  if (text === '' || settings.documentation === 'none') return undefined;
  return element('xs:annotation', {}, documentation('xs', text));
}

/** Creates an annotation only if the contract's documentation is `full`. */
function fullAnnotation(settings: Settings, text: string): DocumentNode | undefined {
  return settings.documentation === 'full' ? annotation(settings, text) : undefined;
}

/**
 * `<xs:complexType name="ArrayOfKeyValueOf…"> IsDictionary, <xs:sequence> entry 0..unbounded of an anonymous type
 * </xs:sequence></xs:complexType>`. Key and Value are required here, unlike all other elements, because svcutil rejects
 * the dictionary otherwise.
 */
function mapType(
  contract: Contract,
  name: string,
  { item, key, value }: Extract<ComplexType['content'], { kind: 'map' }>,
): DocumentNode {
  const parts = [{ ...key, nillable: true }, value].map((part) =>
    element('xs:element', elementAttributes(contract, part)),
  );
  const entry = element(
    'xs:element',
    { minOccurs: '0', maxOccurs: 'unbounded', name: item.name.local },
    sequenceType(undefined, undefined, parts),
  );
  const isDictionary = element('IsDictionary', { xmlns: namespaces.serialization }, 'true');
  const annotated = element('xs:annotation', {}, element('xs:appinfo', {}, isDictionary));
  return sequenceType(name, annotated, [entry]);
}

/** Returns the type's qualified name, for example `xs:int` or `arr:ArrayOfstring`. */
function typeName(contract: Contract, type: SchemaType): string {
  if (type.kind === 'simple' && type.scalar === 'json') return `${prefixes.types}:${contract.jsonType}`;
  const { namespace, local } = type.name ?? { namespace: namespaces.xsd, local: 'anyType' };
  if (namespace === namespaces.xsd) return `xs:${local}`;
  return `${namespace === contract.namespaces.types ? prefixes.types : prefixes.arrays}:${local}`;
}
