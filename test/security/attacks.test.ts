import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Gateway } from '../gateway/gateway.ts';
import { type Attack, cases, folder } from './captures.ts';
import { type Outcome, requestOf, sendAt, startSigned } from './signed.ts';

// Messages that attack the receiver: moved and copied elements, weak algorithms, unsuitable certificates, floods.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];

test.before(async () => {
  for (const name of ['default', 'wide', 'body', 'replay'])
    gateways[name] = await startSigned({ teardown: (end) => ends.push(end) }, name);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

function attack(name: string, file: string, one: Attack | undefined): Promise<Outcome> {
  const gateway = gateways[name];
  if (gateway === undefined || one === undefined) throw new RangeError(file);
  const envelope = readFileSync(join(folder, 'attacks', file));
  return sendAt(gateway, requestOf(envelope, one.contentType), one.clock);
}

/** Results whose description is not a code: messages that are not well-formed, and two Bodies of different versions. */
const clientFaults: ReadonlySet<string> = new Set([
  'sig-14-pi-in-body.xml',
  'sig-17-doctype-entity.xml',
  'xsw-14-body-of-other-soap-namespace.xml',
]);

test.serial('X4 to X18: each attack has the result of its rules', async (t) => {
  t.true(Object.keys(cases.attacks).length > 50);
  for (const [file, one] of Object.entries(cases.attacks)) {
    if (one.config === 'replay') continue;
    const { code, upstream } = await attack(one.config, file, one);
    if (clientFaults.has(file)) t.regex(code, /^s:(?:Client|Sender)$/, file);
    else
      t.true(
        one.expect.split(' or ').some((part) => part.trim().startsWith(code)),
        `${file}: ${code}`,
      );
    if (code !== 'accepted') t.is(upstream, undefined, file);
    t.false(JSON.stringify(upstream ?? '').includes('mallory'), file);
  }
});

test.serial('X9, X11: no attack succeeds with the widest settings', async (t) => {
  for (const [file, one] of Object.entries(cases.attacks)) {
    if (one.config === 'replay') continue;
    const { code, upstream } = await attack('wide', file, one);
    t.false(JSON.stringify(upstream ?? '').includes('mallory'), file);
    if (['wrapping', 'signature', 'certificate'].includes(one.class) && code === 'accepted')
      t.true(one.expect.includes('accepted') || lacksTimestamp.has(file), file);
  }
});

/** Attacks that are only refused because no signed Timestamp is there. */
const lacksTimestamp: ReadonlySet<string> = new Set([
  'xsw-16-usernametoken-moved.xml',
  'xsw-18-body-and-timestamp-signed-separately.xml',
]);

test.serial('X17: a message is recognized by the key of its signer and its SignedInfo', async (t) => {
  const send = async (file: string): Promise<string> =>
    (await attack('replay', file, cases.attacks[file])).code;
  t.is(await send('time-01-replayed.xml'), 'accepted');
  t.is(await send('time-01-replayed.xml'), 'wsse:FailedAuthentication');
  t.is(await send('time-06-renewed-certificate.xml'), 'wsse:FailedAuthentication');
  t.is(await send('time-04-ecdsa-first.xml'), 'accepted');
  t.is(await send('time-05-ecdsa-twin.xml'), 'wsse:FailedAuthentication');
});
