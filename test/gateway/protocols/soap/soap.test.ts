import test from 'ava';
import {
  authentication,
  elementText,
  envelope,
  getSearch,
  keyHeaders,
  type Reply,
  sharedGateway,
  soap11Namespace,
  soap12Namespace,
  startGateway,
  typesNamespace,
} from '../../gateway.ts';

const gateway = await sharedGateway();
const { send, hitsOf } = gateway;

const versions = ['1.1', '1.2'] as const;
type Version = (typeof versions)[number];

const contentTypes = {
  '1.1': 'text/xml; charset=utf-8',
  '1.2': 'application/soap+xml; charset=utf-8',
} as const;
const envelopeNamespaces = { '1.1': soap11Namespace, '1.2': soap12Namespace } as const;
const senders = { '1.1': 'Client', '1.2': 'Sender' } as const;

/** Returns a fault in the form of its version; undefined if the reply is not a fault of this version. */
function faultOf({ text }: Reply, version: Version): { code: string; reason: string } | undefined {
  const shape =
    version === '1.1'
      ? /<s:Body><s:Fault><faultcode(?: xmlns:\w+="[^"]*")?>(.*?)<\/faultcode><faultstring>(.*?)<\/faultstring><\/s:Fault><\/s:Body><\/s:Envelope>$/
      : /<s:Body><s:Fault><s:Code><s:Value>(.*?)<\/s:Value>(?:<s:Subcode>.*?<\/s:Subcode>)?<\/s:Code><s:Reason><s:Text xml:lang="en">(.*?)<\/s:Text><\/s:Reason><\/s:Fault><\/s:Body><\/s:Envelope>$/;
  const [, code, reason] = shape.exec(text) ?? [];
  return code === undefined || reason === undefined ? undefined : { code, reason };
}

const start = (version: Version): string =>
  `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="${envelopeNamespaces[version]}">`;

// --- W3, W7: the reply has the envelope's version ----------------------------------------------------

for (const version of versions) {
  for (const path of ['/soap11', '/soap12']) {
    for (const contentType of [
      'text/xml; charset=utf-8',
      'application/soap+xml; charset=utf-8',
      'application/x-www-form-urlencoded',
      undefined,
    ]) {
      test(`W3, W7: SOAP ${version} at ${path} as ${contentType} is answered in SOAP ${version}`, async (t) => {
        const headers = contentType === undefined ? {} : { 'Content-Type': contentType };
        const reply = await send('POST', path, headers, envelope(version));
        t.is(reply.status, 200);
        t.is(reply.headers['content-type'], contentTypes[version]);
        t.is(reply.headers['x-status'], undefined);
        t.is(
          reply.text,
          `${start(version)}<s:Body><GetSearchResponse xmlns="${typesNamespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Data><ResponseStatus/></Data></GetSearchResponse></s:Body></s:Envelope>`,
        );
      });
    }
  }

  const path = version === '1.1' ? '/soap11' : '/soap12';
  test(`W3: an Envelope of another namespace at ${path} is a VersionMismatch of SOAP ${version}`, async (t) => {
    const text = envelope('1.1').replace(soap11Namespace, 'urn:soap:13');
    const reply = await send('POST', path, {}, text);
    t.is(reply.status, 500);
    t.is(reply.headers['content-type'], contentTypes[version]);
    t.is(faultOf(reply, version)?.code, 's:VersionMismatch');
    const upgrade = /<s:Header>(<s:Upgrade>.*<\/s:Upgrade>)<\/s:Header>/.exec(reply.text)?.[1];
    if (version === '1.1') t.is(upgrade, undefined);
    else {
      t.is(
        upgrade,
        `<s:Upgrade><s:SupportedEnvelope qname="e2:Envelope" xmlns:e2="${soap12Namespace}"/><s:SupportedEnvelope qname="e1:Envelope" xmlns:e1="${soap11Namespace}"/></s:Upgrade>`,
      );
    }
  });

  for (const [what, text] of [
    ['a root that is no Envelope', '<a/>'],
    ['a bare payload', getSearch],
    ['an empty body', ''],
    ['what is not XML', '{"a":1}'],
    ['a DTD before the Envelope', `<!DOCTYPE a>${envelope('1.1')}`],
    ['a processing instruction before the Envelope', `<?a?>${envelope('1.1')}`],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0x61, 0xff, 0x3e])],
  ] as const) {
    test(`W3, W27: ${what} at ${path} is a ${senders[version]} fault of SOAP ${version}, HTTP 500`, async (t) => {
      const reply = await send('POST', path, {}, text);
      t.is(reply.status, 500);
      t.is(reply.headers['content-type'], contentTypes[version]);
      t.is(faultOf(reply, version)?.code, `s:${senders[version]}`);
    });
  }

  const other = version === '1.1' ? '/soap12' : '/soap11';
  for (const [what, text] of [
    ['not well-formed after the Envelope', envelope(version).replace('</e:Body>', '</e:body>')],
    ['cut off', envelope(version).slice(0, -20)],
    ['with an unknown operation', envelope(version, { body: '<Nothing/>' })],
  ] as const) {
    test(`W3: a message ${what} at ${other} is a fault of SOAP ${version}, the version of its Envelope`, async (t) => {
      const reply = await send('POST', other, {}, text);
      t.is(reply.status, 500);
      t.is(reply.headers['content-type'], contentTypes[version]);
      t.is(faultOf(reply, version)?.code, `s:${senders[version]}`);
    });
  }

  test(`W27: a fault of SOAP ${version} has line, column and request id, and no detail`, async (t) => {
    const text = envelope(version).replace('<e:Body>', '\n<e:Body><');
    const reply = await send('POST', path, { 'X-Request-Id': 'caller-given-id' }, text);
    const reason = faultOf(reply, version)?.reason ?? '';
    t.regex(reason, /^line 2, column 10: .* \(request caller-given-id\)$/);
    t.false(/detail/i.test(reply.text));
    t.is(reply.headers['x-request-id'], 'caller-given-id');
  });
}

