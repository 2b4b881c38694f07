import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { readState } from '../../gateway/migration/state-file.ts';
import { until } from '../until.ts';
import {
  agency,
  envelope,
  jsonReply,
  legacyList,
  newList,
  noSubmissions,
  numbersOf,
  one,
  path,
  request,
  soap12,
  start,
  submission,
  submissions,
  text,
  xmlReply,
} from './blending.ts';
import { metricOf } from './comparing.ts';
import { contractFolder, type StubReply } from './scenario.ts';

test('G28: items of both services in one reply, for both SOAP versions', async (t) => {
  const site = await start(t, submissions);
  const legacy = legacyList(submission('L1'), submission('L2'));
  t.is(await numbersOf(site, xmlReply(legacy), newList(one('N1'))), '3: L1 L2 N1');
  t.is(await numbersOf(site, xmlReply(legacy), newList(), soap12), '2: L1 L2');
  t.is(await numbersOf(site, xmlReply(legacyList()), newList(one('N1'))), '1: N1');
  t.is(await numbersOf(site, xmlReply(legacyList()), newList()), '0: ');
  site.legacy.answer = xmlReply(legacy);
  const { body, headers } = await site.send(request('GetSubmissionList', soap12));
  t.regex(body.toString(), new RegExp(`xmlns:s="${soap12}"`));
  t.regex(headers['content-type'] ?? '', /^application\/soap\+xml/);
});

test('G28: the legacy reply may be compressed, in UTF-16, or a package', async (t) => {
  const site = await start(t, submissions);
  const legacy = legacyList(submission('L1'));
  const sent = (body: Buffer, headers: Record<string, string>): StubReply => ({
    status: 200,
    headers,
    body: body as unknown as string,
  });
  const packed = sent(gzipSync(legacy), { ...text, 'content-encoding': 'gzip' });
  t.is(await numbersOf(site, packed, newList(one('N1'))), '2: L1 N1');
  const brotli = sent(brotliCompressSync(legacy), { ...text, 'content-encoding': 'br' });
  t.is(await numbersOf(site, brotli, newList(one('N1'))), '2: L1 N1');
  const wide = Buffer.from(`\ufeff<?xml version="1.0" encoding="utf-16"?>${legacy}`, 'utf16le');
  t.is(await numbersOf(site, sent(wide, { 'content-type': 'text/xml' }), newList(one('N1'))), '2: L1 N1');
  const mime = `--b\r\nContent-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-ID: <r>\r\n\r\n${legacy}\r\n--b--\r\n`;
  const type =
    'multipart/related; type="application/xop+xml"; boundary="b"; start="<r>"; start-info="text/xml"';
  t.is(
    await numbersOf(site, sent(Buffer.from(mime), { 'content-type': type }), newList(one('N1'))),
    '2: L1 N1',
  );
  for (const body of [gzipSync(legacy).subarray(0, 40), Buffer.from('x')])
    t.regex(
      await numbersOf(site, sent(body, { ...text, 'content-encoding': 'gzip' }), newList()),
      /^500 UpstreamInvalidResponse: the response of the legacy service/,
    );
});

test('G29: values keep their text, and numbers sort by value', async (t) => {
  const site = await start(t, { ...submissions, order: { by: 'RequestedAmount', descending: true } });
  const amount = (value: string) => `<a:RequestedAmount>${value}</a:RequestedAmount>`;
  site.legacy.answer = xmlReply(
    legacyList(submission('L1', amount('9007199254740993.10')), submission('L2')),
  );
  const items = '{"RequestedAmount":9007199254740993.2},{"RequestedAmount":-3}';
  site.upstream.answer = jsonReply(
    `{"Success":true,"AvailableApplicationNumber":2,"SubmissionInfo":[${items}]}`,
  );
  const { body } = await site.send(request('GetSubmissionList'));
  const amounts = [...body.toString().matchAll(/RequestedAmount>([^<]+)</g)].map(([, value]) => value);
  t.deepEqual(amounts, ['9007199254740993.2', '9007199254740993.10', '-3']);
});

test('G30: duplicates are counted, and the preferred item is returned', async (t) => {
  const site = await start(t, { ...submissions, key: 'GrantsGovTrackingNumber', prefer: 'new' });
  const legacy = xmlReply(legacyList(submission('A'), submission('B'), submission('B')));
  t.is(await numbersOf(site, legacy, newList(one('C'), one('B'))), '3: A C B');
  const sampleOf = (name: string) =>
    site.running.metrics().find((family) => family.name === name)?.samples[0];
  const sample = sampleOf('migration_duplicates_total');
  t.is(sample?.value, 1);
  t.is(sample?.labels, 'contract="/",operation="GetSubmissionList"');
});

