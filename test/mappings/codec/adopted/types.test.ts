import test from 'ava';
import {
  checkRead,
  checkWrite,
  compiledGet,
  element as e,
  get,
  many,
  maybe,
  type ReadCase,
  readMessage,
  sequence,
  type WriteCase,
  writeMessage,
} from './messages.ts';

const list = sequence(e('v', 'xs:int', many)).replace('<xs:complexType>', '');
const simple = (name: string, content: string): string =>
  `<xs:simpleType name="${name}">${content}</xs:simpleType>`;
const group = (kind: string, content: string, more = ''): string =>
  `<xs:${kind} ${more}>${content}</xs:${kind}>`;
const typeOf = (content: string): string => `<xs:complexType>${content}</xs:complexType>`;

const declarations =
  `<xs:complexType name="Plain">${list}` +
  `<xs:complexType name="Tree"><xs:sequence>${e('Tree', 't:Tree', many)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Attributed"><xs:sequence>${e('v', 'xs:int', many)}</xs:sequence><xs:attribute name="a" type="xs:int"/></xs:complexType>` +
  `<xs:complexType name="Open"><xs:sequence>${e('v', 'xs:int', many)}</xs:sequence><xs:anyAttribute/></xs:complexType>` +
  `<xs:complexType name="Base">${list}<xs:complexType name="Derived"><xs:complexContent><xs:extension base="t:Base"/></xs:complexContent></xs:complexType>` +
  `<xs:complexType name="Two"><xs:sequence maxOccurs="unbounded">${e('v', 'xs:int')}${e('w', 'xs:int', maybe)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Once"><xs:sequence>${e('v', 'xs:int')}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="AtMostTwo"><xs:sequence>${e('v', 'xs:int', 'maxOccurs="2"')}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Times"><xs:sequence maxOccurs="2"><xs:element name="v" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>` +
  `<xs:complexType name="Nothing"><xs:sequence maxOccurs="unbounded"><xs:element name="v" type="xs:int" minOccurs="0" maxOccurs="0"/></xs:sequence></xs:complexType>` +
  `<xs:complexType name="Hollow"><xs:sequence><xs:choice/><xs:sequence><xs:sequence/></xs:sequence>${e('v', 'xs:int', many)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="AllMany"><xs:all maxOccurs="unbounded">${e('v', 'xs:int')}${e('w', 'xs:int')}</xs:all></xs:complexType>` +
  '<xs:attribute name="a" type="xs:int"/>' +
  `<xs:complexType name="All"><xs:all>${e('v', 'xs:int', maybe)}</xs:all></xs:complexType>` +
  `<xs:complexType name="MixedList" mixed="true"><xs:sequence>${e('v', 'xs:int', many)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="MixedBase" mixed="true"><xs:sequence>${e('v', 'xs:int', many)}</xs:sequence></xs:complexType><xs:complexType name="MixedDerived" mixed="true"><xs:complexContent mixed="true"><xs:extension base="t:MixedBase"/></xs:complexContent></xs:complexType>` +
  `<xs:complexType name="Alone" abstract="true"/>` +
  simple('Color', '<xs:restriction base="xs:string"><xs:enumeration value="red"/></xs:restriction>') +
  simple('Small', '<xs:restriction base="xs:int"/>') +
  simple('Either', '<xs:union memberTypes="t:Small t:Color"/>') +
  simple('Words', '<xs:list itemType="xs:NMTOKEN"/>') +
  e('Head') +
  e('Other', 'xs:string', 'substitutionGroup="t:Head"');