// --- W4: dispatch and hints --------------------------------------------------------------------------

for (const hint of [
  'GetSearch',
  '"GetSearch"',
  `"${typesNamespace}/GetSearch"`,
  `"${typesNamespace}#GetSearch"`,
  '"urn:any#GetSearch"',
  '""',
  '"*"',
  '',
  '"http://tempuri.org/IScreening/Nothing"',
  'getpdf',
]) {
  test(`W4: accepts SOAPAction ${hint} for GetSearch`, async (t) => {
    const reply = await send('POST', '/soap11', { SOAPAction: hint }, envelope('1.1'));
    t.is(reply.status, 200);
  });
  test(`W4: accepts action=${hint} in the Content-Type for GetSearch`, async (t) => {
    const headers = { 'Content-Type': `application/soap+xml; charset=utf-8; action=${hint}` };
    t.is((await send('POST', '/soap12', headers, envelope('1.2'))).status, 200);
  });
}

const addressing10 = 'http://www.w3.org/2005/08/addressing';
const addressing2004 = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';

for (const version of versions) {
  for (const [what, headers, header] of [
    ['SOAPAction', { SOAPAction: '"DeleteClient"' }, ''],
    ['SOAPAction without quotes', { SOAPAction: 'DeleteClient' }, ''],
    ['SOAPAction with a namespace', { SOAPAction: '"urn:any/DeleteClient"' }, ''],
    ['SOAPAction after #', { SOAPAction: '"urn:any#DeleteClient"' }, ''],
    [
      'the Content-Type’s action',
      { 'Content-Type': 'application/soap+xml; action="urn:any/DeleteClient"' },
      '',
    ],
    [
      'action= with a semicolon in its quotes',
      { 'Content-Type': 'application/soap+xml; action="urn:a;b/DeleteClient"' },
      '',
    ],
    ['wsa:Action', {}, `<w:Action xmlns:w="${addressing10}">DeleteClient</w:Action>`],
    ['wsa:Action of 2004', {}, `<w:Action xmlns:w="${addressing2004}">urn:any#DeleteClient</w:Action>`],
  ] as const) {
    test(`W4: ${what} of another operation is a ${senders[version]} fault of SOAP ${version}; nothing is sent`, async (t) => {
      const user = { 'X-User-Id': 'spoofer' };
      const reply = await send('POST', '/soap11', { ...headers, ...user }, envelope(version, { header }));
      t.is(reply.status, 500);
      t.is(faultOf(reply, version)?.code, `s:${senders[version]}`);
      t.regex(faultOf(reply, version)?.reason ?? '', /GetSearch.*DeleteClient/);
      t.is(hitsOf('spoofer').length, 0);
    });
  }
}

