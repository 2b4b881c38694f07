import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { definitionsOf, type Files, folderOf, schemaOf } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { envelope, type Gateway, send, startGateway } from '../../gateway.ts';

const orders = readFileSync('docs/adopt/Orders.wsdl', 'utf8');

interface Adopted extends Gateway {
  /** Posts an envelope. */
  readonly call: (path: string, message: string, headers?: Record<string, string>) => ReturnType<typeof send>;
}

async function serveFolder(t: ExecutionContext, folder: string, limits: object = {}): Promise<Adopted> {
  const gateway = await startGateway(t, { serve: { contract: folder }, limits });
  return {
    ...gateway,
    call: (path, message, headers = {}) =>
      send(gateway.port, 'POST', path, { 'Content-Type': 'text/xml; charset=utf-8', ...headers }, message),
  };
}

function serveFiles(t: ExecutionContext, files: Files): Promise<Adopted> {
  return serveFolder(t, folderOf(t, files));
}

/** Serves the legacy shop of docs/adopt.md with an overlay. */
async function serveOrders(t: ExecutionContext, overlay = '', limits: object = {}): Promise<Adopted> {
  const folder = folderOf(t, { 'soap.yaml': overlay });
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  return serveFolder(t, folder, limits);
}

const shop = '/shop/Orders.asmx';
const getOrder = (id: number): string =>
  `<GetOrder xmlns="http://orders.example/"><orderId>${id}</orderId></GetOrder>`;
const session =
  '<SessionHeader xmlns="http://orders.example/"><session>abc123xyz</session><branch>north</branch></SessionHeader>';

const order = {
  GetOrderResult: {
    id: 1,
    Customer: {
      '@type': 'BusinessCustomer',
      Name: 'A & B',
      Phone: { kind: 'mobile', value: '1' },
      VatId: 'X',
    },
    Placed: '2006-01-02T03:04:05',
    Shipped: null,
    Total: 10.5,
    Status: 'Open',
    Line: [{ quantity: 2, Article: 'a', Price: 1 }],
    Labels: ['x', null],
    Card: { Last4: '1234' },
    '@any': '<z xmlns="urn:z">q</z>',
  },
};

test('A5, A7: a call at the legacy path is sent as POST /{name}, in both SOAP versions', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ body: JSON.stringify(order) });
  for (const version of ['1.1', '1.2'] as const) {
    const reply = await gateway.call(shop, envelope(version, { body: getOrder(1) }));
    t.is(reply.status, 200);
    t.regex(reply.text, version === '1.1' ? /soap\/envelope\// : /soap-envelope/);
    t.true(
      reply.text.includes(
        '<n0:GetOrderResult id="1"><n0:Customer i:type="n0:BusinessCustomer"><n0:Name>A &amp; B</n0:Name><n0:Phone kind="mobile">1</n0:Phone><n0:VatId>X</n0:VatId></n0:Customer><n0:Placed>2006-01-02T03:04:05</n0:Placed><n0:Shipped i:nil="true"/><n0:Total>10.5</n0:Total><n0:Status>Open</n0:Status><n0:Line quantity="2"><n0:Article>a</n0:Article><n0:Price>1</n0:Price></n0:Line><n0:Labels><n0:string>x</n0:string><n0:string i:nil="true"/></n0:Labels><n0:Card><n0:Last4>1234</n0:Last4></n0:Card><z xmlns="urn:z">q</z></n0:GetOrderResult>',
      ),
      reply.text,
    );
  }
  t.deepEqual(
    gateway.hits.map(({ method, path, body }) => `${method} ${path} ${body}`),
    ['POST /GetOrder {"orderId":1}', 'POST /GetOrder {"orderId":1}'],
  );
});

test('A1, A2, W34: the WSDL at the legacy path is unchanged except for its addresses', async (t) => {
  const gateway = await serveOrders(t);
  const expected = orders.replaceAll('http://legacy.example/', `http://127.0.0.1:${gateway.port}/`);
  for (const path of [
    `${shop}?WSDL`,
    `${shop}?wsdl`,
    `${shop.toLowerCase()}?singleWsdl`,
    shop,
    '/soap11?wsdl',
    '/?wsdl',
  ])
    t.is((await send(gateway.port, 'GET', path)).text, expected, path);
  const missing = await send(gateway.port, 'GET', `${shop}?xsd=7`);
  t.is(missing.status, 404);
  t.regex(missing.text, /^no such document/);
});

test('A2: the parts of a WSDL are served by number, and locations refer to these', async (t) => {
  const schema =
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"><xs:element name="Get" type="xs:string"/></xs:schema>';
  const wsdl = operationsOf({ Get: { element: 't:Get' } }).replace(
    /<xs:schema.*<\/xs:schema>/,
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:import namespace="urn:t" schemaLocation="xsd/t.xsd"/></xs:schema>',
  );
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl, 'xsd/t.xsd': schema });
  const { text } = await send(gateway.port, 'GET', '/Things.asmx?wsdl');
  const [, location = ''] = /schemaLocation="([^"]*)"/.exec(text) ?? [];
  t.is(location, `http://127.0.0.1:${gateway.port}/Things.asmx?xsd=0`);
  t.is((await send(gateway.port, 'GET', new URL(location).pathname + new URL(location).search)).text, schema);
});

test('W10: accepts a reference to a control character in and before a declared header block', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ body: JSON.stringify({ GetOrderResult: null }) });
  const header = `<t:T xmlns:t="urn:t">&#2;</t:T>${session.replace('north', 'nor&#1;th')}`;
  const { status, text } = await gateway.call(shop, envelope('1.1', { header, body: getOrder(1) }));
  t.is(status, 200, text);
  t.is(JSON.parse(gateway.hits[0]?.body ?? '')['@headers'].SessionHeader.branch, 'nor\u0001th');
});

test('A8: declared header blocks are the first member; those of the reply are in its Header', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({
    body: JSON.stringify({ '@headers': { QuotaHeader: { callsLeft: 7 } }, GetOrderResult: null }),
  });
  const reply = await gateway.call(shop, envelope('1.1', { header: session, body: getOrder(1) }));
  t.is(
    gateway.hits[0]?.body,
    '{"@headers":{"SessionHeader":{"session":"abc123xyz","branch":"north"}},"orderId":1}',
  );
  t.regex(
    reply.text,
    /<s:Header><n0:QuotaHeader [^>]*><n0:callsLeft>7<\/n0:callsLeft><\/n0:QuotaHeader><\/s:Header><s:Body>/,
  );
});