test('G31: a fault that means an empty list, of one side or both', async (t) => {
  const emptyFaults = { legacy: ['NoSubmissions'], new: ['NoSubmissions'] };
  const site = await start(t, { ...submissions, emptyFaults });
  const noneNew = jsonReply({ '@fault': 'NoSubmissions', Reason: 'none' }, 404);
  t.is(await numbersOf(site, noSubmissions, newList(one('N1'))), '1: N1');
  t.is(await numbersOf(site, xmlReply(legacyList(submission('L1'))), noneNew), '1: L1');
  t.is(await numbersOf(site, noSubmissions, noneNew), '500 none');
  site.legacy.answer = noSubmissions;
  const { body } = await site.send(request('GetSubmissionList'));
  t.is(
    body.toString() as string | undefined,
    noSubmissions === null || 'fails' in noSubmissions ? '' : String(noSubmissions.body),
  );
  t.regex(await numbersOf(site, noSubmissions, jsonReply('{', 200)), /^500 UpstreamInvalidResponse/);
});

test('G31: a declared fault that is not listed is a failure', async (t) => {
  const site = await start(t, submissions);
  t.is(await numbersOf(site, noSubmissions, newList(one('N1'))), '500 none');
  t.is(site.log().at(-1)?.side, 'legacy');
  const noneNew = jsonReply({ '@fault': 'NoSubmissions', '@message': 'nothing here' }, 404);
  t.is(await numbersOf(site, xmlReply(legacyList()), noneNew), '500 nothing here');
});

test('G31: an item that is unreadable fails its side', async (t) => {
  const site = await start(t, submissions);
  const good = submission('L1');
  const failsLegacy = /^500 UpstreamInvalidResponse: the response of the legacy service does not match/;
  for (const item of [
    submission('L2', '<a:ReceivedDateTime>yesterday</a:ReceivedDateTime>'),
    submission('L2', '<a:RequestedAmount>12,5</a:RequestedAmount>'),
    submission('L2', '<a:Unknown>1</a:Unknown>'),
    submission('L2').replaceAll('a:SubmissionInfo', 'c:SubmissionInfo'),
  ])
    t.regex(await numbersOf(site, xmlReply(legacyList(good, item)), newList(one('N1'))), failsLegacy, item);
  for (const body of ['', '<html/>', legacyList(good).slice(0, -9), envelope('<a/>'), envelope('')])
    t.regex(await numbersOf(site, xmlReply(body), newList(one('N1'))), failsLegacy, body);
  for (const item of [
    { ReceivedDateTime: 'yesterday' },
    { RequestedAmount: 'much' },
    { ReceivedDateTime: 5 },
  ])
    t.regex(
      await numbersOf(site, xmlReply(legacyList(good)), newList(one('N1'), item)),
      /^500 UpstreamInvalidResponse/,
      JSON.stringify(item),
    );
});

test('G31: an item without a required member fails its side', async (t) => {
  const operation = 'GetOpportunityList';
  const site = await start(t, { list: 'OpportunityDetails' }, {}, operation);
  const sideFor = async (legacy: string, fresh: readonly object[]): Promise<unknown> => {
    site.legacy.answer = xmlReply(
      envelope(`<a:GetOpportunityListResponse ${agency}>${legacy}</a:GetOpportunityListResponse>`),
    );
    site.upstream.answer = jsonReply({ OpportunityDetails: fresh });
    const lines = site.log().length;
    const { status } = await site.send(request(operation));
    await until(() => site.log().length > lines);
    return `${status} ${site.log().at(-1)?.side}`;
  };
  const number = '<c:FundingOpportunityNumber>1</c:FundingOpportunityNumber>';
  const item = (content: string) => `<a:OpportunityDetails>${content}</a:OpportunityDetails>`;
  const given = { FundingOpportunityNumber: '2' };
  t.is(await sideFor(item(number), [given]), '200 undefined');
  t.is(await sideFor(item(number) + item('<a:OfferingAgency>x</a:OfferingAgency>'), [given]), '500 legacy');
  t.is(await sideFor(item(number), [given, { OfferingAgency: 'x' }]), '500 new');
});

test('G31: a reply may lack other members', async (t) => {
  const site = await start(t, submissions);
  const fresh = jsonReply({ SubmissionInfo: [one('N1')] });
  t.is(await numbersOf(site, xmlReply(legacyList(submission('L1'))), fresh), '2: L1 N1');
  const bare = legacyList(submission('L1')).replace(/<a:Success>.*?<\/a:AvailableApplicationNumber>/, '');
  t.is(await numbersOf(site, xmlReply(bare), newList(one('N1'))), '2: L1 N1');
});

