import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { loadAdoptedService } from '../../../../mappings/loader/wsdl/load-adopted.ts';
import {
  contentOf,
  definitionsOf,
  folderOf,
  get,
  getOf,
  load,
  problemsIn,
  problemsOf,
  schemaOf,
  typeOfGet,
} from './wsdl-folder.ts';

const element = '<xs:element name="Get" type="t:Thing"/>';
const thing =
  '<xs:complexType name="Thing"><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType>';
const including = (location: string): string =>
  definitionsOf(schemaOf(`<xs:include schemaLocation="${location}"/>${element}`), get);
const importing = (location: string, namespace = 'urn:u'): string =>
  definitionsOf(
    schemaOf(
      `<xs:import namespace="${namespace}" schemaLocation="${location}"/><xs:element name="Get" type="u:Thing" xmlns:u="${namespace}"/>`,
    ),
    get,
  );
const other = schemaOf(thing, 'targetNamespace="urn:u"');

test('A2: a relative location refers to a file below the folder, percent-decoded', (t) => {
  const { service, warnings } = load(t, {
    'service.wsdl': including('sub/the%20types.xsd'),
    'sub/the types.xsd': schemaOf(`<xs:include schemaLocation="../more.xsd"/>${thing}`),
    'more.xsd': schemaOf('<xs:element name="More" type="xs:string"/>'),
  });
  t.is(contentOf(typeOfGet(service)), '(id)');
  t.true(service.elements.has('{urn:t}More'));
  t.deepEqual(warnings, []);
  t.deepEqual(
    service.documents.map(({ kind, number, file }) => `${kind} ${number} ${file}`),
    ['wsdl 0 service.wsdl', 'xsd 0 sub/the types.xsd', 'xsd 1 more.xsd'],
  );
});

test('A2: a URL is the folder’s file with the namespace, preferably with the URL’s file name', (t) => {
  const first = load(t, {
    'service.wsdl': importing('http://far.example/x?xsd=1'),
    'a.xsd': other,
    'b.txt': 'no XML',
  });
  t.is(contentOf(typeOfGet(first.service)), '({}id)');
  const named = load(t, {
    'service.wsdl': importing('http://far.example/b.xsd'),
    'a.xsd': schemaOf('', 'targetNamespace="urn:u"'),
    'b.xsd': other,
  });
  t.is(named.service.documents[1]?.file, 'b.xsd');
});

for (const [what, location, file] of [
  ['a file of its whole name', 'svc?xsd=1', 'svc?xsd=1'],
  ['a file in a folder', 'sub/svc?xsd=1', 'sub/svc?xsd=1'],
  ['a name with escapes', 'svc%3Fxsd=1', 'svc?xsd=1'],
  ['a query only', '?xsd=1', 'service.wsdl?xsd=1'],
  ['a name that every system can save', 'svc?xsd=1', 'svc_xsd=1'],
  ['a file of its namespace', 'svc?xsd=1', 'other.xsd'],
  ['a file of its namespace, for ASMX', 'svc.asmx?schema=u', 'other.xsd'],
  ['a file of its namespace, from the root', '/ctx/svc?xsd=1', 'other.xsd'],
  ['a file named as the value of the query', 'svc?xsd=xsd1', 'xsd1.xsd'],
] as const) {
  test(`A2: a relative location with a query refers to ${what}`, (t) => {
    const files = { 'service.wsdl': importing(location), [file]: other };
    const { service, warnings } = load(t, files);
    t.is(contentOf(typeOfGet(service)), '({}id)');
    t.is(service.documents[1]?.file, file);
    t.deepEqual(warnings, []);
  });
}

test('A2: a location with a query refers to no file outside the folder', (t) => {
  for (const location of ['../svc?xsd=1', 'svc?x=/../../u.xsd', '..%2fsvc?xsd=1']) {
    const outside = problemsOf(t, { 'service.wsdl': importing(location) });
    t.regex(outside[0] ?? '', /is outside the folder|got none \(ENOENT\)/);
  }
});

test('A2: several files of one namespace are a warning unless one has the location’s name', (t) => {
  const files = { 'a.xsd': other, 'b.xsd': other };
  const { service, warnings } = load(t, { ...files, 'service.wsdl': importing('http://far.example/x') });
  t.is(service.documents[1]?.file, 'a.xsd');
  t.deepEqual(
    warnings.map(({ message, line }) => [line, message]),
    [[1, 'several files have the target namespace "urn:u": a.xsd, b.xsd; a.xsd is used']],
  );
  for (const location of ['http://far.example/b.xsd', 'http://far.example/s.svc?xsd=b', 'none?xsd=b']) {
    const named = load(t, { ...files, 'service.wsdl': importing(location) });
    t.is(named.service.documents[1]?.file, 'b.xsd');
    t.deepEqual(named.warnings, []);
  }
});