test('A8, W28: a reply with its own header blocks also answers WS-Addressing', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ body: JSON.stringify({ '@headers': { QuotaHeader: { callsLeft: 7 } } }) });
  const header = '<a:MessageID xmlns:a="http://www.w3.org/2005/08/addressing">urn:uuid:1</a:MessageID>';
  const { text } = await gateway.call(shop, envelope('1.2', { header, body: getOrder(1) }));
  t.regex(
    text,
    /<s:Header [^>]*><w:Action>http:\/\/orders\.example\/OrdersSoap\/GetOrderResponse<\/w:Action><w:RelatesTo>urn:uuid:1<\/w:RelatesTo><n0:QuotaHeader /,
  );
});

test('A8: a scalar of a block is sent upstream in an HTTP header, and never logged', async (t) => {
  const gateway = await serveOrders(
    t,
    'headers:\n  SessionHeader.session: { header: Authorization, format: "Bearer {}" }\n',
  );
  gateway.answer({ status: 500, body: '{"message":"no session abc123xyz"}' });
  const reply = await gateway.call(shop, envelope('1.1', { header: session, body: getOrder(1) }));
  t.is(gateway.hits[0]?.headers.authorization, 'Bearer abc123xyz');
  t.is(gateway.hits[0]?.body, '{"@headers":{"SessionHeader":{"branch":"north"}},"orderId":1}');
  t.false(reply.text.includes('abc123xyz'), reply.text);
  t.false(gateway.log().includes('abc123xyz'), gateway.log());
});

test('A8: a scalar of a JSON caller’s @headers is sent in the same way, and never logged', async (t) => {
  const folder = folderOf(t, { 'soap.yaml': 'headers: { SessionHeader.session: { header: X-Session } }\n' });
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  const gateway = await startGateway(t, { serve: { contract: folder, logMessages: true } });
  gateway.answer({ status: 500, body: '{"message":"no session abc123xyz"}' });
  const type = { 'Content-Type': 'application/json' };
  const post = (body: string, headers = {}) =>
    send(gateway.port, 'POST', '/json/reply/GetOrder', { ...type, ...headers }, body);
  const branch = '"branch":"north"';
  const cases = [
    [
      `{"orderId":1,"@headers":{"SessionHeader":{"session":"abc123xyz",${branch}}}}`,
      `{"@headers":{"SessionHeader":{${branch}}},"orderId":1}`,
    ],
    ['{"\\u0040headers":{"SessionHeader":{"\\u0073ession":"abc123xyz"}},"orderId":1}', '{"orderId":1}'],
  ] as const;
  for (const [body, expected] of cases) {
    const { text } = await post(body);
    t.is(gateway.hits.at(-1)?.headers['x-session'], 'abc123xyz');
    t.is(gateway.hits.at(-1)?.body, expected);
    t.false(text.includes('abc123xyz'), text);
  }
  const { length } = gateway.hits;
  const conflict = await post(cases[0][0], { 'X-Session': 'another-session' });
  t.is(conflict.status, 400);
  t.regex(conflict.text, /the header X-Session and the header block SessionHeader\.session differ/);
  const list = cases[0][0].replace('"abc123xyz"', '["abc123xyz"]');
  t.is((await post(list)).status, 400);
  t.is(gateway.hits.length, length);
  t.false(gateway.log().includes('abc123xyz'), gateway.log());
  await post(`{ "orderId": 1, "@headers": {"SessionHeader": {${branch}}} }`);
  t.is(gateway.hits.at(-1)?.body, `{ "orderId": 1, "@headers": {"SessionHeader": {${branch}}} }`);
});

test('A8: a block without remaining content is omitted', async (t) => {
  const gateway = await serveOrders(t, 'headers:\n  SessionHeader.session: { header: X-Session }\n');
  const header = session.replace('<branch>north</branch>', '');
  await gateway.call(shop, envelope('1.1', { header, body: getOrder(1) }));
  t.is(gateway.hits[0]?.headers['x-session'], 'abc123xyz');
  t.is(gateway.hits[0]?.body, '{"orderId":1}');
});

test('A8: a value mapped to an HTTP header must be one value of the WSDL, or the start fails', async (t) => {
  for (const place of ['SessionHeader.sesion', 'SessionHeader.session.id'])
    await t.throwsAsync(serveOrders(t, `headers: { ${place}: { header: X-Session } }\n`), {
      message: /soap\.yaml:1#\/headers\/SessionHeader.*: expected a header block and one value in it/,
    });
  const several = orders.replace(
    'maxOccurs="1" name="session" type="s:string"',
    'maxOccurs="unbounded" name="session" type="s:string"',
  );
  const overlay = 'headers: { SessionHeader.session: { header: X-Session } }\n';
  await t.throwsAsync(serveFiles(t, { 'Orders.wsdl': several, 'soap.yaml': overlay }), {
    message: /expected a header block and one value in it/,
  });
});

test('A8: nothing is sent if the value for an HTTP header is invalid', async (t) => {
  const alike =
    '<s:schema targetNamespace="urn:o" xmlns:o="urn:o" elementFormDefault="qualified"><s:element name="SessionHeader"><s:complexType><s:sequence><s:element maxOccurs="9" name="session" type="s:string"/></s:sequence></s:complexType></s:element></s:schema>';
  const wsdl = orders
    .replace('</wsdl:types>', `${alike}</wsdl:types>`)
    .replace(
      '<wsdl:part name="SessionHeader" element="tns:SessionHeader" />',
      '<wsdl:part name="SessionHeader" element="o:SessionHeader" xmlns:o="urn:o" />',
    );
  const overlay = 'headers: { SessionHeader.session: { header: X-Session } }\n';
  const gateway = await serveFiles(t, { 'Orders.wsdl': wsdl, 'soap.yaml': overlay });
  const header = '<SessionHeader xmlns="urn:o"><session>abc123xyz</session></SessionHeader>';
  const { text } = await gateway.call(shop, envelope('1.1', { header, body: getOrder(1) }));
  t.regex(text, /@headers\.SessionHeader\.session: expected one value, which goes upstream in X-Session/);
  t.is(gateway.hits.length, 0);
  t.false((text + gateway.log()).includes('abc123xyz'));
});

