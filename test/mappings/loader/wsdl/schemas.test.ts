import test from 'ava';
import type { SimpleType } from '../../../../mappings/contract/type-graph.ts';
import { contentOf, getOf, load, nameOf, problemsOf, serviceOf, typeOfGet } from './wsdl-folder.ts';

const sequence = (content: string): string =>
  `<xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType>`;
const e = (name: string, more = 'type="xs:string"'): string => `<xs:element name="${name}" ${more}/>`;

for (const [what, type, content, declarations] of [
  ['nothing is empty', '<xs:complexType/>', 'empty', ''],
  [
    'a sequence keeps its order and its occurrences',
    sequence(e('a') + e('b', 'minOccurs="0"') + e('c', 'minOccurs="0" maxOccurs="unbounded"')),
    '(a b? c*)',
    '',
  ],
  ['maxOccurs of 0 is no element', sequence(e('a') + e('b', 'minOccurs="0" maxOccurs="0"')), '(a)', ''],
  [
    'a choice that repeats',
    `<xs:complexType><xs:choice maxOccurs="unbounded">${e('a')}${e('b')}</xs:choice></xs:complexType>`,
    '(a|b)+',
    '',
  ],
  ['all', `<xs:complexType><xs:all>${e('a')}${e('b')}</xs:all></xs:complexType>`, '(a&b)', ''],
  [
    'a group stands where it is referred to, as often as that says',
    sequence('<xs:group ref="t:G" minOccurs="0"/>'),
    '((a|b)?)',
    `<xs:group name="G"><xs:choice>${e('a')}${e('b')}</xs:choice></xs:group>`,
  ],
  ['a wildcard', sequence(`${e('a')}<xs:any minOccurs="0" maxOccurs="unbounded"/>`), '(a any*)', ''],
  ['a reference is the global element', sequence('<xs:element ref="t:Name"/>'), '(Name)', e('Name')],
  [
    'an element without a qualified form has no namespace',
    sequence(e('a', 'form="unqualified"')),
    '({}a)',
    '',
  ],
  [
    'mixed content',
    `<xs:complexType mixed="true"><xs:sequence>${e('a')}</xs:sequence></xs:complexType>`,
    'mixed (a)',
    '',
  ],
  ['mixed content without elements', '<xs:complexType mixed="true"/>', 'mixed', ''],
  [
    'simple content is text of its base',
    '<xs:complexType><xs:simpleContent><xs:extension base="xs:decimal"/></xs:simpleContent></xs:complexType>',
    'text decimal',
    '',
  ],
  [
    "an extension has its base's elements first",
    `<xs:complexType><xs:complexContent><xs:extension base="t:Base"><xs:sequence>${e('b')}</xs:sequence></xs:extension></xs:complexContent></xs:complexType>`,
    '((a) (b))',
    `<xs:complexType name="Base"><xs:sequence>${e('a')}</xs:sequence></xs:complexType>`,
  ],
  [
    'a restriction has those that it lists',
    `<xs:complexType><xs:complexContent><xs:restriction base="t:Base"><xs:sequence>${e('a')}</xs:sequence></xs:restriction></xs:complexContent></xs:complexType>`,
    '(a)',
    `<xs:complexType name="Base"><xs:sequence>${e('a')}${e('b', 'minOccurs="0"')}</xs:sequence></xs:complexType>`,
  ],
  [
    'a schema within a message is a wildcard, as a DataSet has it',
    sequence('<xs:element ref="xs:schema"/><xs:any/>'),
    '(any any)',
    '',
  ],
] as const) {
  test(`complex types: ${what}`, (t) => {
    t.is(contentOf(typeOfGet(serviceOf(t, getOf(type, declarations)))), content);
  });
}

for (const [what, derivation, content] of [
  ['by wsdl:arrayType', '<xs:attribute ref="e:arrayType" v:arrayType="xs:int[]"/>', 'array int 1'],
  ['of two dimensions', '<xs:attribute ref="e:arrayType" v:arrayType="xs:int[,]"/>', 'array int 2'],
  ['of arrays', '<xs:attribute ref="e:arrayType" v:arrayType="xs:int[][3]"/>', 'array complex 1'],
  ['without brackets', '<xs:attribute ref="e:arrayType" v:arrayType="xs:int"/>', 'array int 1'],
  [
    'by its lone element',
    '<xs:sequence><xs:element name="item" type="xs:long" maxOccurs="unbounded"/></xs:sequence>',
    'array long 1',
  ],
  ['of anything', '', 'array anyType 1'],
] as const) {
  test(`A30: a restriction of soapenc:Array is an array, ${what}`, (t) => {
    const type = `<xs:complexType xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xmlns:v="http://schemas.xmlsoap.org/wsdl/"><xs:complexContent><xs:restriction base="e:Array">${derivation}</xs:restriction></xs:complexContent></xs:complexType>`;
    const array = typeOfGet(serviceOf(t, getOf(type)));
    t.is(contentOf(array), content);
    t.deepEqual(array.attributes, []);
  });
}

