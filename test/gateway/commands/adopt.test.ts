import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { readContract, schemaFiles } from '../../../mappings/loader/load.ts';
import { definitionsOf, get, schemaOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { run } from './run.ts';

const orders = new URL('../../../docs/adopt/Orders.wsdl', import.meta.url).pathname;

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'soapbridge-adopt-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const files = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted();

test('A1: adopt writes a folder that is served: WSDL, overlay, derived document, names', async (t) => {
  const out = join(folder(t), 'orders');
  const { code, out: said, err } = await run(t, ['adopt', orders, '--out', out]).ended;
  t.deepEqual([code, err], [0, '']);
  t.deepEqual(files(out), ['Orders.wsdl', 'derived.openapi.yaml', 'names.lock', 'soap.yaml']);
  t.deepEqual(readFileSync(join(out, 'Orders.wsdl')), readFileSync(orders));
  t.is(parse(readFileSync(join(out, 'soap.yaml'), 'utf8')), null);
  t.is(readContract(out).contract.adopted?.service.operations.length, 3);
  t.regex(said, /^ {2}\/shop\/Orders\.asmx: OrdersSoap \(SOAP 1\.1\), OrdersSoap12 \(SOAP 1\.2\)$/m);
  t.regex(said, /^no schema: Order\.@any \(elements as XML text, A22\)$/m);
  t.deepEqual(
    files(join(out, '..')),
    files(out)
      .map((file) => `orders/${file}`)
      .concat('orders')
      .toSorted(),
  );
});

test('A33: the overlay lines that adopt comments out are the defaults', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  const before = readContract(out).contract;
  const overlay = join(out, 'soap.yaml');
  const said = readFileSync(overlay, 'utf8');
  const uncommented = said.replace(/^# ((?: {2}\S|[a-zA-Z0-9]+:(?: |$)).*)$/gm, '$1');
  // keys with an example instead of a default
  const { headers, refs, upstreamTimeZone, ...keys } = parse(uncommented);
  t.is(upstreamTimeZone, 'Europe/London');
  t.deepEqual(headers, { 'SessionHeader.session': { header: 'X-Session', format: '{}' } });
  t.deepEqual(Object.keys(refs), ['https://schemas.example/']);
  writeFileSync(overlay, JSON.stringify(keys));
  t.deepEqual(readContract(out).contract.settings, before.settings);
  t.deepEqual(readContract(out).contract.operations, before.operations);
});

test('adopt names the JSON Schema of the overlay for editors', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  const [line = ''] = readFileSync(join(out, 'soap.yaml'), 'utf8').split('\n');
  t.is(join(out, line.replace('# yaml-language-server: $schema=', '')), schemaFiles.adoptedOverlay);
});

test('adopt --json prints the report as one document', async (t) => {
  const out = join(folder(t), 'orders');
  const { out: said } = await run(t, ['adopt', orders, '--out', out, '--json']).ended;
  const { written, contract, open } = JSON.parse(said);
  t.is(written.length, 4);
  t.deepEqual(contract.adopted.endpoints, [
    { path: '/shop/Orders.asmx', ports: ['OrdersSoap', 'OrdersSoap12'] },
  ]);
  t.deepEqual(open, [{ place: 'Order.@any', rule: 'A22' }]);
});

test('adopt overwrites no changed file without --force, and never the overlay', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  const again = await run(t, ['adopt', orders, '--out', out]).ended;
  t.deepEqual([again.code, again.err], [0, '']);
  t.regex(again.out, /wrote nothing, all files are up to date/);

  writeFileSync(join(out, 'soap.yaml'), 'bigNumbers: text\n');
  const refused = await run(t, ['adopt', orders, '--out', out]).ended;
  t.is(refused.code, 2);
  t.regex(
    refused.err,
    /derived\.openapi\.yaml: expected no file or an equal one, got a file with other content. Replace it with --force\n$/,
  );
  const forced = await run(t, ['adopt', orders, '--out', out, '--force']).ended;
  t.deepEqual([forced.code, forced.err], [0, '']);
  t.regex(forced.out, /wrote derived\.openapi\.yaml$/m);
  t.is(readFileSync(join(out, 'soap.yaml'), 'utf8'), 'bigNumbers: text\n');
  const { Line } = parse(readFileSync(join(out, 'derived.openapi.yaml'), 'utf8')).components.schemas;
  t.deepEqual(Line.properties.Price, { type: 'string', format: 'decimal' });
});