test('A8: an invalid or repeated block is reported by its path', async (t) => {
  const gateway = await serveOrders(t);
  const misspelt = session.replace(/branch/g, 'brunch');
  const wrong = await gateway.call(shop, envelope('1.1', { header: misspelt, body: getOrder(1) }));
  t.regex(wrong.text, /@headers\.SessionHeader\.brunch/);
  const twice = await gateway.call(shop, envelope('1.1', { header: session + session, body: getOrder(1) }));
  t.regex(twice.text, /@headers\.SessionHeader: expected the header block once, got the block again/);
  t.is(gateway.hits.length, 0);
});

test('W28: a declared block may have mustUnderstand, an unknown one may not', async (t) => {
  const gateway = await serveOrders(t);
  const must = session.replace('<SessionHeader ', '<SessionHeader e:mustUnderstand="1" ');
  t.is((await gateway.call(shop, envelope('1.1', { header: must, body: getOrder(1) }))).status, 200);
  const strange = must.replaceAll('SessionHeader', 'OtherHeader');
  const refused = await gateway.call(shop, envelope('1.1', { header: strange, body: getOrder(1) }));
  t.regex(refused.text, /<faultcode>s:MustUnderstand</);
});

test('A29: an error response with @fault is the declared fault', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({
    status: 404,
    body: '{"@fault":"OrderNotFound","orderId":5,"hint":"a < b","@message":"no such order"}',
  });
  const detail =
    '<n0:OrderNotFound xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:n0="http://orders.example/"><n0:orderId>5</n0:orderId><n0:hint>a &lt; b</n0:hint></n0:OrderNotFound>';
  const old = await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
  t.is(old.status, 500);
  t.true(
    old.text.includes(
      `<faultcode>s:Server</faultcode><faultstring>no such order</faultstring><detail>${detail}</detail>`,
    ),
    old.text,
  );
  const next = await gateway.call(shop, envelope('1.2', { body: getOrder(5) }));
  t.is(next.status, 500);
  t.true(
    next.text.includes(`<s:Value>s:Receiver</s:Value>`) &&
      next.text.includes(`<s:Detail>${detail}</s:Detail>`),
  );
});

test('A29: an error names the declared faults if @fault is unknown, and the wrong member', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ status: 409, body: '{"@fault":"Nothing","@message":"taken"}' });
  const other = await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
  t.regex(
    other.text,
    /UpstreamInvalidResponse: the reply's @fault: expected a declared fault \(OrderNotFound\), got another/,
  );
  gateway.answer({ status: 404, body: '{"@fault":"OrderNotFound","orderId":"five"}' });
  const unfit = await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
  t.regex(unfit.text, /UpstreamInvalidResponse: the reply's orderId: expected/);
});

/** Faults of SOAP 1.1 and 1.2 for an upstream's error answer, without the namespace declarations of the detail. */
for (const [title, status, body, old, next] of [
  [
    'a text only',
    409,
    { '@message': 'a < b' },
    '<faultcode>s:Client</faultcode><faultstring>a &lt; b</faultstring>',
    '<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">a &lt; b</s:Text></s:Reason>',
  ],
  [
    'a code of SOAP with more',
    400,
    { '@code': 'Server.NoStock', '@message': 'gone', '@actor': 'urn:stock?a&b' },
    '<faultcode>s:Server.NoStock</faultcode><faultstring>gone</faultstring><faultactor>urn:stock?a&amp;b</faultactor>',
    '<s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>Server.NoStock</s:Value></s:Subcode></s:Code><s:Reason><s:Text xml:lang="en">gone</s:Text></s:Reason><s:Role>urn:stock?a&amp;b</s:Role>',
  ],
  [
    'a code with the prefix of the old service',
    500,
    { '@code': 'SOAP-ENV:Client', '@message': 'x' },
    '<faultcode>s:Client</faultcode><faultstring>x</faultstring>',
    '<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">x</s:Text></s:Reason>',
  ],
  [
    'a code in a namespace',
    500,
    { '@code': '{urn:codes}NoStock', '@message': 'x', '@detail': '<stock>0</stock>' },
    '<faultcode xmlns:w="urn:codes">w:NoStock</faultcode><faultstring>x</faultstring><detail><stock>0</stock></detail>',
    '<s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value xmlns:w="urn:codes">w:NoStock</s:Value></s:Subcode></s:Code><s:Reason><s:Text xml:lang="en">x</s:Text></s:Reason><s:Detail><stock>0</stock></s:Detail>',
  ],
  [
    'a number as the code',
    422,
    { '@code': '100' },
    '<faultcode>100</faultcode><faultstring>100</faultstring>',
    '<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">100</s:Text></s:Reason>',
  ],
  [
    'a declared fault with a code',
    404,
    { '@fault': 'OrderNotFound', orderId: 5, '@code': 'Client', '@message': 'none' },
    '<faultcode>s:Client</faultcode><faultstring>none</faultstring><detail><n0:OrderNotFound><n0:orderId>5</n0:orderId></n0:OrderNotFound></detail>',
    '<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">none</s:Text></s:Reason><s:Detail><n0:OrderNotFound><n0:orderId>5</n0:orderId></n0:OrderNotFound></s:Detail>',
  ],
] as const)
  test(`A29: writes an upstream's fault with ${title} in SOAP 1.1 and 1.2`, async (t) => {
    const gateway = await serveOrders(t);
    gateway.answer({ status, body: JSON.stringify(body) });
    for (const [version, expected] of [
      ['1.1', old],
      ['1.2', next],
    ] as const) {
      const reply = await gateway.call(shop, envelope(version, { body: getOrder(5) }));
      t.is(reply.status, 500);
      const fault = /<s:Fault>(.*)<\/s:Fault>/.exec(reply.text)?.[1];
      t.is(fault?.replace(/ xmlns:(?:i|n0)="[^"]*"/g, ''), expected, reply.text);
    }
  });

test('A29: faultCodePrefix is the prefix of every SOAP code, also in faults of the gateway', async (t) => {
  const gateway = await serveOrders(t, 'faultCodePrefix: SOAP-ENV\n');
  gateway.answer({ status: 500, body: '{"@code":"Server.NoStock"}' });
  const old = await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
  t.true(
    old.text.includes(
      '<faultcode xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/">SOAP-ENV:Server.NoStock</faultcode>',
    ),
  );
  const own = await gateway.call(shop, envelope('1.1', { body: '<Nothing/>' }));
  t.true(own.text.includes('>SOAP-ENV:Client</faultcode>'));
  const next = await gateway.call(shop, envelope('1.2', { body: '<Nothing/>' }));
  t.true(
    next.text.includes(
      '<s:Value xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope">SOAP-ENV:Sender</s:Value>',
    ),
  );
});

test('A28, A29: missing and unknown members of a declared fault are counted like those of a reply', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ status: 404, body: '{"@fault":"OrderNotFound","order":5,"hint":"a"}' });
  await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
  const { text } = await send(gateway.port, 'GET', '/metrics');
  t.regex(text, /reply_members_dropped_total\{contract="\/",operation="GetOrder"\} 1\n/);
  t.regex(text, /reply_members_missing_total\{contract="\/",operation="GetOrder"\} 1\n/);
});

