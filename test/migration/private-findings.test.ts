import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { linesOf } from '../../gateway/commands/report-formats.ts';
import { readReport } from '../../gateway/migration/report.ts';
import { readState } from '../../gateway/migration/state-file.ts';
import { results } from './comparing.ts';
import { contractFolder, startSite } from './scenario.ts';

const request = {
  path: '/shop/Orders.asmx',
  headers: { 'Content-Type': 'text/xml', SOAPAction: '"http://orders.example/GetOrder"' },
  body: '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Header><SessionHeader xmlns="http://orders.example/"><session>MARKER</session></SessionHeader></soap:Header><soap:Body><GetOrder xmlns="http://orders.example/"><orderId>17</orderId></GetOrder></soap:Body></soap:Envelope>',
};

const legacyReply = (customer: string) =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><GetOrderResponse xmlns="http://orders.example/"><GetOrderResult id="17">${customer}<Placed>2006-03-01T09:30:00Z</Placed><Shipped xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/><Total>10.50</Total><Status>Open</Status></GetOrderResult></GetOrderResponse></soap:Body></soap:Envelope>`;

const newReply = (customer: object) =>
  JSON.stringify({
    GetOrderResult: {
      id: 17,
      ...customer,
      Placed: '2006-03-01T09:30:00Z',
      Shipped: null,
      Total: 10.5,
      Status: 'Open',
    },
  });

/** Replies whose personal values differ: a value, a member that one side lacks, and another type. */
const replies = [
  ['<Customer><Name>MARKER Ann</Name></Customer>', { Customer: { Name: 'MARKER Bob' } }],
  ['<Customer><Name>MARKER Ann</Name></Customer>', {}],
  ['', { Customer: { Name: 'MARKER Bob' } }],
  [
    '<Customer><Name>MARKER Ann</Name></Customer>',
    { Customer: { '@type': 'BusinessCustomer', Name: 'MARKER Bob' } },
  ],
  ['<Customer><Name/></Customer>', { Customer: { Name: 'MARKER Bob' } }],
] as const;

/** Compares the replies. Returns the text of the state file and of all reports, or the content of the store. */
async function textsOf(
  t: ExecutionContext,
  key: string | undefined,
  hasStore = false,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-private-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state.json');
  const callerKey = join(folder, 'key');
  if (key !== undefined) writeFileSync(callerKey, key);
  const routes = [{ name: 'all', operations: ['GetOrder'], mode: 'compare' }];
  const site = await startSite(t, {
    contract: contractFolder('contracts/orders'),
    config: { legacy: '{legacy}', migration: { routes, state } },
    ...(hasStore ? { root: { store: `sqlite:${join(folder, 'store.db')}` } } : {}),
    serve: { callerFiles: key === undefined ? {} : { callerKey } },
  });
  for (const [index, [legacy, fresh]] of replies.entries()) {
    site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: legacyReply(legacy) };
    site.upstream.answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: newReply(fresh),
    };
    await site.send(request);
    t.deepEqual((await results(site, index + 1))[index], 'different');
  }
  await site.running.stop(0);
  if (hasStore) return [readFileSync(join(folder, 'store.db'), 'latin1')];
  const report = readReport(state, Date.now());
  return [readFileSync(state, 'utf8'), ...Object.values(linesOf).map((lines) => lines(report).join('\n'))];
}

test('G45: personal values and credentials are neither in the state file nor in a report', async (t) => {
  for (const key of ['0123456789abcdef', undefined]) {
    const texts = await textsOf(t, key);
    t.is(texts.length, 4);
    for (const text of texts) {
      t.true(text.includes('GetOrderResult'));
      t.notRegex(text, /MARKER|Ann|Bob/);
      t.regex(text, key === undefined ? /\*\*\*|\\\*\\\*\\\*/ : /p\\?-[\w\\-]{16,}/);
    }
  }
});

test('G53: personal values and credentials are not in the store', async (t) => {
  const [text = ''] = await textsOf(t, '0123456789abcdef', true);
  t.true(text.includes('GetOrderResult'));
  t.regex(text, /p-[\w-]{16}/);
  t.notRegex(text, /MARKER|Ann\b|Bob\b/);
});

test('G45: the same personal value has the same pseudonym in all findings', async (t) => {
  const [text = ''] = await textsOf(t, '0123456789abcdef');
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-private-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'state.json'), text);
  const names = readState(join(folder, 'state.json'))?.findings.filter(({ path }) =>
    path.endsWith('Customer.Name'),
  );
  const values = new Set(names?.flatMap(({ examples }) => examples.flatMap((one) => one.new ?? [])));
  t.is(values.size, 1);
});

/** A call of a contract whose session is in a header block or in Authorization. */
function callWith(session: string, place: 'block' | 'header', payload = '<t:id>1</t:id>') {
  const sign = place === 'block' ? `<t:Sign><t:session>${session}</t:session></t:Sign>` : '';
  return {
    path: '/shop/Orders.asmx',
    headers: {
      'Content-Type': 'text/xml',
      ...(place === 'block' ? {} : { Authorization: `Bearer ${session}` }),
    },
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:t="urn:t"><s:Header>${sign}</s:Header><s:Body><t:Get>${payload}</t:Get></s:Body></s:Envelope>`,
  };
}