test('A19: adopt keeps the names in the folder', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  const lock = join(out, 'names.lock');
  writeFileSync(lock, readFileSync(lock, 'utf8').replaceAll('"GetOrder"', '"FindOrder"'));
  const { code } = await run(t, ['adopt', orders, '--out', out, '--force']).ended;
  t.is(code, 0);
  t.true('/FindOrder' in parse(readFileSync(join(out, 'derived.openapi.yaml'), 'utf8')).paths);
  t.true(Object.values(JSON.parse(readFileSync(lock, 'utf8')).operations).includes('FindOrder'));
});

/** A WSDL with a schema that imports another one from `location`. */
function importing(location: string): string {
  const root = schemaOf(
    `<xs:import namespace="urn:o" schemaLocation="${location}"/><xs:element name="Get" type="o:T" xmlns:o="urn:o"/>`,
  );
  return definitionsOf(root, get);
}
const imported =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o"><xs:complexType name="T"><xs:attribute name="a" type="xs:int"/></xs:complexType></xs:schema>';

/** Creates a folder with `wsdl/service.wsdl`, which imports a file of the sibling folder `common`. */
function apart(t: ExecutionContext, location: string): string {
  const root = folder(t);
  mkdirSync(join(root, 'wsdl/types'), { recursive: true });
  mkdirSync(join(root, 'common'));
  writeFileSync(join(root, 'wsdl/service.wsdl'), importing(location));
  writeFileSync(join(root, 'common/o.xsd'), imported);
  return root;
}

test('A2: adopt copies only the files that the WSDL refers to, by their relative paths', async (t) => {
  const root = apart(t, 'types/o.xsd');
  cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl/types/o.xsd'));
  writeFileSync(join(root, 'wsdl/notes.txt'), 'ours');
  const { code, err } = await run(t, ['adopt', join(root, 'wsdl/service.wsdl'), '--out', join(root, 'out')])
    .ended;
  t.deepEqual([code, err], [0, '']);
  t.deepEqual(files(join(root, 'out')), [
    'derived.openapi.yaml',
    'names.lock',
    'service.wsdl',
    'soap.yaml',
    'types',
    'types/o.xsd',
  ]);
});