test('W25: a declared fault never contains the caller’s secret, in any form', async (t) => {
  const gateway = await serveOrders(t, 'headers: { SessionHeader.session: { header: X-Session } }\n');
  gateway.answer({
    status: 404,
    body: '{"@fault":"OrderNotFound","orderId":5,"hint":"abc123xyz","@message":"none for abc123xyz"}',
  });
  const own = { 'X-Session': 'abc123xyz' };
  const xml = { ...own, 'Content-Type': 'application/xml' };
  const json = { ...own, 'Content-Type': 'application/json' };
  for (const { status, text } of [
    await gateway.call(shop, envelope('1.1', { body: getOrder(5) }), own),
    await send(gateway.port, 'POST', '/xml/reply/GetOrder', xml, getOrder(5)),
    await send(gateway.port, 'POST', '/json/reply/GetOrder', json, '{"orderId":5}'),
  ]) {
    t.true(status >= 400);
    t.false(text.includes('abc123xyz'), text);
  }
});

test('heldBytes: a declared fault counts with its written size, five times the received one', async (t) => {
  const overlay = 'operations: { OrdersSoap.GetOrder: { readOnly: true } }';
  const gateway = await serveOrders(t, overlay, { heldBytes: 1_000_000 });
  const hint = (length: number) =>
    JSON.stringify({ '@fault': 'OrderNotFound', orderId: 5, hint: '&'.repeat(length) });
  for (const [length, expected] of [
    [100_000, /<n0:OrderNotFound .*&amp;/],
    [300_000, /<faultstring>Overloaded: /],
  ] as const) {
    gateway.answer({ status: 404, body: hint(length) });
    const { text } = await gateway.call(shop, envelope('1.1', { body: getOrder(5) }));
    t.regex(text, expected, text.slice(0, 600));
  }
});

test('A21: a response without a body is an empty reply if an object is expected', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer((_hit, response) => response.writeHead(204).end());
  const body = '<CancelOrder xmlns="http://orders.example/"><orderId>5</orderId></CancelOrder>';
  const reply = await gateway.call(shop, envelope('1.1', { body }));
  t.is(reply.status, 200);
  t.regex(reply.text, /<s:Body><n0:CancelOrderResponse [^>]*\/><\/s:Body>/);
});

test('W22: an empty success is an error if the reply has content, unless the status has no body', async (t) => {
  const gateway = await serveOrders(t);
  const cancel = '<CancelOrder xmlns="http://orders.example/"><orderId>5</orderId></CancelOrder>';
  for (const version of ['1.1', '1.2'] as const)
    for (const [status, body, expected] of [
      [
        200,
        getOrder(1),
        /UpstreamInvalidResponse: the reply: expected a JSON body with status 200, got none/,
      ],
      [
        201,
        getOrder(1),
        /UpstreamInvalidResponse: the reply: expected a JSON body with status 201, got none/,
      ],
      [202, getOrder(1), /<n0:GetOrderResponse /],
      [204, getOrder(1), /<n0:GetOrderResponse /],
      // its reply has an empty type
      [200, cancel, /<n0:CancelOrderResponse /],
    ] as const) {
      gateway.answer((_hit, response) => response.writeHead(status).end());
      const { text } = await gateway.call(shop, envelope(version, { body }));
      t.regex(text, expected);
    }
});

test('A12, A15, A18: problems of a request are reported by path, and nothing is sent', async (t) => {
  const gateway = await serveOrders(t);
  const place = (content: string, attributes = 'id="1"'): string =>
    envelope('1.1', {
      body: `<PlaceOrder xmlns="http://orders.example/" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><order ${attributes}><Placed>2006-01-02T03:04:05</Placed><Shipped i:nil="true"/><Total>1</Total><Status>Open</Status>${content}</order></PlaceOrder>`,
    });
  const cases: readonly (readonly [string, RegExp])[] = [
    [place('', 'idd="1"'), /order\.idd: .*did you mean id|order\.idd/],
    [place('<Card/><Invoice>1</Invoice>'), /order\.Invoice/],
    [place('<Customer i:type="Card"/>'), /order\.Customer.*expected/],
    [place('').replace('>Open<', '>Opened<'), /order\.Status: expected/],
  ];
  for (const [message, expected] of cases) {
    const { text, status } = await gateway.call(shop, message);
    t.is(status, 500);
    t.regex(text, expected);
  }
  t.is(gateway.hits.length, 0);
});

const json = { 'Content-Type': 'application/json' };
const placed = {
  order: { id: 1, Placed: '2006-01-02T03:04:05', Shipped: null, Total: 1, Status: 'Open' },
};

