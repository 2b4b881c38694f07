import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { unzipSync } from 'fflate';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Contract, Field, RecordType } from '../../../mappings/contract/model.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { fileNameOf, foldersOf } from '../../../wsdl/kits/file-names.ts';
import { Kits } from '../../../wsdl/kits/kits.ts';
import { element, sequence } from '../../mappings/codec/adopted/messages.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';

const root = join(import.meta.dirname, '../../..');
const orders = readContract(join(root, 'test/gateway/doctor/contract')).contract;
const kits = new Kits(compileContract(orders), 'https://api.example/v1');

test('every stack has a program for each operation, with address and placeholders for credentials', (t) => {
  const snippets = kits.snippets('PlaceOrder') ?? [];
  t.deepEqual(
    snippets.map(({ id }) => id),
    ['curl', 'csharp', 'jaxws', 'cxf', 'php', 'zeep', 'node', 'perl', 'go', 'powershell', 'http'],
  );
  for (const { text, id, isRun } of snippets) {
    t.regex(text, id === 'http' ? /Host: api\.example\r\n/ : /https:\/\/api\.example\/v1\/soap11/, id);
    t.regex(text, /YOUR_KEY/, id);
    t.is(/Not run/.test(text), !isRun, id);
  }
  t.is(kits.snippets('Nothing'), undefined);
});