const readCases: readonly ReadCase[] = [
  {
    title:
      'a type that is nothing but one repeated member is an array, and one that has or may have more an object',
    type: sequence(
      [
        'Plain',
        'Attributed',
        'Open',
        'Base',
        'Derived',
        'Two',
        'Once',
        'AtMostTwo',
        'Times',
        'Hollow',
        'All',
        'Tree',
      ]
        .map((name) => e(name, `t:${name}`, maybe))
        .join(''),
    ),
    content: [
      'Plain',
      'Attributed',
      'Open',
      'Base',
      'Derived',
      'Two',
      'Once',
      'AtMostTwo',
      'Times',
      'Hollow',
      'All',
    ]
      .map((name) => `<t:${name}><t:v>1</t:v></t:${name}>`)
      .join('')
      .concat('<t:Tree><t:Tree/><t:Tree><t:Tree/></t:Tree></t:Tree>'),
    json: '{"Plain":[1],"Attributed":{"v":[1]},"Open":{"v":[1]},"Base":{"v":[1]},"Derived":{"v":[1]},"Two":[{"v":1}],"Once":{"v":1},"AtMostTwo":[1],"Times":[1],"Hollow":[1],"All":{"v":1},"Tree":[{},{"Tree":[{}]}]}',
  },
  {
    title: 'a group of any order that repeats, as no schema may have it, is no array by itself',
    type: sequence(e('n', 't:AllMany')),
    content: '<t:n><t:w>1</t:w><t:v>2</t:v></t:n>',
    json: '{"n":{"@items":[{"w":1},{"v":2}]}}',
    missing: ['n.v', 'n.w'],
  },
  {
    title: 'a group that repeats and holds nothing is nothing',
    type: sequence(e('n', 't:Nothing', maybe)),
    content: '<t:n/>',
    json: '{"n":{}}',
  },
  {
    title: 'an array has no attributes, and is nil where its element may be',
    type: sequence(e('a', 't:Plain', maybe) + e('b', 't:Plain', 'nillable="true"')),
    content: '<t:a x="1"><t:v>1</t:v></t:a><t:b xsi:nil="true"/>',
    json: '{"a":[1],"b":null}',
    problems: ['UnknownElement a.x: unknown attribute, none is expected here'],
  },
  {
    title: 'nil with an attribute or content is refused for a text and an array',
    type: sequence(e('a', 'xs:int', 'nillable="true"') + e('b', 't:Plain', 'nillable="true"')),
    content: '<t:a xsi:nil="true" x="1"/><t:b xsi:nil="true"><t:v>1</t:v></t:b>',
    json: '{"a":null,"b":null}',
    problems: [
      'UnknownElement a.x: unknown attribute, none is expected here',
      'InvalidType b: expected no content in an element with xsi:nil',
    ],
  },
  {
    title: 'mixed content is a string, and one that may have attributes or a type an object',
    type: sequence(e('m', 't:MixedList', many) + e('d', 't:MixedBase', many)),
    content: '<t:m>a<t:v>1</t:v></t:m><t:m x="1"/><t:d>b</t:d><t:d xsi:type="t:MixedDerived">c</t:d>',
    json: '{"m":["a<t:v xmlns:t=\\"urn:t\\">1</t:v>",""],"d":[{"value":"b"},{"@type":"MixedDerived","value":"c"}]}',
    problems: ['UnknownElement m[1].x: unknown attribute, none is expected here'],
  },
  {
    title: 'a text may say that it is of its type or of one derived from it, a list or a union of any',
    type: sequence(
      e('i', 'xs:int', many) +
        e('e', 't:Either', many) +
        e('s', 'xs:anySimpleType', many) +
        e('w', 't:Words', many),
    ),
    content:
      '<t:i xsi:type="xs:int">1</t:i><t:i xsi:type="t:Small">2</t:i><t:i xsi:type="xs:short">3</t:i><t:i xsi:type="xs:long">4</t:i><t:i xsi:type="t:Once">5</t:i><t:i xsi:type="t:None">6</t:i><t:i xsi:type="u:int">7</t:i><t:i xsi:type="t:Color"><x/></t:i>' +
      '<t:e xsi:type="t:Color">red</t:e><t:e xsi:type="t:Small">8</t:e><t:e xsi:type="t:Either">9</t:e><t:e xsi:type="xs:boolean">10</t:e>' +
      '<t:s xsi:type="xs:int">11</t:s><t:s xsi:type="t:Words">a b</t:s><t:w xsi:type="xs:int">12</t:w><t:w x="1">c</t:w>',
    json: '{"i":[1,2,3],"e":["red","8","9","10"],"s":["11","a b"],"w":[["12"],["c"]]}',
    problems: [
      'InvalidType i[3]: expected xs:int or a type derived from it, got "xs:long" in namespace "http://www.w3.org/2001/XMLSchema"',
      'InvalidType i[4]: expected xs:int or a type derived from it, got "t:Once" in namespace "urn:t"',
      'InvalidType i[5]: expected xs:int or a type derived from it, got "t:None" in namespace "urn:t"',
      'InvalidType i[6]: expected xs:int or a type derived from it, got "u:int" with an unbound prefix',
      'InvalidType i[7]: expected xs:int or a type derived from it, got "t:Color" in namespace "urn:t"',
      'UnknownElement w[1].x: unknown attribute, none is expected here',
    ],
  },
  {
    title: 'a type without a name is told as the declared one',
    type: sequence(`<xs:element name="a">${sequence(e('b', 'xs:int', maybe))}</xs:element>`),
    content: '<t:a xsi:type="t:Once"><t:v>1</t:v></t:a>',
    json: '{}',
    problems: [
      'InvalidType a: expected the declared type or a type derived from it, got "t:Once" in namespace "urn:t"',
    ],
  },
  {
    title: 'an abstract type of which none is derived is refused',
    type: sequence(e('a', 't:Alone') + e('b', 'xs:int')),
    content: '<t:a><t:x/></t:a><t:b>1</t:b>',
    json: '{"b":1}',
    problems: ['InvalidType a: expected xsi:type with a type derived from Alone, got none'],
  },
  {
    title:
      'an empty text with a default is that in lists and with attributes too, unless the default is none of its type',
    type: sequence(
      e('a', 'xs:int', `${many} default="7"`) +
        e('b', 'xs:int', `${many} default="x"`) +
        e('c', 'xs:string', 'default="d"'),
    ),
    content: '<t:a/><t:a xsi:type="xs:int"/><t:a>1</t:a><t:b>2</t:b><t:b/><t:c></t:c>',
    json: '{"a":[7,7,1],"b":[2],"c":"d"}',
    problems: ['NotEmpty b[1]: expected xs:int, got an empty element; leave it out where no value is meant'],
  },
  {
    title: 'attributes whose names are taken have numbers from two on',
    type: sequence(
      e('a', 'xs:int', maybe),
      '<xs:attribute name="a" type="xs:int"/><xs:attribute ref="t:a"/>',
    ),
    attributes: ' t:a="1" a="2"',
    json: '{"a_2":1,"@a":2}',
  },
  {
    title: 'names that are taken have numbers',
    type: sequence(
      `${e('a', 'xs:int', maybe)}<xs:element name="a" type="xs:int" form="unqualified" minOccurs="0"/>${e('value', 'xs:int', maybe)}` +
        group('sequence', e('k') + e('l'), many) +
        group('sequence', e('m') + e('n'), many) +
        group('sequence', e('o') + e('p'), many),
      '<xs:attribute name="a" type="xs:int"/><xs:attribute name="b" type="xs:int"/><xs:attribute ref="t:a"/>',
    ),
    attributes: ' a="1" b="2" t:a="0"',
    content: '<t:a>3</t:a><a>4</a><t:k>5</t:k><t:l/><t:m>6</t:m><t:n/><t:o>7</t:o><t:p/><t:value>8</t:value>',
    json: '{"@a":1,"b":2,"a_3":0,"a":3,"a_2":4,"@items":[{"k":"5","l":""}],"@items_2":[{"m":"6","n":""}],"@items_3":[{"o":"7","p":""}],"value":8}',
  },
  {
    title: 'a choice in a choice is one, unless it repeats by itself',
    type: typeOf(
      group(
        'choice',
        e('a') +
          group('choice', e('b') + group('choice', e('c') + e('d'))) +
          group('choice', e('f') + e('g'), many),
      ),
    ),
    content: '<t:f>1</t:f><t:g>2</t:g><t:f>3</t:f>',
    json: '{"@items":[{"f":"1"},{"g":"2"},{"f":"3"}]}',
  },
  {
    title: 'what repeats in a repeated choice has a round each',
    type: typeOf(group('choice', e('a', 'xs:int', many) + group('choice', e('b') + e('c'), many), many)),
    content: '<t:a>1</t:a><t:a>2</t:a><t:c>3</t:c><t:b>4</t:b>',
    json: '{"@items":[{"a":1},{"a":2},{"c":"3"},{"b":"4"}]}',
  },
  {
    title: 'what repeats in a choice that doesn’t is a list',
    type: typeOf(group('choice', e('a', 'xs:int', many) + e('b', 'xs:int', 'maxOccurs="2"'))),
    content: '<t:b>1</t:b><t:b>2</t:b>',
    json: '{"b":[1,2]}',
  },
  {
    title: 'groups without anything leave no trace',
    type: typeOf(
      group(
        'sequence',
        group('choice', '') +
          group('sequence', group('sequence', '')) +
          e('a') +
          group('choice', group('sequence', e('b', 'xs:int', many))),
      ),
    ),
    content: '<t:a/><t:b>1</t:b>',
    json: '{"a":"","b":[1]}',
  },
  {
    title: 'an element in two branches of one choice stands once, in branches of two twice',
    type: typeOf(
      group(
        'sequence',
        group(
          'choice',
          group('sequence', e('a', 'xs:int') + e('b', 'xs:int')) +
            group('sequence', e('c', 'xs:int') + e('a', 'xs:int')),
        ) +
          group(
            'choice',
            group('sequence', e('d', 'xs:int') + e('f', 'xs:int')) + e('f', 'xs:int') + e('c', 'xs:int'),
          ),
      ),
    ),
    content: '<t:a>1</t:a><t:b>2</t:b><t:f>3</t:f><t:c>4</t:c>',
    json: '{"a":1,"b":2,"f":3,"c":[4]}',
  },
];