test('attributes: groups, inheritance order, prohibited ones, forms and references are applied', (t) => {
  const type = `<xs:complexType><xs:complexContent><xs:extension base="t:Mid">
    <xs:attribute name="own" type="xs:int" use="required"/><xs:attribute ref="t:global" default="x"/><xs:anyAttribute/>
  </xs:extension></xs:complexContent></xs:complexType>`;
  const declarations = `<xs:attribute name="global" type="xs:token" default="g"/>
    <xs:attributeGroup name="Group"><xs:attribute name="grouped"/><xs:attributeGroup ref="t:Inner"/></xs:attributeGroup>
    <xs:attributeGroup name="Inner"><xs:attribute name="inner" form="qualified" fixed="1"/></xs:attributeGroup>
    <xs:complexType name="Base"><xs:attributeGroup ref="t:Group"/><xs:attribute name="gone"/></xs:complexType>
    <xs:complexType name="Mid"><xs:complexContent><xs:restriction base="t:Base"><xs:attribute name="gone" use="prohibited"/></xs:restriction></xs:complexContent></xs:complexType>`;
  const { attributes, anyAttribute } = typeOfGet(serviceOf(t, getOf(type, declarations)));
  t.true(anyAttribute);
  t.deepEqual(
    attributes.map(({ name, type: its, required, value }) => [
      `{${name.namespace}}${name.local}`,
      its.builtIn,
      required,
      value?.kind,
      value?.text,
    ]),
    [
      ['{}grouped', 'anySimpleType', false, undefined, undefined],
      ['{urn:t}inner', 'anySimpleType', false, 'fixed', '1'],
      ['{}own', 'int', true, undefined, undefined],
      ['{urn:t}global', 'token', false, 'default', 'x'],
    ],
  );
});

test('types: derived ones are listed at their base, recursive types refer to themselves', (t) => {
  const declarations = `<xs:complexType name="Node" abstract="true"><xs:sequence><xs:element name="next" type="t:Node" nillable="true"/></xs:sequence></xs:complexType>
    <xs:complexType name="Leaf"><xs:complexContent><xs:extension base="t:Node"/></xs:complexContent></xs:complexType>
    <xs:complexType name="Bud"><xs:complexContent><xs:extension base="t:Leaf"/></xs:complexContent></xs:complexType>`;
  const service = serviceOf(t, getOf(sequence(e('n', 'type="t:Node"')), declarations));
  const node = service.types.get('{urn:t}Node');
  const leaf = service.types.get('{urn:t}Leaf');
  if (node?.kind !== 'complex' || leaf?.kind !== 'complex') return t.fail();
  t.true(node.abstract);
  t.deepEqual(node.derived, [leaf]);
  t.deepEqual(
    leaf.derived.map(({ name }) => name?.local),
    ['Bud'],
  );
  t.is(leaf.base, node);
  t.is(contentOf(leaf), '(next)');
  const [next] =
    node.content.kind === 'elements' && 'particles' in node.content.particle
      ? node.content.particle.particles
      : [];
  t.true(next?.kind === 'element' && next.element.type === node && next.element.nillable);
  return undefined;
});

test('substitution groups: indirect members are included, abstract ones are not', (t) => {
  const declarations = `<xs:element name="Head" type="xs:int" abstract="true"/><xs:element name="Mid" substitutionGroup="t:Head" abstract="true"/>
    <xs:element name="A" substitutionGroup="t:Mid"/><xs:element name="B" type="xs:short" substitutionGroup="t:Head"/>`;
  const { elements } = serviceOf(t, getOf(sequence('<xs:element ref="t:Head"/>'), declarations));
  t.deepEqual(elements.get('{urn:t}Head')?.substitutes.map(nameOf).toSorted(), ['A', 'B']);
  t.deepEqual(elements.get('{urn:t}Mid')?.substitutes.map(nameOf), ['A']);
  t.is(elements.get('{urn:t}A')?.type.name?.local, 'int');
});

function simple(t: Parameters<typeof serviceOf>[0], content: string): SimpleType {
  const declarations = `<xs:simpleType name="S">${content}</xs:simpleType><xs:simpleType name="Base"><xs:restriction base="xs:token"><xs:maxLength value="9"/><xs:pattern value="a"/></xs:restriction></xs:simpleType>`;
  const type = serviceOf(t, getOf('<xs:complexType/>', declarations)).types.get('{urn:t}S');
  if (type?.kind !== 'simple') throw new Error('S: expected a simple type');
  return type;
}

