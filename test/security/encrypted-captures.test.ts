import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Gateway } from '../gateway/gateway.ts';
import { bodyOf, cases, folder } from './captures.ts';
import { encrypt } from './encrypt.ts';
import { encrypted, startEncrypted } from './encrypted.ts';
import { requestOf, sendAt } from './signed.ts';

// Encrypted requests of client stacks, byte for byte, and messages that attack the decryption.

const names = ['wide', 'transport', 'open', 'decrypt', 'decrypt-open', 'gcm', 'encryption'] as const;
const gateways = {} as Record<(typeof names)[number], Gateway>;
const ends: (() => unknown)[] = [];

test.before(async () => {
  for (const name of names)
    gateways[name] = await startEncrypted({ teardown: (end) => ends.push(end) }, name);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

function requestIn(file: string): Buffer {
  return readFileSync(join(folder, 'captures', `${file}.http`));
}

const isEncrypted = /<[\w]*:?(?:EncryptedKey|EncryptedData)[\s>]/;
const isOther = /<[\w]*:?Assertion[\s>]|^\r?\n?--/;

/** Encrypted captures that are neither multipart messages nor have assertions. */
const captures = Object.entries(cases.captures).filter(([file]) => {
  const text = bodyOf(requestIn(file)).toString('latin1');
  return isEncrypted.test(text) && !isOther.test(text);
});

for (const name of ['wide', 'transport', 'open'] as const)
  test.serial(`X23: each encrypted request has the result of its rules: ${name}`, async (t) => {
    let accepted = 0;
    for (const [file, one] of captures) {
      const expected = name === 'open' ? encrypted.open[file] : one[name];
      if (expected === undefined) continue;
      const { code, upstream } = await sendAt(gateways[name], requestIn(file), one.receivedAt);
      t.is(code, expected, file);
      t.deepEqual(upstream, expected === 'accepted' ? one.upstream : undefined, file);
      if (expected === 'accepted') accepted++;
    }
    t.true(accepted >= (name === 'open' ? 2 : 12), `${accepted}`);
  });

test.serial('X24: each attack on decryption has the result of its rules', async (t) => {
  t.is(Object.keys(encrypted.attacks).length, 8);
  for (const [file, one] of Object.entries(encrypted.attacks)) {
    const envelope = readFileSync(join(folder, 'attacks', file));
    const { code, upstream } = await sendAt(
      gateways[one.config],
      requestOf(envelope, one.contentType),
      one.clock,
    );
    t.is(code, one.expect, file);
    t.is(upstream, undefined, file);
  }
});

test.serial('X24: no attack on signatures succeeds if the contract decrypts', async (t) => {
  for (const [file, one] of Object.entries(cases.attacks)) {
    if (one.config === 'replay') continue;
    const envelope = readFileSync(join(folder, 'attacks', file));
    const request = requestOf(envelope, one.contentType);
    const usual = await sendAt(gateways.decrypt, request, one.clock);
    t.false(JSON.stringify(usual.upstream ?? '').includes('mallory'), file);
    if (one.config === 'default' && !one.expect.includes('accepted')) t.not(usual.code, 'accepted', file);
    const { upstream } = await sendAt(gateways.wide, request, one.clock);
    t.false(JSON.stringify(upstream ?? '').includes('mallory'), file);
  }
});

test.serial('X23, X26: an Assertion may be encrypted', async (t) => {
  const saml = 'saml: { issuers: { "urn:test:sts": sts.crt }, audience: "urn:soapbridge:screening" }, ';
  const gateway = await startEncrypted(t, 'wide', saml);
  const file = 'cxf3-saml2-holder-of-key-soap12';
  const text = bodyOf(requestIn(file)).toString();
  const assertion = /<saml2:Assertion.*<\/saml2:Assertion>/s.exec(text)?.[0] ?? '';
  const soap12 = 'application/soap+xml; charset=utf-8';
  const sendNow = (message: string) =>
    sendAt(gateway, requestOf(message, soap12), cases.captures[file]?.receivedAt ?? '');
  t.is((await sendNow(text)).code, 'accepted');
  for (const cipher of ['aes128-gcm', 'aes256-cbc']) {
    const encryptedWith = (content: string): string => {
      const { data, key } = encrypt(content, { cipher, type: 'Element' });
      return text.replace(assertion, () => data).replace(/<wsse:Security [^>]*>/, (tag) => tag + key);
    };
    const { code, upstream, reply } = await sendNow(encryptedWith(assertion));
    // the Signature of the message does not cover the Assertion, and AES-CBC needs one that does
    t.is(code, cipher.endsWith('gcm') ? 'accepted' : 'wsse:FailedCheck', reply);
    t.is(upstream === undefined, cipher.endsWith('cbc'));
    const other = await sendNow(encryptedWith(assertion.replace('alice', 'mary')));
    t.not(other.code, 'accepted');
    t.is(other.upstream, undefined);
  }
});