for (const one of readCases)
  test(`in a request ${one.title}`, (t) => {
    checkRead(t, one, declarations);
  });

const writeCases: readonly WriteCase[] = [
  {
    title: 'a type that is an array is its items, empty tags for none, and nothing for a null',
    type: sequence(
      e('a', 't:Plain', maybe) +
        e('b', 't:Plain', maybe) +
        e('c', 't:Plain', maybe) +
        e('d', 't:Plain', 'nillable="true"') +
        e('f', 't:Two', maybe),
    ),
    json: '{"a":[1,2],"b":[],"c":null,"d":null,"f":[{"v":1},{}]}',
    xml: '><n0:a><n0:v>1</n0:v><n0:v>2</n0:v></n0:a><n0:b/><n0:d i:nil="true"/><n0:f><n0:v>1</n0:v></n0:f></n0:Get>',
    missing: 1,
  },
  {
    title: 'a mixed type is its text, and a null nothing',
    type: sequence(e('m', 't:MixedList', `${many} nillable="true"`) + e('n', 't:MixedList', maybe)),
    json: '{"m":["a<b/>",null,""],"n":null}',
    xml: '><n0:m>a<b/></n0:m><n0:m i:nil="true"/><n0:m/></n0:Get>',
  },
];

for (const one of writeCases)
  test(`in a reply ${one.title}`, (t) => {
    checkWrite(t, one, declarations);
  });

