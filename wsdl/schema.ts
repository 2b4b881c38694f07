import { scalarTable } from '../mappings/codec/scalars/table.ts';
import type {
  ArrayType,
  Contract,
  EnumType,
  Field,
  MapType,
  NamedType,
  RecordType,
  TupleType,
  Type,
  UnionType,
  Variant,
} from '../mappings/contract/model.ts';
import { namespaces, partsOf } from '../mappings/contract/model.ts';
import type { Settings } from '../mappings/contract/overlay-keys.ts';
import { type DocumentNode, documentation, element, writeXml } from './document.ts';
import { treeElements, treePrefix, treeSchema } from './json-tree.ts';

type SchemaName = 'types' | 'arrays';

/** Generators make class names of the prefixes, so they are part of the contract (W32). */
const prefixes = { types: 'tns', arrays: 'arr' } as const satisfies Record<SchemaName, string>;

/** The order of `?xsd=`. */
const schemaNumbers = { types: 0, arrays: 1, tree: 2 } as const satisfies Record<SchemaName | 'tree', number>;

/** What `?xsd=` may ask for. */
export const schemaList: readonly SchemaNumber[] = [0, 1, 2];

/** Which of the documents that a WSDL's schema is split into. */
export type SchemaNumber = 0 | 1 | 2;

/**
 * The content of `wsdl:types`: the schema of JSON as a tree, the arrays schema, then the types schema (W32). A
 * contract with one namespace for both, or without a type in the arrays namespace, has no arrays schema, one without
 * such trees no schema of them.
 */
export function createSchemas(contract: Contract): DocumentNode[] {
  const tree = usesTree(contract) ? [treeSchema()] : [];
  const arrays = hasSchema(contract, 'arrays') ? [createSchema(contract, 'arrays')] : [];
  return [...tree, ...arrays, createSchema(contract, 'types')];
}

/**
 * One schema as a document of its own: 0 the types, 1 the arrays, 2 JSON as a tree; undefined when the contract lacks
 * it (W2). `address` is the contract's public base, such as `https://api.example.com/v2`.
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

/** Whether the contract has a schema of that number. */
export function hasSchemaNumber(contract: Contract, number: SchemaNumber): boolean {
  if (number === schemaNumbers.tree) return usesTree(contract);
  return hasSchema(contract, number === schemaNumbers.types ? 'types' : 'arrays');
}

/** The namespace a named type is in, as the name of its schema. */
export function schemaOf(contract: Contract, type: NamedType): SchemaName {
  if (contract.namespaces.types === contract.namespaces.arrays) return 'types';
  return type.kind === 'array' || type.kind === 'map' ? type.namespace : 'types';
}

function hasSchema(contract: Contract, name: SchemaName): boolean {
  return name === 'types' || contract.types.some((type) => schemaOf(contract, type) === name);
}

/**
 * `<xs:schema elementFormDefault="qualified" targetNamespace="…"> import, wrappers, types </xs:schema>`;
 * an import without address names no location, since the other schema stands beside this one.
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

/** What the types schema begins with. */
function ownElements(contract: Contract): DocumentNode[] {
  const all = [...wrapperElements(contract), ...credentialsBlock(contract), ...faultSchema(contract)];
  return usesJson(contract) ? [...all, jsonType(contract)] : all;
}

/** True where some value travels as JSON's own tree. */
function usesTree(contract: Contract): boolean {
  return contract.settings.json === 'tree' && usesJson(contract);
}

/** True where some value is JSON of no closed type. */
function usesJson({ types, operations }: Contract): boolean {
  const all = [...types, ...operations.flatMap(({ input, output }) => [input, output])];
  return all.some((type) => partsOf(type).some((part) => part.kind === 'scalar' && part.scalar === 'json'));
}

/** `<xs:simpleType name="Json"><xs:restriction base="xs:string"/></xs:simpleType>`; of a tree, a record of its six elements. */
function jsonType({ jsonType: name, settings }: Contract): DocumentNode {
  if (settings.json === 'tree') {
    const elements = treeElements.map((ref) =>
      element('xs:element', { minOccurs: '0', ref: `${treePrefix}:${ref}` }),
    );
    const says = annotation(settings, 'Exactly one of the elements.');
    return sequenceType(name, says, elements);
  }
  return element('xs:simpleType', { name }, element('xs:restriction', { base: 'xs:string' }));
}