test('G31: with partial, the reply of the other side is returned and marked', async (t) => {
  const site = await start(t, { ...submissions, partial: 'either' });
  const legacy = xmlReply(legacyList(submission('L1')));
  const call = async (legacyReply: StubReply, fresh: StubReply) => {
    const lines = site.log().length;
    const numbers = await numbersOf(site, legacyReply, fresh);
    await until(() => site.log().length > lines);
    return `${numbers}, partial ${site.log().at(-1)?.partial}`;
  };
  t.is(await call(legacy, jsonReply({}, 503)), '1: L1, partial legacy');
  t.is(await call({ fails: 'resetAfterRequest' }, newList(one('N1'))), '1: N1, partial new');
  t.is(await call(xmlReply(''), newList(one('N1'), one('N2'))), '2: N1 N2, partial new');
  t.is(await call(noSubmissions, jsonReply({}, 503)), '500 none, partial undefined');
  site.legacy.answer = { fails: 'resetAfterRequest' };
  site.upstream.answer = newList(one('N1'));
  t.is((await site.send(request('GetSubmissionList'))).headers['x-soapbridge-partial'], 'new');
  const family = site.running.metrics().find(({ name }) => name === 'migration_partial_total');
  t.deepEqual(
    family?.samples.map(({ labels, value }) => `${labels} ${value}`),
    [
      'contract="/",operation="GetSubmissionList",side="legacy" 1',
      'contract="/",operation="GetSubmissionList",side="new" 3',
    ],
  );
});

test('G31: a service without a reply fails the blend', async (t) => {
  const site = await start(t, submissions, { limits: { upstreamFirstByteMs: 10_000 } });
  const legacy = xmlReply(legacyList(submission('L1')));
  t.regex(await numbersOf(site, { fails: 'timeout' }, newList()), /^500 UpstreamTimeout: the legacy service/);
  t.regex(await numbersOf(site, legacy, { fails: 'timeout' }), /^500 UpstreamTimeout: the upstream/);
  await site.legacy.refuse();
  t.regex(await numbersOf(site, legacy, newList()), /^500 UpstreamUnavailable: the legacy service/);
  await site.legacy.open();
  t.is(await numbersOf(site, legacy, newList()), '1: L1');
});

test('G31: blendItems: 4 items are returned, 5 are refused', async (t) => {
  const site = await start(t, submissions, { limits: { blendItems: 4 } });
  const legacy = xmlReply(legacyList(submission('L1'), submission('L2')));
  t.is(await numbersOf(site, legacy, newList(one('N1'), one('N2'))), '4: L1 L2 N1 N2');
  t.is(
    await numbersOf(site, legacy, newList(one('N1'), one('N2'), one('N3'))),
    '500 UpstreamInvalidResponse: expected at most 4 items in a blended list',
  );
});

test('G13: callers of JSON get 501 for a blended operation', async (t) => {
  const site = await start(t, submissions);
  const reply = await site.send({
    path: '/json/reply/GetSubmissionList',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  t.is(reply.status, 501);
  t.is(site.legacy.hits.length + site.upstream.hits.length, 0);
});

test('G22: a caller that disconnects cancels both calls', async (t) => {
  const site = await start(t, submissions);
  site.legacy.answer = { fails: 'timeout' };
  site.upstream.answer = { fails: 'timeout' };
  const controller = new AbortController();
  const { headers, body } = request('GetSubmissionList');
  const sent = fetch(`http://127.0.0.1:${site.port}${path}`, {
    method: 'POST',
    headers,
    body,
    signal: controller.signal,
  });
  await until(() => site.legacy.hits.length === 1 && site.upstream.hits.length === 1);
  controller.abort();
  await t.throwsAsync(sent);
  await until(() => site.log().some(({ aborted }) => aborted === true));
  t.pass();
});

test('G29: settings for requests do not change values of the legacy reply', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(contractFolder('contracts/agency'), folder, { recursive: true });
  const settings = 'upstreamTimeZone: America/New_York\nunknownElements: ignore\nemptyElements: absent\n';
  appendFileSync(join(folder, 'soap.yaml'), settings);
  const site = await start(t, submissions, { contract: folder });
  const date = '<a:ReceivedDateTime>2026-03-01T12:00:00</a:ReceivedDateTime>';
  site.legacy.answer = xmlReply(legacyList(submission('L1', date)));
  site.upstream.answer = newList();
  t.true((await site.send(request('GetSubmissionList'))).body.includes('>2026-03-01T12:00:00<'));
  for (const item of ['<a:Unknown/>', '<a:RequestedAmount/>'])
    t.regex(
      await numbersOf(site, xmlReply(legacyList(submission('L1', item))), newList()),
      /^500 UpstreamInvalidResponse: the response of the legacy service/,
    );
});

test('G30: differences of duplicates are findings', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state.json');
  const site = await start(
    t,
    { ...submissions, key: 'GrantsGovTrackingNumber', prefer: 'new' },
    {},
    'GetSubmissionList',
    { state, compare: { rules: [{ path: '**.SubmissionTitle', reason: 'renamed', ignore: true }] } },
  );
  const title = (value: string) => `<c:SubmissionTitle>${value}</c:SubmissionTitle>`;
  const legacy = legacyList(
    submission('A'),
    submission('B', `<c:GrantsGovApplicationStatus>Open</c:GrantsGovApplicationStatus>${title('x')}`),
  );
  const fresh = { ...one('B'), GrantsGovApplicationStatus: 'open', SubmissionTitle: 'y' };
  t.is(await numbersOf(site, xmlReply(legacy), newList(fresh, one('C'))), '3: A B C');
  const labels = 'operation="GetSubmissionList"';
  await until(() => metricOf(site, 'migration_differences_total', `${labels},kind="value"`) === 1);
  t.is(metricOf(site, 'migration_verdict', `${labels},verdict="none"`), 1);
  await site.running.stop(0);
  const { findings = [], operations } = readState(state) ?? {};
  t.like(operations?.[0], { equal: 0, explained: 0, different: 0 });
  t.deepEqual(
    findings.map(
      ({ path: place, kind, reason }) => `${place} ${kind} ${reason === undefined ? 'open' : 'explained'}`,
    ),
    [
      'SubmissionInfo[].GrantsGovApplicationStatus value open',
      'SubmissionInfo[].SubmissionTitle value explained',
    ],
  );
  t.like(findings[0]?.examples[0], {
    path: 'SubmissionInfo[1].GrantsGovApplicationStatus',
    class: 'case',
    legacy: 'Open',
    new: 'open',
  });
});