test('A2: an import of a WSDL prefers a WSDL to a schema of its namespace', (t) => {
  const location = 'http://far.example/Svc.svc?wsdl=wsdl0';
  const files = {
    'service.wsdl': definitionsOf(schemaOf(`${element}${thing}`), get).replace(
      '<w:types>',
      `<w:import namespace="urn:u" location="${location}"/><w:types>`,
    ),
    'Svc0.wsdl': '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:u"/>',
    'xsd0.xsd': other,
  };
  const { service, warnings } = load(t, files);
  t.is(service.documents[1]?.file, 'Svc0.wsdl');
  t.deepEqual(warnings, []);
});

test('A2: the search by namespace skips adopted contracts in the folder', (t) => {
  const { service, warnings } = load(t, {
    'service.wsdl': importing('http://far.example/x'),
    'adopted/a.xsd': other,
    'adopted/derived.openapi.yaml': '',
    'b.xsd': other,
  });
  t.is(service.documents[1]?.file, 'b.xsd');
  t.deepEqual(warnings, []);
});

test("A2: a URL without a file in the folder is resolved by the overlay's refs", (t) => {
  const files = {
    'service.wsdl': importing('https://far.example/schemas/u.xsd'),
    '.elsewhere/u.xsd': other.replace(
      '<xs:complexType',
      '<xs:include schemaLocation="v.xsd"/><xs:complexType',
    ),
    '.elsewhere/v.xsd': schemaOf('<xs:element name="V"/>', 'targetNamespace="urn:u"'),
  };
  const { service } = load(t, files, { refs: new Map([['https://far.example/schemas/', '.elsewhere']]) });
  t.is(contentOf(typeOfGet(service)), '({}id)');
  t.true(service.elements.has('{urn:u}V'));
});

for (const [location, why] of [
  ['/etc/passwd', 'is no relative path'],
  ['../outside.xsd', 'is outside the folder'],
  ['sub/../../outside.xsd', 'is outside the folder'],
  ['%2e%2e/outside.xsd', 'is outside the folder'],
  ['file:///etc/passwd', 'is a URL, which is not downloaded'],
  ['http://127.0.0.1:1/u.xsd', 'is a URL, which is not downloaded'],
  ['missing.xsd', 'got none (ENOENT)'],
  ['.', 'is no relative path'],
  ['sub', 'got something that is not a file'],
] as const) {
  test(`A2: an import of ${location} is an error that names the missing part and counts operations`, (t) => {
    const problems = problemsOf(t, { 'service.wsdl': importing(location), 'sub/x.txt': '' });
    const [broken, missing] = problems;
    t.is(problems.length, 2);
    t.regex(missing ?? '', /expected the type Thing in "urn:u", got none; 1 operation reaches it/);
    t.true(broken?.includes(`"${location}" `) && broken.includes(why), broken);
    t.true(broken?.endsWith('1 operation reaches the missing part'), broken);
  });
}