for (const [what, location, beginning] of [
  ['outside of its folder', '../common/o.xsd', '../common/'],
  ['at a URL', 'https://old.example/schemas/o.xsd', 'https://old.example/schemas/'],
] as const)
  test(`A2: refuses a document ${what} unless --refs names its folder`, async (t) => {
    const root = apart(t, location);
    const out = join(root, 'out');
    const args = ['adopt', join(root, 'wsdl/service.wsdl'), '--out', out];
    const refused = await run(t, args).ended;
    t.is(refused.code, 2);
    t.regex(refused.err, /service\.wsdl:1#.*o\.xsd" is (?:outside the folder of the document|a URL).*refs/);
    t.deepEqual(
      files(root).filter((file) => file.startsWith('out')),
      [],
    );
    const { code, err } = await run(t, [...args, '--refs', `${beginning}=${join(root, 'common')}`]).ended;
    t.deepEqual([code, err], [0, '']);
    t.true(existsSync(join(out, 'refs/common/o.xsd')));
    t.deepEqual(parse(readFileSync(join(out, 'soap.yaml'), 'utf8')), {
      refs: { [beginning]: 'refs/common' },
    });
    t.is((await run(t, ['check', '--contract', out]).ended).code, 0);
  });

test('A2: adopt writes nothing outside its folder, whatever a URL refers to', async (t) => {
  const root = apart(t, '');
  const out = join(root, 'deep/out');
  mkdirSync(join(root, 'deep'));
  // A path that leaves the folder of the URLs and returns to it by its absolute path.
  const up = '..%2f'.repeat(root.split('/').length);
  const place = `${up}${join(root, 'common/o.xsd').slice(1).replaceAll('/', '%2f')}`;
  writeFileSync(join(root, 'wsdl/service.wsdl'), importing(`https://old.example/${place}`));
  const args = ['adopt', join(root, 'wsdl/service.wsdl'), '--out', out];
  const { code, err } = await run(t, [...args, '--refs', `https://old.example/=${join(root, 'common')}`])
    .ended;
  t.deepEqual([code, err], [0, '']);
  t.true(existsSync(join(out, 'refs/common/o.xsd')));
  t.deepEqual(
    files(root).filter((file) => !/^(?:wsdl|common|deep\/out)\/|^(?:wsdl|common|deep|deep\/out)$/.test(file)),
    [],
  );
});

for (const name of ['soap.yaml', 'derived.openapi.yaml', 'names.lock', 'Openapi.json'])
  test(`A2: refuses a schema called ${name}, because the folder has a file of that name`, async (t) => {
    const root = apart(t, name);
    cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl', name));
    const out = join(root, 'out');
    const { code, err } = await run(t, ['adopt', join(root, 'wsdl/service.wsdl'), '--out', out]).ended;
    t.is(code, 2);
    t.is(
      err,
      `${name}: expected a document name that the contract folder does not use, got a reserved one. Rename the document and change its imports\n`,
    );
    t.false(existsSync(out));
  });

test('A2: refuses documents of --refs that would overwrite one of the folder', async (t) => {
  const root = apart(t, '../common/o.xsd');
  const service = join(root, 'wsdl/service.wsdl');
  const twice = '<xs:import namespace="urn:p" schemaLocation="refs/common/o.xsd"/><xs:import ';
  writeFileSync(service, readFileSync(service, 'utf8').replace('<xs:import ', twice));
  cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl/refs/common/o.xsd'));
  const own = join(root, 'wsdl/refs/common/o.xsd');
  writeFileSync(own, readFileSync(own, 'utf8').replace(/targetNamespace="[^"]*"/, 'targetNamespace="urn:p"'));
  const args = ['adopt', service, '--out', join(root, 'out'), '--refs', `../common/=${join(root, 'common')}`];
  const { code, err } = await run(t, args).ended;
  t.is(code, 2);
  t.regex(err, /^refs\/common\/o\.xsd: expected one document with this path, got a second one from --refs/);
});

test('A2: adopt writes nothing through a link that leaves its folder, nor over a folder', async (t) => {
  const root = apart(t, 'types/o.xsd');
  cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl/types/o.xsd'));
  const out = join(root, 'out');
  mkdirSync(out);
  symlinkSync(join(root, 'common'), join(out, 'types'));
  writeFileSync(join(root, 'common/o.xsd'), 'mine');
  const args = ['adopt', join(root, 'wsdl/service.wsdl'), '--out', out, '--force'];
  const led = await run(t, args).ended;
  t.is(led.code, 2);
  t.regex(led.err, /types\/o\.xsd: expected a path inside .*, got a link to another folder\n$/);
  t.is(readFileSync(join(root, 'common/o.xsd'), 'utf8'), 'mine');
  rmSync(join(out, 'types'));
  mkdirSync(join(out, 'derived.openapi.yaml'));
  const over = await run(t, args).ended;
  t.is(over.code, 2);
  t.regex(over.err, /derived\.openapi\.yaml: expected a file or a new path, got a folder\n$/);
  t.deepEqual(files(out), ['derived.openapi.yaml']);
});

test('A32: check lists differences of the derived document and the WSDL, and exits with 2', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  t.is((await run(t, ['check', '--contract', out]).ended).code, 0);
  const path = join(out, 'derived.openapi.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace('Last4:', 'Last5:'));
  const { code, err } = await run(t, ['check', '--contract', out]).ended;
  t.is(code, 2);
  t.regex(
    err,
    /derived\.openapi\.yaml:\d+#\/components\/schemas\/Card\/properties\/Last4: expected \{"type":"string"\}, as the WSDL says, got nothing$/m,
  );
  t.regex(
    err,
    /#\/components\/schemas\/Card\/properties\/Last5: expected nothing, as the WSDL says, got \{"type":"string"\}$/m,
  );
  const inJson = await run(t, ['check', '--contract', out, '--json']).ended;
  t.is(inJson.code, 2);
  t.is(JSON.parse(inJson.out).derived.length, 2);
});

test('A32: check first reports an outdated derived document after an edit of the overlay', async (t) => {
  const out = join(folder(t), 'orders');
  await run(t, ['adopt', orders, '--out', out]).ended;
  writeFileSync(
    join(out, 'soap.yaml'),
    'bigNumbers: text\nrename: { Order.Customer: buyer, Line.Price: cost }\n',
  );
  const { code, err } = await run(t, ['check', '--contract', out]).ended;
  t.is(code, 2);
  const [first = '', ...more] = err.trimEnd().split('\n');
  t.regex(
    first,
    /derived\.openapi\.yaml: expected the document that matches the WSDL and soap\.yaml, got \d+ differences\. Run soapbridge adopt with --force to update it$/,
  );
  t.is(more.length, 3);
  t.regex(more[2] ?? '', /^\d+ more differences; list all with --json$/);
});

for (const [what, args, message] of [
  [
    'no WSDL',
    ['none.wsdl', '--out', 'x'],
    /^none\.wsdl: expected the path of a WSDL file, got a path that does not exist\n$/,
  ],
  [
    'a reference without a folder',
    [orders, '--out', 'x', '--refs', 'https://a.example/'],
    /expected BEGINNING=FOLDER/,
  ],
  ['no folder to write', [orders], /required option '--out <dir>'/],
] as const)
  test(`adopt with ${what} reports it and exits with 2`, async (t) => {
    const { code, err } = await run(t, ['adopt', ...args]).ended;
    t.is(code, 2);
    t.regex(err, message);
  });

test('adopt refuses a folder of another contract', async (t) => {
  const out = folder(t);
  writeFileSync(join(out, 'openapi.yaml'), 'openapi: 3.1.0');
  const { code, err } = await run(t, ['adopt', orders, '--out', out]).ended;
  t.is(code, 2);
  t.regex(
    err,
    /openapi\.yaml: expected no OpenAPI document in the output folder without a mapping, got a document/,
  );
  t.deepEqual(files(out), ['openapi.yaml']);
});

test('adopt updates a folder whose WSDL is mapped onto another document', async (t) => {
  const out = folder(t);
  t.is((await run(t, ['adopt', orders, '--out', out]).ended).code, 0);
  writeFileSync(join(out, 'openapi.yaml'), 'openapi: 3.1.0');
  writeFileSync(join(out, 'mapping.yaml'), 'GetOrder: {}');
  writeFileSync(join(out, 'soap.yaml'), 'bigNumbers: text');
  const { code, err } = await run(t, ['adopt', orders, '--out', out, '--force']).ended;
  t.is(code, 0, err);
  t.is(readFileSync(join(out, 'openapi.yaml'), 'utf8'), 'openapi: 3.1.0');
  t.is(readFileSync(join(out, 'mapping.yaml'), 'utf8'), 'GetOrder: {}');
  const { Line } = parse(readFileSync(join(out, 'derived.openapi.yaml'), 'utf8')).components.schemas;
  t.is(Line.properties.Price.type, 'string');
});

const second = get
  .replaceAll('name="in"', 'name="in2"')
  .replaceAll('name="out"', 'name="out2"')
  .replaceAll('"P"', '"Q"')
  .replaceAll('"t:P"', '"t:Q"')
  .replaceAll('"Get"', '"Other"')
  .replaceAll('t:in"', 't:in2"')
  .replaceAll('t:out"', 't:out2"')
  .replaceAll('t:Get"', 't:Missing"')
  .replaceAll('"B"', '"C"')
  .replaceAll('"t:B"', '"t:C"')
  .replaceAll('Things', 'Others');

test('A2: adopt and check list an incomplete operation and serve the others', async (t) => {
  const root = folder(t);
  const wsdl = join(root, 'service.wsdl');
  const schema = schemaOf('<xs:element name="Get"><xs:complexType/></xs:element>');
  writeFileSync(wsdl, `\n${definitionsOf(schema, get + second)}`);
  const out = join(root, 'out');
  const adopted = await run(t, ['adopt', wsdl, '--out', out]).ended;
  const listed = `not served: ${join(out, 'service.wsdl')}:2: Q.Other (expected the element Missing in "urn:t", got none)`;
  t.deepEqual([adopted.code, adopted.err], [0, '']);
  t.true(adopted.out.split('\n').includes(listed), adopted.out);
  const checked = await run(t, ['check', '--contract', out]).ended;
  t.deepEqual([checked.code, checked.err], [0, '']);
  t.true(checked.out.split('\n').includes(listed), checked.out);
  const json = JSON.parse((await run(t, ['check', '--contract', out, '--json']).ended).out);
  t.deepEqual(json.notServed[0].reasons, [
    {
      pointer: '',
      why: 'expected the element Missing in "urn:t", got none',
      file: join(out, 'service.wsdl'),
      line: 2,
    },
  ]);
});

test('A2: adopt exits with 2 if no operation can be served', async (t) => {
  const root = folder(t);
  const wsdl = join(root, 'service.wsdl');
  writeFileSync(wsdl, definitionsOf(schemaOf(''), ''));
  const none = await run(t, ['adopt', wsdl, '--out', join(root, 'out')]).ended;
  t.is(none.code, 2);
  t.regex(none.err, /expected a SOAP binding with a supported operation, got none\n$/);
  writeFileSync(wsdl, definitionsOf(schemaOf(''), second));
  const missing = await run(t, ['adopt', wsdl, '--out', join(root, 'out')]).ended;
  t.is(missing.code, 2);
  t.regex(missing.err, /expected the element Missing in "urn:t", got none; 1 operation reaches it\n$/);
  t.false(existsSync(join(root, 'out')));
});

/** Returns the arguments of the command at the end of a text. */
function commandIn(text: string): readonly string[] {
  const [, command = ''] = /soapbridge (adopt .*)$/m.exec(text) ?? [];
  return command.split(' ').map((word) => word.replace(/^'|'$/g, ''));
}

for (const [what, location, more] of [
  ['one parent', '../common/o.xsd', ''],
  ['two parents', '../../shared/o.xsd', ''],
  ['parents of a file in a parent', '../common/o.xsd', '<xs:include schemaLocation="../../shared/p.xsd"/>'],
] as const)
  test(`A2: adopt prints the command that reads files outside the folder: ${what}`, async (t) => {
    const root = folder(t);
    const wsdl = join(root, 'in it/wsdl/service.wsdl');
    for (const path of ['in it/wsdl', 'in it/common', 'shared'])
      mkdirSync(join(root, path), { recursive: true });
    writeFileSync(wsdl, importing(location));
    const including = imported.replace('<xs:complexType', `${more}<xs:complexType`);
    for (const path of ['in it/common/o.xsd', 'shared/o.xsd']) writeFileSync(join(root, path), including);
    writeFileSync(join(root, 'shared/p.xsd'), imported.replace('name="T"', 'name="P"'));
    const out = join(root, 'out');
    const refused = await run(t, ['adopt', wsdl, '--out', out]).ended;
    t.is(refused.code, 2);
    t.regex(refused.err, /Add its beginning, such as "(?:\.\.\/)+", and a folder as --refs/);
    // Quoted words contain spaces.
    const [, command = ''] = /soapbridge (adopt .*)$/m.exec(refused.err) ?? [];
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, inner, plain]) => inner ?? plain ?? '');
    const { code, err } = await run(t, words).ended;
    t.deepEqual([code, err], [0, '']);
    t.is((await run(t, ['check', '--contract', out]).ended).code, 0);
    t.is(files(out).filter((file) => file.endsWith('.xsd')).length, more === '' ? 1 : 2);
  });