test('G30: duplicates are compared in the comparison thread, up to compareBytes', async (t) => {
  const site = await start(
    t,
    { ...submissions, key: 'GrantsGovTrackingNumber' },
    { limits: { compareBytes: 16_384 } },
  );
  const skipped = () => metricOf(site, 'migration_skipped_total', 'reason="size"');
  const title = (length: number) => `<c:SubmissionTitle>${'x'.repeat(length)}</c:SubmissionTitle>`;
  const send = (length: number) =>
    numbersOf(site, xmlReply(legacyList(submission('B', title(length)))), newList(one('B')));
  t.is(await send(16_384), '1: B');
  await until(() => skipped() === 1);
  t.is(await send(16_000), '1: B');
  await until(
    () => metricOf(site, 'migration_differences_total', 'operation="GetSubmissionList",kind="missing"') === 1,
  );
  t.is(skipped(), 1);
});

test('G28: large replies are blended in a worker thread, with the same result', async (t) => {
  const blend = {
    ...submissions,
    key: 'GrantsGovTrackingNumber',
    order: { by: 'GrantsGovTrackingNumber' },
    emptyFaults: { legacy: ['NoSubmissions'] },
  };
  const replies = { package: 'always' };
  const [here, aside] = await Promise.all([
    start(t, blend, {}, 'GetSubmissionList', { replies }),
    start(t, blend, { limits: { replyAsideBytes: 1 } }, 'GetSubmissionList', { replies }),
  ]);
  const legacy = xmlReply(legacyList(submission('A'), submission('C')));
  const pairs: readonly (readonly [StubReply, StubReply])[] = [
    [legacy, newList(one('B'), one('C'))],
    [noSubmissions, newList(one('B'))],
    [noSubmissions, jsonReply({}, 503)],
    [legacy, jsonReply({}, 503)],
    [xmlReply('<html/>'), newList(one('B'))],
    [xmlReply(legacyList(submission('A', '<a:RequestedAmount>x</a:RequestedAmount>'))), newList()],
  ];
  for (const [ofLegacy, fresh] of pairs)
    t.is(await numbersOf(aside, ofLegacy, fresh), await numbersOf(here, ofLegacy, fresh));
  t.is(await numbersOf(aside, ...(pairs[0] ?? [null, null])), '3: A B C');
});

