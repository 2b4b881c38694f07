import { createHash } from 'node:crypto';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import {
  RelatedError,
  readRelatedType,
  splitRelated,
  takeParts,
} from '../../../mappings/http-mapping/related.ts';
import { DigestedPackage, digestedBytes, digestOf } from '../../../mappings/http-mapping/related-digests.ts';

const type = readRelatedType('multipart/related; boundary=b');
const root = '--b\r\nContent-Type: text/xml\r\n\r\n<a/>';

/** Returns a part with its boundary. */
function part(id: string, content: string, header = ''): string {
  return `\r\n--b\r\nContent-ID: <${id}>${header}\r\n\r\n${content}`;
}

/** Passes a message on in pieces of a size, and returns the result. */
function digested(message: string, size: number) {
  const kept: Buffer[] = [];
  let envelopeBytes = 0;
  const found = new DigestedPackage(type, defaultLimits, (bytes, isEnvelope) => {
    kept.push(Buffer.from(bytes));
    if (isEnvelope) envelopeBytes += bytes.length;
  });
  const bytes = Buffer.from(message, 'latin1');
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size));
    found.add(piece);
    piece.fill(0); // its owner releases it
  }
  found.end();
  return { bytes: Buffer.concat(kept), digests: [...found.digests], envelopeBytes };
}

/** Sizes of pieces: single bytes, some that divide boundaries, and the whole message. */
const sizes = [1, 2, 3, 7, 64, 1_000_000];

test('G27: a part of 1024 bytes is replaced by its digest, one of 1023 bytes is kept', (t) => {
  const [small, large] = ['s'.repeat(digestedBytes - 1), 'l'.repeat(digestedBytes)];
  const message = `${root}${part('1', small)}${part('2', large)}${part('3', '')}\r\n--b--\r\n`;
  const sha256 = createHash('sha256').update(large).digest('hex');
  for (const size of sizes) {
    const { bytes, digests, envelopeBytes } = digested(message, size);
    t.is(bytes.toString(), message.replace(large, ''), String(size));
    t.deepEqual(digests, [[1, `(SHA-256 ${sha256}, 1024 bytes)`]]);
    t.is(digests[0]?.[1], digestOf(Buffer.from(large)));
    t.is(envelopeBytes, '<a/>'.length);
    const { parts } = takeParts(bytes, splitRelated(bytes, type, defaultLimits));
    t.deepEqual(
      parts.map((one) => one.bytes.toString()),
      [small, '', ''],
    );
  }
});

test('G27: content that looks like a boundary, and a preamble, change no digest', (t) => {
  const content = `\r\n--\r\n-b\r\r\n${'\r\n-'.repeat(400)}\r\n`;
  for (const size of sizes) {
    const { digests } = digested(`before${'\r\n'}${root}${part('1', content)}\r\n--b--`, size);
    t.deepEqual(digests, [[0, digestOf(Buffer.from(content))]], String(size));
  }
});

test('G27: a part in base64 stays whole', (t) => {
  const content = 'QUJD\r\n'.repeat(1_000);
  const message = `${root}${part('1', content, '\r\nContent-Transfer-Encoding: base64')}\r\n--b--`;
  for (const size of sizes) {
    const { bytes, digests, envelopeBytes } = digested(message, size);
    t.is(bytes.toString(), message);
    t.deepEqual(digests, []);
    t.true(envelopeBytes > content.length);
  }
});

test('G27: a malformed message stays malformed', (t) => {
  const large = 'l'.repeat(digestedBytes);
  const most = defaultLimits.mimeParts - 1;
  const parts = (count: number): string =>
    Array.from({ length: count }, (_, index) => part(String(index), large)).join('');
  t.notThrows(() => {
    splitRelated(digested(`${root}${parts(most)}\r\n--b--`, 64).bytes, type, defaultLimits);
  });
  for (const message of [
    `${root}${part('1', large)}`,
    `${root}${part('1', large)}\r\n--bX\r\n\r\n${large}\r\n--b--`,
    `${root}${part('1', large, '\r\nno header')}\r\n--b--`,
    `${root}${part('1', large, `\r\nX: ${'x'.repeat(10_000)}`)}\r\n--b--`,
    `${root}${parts(most + 1)}\r\n--b--`,
    `${'x'.repeat(2_000)}\r\n${root}${part('1', large)}\r\n--b--`,
    large,
  ])
    for (const size of sizes)
      t.throws(
        () => splitRelated(digested(message, size).bytes, type, defaultLimits),
        { instanceOf: RelatedError },
        `${message.slice(-80)} in pieces of ${size}`,
      );
});

test('G27: parts after the maximum number count like the envelope', (t) => {
  const large = 'l'.repeat(2 * digestedBytes);
  const all = Array.from({ length: defaultLimits.mimeParts + 3 }, (_, index) => part(String(index), large));
  const { digests, envelopeBytes } = digested(`${root}${all.join('')}\r\n--b--`, 1_000);
  t.is(digests.length, defaultLimits.mimeParts);
  t.true(envelopeBytes > 3 * large.length);
});
