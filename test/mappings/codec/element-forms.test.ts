import test from 'ava';
import fc from 'fast-check';
import { ElementForms } from '../../../mappings/codec/fast-path/element-forms.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { type ContentReader, XmlReader } from '../../../mappings/xml/reader.ts';

const opens = '<r xmlns="urn:r" xmlns:p="urn:p">';
const element = { local: 'r', namespace: 'urn:r', prefix: '' };

/** Returns a reader of a document with one element, positioned after its start tag. */
function readerOf(content: string): XmlReader {
  const xml = new XmlReader(`${opens}${content}</r>`, defaultLimits);
  xml.readRoot();
  return xml;
}

function learn(forms: ElementForms, content: string): void {
  for (let time = 0; time < 8; time++) forms.note(`${opens}${content}</r>`, readerOf(content));
}

/** Records a reader's results in an element. The choices select the reader's methods. */
function walk(xml: ContentReader, choices: readonly number[]): readonly unknown[] {
  const said: unknown[] = [];
  let turn = 0;
  const inside = (): void => {
    while (xml.nextChild()) {
      const { local, namespace, prefix } = xml;
      said.push({
        local,
        namespace,
        prefix,
        id: xml.attribute('urn:p', 'Id'),
        plain: xml.attribute('', 'Id'),
      });
      said.push(xml.attribute('', 'type'), xml.attribute('', 'none'));
      const choice = (choices[turn++ % choices.length] ?? 0) % 3;
      if (choice === 0) inside();
      else if (choice === 1) said.push(xml.readText(1_000, true));
      else xml.skip();
    }
    said.push({ stray: xml.stray });
  };
  inside();
  return said;
}

const known = [
  '<a/>',
  '<a></a>',
  '<a>x</a>',
  '<p:a p:Id="i" type="t">x</p:a><b/>',
  '\n  <a>\n    <b>x</b>\n    <c Id="1">y</c>\n  </a>\n',
  '<a xmlns="urn:other"><b type="&amp;">x</b></a><b xmlns:p="urn:q"><p:b/></b>',
  '<a Id=\'one\'>x</a><a Id = "two"/>',
  '<a/><b>x</b><c/>',
];

test('content whose form is known reads as it does the first time, whatever its texts are and in whichever order it is read', (t) => {
  const forms = new ElementForms(defaultLimits, element);
  for (const content of known) learn(forms, content);
  const text = fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      'x',
      'a b',
      'é漢😀',
      '"',
      '\\',
      "'",
      '>',
      ']]>',
      '&amp;&lt;',
      '&#233;',
      '&bad;',
      '&',
      '\r\n',
    ),
    fc.string({ maxLength: 6 }),
  );
  let found = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...known),
      fc.array(text, { minLength: 4, maxLength: 4 }),
      fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 8 }),
      (form, texts, choices) => {
        let place = 0;
        const content = form.replace(
          /(?<=>)[xy](?=<)|(?<="|')(?:i|1|one|two)(?="|')/g,
          () => texts[place++] ?? '',
        );
        const document = Buffer.from(`${opens}${content}</r>`);
        const reader = forms.find(document, opens.length);
        if (reader === undefined) return;
        found++;
        t.is(reader.position, 0);
        const said = walk(reader, choices);
        t.is(reader.position, document.length - opens.length);
        t.deepEqual(said, walk(readerOf(content), choices));
      },
    ),
    { numRuns: 3_000 },
  );
  t.true(found > 500, `${found}`);
});

const twoTexts = '<p:a p:Id="i" type="t">x</p:a><b>y</b>';

