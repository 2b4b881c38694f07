import test, { type ExecutionContext } from 'ava';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readRelatedType, splitRelated, takeParts } from '../../mappings/http-mapping/related.ts';
import { results, startComparing } from './comparing.ts';
import { type CallerReply, contractFolder, type Site, startSite } from './scenario.ts';

const path = '/agency/services/v2/AgencyPort';
const zip = 'GetApplicationZip';
const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/';
const soap12 = 'http://www.w3.org/2003/05/soap-envelope';
const json = { 'content-type': 'application/json' };

const requestIn = (namespace: string, operation = zip) => {
  const content =
    operation === zip
      ? '<c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">GRANT1</c:GrantsGovTrackingNumber>'
      : '';
  return `<s:Envelope xmlns:s="${namespace}"><s:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2">${content}</a:${operation}Request></s:Body></s:Envelope>`;
};

async function start(t: ExecutionContext, migration: object): Promise<Site> {
  const routes = [{ name: 'r', operations: [zip, 'GetSubmissionList'], mode: 'new' }];
  return startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { legacy: '{legacy}', migration: { routes, ...migration } },
  });
}

const call = (site: Site, namespace = soap11, operation = zip): Promise<CallerReply> =>
  site.send({
    path,
    headers: { 'Content-Type': namespace === soap11 ? 'text/xml' : 'application/soap+xml' },
    body: requestIn(namespace, operation),
  });

/** Reads a package as a client does. */
function partsOf({ headers, body }: CallerReply) {
  const type = readRelatedType(headers['content-type'] ?? '');
  return takeParts(body, splitRelated(body, type, defaultLimits));
}

const file = (bytes: number) => ({
  status: 200,
  headers: json,
  body: JSON.stringify({ FileDataHandler: Buffer.alloc(bytes, 'x').toString('base64') }),
});

test('G23: with package: always, each reply of the new service is a package of this form', async (t) => {
  const site = await start(t, { replies: { package: 'always' } });
  site.upstream.answer = file(4);
  const reply = await call(site);
  const type =
    /^multipart\/related; type="application\/xop\+xml"; boundary="(uuid:[\da-f-]{36})"; start="<root\.message@cxf\.apache\.org>"; start-info="text\/xml"$/;
  const [, boundary = ''] = type.exec(reply.headers['content-type'] ?? '') ?? [];
  t.not(boundary, '');
  t.is(reply.headers['mime-version'], undefined);
  const text = reply.body.toString('latin1');
  t.true(
    text.startsWith(
      `--${boundary}\r\nContent-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <root.message@cxf.apache.org>\r\n\r\n<`,
    ),
  );
  t.true(text.endsWith(`\r\n--${boundary}--\r\n`));
  const { root, parts } = partsOf(reply);
  t.true(root.includes(`>${Buffer.alloc(4, 'x').toString('base64')}<`));
  t.is(parts.length, 0);
  t.is(reply.headers['content-length'], String(reply.body.length));
});

test('G23: base64 of at least mtomThreshold bytes is a part', async (t) => {
  const site = await start(t, { replies: { package: 'always' } });
  for (const [bytes, count] of [
    [767, 0],
    [768, 1],
    [300_000, 1],
  ] as const) {
    site.upstream.answer = file(bytes);
    const reply = await call(site);
    const { root, parts } = partsOf(reply);
    t.is(parts.length, count, String(bytes));
    if (count === 0) continue;
    t.true(root.includes('href="cid:1@soapbridge"'));
    t.is(parts[0]?.id, '1@soapbridge');
    t.true(parts[0]?.bytes.equals(Buffer.alloc(bytes, 'x')));
    t.regex(
      reply.body.toString('latin1'),
      /\r\nContent-Type: application\/octet-stream\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <1@soapbridge>\r\n\r\nx/,
    );
  }
});