test('W4: operations are found by namespace and name: another namespace is a fault, none is valid', async (t) => {
  const other = getSearch.replace(typesNamespace, 'urn:other');
  const refused = await send('POST', '/soap11', {}, envelope('1.1', { body: other }));
  t.is(faultOf(refused, '1.1')?.code, 's:Client');
  t.true(
    refused.text.includes(`in namespace "${typesNamespace}", got &lt;GetSearch&gt; in namespace "urn:other"`),
  );
  const none = getSearch.replace(` xmlns="${typesNamespace}"`, '');
  t.is((await send('POST', '/soap11', {}, envelope('1.1', { body: none }))).status, 200);
});

for (const query of ['?format=json', '?callback=f', '?subUserName=x', '?anything&anything']) {
  test(`W5, W38: SOAP endpoints ignore the query ${query}`, async (t) => {
    const reply = await send('POST', `/soap11${query}`, {}, envelope('1.1'));
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], contentTypes['1.1']);
  });
}

// --- W7: content types -------------------------------------------------------------------------------

for (const version of versions) {
  for (const accept of ['application/json', 'text/html, */*;q=0.1', '*/*', 'application/xml, text/xml']) {
    test(`W5, W7: Accept ${accept} does not change a reply of SOAP ${version}`, async (t) => {
      const reply = await send('POST', '/soap11', { Accept: accept }, envelope(version));
      t.is(reply.headers['content-type'], contentTypes[version]);
    });
  }

  test(`W7: SOAP ${version} with only application/xml in Accept gets application/xml`, async (t) => {
    for (const text of [envelope(version), envelope(version, { body: '<Nothing/>' })]) {
      const reply = await send('POST', '/soap12', { Accept: 'application/xml' }, text);
      t.is(reply.headers['content-type'], 'application/xml; charset=utf-8');
      t.true(reply.text.startsWith(start(version)));
    }
  });
}

test('W7: soapReplyContentType: documented makes all SOAP replies and faults application/xml', async (t) => {
  const { send } = await startGateway(t, { overlay: 'soapReplyContentType: documented' });
  for (const version of versions) {
    for (const text of [envelope(version), '<a/>']) {
      const reply = await send('POST', '/soap11', {}, text);
      t.is(reply.headers['content-type'], 'application/xml; charset=utf-8');
    }
  }
  const wrapped = await send('POST', '/json/reply/GetSearch?format=soap12', keyHeaders, '{}');
  t.is(wrapped.headers['content-type'], 'application/xml; charset=utf-8');
});

// --- W26, W27: errors in-band, faults, settings ------------------------------------------------------

const anonymousCall = envelope('1.1', { body: `<GetSearch xmlns="${typesNamespace}"/>` });

test('W26: an error of a known operation is an ordinary reply with 200 and X-Status', async (t) => {
  for (const version of versions) {
    const reply = await send(
      'POST',
      '/soap11',
      {},
      anonymousCall.replace(soap11Namespace, envelopeNamespaces[version]),
    );
    t.is(reply.status, 200);
    t.is(reply.headers['x-status'], '401');
    t.is(reply.headers['content-type'], contentTypes[version]);
    t.true(
      reply.text.startsWith(
        `${start(version)}<s:Body><GetSearchResponse xmlns="${typesNamespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Data><ResponseStatus><ErrorCode>Unauthorized</ErrorCode><Message>`,
      ),
    );
  }
});