test('A2: adopt names the cause if an imported file could not be read', async (t) => {
  const at = folder(t);
  const importing =
    '<xs:import namespace="urn:b" schemaLocation="b.xsd"/><xs:element name="Get" type="xs:int"/>';
  writeFileSync(join(at, 'service.wsdl'), definitionsOf(schemaOf(importing), get));
  for (const [content, cause] of [
    ['<xs:schema', /"b\.xsd" cannot be resolved: .*line 1, column \d+/],
    ['<html/>', /expected a schema or a WSDL 1\.1 at "b\.xsd", got <html>/],
  ] as const) {
    writeFileSync(join(at, 'b.xsd'), content);
    const out = join(at, 'out');
    const { code, out: said } = await run(t, ['adopt', join(at, 'service.wsdl'), '--out', out]).ended;
    t.is(code, 0, said);
    t.regex(said, cause);
    t.notRegex(said, /ENOENT/);
    // Each position is reported once, in the output folder.
    const places = said.match(/warning: [^ ]*service\.wsdl:\d+/g);
    t.is(places?.length, 1, said);
    t.true(places?.[0]?.includes(join(out, 'service.wsdl')), said);
    rmSync(out, { recursive: true });
  }
});

test('A2: problems of a folder that is not written name the source files', async (t) => {
  const at = folder(t);
  const wsdl = join(at, 'service.wsdl');
  writeFileSync(wsdl, definitionsOf(schemaOf('<xs:element name="Get" type="xs:int"/>'), ''));
  const { code, err } = await run(t, ['adopt', wsdl, '--out', join(at, 'out')]).ended;
  t.is(code, 2);
  t.true(err.includes(`${wsdl}:`), err);
  t.false(existsSync(join(at, 'out')));
});