/** `<xs:complexType name="…"> annotation, <xs:sequence> elements </xs:sequence> </xs:complexType>` */
function sequenceType(
  name: string | undefined,
  says: DocumentNode | undefined,
  elements: readonly DocumentNode[],
): DocumentNode {
  return element('xs:complexType', { name }, says, element('xs:sequence', {}, ...elements));
}

/** True for an array or map whose items or values are types of the types schema. */
function usesTypes(contract: Contract): (type: NamedType) => boolean {
  return (type) => {
    const part = type.kind === 'array' ? type.item : type.kind === 'map' ? type.value : undefined;
    return part !== undefined && part.kind !== 'scalar' && schemaOf(contract, part) === 'types';
  };
}

/** `<xs:element name="{Op}"> anonymous type </xs:element>` and `{Op}Response`, not nillable: the only global elements but those of the header and of faults. */
function wrapperElements(contract: Contract): DocumentNode[] {
  return contract.operations.flatMap(({ name, input, output }) => [
    element('xs:element', { name }, complexType(contract, asAsked(contract, input), undefined, true)),
    element('xs:element', { name: `${name}Response` }, complexType(contract, output)),
  ]);
}

/** `<xs:element name="Credentials" type="tns:Credentials"/>` and its type: what a SOAP header may hold (W24). */
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
  const says = annotation(settings, 'Who calls: each here or in its HTTP header.');
  return [
    element('xs:element', { name, type: `${prefixes.types}:${type}` }),
    sequenceType(type, says, parts),
  ];
}