const nested = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
<types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
<xs:complexType name="Item"><xs:sequence><xs:element name="Note" type="xs:string"/></xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType>
<xs:complexType name="Items"><xs:sequence><xs:element name="Item" type="t:Item" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
<xs:element name="Get"><xs:complexType/></xs:element>
<xs:element name="GetResponse"><xs:complexType><xs:sequence><xs:element name="Result" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="Items" type="t:Items"/><xs:element name="Total" type="xs:long"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema></types>
<message name="In"><part name="p" element="t:Get"/></message><message name="Out"><part name="p" element="t:GetResponse"/></message>
<portType name="P"><operation name="Get"><input message="t:In"/><output message="t:Out"/></operation></portType>
<binding name="B" type="t:P"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Get"><soap:operation soapAction="urn:get"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
<service name="S"><port name="P" binding="t:B"><soap:address location="http://old.example/p"/></port></service></definitions>`;

test('G28: a list in an element of its own, with the key in an attribute', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'Nested.wsdl'), nested);
  writeFileSync(join(folder, 'soap.yaml'), 'wsdl: Nested.wsdl\noperations: { Get: { readOnly: true } }\n');
  const blend = {
    list: 'Result.Items',
    key: 'id',
    order: { by: 'id', descending: true },
    counts: ['Result.Total'],
  };
  const site = await start(t, blend, { contract: folder }, 'Get');
  const call = async (items: string, fresh: object) => {
    const result = items === '' ? '' : `<Result><Items>${items}</Items><Total>1</Total></Result>`;
    site.legacy.answer = xmlReply(envelope(`<GetResponse xmlns="urn:t">${result}</GetResponse>`));
    site.upstream.answer = jsonReply(fresh);
    const { body } = await site.send({
      path: '/p',
      headers: { 'Content-Type': 'text/xml' },
      body: envelope('<Get xmlns="urn:t"/>'),
    });
    const reply = body.toString();
    const [, fault] = /<faultstring>(\w+)/.exec(reply) ?? [];
    const ids = [...reply.matchAll(/ id="(\d+)"/g)].map(([, id]) => id);
    return fault ?? `${/Total>(\d+)</.exec(reply)?.[1]}: ${ids.join(' ')}`;
  };
  const item = (id: number) => `<Item id="${id}"><Note>n</Note></Item>`;
  const fresh = (...ids: readonly number[]) => ({
    Result: { Items: ids.map((id) => ({ id, Note: 'n' })), Total: ids.length },
  });
  t.is(await call(item(1) + item(3), fresh(2, 3)), '3: 3 2 1');
  t.is(await call('', fresh(2)), '1: 2');
  t.is(await call(item(1), {}), '1: 1');
  t.is(await call(item(1), { Result: { Items: [], Total: 0 } }), '1: 1');
  t.is(await call('<Item id="1"/>', fresh(2)), 'UpstreamInvalidResponse');
  t.is(await call('<Item><Note>n</Note></Item>', fresh(2)), 'UpstreamInvalidResponse');
  t.is(await call(item(1), { Result: { Items: [{ id: 2 }], Total: 1 } }), 'UpstreamInvalidResponse');
  t.is(await call(item(1), { Result: { Items: [{ Note: 'n' }], Total: 1 } }), 'UpstreamInvalidResponse');
});

/** Starts a site with one operation, and returns the content of its reply in a call with two replies. */
async function callerOf(
  t: ExecutionContext,
  types: string,
  blend: object,
  settings = '',
): Promise<(legacy: string, fresh: object) => Promise<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const first = nested.indexOf('<xs:complexType name="Item">');
  const end = nested.indexOf('<xs:element name="Get">');
  const after = nested.indexOf('</xs:schema>');
  const get = '<xs:element name="Get"><xs:complexType/></xs:element>';
  writeFileSync(
    join(folder, 'Nested.wsdl'),
    nested.slice(0, Math.min(first, end)) + get + types + nested.slice(after),
  );
  writeFileSync(
    join(folder, 'soap.yaml'),
    `wsdl: Nested.wsdl\noperations: { Get: { readOnly: true } }\n${settings}`,
  );
  const site = await start(t, blend, { contract: folder }, 'Get');
  return async (legacy, fresh) => {
    site.legacy.answer = xmlReply(
      envelope(
        `<GetResponse xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${legacy}</GetResponse>`,
      ),
    );
    site.upstream.answer = jsonReply(fresh);
    const { body } = await site.send({
      path: '/p',
      headers: { 'Content-Type': 'text/xml' },
      body: envelope('<Get xmlns="urn:t"/>'),
    });
    const reply = body.toString();
    const [, fault] = /<faultstring>([^<]+)/.exec(reply) ?? [];
    if (fault !== undefined) return fault;
    const [, content = reply] = /GetResponse[^>]*>(.*)<\/\w+:GetResponse>/s.exec(reply) ?? [];
    return content.replace(/(<\/?)n\d:/g, '$1');
  };
}

const responseOf = (content: string): string =>
  `<xs:element name="GetResponse"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`;

test('G28: a nil object around the list hides no items', async (t) => {
  const types = responseOf(
    '<xs:element name="L" nillable="true"><xs:complexType><xs:sequence><xs:element name="I" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="v" type="xs:int"/></xs:complexType></xs:element>',
  );
  const call = await callerOf(t, types, { list: 'L.I' });
  t.is(await call('<L xsi:nil="true" v="1"/>', { L: { I: [2, 3] } }), '<L v="1"><I>2</I><I>3</I></L>');
  t.is(await call('<L><I>1</I></L>', { L: { '@nil': true } }), '<L><I>1</I></L>');
  t.is(await call('<L xsi:nil="true"/>', { L: { I: [2] } }), '<L><I>2</I></L>');
});

test('G31: an empty list of the new service is no failure if the schema requires an item', async (t) => {
  const item =
    '<xs:complexType><xs:sequence><xs:element name="A" type="xs:int"/></xs:sequence></xs:complexType>';
  const call = await callerOf(
    t,
    responseOf(`<xs:element name="I" maxOccurs="unbounded">${item}</xs:element>`),
    { list: 'I' },
  );
  const legacy = '<I><A>1</A></I>';
  for (const fresh of [{ I: [] }, { I: null }, {}]) t.is(await call(legacy, fresh), legacy);
  t.is(await call(legacy, { I: [{ A: 2 }] }), `${legacy}<I><A>2</A></I>`);
  t.regex(await call(legacy, { I: [{ A: 2 }, {}] }), /^UpstreamInvalidResponse/);
});

test('G28: both services may take different branches of a choice', async (t) => {
  const choice =
    '<xs:choice><xs:element name="I" type="xs:int" maxOccurs="unbounded"/><xs:element name="None" type="xs:string"/></xs:choice>';
  const call = await callerOf(t, responseOf(choice), { list: 'I' });
  t.is(await call('<None>x</None>', { I: [2] }), '<I>2</I>');
  t.is(await call('<I>1</I>', { None: 'y' }), '<I>1</I>');
  t.is(await call('<None>x</None>', { None: 'y' }), '<None>x</None>');
});

const values = `<xs:complexType name="V"><xs:sequence><xs:element name="D" type="xs:decimal" minOccurs="0"/><xs:element name="N" type="xs:int" minOccurs="0"/><xs:element name="B" type="xs:boolean" minOccurs="0"/><xs:element name="F" type="xs:double" minOccurs="0"/><xs:element name="M" type="xs:gMonth" minOccurs="0"/><xs:element name="T" type="xs:dateTime" minOccurs="0"/></xs:sequence><xs:attribute name="n" type="xs:integer"/></xs:complexType>
<xs:simpleType name="Ints"><xs:list itemType="xs:int"/></xs:simpleType>`;

test('G29: numbers, booleans and months keep their text', async (t) => {
  const types = values + responseOf('<xs:element name="I" type="t:V" minOccurs="0" maxOccurs="unbounded"/>');
  for (const more of ['', 'validate: strict\n', 'bigNumbers: text\n']) {
    const call = await callerOf(t, types, { list: 'I' }, more);
    for (const item of [
      '<I><D>+010.50</D><N>+007</N><B>1</B><F>1E3</F><M>--01--</M></I>',
      '<I n="+01"><D>.5</D><N>-0</N><B>0</B><F>INF</F></I>',
      '<I><F>NaN</F></I><I><F>-INF</F></I>',
    ])
      t.is(
        await call(item, { I: [{ D: more.startsWith('big') ? '1.50' : 1.5, B: true }] }),
        `${item}<I><D>1.50</D><B>true</B></I>`.replace('1.50<', more.startsWith('big') ? '1.50<' : '1.5<'),
      );
    for (const item of [
      '<I><N>x</N></I>',
      '<I><N>9999999999</N></I>',
      '<I><B>yes</B></I>',
      '<I><D>INF</D></I>',
    ])
      t.regex(await call(item, {}), /^UpstreamInvalidResponse/, item);
  }
});

test('G29: values of a list keep their text', async (t) => {
  const types =
    values + responseOf('<xs:element name="I" type="t:Ints" minOccurs="0" maxOccurs="unbounded"/>');
  const call = await callerOf(t, types, { list: 'I' });
  t.is(await call('<I>+1 02</I>', { I: [[3, 4]] }), '<I>+1 02</I><I>3 4</I>');
});

test('G29: `timeZone` applies to dates of the legacy service under `dates: utc`', async (t) => {
  const types = values + responseOf('<xs:element name="I" type="t:V" minOccurs="0" maxOccurs="unbounded"/>');
  const blend = { list: 'I', order: { by: 'T' }, timeZone: 'America/New_York' };
  const item = (date: string) => `<I><T>${date}</T></I>`;
  const legacy =
    item('2026-01-05T10:00:00') + item('2026-01-05T15:10:00Z') + item('2026-01-05T10:20:00-05:00');
  const fresh = { I: [{ T: '2026-01-05T14:30:00Z' }, { T: '2026-01-05T17:30:00+02:00' }] };
  const call = await callerOf(t, types, blend, 'dates: utc\n');
  // the writer of replies omits the Z of the new service, as in mode new
  t.is(await call(legacy, fresh), item('2026-01-05T14:30:00') + legacy + item('2026-01-05T17:30:00+02:00'));
  const { timeZone: _, ...zoneless } = blend;
  const byOverlay = await callerOf(t, types, zoneless, 'dates: utc\nupstreamTimeZone: America/New_York\n');
  t.is(
    await byOverlay(legacy, fresh),
    item('2026-01-05T09:30:00') + legacy + item('2026-01-05T17:30:00+02:00'),
  );
});

test('G31: attributes of other namespaces are no failure', async (t) => {
  const types = values + responseOf('<xs:element name="I" type="t:V" minOccurs="0" maxOccurs="unbounded"/>');
  const call = await callerOf(t, types, { list: 'I' });
  t.is(await call('<I xmlns:wsu="urn:wsu" wsu:Id="x"><N>1</N></I>', {}), '<I><N>1</N></I>');
  t.regex(await call('<I z="x"><N>1</N></I>', {}), /^UpstreamInvalidResponse/);
  t.regex(await call('<I xmlns:t="urn:t" t:z="x"><N>1</N></I>', {}), /^UpstreamInvalidResponse/);
});

const encodedWsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
<types><xs:schema targetNamespace="urn:t"><xs:complexType name="R"><xs:sequence><xs:element name="N" type="xs:int" minOccurs="0"/><xs:element name="I" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:schema></types>
<message name="In"/><message name="Out"><part name="r" type="t:R"/></message>
<portType name="P"><operation name="Get"><input message="t:In"/><output message="t:Out"/></operation></portType>
<binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Get"><soap:operation soapAction="urn:get"/><input><soap:body use="encoded" namespace="urn:t" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></input><output><soap:body use="encoded" namespace="urn:t" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></output></operation></binding>
<service name="S"><port name="P" binding="t:B"><soap:address location="http://old.example/p"/></port></service></definitions>`;