test('A2: adopt prints the command also if it serves operations without these files', async (t) => {
  const root = apart(t, '../common/o.xsd');
  const wsdl = join(root, 'wsdl/service.wsdl');
  writeFileSync(
    wsdl,
    readFileSync(wsdl, 'utf8')
      .replace('</xs:schema>', '<xs:element name="Whole"><xs:complexType/></xs:element></xs:schema>')
      .replace('</w:definitions>', `${second.replaceAll('t:Missing', 't:Whole')}</w:definitions>`),
  );
  const out = join(root, 'out');
  const { code, out: said } = await run(t, ['adopt', wsdl, '--out', out]).ended;
  t.is(code, 0);
  t.regex(said, /^not served: .*: P\.Get \(expected the type T in "urn:o", got none\)$/m);
  const again = await run(t, commandIn(said)).ended;
  t.deepEqual([again.code, again.err], [0, '']);
  t.notRegex(again.out, /not served/);
});

for (const out of ['wsdl/orders', 'wsdl/deep/er/out'])
  test(`A2: a second adopt does not read the output of the first one in ${out}`, async (t) => {
    const root = apart(t, 'http://old.example/S.svc?xsd=xsd0');
    cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl/xsd0.xsd'));
    const wsdl = join(root, 'wsdl/service.wsdl');
    const args = ['adopt', wsdl, '--out', join(root, out)];
    t.is((await run(t, args).ended).code, 0);
    const before = files(join(root, out));
    const changed = imported.replace('name="a"', 'name="b"');
    writeFileSync(join(root, 'wsdl/xsd0.xsd'), changed);
    const again = await run(t, [...args, '--force']).ended;
    t.deepEqual([again.code, again.err], [0, '']);
    t.notRegex(again.out, /warning/);
    t.deepEqual(files(join(root, out)), before);
    t.is(readFileSync(join(root, out, 'xsd0.xsd'), 'utf8'), changed);
    // Another output folder inside the WSDL's folder is not read either.
    const other = await run(t, ['adopt', wsdl, '--out', join(root, 'wsdl/a-copy')]).ended;
    t.deepEqual([other.code, other.err], [0, '']);
    t.notRegex(other.out, /warning/);
  });

test('A2: adopt writes copies under names that all file systems accept', async (t) => {
  const root = apart(t, 'S.svc?xsd=xsd0');
  cpSync(join(root, 'common/o.xsd'), join(root, 'wsdl/S.svc?xsd=xsd0'));
  const out = join(root, 'out');
  const { code, err } = await run(t, ['adopt', join(root, 'wsdl/service.wsdl'), '--out', out]).ended;
  t.deepEqual([code, err], [0, '']);
  t.true(existsSync(join(out, 'S.svc_xsd=xsd0')));
  t.is((await run(t, ['check', '--contract', out]).ended).code, 0);
});

test('A2: a problem in a folder of --refs names its path once', async (t) => {
  const root = apart(t, '../common/o.xsd');
  writeFileSync(join(root, 'common/o.xsd'), imported.replace('xs:int', 'xs:none'));
  const refs = ['--refs', `../=${root}`];
  const { code, err } = await run(t, [
    'adopt',
    join(root, 'wsdl/service.wsdl'),
    '--out',
    join(root, 'out'),
    ...refs,
  ]).ended;
  t.is(code, 2);
  t.true(err.includes(`\n${join(root, 'common/o.xsd')}:1#: `), err);
});
