import test from 'ava';
import {
  checkRead,
  checkWrite,
  compiledGet,
  element as e,
  many,
  maybe,
  type ReadCase,
  sequence,
  type WriteCase,
  writeMessage,
  written,
} from './messages.ts';

/** Content of a complex type's element: elements, repeated groups, choices, wildcards, substitution groups. */

const declarations =
  `<xs:complexType name="Ids"><xs:sequence>${e('id', 'xs:int', many)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Pair"><xs:sequence>${e('x', 'xs:int')}${e('y', 'xs:int', maybe)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Placed"><xs:sequence>${e('a', 'xs:int')}<xs:choice>${e('b', 'xs:int')}${e('c', 'xs:int')}</xs:choice>${e('d', 'xs:int')}${e('a', 'xs:int', maybe)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Chosen"><xs:sequence><xs:choice>${e('a', 'xs:int')}${e('b', 'xs:int')}</xs:choice>${e('d', 'xs:int')}</xs:sequence></xs:complexType>` +
  `${e('Path', 'xs:anyType', 'abstract="true"')}${e('Field', 'xs:string', 'substitutionGroup="t:Path"')}${e('Index', 'xs:int', 'substitutionGroup="t:Path" nillable="true"')}${e('Spot', 't:Pair', 'substitutionGroup="t:Path"')}${e('Row', 't:Ids', 'substitutionGroup="t:Path"')}`;

const group = (kind: 'sequence' | 'choice', content: string, more = ''): string =>
  `<xs:${kind} ${more}>${content}</xs:${kind}>`;
const typeOf = (content: string): string => `<xs:complexType>${content}</xs:complexType>`;
const long = 'n'.repeat(65);
const anyOther = `<xs:any namespace="##other" ${many} processContents="skip"/>`;
const choices = sequence(
  group(
    'choice',
    group('sequence', e('a', 'xs:string', maybe) + e('b', 'xs:string', maybe)) +
      e('c') +
      group('sequence', e('d', 'xs:string', maybe) + e('f', 'xs:string', maybe)),
    maybe,
  ) +
    group('choice', e('g') + e('h'), maybe) +
    e('z', 'xs:string', maybe),
);
const rounds = typeOf(
  group(
    'sequence',
    e('k') + group('choice', e('l', 'xs:int') + e('m', 'xs:int'), maybe) + e('v', 'xs:int', many),
    many,
  ),
);
const nested = typeOf(
  group(
    'sequence',
    e('n') + group('sequence', e('k', 'xs:int') + e('v', 'xs:int', maybe), many) + e('w', 'xs:string', maybe),
    many,
  ),
);
const openRounds = typeOf(
  group('sequence', `${e('k')}<xs:any namespace="##other" minOccurs="0" processContents="skip"/>`, many),
);
const openBranches = typeOf(
  group(
    'choice',
    group('sequence', e('a', 'xs:string', maybe) + anyOther) +
      group('sequence', e('b', 'xs:string', maybe) + anyOther),
  ),
);
/** At most two `a`, then `b`, then any number of `a`; or `c` with one `a`. */
const places = typeOf(
  group(
    'choice',
    group(
      'sequence',
      e('a', 'xs:int', 'minOccurs="0" maxOccurs="2"') + e('b', 'xs:string', maybe) + e('a', 'xs:int', many),
    ) + group('sequence', e('c') + e('a', 'xs:int', maybe)),
  ),
);
/** Positions of `a`, a group that may repeat twice, and the nillable `n`. */
const roundsInPlaces = sequence(
  e('a', 'xs:int', maybe) +
    group(
      'choice',
      e('m', 'xs:int', maybe) +
        e('n', 'xs:int', 'nillable="true"') +
        e('o', 'xs:int', maybe) +
        e('q', 'xs:int', many),
    ) +
    e('ids', 't:Ids', maybe) +
    group('sequence', e('k', 'xs:int') + e('l', 'xs:int', maybe), 'minOccurs="0" maxOccurs="2"') +
    e('a', 'xs:int', maybe),
);
const withinBranch = typeOf(
  group(
    'choice',
    group('sequence', e('a', 'xs:int') + group('choice', e('x', 'xs:int') + e('y', 'xs:int'))) +
      group('sequence', e('b', 'xs:int') + e('a', 'xs:int')),
  ),
);
const fewPlaces = sequence(e('a', 'xs:int', maybe) + e('b', 'xs:string', maybe) + e('a', 'xs:int', maybe));
const sameLocal = sequence(e('a', 'xs:string', maybe) + e('a', 'xs:int', `${maybe} form="unqualified"`));