test('G31: in the encoding of SOAP an item may be nil', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'Encoded.wsdl'), encodedWsdl);
  writeFileSync(join(folder, 'soap.yaml'), 'wsdl: Encoded.wsdl\noperations: { Get: { readOnly: true } }\n');
  const site = await start(t, { list: 'r.I' }, { contract: folder }, 'Get');
  site.legacy.answer = xmlReply(
    envelope(
      '<t:GetResponse xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><r><I>a</I><I xsi:nil="true"/></r></t:GetResponse>',
    ),
  );
  site.upstream.answer = jsonReply({ r: { I: [null, 'b'] } });
  const { status, body } = await site.send({
    path: '/p',
    headers: { 'Content-Type': 'text/xml', SOAPAction: '"urn:get"' },
    body: envelope('<t:Get xmlns:t="urn:t"/>'),
  });
  t.is(status, 200, body.toString());
  const items = [...body.toString().matchAll(/<I\b([^>]*)>/g)].map(([, attributes = '']) =>
    attributes.includes('nil="true"') ? 'nil' : 'text',
  );
  t.deepEqual(items, ['text', 'nil', 'nil', 'text']);
});

const group = `<xs:element name="Base" type="t:BaseType"/><xs:element name="Sub" type="t:BaseType" substitutionGroup="t:Base"/>
<xs:complexType name="BaseType"><xs:sequence><xs:element name="I" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="id" type="xs:int"/></xs:complexType>`;

