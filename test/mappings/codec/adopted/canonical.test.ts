import test from 'ava';
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { canonicalXml, readStartTag } from '../../../../mappings/codec/adopted/canonical.ts';

/** Exclusive canonical XML, without comments (A22). */

/** Prefixes declared outside the text. */
const outside: Readonly<Record<string, string>> = {
  '': '',
  p: 'urn:p',
  q: 'urn:q',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
};
const resolve = (prefix: string): string | undefined => outside[prefix];

const xml = 'http://www.w3.org/XML/1998/namespace';
const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** Elements whose canonical form libxml2 produces too. */
const elements: readonly (readonly [title: string, source: string, canonical: string])[] = [
  ['an empty element has two tags', '<a/>', '<a></a>'],
  ['blanks within tags go', '<a\n b = "1"\t>x</a >', '<a b="1">x</a>'],
  ['an empty element with attributes', '<a b="1" />', '<a b="1"></a>'],
  ['signs of tags within values', '<a b="/" c=">" d=\'/>\'>x</a>', '<a b="/" c=">" d="/>">x</a>'],
  ['elements stay in their order', '<a>1<b>2<c/>3</b>4<d/>5</a>', '<a>1<b>2<c></c>3</b>4<d></d>5</a>'],
  [
    'names may hold characters that are blanks elsewhere',
    '<\ufeffa b\u1680="1" \ufeff = "2"><\u1680/><c\ufeff/></\ufeffa>',
    '<\ufeffa b\u1680="1" \ufeff="2"><\u1680></\u1680><c\ufeff></c\ufeff></\ufeffa>',
  ],
  ['comments go', '<a>1<!---->2<!-- <b> > - -->3</a>', '<a>123</a>'],
  ['a section is text', '<a>1<![CDATA[<&amp;>]]>2<![CDATA[]]>3</a>', '<a>1&lt;&amp;amp;&gt;23</a>'],
  ['line ends are line feeds', '<a>1\r\n2\r3\n4<![CDATA[5\r\n6\r7]]></a>', '<a>1\n2\n3\n45\n6\n7</a>'],
  [
    'references of a text are resolved, what has to be one stays one',
    '<a>&#x41;&#66;&#xe9;&#x1F600;&#128512;&lt;&gt;&amp;&quot;&apos;&#13;&#xD;&#9;</a>',
    '<a>ABé😀😀&lt;&gt;&amp;"\'&#xD;&#xD;\t</a>',
  ],
  [
    'a sign of markup alone, each',
    '<a><b>&amp;</b><b>&lt;</b><b>></b><b>&#13;</b></a>',
    '<a><b>&amp;</b><b>&lt;</b><b>&gt;</b><b>&#xD;</b></a>',
  ],
  [
    'each of several signs is one',
    '<a b="&amp;&amp;&lt;&lt;&quot;&quot;&#9;&#9;&#10;&#10;&#13;&#13;">&amp;&amp;&lt;&lt;>>&#13;&#13;</a>',
    '<a b="&amp;&amp;&lt;&lt;&quot;&quot;&#x9;&#x9;&#xA;&#xA;&#xD;&#xD;">&amp;&amp;&lt;&lt;&gt;&gt;&#xD;&#xD;</a>',
  ],
  [
    'one sign alone in each value',
    '<a b="&amp;" c="&lt;" d=\'"\' e="&#9;" f="&#10;" g="&#13;" h=">" i="\'"/>',
    '<a b="&amp;" c="&lt;" d="&quot;" e="&#x9;" f="&#xA;" g="&#xD;" h=">" i="\'"></a>',
  ],
  ['blanks of values are spaces', '<a b="1\t2\n3\r\n4\r5"/>', '<a b="1 2 3 4 5"></a>'],
  ['attributes are in order', '<a c="1" b="2" aa="3" B="4"/>', '<a B="4" aa="3" b="2" c="1"></a>'],
  [
    'attributes are in order of their namespaces, those in none before',
    '<a xmlns:y="urn:1" xmlns:x="urn:2" x:a="1" y:b="2" y:a="3" z="4" x:A="5"/>',
    '<a xmlns:x="urn:2" xmlns:y="urn:1" z="4" y:a="3" y:b="2" x:A="5" x:a="1"></a>',
  ],
  [
    'that of xml is one of these',
    '<a xmlns:p="a:1" xmlns:q="i:1" q:b="1" xml:lang="x" p:b="2" c="3"/>',
    '<a xmlns:p="a:1" xmlns:q="i:1" c="3" p:b="2" xml:lang="x" q:b="1"></a>',
  ],
  [
    'the default namespace is none of attributes',
    '<a xmlns="urn:z" xmlns:p="a:1" p:a="1" b="2"/>',
    '<a xmlns="urn:z" xmlns:p="a:1" b="2" p:a="1"></a>',
  ],
  [
    'a namespace that another one begins with goes before it',
    '<a xmlns:p="urn:1/2" xmlns:q="urn:1" p:a="1" q:b="2" q:ab="3" q:a="4"/>',
    '<a xmlns:p="urn:1/2" xmlns:q="urn:1" q:a="4" q:ab="3" q:b="2" p:a="1"></a>',
  ],
  [
    'several prefixes of one namespace',
    '<a xmlns:y="urn:1" xmlns:x="urn:1" x:b="1" y:a="2"/>',
    '<a xmlns:x="urn:1" xmlns:y="urn:1" y:a="2" x:b="1"></a>',
  ],
  ['a declaration that nothing uses goes', '<a xmlns:p="urn:1" p="2"><b/></a>', '<a p="2"><b></b></a>'],
  [
    'a declaration stands where it is used first, and once',
    '<a xmlns:p="urn:1"><p:b><p:c p:d="1"/></p:b><p:e/></a>',
    '<a><p:b xmlns:p="urn:1"><p:c p:d="1"></p:c></p:b><p:e xmlns:p="urn:1"></p:e></a>',
  ],
  [
    'a prefix that is declared anew stands for that within',
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"><p:c/></p:b><p:d/></p:a>',
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"><p:c></p:c></p:b><p:d></p:d></p:a>',
  ],
  [
    'that of an empty element ends with it',
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"/><p:d/></p:a>',
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"></p:b><p:d></p:d></p:a>',
  ],
  [
    'a prefix that is declared as it was isn’t declared again',
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:1"/></p:a>',
    '<p:a xmlns:p="urn:1"><p:b></p:b></p:a>',
  ],
  [
    'the default namespace, declared and taken back',
    '<a xmlns="urn:1"><b xmlns=""><c xmlns="urn:1"/><d/></b><e/></a>',
    '<a xmlns="urn:1"><b xmlns=""><c xmlns="urn:1"></c><d></d></b><e></e></a>',
  ],
  ['no namespace needs no declaration', '<a xmlns=""><b xmlns=""/></a>', '<a><b></b></a>'],
  [
    'an attribute without a prefix is in none',
    '<p:a xmlns="urn:1" xmlns:p="urn:2" b="1"/>',
    '<p:a xmlns:p="urn:2" b="1"></p:a>',
  ],
  [
    'the prefix xml is never declared',
    `<a xml:lang="de" xmlns:xml="${xml}"><b xml:space="preserve"/></a>`,
    '<a xml:lang="de"><b xml:space="preserve"></b></a>',
  ],
  [
    'declarations are in order, the default one before',
    '<b:a xmlns:b="urn:1" xmlns:a="urn:2" xmlns="urn:3" a:x="1"><c/></b:a>',
    '<b:a xmlns:a="urn:2" xmlns:b="urn:1" a:x="1"><c xmlns="urn:3"></c></b:a>',
  ],
  [
    'several of one depth are over with it',
    '<a xmlns:p="urn:1"><b><p:c xmlns:q="urn:2"><q:d/></p:c></b><b><p:c xmlns:q="urn:3"><q:d/></p:c></b></a>',
    '<a><b><p:c xmlns:p="urn:1"><q:d xmlns:q="urn:2"></q:d></p:c></b><b><p:c xmlns:p="urn:1"><q:d xmlns:q="urn:3"></q:d></p:c></b></a>',
  ],
  [
    'an attribute called type isn’t that of a schema',
    `<a ${xsi} xmlns:p="urn:1" type="p:b" xsi:nil="1"/>`,
    `<a ${xsi} type="p:b" xsi:nil="1"></a>`,
  ],
];