const faultOf = (reason: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>${reason}</faultstring></s:Fault></s:Body></s:Envelope>`;

test('G45: a credential that a service repeats is not in the state file', async (t) => {
  const session = 'MARKER-0123456789';
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-private-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const contract = join(folder, 'contract');
  cpSync(join(import.meta.dirname, '../fixtures/kits/session'), contract, { recursive: true });
  appendFileSync(join(contract, 'soap.yaml'), 'operations:\n  Get: { readOnly: true }\n');
  for (const answer of ['legacy', 'new']) {
    const state = join(folder, `${answer}.json`);
    const site = await startSite(t, {
      contract,
      config: {
        legacy: '{legacy}',
        migration: { routes: [{ name: 'all', operations: ['Get'], mode: 'compare', answer }], state },
      },
    });
    let calls = 0;
    for (const place of ['block', 'header'] as const)
      for (const written of [
        session,
        `${session.slice(0, 6)}&#45;${session.slice(7)}`,
        `${'x'.repeat(246)}${session}`,
      ])
        for (const payload of ['<t:id>1</t:id>', '<t:unknown/>']) {
          const fault = {
            status: 500,
            headers: { 'content-type': 'text/xml' },
            body: faultOf(`no ${written}`),
          };
          site.legacy.answer = fault;
          site.upstream.answer = {
            status: 400,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ responseStatus: { errorCode: 'Bad', message: `unknown ${session}` } }),
          };
          await site.send(callWith(session, place, payload));
          t.is((await results(site, ++calls)).at(-1), 'different');
        }
    await site.running.stop(0);
    const text = readFileSync(state, 'utf8');
    t.true(text.includes('@fault.reason'));
    t.true(text.includes('unknown ***'));
    t.notRegex(text, /MARKER|0123456789/);
  }
});

test('G45: a secret of an Authorization header that the contract does not declare is not in the state file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-private-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state.json');
  const routes = [{ name: 'all', operations: ['GetOrder'], mode: 'compare' }];
  const site = await startSite(t, {
    contract: contractFolder('contracts/orders'),
    config: { legacy: '{legacy}', migration: { routes, state } },
  });
  site.legacy.answer = {
    status: 500,
    headers: { 'content-type': 'text/xml' },
    body: faultOf('wrong password PASSWORD-1'),
  };
  site.upstream.answer = { status: 404, headers: { 'content-type': 'application/json' }, body: '{}' };
  const Authorization = `Basic ${Buffer.from('ann:PASSWORD-1').toString('base64')}`;
  await site.send({ ...request, headers: { ...request.headers, Authorization } });
  t.deepEqual(await results(site, 1), ['different']);
  await site.running.stop(0);
  const text = readFileSync(state, 'utf8');
  t.true(text.includes('wrong password ***'));
  t.false(text.includes('PASSWORD-1'));
});
