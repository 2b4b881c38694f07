import { readFileSync } from 'node:fs';
import test from 'ava';
import { envelope, type Gateway, send, sharedGateways, soap11Namespace, typesNamespace } from '../gateway.ts';
import { documents, include, related, storeDocument } from '../protocols/soap/related.ts';

const rpc = 'test/fixtures/adopt/orders-rpc';
const rules = 'test/plain/strict-validation';
const [screening, mtom, encoded, strict] = await sharedGateways(
  {},
  { serve: { contract: documents } },
  { serve: { contract: rpc } },
  { serve: { contract: rules } },
);

/** A text of the caller that no contract has. */
const marker = 'Sesam7';
/** A number of the caller. It is no length of a text. */
const number = '918273645';

/** A request that is valid by the rules of its contract. */
const valid = readFileSync(`${rules}/exchanges/what-obeys-goes-upstream-as-it-is/request.xml`, 'utf8');

const ann = { 'X-Api-User': 'ann', 'X-Api-Key': 'k' };
const body = `<t:GetSearch xmlns:t="${typesNamespace}"><t:Request><t:Id>1</t:Id><t:Status>Clear</t:Status></t:Request></t:GetSearch>`;
const multipart = related({
  root: storeDocument(
    `<name>a</name><content>${include(`cid:${marker}`)}</content><thumbnail>${include(`cid:${marker}`)}</thumbnail>`,
  ),
  boundary: 'edge',
  parts: [{ id: marker, bytes: 'abc', header: ['Content-Transfer-Encoding: binary'] }],
});
const swa = related({
  form: 'swa',
  root: storeDocument(`<name>a</name><content href="cid:${marker}"/><thumbnail href="cid:${marker}"/>`),
  boundary: 'edge',
  parts: [{ id: marker, bytes: 'abc' }],
});
const references = `<e:Envelope xmlns:e="${soap11Namespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><e:Body e:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><r:placeOrder xmlns:r="http://rpc.orders.example/"><order href="#a"/></r:placeOrder><multiRef id="a" xmlns:m="http://model.orders.example/" i:type="m:Order"><id>1</id><placed>2020-01-01T00:00:00Z</placed><total>1</total></multiRef><multiRef id="${marker}"/><multiRef id="${marker}"/></e:Body></e:Envelope>`;

/** Messages by the gateway that gets them: the kind, its path, its headers and its body. */
const messages: readonly (readonly [
  kind: string,
  gateway: Gateway,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
])[] = [
  [
    'SOAP 1.1',
    screening,
    '/v2/soap11',
    { 'Content-Type': 'text/xml', SOAPAction: '"GetSearch"', ...ann },
    envelope('1.1', {
      header: `<c:Authentication xmlns:c="${typesNamespace}"><c:ApiUserId>u</c:ApiUserId></c:Authentication>`,
      body,
    }),
  ],
  [
    'SOAP 1.2',
    screening,
    '/v2/soap12',
    { 'Content-Type': 'application/soap+xml', ...ann },
    envelope('1.2', { body }),
  ],
  [
    'XML',
    screening,
    '/v2/xml/reply/GetSearch',
    { 'Content-Type': 'application/xml; charset=utf-8', ...ann },
    body,
  ],
  [
    'JSON',
    screening,
    '/v2/json/reply/GetSearch',
    { 'Content-Type': 'application/json; charset=utf-8', ...ann },
    '{"request":{"id":1,"status":"Clear","id":2}}',
  ],
  ['strict rules', strict, '/soap11', { 'Content-Type': 'text/xml' }, envelope('1.1', { body: valid })],
  ['MTOM', mtom, '/soap11', multipart.headers, String(multipart.body)],
  ['SwA', mtom, '/soap11', swa.headers, String(swa.body)],
  [
    'SOAP encoding',
    encoded,
    '/axis/services/OrdersRpc',
    { 'Content-Type': 'text/xml', SOAPAction: '""' },
    references,
  ],
];

/** Returns copies of a text in which a marker replaces each word, or is added before each `<`, quote or bracket. */
function marked(text: string): string[] {
  const copies: string[] = [];
  for (const { index, 0: word } of text.matchAll(/[\w.#/-]+/g))
    for (const instead of /^[\d.]+$/.test(word) ? [marker, number] : [marker])
      copies.push(`${text.slice(0, index)}${instead}${text.slice(index + word.length)}`);
  for (const { index } of text.matchAll(/[<"{}]/g))
    for (const added of [marker, `<${marker}/>`, `"${marker}":1,`])
      copies.push(`${text.slice(0, index)}${added}${text.slice(index)}`);
  return copies;
}

for (const [kind, gateway, path, headers, text] of messages)
  test.serial(`the log of ${kind} has no text of the caller, wherever the mistake is`, async (t) => {
    const before = gateway.log().length;
    for (const copy of marked(text)) await send(gateway.port, 'POST', path, headers, copy);
    for (const name of ['Content-Type', 'SOAPAction'])
      for (const value of marked(headers[name] ?? ''))
        await send(gateway.port, 'POST', path, { ...headers, [name]: value }, text);
    const refusals = gateway
      .log()
      .slice(before)
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => JSON.parse(line).refusal ?? []);
    const different = new Set(refusals.map(({ expected, got, path }) => `${path} ${expected} ${got}`));
    t.true(different.size >= 10, `${different.size} different mistakes`);
    t.notRegex(JSON.stringify(refusals), new RegExp(`${marker}|${number}`, 'i'));
  });

test.serial('the mistake of a header block has no name of the caller', async (t) => {
  const before = screening.log().length;
  const header = `<x:strange xmlns:x="urn:x" s:mustUnderstand="1" xmlns:s="${soap11Namespace}"/>`;
  const text = envelope('1.1', { header, body });
  await send(screening.port, 'POST', '/v2/soap11', { 'Content-Type': 'text/xml', ...ann }, text);
  const { fault, block, refusal } = JSON.parse(screening.log().slice(before));
  t.deepEqual(
    { fault, block, refusal },
    {
      fault: 'MustUnderstand',
      block: '{urn:x}strange',
      refusal: [
        { expected: 'mustUnderstand only on header blocks that the contract reads', got: 'another element' },
      ],
    },
  );
});
