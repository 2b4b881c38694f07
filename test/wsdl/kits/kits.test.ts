import { execFileSync } from 'node:child_process';
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
