import test from 'ava';
import fc from 'fast-check';
import { ElementForms } from '../../../mappings/codec/fast-path/element-forms.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { type ContentReader, XmlReader } from '../../../mappings/xml/reader.ts';

const opens = '<r xmlns="urn:r" xmlns:p="urn:p">';
const element = { local: 'r', namespace: 'urn:r', prefix: '' };

/** A reader of a document of one element, behind its start tag. */
function readerOf(content: string): XmlReader {
  const xml = new XmlReader(`${opens}${content}</r>`, defaultLimits);
  xml.readRoot();
  return xml;
}

function learn(forms: ElementForms, content: string): void {
  for (let time = 0; time < 8; time++) forms.note(`${opens}${content}</r>`, readerOf(content));
}

/** What a reader says on its way through an element, which way being up to the choices. */
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
        const said = walk(reader, choices);
        t.is(reader.position, document.length - opens.length);
        t.deepEqual(said, walk(readerOf(content), choices));
      },
    ),
    { numRuns: 3_000 },
  );
  t.true(found > 500, `${found}`);
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
  t.false(isKnown('<a>&#1;</a>'));
  t.false(isKnown('<a>\uffff</a>'));
  t.false(isKnown(Buffer.from('<a>é</a>', 'latin1')));
  t.false(isKnown('<a>x</a><a/>'));
  t.false(isKnown('<a>x'));
  t.throws(() => walk(readerOf('<a>&#1;</a>'), [1]), { instanceOf: XmlError });
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
  t.is(contents.filter(isKnown).length, 8);
});