test('G28: a list in an element of a substitution group', async (t) => {
  const types = group + responseOf('<xs:element ref="t:Base"/>');
  const call = await callerOf(t, types, { list: 'Base.Sub.I' });
  const fresh = { Base: { Sub: { I: [2] } } };
  t.is(await call('<Sub><I>1</I></Sub>', fresh), '<Sub><I>1</I><I>2</I></Sub>');
  t.is(await call('<Base id="1"/>', fresh), '<Sub><I>2</I></Sub>');
  const error = await t.throwsAsync(callerOf(t, types, { list: 'Base.I' }));
  t.regex(error?.message ?? '', /expected a path to a list in the reply, got Base\.I/);
});

test('G30: a key and an order in elements of a substitution group', async (t) => {
  const types = group + responseOf('<xs:element ref="t:Base" minOccurs="0" maxOccurs="unbounded"/>');
  const blend = { list: 'Base', key: 'Sub.id', order: { by: 'Sub.id', descending: true } };
  const call = await callerOf(t, types, blend);
  const fresh = { Base: [{ Sub: { id: 1, I: [5] } }, { Sub: { id: 2 } }] };
  t.is(await call('<Sub id="1"/><Base id="2"/>', fresh), '<Sub id="2"/><Sub id="1"/><Base id="2"/>');
});