for (const [title, type, json, message] of [
  ['an object in the place of an array', sequence(e('a', 't:Plain')), '{"a":{"v":[1]}}', 'a: expected an array, got an object'],
  ['an array in the place of an object', sequence(e('a', 't:Attributed')), '{"a":[1]}', 'a: expected an object, got an array'],
  ['an array in the place of one that may be of several types', sequence(e('a', 't:Base')), '{"a":[1]}', 'a: expected an object, got an array'],
  ['an abstract type of which none is derived', sequence(e('a', 't:Alone')), '{"a":{}}', 'a: expected "@type", got none'],
  ['a simple type that is named', sequence(e('a', 't:Base')), '{"a":{"@type":"Color"}}', 'a.@type: expected Base or a type derived from it, got another'],
  ['a type of XSD that is named', sequence(e('a', 't:Base')), '{"a":{"@type":"xs:int"}}', 'a.@type: expected Base or a type derived from it, got another'],
] as const) // biome-ignore format: a table
  test(`in a reply ${title} is a mismatch`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    t.throws(() => writeMessage(request, json), { name: 'MismatchError', message });
  });

test('A16: repetitions of required groups are required, those of optional groups are not', (t) => {
  const missing = (more: string): readonly string[] => {
    const type = typeOf(group('sequence', e('k') + e('l', 'xs:int', maybe), more));
    return readMessage(compiledGet(t, type).request, get('')).missing.map(({ path }) => path);
  };
  t.deepEqual(missing('maxOccurs="unbounded"'), ['@items']);
  t.deepEqual(missing(many), []);
});