/** Returns libxml2's canonical form of an element. */
function byLibxml(source: string): string {
  using document = XmlDocument.fromString(source);
  return document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, withComments: false });
}

test('A22: XML as text is in exclusive canonical form, as libxml2 writes it', (t) => {
  for (const [title, source, canonical] of elements) {
    t.is(canonicalXml(source, resolve), canonical, title);
    t.is(byLibxml(source), canonical, title);
  }
});

test('A22: content with several elements, and prefixes declared around it', (t) => {
  const around = [
    { prefix: 'p', namespace: 'urn:near' },
    { prefix: '', namespace: 'urn:default' },
  ];
  for (const [source, canonical, nearer = around] of [
    ['', ''],
    ['x', 'x'],
    ['&lt;x&gt;', '&lt;x&gt;'],
    ['a]b&amp;\r', 'a]b&amp;\n'],
    ['<!--x-->', ''],
    ['<p:a/>', '<p:a xmlns:p="urn:p"></p:a>', []],
    ['<a/>', '<a></a>', []],
    ['<p:a/>x<p:b/>', '<p:a xmlns:p="urn:near"></p:a>x<p:b xmlns:p="urn:near"></p:b>'],
    ['<a><b/></a>', '<a xmlns="urn:default"><b></b></a>'],
    ['<q:a q:b="1"/>', '<q:a xmlns:q="urn:q" q:b="1"></q:a>'],
    ['<a xmlns="" p:b="1"/>', '<a xmlns:p="urn:near" p:b="1"></a>'],
    ['<a xml:lang="x"/>', '<a xmlns="urn:default" xml:lang="x"></a>'],
  ] as const)
    t.is(canonicalXml(source, resolve, nearer), canonical, source);
});