test('G28: a contract with a mapping', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['Orders.wsdl', 'openapi.yaml', 'mapping.yaml'])
    cpSync(join('docs/mapping', name), join(folder, name));
  writeFileSync(
    join(folder, 'soap.yaml'),
    'wsdl: Orders.wsdl\noperations: { GetOrder: { readOnly: true } }\n',
  );
  const blend = { list: 'Line', key: 'Article', emptyFaults: { new: ['NoSuchOrder'] } };
  const site = await start(t, blend, { contract: folder }, 'GetOrder');
  const call = async (fresh: StubReply) => {
    site.upstream.answer = fresh;
    const { body } = await site.send({
      path: '/Orders.asmx',
      headers: { 'Content-Type': 'text/xml' },
      body: envelope('<GetOrder xmlns="urn:example:orders"><OrderNumber>7</OrderNumber></GetOrder>'),
    });
    return [...body.toString().matchAll(/Article>(\w+)</g)].map(([, article]) => article).join(' ');
  };
  site.legacy.answer = xmlReply(
    envelope(
      '<GetOrderResponse xmlns="urn:example:orders"><State>Open</State><Total>1</Total><Line><Article>A</Article><Quantity>1</Quantity></Line></GetOrderResponse>',
    ),
  );
  t.is(await call(jsonReply({ state: 'open', total: 2, lines: [{ sku: 'B', count: 2 }] })), 'A B');
  t.is(site.upstream.hits[0]?.url, '/orders/7');
  const problem = { 'content-type': 'application/problem+json' };
  t.is(await call({ status: 404, headers: problem, body: '{"title":"none"}' }), 'A');
});

test('G4: a blended request that selects a page gets a warning', async (t) => {
  for (const [name, isPaging] of [
    ['PageNumber', true],
    ['page-size', true],
    ['Offset', true],
    ['cursor', true],
    ['LIMIT', true],
    ['CreditLimit', false],
    ['Pages', false],
  ] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'soapbridge-blend-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const member = `<xs:element name="Get"><xs:complexType><xs:sequence><xs:element name="${name}" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>`;
    writeFileSync(
      join(folder, 'Nested.wsdl'),
      nested.replace('<xs:element name="Get"><xs:complexType/></xs:element>', member),
    );
    writeFileSync(join(folder, 'soap.yaml'), 'wsdl: Nested.wsdl\noperations: { Get: { readOnly: true } }\n');
    const site = await start(t, { list: 'Result.Items' }, { contract: folder }, 'Get');
    const warned = site
      .log()
      .some(({ msg }) => String(msg).includes(`${name} in the request seems to select`));
    t.is(warned, isPaging, name);
  }
});

test('G28: a decompressed reply of legacy counts as memory', async (t) => {
  const title = `<c:SubmissionTitle>${'x'.repeat(1_000_000)}</c:SubmissionTitle>`;
  const legacy = xmlReply(legacyList(submission('L1', title)));
  const packed = {
    status: 200,
    headers: { ...text, 'content-encoding': 'gzip' },
    body: gzipSync(legacyList(submission('L1', title))),
  };
  const roomy = await start(t, submissions);
  t.is(await numbersOf(roomy, packed, newList(one('N1'))), '2: L1 N1');
  const limits = { heldBytes: 500_000, leavingBytes: 100_000, arrivingBytes: 100_000 };
  const small = await start(t, submissions, { limits });
  for (const reply of [legacy, packed])
    t.regex(await numbersOf(small, reply, newList(one('N1'))), /^500 Overloaded/);
});

test('G31: a legacy reply that its caller does not read counts as memory', async (t) => {
  const site = await start(t, { ...submissions, partial: 'legacy' });
  const title = `<c:SubmissionTitle>${'x'.repeat(14_000_000)}</c:SubmissionTitle>`;
  site.legacy.answer = xmlReply(legacyList(submission('L1', title)));
  site.upstream.answer = jsonReply({}, 503);
  const held = () => site.running.metrics().find(({ name }) => name === 'held_bytes')?.samples[0]?.value ?? 0;
  const { body } = request('GetSubmissionList');
  const socket = connect(site.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nContent-Type: text/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await until(() => site.log().some(({ partial }) => partial === 'legacy'));
  t.true(held() > 5_000_000, String(held()));
  socket.destroy();
  await until(() => held() === 0);
});