test('W26: an upstream error below 400 has no X-Status', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ body: '{"data":{"responseStatus":{"errorCode":"Odd","message":"m"}}}' });
  const reply = await send('POST', '/soap11', {}, envelope('1.1'));
  t.is(reply.status, 200);
  t.is(reply.headers['x-status'], undefined);
  t.is(elementText(reply.text, 'ErrorCode'), 'Odd');
});

test('W26: soapErrors: fault returns Client or Server faults, without undeclared detail', async (t) => {
  const overlay = 'soapErrors: fault\nfaultDetail: none';
  const { send, answer } = await startGateway(t, { overlay });
  const refused = await send('POST', '/soap11', {}, anonymousCall);
  t.is(refused.status, 500);
  t.is(refused.headers['x-status'], '401');
  t.is(faultOf(refused, '1.1')?.code, 's:Client');
  t.regex(faultOf(refused, '1.1')?.reason ?? '', /^Unauthorized: .*ApiUserId.*ApiUserKey/);
  answer({ status: 503, headers: { 'retry-after': '7' } });
  const down = await send('POST', '/soap11', {}, envelope('1.2'));
  t.is(down.status, 500);
  t.is(down.headers['x-status'], '503');
  t.is(down.headers['retry-after'], '7');
  t.is(faultOf(down, '1.2')?.code, 's:Receiver');
});

test('W27: soap12FaultStatus: standard gives Sender faults 400; SOAP 1.1 and other codes stay 500', async (t) => {
  const { send } = await startGateway(t, { overlay: 'soap12FaultStatus: standard' });
  const unknown = '<u:a xmlns:u="urn:u" e:mustUnderstand="1"/>';
  t.is((await send('POST', '/soap11', {}, envelope('1.2', { body: '<a/>' }))).status, 400);
  t.is((await send('POST', '/soap11', {}, envelope('1.1', { body: '<a/>' }))).status, 500);
  t.is((await send('POST', '/soap11', {}, envelope('1.2', { header: unknown }))).status, 500);
  t.is((await send('POST', '/soap12', {}, '<e:Envelope xmlns:e="urn:e"/>')).status, 500);
});

// --- W28: header blocks ------------------------------------------------------------------------------

const next11 = 'http://schemas.xmlsoap.org/soap/actor/next';
const next12 = 'http://www.w3.org/2003/05/soap-envelope/role/next';
const last12 = 'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver';
const none12 = 'http://www.w3.org/2003/05/soap-envelope/role/none';

const blocks: readonly (readonly [
  version: Version,
  attributes: string,
  code: 'MustUnderstand' | 'sender' | undefined,
])[] = [
  ['1.1', '', undefined],
  ['1.1', 'e:mustUnderstand="0"', undefined],
  ['1.1', 'e:mustUnderstand="false"', undefined],
  ['1.1', 'mustUnderstand="1"', undefined],
  ['1.1', `x:mustUnderstand="1" xmlns:x="${soap12Namespace}"`, undefined],
  ['1.1', 'e:mustUnderstand="1"', 'MustUnderstand'],
  ['1.1', 'e:mustUnderstand="true"', 'MustUnderstand'],
  ['1.1', 'e:mustUnderstand=" 1 "', 'MustUnderstand'],
  ['1.1', 'e:mustUnderstand="1" e:actor=""', 'MustUnderstand'],
  ['1.1', `e:mustUnderstand="1" e:actor="${next11}"`, 'MustUnderstand'],
  ['1.1', `e:mustUnderstand="1" actor="urn:other"`, 'MustUnderstand'],
  ['1.1', 'e:mustUnderstand="1" e:actor="urn:other"', undefined],
  ['1.1', `e:mustUnderstand="1" e:actor="${next12}"`, undefined],
  ['1.1', 'e:mustUnderstand="yes"', 'sender'],
  ['1.1', 'e:mustUnderstand=""', 'sender'],
  ['1.1', 'e:mustUnderstand="TRUE"', 'sender'],
  ['1.2', '', undefined],
  ['1.2', 'e:mustUnderstand="0"', undefined],
  ['1.2', 'e:mustUnderstand="false"', undefined],
  ['1.2', 'mustUnderstand="true"', undefined],
  ['1.2', `x:mustUnderstand="1" xmlns:x="${soap11Namespace}"`, undefined],
  ['1.2', 'e:mustUnderstand="1"', 'MustUnderstand'],
  ['1.2', 'e:mustUnderstand="true"', 'MustUnderstand'],
  ['1.2', 'e:mustUnderstand="true" e:role=""', 'MustUnderstand'],
  ['1.2', `e:mustUnderstand="true" e:role="${next12}"`, 'MustUnderstand'],
  ['1.2', `e:mustUnderstand="true" e:role="${last12}"`, 'MustUnderstand'],
  ['1.2', 'e:mustUnderstand="true" e:actor="urn:other"', 'MustUnderstand'],
  ['1.2', `e:mustUnderstand="true" e:role="${none12}"`, undefined],
  ['1.2', 'e:mustUnderstand="true" e:role="urn:other"', undefined],
  ['1.2', 'e:mustUnderstand="2"', 'sender'],
  ['1.2', 'e:mustUnderstand="True"', 'sender'],
];