test('A16: repetitions of a hundred choices take about as long as others, to read and write', (t) => {
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const children = Array.from({ length: 8_000 }, (_, index) => `<t:a${index % 100}/>`).join('');
  const items = Array.from({ length: 4_000 }, (_, index) => `{"a${index % 100}":""}`).join();
  const least = (work: () => void): number => {
    const times = numbers.slice(0, 5).map(() => {
      const before = process.threadCpuUsage();
      for (let count = 1; ; count++) {
        work();
        const { user, system } = process.threadCpuUsage(before);
        if (user + system >= 20_000) return (user + system) / count; // some systems measure CPU time in steps of 4 ms
      }
    });
    return Math.min(...times);
  };
  const timesOf = (each: (index: number) => string): readonly [read: number, write: number] => {
    const { request } = compiledGet(t, typeOf(group('sequence', numbers.map(each).join(''), many)));
    return [
      least(() => t.is(readMessage(request, get(children)).json?.match(/"a99":/g)?.length, 80)),
      least(() => t.is(writeMessage(request, `{"@items":[${items}]}`).match(/<n0:a99\/>/g)?.length, 40)),
    ];
  };
  const choice = (index: number, more: string): string => {
    const branch = (name: string): string => group('sequence', e(`${name}${index}`) + more);
    return group('choice', branch('a') + branch('b'), maybe);
  };
  const [read, write] = timesOf((index) => e(`a${index}`, 'xs:string', maybe));
  for (const more of ['', 'c']) {
    const times = timesOf((index) => choice(index, more && e(`${more}${index}`, 'xs:string', maybe)));
    // looking at all choices for each child took more than 60 times as long
    t.true(times[0] / read < 25, `${times[0] / read} times`);
    t.true(times[1] / write < 20, `${times[1] / write} times`);
  }
});

test('A15: many nested choices are written in about the time of a few', (t) => {
  const rows = Array.from({ length: 2_000 }, () => '{"a":[1],"z":2}').join();
  const timeOf = (depth: number): number => {
    let inner = e('z', 'xs:int', maybe);
    for (let at = 0; at < depth; at++)
      inner = group('choice', group('sequence', e('a', 'xs:int', maybe) + inner) + e(`b${at}`));
    const row = group('element', typeOf(group('sequence', inner)), `name="r" ${many}`);
    const { request } = compiledGet(t, sequence(row));
    const times = Array.from({ length: 3 }, () => {
      const before = process.threadCpuUsage();
      t.is(writeMessage(request, `{"r":[${rows}]}`).match(/<n0:a>1<\/n0:a><n0:z>2/g)?.length, 2_000);
      const { user, system } = process.threadCpuUsage(before);
      return user + system;
    });
    return Math.min(...times);
  };
  // eight times as deep, on a clock with steps of 4 ms; checking the whole content at each choice took more than 40
  // times as long
  const ratio = timeOf(40) / Math.max(timeOf(5), 4_000);
  t.true(ratio < 15, `${ratio} times`);
});