const readCases: readonly ReadCase[] = [
  {
    title: 'elements may come in any order, members stand in that of their first',
    type: sequence(e('a', 'xs:int') + e('b', 'xs:int', many) + e('c', 'xs:int', maybe)),
    content: '<t:c>1</t:c><t:b>2</t:b><t:a>3</t:a><t:b>4</t:b><t:b>5</t:b>',
    json: '{"c":1,"b":[2,4,5],"a":3}',
  },
  {
    title: 'an element without a namespace is taken for one with it',
    type: sequence(e('a', 'xs:int') + e('b', 'xs:int', many)),
    content: '<a>1</a><b>2</b><t:b>3</t:b><b>4</b>',
    json: '{"a":1,"b":[2,3,4]}',
  },
  {
    title: 'elements of one name in two namespaces are two members, each by its own',
    type: sameLocal,
    content: '<a>1</a><t:a>x</t:a>',
    json: '{"a_2":1,"a":"x"}',
  },
  {
    title: 'an element without a namespace is that with one once its own place is taken',
    type: sameLocal,
    content: '<a>1</a><a>x</a><a>2</a><t:a>3</t:a><o:a xmlns:o="urn:o"/>',
    json: '{"a_2":1,"a":"x"}',
    problems: [
      'DuplicateElement a: expected the element once, got it again',
      'DuplicateElement a: expected the element once, got it again',
      'UnknownElement a: expected it in namespace "urn:t", got namespace "urn:o"',
    ],
  },
  {
    title: 'an element that comes again is refused, without a namespace too',
    type: sequence(e('a', 'xs:int', maybe)),
    content: '<t:a>1</t:a><a>2</a><t:a>3</t:a><o:a xmlns:o="urn:o"/>',
    json: '{"a":1}',
    problems: [
      'DuplicateElement a: expected the element once, got it again',
      'DuplicateElement a: expected the element once, got it again',
      'UnknownElement a: expected it in namespace "urn:t", got namespace "urn:o"',
    ],
  },
  {
    title: 'items that are refused are left out, each told with its place',
    type: sequence(
      e('a', 'xs:int') + e('b', 'xs:int', many) + e('c', 'xs:int', many) + e('d', 'xs:int', many),
    ),
    content:
      '<t:a>u</t:a><t:b>v</t:b><t:b>1</t:b><t:b>w</t:b><t:b>2</t:b><t:c>x</t:c><t:d>3</t:d><t:c>y</t:c>',
    json: '{"b":[1,2],"c":[],"d":[3]}',
    problems: [
      'InvalidType a: expected xs:int, got "u"',
      'InvalidType b[0]: expected xs:int, got "v"',
      'InvalidType b[2]: expected xs:int, got "w"',
      'InvalidType c[0]: expected xs:int, got "x"',
      'InvalidType c[1]: expected xs:int, got "y"',
    ],
  },
  {
    title:
      'nil is as nothing where an element need not be there, and refused in a list or where it has to be',
    type: sequence(e('a', 'xs:int', maybe) + e('b', 'xs:int', many) + e('c', 'xs:int')),
    content: '<t:a xsi:nil="true"/><t:b xsi:nil="true"/><t:c xsi:nil="true"/>',
    json: '{"b":[]}',
    problems: ['NotEmpty b[0]: expected a value, got xsi:nil', 'NotEmpty c: expected a value, got xsi:nil'],
  },
  {
    title: 'a wrapper is an array where it stands once, and an object where it repeats',
    type: sequence(e('i', 't:Ids') + e('j', 't:Ids', many)),
    content: '<t:i><t:id>1</t:id><t:id>2</t:id></t:i><t:j><t:id>3</t:id></t:j><t:j/>',
    json: '{"i":[1,2],"j":[{"id":[3]},{}]}',
  },
  {
    title: 'text between elements is refused',
    type: sequence(e('i', 't:Ids') + e('p', 't:Pair')),
    content: 'x<t:i>y<t:id>1</t:id></t:i><t:p><t:x>2</t:x>z</t:p>',
    json: '{"i":[1],"p":{"x":2}}',
    problems: [
      'InvalidType i: expected elements, got text',
      'InvalidType p: expected elements, got text',
      'InvalidType expected elements, got text',
    ],
  },
  {
    title: 'unknown elements are told with their place and the names that there are',
    type: sequence(e('p', 't:Pair', many) + e('Name', 'xs:string', maybe) + e('Title', 'xs:string', maybe)),
    content: `<t:p><t:xx/><t:x>1</t:x></t:p><t:${long}><t:Name/></t:${long}><t:Nam/>`,
    json: '{"p":[{"x":1}]}',
    problems: [
      'UnknownElement p[0].xx: unknown element, did you mean x?',
      `UnknownElement ${long.slice(0, 64)}: unknown element, expected p, Name, Title`,
      'UnknownElement Nam: unknown element, did you mean Name?',
    ],
  },
  {
    title: 'unknown elements, and those that come again, are left out where the contract says so',
    type: sequence(e('a', 'xs:string', maybe)),
    content: '<t:b><t:a/></t:b><t:a>1</t:a><t:a>2</t:a>',
    settings: { unknownElements: 'ignore' },
    json: '{"a":"1"}',
    ignored: ['b', 'a'],
  },
  {
    title: 'members that are required and not there are missing, those of a choice are not',
    type: sequence(
      e('p', 't:Pair', many) +
        group('choice', e('a') + e('b')) +
        e('q') +
        group('sequence', e('r', 'xs:int'), maybe),
    ),
    content: '<t:p><t:y>1</t:y></t:p><t:p><t:x>2</t:x></t:p>',
    json: '{"p":[{"y":1},{"x":2}]}',
    missing: ['p[0].x', 'q'],
  },
  {
    title: 'members of one branch of each choice may come',
    type: choices,
    content: '<t:d>1</t:d><t:f>2</t:f><t:h>3</t:h><t:z>4</t:z>',
    json: '{"d":"1","f":"2","h":"3","z":"4"}',
  },
  ...(
    [
      ['<t:a/><t:b/><t:c/>', '{"a":"","b":"","c":""}', 'c: expected it or a, which are a choice, got both'],
      ['<t:f/><t:z/><t:b/>', '{"f":"","z":"","b":""}', 'b: expected it or f, which are a choice, got both'],
      [
        '<t:a/><t:b/><t:g/><t:h/>',
        '{"a":"","b":"","g":"","h":""}',
        'h: expected it or g, which are a choice, got both',
      ],
      ['<t:c/><t:d/><t:f/>', '{"c":"","d":"","f":""}', 'd: expected it or c, which are a choice, got both'],
    ] as const
  ).map(([content, json, problem]) => ({
    title: `members of two branches are refused: ${problem}`,
    type: choices,
    content,
    json,
    problems: [`DuplicateElement ${problem}`],
  })),
  {
    title: 'a round of a repeated group ends where its order does, or its choice',
    type: rounds,
    content:
      '<t:k>1</t:k><t:v>2</t:v><t:v>3</t:v><t:k>4</t:k><t:m>5</t:m><t:v>6</t:v><t:m>7</t:m><t:l>8</t:l><t:k>9</t:k><t:k>10</t:k><t:l>11</t:l><t:l>12</t:l>',
    json: '{"@items":[{"k":"1","v":[2,3]},{"k":"4","m":5,"v":[6]},{"m":7},{"l":8},{"k":"9"},{"k":"10","l":11},{"l":12}]}',
    missing: ['k', 'k', 'k'],
  },
  {
    title: 'a repeated group within one has rounds of its own',
    type: nested,
    content:
      '<t:n>a</t:n><t:k>1</t:k><t:v>2</t:v><t:k>3</t:k><t:w>x</t:w><t:n>b</t:n><t:w>y</t:w><t:n>c</t:n><t:v>4</t:v><t:v>5</t:v>',
    json: '{"@items":[{"n":"a","@items":[{"k":1,"v":2},{"k":3}],"w":"x"},{"n":"b","w":"y"},{"n":"c","@items":[{"v":4},{"v":5}]}]}',
    missing: ['k', 'k'],
  },
  {
    title: 'a wildcard in a repeated group takes elements of its namespaces, one in each round',
    type: openRounds,
    content: '<t:k>1</t:k><o:x xmlns:o="urn:o"/><o:y xmlns:o="urn:o"/><t:k>2</t:k><t:z/>',
    json: '{"@items":[{"k":"1","@any":"<o:x xmlns:o=\\"urn:o\\"></o:x>"},{"@any":"<o:y xmlns:o=\\"urn:o\\"></o:y>"},{"k":"2"}]}',
    problems: ['UnknownElement z: unknown element, did you mean k?'],
    missing: ['k'],
  },
  {
    title: 'a wildcard that stands once takes one element',
    type: sequence(`${e('a', 'xs:string', maybe)}<xs:any minOccurs="0" processContents="skip"/>`),
    content: '<b/><t:a>1</t:a><c/>',
    json: '{"@any":"<b></b>","a":"1"}',
    problems: ['UnknownElement c: unknown element, did you mean a?'],
  },
  {
    title: 'an element in the place of a head says which it is, in lists too',
    type: sequence(`<xs:element ref="t:Path" ${many}/>`),
    content:
      '<t:Field>x</t:Field><t:Index>1</t:Index><t:Index xsi:nil="true"/><t:Spot><t:x>2</t:x></t:Spot><t:Row><t:id>3</t:id></t:Row><t:Index>y</t:Index><t:Spot xsi:nil="true"/>',
    json: '{"Path":[{"Field":"x"},{"Index":1},{"Index":null},{"Spot":{"x":2}},{"Row":{"id":[3]}}]}',
    problems: [
      'InvalidType Index[5]: expected xs:int, got "y"',
      'NotEmpty Spot[6]: expected a value, got xsi:nil',
    ],
  },
  {
    title: 'an element in the place of a head stands there once',
    type: sequence('<xs:element ref="t:Path"/>'),
    content: '<t:Row><t:id>3</t:id></t:Row><t:Field>x</t:Field>',
    json: '{"Path":{"Row":[3]}}',
    problems: ['DuplicateElement Field: expected the element once, got it again'],
  },
  {
    title: 'an element that has several places is a list where both can be filled',
    type: places,
    content: '<t:a>1</t:a><t:b>x</t:b><t:a>2</t:a>',
    json: '{"a":[1,2],"b":"x"}',
  },
  {
    title: 'members of two branches are refused where some have places elsewhere',
    type: places,
    content: '<t:c>x</t:c><t:a>1</t:a><t:b>y</t:b>',
    json: '{"c":"x","a":[1],"b":"y"}',
    problems: ['DuplicateElement b: expected it or c, which are a choice, got both'],
  },
  {
    title: 'a wildcard in two branches is of either, elements of both are refused',
    type: openBranches,
    content: '<o:x xmlns:o="urn:o"/><t:a/><t:b/>',
    json: '{"@any":["<o:x xmlns:o=\\"urn:o\\"></o:x>"],"a":"","b":""}',
    problems: ['DuplicateElement b: expected it or a, which are a choice, got both'],
  },
  {
    title: 'an element that a repeated group has too is of the round that is open',
    type: sequence(
      e('a', 'xs:int', many) +
        group('sequence', e('k') + e('a', 'xs:int', maybe), many) +
        e('b', 'xs:int', maybe),
    ),
    content:
      '<t:a>1</t:a><t:a>2</t:a><t:k>x</t:k><t:a>3</t:a><t:k>y</t:k><t:k>z</t:k><t:a>4</t:a><t:b>5</t:b>',
    json: '{"a":[1,2],"@items":[{"k":"x","a":3},{"k":"y"},{"k":"z","a":4}],"b":5}',
  },
  {
    title: 'an element that a repeated group before it has too is of that, and behind what follows by itself',
    type: sequence(
      group('sequence', e('k') + e('a', 'xs:int', maybe), many) +
        e('b', 'xs:int', maybe) +
        e('a', 'xs:int', maybe),
    ),
    content: '<t:k>x</t:k><t:a>1</t:a><t:k>y</t:k><t:a>2</t:a><t:b>3</t:b><t:a>4</t:a>',
    json: '{"@items":[{"k":"x","a":1},{"k":"y","a":2}],"b":3,"a":4}',
  },
  {
    title:
      'an element that a repeated group right before it has too is of that as long as its round takes it',
    type: sequence(group('sequence', e('k') + e('a', 'xs:int', maybe), many) + e('a', 'xs:int', maybe)),
    content: '<t:k>x</t:k><t:a>1</t:a><t:a>2</t:a>',
    json: '{"@items":[{"k":"x","a":1}],"a":2}',
  },
  {
    title:
      'a conflict of a choice in a sequence with several places is found, and what is missing told at its place',
    type: sequence(e('p', 't:Placed')),
    content: '<t:p><t:a>1</t:a><t:c>2</t:c><t:b>3</t:b></t:p>',
    json: '{"p":{"a":[1],"c":2,"b":3}}',
    problems: ['DuplicateElement p.b: expected it or c, which are a choice, got both'],
    missing: ['p.d'],
  },
  {
    title: 'a conflict within the branch that has all is told as that',
    type: withinBranch,
    content: '<t:a>1</t:a><t:x>2</t:x><t:y>3</t:y>',
    json: '{"a":1,"x":2,"y":3}',
    problems: ['DuplicateElement y: expected it or x, which are a choice, got both'],
  },
  {
    title: 'a choice within another has its own conflict, beside what is missing',
    type: sequence(e('p', 't:Chosen')),
    content: '<t:p><t:b>1</t:b><t:a>2</t:a></t:p>',
    json: '{"p":{"b":1,"a":2}}',
    problems: ['DuplicateElement p.a: expected it or b, which are a choice, got both'],
    missing: ['p.d'],
  },
];