/** What the one problem of a fault's detail says, and the detail itself, by the names of their elements. */
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
 * `<xs:element name="FaultDetail" type="tns:FaultDetail"/>` with its types: what `gateway/protocols/soap/fault-detail.ts`
 * writes (W27). A list has a type of its own, as .NET's DataContract wants it.
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
    says: string,
    words: Readonly<Record<string, string | undefined>>,
  ): DocumentNode =>
    sequenceType(
      type,
      annotation(settings, says),
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

/** The input as a caller is asked for it: credentials may come in headers as well (W24). */
function asAsked({ credentials }: Contract, input: RecordType): RecordType {
  const fields = input.fields.map((field) =>
    field.json === credentials?.member ? { ...field, required: false } : field,
  );
  return { ...input, fields };
}

/** The types that replies reach: of those no schema demands anything, as services break their own promises (W33). */
function typesInReplies({ operations, settings }: Contract): ReadonlySet<Type> {
  const seen = new Set<Type>(settings.required === 'schema' ? operations.map(({ output }) => output) : []);
  for (const type of seen) if (type.kind !== 'scalar') for (const part of partsOf(type)) seen.add(part);
  return seen;
}

/** @param isAsked whether it is of requests alone */
function typeDefinition(contract: Contract, type: NamedType, isAsked: boolean): DocumentNode {
  switch (type.kind) {
    case 'record':
      return complexType(contract, type, type.name, isAsked);
    case 'union':
      return unionType(contract, type);
    case 'tuple':
      return tupleType(contract, type);
    case 'array':
      return arrayType(contract, type);
    case 'map':
      return mapType(contract, type);
    case 'enum':
      return enumType(type);
  }
}

/** The type of a record's fields; a wrapper's has neither name nor annotation. */
function complexType(contract: Contract, record: RecordType, name?: string, isAsked = false): DocumentNode {
  const demands = isAsked && contract.settings.required === 'schema';
  const { typed, untyped } = record.additional ?? {};
  const others = [typed, untyped].filter((one) => one !== undefined);
  return sequenceType(
    name,
    name === undefined ? undefined : annotation(contract.settings, record.documentation),
    [
      ...record.fields.map((field) => fieldElement(contract, field, demands)),
      ...others.map((one) => optionalElement(contract, one)),
    ],
  );
}

/** `<xs:element minOccurs="0" name="…" type="…"/>` */
function optionalElement(
  contract: Contract,
  { xml, type, nillable }: Pick<Variant, 'xml' | 'type' | 'nillable'>,
): DocumentNode {
  return element('xs:element', {
    minOccurs: '0',
    name: xml,
    nillable: nillable === true ? 'true' : undefined,
    type: typeName(contract, type),
  });
}

/** As a record's, with an optional element for each type, of which one is there: what generators make of `xs:choice` fails in some. */
function unionType(contract: Contract, { name, documentation, variants }: UnionType): DocumentNode {
  const elements = variants.map((variant) => optionalElement(contract, variant));
  const says = `${documentation === '' ? '' : `${documentation}\n`}Exactly one of the elements.`;
  return sequenceType(name, annotation(contract.settings, says), elements);
}

/** As a record's, with an element for each position, any of which may be null, and one for the items behind them. */
function tupleType(contract: Contract, { name, documentation, positions, rest }: TupleType): DocumentNode {
  const elements = positions.map((position) =>
    fieldElement(contract, { ...position, nillable: true, required: false }),
  );
  if (rest !== undefined) elements.push(optionalElement(contract, rest));
  const says = `${documentation === '' ? '' : `${documentation}\n`}A list whose items have types of their own: none may be missing before another one.`;
  return sequenceType(name, annotation(contract.settings, says), elements);
}

/** What an element is made of. */
type Told = Pick<Field, 'xml' | 'type' | 'nillable' | 'required' | 'words'>;

/**
 * `<xs:element minOccurs="0" name="…" nillable="true" type="…"> annotation </xs:element>`; required fields are optional
 * too, and only documented (W33), unless the schema `demands` them (`required: schema`).
 */
function fieldElement(contract: Contract, field: Told, demands = false): DocumentNode {
  return element(
    'xs:element',
    {
      minOccurs: demands && field.required ? '1' : '0',
      name: field.xml,
      nillable: field.nillable ? 'true' : undefined,
      type: typeName(contract, field.type),
    },
    fullAnnotation(contract.settings, wordsOf(field)),
  );
}

/** The documentation of a field, then a line of facts. */
function wordsOf({ required, words = { description: '', facts: '' } }: Told): string {
  const { description, facts } = words;
  const line = [required ? 'Required.' : '', facts].filter((text) => text !== '').join(' ');
  return [description, line].filter((text) => text !== '').join('\n');
}

/** `<xs:annotation><xs:documentation> text </xs:documentation></xs:annotation>`; nothing for no text, or where the contract wants none. */
function annotation(settings: Settings, text: string): DocumentNode | undefined {
  if (text === '' || settings.documentation === 'none') return undefined;
  return element('xs:annotation', {}, documentation('xs', text));
}

/** The same where the contract wants members documented too. */
function fullAnnotation(settings: Settings, text: string): DocumentNode | undefined {
  return settings.documentation === 'full' ? annotation(settings, text) : undefined;
}

/** `<xs:complexType name="ArrayOf…"><xs:sequence> item 0..unbounded, nillable </xs:sequence></xs:complexType>` */
function arrayType(contract: Contract, type: ArrayType): DocumentNode {
  const item = element('xs:element', {
    minOccurs: '0',
    maxOccurs: 'unbounded',
    name: type.itemName,
    nillable: 'true',
    type: typeName(contract, type.item),
  });
  return sequenceType(type.name, undefined, [item]);
}

/**
 * `<xs:complexType name="ArrayOfKeyValueOf…"> IsDictionary, <xs:sequence> entry 0..unbounded of an
 * anonymous type </xs:sequence></xs:complexType>`. Key and Value are the only elements of a schema
 * that are required: svcutil refuses the dictionary otherwise.
 */
function mapType(contract: Contract, type: MapType): DocumentNode {
  const key = element('xs:element', { name: 'Key', nillable: 'true', type: 'xs:string' });
  const value = element('xs:element', {
    name: 'Value',
    nillable: 'true',
    type: typeName(contract, type.value),
  });
  const entry = element(
    'xs:element',
    { minOccurs: '0', maxOccurs: 'unbounded', name: type.entryName },
    sequenceType(undefined, undefined, [key, value]),
  );
  const isDictionary = element('IsDictionary', { xmlns: namespaces.serialization }, 'true');
  const says = element('xs:annotation', {}, element('xs:appinfo', {}, isDictionary));
  return sequenceType(type.name, says, [entry]);
}

/** `<xs:simpleType name="…"><xs:restriction base="xs:string"> values </xs:restriction></xs:simpleType>`, undocumented: node-soap knows no annotation here. */
function enumType(type: EnumType): DocumentNode {
  const values = type.values.map((value) => element('xs:enumeration', { value }));
  return element(
    'xs:simpleType',
    { name: type.name },
    element('xs:restriction', { base: 'xs:string' }, ...values),
  );
}

/** The type's qualified name, such as `xs:int` or `arr:ArrayOfstring`. */
function typeName(contract: Contract, type: Type): string {
  if (type.kind === 'scalar') {
    return type.scalar === 'json'
      ? `${prefixes.types}:${contract.jsonType}`
      : `xs:${scalarTable[type.scalar].xsd}`;
  }
  return `${prefixes[schemaOf(contract, type)]}:${type.name}`;
}
