import test from 'ava';
import { writeMetadataPage } from '../../wsdl/page.ts';
import { parcels, plainParcels } from './parcels.ts';
import { descendants, only, readTree, type Tree } from './tree.ts';

const address = 'https://api.example.com/v1';
const html = writeMetadataPage(parcels, { address });
const page = readPage(html);

test('W2: the page names the service and links its WSDL and both schemas', (t) => {
  t.deepEqual(texts('h1'), ['Parcels']);
  const links = descendants(page).filter(({ name }) => name === 'a');
  t.deepEqual(
    links.map(({ attributes, text }) => [attributes.href, text]),
    ['wsdl', 'xsd=0', 'xsd=1'].map((query) => [`${address}/soap11?${query}`, `${address}/soap11?${query}`]),
  );
});

test('W2: the page links no second schema if there is none', (t) => {
  t.false(writeMetadataPage(plainParcels, { address }).includes('xsd=1'));
});

test('W2, W38: the page lists the endpoints and the addresses of each operation, REST routes too', (t) => {
  t.deepEqual(texts('h3'), ['SendParcel', 'TrackParcel']);
  t.deepEqual(texts('code'), [
    `POST ${address}/soap11`,
    `POST ${address}/soap12`,
    `POST ${address}/xml/reply/{operation}`,
    `POST ${address}/json/reply/{operation}`,
    `POST ${address}/xml/reply/SendParcel`,
    `POST ${address}/json/reply/SendParcel`,
    `POST ${address}/xml/reply/TrackParcel`,
    `POST ${address}/json/reply/TrackParcel`,
    `GET ${address}/parcels/{id}?marks={marks}&state={state}`,
  ]);
});

test('B16: documentation is text, and its markup is escaped', (t) => {
  t.deepEqual(texts('p'), ['Parcels & their <ways>', 'Says where a parcel is,\nwhatever "it" is & <does>.']);
  const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>';
  const attacked = writeMetadataPage(
    { ...parcels, service: evil, documentation: evil },
    { address: `${address}/"><script>` },
  );
  t.notRegex(attacked, /<script|<img/);
  t.true(attacked.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test("B16: the page works under default-src 'none'; style-src 'unsafe-inline'", (t) => {
  const names = new Set(descendants(page).map(({ name }) => name));
  for (const name of ['script', 'link', 'img', 'iframe', 'form', 'base']) t.false(names.has(name), name);
  const attributes = new Set(descendants(page).flatMap((tree) => Object.keys(tree.attributes)));
  t.deepEqual([...attributes].sort(), ['charset', 'content', 'href', 'id', 'lang', 'name']);
  t.notRegex(html, /url\(|@import/);
});

test('the style sheet contains no HTML markup', (t) => {
  const style = html.slice(html.indexOf('<style>') + '<style>'.length, html.indexOf('</style>'));
  t.notRegex(style, /[<>&"']/);
});

test('the example calls a read-only operation, with every field in its place', (t) => {
  const [command = ''] = texts('pre');
  const [head = '', rest = ''] = command.split(" <<'XML'\n");
  t.is(
    head,
    `curl --data-binary @- '${address}/soap11' \\\n` +
      `  -H 'Content-Type: text/xml; charset=utf-8' -H 'SOAPAction: "TrackParcel"'`,
  );
  t.true(rest.endsWith('\nXML'));
  const payload = only(only(readTree(rest.slice(0, -'XML'.length)), 'soap:Body'), '');
  t.is(payload.name, 'TrackParcel');
  t.deepEqual(payload.attributes, { xmlns: 'urn:example:parcels' });
  t.deepEqual(
    descendants(payload).map(({ name, text }) => `${name} ${text.trim()}`.trim()),
    [
      'TrackParcel',
      'Id 1',
      'Marks',
      'arr:string string',
      'Meta',
      'arr:KeyValueOfstringint',
      'arr:Key key',
      'arr:Value 1',
      'State Under way',
    ],
  );
});

test('the example of a recursive type ends', (t) => {
  const [send] = parcels.operations;
  const sending = writeMetadataPage(
    { ...parcels, operations: send === undefined ? [] : [send] },
    { address },
  );
  t.is(sending.match(/&lt;Parts&gt;/g)?.length, 1);
  t.is(sending.match(/&lt;Parcel&gt;/g)?.length, 2);
});

function texts(name: string): readonly string[] {
  return descendants(page)
    .filter((tree) => tree.name === name)
    .map(({ text }) => text);
}

/** Reads the page as XML, after removing the doctype and closing the meta elements. */
function readPage(text: string): Tree {
  return readTree(
    text.replace('<!doctype html>', '').replaceAll(/<meta[^>]*>/g, (meta) => `${meta.slice(0, -1)}/>`),
  );
}