test('W12, A26, W42: a JSON caller’s unknown, invalid and missing members are reported by path', async (t) => {
  const gateway = await serveOrders(t);
  const cases: readonly (readonly [string, object, string, string])[] = [
    ['GetOrder', { orderId: 5, isAdmin: true }, 'UnknownElement', 'isAdmin'],
    ['GetOrder', { orderId: 5, '@fault': 'x' }, 'UnknownElement', '@fault'],
    [
      'GetOrder',
      { '@headers': { SessionHeader: { sesion: 'x' } }, orderId: 5 },
      'UnknownElement',
      '@headers.SessionHeader.sesion',
    ],
    ['GetOrder', { '@headers': 5, orderId: 5 }, 'InvalidType', '@headers'],
    ['PlaceOrder', { order: { ...placed.order, zz: 1 } }, 'UnknownElement', 'order.zz'],
    [
      'PlaceOrder',
      { order: { ...placed.order, Line: [{ quantity: 1, Price: 1, q: 2 }] } },
      'UnknownElement',
      'order.Line[0].q',
    ],
    ['PlaceOrder', { order: { ...placed.order, Status: 'Lost' } }, 'InvalidEnum', 'order.Status'],
    ['PlaceOrder', { order: { '@nil': true, Total: 1 } }, 'InvalidType', 'order'],
    ['PlaceOrder', { order: { ...placed.order, Total: undefined } }, 'NotEmpty', 'order.Total'],
    ['GetOrder', {}, 'NotEmpty', 'orderId'],
  ];
  for (const [operation, message, code, field] of cases) {
    const path = `/json/reply/${operation}`;
    const { status, text } = await send(gateway.port, 'POST', path, json, JSON.stringify(message));
    t.is(status, 400, text);
    const { errors } = JSON.parse(text).data.responseStatus;
    t.deepEqual([errors[0].errorCode, errors[0].fieldName], [code, field]);
  }
  t.is(gateway.hits.length, 0);
  t.is(
    (await send(gateway.port, 'POST', '/json/reply/PlaceOrder', json, JSON.stringify(placed))).status,
    200,
  );
});

test('W12, A19: @type may follow members of its type; unknown ones are reported or dropped', async (t) => {
  const customer = { Name: 'a', VatId: 'X', '@type': 'BusinessCustomer' };
  const place = (gateway: Gateway, its: object) => {
    const text = JSON.stringify({ order: { ...placed.order, Customer: its } });
    return send(gateway.port, 'POST', '/json/reply/PlaceOrder', json, text);
  };
  const gateway = await serveOrders(t);
  gateway.answer({ body: '{}' });
  t.is((await place(gateway, customer)).status, 200);
  t.deepEqual(JSON.parse(gateway.hits[0]?.body ?? '').order.Customer, customer);
  for (const its of [
    { isAdmin: true, ...customer },
    { ...customer, isAdmin: true },
  ]) {
    const { status, text } = await place(gateway, its);
    t.is(status, 400);
    t.regex(text, /order\.Customer\.isAdmin: unknown member, expected [^"]*VatId/);
  }
  t.regex((await place(gateway, { Name: 'a', VatId: 'X' })).text, /order\.Customer\.VatId: unknown member/);
  const ignoring = await serveOrders(t, 'unknownElements: ignore');
  ignoring.answer({ body: '{}' });
  await place(ignoring, { isAdmin: true, ...customer });
  t.deepEqual(JSON.parse(ignoring.hits[0]?.body ?? '').order.Customer, customer);
  t.regex(ignoring.log(), /"ignored":\["isAdmin"\]/);
});

test('validate: strict applies facets to values of a JSON caller', async (t) => {
  const wsdl = operationsOf({ Get: { element: 't:Get' } }).replace(
    /<xs:schema.*<\/xs:schema>/,
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" elementFormDefault="qualified"><xs:element name="Get"><xs:complexType><xs:sequence><xs:element name="Name"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="3"/></xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>',
  );
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl, 'soap.yaml': 'validate: strict' });
  const ask = (name: string) =>
    send(gateway.port, 'POST', '/json/reply/Get', json, JSON.stringify({ Name: name }));
  const { status, text } = await ask('abcd');
  t.is(status, 400);
  t.regex(text, /Name: expected at most 3 characters/);
  t.is(gateway.hits.length, 0);
  await ask('abc');
  t.is(gateway.hits[0]?.body, '{"Name":"abc"}');
});

test('validate: strict applies JSON limits to JSON callers; long XML is read in a worker thread', async (t) => {
  const wsdl = operationsOf({ Get: { element: 't:Get' } }).replace(
    /<xs:schema.*<\/xs:schema>/,
    schemaOf(
      '<xs:element name="Get"><xs:complexType><xs:sequence><xs:element name="Number" type="xs:int" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="of"/></xs:complexType></xs:element>',
    ),
  );
  const folder = folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': 'validate: strict' });
  const small = { xmlDepth: 2, xmlElements: 3, xmlChildren: 3, xmlAttributes: 1, xmlName: 2 };
  const text = JSON.stringify({ of: 'some', Number: [1111, 2222, 3333, 4444] });
  const ask = async (limits: object): Promise<readonly unknown[]> => {
    const gateway = await serveFolder(t, folder, limits);
    const { status } = await send(gateway.port, 'POST', '/json/reply/Get', json, text);
    return [status, gateway.hits[0]?.body];
  };
  t.deepEqual(await ask({ ...small, xmlAttributeValue: 2, xmlAllAttributes: 1, xmlNamespace: 2 }), [
    200,
    text,
  ]);
  t.deepEqual(await ask({ readAsideMs: 1, loopSteps: 2_500 }), [200, text]);
  t.deepEqual(await ask({ readAsideMs: 1, loopSteps: 1_500 }), [503, undefined]);
  t.deepEqual(await ask({ loopSteps: 1_500 }), [200, text]);
});

test('W12: unknownElements: ignore drops a JSON caller’s unknown members and logs their names', async (t) => {
  const gateway = await serveOrders(t, 'unknownElements: ignore');
  gateway.answer({ body: JSON.stringify(order) });
  const given = '{"x":{"y":1},"@headers":{"SessionHeader":{"z":1,"branch":"n"}},"orderId": 12345}';
  t.is((await send(gateway.port, 'POST', '/json/reply/GetOrder', json, given)).status, 200);
  t.is(gateway.hits[0]?.body, '{"@headers":{"SessionHeader":{"branch":"n"}},"orderId":12345}');
  t.regex(gateway.log(), /"ignored":\["z","x"\]/);
  const known = '{ "orderId" : 12345 }';
  await send(gateway.port, 'POST', '/json/reply/GetOrder', json, known);
  t.is(gateway.hits[1]?.body, known);
});