for (const one of readCases)
  test(`in a request ${one.title}`, (t) => {
    checkRead(t, one, declarations);
  });

const writeCases: readonly WriteCase[] = [
  {
    title: 'elements are in the order of the schema, of a null there is none',
    type: sequence(
      e('a', 'xs:int', maybe) + e('b', 'xs:int', many) + e('c', 'xs:int', maybe) + e('d', 'xs:int', many),
    ),
    json: '{"c":1,"b":[2,3],"a":null,"d":null}',
    xml: '><n0:b>2</n0:b><n0:b>3</n0:b><n0:c>1</n0:c></n0:Get>',
  },
  {
    title: 'a null is nil where its element may be, in lists too',
    type: sequence(e('a', 'xs:int', 'nillable="true"') + e('b', 'xs:int', `${many} nillable="true"`)),
    json: '{"a":null,"b":[null,1,null]}',
    xml: '><n0:a i:nil="true"/><n0:b i:nil="true"/><n0:b>1</n0:b><n0:b i:nil="true"/></n0:Get>',
  },
  {
    title: 'what is required and null, empty or not there is missing, but for a fixed value',
    type: sequence(
      e('a', 'xs:int') +
        e('b', 'xs:int') +
        e('c', 'xs:int', 'maxOccurs="2"') +
        e('d', 'xs:int', 'maxOccurs="2"') +
        e('f', 'xs:string', 'fixed="&lt;1"') +
        e('g', 'xs:string', 'default="2"') +
        e('h', 'xs:string', 'fixed="3" minOccurs="0"') +
        e('i', 'xs:string', 'fixed="4"'),
    ),
    json: '{"b":null,"d":[],"i":null}',
    xml: '><n0:f>&lt;1</n0:f></n0:Get>',
    missing: 6,
  },
  {
    title: 'a group that repeats is written round by round',
    type: nested,
    json: '{"@items":[{"w":"x","@items":[{"v":2,"k":1},{"k":3}],"n":"a"},{"@items":[],"n":"b"},{"@items":null},{}]}',
    xml: '><n0:n>a</n0:n><n0:k>1</n0:k><n0:v>2</n0:v><n0:k>3</n0:k><n0:w>x</n0:w><n0:n>b</n0:n></n0:Get>',
    missing: 2,
  },
  {
    title: 'a round has no member called value',
    type: rounds,
    json: '{"@items":[{"k":"1","value":"x"}]}',
    xml: '><n0:k>1</n0:k></n0:Get>',
    dropped: 1,
  },
  {
    title: 'no rounds are nothing',
    type: nested,
    json: '{"@items":null}',
    xml: '/>',
  },
  {
    title: 'of a wildcard the text is written as it is',
    type: sequence(`${e('a', 'xs:string', maybe)}<xs:any ${many} processContents="skip"/>`),
    json: '{"@any":["<b/>","<c x=\'1\'>&#65;</c>"],"a":"1"}',
    xml: "><n0:a>1</n0:a><b/><c x='1'>&#65;</c></n0:Get>",
  },
  {
    title: 'of a wildcard that stands once a null is nothing',
    type: sequence('<xs:any minOccurs="0" processContents="skip"/>'),
    json: '{"@any":null}',
    xml: '/>',
  },
  {
    title: 'in the place of a head stands the element that the object names',
    type: sequence(`<xs:element ref="t:Path" ${many}/>`),
    json: '{"Path":[{"Field":"x"},{"Index":null},{"\\u0049ndex":1},{"Spot":{"x":2}},{"Row":{"id":[3]}}]}',
    xml: '><n0:Field>x</n0:Field><n0:Index i:nil="true"/><n0:Index>1</n0:Index><n0:Spot><n0:x>2</n0:x></n0:Spot><n0:Row><n0:id>3</n0:id></n0:Row></n0:Get>',
  },
  {
    title: 'in the place of a head that stands once a list is one, and a null nothing',
    type: sequence('<xs:element ref="t:Path"/><xs:element ref="t:Head" minOccurs="0"/>'),
    json: '{"Path":{"Row":[3,4]},"Head":null}',
    xml: '><n0:Row><n0:id>3</n0:id><n0:id>4</n0:id></n0:Row></n0:Get>',
  },
  {
    title: 'a member of a choice that is null is not there',
    type: choices,
    json: '{"a":null,"c":"1","d":null,"g":null,"h":"2"}',
    xml: '><n0:c>1</n0:c><n0:h>2</n0:h></n0:Get>',
  },
  {
    title: 'items are written in the first places that are free',
    type: places,
    json: '{"b":"x","a":[1,2,3,4]}',
    xml: '><n0:a>1</n0:a><n0:a>2</n0:a><n0:b>x</n0:b><n0:a>3</n0:a><n0:a>4</n0:a></n0:Get>',
  },
  {
    title: 'items are written in the branch that takes most members',
    type: places,
    json: '{"a":[1],"c":"x","b":null}',
    xml: '><n0:c>x</n0:c><n0:a>1</n0:a></n0:Get>',
  },
  {
    title: 'where nothing is, nothing is written of several places',
    type: fewPlaces,
    json: '{"a":[],"b":null}',
    xml: '/>',
  },
  {
    title: 'members of two namespaces are written each in its own',
    type: sameLocal,
    json: '{"a_2":1,"a":"x"}',
    xml: '><n0:a>x</n0:a><a>1</a></n0:Get>',
  },
  {
    title: 'lists, heads and wildcards that are required and null are missing',
    type: sequence(
      `${e('a', 'xs:int', 'maxOccurs="2" nillable="true"')}<xs:element ref="t:Path"/><xs:any namespace="##other" processContents="skip"/>${group('sequence', e('k') + e('l'), 'maxOccurs="2"')}`,
    ),
    json: '{"a":null,"Path":null,"@any":null,"@items":null}',
    xml: '/>',
    missing: 4,
  },
  {
    title: 'all rounds are written beside elements of several places',
    type: roundsInPlaces,
    json: '{"@items":[{"k":1},{"k":2},{"k":3}],"a":[4,5],"n":null}',
    xml: '><n0:a>4</n0:a><n0:n i:nil="true"/><n0:k>1</n0:k><n0:k>2</n0:k><n0:k>3</n0:k><n0:a>5</n0:a></n0:Get>',
    passed: 1,
  },
  {
    title: 'a nil element counts less than a value where branches have several places',
    type: roundsInPlaces,
    json: '{"n":null,"o":1,"a":[]}',
    xml: '><n0:o>1</n0:o></n0:Get>',
  },
  {
    title: 'a nil element counts more than a null or an empty list where branches have several places',
    type: roundsInPlaces,
    json: '{"m":null,"n":null,"q":[]}',
    xml: '><n0:n i:nil="true"/></n0:Get>',
  },
  {
    title: 'a type that is an array is one element beside elements of several places, an empty one too',
    type: roundsInPlaces,
    json: '{"ids":[1,2],"a":[3]}',
    xml: '><n0:a>3</n0:a><n0:ids><n0:id>1</n0:id><n0:id>2</n0:id></n0:ids></n0:Get>',
  },
  {
    title: 'a list without items is not there, a type that is an array is',
    type: sequence(
      e('ids', 't:Ids') + group('choice', e('a', 'xs:int', many) + e('b', 't:Ids') + e('c', 'xs:int')),
    ),
    json: '{"ids":[],"a":[],"b":[]}',
    xml: '><n0:ids/><n0:b/></n0:Get>',
  },
  {
    title: 'of branches that take as much the first is written',
    type: typeOf(
      group(
        'choice',
        group('sequence', e('a') + e('b', 'xs:string', maybe)) +
          group('sequence', e('b') + e('a', 'xs:string', maybe)),
      ),
    ),
    json: '{"b":"1","a":"2"}',
    xml: '><n0:a>2</n0:a><n0:b>1</n0:b></n0:Get>',
  },
];

