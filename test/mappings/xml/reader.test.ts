import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { maxAttributeValueCharacters } from '../../../mappings/xml/attributes.ts';
import { locate, XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

function start(text: string, quirks?: { acceptsIllegalReferences: boolean }): XmlReader {
  const reader = new XmlReader(text, defaultLimits, quirks);
  reader.readRoot();
  return reader;
}

function drain(text: string): void {
  new XmlReader(text, defaultLimits).drain();
}

function textOf(text: string, lenient = false): string | undefined {
  const reader = start(text, { acceptsIllegalReferences: true });
  const value = reader.readText(defaultLimits.xmlText, lenient);
  reader.finish();
  return value;
}

for (const [xml, mistake, subject, other] of [
  ['<!DOCTYPE a><a/>', 'doctype'],
  ['<a><!DOCTYPE a></a>', 'doctype'],
  ['<?xml version="1.1"?><a/>', 'declaration'],
  ['<a/>x', 'trailing'],
  ['<p:a/>', 'prefix', 'p'],
  ['<a></b>', 'endTag', 'a', 'b'],
  ['<a b="" b=""/>', 'repeatedAttribute', 'b'],
  ['<a><!x></a>', 'lessThan'],
  ['<a>1 < 2</a>', 'lessThan'],
  ['<a>]]></a>', 'cdataEnd'],
  ['<a b=1/>', 'quotes'],
  ['<a>&#1;</a>', 'character'],
  ['<a>\u0001</a>', 'character'],
  ['<a>&#65</a>', 'reference'],
  ['<a>&nbsp;</a>', 'reference'],
  ['<a><b', undefined],
] as const)
  test(`the error of ${JSON.stringify(xml)} has the kind ${mistake}`, (t) => {
    const error = t.throws<XmlError>(() => new XmlReader(xml, defaultLimits).drain(), {
      instanceOf: XmlError,
    });
    t.deepEqual([error?.mistake, error?.subject, error?.other], [mistake, subject, other]);
  });

test('a reader that accepts empty prefixes reads a declaration without a namespace', (t) => {
  const xml = '<a xmlns:p=""><p:b/></a>';
  const reader = new XmlReader(xml, defaultLimits, { acceptsIllegalReferences: false, emptyPrefixes: true });
  reader.readRoot();
  t.true(reader.nextChild());
  t.deepEqual([reader.namespace, reader.local], ['', 'b']);
  t.throws(
    () =>
      new XmlReader(xml, defaultLimits, { acceptsIllegalReferences: false, emptyPrefixes: false }).readRoot(),
    {
      message: 'line 1, column 4: expected a namespace for the prefix p, got none',
    },
  );
});

test('a start tag has prefix, local name and namespace', (t) => {
  const reader = start('<p:a xmlns:p="urn:p" xmlns="urn:d"><b/><c xmlns=""/></p:a>');
  t.like(reader, { prefix: 'p', local: 'a', namespace: 'urn:p', empty: false, depth: 1 });
  t.true(reader.nextChild());
  t.like(reader, { prefix: '', local: 'b', namespace: 'urn:d', empty: true, depth: 2 });
  t.false(reader.nextChild());
  t.true(reader.nextChild());
  t.like(reader, { prefix: '', local: 'c', namespace: '', depth: 2 });
  reader.skip();
  t.false(reader.nextChild());
  t.is(reader.depth, 0);
  reader.finish();
});

test('a prefix has the meaning of the nearest declaration, and its former meaning afterwards', (t) => {
  const reader = start(
    '<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"><p:c/></p:b><p:d xmlns:q="urn:3"/><p:e/></p:a>',
  );
  const seen: string[] = [];
  while (reader.depth > 0) {
    if (reader.nextChild()) seen.push(`${reader.local} ${reader.namespace} ${reader.resolve('q')}`);
  }
  t.deepEqual(seen, ['b urn:2 undefined', 'c urn:2 undefined', 'd urn:1 urn:3', 'e urn:1 undefined']);
});

test('resolve knows the scope of the start tag, xml everywhere, and no unbound prefix', (t) => {
  const reader = start('<a xmlns="urn:d" xmlns:p="urn:p"/>');
  t.is(reader.resolve('p'), 'urn:p');
  t.is(reader.resolve(''), 'urn:d');
  t.is(reader.resolve('xml'), 'http://www.w3.org/XML/1998/namespace');
  t.is(reader.resolve('q'), undefined);
  t.is(reader.resolve('__proto__'), undefined);
  reader.skip();
  t.is(reader.resolve('p'), undefined);
  t.is(reader.resolve(''), '');
});

test('attributes are found by expanded name, by index in document order, without declarations', (t) => {
  const reader = start('<a b="1" p:b="2" xmlns:p="urn:p" xml:lang="en" xmlns="urn:d"/>');
  t.is(reader.attributeCount, 3);
  t.is(reader.attribute('', 'b'), '1');
  t.is(reader.attribute('urn:p', 'b'), '2');
  t.is(reader.attribute('urn:d', 'b'), undefined);
  t.is(reader.attributeLocal(1), 'b');
  t.is(reader.attributeNamespace(1), 'urn:p');
  t.is(reader.attributeValue(2), 'en');
  t.is(reader.attributeNamespace(2), 'http://www.w3.org/XML/1998/namespace');
  t.throws(() => reader.attributeValue(3), {
    instanceOf: RangeError,
    message: 'attribute: expected an index below 3, got 3',
  });
});

test('attributes of one start tag are not available at the next', (t) => {
  const reader = start('<a b="1"><c/></a>');
  t.true(reader.nextChild());
  t.is(reader.attributeCount, 0);
  t.is(reader.attribute('', 'b'), undefined);
});

for (const [written, read] of [
  ['a  b', 'a  b'],
  ['a\tb\nc\rd\r\ne', 'a b c d e'],
  ['\t\t\t\n\n', '     '],
  ['\r\r\n\n\r\n\r', '     '],
  [`\t\r${'\t'.repeat(300)}x`, `${' '.repeat(302)}x`],
  ['&#9;&#10;&#13;&#x20;', '\t\n\r '],
  ['&lt;&gt;&amp;&apos;&quot;', '<>&\'"'],
  ['ab&amp;cd &#65;\te', 'ab&cd A e'],
  ["it's > ]]>", "it's > ]]>"],
  ['&#x1F600;😀', '😀😀'],
] as const) {
  test(`XML 1.0, 3.3.3: the attribute value ${JSON.stringify(written)} is ${JSON.stringify(read)}`, (t) => {
    t.is(start(`<a b="${written}"/>`).attribute('', 'b'), read);
    t.is(start(`<a c="" b = \n"${written}" ></a>`).attribute('', 'b'), read);
  });
}

for (const [written, read] of [
  ['', ''],
  [' x ', ' x '],
  ['us<!-- -->er', 'user'],
  ['us<!---->er<!---->', 'user'],
  ['a<![CDATA[<&]]>b<![CDATA[]]>c', 'a<&bc'],
  ['<![CDATA[]]]]><![CDATA[>]]>', ']]>'],
  ['a\r\nb\rc\n\r\nd', 'a\nb\nc\n\nd'],
  ['<![CDATA[\r\n\r]]>\r', '\n\n\n'],
  ['a&#13;\n&#xD;&#10;b', 'a\r\n\r\nb'],
  ['&lt;&gt;&amp;&apos;&quot;&#65;&#x42;&#x0000043;', '<>&\'"ABC'],
  [']]&gt; ]] > ]>', ']]> ]] > ]>'],
  ['&#x1F600;&#128512;😀', '😀😀😀'],
  ['é\u0085\u2028\uFFFD\uE000', 'é\u0085\u2028\uFFFD\uE000'],
] as const) {
  test(`W10, W14: the text ${JSON.stringify(written)} is ${JSON.stringify(read)}`, (t) => {
    t.is(textOf(`<a>${written}</a>`), read);
    t.is(textOf(`<a>${written}</a>`, true), read);
  });
}

test('blanks may precede the end of an end tag', (t) => {
  t.is(textOf('<a>x</a \t\r\n>'), 'x');
  t.is(textOf('<a>&lt;</a\n>'), '<');
  t.notThrows(() => drain('<a><b></b ></a\t>'));
});

test('an empty-element tag has the empty text', (t) => {
  t.is(textOf('<a/>'), '');
  const reader = start('<a><b/><c/>x</a>');
  for (const local of ['b', 'c']) {
    t.true(reader.nextChild());
    t.is(reader.local, local);
    t.is(reader.readText(100, false), '');
    t.is(reader.depth, 1);
    t.false(reader.empty);
  }
  t.false(reader.nextChild());
  t.true(reader.hasText);
});

test('text with a child element is undefined, and the reader is after the element', (t) => {
  const reader = start('<a><b>x<c>y</c>z<d/></b><e/></a>');
  t.true(reader.nextChild());
  t.is(reader.readText(100, false), undefined);
  t.is(reader.depth, 1);
  t.true(reader.nextChild());
  t.is(reader.local, 'e');
});

test('W10: text between read child elements may not contain pairs of surrogate references', (t) => {
  t.throws(() => start('<a>&#xD83D;&#xDE00;<b/></a>').nextChild(), { message: /column 4: .* got U\+D83D$/ });
  const reader = start('<a><b>&#xD83D;&#xDE00;</b>&#xD83D;&#xDE00;<c/></a>');
  reader.nextChild();
  reader.skip();
  t.throws(() => reader.nextChild(), { message: /column 27: .* got U\+D83D$/ });
});

test('text before a child element of any form is undefined', (t) => {
  for (const content of [
    'x<b/>',
    'x/<b/>',
    'x<b></b>',
    '<b/>',
    '<b/>x',
    'x&lt;<b/>',
    '<!-- --><b/>x',
    '<![CDATA[x]]><b/>',
  ]) {
    const reader = start(`<a><c>${content}</c><d/></a>`);
    reader.nextChild();
    t.is(reader.readText(100, false), undefined, content);
    t.true(reader.nextChild());
    t.is(reader.local, 'd');
  }
});

test('W10: skipped content may contain pairs of surrogate references, and no single ones', (t) => {
  const read = (content: string): void => {
    const xml = new XmlReader(`<a><b>${content}</b><c>&#xD83D;&#xDE00;</c></a>`, defaultLimits);
    xml.readRoot();
    xml.nextChild();
    xml.skip();
    xml.nextChild();
    xml.readText(9, false);
  };
  t.throws(() => read('&#xD83D;&#xDE00;<d>&#55357;&#56832;</d>'), { message: /column 53: .* got U\+D83D$/ });
  t.throws(() => read('&#xD83D;'), { message: /column 7: .* got U\+D83D$/ });
});

for (const text of ['&#xD83D;&#xDE00;', '&#55357;&#56832;', '&#xD83D;&#56832;']) {
  test(`W10: ${text} in a string member is the emoji, and is counted`, (t) => {
    const reader = start(`<a>x${text}y</a>`);
    t.is(reader.readText(100, true), 'x😀y');
    t.is(reader.joinedSurrogates, 1);
    t.is(reader.illegalReferences, 0);
  });
}

test('W10: references to illegal characters in string members are accepted and counted', (t) => {
  const reader = start('<a>&#0;&#xB;&#31;&#xFFFE;&#65535;</a>', { acceptsIllegalReferences: true });
  t.is(reader.readText(100, true), '\0\v\x1f\uFFFE\uFFFF');
  t.is(reader.illegalReferences, 5);
});

for (const [text, got] of [
  ['&#xD83D;', 'U+D83D'],
  ['&#xDE00;', 'U+DE00'],
  ['&#xDE00;&#xD83D;', 'U+DE00'],
  ['&#xD83D;x&#xDE00;', 'U+D83D'],
  ['&#xD83D;<!-- -->&#xDE00;', 'U+D83D'],
  ['&#xD83D;&#xD83D;', 'U+D83D'],
  ['&#xD83D;&#65;', 'U+D83D'],
  ['&#x110000;', 'a code point beyond U+10FFFF'],
  ['&#99999999999999999999;', 'a code point beyond U+10FFFF'],
] as const) {
  test(`W10: refuses ${text} in string members too`, (t) => {
    t.throws(() => textOf(`<a>${text}</a>`, true), {
      instanceOf: XmlError,
      message: `line 1, column 4: expected a reference to a legal character, got ${got}`,
    });
  });
}

for (const text of ['&#xD83D;&#xDE00;', '&#xB;', '&#0;', '&#xFFFE;']) {
  test(`W10: refuses ${text} outside string members: numbers, attributes`, (t) => {
    const message = /^line 1, column \d+: expected a reference to a legal character, got U\+/;
    t.throws(() => textOf(`<a>${text}</a>`, false), { instanceOf: XmlError, message });
    t.throws(() => start(`<a b="${text}"/>`, { acceptsIllegalReferences: true }), {
      instanceOf: XmlError,
      message,
    });
  });

  test(`W10: accepts ${text} in skipped content, which may be a string`, (t) => {
    t.notThrows(() => start(`<a>${text}<b>${text}</b></a>`, { acceptsIllegalReferences: true }).skip());
  });
}

test('W10: refuses references to illegal characters in strings if the setting says so', (t) => {
  t.throws(() => start('<a>&#xB;</a>', { acceptsIllegalReferences: false }).skip());
  const reader = start('<a>&#xB;</a>', { acceptsIllegalReferences: false });
  t.throws(() => reader.readText(100, true), {
    message: 'line 1, column 4: expected a reference to a legal character, got U+000B',
  });
});

for (const [content, stray] of [
  ['', false],
  [' \t\r\n<!-- x --> <b/> ', false],
  ['<![CDATA[ ]]>', false],
  ['&#32;&#x9;', false],
  ['x<b/>', true],
  ['<b/>x', true],
  ['<b/> <b/>\u00a0<b/>', true],
  ['<![CDATA[x]]>', true],
  ['&amp;', true],
  [' &#32;x', true],
] as const) {
  test(`<a>${content}</a> ${stray ? 'has' : 'has no'} stray text`, (t) => {
    const reader = start(`<r><a>${content}</a></r>`);
    t.true(reader.nextChild());
    while (reader.nextChild()) reader.skip();
    t.is(reader.hasText, stray);
    t.false(reader.nextChild());
    t.false(reader.hasText);
  });
}

test('stray text belongs to its own element, not to those around or inside', (t) => {
  const reader = start('<a>x<b><c/></b><d>y</d></a>');
  const seen: string[] = [];
  const walk = () => {
    const { local } = reader;
    while (reader.nextChild()) walk();
    seen.push(`${local} ${reader.hasText}`);
  };
  walk();
  t.deepEqual(seen, ['c false', 'b false', 'd true', 'a true']);
});

test('prolog: a declaration, blanks and comments; after the root: blanks and comments', (t) => {
  const reader = start('<?xml version="1.0" encoding="x-any" standalone=\'no\' ?>\n<!-- <!DOCTYPE -->\n<a/>');
  reader.skip();
  reader.finish();
  t.notThrows(() => drain('<a/>\n<!-- x -->\n'));
  t.notThrows(() => drain('\t\r\n <a/>'));
});

test('drain reads the rest from any position', (t) => {
  const text = '<a><b>x<c/></b><d/></a> ';
  for (const moves of [0, 1, 2, 3, 4, 5, 6]) {
    const reader = new XmlReader(text, defaultLimits);
    if (moves > 0) reader.readRoot();
    for (let move = 1; move < moves; move++) reader.nextChild();
    reader.drain();
    t.is(reader.depth, 0);
    t.is(reader.position, text.length);
  }
});

test('drain finds malformed XML after the position where a codec stopped', (t) => {
  const reader = start('<a><b/><c></d></a>');
  reader.nextChild();
  t.throws(() => reader.drain(), { message: 'line 1, column 11: expected </c>, got </d>' });
});

test('names may have every character of the fifth edition, also outside the BMP', (t) => {
  for (const name of [
    '_',
    'A-.9_z',
    'é',
    'ſ',
    'a·',
    'a̅',
    'a‿',
    '𐀀',
    'a󯿿',
    '⁰',
    '〆',
    'ﷰ',
    '\uFFFD',
    'a\u0300',
  ]) {
    const reader = start(`<p:${name} xmlns:p="u" ${name}="1"></p:${name}>`);
    t.is(reader.local, name);
    t.is(reader.attribute('', name), '1');
    t.notThrows(() => reader.drain());
  }
});

for (const name of ['-', '.', '9', '·', '\u0300', '×', '÷', '\u037E', '\u2000', '󰀀', '\uFDD0', '‿']) {
  test(`${JSON.stringify(name)} does not start a name`, (t) => {
    t.throws(() => drain(`<${name}/>`), {
      instanceOf: XmlError,
      message: /^line 1, column 2: expected a name, got U\+/,
    });
    t.throws(() => drain(`<a:${name}/>`), {
      instanceOf: XmlError,
      message: /^line 1, column 4: expected a name, got U\+/,
    });
    t.throws(() => drain(`<a ${name}=""/>`), {
      instanceOf: XmlError,
      message: /^line 1, column 4: expected a name, got U\+/,
    });
  });
}

for (const [text, message] of [
  // Documents
  ['', 'line 1, column 1: expected the root element, got the end'],
  ['x<a/>', 'line 1, column 1: expected the root element, got U+0078'],
  ['\uFEFF<a/>', 'line 1, column 1: expected the root element, got U+FEFF'],
  ['<a/><b/>', 'line 1, column 5: expected the end of the document, got U+003C'],
  ['<a/>x', 'line 1, column 5: expected the end of the document, got U+0078'],
  ['<a/>&#32;', 'line 1, column 5: expected the end of the document, got U+0026'],
  ['<![CDATA[ ]]><a/>', 'line 1, column 2: expected a name, got U+0021'],
  ['<a>', 'line 1, column 4: expected </a>, got the end'],
  ['<a', 'line 1, column 3: expected a blank, > or />, got the end'],
  ['<', 'line 1, column 2: expected a name, got the end'],
  ['<a><b>', 'line 1, column 7: expected </b>, got the end'],
  // DTDs and processing instructions
  ['<!DOCTYPE a><a/>', 'line 1, column 1: expected no DTD, got <!DOCTYPE'],
  ['<!-- x -->\n <!DOCTYPE', 'line 2, column 2: expected no DTD, got <!DOCTYPE'],
  ['<a><!DOCTYPE a></a>', 'line 1, column 4: expected no DTD, got <!DOCTYPE'],
  ['<!doctype a><a/>', 'line 1, column 2: expected a name, got U+0021'],
  ['<?a?><a/>', 'line 1, column 1: expected no processing instruction, got <?'],
  ['<a><?abc d?></a>', 'line 1, column 4: expected no processing instruction, got <?'],
  ['<a><?b c?></a>', 'line 1, column 4: expected no processing instruction, got <?'],
  ['<a>x<?b c?></a>', 'line 1, column 5: expected no processing instruction, got <?'],
  ['<a/><?b c?>', 'line 1, column 5: expected no processing instruction, got <?'],
  ['<?xml-stylesheet href="x"?><a/>', 'line 1, column 1: expected no processing instruction, got <?'],
  // The XML declaration
  [
    '\n<?xml version="1.0"?><a/>',
    'line 2, column 1: expected the XML declaration at the first character of the document',
  ],
  [
    '<a><?xml version="1.0"?></a>',
    'line 1, column 4: expected the XML declaration at the first character of the document',
  ],
  ['<?xml version="1.1"?><a/>', 'line 1, column 1: expected XML version 1.0, got another version'],
  ['<?xml version="2.0"?><a/>', 'line 1, column 1: expected a well-formed XML declaration'],
  ['<?xml encoding="utf-8"?><a/>', 'line 1, column 1: expected a well-formed XML declaration'],
  [
    '<?xml version="1.0" standalone="maybe"?><a/>',
    'line 1, column 1: expected a well-formed XML declaration',
  ],
  ['<?xml version="1.0" encoding=""?><a/>', 'line 1, column 1: expected a well-formed XML declaration'],
  [
    '<?xml version="1.0" standalone="no" encoding="utf-8"?><a/>',
    'line 1, column 1: expected a well-formed XML declaration',
  ],
  ['<?xml version="1.0"encoding="utf-8"?><a/>', 'line 1, column 1: expected a well-formed XML declaration'],
  ['<?xml version="1.0" ', 'line 1, column 1: expected a well-formed XML declaration'],
  // Tags
  ['<number>\n<b/>\n  </Body>', 'line 3, column 3: expected </number>, got </Body>'],
  ['<a></aa>', 'line 1, column 4: expected </a>, got </aa>'],
  ['<aa></a>', 'line 1, column 5: expected </aa>, got </a>'],
  ['<a></a/>', 'line 1, column 7: expected >, got U+002F'],
  ['<a></ a>', 'line 1, column 6: expected </a>, got U+0020'],
  ['<a></', 'line 1, column 6: expected </a>, got the end'],
  ['<a></a b="">', 'line 1, column 8: expected >, got U+0062'],
  ['<p:a xmlns:p="u" xmlns:q="u"></q:a>', 'line 1, column 30: expected </p:a>, got </q:a>'],
  ['< a/>', 'line 1, column 2: expected a name, got U+0020'],
  ['<a/ >', 'line 1, column 4: expected > after /, got U+0020'],
  ['<a:b:c xmlns:a="u"/>', 'line 1, column 5: expected a blank, > or />, got U+003A'],
  ['<:a/>', 'line 1, column 2: expected a name, got U+003A'],
  ['<a:/>', 'line 1, column 4: expected a name, got U+002F'],
  [`<${'n'.repeat(50)}></b>`, `line 1, column 53: expected </${'n'.repeat(40)}…>, got </b>`],
  [`<a></${'n'.repeat(50)}>`, `line 1, column 4: expected </a>, got </${'n'.repeat(40)}…>`],
  // Attributes
  ['<a b="1" b="2"/>', 'line 1, column 10: expected each attribute once, got b twice'],
  [
    '<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>',
    'line 1, column 36: expected each attribute once, got b twice',
  ],
  ['<a b="1"c="2"/>', 'line 1, column 9: expected a blank, > or />, got U+0063'],
  ['<a b/>', 'line 1, column 5: expected =, got U+002F'],
  ['<a b=1/>', 'line 1, column 6: expected a quoted value, got U+0031'],
  ['<a b="1/>', 'line 1, column 10: expected a closing quote, got the end'],
  ['<a b="<"/>', 'line 1, column 7: expected no < in an attribute value'],
  ['<a b="&"/>', 'line 1, column 7: expected &amp; &lt; &gt; &apos; &quot; or a character reference'],
  ['<a b="&nbsp;"/>', 'line 1, column 7: expected &amp; &lt; &gt; &apos; &quot; or a character reference'],
  ['<a b="&#x1;"/>', 'line 1, column 7: expected a reference to a legal character, got U+0001'],
  // Namespaces
  ['<p:a/>', 'line 1, column 2: expected a bound prefix, got p'],
  ['<a p:b=""/>', 'line 1, column 4: expected a bound prefix, got p'],
  ['<a xmlns:p="u"><b xmlns:q="u"/><q:c/></a>', 'line 1, column 33: expected a bound prefix, got q'],
  ['<xmlns:a/>', 'line 1, column 2: expected a bound prefix, got xmlns'],
  ['<a xmlns:p=""/>', 'line 1, column 4: expected a namespace for the prefix p, got none'],
  ['<a xmlns:p="u" xmlns:p="v"/>', 'line 1, column 16: expected each attribute once, got xmlns:p twice'],
  ['<a xmlns="u" xmlns="u"/>', 'line 1, column 14: expected each attribute once, got xmlns twice'],
  ['<a xmlns:xmlns="u"/>', 'line 1, column 4: expected no declaration of the prefix xmlns'],
  [
    '<a xmlns:p="http://www.w3.org/2000/xmlns/"/>',
    'line 1, column 4: expected no binding to the namespace of xmlns',
  ],
  [
    '<a xmlns="http://www.w3.org/2000/xmlns/"/>',
    'line 1, column 4: expected no binding to the namespace of xmlns',
  ],
  [
    '<a xmlns:xml="u"/>',
    'line 1, column 4: expected the prefix xml and its namespace bound to each other alone',
  ],
  [
    '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>',
    'line 1, column 4: expected the prefix xml and its namespace bound to each other alone',
  ],
  [
    '<a xmlns="http://www.w3.org/XML/1998/namespace"/>',
    'line 1, column 4: expected the prefix xml and its namespace bound to each other alone',
  ],
  // Character data
  ['<a>x]]>y</a>', 'line 1, column 5: expected no ]]> in text'],
  ['<a>&</a>', 'line 1, column 4: expected &amp; &lt; &gt; &apos; &quot; or a character reference'],
  ['<a>&lt</a>', 'line 1, column 4: expected &amp; &lt; &gt; &apos; &quot; or a character reference'],
  ['<a>&AMP;</a>', 'line 1, column 4: expected &amp; &lt; &gt; &apos; &quot; or a character reference'],
  ['<a>&#;</a>', 'line 1, column 6: expected a digit, got U+003B'],
  ['<a>&#x;</a>', 'line 1, column 7: expected a digit, got U+003B'],
  ['<a>&#X41;</a>', 'line 1, column 6: expected a digit, got U+0058'],
  ['<a>&#6A;</a>', 'line 1, column 7: expected ;, got U+0041'],
  ['<a>&#65', 'line 1, column 8: expected </a>, got the end'],
  ['<a><!-- x -- y --></a>', 'line 1, column 11: expected no -- inside a comment'],
  ['<a><!-- x ---></a>', 'line 1, column 11: expected no -- inside a comment'],
  ['<a><!--></a>', 'line 1, column 13: expected -->, got the end'],
  ['<a><!- x --></a>', 'line 1, column 4: expected a comment, a CDATA section or a tag, got <!'],
  ['<a><![cdata[x]]></a>', 'line 1, column 4: expected a comment, a CDATA section or a tag, got <!'],
  ['<a><![CDATA[x]]</a>', 'line 1, column 20: expected ]]>, got the end'],
  // Raw characters
  ['<a>\u0001</a>', 'line 1, column 4: expected a legal character, got U+0001'],
  ['<a>\r\nx\0</a>', 'line 2, column 2: expected a legal character, got U+0000'],
  ['<a b="\uFFFE"/>', 'line 1, column 7: expected a legal character, got U+FFFE'],
  ['<a><!-- \uFFFF --></a>', 'line 1, column 9: expected a legal character, got U+FFFF'],
  ['<a><![CDATA[\x1f]]></a>', 'line 1, column 13: expected a legal character, got U+001F'],
  ['<a>\ud83d</a>', 'line 1, column 4: expected a legal character, got U+D83D'],
  ['<a>\ude00\ud83d</a>', 'line 1, column 4: expected a legal character, got U+DE00'],
  ['<a\ud83d/>', 'line 1, column 3: expected a legal character, got U+D83D'],
  ['<!-- \b --><a/>', 'line 1, column 6: expected a legal character, got U+0008'],
  ['<a/>\f', 'line 1, column 5: expected a legal character, got U+000C'],
  ['<a></a\v>', 'line 1, column 7: expected a legal character, got U+000B'],
  // the first error is reported
  ['<a></b>\u0001', 'line 1, column 4: expected </a>, got </b>'],
  ['<a b="<"/>\u0001', 'line 1, column 7: expected no < in an attribute value'],
  ['<a b/>\ufffe', 'line 1, column 5: expected =, got U+002F'],
  ['<a>&am\x01p;</a>', 'line 1, column 7: expected a legal character, got U+0001'],
] as const) {
  test(`W10: refuses ${JSON.stringify(text.slice(0, 60))}: ${message}`, (t) => {
    t.throws(() => drain(text), { instanceOf: XmlError, message });
  });
}

test('readText and skip refuse the same content with the same message', (t) => {
  for (const content of [
    'x]]>y',
    '&',
    '&#x1;',
    '\u0001',
    '<!-- -- -->',
    '<![CDATA[',
    '<?b?>',
    '\ud83d',
    '</b>',
    '<c></d>',
  ]) {
    const skipped = t.throws(() => start(`<a>${content}</a>`).skip());
    const read = t.throws(() => start(`<a>${content}</a>`).readText(100, true));
    t.is(read?.message, skipped?.message);
  }
});

test('W3: an illegal character is an error only when read: the root is read before', (t) => {
  const reader = start('<a><b/>\u0001</a>');
  t.is(reader.local, 'a');
  t.true(reader.nextChild());
  t.false(reader.nextChild());
  t.throws(() => reader.nextChild(), { message: 'line 1, column 8: expected a legal character, got U+0001' });
});

test('a text is not read behind an illegal character, however long it is', (t) => {
  const read = (content: string): unknown => start(`<a>${content}</a>`).readText(5, true);
  for (const content of [
    '123\u0001',
    '123\u0001456',
    '123\u0001&bad;',
    '12&#51;\u0001456',
    '123456\u0001',
    '<![CDATA[123\u0001456]]>',
    '12<![CDATA[345]]>\u00016',
  ])
    t.throws(() => read(content), { message: /: expected a legal character, got U\+0001$/ }, content);
});

test('an XmlError has its line and column as numbers', (t) => {
  const error = t.throws<XmlError>(() => drain('<a>\r\n\r\n  </b>'), { instanceOf: XmlError });
  t.like(error, { name: 'XmlError', line: 3, column: 3, limit: undefined });
});

test('XML 1.0, 2.11: locate counts LF, CR and CRLF as one line end each', (t) => {
  const text = '<a>\n\r\n\rx</a>';
  t.deepEqual(locate(text, 0), { line: 1, column: 1 });
  t.deepEqual(locate(text, 3), { line: 1, column: 4 });
  t.deepEqual(locate(text, 4), { line: 2, column: 1 });
  t.deepEqual(locate(text, 5), { line: 2, column: 2 });
  t.deepEqual(locate(text, 6), { line: 3, column: 1 });
  t.deepEqual(locate(text, 7), { line: 4, column: 1 });
  t.deepEqual(locate(text, text.length), { line: 4, column: 6 });
});

test('element names of Object.prototype are ordinary names', (t) => {
  const reader = start('<__proto__ constructor="x"><toString/></__proto__>');
  t.is(reader.local, '__proto__');
  t.is(reader.attribute('', 'constructor'), 'x');
  t.is(reader.attribute('', 'toString'), undefined);
});

for (const text of [
  '<a>SECRET&SECRET;</a>',
  '<a>SECRET&#xSECRET;</a>',
  '<a>SECRET]]>SECRET</a>',
  '<a>SECRET</b>',
  '<a>SECRET',
  '<a>SECRET\u0001SECRET</a>',
  '<a b="SECRET<SECRET"/>',
  '<a b="SECRET&SECRET;"/>',
  '<a b="SECRET',
  '<a b="SECRET"SECRET="1"/>',
  '<a b="SECRET" b="SECRET"/>',
  '<a b=SECRET/>',
  '<a xmlns:p=""><!-- SECRET -- SECRET --></a>',
  '<a><!-- SECRET -- SECRET --></a>',
  '<a><![CDATA[SECRET</a>',
  '<a/>SECRET',
  'SECRET<a/>',
  '<?SECRET SECRET?><a/>',
  '<?xml version="1.0" encoding="SECRET SECRET"?><a/>',
  '<!DOCTYPE SECRET "SECRET"><a/>',
  `<a>SECRET${'x'.repeat(defaultLimits.xmlText)}</a>`,
  `<a b="SECRET${'x'.repeat(maxAttributeValueCharacters)}"/>`,
]) {
  test(`the refusal of ${JSON.stringify(text.slice(0, 50))} contains nothing of its content`, (t) => {
    const error = t.throws(() => drain(text), { instanceOf: XmlError });
    t.false(`${error?.stack}${JSON.stringify(error)}`.includes('SECRET'));
  });
}

for (const [content, begins] of [
  ['<b/>', true],
  [' <!-- c --> <b/>', true],
  ['<!-- c -->', false],
  ['x<b/>', false],
  ['<![CDATA[x]]>', false],
  ['', false],
] as const)
  test(`<a>${content}</a> starts ${begins ? 'with an element' : 'with no element'}`, (t) => {
    const xml = new XmlReader(`<a>${content}</a>`, defaultLimits);
    xml.readRoot();
    t.is(xml.beginsWithElement, begins);
  });

test('<a/> starts with no element, whatever follows', (t) => {
  const xml = new XmlReader('<r><a/><b/></r>', defaultLimits);
  xml.readRoot();
  xml.nextChild();
  t.false(xml.beginsWithElement);
});

test('an unused reader has no position', (t) => {
  t.like(new XmlReader('<a/>', defaultLimits), {
    local: '',
    namespace: '',
    prefix: '',
    empty: false,
    depth: 0,
    hasText: false,
    position: 0,
    attributeCount: 0,
    joinedSurrogates: 0,
    illegalReferences: 0,
  });
});

test('W10: refuses references to illegal characters by default', (t) => {
  const reader = start('<a>&#xB;</a>');
  t.throws(() => reader.readText(100, true), { message: /got U\+000B$/ });
});

test('a start tag and its attributes have their positions and declarations', (t) => {
  const text = '<a xmlns="urn:d">\n<p:b c="1"\n xmlns:p="urn:p" p:d="2" xmlns=""><e/></p:b></a>';
  const reader = start(text);
  t.is(reader.startOffset, 0);
  t.deepEqual(reader.declarations, [{ prefix: '', namespace: 'urn:d' }]);
  reader.nextChild();
  t.is(reader.startOffset, text.indexOf('<p:b'));
  t.is(reader.attributeOffset(0), text.indexOf('c='));
  t.is(reader.attributeOffset(1), text.indexOf('p:d='));
  t.deepEqual(reader.declarations, [
    { prefix: 'p', namespace: 'urn:p' },
    { prefix: '', namespace: '' },
  ]);
  t.is(reader.source(reader.startOffset, reader.position), text.slice(18, text.indexOf('<e/>')));
  reader.nextChild();
  t.is(reader.startOffset, text.indexOf('<e/>'));
  t.deepEqual(reader.declarations, []);
  for (const read of ['attributeOffset', 'attributeLocal', 'attributeValue'] as const)
    t.throws(() => reader[read](0), {
      instanceOf: RangeError,
      message: 'attribute: expected an index below 0, got 0',
    });
});

test('names that start like xmlns, or have its length, are ordinary attributes', (t) => {
  const reader = start(
    '<a xmlnsx="1" xmlnsx:b="2" xmlns:xmlnsx="urn:x" xmln="3" b:xmlns="4" xmlns:b="urn:b" fives="5" fives:c="6" xmlns:fives="urn:f"/>',
  );
  t.is(reader.attributeCount, 6);
  t.is(reader.attribute('', 'xmlnsx'), '1');
  t.is(reader.attribute('urn:x', 'b'), '2');
  t.is(reader.attribute('', 'xmln'), '3');
  t.is(reader.attribute('urn:b', 'xmlns'), '4');
  t.is(reader.attribute('', 'fives'), '5');
  t.is(reader.attribute('urn:f', 'c'), '6');
});

test('a repeated attribute is refused, in tags with few attributes and with many', (t) => {
  for (let count = 2; count < 12; count++)
    for (let first = 0; first < count - 1; first++) {
      const names = Array.from({ length: count }, (_, index) => (index === first ? 'z' : `a${index}`));
      const written = (last: string): string =>
        `<a xmlns:p="urn:p" xmlns:q="urn:p" xmlns:r="urn:r" ${[...names.slice(0, -1), last].map((name) => `${name}=""`).join(' ')}/>`;
      const message = /: expected each attribute once, got z twice$/;
      t.throws(() => drain(written('z')), { message }, `${count} ${first}`);
      t.throws(() => drain(written('q:z').replace(' z=', ' p:z=')), { message }, `${count} ${first}`);
      t.notThrows(() => drain(written('p:z')), `${count} ${first}`);
      t.notThrows(() => drain(written('r:z').replace(' z=', ' p:z=')), `${count} ${first}`);
      t.notThrows(() => drain(written('z').replace(' z=', ' p:z=')), `${count} ${first}`);
    }
});

test('the first invalid of up to eight attributes is reported; of more, unbound ones first', (t) => {
  const tag = (count: number): string =>
    `<a z="" z=""${Array.from({ length: count - 3 }, (_, index) => ` a${index}=""`).join('')} p:b=""/>`;
  t.throws(() => drain(tag(8)), { message: 'line 1, column 9: expected each attribute once, got z twice' });
  t.throws(() => drain(tag(9)), { message: /: expected a bound prefix, got p$/ });
});

test('errors show 40 characters of a name', (t) => {
  const name = (length: number): string => 'n'.repeat(length);
  for (const [text, got] of [
    [`<a></${name(40)}>`, `</${name(40)}>`],
    [`<a></${name(41)}>`, `</${name(40)}…>`],
    [`<a></${name(60)}>`, `</${name(40)}…>`],
    [`<a></${name(41)}`, 'the end'],
    [`<a></${name(42)}`, `</${name(40)}…>`],
  ] as const)
    t.throws(() => drain(text), { message: new RegExp(`: expected </a>, got ${got}$`) });
  for (const length of [40, 41]) {
    const shown = length === 40 ? name(40) : `${name(40)}…`;
    for (const [text, message] of [
      [`<${name(length)}>`, `expected </${shown}>, got the end`],
      [`<a ${name(length)}="" ${name(length)}=""/>`, `expected each attribute once, got ${shown} twice`],
      [`<${name(length)}:b/>`, `expected a bound prefix, got ${shown}`],
      [`<a xmlns:${name(length)}=""/>`, `expected a namespace for the prefix ${shown}, got none`],
    ] as const)
      t.true(t.throws(() => drain(text))?.message.endsWith(`: ${message}`), text);
  }
});

test('a reader tells what is open at a start tag, and the namespaces of prefixes', (t) => {
  const reader = start(
    '<s:a xmlns:s="urn:s" xmlns="urn:d"><b/><!-- x -->\n<s:c xmlns:s="urn:t" xmlns:u="urn:u"><x/></s:c></s:a>',
  );
  t.deepEqual(reader.scope(), {
    names: ['s:a'],
    bindings: new Map([
      ['s', 'urn:s'],
      ['', 'urn:d'],
    ]),
    elements: 1,
    attributes: 2,
  });
  reader.nextChild();
  t.is(reader.scope(), undefined); // it closes itself
  reader.skip();
  reader.nextChild();
  t.deepEqual(reader.scope(), {
    names: ['s:a', 's:c'],
    bindings: new Map([
      ['s', 'urn:t'],
      ['', 'urn:d'],
      ['u', 'urn:u'],
    ]),
    elements: 3,
    attributes: 4,
  });
});

test('a start tag with attributes, or behind text, has no scope', (t) => {
  t.is(start('<a b=""></a>').scope(), undefined);
  t.not(start('<a xmlns="urn:b"></a>').scope(), undefined);
  for (const [content, isKnown] of [
    ['<b></b>', true],
    [' <!-- x --> <b></b>', true],
    ['x<b></b>', false],
    ['<![CDATA[x]]><b></b>', false],
    ['<![CDATA[ ]]><b></b>', false],
    ['<![CDATA[]]><b></b>', true],
    ['&#32;<b></b>', false],
  ] as const) {
    const reader = start(`<a>${content}</a>`);
    reader.nextChild();
    t.is(reader.scope() !== undefined, isKnown, content);
  }
});