test('W12: the other members of a JSON caller are unchanged if unknown ones are dropped', async (t) => {
  const gateway = await serveOrders(t, 'unknownElements: ignore');
  gateway.answer({ body: '{}' });
  const asked = async (text: string): Promise<string | undefined> => {
    await send(gateway.port, 'POST', '/json/reply/PlaceOrder', json, text);
    return gateway.hits.at(-1)?.body;
  };
  const kept =
    '"id": "1" , "Placed":"2006-01-02T03:04:05","Shipped":null,"Total":"1.50","Status":"Open","Line":[],"Invoice":"a\\u0001b"';
  const [first, second, nested] = ['"x" : {"y":[1,{"z":2}]}', '"Zo\\u00eb é":",}"', '"Customer":null'];
  t.is(await asked(`{ ${first} , ${second},"order":{${kept}}}`), `{"order":{${kept}}}`);
  t.is(await asked(`{"order":{${first},${kept} , ${second}}}`), `{"order":{${kept} }}`);
  t.is(
    await asked(`{"order":{${nested},${first},${second},${kept}},${first}}`),
    `{"order":{${nested},${kept}}}`,
  );
  const header = (more: string) =>
    `{"@headers":{"SessionHeader":{"branch":"a\\u0001b"${more}}},"order":null}`;
  t.is(await asked(header(`, ${first}`)), header(''));
});

test('A28: a missing member of a reply is omitted, logged, and counted by operation', async (t) => {
  const gateway = await serveOrders(t);
  const { Total: _, ...rest } = order.GetOrderResult;
  gateway.answer({ body: JSON.stringify({ '@headers': { QuotaHeader: {} }, GetOrderResult: rest }) });
  const { text, status } = await gateway.call(shop, envelope('1.1', { body: getOrder(1) }));
  t.is(status, 200);
  t.false(text.includes('Total'));
  const line = JSON.parse(
    gateway
      .log()
      .split('\n')
      .find((one) => one.includes('"noted"')) ?? '{}',
  );
  t.deepEqual(line.noted, { ignored: [], quirks: 0, dropped: 0, replaced: 0, passed: 0, missing: 2 });
  const { text: metrics } = await send(gateway.port, 'GET', '/metrics', {}, '');
  t.regex(metrics, /soapbridge_reply_members_missing_total\{contract="[^"]*",operation="GetOrder"\} 2\n/);
});

test('JSON and plain XML callers reach an imported operation, checked by the same schema', async (t) => {
  const gateway = await serveOrders(t);
  gateway.answer({ body: JSON.stringify(order) });
  const fits = await send(gateway.port, 'POST', '/json/reply/GetOrder', json, '{"orderId":1}');
  t.deepEqual(JSON.parse(fits.text), order);
  const unfit = await send(gateway.port, 'POST', '/json/reply/GetOrder', json, '{"orderId":"one"}');
  t.is(unfit.status, 400);
  t.regex(unfit.text, /orderId: expected/);
  const xml = { 'Content-Type': 'application/xml' };
  const plain = await send(gateway.port, 'POST', '/xml/reply/GetOrder', xml, getOrder(2));
  t.regex(plain.text, /^<\?xml [^>]*\?><n0:GetOrderResponse /);
  t.is(gateway.hits.at(-1)?.body, '{"orderId":2}');
});

test('a request above 128 KiB and a reply above 256 KiB are read in the worker thread', async (t) => {
  const gateway = await serveOrders(t);
  const labels = '<string>label</string>'.repeat(10_000);
  gateway.answer({ body: JSON.stringify({ PlaceOrderResult: 5 }) });
  const large = `<PlaceOrder xmlns="http://orders.example/" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><order id="1"><Placed>2006-01-02T03:04:05</Placed><Shipped i:nil="true"/><Total>1</Total><Status>Open</Status><Labels>${labels}</Labels></order></PlaceOrder>`;
  const placed = await gateway.call(shop, envelope('1.1', { header: session, body: large }));
  t.regex(placed.text, /<n0:PlaceOrderResult>5</);
  const sent = JSON.parse(gateway.hits[0]?.body ?? '');
  t.is(sent.order.Labels.length, 10_000);
  t.is(sent['@headers'].SessionHeader.branch, 'north');
  const Labels = Array.from({ length: 50_000 }, () => 'label');
  gateway.answer({ body: JSON.stringify({ GetOrderResult: { ...order.GetOrderResult, Labels } }) });
  const { text, status } = await gateway.call(shop, envelope('1.1', { body: getOrder(1) }));
  t.is(status, 200);
  t.is(text.split('<n0:string>').length, 50_001);
});

test('SOAPBRIDGE_LOG_MESSAGES logs known members that are not personal, and no open content', async (t) => {
  const folder = folderOf(t, {
    'soap.yaml': 'personal: [Name]\nheaders: { SessionHeader.session: { header: X-S } }\n',
  });
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  const gateway = await startGateway(t, {
    serve: { contract: folder, logMessages: true, logLevel: 'debug' },
  });
  gateway.answer({ body: JSON.stringify({ ...order, Unknown: 'secret' }) });
  const message = envelope('1.1', { header: session, body: getOrder(1) });
  await send(gateway.port, 'POST', shop, { 'Content-Type': 'text/xml' }, message);
  await gateway.running.stop(0);
  const log = gateway.log();
  t.regex(
    log,
    /"message":"request".*"body":\{"@headers":\{"SessionHeader":\{"branch":"north"\}\},"orderId":1\}/,
  );
  t.regex(log, /"message":"reply".*"Phone":\{"kind":"mobile","value":"1"\}/);
  t.regex(log, /"Name":"\*\*\*"/);
  for (const hidden of ['A & B', 'urn:z', 'secret', 'abc123xyz']) t.false(log.includes(hidden), hidden);
});

test('a reload reads the WSDL and its overlay again, in another thread', async (t) => {
  const folder = folderOf(t, { 'service.wsdl': operationsOf({ One: { element: 't:Ping' } }) });
  const gateway = await serveFolder(t, folder);
  writeFileSync(join(folder, 'soap.yaml'), 'operations: { One: { name: First } }\n');
  await gateway.running.reload();
  t.is((await gateway.call('/Things.asmx', ping)).status, 200);
  t.is(gateway.hits[0]?.path, '/First');
});

// --- dispatch ----------------------------------------------------------------------------------------

interface OperationParts {
  /** The body's element; undefined for an empty body. */
  readonly element?: string;
  readonly action?: string;
  readonly oneWay?: boolean;
  /** The number of the port. Each port has a path of its own: /P0.asmx and so on. */
  readonly port?: number;
}

const bindingStart = '<soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>';

/** A WSDL of document/literal operations, in ports at /Things.asmx or /P{n}.asmx. */
function operationsOf(operations: Readonly<Record<string, OperationParts>>): string {
  const elements = new Set(Object.values(operations).flatMap(({ element }) => element ?? []));
  const schema = [...elements].map((name) => `<xs:element name="${name.slice(2)}" type="t:Any"/>`).join('');
  const anything =
    '<xs:complexType name="Any"><xs:sequence><xs:element name="v" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>';
  const ports = [...new Set(Object.values(operations).map(({ port }) => port))];
  const messages = Object.entries(operations).map(
    ([name, { element }]) =>
      `<w:message name="${name}In">${element === undefined ? '' : `<w:part name="p" element="${element}"/>`}</w:message>`,
  );
  const parts = ports.map((port) => {
    const own = Object.entries(operations).filter(([, operation]) => operation.port === port);
    const output = ({ oneWay }: OperationParts, inner: string): string => (oneWay === true ? '' : inner);
    const abstract = own.map(
      ([name, operation]) =>
        `<w:operation name="${name}"><w:input message="t:${name}In"/>${output(operation, `<w:output message="t:${name}In"/>`)}</w:operation>`,
    );
    const bound = own.map(
      ([name, operation]) =>
        `<w:operation name="${name}"><soap:operation soapAction="${operation.action ?? ''}"/><w:input><soap:body use="literal"/></w:input>${output(operation, '<w:output><soap:body use="literal"/></w:output>')}</w:operation>`,
    );
    const path = port === undefined ? 'Things' : `P${port}`;
    return {
      types: `<w:portType name="T${port}">${abstract.join('')}</w:portType><w:binding name="B${port}" type="t:T${port}">${bindingStart}${bound.join('')}</w:binding>`,
      port: `<w:port name="Port${port}" binding="t:B${port}"><soap:address location="http://old.example/${path}.asmx"/></w:port>`,
    };
  });
  const rest = `${messages.join('')}${parts.map(({ types }) => types).join('')}<w:service name="Things">${parts.map(({ port }) => port).join('')}</w:service>`;
  return definitionsOf(schemaOf(schema + anything), rest);
}

const ping = envelope('1.1', { body: '<Ping xmlns="urn:t"/>' });

test('A6: the action selects between operations with one body; no or another one is a fault', async (t) => {
  const wsdl = operationsOf({
    One: { element: 't:Ping', action: 'urn:t/One' },
    Two: { element: 't:Ping', action: 'urn:t/Two' },
  });
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl });
  await gateway.call('/Things.asmx', ping, { SOAPAction: '"urn:t/One"' });
  await gateway.call('/Things.asmx', ping, { SOAPAction: 'urn:t/Two' });
  const action = '<a:Action xmlns:a="http://www.w3.org/2005/08/addressing">urn:t/One</a:Action>';
  await gateway.call('/Things.asmx', ping.replace('<e:Body>', `<e:Header>${action}</e:Header><e:Body>`));
  const soap12 = envelope('1.2', { body: '<Ping xmlns="urn:t"/>' });
  await gateway.call('/Things.asmx', soap12, { 'Content-Type': 'application/soap+xml; action="urn:t/Two"' });
  t.deepEqual(
    gateway.hits.map(({ path }) => path),
    ['/One', '/Two', '/One', '/Two'],
  );
  for (const [headers, got] of [
    [{}, 'none'],
    [{ SOAPAction: '""' }, 'none'],
    [{ SOAPAction: '"urn:t/Three"' }, 'another action'],
  ] as const) {
    const { text, status } = await gateway.call('/Things.asmx', ping, headers);
    t.is(status, 500);
    t.regex(text, /<faultcode>s:Client</);
    t.true(text.includes('"urn:t/One", "urn:t/Two"') && text.includes(`, got ${got} (request`), text);
  }
  t.is(gateway.hits.length, 4);
});