for (const one of writeCases)
  test(`in a reply ${one.title}`, (t) => {
    checkWrite(
      t,
      one,
      `${declarations}${e('Head')}${e('Heading', 'xs:string', 'substitutionGroup="t:Head"')}`,
    );
  });

const heads = sequence(`<xs:element ref="t:Path" ${many}/>`);
for (const [title, type, json, message] of [
  ['a null in a list', sequence(e('a', 'xs:int', many)), '{"a":[1,null]}', 'a[1]: expected a value, got null'],
  ['a null among rounds', nested, '{"@items":[{},null]}', '@items[1]: expected a value, got null'],
  ['a value that is no list', sequence(e('a', 'xs:int', many)), '{"a":1}', 'a: expected an array, got a number'],
  ['a null in the place of a head', heads, '{"Path":[null]}', 'Path[0]: expected a value, got null'],
  ['an empty object in the place of a head', heads, '{"Path":[{}]}', 'Path[0]: expected one of Field, Index, Spot, Row, got an empty object'],
  ['an unknown member in the place of a head', heads, '{"Path":[{"Path":1}]}', 'Path[0]: expected one of Field, Index, Spot, Row, got another member'],
  ['a second member in the place of a head', heads, '{"Path":[{"Field":"x","Index":1}]}', 'Path[0]: expected one of Field, Index, Spot, Row, got several members'],
  ['a value of another type in the place of a head', heads, '{"Path":[{"Field":"x"},{"Index":"y"}]}', 'Path[1].Index: expected xs:int, got a string that is no number'],
  ['a string in the place of a head', heads, '{"Path":["Field"]}', 'Path[0]: expected an object, got a string'],
  ['more items than places', fewPlaces, '{"a":[1,2,3]}', 'a: expected no more than the schema has places for, got more'],
  ['two branches', choices, '{"c":"1","b":"2"}', 'c: expected it or b, which are a choice, got both'],
  ['two branches of the second choice', choices, '{"a":"0","b":"1","h":"2","g":"3"}', 'h: expected it or g, which are a choice, got both'],
  ['two branches behind attributes', choices.replace('</xs:complexType>', '<xs:attribute name="i" type="xs:int"/><xs:attribute name="j" type="xs:int"/></xs:complexType>'), '{"i":1,"j":2,"c":"1","b":"2"}', 'c: expected it or b, which are a choice, got both'],
  ['an array beside another branch', sequence(group('choice', e('b', 't:Ids') + e('c', 'xs:int'))), '{"b":[],"c":1}', 'c: expected it or b, which are a choice, got both'],
  ['two branches of a choice in a sequence with several places', sequence(e('p', 't:Placed')), '{"p":{"b":1,"c":2}}', 'p.c: expected it or b, which are a choice, got both'],
  ['two branches in a round', rounds, '{"@items":[{"k":"1","l":2},{"k":"3","l":4,"m":5}]}', '@items[1].m: expected it or l, which are a choice, got both'],
  ['two branches with places elsewhere', places, '{"c":"1","b":"2"}', 'c: expected it or b, which are a choice, got both'],
] as const) // biome-ignore format: a table
  test(`in a reply ${title} is a mismatch`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    t.throws(() => writeMessage(request, json), { name: 'MismatchError', message });
  });

