import { constants, createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import type { ReplySigning } from '../contract/credentials.ts';
import { defaultLimits, type Limits } from '../contract/limits.ts';
import { type CanonicalForm, canonicalize } from './canonical.ts';
import { encryptContent, type ReplyEncryption } from './encrypt.ts';
import { curveBytes } from './key-size.ts';
import { digestMethods, names, type SignatureMethod, signatureMethods, valueTypes } from './names.ts';
import { readTree, type Tree, type TreeElement } from './tree.ts';

/** Data of a request's Signatures for its reply (X31, X33). It is plain data, because a worker thread may read a request. */
export interface AnsweredSignatures {
  /** Name of the first SignatureMethod, and hash of its first digest; undefined if they were not read. */
  readonly method: string | undefined;
  readonly digest: SignatureMethod['hash'] | undefined;
  /** The SignatureValue of each verified Signature in base64. */
  readonly values: readonly string[];
  /** Undefined for a reply that is not encrypted (X32). */
  readonly encryption?: ReplyEncryption | undefined;
}

/** Names of the signed elements of a reply. */
export const replyIds = { timestamp: '_0', token: '_1', body: '_2', confirmation: '_3' } as const;

const exclusive: CanonicalForm = { kind: 'exclusive', prefixes: new Set() };

/** The limits of requests do not apply to replies of the gateway. */
const unlimited: Limits = {
  ...defaultLimits,
  xmlDepth: Number.MAX_SAFE_INTEGER,
  xmlElements: Number.MAX_SAFE_INTEGER,
  xmlText: Number.MAX_SAFE_INTEGER,
  xmlChildren: Number.MAX_SAFE_INTEGER,
  xmlAttributes: Number.MAX_SAFE_INTEGER,
  xmlAllAttributes: Number.MAX_SAFE_INTEGER,
  xmlAttributeValue: Number.MAX_SAFE_INTEGER,
  xmlName: Number.MAX_SAFE_INTEGER,
  xmlNamespace: Number.MAX_SAFE_INTEGER,
};

/** URI of a method by its name. */
const methodUris = new Map([...signatureMethods].map(([uri, method]) => [method.name, { uri, method }]));
const digestUris = new Map([...digestMethods].map(([uri, name]) => [name, uri]));

/** Algorithms of a Signature. */
interface Algorithms {
  readonly uri: string;
  readonly method: SignatureMethod;
  readonly digest: SignatureMethod['hash'];
}

/** Signs the replies of a contract with one key (X31). */
export class ReplySigner {
  readonly #key: KeyObject;
  readonly #token: string;
  readonly #confirmation: boolean;
  readonly #usual: Algorithms;

  constructor({ key, certificates, confirmation }: ReplySigning) {
    this.#key = createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' });
    this.#confirmation = confirmation;
    this.#token = `<o:BinarySecurityToken xmlns:u="${names.wsu}" EncodingType="${valueTypes.base64}" ValueType="${valueTypes.certificate}" u:Id="${replyIds.token}">${certificates[0]}</o:BinarySecurityToken>`;
    const size = curveBytes(this.#key);
    const name = size === undefined ? 'rsa-sha256' : `ecdsa-sha${size === 66 ? 512 : size * 8}`;
    const usual = methodUris.get(name);
    if (usual === undefined) throw new RangeError(`no signature method for the key: ${name}`);
    this.#usual = { ...usual, digest: 'sha256' };
  }

  /**
   * Signs Body and Timestamp of an envelope. The last block of its Header is Security with only a Timestamp, and Body has
   * the Id of `replyIds`. The octets are those of the text, and only elements of Security are added to it.
   *
   * @param parts base64 of the parts that `xop:Include` elements replace, in their order
   */
  sign(envelope: string, answered: AnsweredSignatures, parts: readonly Buffer[] = []): string {
    const tree = readTree(envelope, unlimited, { acceptsIllegalReferences: true });
    const { timestamp, body, end } = partsOf(tree);
    if (parts.length > 0) replaceIncludes(body, parts);
    const octetsOf = (element: TreeElement): string =>
      canonicalize(tree, element, exclusive, { left: Number.MAX_SAFE_INTEGER });
    const confirmations = this.#confirmation ? confirmationsOf(answered.values) : [];
    const { uri, method, digest } = this.#algorithmsFor(answered);
    const references = [
      [replyIds.body, octetsOf(body)],
      [replyIds.timestamp, octetsOf(timestamp)],
      ...confirmations,
    ].map(([id = '', octets = '']) => referenceTo(id, digest, hash(digest, octets, 'base64')));
    const info = `<CanonicalizationMethod Algorithm="${names.exclusive}"></CanonicalizationMethod><SignatureMethod Algorithm="${uri}"></SignatureMethod>${references.join('')}</SignedInfo>`;
    const value = this.#valueOf(`<SignedInfo xmlns="${names.ds}">${info}`, method);
    const keyInfo = `<KeyInfo><o:SecurityTokenReference><o:Reference URI="#${replyIds.token}" ValueType="${valueTypes.certificate}"/></o:SecurityTokenReference></KeyInfo>`;
    const signature = `<Signature xmlns="${names.ds}"><SignedInfo>${info}<SignatureValue>${value}</SignatureValue>${keyInfo}</Signature>`;
    const added = this.#token + confirmations.map(([, text]) => text).join('');
    const { encryption } = answered;
    if (encryption === undefined) return envelope.slice(0, end) + added + signature + envelope.slice(end);
    const endOfContent = envelope.lastIndexOf('</', body.end - 1);
    const { key, data } = encryptContent(envelope.slice(body.start, endOfContent), encryption);
    const head = envelope.slice(0, end) + added + key + signature + envelope.slice(end, body.start);
    return head + data + envelope.slice(endOfContent);
  }

  /** Returns the algorithms of the request if the key permits them. CXF refuses others than those of its policy (X31). */
  #algorithmsFor({ method: name, digest }: AnsweredSignatures): Algorithms {
    const known = methodUris.get(name ?? '');
    const isRsa = this.#usual.method.key === 'rsa';
    if (known === undefined || digest === undefined || (known.method.key === 'rsa') !== isRsa)
      return this.#usual;
    return { ...known, digest };
  }

  #valueOf(info: string, { hash: digest, isPss }: SignatureMethod): string {
    const key = this.#key;
    const padding = isPss
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {};
    return sign(digest, Buffer.from(info), { key, dsaEncoding: 'ieee-p1363', ...padding }).toString('base64');
  }
}