test('A22: without a known default namespace there is none', (t) => {
  t.is(
    canonicalXml('<a b="1"><c/></a>', () => undefined),
    '<a b="1"><c></c></a>',
  );
});

test('A22: the prefix of an xsi:type is declared with it', (t) => {
  for (const [source, canonical] of [
    ['<a xsi:type="p:b"/>', `<a xmlns:p="urn:p" ${xsi} xsi:type="p:b"></a>`],
    ['<a xsi:type=" p:b "/>', `<a xmlns:p="urn:p" ${xsi} xsi:type=" p:b "></a>`],
    ['<a xsi:type="b"/>', `<a ${xsi} xsi:type="b"></a>`],
    ['<a xsi:nil="p:b"/>', `<a ${xsi} xsi:nil="p:b"></a>`],
    ['<a q:type="p:b"/>', '<a xmlns:q="urn:q" q:type="p:b"></a>'],
  ] as const)
    t.is(canonicalXml(source, resolve), canonical, source);
});

test('the characters of a canonical text are counted as written', (t) => {
  const source = '<a xmlns="urn:a"><b c="&lt;"/>text<![CDATA[<]]><!-- x --></a>';
  let counted = 0;
  const canonical = canonicalXml(source, resolve, [], (characters) => {
    counted += characters;
    return true;
  });
  t.is(canonical, '<a xmlns="urn:a"><b c="&lt;"></b>text&lt;</a>');
  t.is(canonical?.length, counted);
});

test('a start tag is parsed from the position of its name', (t) => {
  t.deepEqual(readStartTag('x<p:a b="1" c = \'&lt;2\n3\'>y</p:a>', 2), {
    name: 'p:a',
    attributes: [
      ['b', '1'],
      ['c', '<2 3'],
    ],
    empty: false,
    end: 26,
  });
  t.deepEqual(readStartTag('<a/><b c="/"/>', 1), { name: 'a', attributes: [], empty: true, end: 4 });
  t.deepEqual(readStartTag('<a/><b c="/"/>', 5), {
    name: 'b',
    attributes: [['c', '/']],
    empty: true,
    end: 14,
  });
  t.deepEqual(readStartTag('<b c="/">', 1), { name: 'b', attributes: [['c', '/']], empty: false, end: 9 });
});