test('collections follow their formats, and contain every operation', (t) => {
  const postman = JSON.parse(kits.postman());
  t.regex(postman.info.schema, /v2\.1\.0/);
  t.deepEqual(
    postman.item.map(({ name }: { name: string }) => name),
    ['PlaceOrder', 'FindOrder'],
  );
  const xml = new XmlReader(kits.soapUi(), defaultLimits);
  xml.readRoot();
  t.is(`${xml.namespace} ${xml.local}`, 'http://eviware.com/soapui/config soapui-project');
  t.regex(kits.soapUi(), /bindingName="\{urn:Orders\}Soap12Binding"/);
  t.regex(
    kits.bruno(['FindOrder']).get('FindOrder/json.bru') ?? '',
    /post \{\n {2}url: \{\{address\}\}\/json\/reply\/FindOrder\n/,
  );
  t.throws(() => kits.postman(['Nothing']), { instanceOf: RangeError });
});

test('a zip has all files, and always the same bytes', (t) => {
  const zip = kits.zip();
  t.deepEqual(Object.keys(unzipSync(zip)), [...kits.files().keys()]);
  t.deepEqual(kits.zip(), zip);
});

/** Returns the contract with an example that tries to break out of its text. */
function hostile(example: string): Contract {
  const withExample = (type: RecordType): RecordType => ({
    ...type,
    fields: type.fields.map((field): Field => {
      if (field.type.kind === 'record') return { ...field, type: withExample(field.type) };
      return field.json === 'customer' ? { ...field, example: JSON.stringify(example) } : field;
    }),
  });
  const operations = orders.operations.map((operation) => ({
    ...operation,
    input: withExample(operation.input),
  }));
  return { ...orders, operations };
}

test('an example of a document cannot leave a string of a program', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shells would fill it in
  const attack = "x\nEND_OF_MESSAGE\necho OWNED >&2\n'@\n`\"'\\u0022 $(echo OWNED) ${x} ’; echo OWNED\n";
  const snippets =
    new Kits(compileContract(hostile(attack)), 'http://127.0.0.1:9').snippets('PlaceOrder') ?? [];
  const of = (id: string) => snippets.find((snippet) => snippet.id === id)?.text ?? '';
  // the shell parses the program without an error
  const curl = `curl() { cat; }\n${of('curl')}`;
  const shown = execFileSync('sh', ['-c', curl], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  t.regex(shown, /\nEND_OF_MESSAGE\necho OWNED &gt;&amp;2\n/);
  t.notThrows(() =>
    execFileSync(process.execPath, ['--check', '--input-type=module', '-'], { input: of('node') }),
  );
  t.regex(of('powershell'), /’’; echo OWNED/);
  t.regex(of('perl'), /<<'END_OF_MESSAGE_'/);
});

test('an example of a document is not a template for tools', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: SoapUI runs it
  const example = 'a ${=new File("/tmp/x").text} b {{{process.env.KEY}} c #{x} d { e';
  const hostileKits = new Kits(compileContract(hostile(example)), 'https://api.example');
  const soapUi = new XmlReader(hostileKits.soapUi(['PlaceOrder']), defaultLimits);
  const texts: string[] = [];
  const read = (): void => {
    if (soapUi.local === 'request') texts.push(soapUi.readText(defaultLimits.xmlText, true) ?? '');
    else while (soapUi.nextChild()) read();
  };
  soapUi.readRoot();
  read();
  const { item } = JSON.parse(hostileKits.postman(['PlaceOrder']));
  const raw: readonly string[] = item[0].item.map(({ request }: { request: { body: { raw: string } } }) => {
    return request.body.raw;
  });
  const bruno = [...hostileKits.bruno(['PlaceOrder'])].flatMap(([path, text]) =>
    path.startsWith('PlaceOrder/') ? [text.slice(text.indexOf('\nbody:') + '\nbody:xml {'.length)] : [],
  );
  t.deepEqual([texts.length, raw.length, bruno.length], [2, 4, 4]);
  for (const text of [...texts, ...raw, ...bruno]) {
    t.notRegex(text, /[$#{]\{/);
    t.regex(text, /process\.env\.KEY/);
  }
  // the message is unchanged
  const xml = new XmlReader(raw[0] ?? '', defaultLimits);
  const found: string[] = [];
  const look = (): void => {
    if (xml.local === 'customer') found.push(xml.readText(defaultLimits.xmlText, true) ?? '');
    else while (xml.nextChild()) look();
  };
  xml.readRoot();
  look();
  t.deepEqual(found, [example]);
  t.true(JSON.stringify(JSON.parse(raw[3] ?? '')).includes(JSON.stringify(example)));
});

/** Returns a WSDL with one operation that has this action. */
function wsdlWith(action: string): string {
  return `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
<w:types><xs:schema targetNamespace="urn:t"><xs:element name="Find" type="xs:string"/></xs:schema></w:types>
<w:message name="m"><w:part name="p" element="t:Find"/></w:message>
<w:portType name="P"><w:operation name="Find"><w:input message="t:m"/><w:output message="t:m"/></w:operation></w:portType>
<w:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Find"><soap:operation soapAction="${action}"/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation></w:binding>
<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/find"/></w:port></w:service>
</w:definitions>`;
}

test('an action with line breaks is one line in every header', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kit-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const action = 'urn:a&#10;}&#13;&#10;script:pre-request {&#10;  run()&#10;}&#10;{{x}';
  writeFileSync(join(folder, 'service.wsdl'), wsdlWith(action));
  const adopted = new Kits(compileContract(readContract(folder).contract), 'https://api.example');
  const bru = adopted.bruno().get('Find/soap11.bru') ?? '';
  t.regex(bru, /^ {2}SOAPAction: "urn:a \} script:pre-request \{ run\(\) \} \{%7Bx\}"$/m);
  t.notRegex(bru, /^script/m);
  const http = adopted.snippets('Find')?.find(({ id }) => id === 'http')?.text ?? '';
  t.regex(http, /\r\nSOAPAction: "urn:a [^\r\n]*"\r\n/);
});

/** Returns kits of an adopted contract whose operation declares the header block `Session` with this type. */
function kitsWithHeader(t: ExecutionContext, type: string, overlay: string): Kits {
  const wsdl = definitionsOf(
    schemaOf(
      `<xs:element name="Get">${sequence(element('name'))}</xs:element><xs:element name="Session">${type}</xs:element>`,
    ),
    `<w:message name="h"><w:part name="s" element="t:Session"/></w:message>${get.replace(
      '<soap:body use="literal"/>',
      '<soap:header message="t:h" part="s" use="literal"/><soap:body use="literal"/>',
    )}`,
  );
  const folder = folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': overlay });
  return new Kits(compileContract(readContract(folder).contract), 'https://api.example');
}

const complex = (content: string): string => `<xs:complexType>${content}</xs:complexType>`;

/** Each kind of value that the overlay key `headers` may name. */
const places = [
  ['an element', sequence(element('id')), 'Session.id'],
  [
    'a nested element',
    sequence(`<xs:element name="a">${sequence(element('id'))}</xs:element>`),
    'Session.a.id',
  ],
  ['an attribute', complex('<xs:attribute name="id" type="xs:string"/>'), 'Session.id'],
  ['an attribute with a default', complex('<xs:attribute name="id" default="x"/>'), 'Session.id'],
  [
    'an element with a default',
    sequence('<xs:element name="id" type="xs:string" default="x"/>'),
    'Session.id',
  ],
  [
    'a text beside an attribute',
    complex(
      '<xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="a"/></xs:extension></xs:simpleContent>',
    ),
    'Session.value',
  ],
] as const;

for (const [what, type, place] of places)
  for (const [header, format] of [
    ['Authorization', 'Bearer {}'],
    ['X-Session', '{}'],
  ] as const)
    test(`a credential in ${what} sent in ${header} is once in each program, in the header block`, (t) => {
      const overlay = `headers: { ${place}: { header: ${header}, format: "${format}" } }`;
      const adopted = kitsWithHeader(t, type, overlay);
      for (const { id, text } of adopted.snippets('Get') ?? []) {
        t.is(text.split('YOUR_').length - 1, 1, `${id}: ${text}`);
        t.notRegex(text, new RegExp(`${header}["']?(?:: | =>|, |\\] = )`), id);
      }
      const soapUi = adopted.soapUi();
      t.is(soapUi.split('YOUR_').length - 1, 1);
      t.notRegex(soapUi, new RegExp(`entry key="${header}"`));
    });

test('a UsernameToken sent in HTTP headers is in the Security block of each program', (t) => {
  const overlay =
    'headers: { Security.Username: { header: X-User }, Security.Password: { header: X-Password } }';
  const adopted = kitsWithHeader(t, sequence(element('id')), overlay);
  for (const { id, text } of adopted.snippets('Get') ?? []) {
    t.regex(text, /<wsse:Username>YOUR_USERNAME</, id);
    t.is(text.split('YOUR_').length - 1, 2, id);
    t.notRegex(text, /X-User["']?[:,]/, id);
  }
});

test('an operation without the header block has the credential in an HTTP header', (t) => {
  const overlay = 'headers: { SessionHeader.session: { header: Authorization, format: "Bearer {}" } }';
  const folder = folderOf(t, {
    'Orders.wsdl': readFileSync(join(root, 'docs/adopt/Orders.wsdl'), 'utf8').replace(
      /<soap:header[^>]*>/,
      '',
    ),
    'soap.yaml': overlay,
  });
  const { contract } = readContract(folder);
  const adopted = new Kits(compileContract(contract), 'https://api.example');
  const without =
    contract.adopted?.service.operations.filter(({ input }) => input.headers.length === 0) ?? [];
  t.true(without.length > 0);
  for (const { name } of without)
    for (const { id, text } of adopted.snippets(name) ?? [])
      t.is(text.split('Bearer YOUR_SESSION').length - 1, 1, `${name} ${id}`);
});

test('an operation without inputs is called without arguments', (t) => {
  const folder = folderOf(t, {
    'openapi.yaml': `openapi: 3.0.3
info: { title: Pets, version: "1" }
paths: { /ping: { get: { operationId: ping, responses: { "204": { description: ok } } } } }
`,
  });
  const snippets =
    new Kits(compileContract(readContract(folder).contract), 'https://api.example').snippets('ping') ?? [];
  const of = (id: string) => snippets.find((snippet) => snippet.id === id)?.text ?? '';
  t.regex(of('zeep'), /^arguments = \{\}$/m);
  t.regex(of('php'), /__soapCall\('ping', \[\[\]\]\)/);
  t.regex(of('node'), /pingAsync"\]\(\{\}\)/);
});

test('an element of a simple type is one argument of zeep', (t) => {
  const folder = folderOf(t, { 'service.wsdl': wsdlWith('urn:find') });
  const adopted = new Kits(compileContract(readContract(folder).contract), 'https://api.example');
  const zeep = adopted.snippets('Find')?.find(({ id }) => id === 'zeep')?.text ?? '';
  t.regex(zeep, /^arguments = "text"\nprint\(client\.service\["Find"\]\(arguments\)\)$/m);
});

test('samples have one file extension each', (t) => {
  const files = [...kits.files().keys()].filter((path) => path.startsWith('FindOrder/samples/request'));
  t.deepEqual(files, [
    'FindOrder/samples/request.soap11.xml',
    'FindOrder/samples/request.soap12.xml',
    'FindOrder/samples/request.xml',
    'FindOrder/samples/request.json',
  ]);
});

const directives = [
  '###\nGET http://attacker.example/',
  '{{$processEnv HOME}}',
  '\n@address = http://attacker.example',
  '\n  # @prompt secret',
  '\n// @name x',
  '\n> {% client.exit() %}',
  '\r\n< ./secret.txt',
] as const;

for (const directive of directives)
  test(`a value is not a directive of an HTTP file: ${JSON.stringify(directive)}`, (t) => {
    const value = `x\n${directive}`;
    const snippets = new Kits(compileContract(hostile(value)), 'https://api.example').snippets('PlaceOrder');
    const http = snippets?.find(({ id }) => id === 'http')?.text ?? '';
    const [head = '', body = ''] = http.split('\r\n\r\n');
    t.notRegex(http, /\{\{/);
    for (const line of body.split(/\r?\n/)) t.regex(line, /^\s*(?:<|&|$)/, line);
    t.regex(head, new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
    // the message is unchanged
    const xml = new XmlReader(body, defaultLimits);
    const found: string[] = [];
    const look = (): void => {
      if (xml.local === 'customer') found.push(xml.readText(defaultLimits.xmlText, true) ?? '');
      else while (xml.nextChild()) look();
    };
    xml.readRoot();
    look();
    t.deepEqual(found, [value]);
  });

test('names and addresses of a SoapUI project contain no property expansion', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: SoapUI would run it
  const attack = '${=run()}';
  const named: Contract = {
    ...orders,
    service: `S${attack}`,
    namespaces: { types: `urn:${attack}`, arrays: 'urn:a' },
    credentials: undefined,
  };
  const project = new Kits(compileContract(named), `https://api.example/${attack}`).soapUi();
  t.notRegex(project, /[$#{]\{/);
  const folder = folderOf(t, {
    'service.wsdl': wsdlWith('urn:find').replace('<w:port name="P"', `<w:port name="P${attack}"`),
  });
  const adopted = new Kits(compileContract(readContract(folder).contract), 'https://api.example').soapUi();
  t.regex(adopted, /%7B=run/);
  t.notRegex(adopted, /[$#{]\{/);
});

test('folders are not Windows device names, and differ in more than case', (t) => {
  for (const name of ['CON', 'con', 'Aux', 'NUL', 'PRN', 'COM1', 'lpt9', 'COM0', 'COM\u00b9'])
    t.is(fileNameOf(name), `${name}_`);
  t.is(fileNameOf('con.Find'), 'con_.Find');
  t.is(fileNameOf('Find.'), 'Find._');
  for (const name of ['CONN', 'Console', 'COM10', 'Find.con', 'Nul1']) t.is(fileNameOf(name), name);
  t.deepEqual([...foldersOf(['CON', 'con_', 'Find', 'find'])].toSorted(), [
    ['CON', 'CON__'],
    ['Find', 'Find'],
    ['con_', 'con_'],
    ['find', 'find_'],
  ]);
});