test('simple types: facets of a restriction add to those of its base', (t) => {
  const { builtIn, base, facets } = simple(
    t,
    '<xs:restriction base="t:Base"><xs:enumeration value=" a  b "/><xs:enumeration value="c"/><xs:pattern value="b"/><xs:pattern value="c"/><xs:minLength value="1"/></xs:restriction>',
  );
  t.is(builtIn, 'token');
  t.is(base?.name?.local, 'Base');
  t.deepEqual(facets.enumeration, ['a b', 'c']);
  t.deepEqual(facets.patterns, [['a'], ['b', 'c']]);
  t.deepEqual([facets.minLength, facets.maxLength, facets.whiteSpace], [1, 9, 'collapse']);
});

test('simple types: lists and unions have their types, named and inline', (t) => {
  const list = simple(
    t,
    '<xs:list><xs:simpleType><xs:restriction base="xs:int"><xs:minInclusive value="1"/></xs:restriction></xs:simpleType></xs:list>',
  );
  t.is(list.variety.kind === 'list' ? list.variety.item.facets.minInclusive : '', '1');
  const union = simple(
    t,
    '<xs:union memberTypes="xs:int t:Base"><xs:simpleType><xs:restriction base="xs:date"/></xs:simpleType></xs:union>',
  );
  t.deepEqual(union.variety.kind === 'union' ? union.variety.members.map(({ builtIn }) => builtIn) : [], [
    'int',
    'token',
    'date',
  ]);
});

test('documentation is read without its markup', (t) => {
  const type =
    '<xs:annotation><xs:documentation>One &amp; <b>two</b>\n  <![CDATA[<three>]]></xs:documentation></xs:annotation><xs:complexType/>';
  t.is(serviceOf(t, getOf(type)).elements.get('{urn:t}Get')?.documentation, 'One & two <three>');
});

for (const [type, pattern, isIgnored] of [
  ['xs:date', '', true],
  ['xs:int', '', true],
  ['xs:boolean', '', true],
  ['xs:NMTOKEN', '', true],
  ['xs:string', '', false],
  ['xs:anyURI', '', false],
  ['xs:hexBinary', '', false],
  ['xs:date', '2.*', false],
  ['xs:date', '"/><xs:pattern value="2.*', false],
] as const) {
  test(`A3: the pattern ${JSON.stringify(pattern)} of ${type} is ${isIgnored ? '' : 'not '}ignored`, (t) => {
    const wsdl = getOf(
      sequence(e('a', 'type="t:S"')),
      `<xs:simpleType name="S"><xs:restriction base="${type}"><xs:pattern value="${pattern}"/></xs:restriction></xs:simpleType>`,
    );
    const { service, warnings } = load(t, { 'service.wsdl': wsdl });
    const declared = service.types.get('{urn:t}S');
    t.is(declared?.kind === 'simple' ? declared.facets.patterns.length : undefined, isIgnored ? 0 : 1);
    t.deepEqual(
      warnings.map(({ message }) => message),
      isIgnored ? [`no ${type} matches the pattern "", which is ignored`] : [],
    );
  });
}

for (const [what, type, declarations, problem] of [
  [
    'an element without a name',
    sequence('<xs:element type="xs:int"/>'),
    '',
    'expected a name or a ref, got an element without both',
  ],
  [
    'occurrences that are no number',
    sequence(e('a', 'maxOccurs="many"')),
    '',
    'expected maxOccurs as a number, got "many"',
  ],
  [
    'more at least than at most',
    sequence(e('a', 'minOccurs="2"')),
    '',
    'expected minOccurs of at most maxOccurs (1), got 2',
  ],
  [
    'a prefix that is not bound',
    sequence(e('a', 'type="q:int"')),
    '',
    'expected a bound prefix, got "q:int"',
  ],
  [
    'a type derived from itself',
    sequence(e('a', 'type="t:A"')),
    '<xs:complexType name="A"><xs:complexContent><xs:extension base="t:A"/></xs:complexContent></xs:complexType>',
    'expected a type that is not derived from itself, got a circular type',
  ],
  [
    'a simple type derived from itself',
    sequence(e('a', 'type="t:A"')),
    '<xs:simpleType name="A"><xs:restriction base="t:A"/></xs:simpleType>',
    'expected a type that is not derived from itself, got A',
  ],
  [
    'a group that holds itself',
    '<xs:complexType><xs:group ref="t:G"/></xs:complexType>',
    '<xs:group name="G"><xs:sequence><xs:group ref="t:G"/></xs:sequence></xs:group>',
    'expected a group that does not contain itself, got a circular group',
  ],
  [
    'an attribute of a complex type',
    '<xs:complexType><xs:attribute name="a" type="t:C"/></xs:complexType>',
    '<xs:complexType name="C"/>',
    'expected a simple type, got the complex type "t:C"',
  ],
] as const) {
  test(`wrong schemas: ${what} is reported with its line`, (t) => {
    t.deepEqual(problemsOf(t, { 'service.wsdl': `\n${getOf(type, declarations)}` }), [
      `service.wsdl:2#: ${problem}`,
    ]);
  });
}
