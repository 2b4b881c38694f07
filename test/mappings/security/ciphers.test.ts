import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  dataCiphers,
  decryptData,
  encryptData,
  type KeyTransport,
  unwrapKey,
  wrapKey,
} from '../../../mappings/security/ciphers.ts';
import { folder } from '../../security/captures.ts';

const key = createPrivateKey(readFileSync(join(folder, 'keys/gateway.key')));
const plain = '0123456789abcdef';
const none = Buffer.alloc(0);

/** Keys that OpenSSL encrypted: the hash of RSA-OAEP, the hash of MGF1, and the value. The last one has a label. */
const lines = readFileSync(join(folder, 'oaep/keys.txt'), 'utf8').trim().split('\n');

test('X42: keys are decrypted with each hash of OAEP and of MGF1', (t) => {
  const rows = lines.filter((line) => !line.startsWith('label'));
  t.is(rows.length, 16);
  for (const row of rows) {
    const [hash, mask, base64 = ''] = row.split(' ');
    const transport = { hash, mask, label: none } as KeyTransport;
    t.is(unwrapKey(Buffer.from(base64, 'base64'), key, transport)?.toString(), plain, row);
    const other = { ...transport, mask: mask === 'sha1' ? 'sha256' : 'sha1' } as const;
    t.is(unwrapKey(Buffer.from(base64, 'base64'), key, other), undefined);
  }
});

test('X23: the label of OAEP must be that of the sender', (t) => {
  const wrapped = Buffer.from(lines.at(-1)?.split(' ')[1] ?? '', 'base64');
  const transport = { hash: 'sha256', mask: 'sha1' } as const;
  t.is(unwrapKey(wrapped, key, { ...transport, label: Buffer.from('label') })?.toString(), plain);
  t.is(unwrapKey(wrapped, key, { ...transport, label: none }), undefined);
});

test('X24: a changed key, and a number above the modulus, are no key', (t) => {
  const transport: KeyTransport = { hash: 'sha1', mask: 'sha1', label: none };
  const wrapped = wrapKey(Buffer.from(plain), createPublicKey(key));
  t.is(unwrapKey(wrapped, key, transport)?.toString(), plain);
  for (let at = 0; at < wrapped.length; at += 51) {
    const changed = Buffer.from(wrapped);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.is(unwrapKey(changed, key, transport), undefined);
  }
  t.is(unwrapKey(Buffer.alloc(wrapped.length, 0xff), key, transport), undefined);
  t.is(unwrapKey(Buffer.alloc(wrapped.length), key, transport), undefined);
});

for (const cipher of dataCiphers.values()) {
  test(`X9: ${cipher.name} decrypts data of each length`, (t) => {
    for (let length = 0; length < 40; length++) {
      const text = 'x'.repeat(length);
      const { key: session, data } = encryptData(cipher, text);
      t.is(decryptData(cipher, session, data)?.toString(), text);
    }
  });

  test(`X24: ${cipher.name} gives nothing for cut data`, (t) => {
    const { key: session, data } = encryptData(cipher, 'x'.repeat(20));
    for (let length = 0; length < data.length; length++) {
      const cut = decryptData(cipher, session, data.subarray(0, length));
      // a CBC text may end with any whole block whose last byte is a padding
      if (!cipher.isCbc) t.is(cut, undefined);
      else if (length % 16 !== 0 || length < 32) t.is(cut, undefined);
      else t.true(cut === undefined || cut.length < 20);
    }
    t.is(decryptData(cipher, randomBytes(cipher.keyBytes), Buffer.alloc(31)), undefined);
  });
}

test('X24: only the last byte of a CBC padding is checked, from 1 to 16', (t) => {
  const cipher = [...dataCiphers.values()].find(({ name }) => name === 'aes128-cbc');
  if (cipher === undefined) throw new RangeError('no aes128-cbc');
  const { key: session, data } = encryptData(cipher, 'x'.repeat(15));
  const results = Array.from({ length: 256 }, (_, byte) => {
    const changed = Buffer.from(data);
    changed[15] = (data[15] ?? 0) ^ 1 ^ byte; // the plaintext's last byte becomes `byte`
    return decryptData(cipher, session, changed)?.length;
  });
  for (const [byte, length] of results.entries())
    t.is(length, byte >= 1 && byte <= 16 ? 16 - byte : undefined);
});
