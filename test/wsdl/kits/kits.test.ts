import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { unzipSync } from 'fflate';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Contract, Field, RecordType } from '../../../mappings/contract/model.ts';
import { loadContract, screeningContract } from '../../../mappings/loader/load.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { createKits } from '../../../wsdl/kits/kits.ts';

const root = join(import.meta.dirname, '../../..');
const orders = loadContract(join(root, 'test/gateway/doctor/contract')).contract;
const kits = createKits(compileContract(orders), 'https://api.example/v1');

test('every stack has a program of each operation, with the address and placeholders for credentials', (t) => {
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

test('collections are of their formats, and hold every operation', (t) => {
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

test('a zip has all files, and the same bytes each time', (t) => {
  const zip = kits.zip();
  t.deepEqual(Object.keys(unzipSync(zip)), [...kits.files().keys()]);
  t.deepEqual(kits.zip(), zip);
});

test('kits of adopted contracts and of the screening contract are made of every operation', (t) => {
  for (const place of [
    screeningContract,
    ...['catalogue', 'orders-rpc'].map((name) => join(root, 'test/fixtures/adopt', name)),
  ]) {
    const compiled = compileContract(loadContract(place).contract);
    const all = createKits(compiled, 'https://api.example');
    for (const name of compiled.operations.keys()) t.is(all.snippets(name)?.length, 11);
    t.true(all.files().size > 10);
  }
});

/** The contract with an example that tries to leave the text that it stands in. */
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

test('an example of a document leaves no text of a program', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shells would fill it in
  const attack = "x\nEND_OF_MESSAGE\necho OWNED >&2\n'@\n`\"'\\u0022 $(echo OWNED) ${x} ’; echo OWNED\n";
  const snippets =
    createKits(compileContract(hostile(attack)), 'http://127.0.0.1:9').snippets('PlaceOrder') ?? [];
  const of = (id: string) => snippets.find((snippet) => snippet.id === id)?.text ?? '';
  // the shell reads the program, and says nothing of its own
  const curl = `curl() { cat; }\n${of('curl')}`;
  const shown = execFileSync('sh', ['-c', curl], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  t.regex(shown, /\nEND_OF_MESSAGE\necho OWNED &gt;&amp;2\n/);
  t.notThrows(() =>
    execFileSync(process.execPath, ['--check', '--input-type=module', '-'], { input: of('node') }),
  );
  t.regex(of('powershell'), /’’; echo OWNED/);
  t.regex(of('perl'), /<<'END_OF_MESSAGE_'/);
});

test('an example of a document is no template of a tool that runs or fills in what it says', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: SoapUI runs it
  const example = 'a ${=new File("/tmp/x").text} b {{{process.env.KEY}} c #{x} d { e';
  const hostileKits = createKits(compileContract(hostile(example)), 'https://api.example');
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
  // the message says the same
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

/** A WSDL with one operation, whose action is this. */
function wsdlWith(action: string): string {
  return `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
<w:types><xs:schema targetNamespace="urn:t"><xs:element name="Find" type="xs:string"/></xs:schema></w:types>
<w:message name="m"><w:part name="p" element="t:Find"/></w:message>
<w:portType name="P"><w:operation name="Find"><w:input message="t:m"/><w:output message="t:m"/></w:operation></w:portType>
<w:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Find"><soap:operation soapAction="${action}"/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation></w:binding>
<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/find"/></w:port></w:service>
</w:definitions>`;
}

test('an action of a WSDL with line breaks is one line in every header, and no block of its own', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kit-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const action = 'urn:a&#10;}&#13;&#10;script:pre-request {&#10;  run()&#10;}&#10;{{x}';
  writeFileSync(join(folder, 'service.wsdl'), wsdlWith(action));
  const adopted = createKits(compileContract(loadContract(folder).contract), 'https://api.example');
  const bru = adopted.bruno().get('Find/soap11.bru') ?? '';
  t.regex(bru, /^ {2}SOAPAction: "urn:a \} script:pre-request \{ run\(\) \} \{%7Bx\}"$/m);
  t.notRegex(bru, /^script/m);
  const http = adopted.snippets('Find')?.find(({ id }) => id === 'http')?.text ?? '';
  t.regex(http, /\r\nSOAPAction: "urn:a [^\r\n]*"\r\n/);
});
