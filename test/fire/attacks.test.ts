import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SaxesParser } from 'saxes';
import { elementText, emptyReply, type Reply, sharedGateway, statusOf } from '../gateway/gateway.ts';
import { type Attack, attacks, bodyOf, headersOf, textOf } from './attacks.ts';

// Each file in attacks/ is a class of attacks, named by its number in docs/security.md. Each input is sent over a
// separate socket. The response, the upstream requests and the state of the process are checked.

let trapped = 0;
const trap = createServer((socket) => {
  trapped++;
  socket.destroy();
});
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
const gateway = await sharedGateway();
const scratch = mkdtempSync(join(tmpdir(), 'attacks-'));
const file = join(scratch, 'secret.txt');
writeFileSync(file, 'canary-file');
test.after.always(() => {
  trap.close();
  rmSync(scratch, { recursive: true });
});

const names = { file, trap: String((trap.address() as AddressInfo).port) };

const isSoap = (address: string): boolean => address.startsWith('/soap');

/** Checks an error of a known operation: in-band on the SOAP endpoints, otherwise by HTTP status (W26). */
function isInBand(
  t: ExecutionContext,
  { address }: Attack,
  reply: Reply,
  status: number,
  code: string,
): void {
  t.is(reply.status, isSoap(address) ? 200 : status, reply.text.slice(0, 500));
  t.is(reply.headers['x-status'], isSoap(address) && status >= 400 ? String(status) : undefined);
  const told = reply.text.startsWith('{')
    ? statusOf(reply.text).errorCode
    : elementText(reply.text, 'ErrorCode');
  t.is(told, code, reply.text.slice(0, 500));
}

/** Checks a SOAP fault and its code (W27). */
function isFault(t: ExecutionContext, reply: Reply, code: string): void {
  t.is(reply.status, 500, reply.text.slice(0, 500));
  const told = elementText(reply.text, 'faultcode') ?? elementText(reply.text, 'Value') ?? '';
  if (code === 'any') t.not(told, '');
  else if (code === 'sender') t.true(told === 's:Client' || told === 's:Sender', reply.text);
  else if (code === 'UnsupportedSecurityToken') t.true(reply.text.includes(`>w:${code}<`), reply.text);
  else t.is(told, `s:${code}`, reply.text);
}

function isAnswered(t: ExecutionContext, attack: Attack, reply: Reply): void {
  const { answer, address, code = 'sender' } = attack;
  switch (answer) {
    case 'ok':
      t.is(reply.status, 200, reply.text.slice(0, 500));
      t.is(reply.headers['x-status'], undefined, reply.text.slice(0, 500));
      break;
    case 'fault':
      isFault(t, reply, code);
      break;
    case 'malformed':
      if (isSoap(address)) isFault(t, reply, code);
      else isInBand(t, attack, reply, 400, 'MalformedRequest');
      break;
    case 'invalid':
      isInBand(t, attack, reply, 400, 'ValidationError');
      break;
    case 'jsonp':
      t.is(reply.status, 200);
      t.regex(reply.text, /^\/\*\*\/ok\(\{.*\}\);$/);
      t.is(reply.headers['content-type'], 'text/javascript; charset=utf-8');
      t.is(reply.headers['x-content-type-options'], 'nosniff');
      break;
    default: {
      const [status = '', errorCode] = String(answer).split(' ');
      if (errorCode === undefined) t.is(reply.status, Number(status), reply.text.slice(0, 500));
      else isInBand(t, attack, reply, Number(status), errorCode);
    }
  }
}

/** Checks with an independent reader that a reply is well-formed, and returns the text of its Name. */
function nameIn(xml: string): string | undefined {
  const parser = new SaxesParser({ xmlns: true });
  let inName = false;
  let name: string | undefined;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    inName = tag.local === 'Name';
    if (inName) name = '';
  });
  parser.on('text', (text) => {
    if (inName) name = (name ?? '') + text;
  });
  parser.on('closetag', () => {
    inName = false;
  });
  parser.write(xml).close();
  return name;
}

async function attackWith(t: ExecutionContext, attack: Attack): Promise<void> {
  const { name, method = 'POST', answer } = attack;
  const given =
    name === undefined
      ? attack.reply
      : { body: JSON.stringify({ data: { responseStatus: {}, subUser: { name } } }) };
  gateway.answer(given ?? { body: emptyReply });
  const path = attack.path === undefined ? '' : textOf(attack.path, names);
  const query = attack.query === undefined ? '' : `?${textOf(attack.query, names)}`;
  const address = textOf(attack.address, names) + path + query;
  const before = gateway.hits.length;
  const reply = await gateway.send(method, address, headersOf(attack), bodyOf(attack, names));
  isAnswered(t, attack, reply);
  // only good requests, and those with a planned upstream response, reach the upstream
  t.is(gateway.hits.length - before, answer === 'ok' || given !== undefined ? 1 : 0);
  const all = `${JSON.stringify(reply.headers)}\n${reply.text}`;
  if (attack.says !== undefined) t.regex(reply.text, new RegExp(attack.says));
  if (attack.never !== undefined) t.notRegex(all, new RegExp(attack.never));
  if (attack.neverHeaders !== undefined)
    t.notRegex(Object.keys(reply.headers).join(), new RegExp(attack.neverHeaders));
  if (attack.sent !== undefined) t.true(gateway.hits.at(-1)?.body.includes(attack.sent));
  if (attack.noStore) t.is(reply.headers['cache-control'], 'no-store');
  const read = attack.read ?? name;
  if (read !== undefined) t.is(nameIn(reply.text), read);
  else if (reply.text.startsWith('<?xml')) nameIn(reply.text);
  t.false(all.includes('canary'), all);
  t.is(({} as { polluted?: unknown }).polluted, undefined);
}

for (const [group, inputs] of attacks) {
  for (const attack of inputs) {
    test.serial(`${group}: ${attack.title}`, (t) => attackWith(t, attack));
  }
}

test.serial('there are at least three hundred inputs', (t) => {
  t.true([...attacks.values()].flat().length >= 300);
});

test.serial(
  'after all attacks no connection is open, nothing leaked and the process is healthy',
  async (t) => {
    t.is(trapped, 0);
    gateway.answer({ body: emptyReply });
    const good = { 'X-Api-User': 'u', 'X-Api-Key': 'k' };
    t.is((await gateway.send('POST', '/json/reply/GetSearch', good, '{}')).status, 200);
    const log = gateway.log();
    t.false(log.includes('canary'));
    t.false(log.includes('internal error'), log.slice(log.indexOf('internal error') - 300));
    for (const line of log.trimEnd().split('\n')) t.notThrows(() => JSON.parse(line), line);
    const { inFlight, queued, heldBytes } = gateway.running.load();
    t.deepEqual({ inFlight, queued, heldBytes }, { inFlight: 0, queued: 0, heldBytes: 0 });
  },
);