for (const [row, [version, attributes, code]] of blocks.entries()) {
  test(`W28: SOAP ${version}, an unknown header block with ${attributes || 'no attribute'}: ${code ?? 'ignored'}`, async (t) => {
    const user = `header-${row}`;
    const header = `<u:Thing xmlns:u="urn:unknown" ${attributes}><u:Inner/></u:Thing>`;
    const reply = await send('POST', '/soap11', { 'X-User-Id': user }, envelope(version, { header }));
    if (code === undefined) {
      t.is(reply.status, 200);
      t.is(hitsOf(user).length, 1);
      return;
    }
    t.is(reply.status, 500);
    t.is(hitsOf(user).length, 0);
    t.is(faultOf(reply, version)?.code, `s:${code === 'sender' ? senders[version] : code}`);
    if (code === 'MustUnderstand') {
      t.regex(faultOf(reply, version)?.reason ?? '', /Thing/);
      const notUnderstood = '<s:Header><s:NotUnderstood qname="q:Thing" xmlns:q="urn:unknown"/></s:Header>';
      t.is(reply.text.includes(notUnderstood), version === '1.2');
    }
  });
}

test('W28: a fault for WS-Security states that the block is not understood', async (t) => {
  const header =
    '<w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd" e:mustUnderstand="1"/>';
  const { send: sendThere } = await startGateway(t, { overlay: 'wsse:' });
  const reply = await sendThere('POST', '/soap11', {}, envelope('1.1', { header }));
  t.is(faultOf(reply, '1.1')?.code, 's:MustUnderstand');
  t.regex(
    faultOf(reply, '1.1')?.reason ?? '',
    /got &lt;Security&gt;; the contract does not read WS-Security/,
  );
});

test('W28: accepts Microsoft’s addressing/none headers', async (t) => {
  const header =
    '<w:Action xmlns:w="http://schemas.microsoft.com/ws/2005/05/addressing/none" e:mustUnderstand="1">GetSearch</w:Action>';
  const reply = await send('POST', '/soap11', {}, envelope('1.1', { header }));
  t.is(reply.status, 200);
  t.false(reply.text.includes('Header'));
});