test('in a reply invalid JSON instead of a substitute is reported as such', (t) => {
  const { request } = compiledGet(t, heads, declarations);
  t.throws(() => writeMessage(request, '{"Path":[{Field:1}]}'), { message: /a member name/ });
  t.throws(() => writeMessage(request, '{"Path":[{"Field" 1}]}'), { message: /":"/ });
  t.throws(() => writeMessage(request, '{"Path":[{"Index":1.}]}'), { name: 'JsonError' });
  t.throws(() => writeMessage(request, '{"Path":[{"Field":"x" "Index":1}]}'), { name: 'JsonError' });
});

test('in a reply many substitutes of a head are separate at every buffer boundary', (t) => {
  const type = sequence(`${e('i', 'xs:int', many)}<xs:element ref="t:Path" ${many}/>`);
  for (let pad = 0; pad < 8; pad++) {
    // a grown buffer stays large, so the codec is compiled again
    const { request } = compiledGet(t, type, declarations);
    const numbers = Array.from({ length: pad }, (_, index) => index);
    const json = `{"i":[${numbers}],"Path":[${'{"Spot":{"x":1}},{"Field":"y"},'.repeat(1000)}{"Field":""}]}`;
    const xml = `${numbers.map((number) => `<n0:i>${number}</n0:i>`).join('')}${'<n0:Spot><n0:x>1</n0:x></n0:Spot><n0:Field>y</n0:Field>'.repeat(1000)}<n0:Field/>`;
    t.true(written(request, json) === `<n0:Get>${xml}</n0:Get>`, `${pad}`);
  }
});

test('in a reply earlier content is not written instead of a null', (t) => {
  const type = sequence(
    `<xs:element ref="t:Path" minOccurs="0"/><xs:any minOccurs="0" processContents="skip"/>`,
  );
  const { request } = compiledGet(t, type, declarations);
  const [path, any] = ['{"Path":{"Index":1}}', '{"@any":"<b/>"}'];
  for (let time = 0; time < 2; time++) {
    t.is(written(request, path), '<n0:Get><n0:Index>1</n0:Index></n0:Get>');
    t.is(written(request, '{"Path":null}'), '<n0:Get/>');
    t.is(written(request, any), '<n0:Get><b/></n0:Get>');
    t.is(written(request, '{"@any":null}'), '<n0:Get/>');
  }
});