test('A6: the fault lists the operations with one body and no own action', async (t) => {
  const same = { element: 't:Ping' };
  for (const [operations, told] of [
    [{ One: same, Two: same }, '(One, Two), but the WSDL declares none, got none'],
    [{ One: { ...same, action: 'urn:a' }, Two: same }, '(One, Two), one of "urn:a", got none'],
    [{ One: {}, Two: {} }, '(One, Two), but the WSDL declares none, got none'],
  ] as const) {
    const gateway = await serveFiles(t, { 'service.wsdl': operationsOf(operations) });
    for (const version of ['1.1', '1.2'] as const) {
      const body = 'element' in operations.One ? '<Ping xmlns="urn:t"/>' : '';
      const headers = version === '1.1' ? { SOAPAction: '""' } : { 'Content-Type': 'application/soap+xml' };
      const { text } = await gateway.call('/Things.asmx', envelope(version, { body }), headers);
      t.true(text.includes(told), text);
    }
    t.is(gateway.hits.length, 0);
  }
  const equal = { element: 't:Ping', action: 'urn:a' };
  const gateway = await serveFiles(t, { 'service.wsdl': operationsOf({ One: equal, Two: equal }) });
  const { text } = await gateway.call('/Things.asmx', ping, { SOAPAction: 'urn:a' });
  t.true(text.includes('(One, Two), one of "urn:a", got actions of several operations'), text);
});

test('A6: an empty body is dispatched by the action, which is optional for a single operation', async (t) => {
  const empty = envelope('1.1', { body: '' });
  const two = await serveFiles(t, {
    'service.wsdl': operationsOf({ One: { action: 'urn:t/One' }, Two: { action: 'urn:t/Two' } }),
  });
  t.is((await two.call('/Things.asmx', empty, { SOAPAction: 'urn:t/Two' })).status, 200);
  t.is(two.hits[0]?.path, '/Two');
  t.is(two.hits[0]?.body, '{}');
  t.is((await two.call('/Things.asmx', empty)).status, 500);
  const one = await serveFiles(t, {
    'service.wsdl': operationsOf({ One: { action: 'urn:t/One' }, Two: { element: 't:Ping' } }),
  });
  t.is((await one.call('/Things.asmx', empty)).status, 200);
  const { text } = await one.call('/Things.asmx', envelope('1.1', { body: '<Pong xmlns="urn:t"/>' }));
  t.regex(text, /expected an operation of the contract in Body, got &lt;Pong&gt;/);
});

