import { namespaces } from './model.ts';
import type { BuiltIn, ComplexType, Facets, SimpleType } from './type-graph.ts';

/** The facets of an unrestricted simple type. */
export const noFacets: Facets = {
  enumeration: undefined,
  patterns: [],
  whiteSpace: 'preserve',
  length: undefined,
  minLength: undefined,
  maxLength: undefined,
  minInclusive: undefined,
  maxInclusive: undefined,
  minExclusive: undefined,
  maxExclusive: undefined,
  totalDigits: undefined,
  fractionDigits: undefined,
};

/** The derived simple types by base (XSD 1.0, part 2, chapter 3), bases first. */
const derivations: readonly (readonly [base: BuiltIn, types: readonly BuiltIn[]])[] = [
  [
    'anySimpleType',
    [
      'string',
      'boolean',
      'decimal',
      'float',
      'double',
      'duration',
      'dateTime',
      'time',
      'date',
      'gYearMonth',
      'gYear',
      'gMonthDay',
      'gDay',
      'gMonth',
      'hexBinary',
      'base64Binary',
      'anyURI',
      'QName',
      'NOTATION',
    ],
  ],
  ['string', ['normalizedString']],
  ['normalizedString', ['token']],
  ['token', ['language', 'NMTOKEN', 'Name']],
  ['Name', ['NCName']],
  ['NCName', ['ID', 'IDREF', 'ENTITY']],
  ['decimal', ['integer']],
  ['integer', ['nonPositiveInteger', 'long', 'nonNegativeInteger']],
  ['nonPositiveInteger', ['negativeInteger']],
  ['long', ['int']],
  ['int', ['short']],
  ['short', ['byte']],
  ['nonNegativeInteger', ['unsignedLong', 'positiveInteger']],
  ['unsignedLong', ['unsignedInt']],
  ['unsignedInt', ['unsignedShort']],
  ['unsignedShort', ['unsignedByte']],
];

const lists = [
  ['NMTOKENS', 'NMTOKEN'],
  ['IDREFS', 'IDREF'],
  ['ENTITIES', 'ENTITY'],
] as const;

function simple(local: BuiltIn, base: SimpleType | undefined): SimpleType {
  const whiteSpace = local === 'string' || local === 'anySimpleType' ? 'preserve' : 'collapse';
  return {
    kind: 'simple',
    name: { namespace: namespaces.xsd, local },
    builtIn: local,
    base,
    variety: { kind: 'atomic' },
    facets: { ...noFacets, whiteSpace: local === 'normalizedString' ? 'replace' : whiteSpace },
    documentation: '',
  };
}

function builtIns(): ReadonlyMap<string, SimpleType> {
  const root = simple('anySimpleType', undefined);
  const types = new Map<string, SimpleType>([['anySimpleType', root]]);
  for (const [base, derived] of derivations)
    for (const local of derived) types.set(local, simple(local, types.get(base)));
  for (const [local, item] of lists)
    types.set(local, {
      ...simple(local, root),
      variety: { kind: 'list', item: types.get(item) ?? root },
      facets: { ...noFacets, whiteSpace: 'collapse', minLength: 1 },
    });
  return types;
}

/** The simple types of XSD by local name. */
export const builtInTypes: ReadonlyMap<string, SimpleType> = builtIns();

/** `xs:anySimpleType`. */
export const anySimpleType: SimpleType =
  builtInTypes.get('anySimpleType') ?? simple('anySimpleType', undefined);

/** `xs:anyType`: any attributes, any content. */
export const anyType: ComplexType = {
  kind: 'complex',
  name: { namespace: namespaces.xsd, local: 'anyType' },
  abstract: false,
  base: undefined,
  derivation: 'restriction',
  derived: [],
  attributes: [],
  anyAttribute: true,
  content: { kind: 'mixed' },
  documentation: '',
};
