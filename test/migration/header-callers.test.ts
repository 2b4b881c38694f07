import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { type Site, startSite } from './scenario.ts';

// Callers that a declared header block identifies (A8).

const contract = join(import.meta.dirname, '../fixtures/kits/session');
const path = '/shop/Orders.asmx';

async function start(t: ExecutionContext, when: object): Promise<Site> {
  const routes = [{ name: 'r', mode: 'new', when }];
  const site = await startSite(t, { contract, config: { legacy: '{legacy}', migration: { routes } } });
  site.legacy.answer = { status: 200, body: 'legacy' };
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"r":"1"}' };
  return site;
}

function envelope(session: string | undefined, padding: number): string {
  const sign = session === undefined ? '' : `<t:Sign><t:session>${session}</t:session></t:Sign>`;
  const header = `<s:Header>${sign}</s:Header>`;
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:t="urn:t">${header}<s:Body><t:Get>${' '.repeat(padding)}<t:id>1</t:id></t:Get></s:Body></s:Envelope>`;
}

test('G7, G9: a session in a header block selects callers as the HTTP header does', async (t) => {
  const site = await start(t, { percent: 50 });
  const lineOf = async (headers: Record<string, string>, body: string, to = path) => {
    await site.send({ path: to, headers, body });
    const { mode, caller } = site.log().findLast(({ ms }) => ms !== undefined) ?? {};
    return `${mode} ${caller}`;
  };
  const xml = { 'Content-Type': 'text/xml' };
  const json = { 'Content-Type': 'application/json' };
  const lines = new Set<string>();
  for (let index = 0; index < 12; index++) {
    const session = `session-${index}`;
    const byHeader = await lineOf({ ...xml, Authorization: `Bearer ${session}` }, envelope(undefined, 0));
    for (const padding of [0, 200_000])
      t.is(await lineOf(xml, envelope(session, padding)), byHeader, `${session} ${padding}`);
    const members = JSON.stringify({ '@headers': { Sign: { session } }, id: '1' });
    t.is(await lineOf(json, members, '/json/reply/Get'), byHeader);
    lines.add(byHeader);
  }
  const modes = new Set([...lines].map((line) => line.split(' ')[0]));
  t.deepEqual([...modes].toSorted(), ['legacy', 'new']);
  t.is(lines.size, 12, 'each session is another caller');
});

test('G8: a credential of a header block is not a value of the JSON', async (t) => {
  const error = await t.throwsAsync(start(t, { value: { '@headers.Sign.session': 'present' } }), {
    instanceOf: ContractError,
  });
  t.deepEqual(
    error?.problems.map(({ message }) => message),
    ['expected a path in the request of Get, got @headers.Sign.session'],
  );
});