for (const [learned, content, isKnown] of [
  ['<a/>', '<a/>', true],
  ['<a/>', '<b/>', false],
  ['<a/>', '<a></a>', false],
  ['<a>x</a>', '<a>x</a>', true],
  ['<a>x</a>', '<a></a>', true],
  ['<a>x</a>', '<a> yz\\"\' </a>', true],
  ['<a>x</a>', '<a>é漢😀</a>', true],
  ['<a>x</a>', '<a>&amp;</a>', true],
  ['<a>x</a>', '<a>é&lt;</a>', true],
  ['<a>x</a>', '<a>a>b</a>', false],
  ['<a>x</a>', '<a>\r\n</a>', false],
  ['<a>x</a>', '<a >x</a>', false],
  ['<a></a>', '<a>x</a>', true],
  ['<a><b>x</b></a>', '<a><b>y</b></a>', true],
  ['<a><b>x</b></a>', '<a>y<b>x</b></a>', false],
  [twoTexts, twoTexts, true],
  [twoTexts, '<p:a p:Id="" type="t"></p:a><b></b>', true],
  [twoTexts, '<p:a p:Id="other \' \\" type="t">one</p:a><b>two</b>', false],
  [twoTexts, '<p:a p:Id="other \'" type="t">one</p:a><b>two</b>', true],
  [twoTexts, '<p:a p:Id="é" type="t">é</p:a><b>é</b>', true],
  [twoTexts, '<p:a p:Id="&lt;" type="t">&lt;</p:a><b>&lt;</b>', false],
  [twoTexts, '<p:a p:Id="i" type="u">x</p:a><b>y</b>', false],
  ['<a Id=\'i\' b="c">x</a>', '<a Id=\'i\' b="c">y</a>', true],
  ['<a Id=\'i\' b="c">x</a>', '<a Id=\'i\' b="d">x</a>', false],
  ['<a Id=\'i\'>x</a><b c="d"/>', '<a Id=\'i\'>x</a><b c="e"/>', false],
  ["<a Id='i=\"'>x</a>", "<a Id='i=\"'>y</a>", true],
  ['<a Id="i"/>', '<a Id="the other"/>', true],
  ['<a xmlns="urn:i" Id="i"/>', '<a xmlns="urn:j" Id="i"/>', false],
] as const)
  test(`behind ${learned} the content ${JSON.stringify(content)} is ${isKnown ? '' : 'not '}known`, (t) => {
    const forms = new ElementForms(defaultLimits, element);
    learn(forms, learned);
    const document = Buffer.from(`${opens}${content}</r>`);
    const reader = forms.find(document, opens.length);
    t.is(reader !== undefined, isKnown);
    if (reader === undefined) return;
    const { local, namespace, prefix } = reader;
    t.deepEqual({ local, namespace, prefix }, element);
    for (const choices of [[0], [1], [2], [0, 1], [0, 2, 1]]) {
      const again = forms.find(document, opens.length);
      t.is(again?.position, 0);
      t.is(again?.attribute('', 'Id'), undefined);
      if (again !== undefined) t.deepEqual(walk(again, choices), walk(readerOf(content), choices));
      t.is(again?.position, document.length - opens.length);
    }
  });

for (const [what, content] of [
  ['a comment', '<a><!-- x --></a>'],
  ['a CDATA section', '<a><![CDATA[x]]></a>'],
  ['text beside elements', '<a>x<b/></a>'],
  ['text behind elements', '<a><b/>x</a>'],
] as const)
  test(`content with ${what} has no form`, (t) => {
    const forms = new ElementForms(defaultLimits, element);
    learn(forms, content);
    t.is(forms.find(Buffer.from(`${opens}${content}</r>`), opens.length), undefined);
  });

test('a text that another reader would refuse has no known form', (t) => {
  const forms = new ElementForms({ ...defaultLimits, xmlText: 3 }, element);
  learn(forms, '<a>x</a>');
  const isKnown = (content: string | Buffer): boolean =>
    forms.find(
      Buffer.concat([Buffer.from(opens), Buffer.from(content), Buffer.from('</r>')]),
      opens.length,
    ) !== undefined;
  t.true(isKnown('<a>xyz</a>'));
  t.false(isKnown('<a>xyz1</a>'));
  t.true(isKnown('<a>é1</a>'));
  t.false(isKnown('<a>é12</a>'));
  t.false(isKnown('<a>x</a><a/>'));
  t.false(isKnown('<a>x'));
});

