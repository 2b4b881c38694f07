import test from 'ava';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { maxAllAttributes } from '../../../mappings/xml/attributes.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { maxChildren, XmlReader } from '../../../mappings/xml/reader.ts';
import { allLimits } from '../../constant-limits.ts';

function drain(text: string, limits: Limits): void {
  new XmlReader(text, limits).drain();
}

interface Row {
  limit: keyof typeof allLimits;
  what: string;
  /** Returns a document with `count` occurrences of the limited item. */
  document: (count: number) => string;
  message: (limit: number) => string;
}

const numbered = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => each(i)).join('');

const rows: Row[] = [
  {
    limit: 'xmlDepth',
    what: 'nested elements',
    document: (n) => `${'<a>'.repeat(n)}${'</a>'.repeat(n)}`,
    message: (n) => `nesting deeper than ${n}`,
  },
  {
    limit: 'xmlDepth',
    what: 'nested elements, the last one empty',
    document: (n) => `${'<a>'.repeat(n - 1)}<a/>${'</a>'.repeat(n - 1)}`,
    message: (n) => `nesting deeper than ${n}`,
  },
  {
    limit: 'xmlElements',
    what: 'elements',
    document: (n) => `<a>${'<b><c/></b>'.repeat(Math.floor((n - 1) / 2))}${(n - 1) % 2 ? '<d/>' : ''}</a>`,
    message: (n) => `more than ${n} elements`,
  },
  {
    limit: 'xmlChildren',
    what: 'children of one element',
    document: (n) => `<a><b/>${'<b/>'.repeat(n - 1)}</a>`,
    message: (n) => `more than ${n} child elements`,
  },
  {
    limit: 'xmlAttributes',
    what: 'attributes',
    document: (n) => `<a${numbered(n, (i) => ` b${i}=""`)}/>`,
    message: (n) => `more than ${n} attributes`,
  },
  {
    limit: 'xmlAttributes',
    what: 'namespace declarations',
    document: (n) => `<a${numbered(n, (i) => ` xmlns:b${i}="u"`)}/>`,
    message: (n) => `more than ${n} attributes`,
  },
  {
    limit: 'xmlAllAttributes',
    what: 'attributes of all elements',
    document: (n) => `<a xmlns:b="u">${'<b c=""/>'.repeat(n - 1)}</a>`,
    message: (n) => `more than ${n} attributes in all`,
  },
  {
    limit: 'xmlAttributes',
    what: 'attributes and declarations together',
    document: (n) => `<a xmlns="u"${numbered(n - 1, (i) => ` b${i}=""`)}/>`,
    message: (n) => `more than ${n} attributes`,
  },
  {
    limit: 'xmlName',
    what: 'characters of an element name',
    document: (n) => `<${'a'.repeat(n)}/>`,
    message: (n) => `name longer than ${n} characters`,
  },
  {
    limit: 'xmlName',
    what: 'characters of a name and its prefix',
    document: (n) => `<a xmlns:p="u"><p:${'b'.repeat(n - 2)}/></a>`,
    message: (n) => `name longer than ${n} characters`,
  },
  {
    limit: 'xmlName',
    what: 'characters of an attribute name',
    document: (n) => `<a ${'b'.repeat(n)}=""/>`,
    message: (n) => `name longer than ${n} characters`,
  },
  {
    limit: 'xmlAttributeValue',
    what: 'characters of an attribute value',
    document: (n) => `<a b="${'x'.repeat(n)}"/>`,
    message: (n) => `attribute value longer than ${n} characters`,
  },
  {
    limit: 'xmlAttributeValue',
    what: 'references in an attribute value',
    document: (n) => `<a b="${'&#65;'.repeat(n)}"/>`,
    message: (n) => `attribute value longer than ${n} characters`,
  },
  {
    limit: 'xmlNamespace',
    what: 'characters of a namespace name',
    document: (n) => `<a xmlns="${'x'.repeat(n)}"/>`,
    message: (n) => `namespace longer than ${n} characters`,
  },
  {
    limit: 'xmlText',
    what: 'characters of skipped text',
    document: (n) => `<a>${'x'.repeat(n)}</a>`,
    message: (n) => `text longer than ${n} characters`,
  },
  {
    limit: 'xmlText',
    what: 'references in skipped text',
    document: (n) => `<a>${'&#65;'.repeat(n)}</a>`,
    message: (n) => `text longer than ${n} characters`,
  },
  {
    limit: 'xmlText',
    what: 'characters of stray text in pieces',
    document: (n) => `<a>x<b/>${'x'.repeat(n - 2)}<!-- --><![CDATA[x]]></a>`,
    message: (n) => `text longer than ${n} characters`,
  },
];