for (const version of versions) {
  for (const [namespace, anonymous, faultAction] of [
    [addressing10, `${addressing10}/anonymous`, `${addressing10}/soap/fault`],
    [addressing2004, `${addressing2004}/role/anonymous`, `${addressing2004}/fault`],
  ] as const) {
    const block = (name: string, content: string, must = true): string =>
      `<w:${name} xmlns:w="${namespace}"${must ? ' e:mustUnderstand="1"' : ''}>${content}</w:${name}>`;
    const usual =
      block('Action', 'GetSearch') + block('MessageID', 'urn:uuid:1&amp;2') + block('To', 'urn:to');

    test(`W28: SOAP ${version} with ${namespace} gets Action and RelatesTo of that version`, async (t) => {
      const header = `${usual}${block('ReplyTo', `<w:Address>${anonymous}</w:Address>`)}${block('From', '<w:Address>urn:me</w:Address>')}`;
      const reply = await send('POST', '/soap11', {}, envelope(version, { header }));
      t.is(reply.status, 200);
      t.true(
        reply.text.startsWith(
          `${start(version)}<s:Header xmlns:w="${namespace}"><w:Action>GetSearchResponse</w:Action><w:RelatesTo>urn:uuid:1&amp;2</w:RelatesTo></s:Header><s:Body>`,
        ),
      );
    });

    test(`W28: SOAP ${version} with ${namespace}, an in-band error has the action of the reply`, async (t) => {
      const body = `<GetSearch xmlns="${typesNamespace}"/>`;
      const reply = await send('POST', '/soap11', {}, envelope(version, { header: usual, body }));
      t.is(reply.headers['x-status'], '401');
      t.is(elementText(reply.text, 'Action'), 'GetSearchResponse');
    });

    test(`W28: SOAP ${version} with ${namespace}, a fault has the standard action`, async (t) => {
      for (const body of ['<Nothing/>', '<GetSearch><<']) {
        const reply = await send('POST', '/soap11', {}, envelope(version, { header: usual, body }));
        t.is(reply.status, 500);
        t.is(elementText(reply.text, 'Action'), faultAction);
        t.is(elementText(reply.text, 'RelatesTo'), 'urn:uuid:1&amp;2');
      }
    });

    for (const name of ['ReplyTo', 'FaultTo']) {
      test(`W28: SOAP ${version}, ${namespace}: ${name} elsewhere with mustUnderstand is a fault`, async (t) => {
        const user = { 'X-User-Id': `${name} of ${version} and ${namespace}`.replaceAll(' ', '-') };
        const sent = () => hitsOf(user['X-User-Id']).length;
        const elsewhere = '<w:Address>http://127.0.0.1:9/</w:Address>';
        const header = usual + block(name, elsewhere);
        const refused = await send('POST', '/soap11', user, envelope(version, { header }));
        t.is(refused.status, 500);
        t.is(sent(), 0);
        t.is(elementText(refused.text, 'Action'), `${namespace}/fault`);
        if (version === '1.1') {
          t.true(
            refused.text.includes(
              `<faultcode xmlns:w="${namespace}">w:OnlyAnonymousAddressSupported</faultcode>`,
            ),
          );
        } else {
          t.is(faultOf(refused, version)?.code, 's:Sender');
          t.true(
            refused.text.includes(
              `<s:Subcode><s:Value xmlns:w="${namespace}">w:OnlyAnonymousAddressSupported</s:Value></s:Subcode>`,
            ),
          );
        }
        const lax = usual + block(name, elsewhere, false);
        t.is((await send('POST', '/soap11', user, envelope(version, { header: lax }))).status, 200);
        t.is(sent(), 1);
      });
    }

    test(`W28: SOAP ${version}, an unknown name of ${namespace} with mustUnderstand is not understood`, async (t) => {
      const reply = await send('POST', '/soap11', {}, envelope(version, { header: block('Other', '') }));
      t.is(faultOf(reply, version)?.code, 's:MustUnderstand');
    });
  }
}

// --- W41: the envelope -------------------------------------------------------------------------------