test('A2: never calls a host in imports, includes, DTDs and instance hints', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wsdl = importing(`${host}/u.xsd`)
    .replace(
      '<xs:schema',
      `<xs:schema xmlns:h="http://www.w3.org/2001/XMLSchema-instance" h:schemaLocation="urn:t ${host}/hint.xsd"`,
    )
    .replace(/(<xs:import)/, `<xs:include schemaLocation="${host}/include.xsd"/>$1`);
  const withDtd = `<!DOCTYPE definitions SYSTEM "${host}/wsdl.dtd">${wsdl}`;
  t.true(
    problemsOf(t, { 'service.wsdl': withDtd }).some((line) =>
      line.includes('is a URL, which is not downloaded'),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.is(connections, 0);
});

test('A2: follows no link out of the folder, and waits for no pipe', (t) => {
  const outside = folderOf(t, { 'u.xsd': other });
  const folder = folderOf(t, { 'service.wsdl': importing('link.xsd') });
  symlinkSync(join(outside, 'u.xsd'), join(folder, 'link.xsd'));
  t.true(problemsIn(folder).some((line) => line.includes('got a file outside the folder')));
  const pipes = folderOf(t, { 'service.wsdl': importing('http://far.example/x'), 'a.xsd': other });
  execFileSync('mkfifo', [join(pipes, 'pipe.xsd')]);
  t.is(contentOf(typeOfGet(loadAdoptedService(pipes).service)), '({}id)');
  writeFileSync(join(pipes, 'service.wsdl'), importing('pipe.xsd'));
  t.true(problemsIn(pipes).some((line) => line.includes('got something that is not a file')));
});

test('A2: circular imports and includes, and repeated files, are valid', (t) => {
  const { service, warnings } = load(t, {
    'service.wsdl': definitionsOf(
      schemaOf(`<xs:include schemaLocation="a.xsd"/><xs:include schemaLocation="./b.xsd"/>${element}`),
      get,
    ),
    'a.xsd': schemaOf('<xs:include schemaLocation="b.xsd"/>'),
    'b.xsd': schemaOf(`<xs:include schemaLocation="a.xsd"/><xs:include schemaLocation="b.xsd"/>${thing}`),
  });
  t.is(contentOf(typeOfGet(service)), '(id)');
  t.deepEqual(warnings, []);
});

test('A2: an included schema without a namespace has that of each including schema', (t) => {
  const plain = schemaOf(
    '<xs:complexType name="Thing"><xs:sequence><xs:element name="in" type="Inner"/></xs:sequence></xs:complexType><xs:complexType name="Inner"/>',
    'elementFormDefault="qualified"',
  );
  const { service } = load(t, {
    'service.wsdl': definitionsOf(
      schemaOf(
        `<xs:include schemaLocation="plain.xsd"/><xs:import namespace="urn:u" schemaLocation="u.xsd"/>${element}`,
      ),
      get,
    ),
    'u.xsd': schemaOf('<xs:include schemaLocation="plain.xsd"/>', 'targetNamespace="urn:u"'),
    'plain.xsd': plain,
  });
  t.deepEqual([...service.types.keys()], ['{urn:t}Thing', '{urn:t}Inner', '{urn:u}Thing', '{urn:u}Inner']);
  t.is(contentOf(typeOfGet(service)), '(in)');
});

test('A2: a foreign included schema, a redefinition and a file of another kind are errors', (t) => {
  t.deepEqual(problemsOf(t, { 'service.wsdl': including('u.xsd'), 'u.xsd': other }).slice(0, 1), [
    'service.wsdl:1#: expected an included schema of "urn:t", got the namespace "urn:u"; 1 operation reaches the missing part',
  ]);
  t.deepEqual(problemsOf(t, { 'service.wsdl': importing('u.xsd'), 'u.xsd': schemaOf(thing) }).slice(0, 1), [
    'service.wsdl:1#: expected a schema of "urn:u", got the namespace "urn:t"; 1 operation reaches the missing part',
  ]);
  t.deepEqual(problemsOf(t, { 'service.wsdl': importing('u.xsd'), 'u.xsd': '<a/>' }).slice(0, 1), [
    'service.wsdl:1#: expected a schema or a WSDL 1.1 at "u.xsd", got <a>; 1 operation reaches the missing part',
  ]);
  const redefined = definitionsOf(
    schemaOf(`<xs:redefine schemaLocation="a.xsd">${thing}</xs:redefine>${thing}${element}`),
    get,
  );
  const problem =
    'service.wsdl:1#: expected no xs:redefine, which is not supported. Write its result instead';
  t.deepEqual(problemsOf(t, { 'service.wsdl': redefined }), [
    `${problem}; no operations reach the missing part`,
    problem,
  ]);
});

test('A2: definitions of XML, SOAP encoding, xmlmime, xop and swaRef need no file', (t) => {
  const { service, warnings } = load(t, {
    'service.wsdl': getOf(
      '<xs:complexType xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xmlns:m="http://www.w3.org/2005/05/xmlmime" xmlns:o="http://www.w3.org/2004/08/xop/include" xmlns:r="http://ws-i.org/profiles/basic/1.1/xsd"><xs:sequence><xs:element name="a" type="e:string"/><xs:element name="b" type="m:base64Binary"/><xs:element ref="o:Include"/><xs:element name="c" type="r:swaRef"/></xs:sequence><xs:attribute ref="xml:lang"/></xs:complexType>',
      ['xml/1998/namespace', '2005/05/xmlmime', '2004/08/xop/include']
        .map(
          (path) =>
            `<xs:import namespace="http://www.w3.org/${path === 'xml/1998/namespace' ? 'XML/1998/namespace' : path}" schemaLocation="http://www.w3.org/${path}.xsd"/>`,
        )
        .join('') +
        '<xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/><xs:import namespace="http://ws-i.org/profiles/basic/1.1/xsd"/>',
    ),
  });
  t.deepEqual(warnings, []);
  const type = typeOfGet(service);
  t.is(contentOf(type), '(a b {http://www.w3.org/2004/08/xop/include}Include c)');
  t.deepEqual(
    type.attributes.map(({ name }) => name),
    [{ namespace: 'http://www.w3.org/XML/1998/namespace', local: 'lang' }],
  );
});

test('A3: text before the XML declaration is skipped', (t) => {
  const { service, warnings } = load(t, {
    'service.wsdl': `<!-- saved -->\n<?xml version="1.0"?>\n${getOf('<xs:complexType/>')}`,
  });
  t.is(service.operations.length, 1);
  t.deepEqual(
    warnings.map(({ line, message }) => [line, message]),
    [[3, 'text before the XML declaration is skipped']],
  );
});

test('A3: accepts a name in a wrong namespace if it is the only one of that name', (t) => {
  const wrong = (more: string): string =>
    definitionsOf(`${schemaOf(element)}${schemaOf(thing, 'targetNamespace="urn:u"')}${more}`, get);
  const { service, warnings } = load(t, { 'service.wsdl': wrong('') });
  t.is(contentOf(typeOfGet(service)), '({}id)');
  t.deepEqual(
    warnings.map(({ message }) => message),
    ['the type Thing is not in "urn:t"; the only one, in "urn:u", is used'],
  );
  t.deepEqual(problemsOf(t, { 'service.wsdl': wrong(schemaOf(thing, 'targetNamespace="urn:v"')) }), [
    'service.wsdl:1#: expected the type Thing in "urn:t", got none; the name exists in "urn:u", "urn:v"; 1 operation reaches it',
  ]);
});

test('A3: a name of an unresolved import is missing, whatever other namespace has it', (t) => {
  const schema = schemaOf(
    `<xs:import namespace="urn:u" schemaLocation="gone.xsd"/>${thing}<xs:element name="Get" type="u:Thing" xmlns:u="urn:u"/>`,
  );
  const [cause, missing] = problemsOf(t, { 'service.wsdl': definitionsOf(schema, get) });
  t.regex(cause ?? '', /"gone\.xsd" cannot be resolved: .*; 1 operation reaches the missing part$/);
  t.regex(missing ?? '', /expected the type Thing in "urn:u", got none; the name exists in "urn:t"/);
});

for (const [what, base, kind] of [
  [
    'complex',
    '<xs:complexContent><xs:extension base="u:Thing" xmlns:u="urn:u"/></xs:complexContent>',
    'complexType',
  ],
  ['simple', '<xs:restriction base="u:Thing" xmlns:u="urn:u"/>', 'simpleType'],
  ['union', '<xs:union memberTypes="u:Thing" xmlns:u="urn:u"/>', 'simpleType'],
] as const) {
  test(`A3: a missing base of a ${what} type is not replaced by the derived type of its name`, (t) => {
    const schema = schemaOf(`<xs:${kind} name="Thing">${base}</xs:${kind}>${element}`);
    t.deepEqual(problemsOf(t, { 'service.wsdl': definitionsOf(schema, get) }), [
      'service.wsdl:1#: expected the type Thing in "urn:u", got none; the name exists in "urn:t"; 1 operation reaches it',
    ]);
  });
}

test('A3: a schema may use a namespace that it does not import', (t) => {
  const uses = schemaOf('<xs:element name="Get" type="u:Thing" xmlns:u="urn:u"/>');
  const { warnings } = load(t, { 'service.wsdl': definitionsOf(`${uses}${other}`, get) });
  t.deepEqual(
    warnings.map(({ message }) => message),
    ['the schema of "urn:t" uses "urn:u", which it does not import'],
  );
});

test('A3: a repeated component is one if both are equal, else an error', (t) => {
  const again = thing
    .replaceAll('xs:', 'z:')
    .replace('<z:complexType', '<z:complexType xmlns:z="http://www.w3.org/2001/XMLSchema"');
  const { service, warnings } = load(t, {
    'service.wsdl': definitionsOf(`${schemaOf(element + thing)}${schemaOf(again)}`, get),
  });
  t.is(contentOf(typeOfGet(service)), '(id)');
  t.deepEqual(
    warnings.map(({ message }) => message),
    ['the type Thing is declared twice identically; one is used'],
  );
  const unlike = thing.replace('"id"', '"number"');
  t.deepEqual(problemsOf(t, { 'service.wsdl': definitionsOf(schemaOf(element + thing + unlike), get) }), [
    'service.wsdl:1#: expected one type Thing in "urn:t", got another type',
  ]);
});

test('A3: skips XML Schema 1999, processing instructions and a DTD; refuses entities of the DTD', (t) => {
  const wsdl = `<?xml version="1.0"?><?style sheet?><!DOCTYPE w:definitions [<!ENTITY a "]>"><!-- > -->]>\n${getOf('<xs:complexType/>')}`;
  t.deepEqual(load(t, { 'service.wsdl': wsdl }).warnings, []);
  const old = wsdl.replaceAll('2001/XMLSchema', '1999/XMLSchema');
  t.deepEqual(
    load(t, { 'service.wsdl': old }).warnings.map(({ message }) => message),
    ['an XML Schema from before 2001 is read as a schema of 2001'],
  );
  const entity = wsdl.replace('name="Get"', 'name="&a;"');
  t.regex(problemsOf(t, { 'service.wsdl': entity })[0] ?? '', /^service\.wsdl:2#: .* expected &amp; /);
});

test('A2: an unknown name that no operation uses is a warning', (t) => {
  const { warnings } = load(t, {
    'service.wsdl': getOf('<xs:complexType/>', '<xs:element name="Other" type="t:Missing"/>'),
  });
  t.deepEqual(
    warnings.map(({ message }) => message),
    ['expected the type Missing in "urn:t", got none; no operations reach it'],
  );
});

test('a folder without a WSDL, with several, and an invalid file are reported', (t) => {
  t.deepEqual(problemsOf(t, {}), ['service.wsdl#: no such file; an adopted service is a folder with a WSDL']);
  t.deepEqual(problemsOf(t, { 'a.wsdl': '', 'b.wsdl': '' }), [
    'service.wsdl#: expected one WSDL, or the key wsdl with the main file, got a.wsdl, b.wsdl',
  ]);
  t.deepEqual(problemsOf(t, { 'a.wsdl': schemaOf('') }), [
    'a.wsdl:1#: expected wsdl:definitions of WSDL 1.1, got <schema>',
  ]);
  t.deepEqual(problemsOf(t, { 'a.wsdl': '<a>\n<b>' }), [
    'a.wsdl:2#: line 2, column 4: expected </b>, got the end',
  ]);
  t.deepEqual(problemsOf(t, { 'a.wsdl': getOf('') }, { wsdl: 'b.wsdl' }), [
    'b.wsdl#: expected a WSDL in the folder, got none (ENOENT)',
  ]);
});

for (const [locations, names] of [
  // JAX-WS numbers documents from 1
  [
    ['http://old.example/s?xsd=1', 'http://old.example/s?xsd=2'],
    ['xsd=1', 'xsd=2'],
  ],
  [
    ['a.xsd', 'http://old.example/s?xsd=0'],
    ['xsd=1', 'xsd=0'],
  ],
  [
    ['http://old.example/s?XSD=3&amp;v=1', 'http://old.example/s?xsd=3'],
    ['xsd=3', 'xsd=0'],
  ],
  [
    ['http://old.example/s?wsdl=1', 'b.xsd'],
    ['xsd=0', 'xsd=1'],
  ],
  [
    ['http://old.example/s?xsd=xsd0', 'http://old.example/s?xsd=99999999999'],
    ['xsd=0', 'xsd=1'],
  ],
] as const)
  test(`A2: parts imported from ${locations.join(' and ')} are ${names.join(' and ')}`, (t) => {
    const imports = locations.map(
      (location, index) => `<xs:import namespace="urn:${index}" schemaLocation="${location}"/>`,
    );
    const wsdl = definitionsOf(schemaOf(`${imports.join('')}<xs:element name="Get" type="xs:int"/>`), get);
    const schemas = {
      'a.xsd': schemaOf('', 'targetNamespace="urn:0"'),
      'b.xsd': schemaOf('', 'targetNamespace="urn:1"'),
    };
    const [, ...parts] = load(t, { 'service.wsdl': wsdl, ...schemas }).service.documents;
    t.deepEqual(
      parts.map(({ kind, number }) => `${kind}=${number}`),
      [...names],
    );
  });
