import test from 'ava';
import { writeDocument } from '../../wsdl/adopted.ts';
import { definitionsOf, get, load, schemaOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

const links = {
  addressOf: (port: string) => `https://new.example/${port}?a="1"&b='ü'`,
  locationOf: ({ kind, number }: { readonly kind: string; readonly number: number }) =>
    `https://new.example/x?${kind}=${number}`,
};

const wsdl = definitionsOf(
  schemaOf(
    '<xs:include schemaLocation = \'a.xsd\'/><xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="http://www.w3.org/2001/xml.xsd"/><xs:element name="Get" type="xs:int"/><!-- ä €, 😀 --><xs:include schemaLocation="b.xsd"/>',
  ),
  `<?pi ü?>${get}`,
);
const expected = wsdl
  .replace("'a.xsd'", "'https://new.example/x?xsd=0'")
  .replace('"b.xsd"', '"https://new.example/x?xsd=1"')
  .replace(
    '"http://old.example/Things.asmx"',
    '"https://new.example/ThingsSoap?a=&#34;1&#34;&#38;b=&#39;&#252;&#39;"',
  );

for (const [encoding, declaration, encode] of [
  ['utf-8', '<?xml version="1.0"?>\r\n', (text: string) => Buffer.from(text)],
  ['utf-8 with a mark', '\ufeff', (text: string) => Buffer.from(text)],
  ['utf-16', '\ufeff', (text: string) => Buffer.from(text, 'utf16le')],
  ['utf-16 in the other order', '\ufeff', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ['utf-8 after a comment', '<!-- ü -->\n<?xml version="1.0"?>\n', (text: string) => Buffer.from(text)],
  [
    'windows-1252',
    '<?xml version="1.0" encoding="windows-1252"?>',
    (text: string) => Buffer.from(text.replace(/€|😀/gu, '-'), 'latin1'),
  ],
  [
    'Shift_JIS',
    '<?xml version="1.0" encoding="Shift_JIS"?>',
    (text: string) => Buffer.from(text.replace(/[^\0-\x7f]/gu, '\x93\xfa'), 'latin1'),
  ],
  [
    'gb18030',
    '<?xml version="1.0" encoding="gb18030"?>',
    (text: string) => Buffer.from(text.replace(/[^\0-\x7f]/gu, '\x94\x39\xfc\x36'), 'latin1'),
  ],
  [
    'ISO-2022-JP with the bytes of quotes in characters',
    '<?xml version="1.0" encoding="ISO-2022-JP"?>',
    (text: string) => Buffer.from(text.replace(/[^\0-\x7f]/gu, '\x1b$B"\'\x1b(B'), 'latin1'),
  ],
] as const) {
  test(`A1, A2: a document in ${encoding} is unchanged except for addresses and import locations`, (t) => {
    const schema = schemaOf('');
    const { service } = load(t, {
      'service.wsdl': encode(declaration + wsdl),
      'a.xsd': schema,
      'b.xsd': schema,
    });
    const [main, first] = service.documents;
    if (main === undefined || first === undefined) return t.fail();
    t.deepEqual(Buffer.from(writeDocument(main, links)), encode(declaration + expected));
    t.is(Buffer.from(writeDocument(first, links)).toString(), schema);
    return undefined;
  });
}

test('A2: each location of a schema included for several namespaces is replaced once', (t) => {
  const plain = schemaOf('<xs:include schemaLocation="b.xsd"/>', '');
  const one = schemaOf('<xs:include schemaLocation="plain.xsd"/><xs:element name="Get" type="xs:int"/>');
  const other = schemaOf('<xs:include schemaLocation="plain.xsd"/>', 'targetNamespace="urn:u"');
  const late = definitionsOf(one + other, get).replace(
    /(<w:types>.*<\/w:types>)(.*)(<\/w:definitions>)/,
    '$2$1$3',
  );
  const { service } = load(t, { 'service.wsdl': late, 'plain.xsd': plain, 'b.xsd': schemaOf('', '') });
  const [main, first] = service.documents.map((document) =>
    Buffer.from(writeDocument(document, links)).toString(),
  );
  t.is(first, plain.replace('b.xsd', 'https://new.example/x?xsd=1'));
  t.is(
    main,
    late.replaceAll('plain.xsd', 'https://new.example/x?xsd=0').replace(
      'http://old.example/Things.asmx',
      links.addressOf('ThingsSoap').replaceAll(/["&'ü]/gu, (one) => `&#${one.codePointAt(0)};`),
    ),
  );
});

for (const [version, namespace] of [
  ['2005/08', 'http://www.w3.org/2005/08/addressing'],
  ['2004/08', 'http://schemas.xmlsoap.org/ws/2004/08/addressing'],
] as const)
  for (const [encoding, encode] of [
    ['UTF-8', (text: string) => Buffer.from(text)],
    ['UTF-16', (text: string) => Buffer.from(text, 'utf16le')],
  ] as const)
    test(`A1: the endpoint reference of a port has the new address: ${version}, ${encoding}`, (t) => {
      const reference = (address: string): string =>
        `<a:EndpointReference xmlns:a="${namespace}" note="a>b"><a:Address x='>'>${address}</a:Address><a:Empty/><a:ReferenceParameters><a:Address>http://kept.example</a:Address></a:ReferenceParameters></a:EndpointReference>`;
      for (const isFirst of [true, false]) {
        const at = isFirst ? '<soap:address ' : '</w:port>';
        const of = (address: string, content: string): string =>
          `\ufeff${definitionsOf(schemaOf('<!-- ü --><xs:element name="Get" type="xs:int"/>'), get)}`
            .replace('http://old.example/Things.asmx', address)
            .replace(at, `${reference(content)}${at}`);
        const old = 'http://old.example/Things.asmx';
        const { service } = load(t, { 'service.wsdl': encode(of(old, `<!-- é -->${old}`)) });
        const [main] = service.documents;
        if (main === undefined) return t.fail();
        const expected = of('https://new.example/ThingsSoap', 'https://new.example/ThingsSoap');
        const plain = { ...links, addressOf: (port: string) => `https://new.example/${port}` };
        t.is(Buffer.from(writeDocument(main, plain)).toString('latin1'), encode(expected).toString('latin1'));
      }
      return undefined;
    });

test('A1: an empty address of an endpoint reference is unchanged', (t) => {
  const empty =
    '<a:EndpointReference xmlns:a="http://www.w3.org/2005/08/addressing"><a:Address/></a:EndpointReference>';
  const wsdl = definitionsOf(
    schemaOf('<xs:element name="Get" type="xs:int"/>'),
    get.replace('</w:port>', `${empty}</w:port>`),
  );
  const [main] = load(t, { 'service.wsdl': wsdl }).service.documents;
  if (main === undefined) return t.fail();
  t.true(Buffer.from(writeDocument(main, links)).toString().includes(empty));
  return undefined;
});