for (const version of versions) {
  const shell = (inner: string, attributes = ''): string =>
    `<e:Envelope xmlns:e="${envelopeNamespaces[version]}"${attributes}>${inner}</e:Envelope>`;
  const refused = `refused-${version}`;
  const body = `<e:Body>${getSearch}</e:Body>`;

  for (const [what, text] of [
    ['two Headers', shell(`<e:Header/><e:Header/>${body}`)],
    ['a Header after Body', shell(`${body}<e:Header/>`)],
    ['no Body', shell('<e:Header/>')],
    ['nothing in Envelope', shell('')],
    ['two Bodies', shell(body + body)],
    ['an element after Body', shell(`${body}<u:a xmlns:u="urn:u"/>`)],
    ['an element before Body', shell(`<u:a xmlns:u="urn:u"/>${body}`)],
    ['a Body of another namespace', shell(`<Body>${getSearch}</Body>`)],
    ['an empty Body', shell('<e:Body/>')],
    ['a Body of blanks', shell('<e:Body> \n </e:Body>')],
    ['a Body of text', shell('<e:Body>text</e:Body>')],
    ['two payloads', shell(`<e:Body>${getSearch}${getSearch}</e:Body>`)],
    ['text beside the payload', shell(`<e:Body>text${getSearch}</e:Body>`)],
    ['text after the payload', shell(`<e:Body>${getSearch}text</e:Body>`)],
    ['text between Header and Body', shell(`<e:Header/>text${body}`)],
    ['text after Body', shell(`${body}text`)],
    ['text in Header', shell(`<e:Header>text</e:Header>${body}`)],
    ['Body inside Header', shell(`<e:Header>${body}</e:Header>`)],
    ['an unknown operation', shell('<e:Body><Nothing/></e:Body>')],
    ['a prototype’s name as operation', shell('<e:Body><constructor/></e:Body>')],
  ] as const) {
    test(`W41: SOAP ${version} with ${what} is a specific ${senders[version]} fault; nothing is sent`, async (t) => {
      const reply = await send('POST', '/soap11', { 'X-User-Id': refused }, text);
      t.is(reply.status, 500);
      t.is(faultOf(reply, version)?.code, `s:${senders[version]}`);
      t.regex(faultOf(reply, version)?.reason ?? '', /^expected /);
      t.is(hitsOf(refused).length, 0);
    });
  }

  for (const [what, text] of [
    [
      'blanks and comments everywhere',
      shell(` <!-- a --> <e:Header> </e:Header>\n<e:Body> <!-- b -->${getSearch}\n</e:Body><!-- c --> `),
    ],
    [
      'attributes on Header and Body',
      shell(`<e:Header a="1"/><e:Body a="1" xmlns:u="urn:u" u:b="2">${getSearch}</e:Body>`),
    ],
    [
      'encodingStyle on Envelope',
      shell(body, ` e:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"`),
    ],
  ] as const) {
    test(`W41: SOAP ${version} with ${what} is read`, async (t) => {
      t.is((await send('POST', '/soap11', {}, text)).status, 200);
    });
  }

  test(`W41: an unqualified attribute on Envelope is ${version === '1.2' ? 'refused' : 'read'} in SOAP ${version}`, async (t) => {
    const reply = await send('POST', '/soap11', {}, shell(body, ' a="1"'));
    t.is(reply.status, version === '1.2' ? 500 : 200);
  });
}

test('W35: the upstream gets one POST with inputs in order and authentication last', async (t) => {
  const { send, hits } = await startGateway(t);
  const payload = `<GetSearch xmlns="${typesNamespace}"><Request><SubUserName>jane</SubUserName><Id>7</Id></Request>${authentication}</GetSearch>`;
  const headers = { 'X-User-Id': 'me', Cookie: 'a=b', 'X-Other': 'c' };
  const reply = await send('POST', '/soap11?x=1', headers, envelope('1.1', { body: payload }));
  t.is(reply.status, 200);
  const [hit] = hits;
  t.is(hits.length, 1);
  t.is(hit?.method, 'POST');
  t.is(hit?.path, '/json/reply/GetSearch');
  t.is(
    hit?.body,
    '{"request":{"subUserName":"jane","id":7},"authentication":{"apiUserId":"u","apiUserKey":"key","userId":"me"}}',
  );
  t.is(hit?.headers['content-type'], 'application/json');
  t.is(hit?.headers.accept, 'application/json');
  for (const name of ['x-user-id', 'x-api-user', 'x-api-key', 'cookie', 'x-other', 'soapaction']) {
    t.is(hit?.headers[name], undefined);
  }
});

test('W8: replies in an envelope are the same over a keep-alive connection', async (t) => {
  const message = envelope('1.1');
  const request = `POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: ${message.length}\r\n`;
  const text = await gateway.raw(`${request}\r\n${message}${request}Connection: close\r\n\r\n${message}`);
  t.is(text.split('HTTP/1.1 200 OK').length, 3);
  t.is(text.split('<GetSearchResponse ').length, 3);
});