test('A6: an operation answers only at the path of its port; at /soap11 all do', async (t) => {
  const wsdl = operationsOf({ One: { element: 't:Ping', port: 1 }, Two: { element: 't:Pong', port: 2 } });
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl });
  t.is((await gateway.call('/P1.asmx', ping)).status, 200);
  t.is((await gateway.call('/p1.ASMX/', ping)).status, 200);
  t.is((await gateway.call('/P2.asmx', ping)).status, 500);
  t.is((await gateway.call('/soap11', ping)).status, 200);
});

test('W4: refuses an action declared for another operation, and ignores any other', async (t) => {
  const wsdl = operationsOf({
    One: { element: 't:Ping', action: 'urn:t/One' },
    Two: { element: 't:Pong', action: 'urn:t/Two' },
  });
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl });
  const spoof = await gateway.call('/Things.asmx', ping, { SOAPAction: 'urn:t/Two' });
  t.regex(spoof.text, /expected the action of One, the operation in Body, got the action of Two/);
  t.is((await gateway.call('/Things.asmx', ping, { SOAPAction: 'urn:else' })).status, 200);
});

test('A9: a one-way operation is 202 without a body once the upstream accepted it, else a fault', async (t) => {
  const wsdl = operationsOf({ Tell: { element: 't:Ping', oneWay: true } });
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl });
  gateway.answer({ status: 200, body: '{"anything":1}' });
  const taken = await gateway.call('/Things.asmx', ping);
  t.is(taken.status, 202);
  t.is(taken.text, '');
  gateway.answer({ status: 503, body: 'no' });
  t.is((await gateway.call('/Things.asmx', ping)).status, 500);
});

test('A5, A33: the overlay changes the path of a port and the names of operations', async (t) => {
  const wsdl = operationsOf({ One: { element: 't:Ping' }, Two: { element: 't:Pong' } });
  const overlay =
    'endpoints: { Portundefined: /new/path }\noperations: { One: { name: First }, Tundefined.Two: { hide: true } }\n';
  const gateway = await serveFiles(t, { 'service.wsdl': wsdl, 'soap.yaml': overlay });
  t.is((await gateway.call('/new/path', ping)).status, 200);
  t.is(gateway.hits[0]?.path, '/First');
  const hidden = await gateway.call('/new/path', envelope('1.1', { body: '<Pong xmlns="urn:t"/>' }));
  t.regex(hidden.text, /expected an operation of the contract in Body/);
});

test('A33: JSON names of elements and attributes change in both directions; problems name the XML', async (t) => {
  const rename =
    'rename: { Order.Customer: buyer, Order.id: number, Line.quantity: count, GetOrder.orderId: order, GetOrderResponse.GetOrderResult: result, Customer.Name: name }\n';
  const gateway = await serveOrders(t, rename);
  const { GetOrderResult } = order;
  const { id, Customer, Line, ...rest } = GetOrderResult;
  const { Name, ...customer } = Customer;
  const [{ quantity, ...line }] = Line as [(typeof Line)[number]];
  gateway.answer({ body: JSON.stringify(order) });
  const plain = await serveOrders(t);
  plain.answer({ body: JSON.stringify(order) });
  const renamed = {
    result: { number: id, buyer: { ...customer, name: Name }, Line: [{ count: quantity, ...line }], ...rest },
  };
  gateway.answer({ body: JSON.stringify(renamed) });
  const message = envelope('1.1', { body: getOrder(1) });
  t.is((await gateway.call(shop, message)).text, (await plain.call(shop, message)).text);
  t.is(gateway.hits[0]?.body, '{"order":1}');
});

test('A33: refuses renaming an unknown member, and a name that is taken', async (t) => {
  const overlay =
    'rename:\n  Order.Nothing: x\n  Nothing.Customer: x\n  Order.Customer: Total\n  Order.Total: "@a"\n';
  const first = await t.throwsAsync(serveOrders(t, overlay));
  t.regex(
    first?.message ?? '',
    /soap\.yaml:5#\/rename\/Order\.Total: expected a name that does not begin with @/,
  );
  const second = await t.throwsAsync(serveOrders(t, overlay.replace('  Order.Total: "@a"\n', '')));
  t.regex(second?.message ?? '', /:2#\/rename\/Order\.Nothing: expected a member of the type, got "Nothing"/);
  t.regex(second?.message ?? '', /:3#\/rename\/Nothing\.Customer: expected a type of the WSDL/);
  t.regex(
    second?.message ?? '',
    /:4#\/rename\/Order\.Customer: expected a name that no other member has, got "Total"/,
  );
});

test('an overlay with unknown names is refused with all its errors', async (t) => {
  const overlay =
    'endpoints: { Nowhere: /x }\noperations: { Nothing: { name: N }, Onne: {} }\nheaders: { None.x: { header: X-N } }\nbigNumbers: some\n';
  const folder = folderOf(t, {
    'service.wsdl': operationsOf({ One: { element: 't:Ping' } }),
    'soap.yaml': overlay,
  });
  const first = await t.throwsAsync(serveFolder(t, folder));
  t.regex(first?.message ?? '', /soap\.yaml:4#\/bigNumbers: expected one of number, text, got "some"/);
  writeFileSync(join(folder, 'soap.yaml'), overlay.replace('bigNumbers: some\n', ''));
  const { message = '' } = (await t.throwsAsync(serveFolder(t, folder))) ?? {};
  t.regex(message, /soap\.yaml:1#\/endpoints\/Nowhere: expected a port of the WSDL/);
  t.regex(
    message,
    /soap\.yaml:2#\/operations\/Nothing: expected a served operation of the WSDL, got "Nothing"/,
  );
  t.regex(message, /soap\.yaml:2#\/operations\/Onne: .*, got "Onne"\. Did you mean One\?/);
  t.regex(message, /soap\.yaml:3#\/headers\/None\.x: expected a header block that an operation declares/);
});