/** Returns the elements to sign, and the offset of the end tag of Security. */
function partsOf({ root }: Tree): { timestamp: TreeElement; body: TreeElement; end: number } {
  const [header, body] = root.children;
  const security = header?.children.at(-1);
  const [timestamp] = security?.children ?? [];
  if (security === undefined || body === undefined || timestamp === undefined)
    throw new Error('an envelope without the elements to sign');
  const { prefix, local } = security;
  return { timestamp, body, end: security.end - `</${prefix}:${local}>`.length };
}

/** Replaces each `xop:Include` with the base64 of its part: the digest is over the content, not its packaging (X22). */
function replaceIncludes(element: TreeElement, parts: readonly Buffer[]): void {
  for (const [index, node] of element.content.entries()) {
    if (typeof node === 'string') continue;
    const part = node.is(names.xop, 'Include')
      ? /^cid:(\d+)@soapbridge$/.exec(node.attribute('', 'href') ?? '')?.[1]
      : undefined;
    const letters = part === undefined ? undefined : parts[Number(part) - 1];
    if (letters === undefined) replaceIncludes(node, parts);
    else element.content[index] = letters.toString('latin1');
  }
}

/** Returns the Id and the canonical text of each SignatureConfirmation: one without Value if nothing was verified (X33). */
function confirmationsOf(values: readonly string[]): readonly (readonly [id: string, text: string])[] {
  const attributes = values.length === 0 ? [''] : values.map((value) => ` Value="${value}"`);
  return attributes.map((attribute, index) => {
    const id = `${replyIds.confirmation}${index === 0 ? '' : `_${index}`}`;
    const start = `<c:SignatureConfirmation xmlns:c="${names.wsse11}" xmlns:u="${names.wsu}"`;
    return [id, `${start}${attribute} u:Id="${id}"></c:SignatureConfirmation>`];
  });
}

function referenceTo(id: string, digest: SignatureMethod['hash'], value: string): string {
  return `<Reference URI="#${id}"><Transforms><Transform Algorithm="${names.exclusive}"></Transform></Transforms><DigestMethod Algorithm="${digestUris.get(digest)}"></DigestMethod><DigestValue>${value}</DigestValue></Reference>`;
}