test('G23: faults and replies of SOAP 1.2 are packages, too', async (t) => {
  const site = await start(t, { replies: { package: 'always' } });
  site.upstream.answer = {
    status: 404,
    headers: json,
    body: '{"@fault":"ApplicationNotFound","@message":"ä"}',
  };
  const fault = await call(site);
  t.is(fault.status, 500);
  t.true(partsOf(fault).root.includes('<faultstring>ä</faultstring>'));
  site.upstream.answer = { status: 503, headers: json, body: '' };
  t.true(partsOf(await call(site)).root.includes('UpstreamUnavailable'));
  site.upstream.answer = file(1_000);
  const reply = await call(site, soap12);
  t.regex(reply.headers['content-type'] ?? '', /start-info="application\/soap\+xml"$/);
  t.is(partsOf(reply).parts.length, 1);
});

test('G23: legacy replies are never repackaged, and blended replies are packages', async (t) => {
  const site = await start(t, {
    replies: { package: 'always' },
    routes: [{ name: 'b', operations: ['GetSubmissionList'], mode: 'blend' }],
    blend: { GetSubmissionList: { list: 'SubmissionInfo' } },
  });
  site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: '<legacy/>' };
  t.is((await call(site)).body.toString(), '<legacy/>');
  site.legacy.answer = {
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: `<s:Envelope xmlns:s="${soap11}"><s:Body><a:GetSubmissionListResponse xmlns:a="http://desk.example/services/Agency-V2"><a:Success>true</a:Success><a:AvailableApplicationNumber>0</a:AvailableApplicationNumber></a:GetSubmissionListResponse></s:Body></s:Envelope>`,
  };
  site.upstream.answer = {
    status: 200,
    headers: json,
    body: '{"SubmissionInfo":[{"SubmissionTitle":"new"}]}',
  };
  t.true(partsOf(await call(site, soap11, 'GetSubmissionList')).root.includes('>new<'));
});

test('G23: with package: requested, only a caller with an MTOM request gets a package', async (t) => {
  const site = await start(t, { replies: { package: 'requested' } });
  site.upstream.answer = file(1_000);
  t.is((await call(site)).headers['content-type'], 'text/xml; charset=utf-8');
  const body = `--b\r\nContent-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-ID: <r>\r\n\r\n${requestIn(soap11)}\r\n--b--\r\n`;
  const type =
    'multipart/related; type="application/xop+xml"; boundary="b"; start="<r>"; start-info="text/xml"';
  const reply = await site.send({ path, headers: { 'Content-Type': type }, body });
  t.is(partsOf(reply).parts.length, 1);
  t.regex(reply.headers['content-type'] ?? '', /start="<root@soapbridge>"/);
});

test('G23, G42: with package: requested, the comparison writes the reply in the form of mode new', async (t) => {
  const site = await startComparing(t, {}, { replies: { package: 'requested' } });
  const big = Buffer.alloc(1_000, 'x').toString('base64');
  site.upstream.answer = { status: 200, headers: json, body: JSON.stringify({ FileDataHandler: big }) };
  const legacyBody = site.replies.legacy.replace('UEsDBA==', big);
  site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: legacyBody };
  const send = (type: string, rootType: string) =>
    site.send({
      path,
      headers: { 'Content-Type': `multipart/related; boundary="b"${type}` },
      body: `--b\r\nContent-Type: ${rootType}\r\nContent-ID: <r>\r\n\r\n${requestIn(soap11)}\r\n--b--\r\n`,
    });
  await send('; type="text/xml"', 'text/xml');
  t.deepEqual(await results(site, 1), ['equal']);
  await send('', 'text/xml');
  t.deepEqual(await results(site, 2), ['equal', 'equal']);
  await send('; type="application/xop+xml"', 'application/xop+xml; type="text/xml"');
  t.is((await results(site, 3))[2], 'different');
});

test('G23: without the setting, replies are plain', async (t) => {
  const site = await start(t, {});
  site.upstream.answer = file(1_000);
  t.is((await call(site)).headers['content-type'], 'text/xml; charset=utf-8');
});
