import test from 'ava';
import { indentJson, indentXml } from '../../../wsdl/samples/indent.ts';

test('elements are on separate lines, and text stays with its tags', (t) => {
  t.is(
    indentXml('<a x="1>2"><b>one</b><c/><d><e></e></d><m>two<i>three</i></m></a>'),
    '<a x="1>2">\n  <b>one</b>\n  <c/>\n  <d>\n    <e></e>\n  </d>\n  <m>two<i>three</i></m>\n</a>\n',
  );
});

test('an element with text after several elements stays on one line', (t) => {
  t.is(indentXml('<a><m><b>1</b><c/>two</m></a>'), '<a>\n  <m><b>1</b><c/>two</m>\n</a>\n');
});

test('JSON has one member per line, and numbers keep their digits', (t) => {
  t.is(
    indentJson('{"a":[1.10,{}],"b,{\\"":[],"c":12345678901234567890}'),
    '{\n  "a": [\n    1.10,\n    {}\n  ],\n  "b,{\\"": [],\n  "c": 12345678901234567890\n}\n',
  );
});