for (const { limit, what, document, message } of rows) {
  const small = { ...allLimits, [limit]: 7 };
  for (const limits of [small, allLimits]) {
    const most = limits[limit];
    test(`${limit}: ${most} ${what} are read, one more is refused`, (t) => {
      const roomy = { ...defaultLimits, xmlElements: Infinity, xmlChildren: Infinity, [limit]: most };
      t.notThrows(() => drain(document(most), roomy));
      const error = t.throws<XmlError>(() => drain(document(most + 1), roomy), { instanceOf: XmlError });
      t.is(error?.limit, limit);
      t.is(error?.message.replace(/^line \d+, column \d+: /, ''), message(most));
    });
  }
}

for (const [xmlElements, children, attributes] of [
  [100, 50_000, 250_000],
  [200_000, 50_000, 250_000],
  [200_004, 50_001, 250_005],
  [1_000_000, 250_000, 1_250_000],
] as const)
  test(`${xmlElements} xmlElements allow ${children} children and ${attributes} attributes`, (t) => {
    const limits = { ...defaultLimits, xmlElements };
    t.deepEqual([maxChildren(limits), maxAllAttributes(limits)], [children, attributes]);
    const set = { ...limits, xmlChildren: 7, xmlAllAttributes: 9 };
    t.deepEqual([maxChildren(set), maxAllAttributes(set)], [7, 9]);
  });

for (const [limit, most] of [
  ['xmlAttributes', 64],
  ['xmlName', 256],
  ['xmlNamespace', 1024],
  ['xmlAttributeValue', 65_536],
] as const)
  test(`without ${limit} a document has at most ${most} of it`, (t) => {
    const document = rows.find((row) => row.limit === limit)?.document ?? String;
    t.notThrows(() => drain(document(most), defaultLimits));
    const error = t.throws<XmlError>(() => drain(document(most + 1), defaultLimits), {
      instanceOf: XmlError,
    });
    t.is(error?.limit, limit);
  });

test('a text may have the length that its reader allows, and one more character is refused', (t) => {
  const readText = (content: string) => {
    const reader = new XmlReader(`<a>${content}</a>`, defaultLimits);
    reader.readRoot();
    return reader.readText(5, true);
  };
  for (const most of [
    '12345',
    '&#49;2345',
    '1<![CDATA[234]]>5',
    '123\r\n5',
    '1<!-- -->2345',
    '123&#xD83D;&#xDE00;',
  ]) {
    t.is(readText(most)?.length, 5, most);
    const message = 'line 1, column 4: text longer than 5 characters';
    t.throws(() => readText(`${most}6`), { instanceOf: XmlError, message }, most);
    t.throws(() => readText(`${most}&#54;`), { instanceOf: XmlError, message }, most);
  }
});

test('reading stops where a text or value is too long: later errors are not reported', (t) => {
  const refused = /: expected &amp; &lt; &gt; &apos; &quot; or a character reference$/;
  const readText = (content: string, most: number) => {
    const reader = new XmlReader(`<a>${content}</a>`, defaultLimits);
    reader.readRoot();
    return reader.readText(most, true)?.length;
  };
  // long ones are read by other code
  for (const most of [6, 6_000]) {
    for (const [piece, length] of [
      ['&#49;', 1],
      ['\r\n', 1],
      ['😀', 2],
      ['&#x1F600;', 2],
      ['x\r&lt;', 3],
    ] as const) {
      const content = piece.repeat(most / length);
      t.is(readText(content, most), most, piece);
      t.throws(() => readText(`${content}&bad;`, most), { message: refused }, piece);
      const message = `line 1, column 4: text longer than ${most} characters`;
      t.throws(() => readText(`${content}&amp;&bad;`, most), { message }, piece);
    }
    const limits = { ...defaultLimits, xmlAttributeValue: most };
    for (const [piece, length] of [
      ['&#49;', 1],
      ['\r\n', 1],
      ['\n\t', 2],
      ['&#x1F600;', 2],
      ['\r\n\n&lt;', 3],
    ] as const) {
      const value = piece.repeat(most / length);
      t.notThrows(() => drain(`<a b="${value}"/>`, limits), piece);
      t.throws(() => drain(`<a b="${value}&bad;"/>`, limits), { message: refused }, piece);
      const message = `line 1, column 6: attribute value longer than ${most} characters`;
      t.throws(() => drain(`<a b="${value}&amp;&bad;"/>`, limits), { message }, piece);
    }
  }
});

