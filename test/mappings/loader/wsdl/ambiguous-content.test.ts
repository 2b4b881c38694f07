import test from 'ava';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { getOf, load, schemaOf } from './wsdl-folder.ts';

const e = (name: string, attributes = ''): string =>
  `<xs:element name="${name}" type="xs:int" ${attributes}/>`;
const maybe = 'minOccurs="0"';
const many = 'minOccurs="0" maxOccurs="unbounded"';
const any = (attributes = ''): string => `<xs:any ${attributes}/>`;
const group = (kind: string, content: string, attributes = ''): string =>
  `<xs:${kind} ${attributes}>${content}</xs:${kind}>`;
const sequence = (content: string, attributes = ''): string => group('sequence', content, attributes);
const choice = (content: string, attributes = ''): string => group('choice', content, attributes);

/** Returns true if libxml2 compiles a schema with this content. */
function isTakenByLibxml2(content: string): boolean {
  using document = XmlDocument.fromString(
    schemaOf(`<xs:element name="Get"><xs:complexType>${content}</xs:complexType></xs:element>`),
  );
  try {
    XsdValidator.fromDoc(document).dispose();
    return true;
  } catch {
    return false;
  }
}

// libxml2 ignores fixed occurrence counts, merges equal particles and does not compare all wildcards
for (const [content, found, libxml2] of [
  [sequence(e('a', maybe) + e('a')), 'a or another a'],
  [sequence(e('a', many) + e('a')), 'a or another a'],
  [sequence(e('a', maybe) + e('b', maybe) + e('a')), 'a or another a'],
  [sequence(e('a') + e('a')), undefined],
  [sequence(e('a', maybe) + e('b') + e('a', maybe)), undefined],
  [sequence(e('a', 'minOccurs="2" maxOccurs="2"') + e('a')), undefined, 'differs'],
  [sequence(e('a', 'minOccurs="2" maxOccurs="3"') + e('a')), 'a or another a'],
  [choice(e('a') + e('a')), 'a or another a', 'differs'],
  [choice(sequence(e('a') + e('b')) + sequence(e('a') + e('c'))), 'a or another a'],
  [choice(e('a') + e('b'), 'maxOccurs="unbounded"'), undefined],
  [sequence(e('a') + e('b', maybe), 'maxOccurs="unbounded"'), undefined],
  [sequence(e('b') + e('a', maybe), maybe), undefined],
  [sequence(sequence(e('a') + e('b', maybe), 'maxOccurs="unbounded"') + e('b')), 'b or another b'],
  [sequence(sequence(e('a') + e('b', maybe), 'maxOccurs="unbounded"') + e('a')), 'a or another a'],
  [sequence(sequence(e('a', maybe) + e('b') + e('a', maybe), 'maxOccurs="2"')), 'a or another a'],
  [sequence(e('a', maybe) + any()), 'a or xs:any'],
  [sequence(e('a') + any()), undefined],
  [sequence(e('a', many) + any('namespace="##other"')), undefined],
  [sequence(e('a', many) + any('namespace="##targetNamespace"')), 'a or xs:any'],
  [sequence(e('a', many) + any('namespace="##local"')), undefined],
  [sequence(e('a', many) + any('namespace="urn:x urn:t"')), 'a or xs:any'],
  [sequence(any(many) + e('a')), 'a or xs:any'],
  [sequence(any() + e('a')), undefined],
  [sequence(any(maybe) + any('namespace="##other"')), 'xs:any or xs:any', 'differs'],
  [sequence(any('minOccurs="0" namespace="urn:x"') + any('namespace="urn:y"')), undefined],
  [sequence(any('minOccurs="0" namespace="urn:x"') + any('namespace="##other"')), 'xs:any or xs:any'],
  [choice(any('namespace="##other"') + any('namespace="##local"'), 'maxOccurs="unbounded"'), undefined],
  [group('all', e('a', maybe) + e('b', maybe)), undefined],
  [group('all', e('a', maybe) + e('a', maybe)), 'a or another a', 'differs'],
] as const) {
  test(`A3: loading warns ${found === undefined ? 'not ' : ''}of an ambiguous content model: ${content.replaceAll('xs:', '').replaceAll('type="int" ', '')}`, (t) => {
    const { service, warnings } = load(t, {
      'service.wsdl': getOf(`<xs:complexType>${content}</xs:complexType>`),
    });
    t.is(service.operations.length, 1);
    t.is(isTakenByLibxml2(content), (found === undefined) !== (libxml2 === 'differs'));
    t.deepEqual(
      warnings.map(({ message }) => message),
      found === undefined
        ? []
        : [
            `the content of a type is ambiguous: an element can be ${found} at one place, so validators reject the schema`,
          ],
    );
  });
}

test('A3: an extension of content with an optional end is ambiguous', (t) => {
  const base = `<xs:complexType name="Base">${sequence(e('a', many))}</xs:complexType>`;
  const extension = `<xs:complexContent><xs:extension base="t:Base">${sequence(e('a'))}</xs:extension></xs:complexContent>`;
  const { warnings } = load(t, {
    'service.wsdl': getOf(`<xs:complexType>${extension}</xs:complexType>`, base),
  });
  t.is(warnings.length, 1);
});