test('a text that another reader refuses, or lets pass by a setting, has no known form', (t) => {
  const forms = new ElementForms(defaultLimits, element);
  learn(forms, '<a>x</a>');
  const isKnown = (text: Buffer): boolean =>
    forms.find(Buffer.concat([Buffer.from(`${opens}<a>`), text, Buffer.from('</a></r>')]), opens.length) !==
    undefined;
  for (const text of ['&#233;', '&lt;é', 'é', '😀'.repeat(2_000)]) t.true(isKnown(Buffer.from(text)), text);
  for (const text of [
    '&#1;',
    '\uffff',
    '&#xD83D;&#xDE00;',
    '&bad;',
    '&',
    'é&#xD83D;',
    '\u0001',
    ''.padEnd(2, '\0'),
  ])
    t.false(isKnown(Buffer.from(text)), text);
  for (const text of ['é', 'é&amp;', '\x80']) t.false(isKnown(Buffer.from(text, 'latin1')), text);
  t.throws(() => walk(readerOf('<a>&#1;</a>'), [1]), { instanceOf: XmlError });
});

test('a value of an Id that is longer than those of attributes may be has no known form', (t) => {
  const forms = new ElementForms({ ...defaultLimits, xmlAttributeValue: 3 }, element);
  learn(forms, '<a Id="i"/>');
  const isKnown = (content: string): boolean =>
    forms.find(Buffer.from(`${opens}${content}</r>`), opens.length) !== undefined;
  t.true(isKnown('<a Id="xyz"/>'));
  t.false(isKnown('<a Id="xyz1"/>'));
});

test('what stood in a document before is no part of a shorter one', (t) => {
  const forms = new ElementForms(defaultLimits, element);
  learn(forms, '<a>x</a>');
  const whole = Buffer.from(`${opens}<a>x</a></r>`);
  for (let end = whole.length; end > opens.length; end--) {
    t.true(forms.find(whole, opens.length) !== undefined);
    t.is(forms.find(whole.subarray(0, end), opens.length) !== undefined, end === whole.length, `${end}`);
  }
});

test('a document of 8,192 bytes has a known form, and a larger one has none', (t) => {
  const contentOf = (size: number): string =>
    `<a>${'x'.repeat(size - Buffer.byteLength(`${opens}<a></a></r>`))}</a>`;
  for (const learned of [8_192, 8_193]) {
    const forms = new ElementForms(defaultLimits, element);
    learn(forms, contentOf(learned));
    for (const size of [100, 8_191, 8_192, 8_193, 20_000]) {
      const document = Buffer.from(`${opens}${contentOf(size)}</r>`);
      t.is(document.length, size);
      t.is(forms.find(document, opens.length) !== undefined, learned === 8_192 && size <= 8_192, `${size}`);
    }
  }
});

test('of many forms those met of late are kept, and a caller who never writes twice alike has none', (t) => {
  const forms = new ElementForms(defaultLimits, element);
  const contents = Array.from({ length: 9 }, (_, index) => `<a${index}>x</a${index}>`);
  const isKnown = (content: string): boolean =>
    forms.find(Buffer.from(`${opens}${content}</r>`), opens.length) !== undefined;
  for (const content of contents) {
    forms.note(`${opens}${content}</r>`, readerOf(content));
    t.false(content === contents[0] && isKnown(content));
  }
  for (const content of contents) learn(forms, content);
  for (let time = 0; time < 3; time++) t.is(contents.filter(isKnown).length, 8);
  for (let time = 0; time < 9; time++) t.true(isKnown('<a8>y</a8>') && isKnown('<a2>y</a2>'));
});
