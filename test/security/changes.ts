import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHead } from '../../gateway/call/head.ts';
import { compileReaders, readSoapCall } from '../../gateway/protocols/read-call.ts';
import { Fault } from '../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../mappings/compile.ts';
import type { Wsse } from '../../mappings/contract/credentials.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { canonicalize } from '../../mappings/security/canonical.ts';
import { readTree, type TreeElement } from '../../mappings/security/tree.ts';
import { bodyOf, cases, folder } from './captures.ts';
import { encryptedThenSigned, signedThenEncrypted } from './encrypt.ts';
import { signed, usualPayload } from './sign.ts';

// Signed and encrypted messages, and changes that move, copy, rename and re-identify their elements.

/** Returns the inputs of a message; undefined for a refused one. */
export type InputOf = (envelope: string) => string | undefined;

/** Returns the bytes of a certificate of the cases in base64. */
function certificateOf(name: string): string {
  return new X509Certificate(readFileSync(join(folder, 'keys', name))).raw.toString('base64');
}

const wsse: Wsse = {
  username: 'apiUserId',
  password: 'apiUserKey',
  digest: 'refuse',
  timestamp: 'required',
  unverified: [],
  x509: {
    cas: ['issuing.crt', 'root.crt'].map(certificateOf),
    certificates: [certificateOf('alice.crt')],
    crls: [],
    require: ['body', 'timestamp'],
    credential: undefined,
    sha1: true,
    replay: 'allow',
    files: [],
  },
  decrypt: {
    keys: [
      {
        key: createPrivateKey(readFileSync(join(folder, 'keys/gateway.key')))
          .export({ type: 'pkcs8', format: 'der' })
          .toString('base64'),
        certificates: [certificateOf('gateway.crt')],
        files: [],
      },
    ],
    cbc: true,
  },
};

/** Returns a reader of messages that verifies and decrypts them. */
export function openReader(limits: Partial<Limits> = {}): InputOf {
  const contract = { ...readContract(screeningContract).contract, wsse };
  const compiled = compileContract(contract, { ...defaultLimits, ...limits });
  const readers = compileReaders(compiled, Number.POSITIVE_INFINITY);
  const head = readHead({ headers: { 'content-type': 'text/xml; charset=utf-8' }, rawHeaders: [] });
  const address = { version: soap11, endpoint: undefined };
  return (envelope) => {
    try {
      const body = Buffer.from(envelope);
      // keys count as reserved, so that AES-CBC is decrypted
      return readSoapCall(readers, head, address, body, undefined, true).input.text.toString();
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };
}

/** Messages that are accepted at a time, without XML declarations and comments. */
export const sources: readonly { readonly text: string; readonly time: string }[] = [
  ...[signed(), signedThenEncrypted(), encryptedThenSigned(usualPayload, { cipher: 'aes128-cbc' })].map(
    (envelope) => ({ envelope, time: '2026-11-27T18:00:00Z' }),
  ),
  ...Object.entries(cases.captures).flatMap(([file, one]) => {
    const envelope = bodyOf(readFileSync(join(folder, 'captures', `${file}.http`))).toString();
    const isEncrypted = envelope.includes('EncryptedKey') && !envelope.includes('Assertion');
    const isAccepted = one.default === 'accepted' || (isEncrypted && one.wide === 'accepted');
    if (!isAccepted || envelope.startsWith('--') || envelope.startsWith('\r')) return [];
    return [{ envelope, time: one.receivedAt }];
  }),
].map(({ envelope, time }) => {
  const tree = readTree(envelope, defaultLimits);
  const form = { kind: 'inclusive', prefixes: new Set<string>() } as const;
  return { text: canonicalize(tree, tree.root, form, { left: 1e7 }), time };
});

/** A change of a message. The numbers select elements and places. */
export interface Change {
  readonly kind: (typeof changeKinds)[number];
  readonly what: number;
  readonly to: number;
  readonly place: number;
}

function all(element: TreeElement): TreeElement[] {
  return [element, ...element.children.flatMap(all)];
}

/** Offsets of an element in its document. */
function rangeOf(text: string, { start, end }: TreeElement): readonly [from: number, to: number] {
  return [text.lastIndexOf('<', start - 2), Math.max(end, start)];
}

/** Names of the changes. */
export const changeKinds = [
  'move',
  'copy',
  'wrap',
  'remove',
  'rename',
  'identify',
  'replace',
  'cut',
] as const;

/** Changes a document once. The document has all declarations on each element, so that a moved one stays well-formed. */
export function changed(text: string, { kind, what, to, place }: Change): string {
  const elements = all(readTree(text, defaultLimits).root);
  const element = elements[what % elements.length];
  const target = elements[to % elements.length];
  if (element?.parent === undefined || target === undefined) return text;
  const [from, end] = rangeOf(text, element);
  const piece = text.slice(from, end);
  const insert = place % 2 === 0 ? target.start : rangeOf(text, target)[place % 3 === 0 ? 0 : 1];
  switch (kind) {
    case 'remove':
      return text.slice(0, from) + text.slice(end);
    case 'wrap':
      return `${text.slice(0, from)}<w>${piece}</w>${text.slice(end)}`;
    case 'rename':
      return text.slice(0, from) + piece.replaceAll(element.local, target.local) + text.slice(end);
    case 'identify': {
      const ids = [...text.matchAll(/Id="([^"]*)"/g)].map(([, id]) => id);
      const id = ids[place % Math.max(1, ids.length)] ?? 'x';
      return `${text.slice(0, element.start - 1)} Id="${id}">${text.slice(element.start)}`;
    }
    case 'replace':
      return (
        text.slice(0, from) +
        piece.replaceAll('jane', 'mallory').replaceAll('demo', 'admin') +
        text.slice(end)
      );
    case 'cut': {
      // text of an element without children, such as a ciphertext
      const last = text.lastIndexOf('</', end - 1);
      const most = element.children.length === 0 ? last - element.start : 0;
      const count = Math.min(most, place % 3 === 0 ? 1 : 4 * place);
      return text.slice(0, last - count) + text.slice(last);
    }
    case 'copy':
      return (
        text.slice(0, insert) +
        piece.replaceAll(place % 5 === 0 ? 'jane' : '\0', 'mallory') +
        text.slice(insert)
      );
    case 'move':
      if (insert > from && insert < end) return text;
      return insert <= from
        ? text.slice(0, insert) + piece + text.slice(insert, from) + text.slice(end)
        : text.slice(0, from) + text.slice(end, insert) + piece + text.slice(insert);
  }
}
