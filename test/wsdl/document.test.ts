import test from 'ava';
import { namespaces } from '../../mappings/contract/model.ts';
import { documentation, element, writeHtml, writeXml } from '../../wsdl/document.ts';
import { fc } from '../property.ts';
import { only, readTree } from './tree.ts';

test('an XML document has a declaration, one line per element and a final newline', (t) => {
  const root = element(
    'a',
    { x: '1', y: undefined },
    element('b', {}, 'text'),
    undefined,
    element('c', { z: '2' }),
  );
  t.is(
    writeXml(root),
    '<?xml version="1.0" encoding="utf-8"?>\n<a x="1">\n  <b>text</b>\n  <c z="2"/>\n</a>\n',
  );
});

test('an attribute escapes & < > and quotes, and keeps characters outside ASCII', (t) => {
  t.is(
    writeXml(element('a', { x: `& < > " ' é 漢 😀` })),
    '<?xml version="1.0" encoding="utf-8"?>\n<a x="&amp; &lt; &gt; &quot; &apos; é 漢 😀"/>\n',
  );
});

test('an HTML document escapes text, never closes meta and always closes other elements', (t) => {
  const root = element(
    'html',
    {},
    element('meta', { charset: 'utf-8' }),
    element('td', {}),
    element('pre', {}, '<b>&\n"x"'),
  );
  t.is(
    writeHtml(root),
    '<!doctype html>\n<html>\n  <meta charset="utf-8">\n  <td></td>\n  <pre>&lt;b&gt;&amp;\n&quot;x&quot;</pre>\n</html>\n',
  );
});

test('text reads back as written', (t) => {
  const legal = fc
    .string({ unit: 'binary' })
    .filter((text) => !/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text));
  fc.assert(
    fc.property(legal, (text) => {
      t.is(readTree(writeXml(element('a', {}, text))).text, text);
    }),
  );
});

for (const text of ['\u0000', '\u001B', '\uFFFE', '\uD800']) {
  const code = text.charCodeAt(0).toString(16).padStart(4, '0');
  test(`characters that XML cannot contain become U+FFFD: \\u${code}`, (t) => {
    const tree = readTree(writeXml(element('a', { x: text }, `${text}!`)));
    t.is(tree.text, '\uFFFD!');
    t.is(tree.attributes.x, '\uFFFD');
  });
}

for (const [text, written] of [
  ['/* any */ words */', '/* any * / words * /'],
  ['C:\\users\\u12', 'C:\\ users\\ u12'],
  ['from \\u0020 to \\uD7FF', 'from \\u0020 to \\uD7FF'],
] as const) {
  test(`texts of the contract stay inside a Java comment: ${text}`, (t) => {
    const root = element('xs:annotation', { 'xmlns:xs': namespaces.xsd }, documentation('xs', text));
    t.is(only(readTree(writeXml(root)), 'xs:documentation').text, written);
  });
}
