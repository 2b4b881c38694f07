import { constants, createDecipheriv, createPrivateKey, type DecipherGCM, privateDecrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Gateway } from '../gateway/gateway.ts';
import { folder } from './captures.ts';
import { type Encryption, encryptedThenSigned, signedThenEncrypted } from './encrypt.ts';
import { startEncrypted } from './encrypted.ts';
import { signed, usualPayload } from './sign.ts';
import { requestOf, sendAt } from './signed.ts';
import { verifyReply } from './verify-reply.ts';

// Replies encrypted for the signer of the request, decrypted with OpenSSL.

const gateways = {} as Record<'decrypt' | 'open' | 'unsigned', Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:01:00Z';
const alice = createPrivateKey(readFileSync(join(folder, 'keys/alice.key')));
const pair = 'sign: { key: gateway.key, certificate: gateway.crt }, ';

test.before(async () => {
  const teardown = (end: () => unknown) => ends.push(end);
  gateways.decrypt = await startEncrypted({ teardown }, 'decrypt', pair);
  gateways.open = await startEncrypted({ teardown }, 'open', pair);
  gateways.unsigned = await startEncrypted({ teardown }, 'decrypt');
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

async function replyTo(gateway: Gateway, message: string, type = 'text/xml; charset=utf-8'): Promise<string> {
  return (await sendAt(gateway, requestOf(message, type), time)).reply;
}

/** Replaces the EncryptedData in a reply by its plaintext. Throws an Error for a reply without one. */
function decrypted(reply: string): { readonly text: string; readonly algorithm: string } {
  const values = [...reply.matchAll(/<x:CipherValue>([^<]*)/g)].map(([, text = '']) =>
    Buffer.from(text, 'base64'),
  );
  const [wrapped, data] = values;
  const [whole, algorithm] =
    /<x:EncryptedData .*?Algorithm="[^"]*#([^"]*)".*<\/x:EncryptedData>/.exec(reply) ?? [];
  if (wrapped === undefined || data === undefined || whole === undefined || algorithm === undefined)
    throw new Error(`expected an encrypted reply: ${reply}`);
  const key = privateDecrypt(
    { key: alice, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
    wrapped,
  );
  const id = algorithm.replace(/aes(\d+)/, 'aes-$1');
  const isCbc = algorithm.endsWith('cbc');
  const start = isCbc ? 16 : 12;
  const decipher = createDecipheriv(id, key, data.subarray(0, start));
  if (!isCbc) (decipher as DecipherGCM).setAuthTag(data.subarray(-16));
  const content = decipher.update(data.subarray(start, isCbc ? undefined : -16), undefined, 'utf8');
  return { text: reply.replace(whole, () => content + decipher.final('utf8')), algorithm };
}

const block = ['Timestamp', 'BinarySecurityToken', 'EncryptedKey', 'Signature'];

for (const cipher of ['aes128-gcm', 'aes256-gcm', 'aes192-cbc', 'aes256-cbc'])
  test.serial(
    `X32: the reply to an encrypted request is signed, then encrypted with ${cipher}`,
    async (t) => {
      for (const message of [
        signedThenEncrypted({ cipher }),
        encryptedThenSigned(usualPayload, { cipher }),
      ]) {
        const reply = await replyTo(gateways.decrypt, message);
        t.false(reply.includes('GetEulaStatusResponse'));
        const { text, algorithm } = decrypted(reply);
        t.is(algorithm, cipher);
        t.regex(text, /<s:Body[^>]*><GetEulaStatusResponse/);
        const verified = verifyReply(text);
        t.deepEqual(verified.block, block);
        t.deepEqual(verified.covered, ['Body', 'Timestamp']);
        t.true(text.includes('<d:X509IssuerName>O=lab,CN=soapbridge test issuing CA</d:X509IssuerName>'));
      }
    },
  );

test.serial('X32: a reply is encrypted in SOAP 1.2 too', async (t) => {
  const soap = 'http://www.w3.org/2003/05/soap-envelope';
  const type = 'application/soap+xml; charset=utf-8';
  const { text } = decrypted(await replyTo(gateways.decrypt, signedThenEncrypted({}, { soap }), type));
  t.deepEqual(verifyReply(text).block, block);
});

test.serial('X32: the reply to a request without encryption is only signed', async (t) => {
  const reply = await replyTo(gateways.decrypt, signed());
  t.deepEqual(verifyReply(reply).block, ['Timestamp', 'BinarySecurityToken', 'Signature']);
});

test.serial('X32: the reply to an encrypted request without a signer is not encrypted', async (t) => {
  const message = signedThenEncrypted().replace(/<Signature .*<\/Signature>/, '');
  t.regex(await replyTo(gateways.open, message), /<GetEulaStatusResponse/);
});

test.serial('X30: without `sign`, replies are neither signed nor encrypted', async (t) => {
  t.regex(await replyTo(gateways.unsigned, signedThenEncrypted()), /<GetEulaStatusResponse/);
});

/** The fault without its times, request id, ciphertext and signature. */
function shapeOf(reply: string): string {
  return reply
    .replace(/>[A-Za-z0-9+/=]{24,}</g, '><')
    .replace(/\(request [^)]*\)/, '')
    .replace(/<u:(Created|Expires)>[^<]*/g, '');
}

const failures: readonly Encryption[] = [
  { damageKey: (bytes) => Buffer.alloc(bytes.length, 1) },
  { damage: (bytes) => Buffer.alloc(bytes.length, 1) },
  { damage: (bytes) => bytes.subarray(0, 5) },
];

test.serial(
  'X24, X32: the fault of a failed decryption is encrypted, and does not depend on the failure',
  async (t) => {
    for (const cipher of ['aes128-gcm', 'aes128-cbc']) {
      const replies: string[] = [];
      for (const one of failures)
        replies.push(await replyTo(gateways.decrypt, signedThenEncrypted({ cipher, ...one })));
      replies.push(
        await replyTo(
          gateways.decrypt,
          signedThenEncrypted({ cipher }, {}, usualPayload.replace('jane', 'mary')),
        ),
      );
      const texts = replies.map((reply) => decrypted(reply).text);
      for (const text of texts) {
        t.true(text.includes('the signature or the encryption is invalid'));
        t.deepEqual(verifyReply(text).covered, ['Body', 'Timestamp']);
      }
      t.is(new Set(texts.map(shapeOf)).size, 1);
      t.is(new Set(replies.map((reply) => shapeOf(reply).length)).size, 1);
    }
  },
);

/** Encrypts the Signature of a message. */
function hiddenSignature(options: Encryption, message: string): string {
  const signature = /<Signature .*<\/Signature>/.exec(message)?.[0] ?? '';
  const element = signedThenEncrypted({ type: 'Element', ...options }, {}, signature);
  const data = /<x:EncryptedData.*<\/x:EncryptedData>/.exec(element)?.[0] ?? '';
  const key = /<x:EncryptedKey.*<\/x:EncryptedKey>/.exec(element)?.[0] ?? '';
  return message.replace(signature, () => data).replace(/<o:Security [^>]*>/, (tag) => tag + key);
}

test.serial(
  'X24, X32: if the Signature is encrypted, a fault does not depend on its decryption',
  async (t) => {
    for (const cipher of ['aes128-gcm', 'aes128-cbc']) {
      const good = await replyTo(gateways.decrypt, hiddenSignature({ cipher }, signed()));
      t.regex(decrypted(good).text, /<GetEulaStatusResponse/);
      const bad = [
        hiddenSignature({ cipher }, signed().replace('>jane<', '>mary<')),
        hiddenSignature({ cipher, damage: (bytes) => Buffer.alloc(bytes.length, 1) }, signed()),
        hiddenSignature({ cipher, damageKey: (bytes) => Buffer.alloc(bytes.length, 1) }, signed()),
      ];
      const replies: string[] = [];
      for (const message of bad) replies.push(await replyTo(gateways.decrypt, message));
      for (const reply of replies) {
        t.true(reply.includes('the signature or the encryption is invalid'), reply);
        t.deepEqual(verifyReply(reply).block, ['Timestamp', 'BinarySecurityToken', 'Signature']);
      }
      t.is(new Set(replies.map(shapeOf)).size, 1);
    }
  },
);