test('only the reader limits text, so base64 may be longer than xmlText', (t) => {
  const reader = new XmlReader(`<a>${'x'.repeat(20)}</a>`, { ...defaultLimits, xmlText: 10 });
  reader.readRoot();
  t.is(reader.readText(20, false)?.length, 20);
  const mixed = new XmlReader(`<a>${'x'.repeat(20)}<b/></a>`, { ...defaultLimits, xmlText: 10 });
  mixed.readRoot();
  t.is(mixed.readText(20, false), undefined);
  t.is(mixed.depth, 0);
});

test('only the body limits blanks between child elements, so documents may be indented', (t) => {
  t.notThrows(() => drain(`<a>${'\n       <b/>'.repeat(50)}</a>`, { ...defaultLimits, xmlText: 10 }));
});

test('children and stray text count per element', (t) => {
  const limits = { ...defaultLimits, xmlChildren: 3, xmlText: 3 };
  t.notThrows(() => drain(`<a>${'<b>xyz<c>x</c><c/><c/></b>'.repeat(3)}</a>`, limits));
  t.throws(() => drain('<a><b><c/></b><b><c/><c/><c/><c/></b></a>', limits), {
    message: /: more than 3 child elements$/,
  });
  t.throws(() => drain('<a><b>x</b><b>xy<c/>zx</b></a>', limits), {
    message: /: text longer than 3 characters$/,
  });
});

test('only the body limits comments', (t) => {
  t.notThrows(() => drain(`<a><!-- ${'x'.repeat(100)} --></a>`, { ...defaultLimits, xmlText: 10 }));
});

/** Documents that are expensive for a careless reader (A3 to A10 in docs/security.md). */
const floods: [title: string, document: string][] = [
  ['a DTD of 200,000 declarations', `<!DOCTYPE a [${'<!ENTITY a "b">'.repeat(200_000)}]><a/>`],
  ['100,000 nested elements', '<a>'.repeat(100_000)],
  ['1,000,000 elements', `<a>${'<a/>'.repeat(1_000_000)}</a>`],
  ['100,000 attributes', `<a${numbered(100_000, (i) => ` b${i}=""`)}/>`],
  ['50,000 namespace declarations', `<a${numbered(50_000, (i) => ` xmlns:p${i}="u"`)}/>`],
  ['a name of 1 MB', `<${'a'.repeat(1_000_000)}/>`],
  ['an attribute of 8 MB', `<a b="${'x'.repeat(8_000_000)}"/>`],
  ['text of 20 MB', `<a>${'x'.repeat(20_000_000)}</a>`],
  ['5,000,000 character references', `<a>${'&#65;'.repeat(5_000_000)}</a>`],
  ['an attribute of 2,000,000 line ends', `<a b="${'\n'.repeat(2_000_000)}"/>`],
];

for (const [title, document] of floods) {
  test(`refuses ${title}`, (t) => {
    t.throws(() => drain(document, defaultLimits), { instanceOf: XmlError });
  });
}

test('the time to look up a prefix does not depend on the number of declarations', (t) => {
  const declarations = (depth: number) => numbered(64, (i) => ` xmlns:p${depth}x${i}="u"`);
  const open = numbered(62, (depth) => `<a${declarations(depth)}>`);
  const inner = '<p0x0:b p1x1:c=""/>'.repeat(40_000);
  t.notThrows(() => drain(`${open}${inner}${'</a>'.repeat(62)}`, defaultLimits));
});
