import { hash, randomBytes } from 'node:crypto';
import type { Limits } from '../contract/limits.ts';
import { maxAllAttributes } from '../xml/attributes.ts';
import { XmlError } from '../xml/error.ts';
import { maxChildren, type XmlTolerance } from '../xml/reader.ts';
import { scopeOf } from './canonical.ts';
import type { Certificate } from './certificate.ts';
import { dataCiphers, decryptData, unwrapKey } from './ciphers.ts';
import type { DecryptionKey } from './decryption-keys.ts';

export { decryptionKeysOf } from './decryption-keys.ts';

import { refuseAlgorithm } from './elements.ts';
import { canEncrypt } from './encrypt.ts';
import {
  acceptedCiphers,
  type EncryptedData,
  type EncryptedKey,
  keyNamedIn,
  readEncryptedData,
  readEncryptedKey,
  referencesIn,
} from './encrypted.ts';
import type { Ids, SignedMessage } from './message.ts';
import { names } from './names.ts';
import { invalid, SecurityProblem, unsupportedToken } from './problem.ts';
import { Tokens } from './tokens.ts';
import { readFragment, readTree, type TreeElement } from './tree.ts';
import type { Verified } from './verify.ts';

/** Maximum number of EncryptedKeys, and of DataReferences, of a block (X39). */
export const maxEncryptedKeys = 2;
export const maxDataReferences = 8;

/** Settings of a contract, and the time of the call. */
export interface Decrypting {
  /** Empty to refuse all encrypted messages. */
  readonly keys: readonly DecryptionKey[];
  readonly acceptsCbc: boolean;
  readonly limits: Limits;
  readonly tolerance: XmlTolerance;
  /** Time in ms since 1970. */
  readonly now: number;
}

/** An EncryptedKey with the private key of its certificate. */
interface KnownKey extends EncryptedKey {
  readonly privateKey: DecryptionKey['privateKey'];
  /** Undefined until it is used. A key that cannot be decrypted has none (X24). */
  unwrapped?: { readonly key: Buffer | undefined };
}

/** An EncryptedData that a ReferenceList names. */
interface Planned extends EncryptedData {
  /** The EncryptedKey with the list; undefined for a separate ReferenceList. */
  readonly owner: TreeElement | undefined;
}

/** Every failure of a message with an EncryptedKey that could reveal something about its plaintext (X24). */
export function failedDecryption(): SecurityProblem {
  return new SecurityProblem(
    'FailedCheck',
    { detail: 'the signature or the encryption is invalid' },
    'encryption',
  );
}

const unsignedPrefix = 'unsigned prefix';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decrypts the parts of one message (X23). */
export class Decryption {
  readonly #message: SignedMessage;
  readonly #decrypting: Decrypting;
  readonly #ids: Ids;
  readonly #verified: Verified;
  readonly #keys = new Map<TreeElement, KnownKey>();
  /** EncryptedData by the ReferenceList that names it, or by the EncryptedKey with that list. */
  readonly #steps = new Map<TreeElement, readonly Planned[]>();
  readonly #planned = new Map<TreeElement, Planned>();
  readonly #done: { readonly data: Planned; readonly result: TreeElement }[] = [];
  #counts: { elements: number; attributes: number };
  #hasStarted = false;
  #hasUsedCbc = false;
  /** True after the coverage check. */
  #isChecked = false;
  /** The content of Body if a Signature covers only its EncryptedData, and not Body; undefined otherwise. */
  signedContent: string | undefined;

  constructor(message: SignedMessage, decrypting: Decrypting, ids: Ids, verified: Verified) {
    this.#message = message;
    this.#decrypting = decrypting;
    this.#ids = ids;
    this.#verified = verified;
    this.#counts = { ...message.tree.counts };
  }

  /** Reads the form of a child of the block (X27). Returns false for an element that is not read here. */
  add(element: TreeElement): boolean {
    if (element.is(names.xenc, 'EncryptedKey')) {
      const key = readEncryptedKey(element, this.#message.tree);
      if (this.#keys.size === maxEncryptedKeys)
        invalid({ detail: `more than ${maxEncryptedKeys} EncryptedKeys in Security` }, 'limit');
      this.#keys.set(element, { ...key, privateKey: this.#privateKeyOf(key) });
      if (key.list !== undefined) this.#plan(element, key.list, element);
      return true;
    }
    if (element.is(names.xenc, 'ReferenceList')) this.#plan(element, element, undefined);
    else return element.is(names.xenc, 'EncryptedData');
    return true;
  }

  /** Checks after all children of the block that each EncryptedData has a key. Throws SecurityProblem. */
  finish(): void {
    const { block, body } = this.#message;
    for (const data of this.#planned.values()) this.#keyOf(data);
    for (const child of [...block.children, ...body.children])
      if (child.is(names.xenc, 'EncryptedData') && !this.#planned.has(child))
        unsupportedToken('no ReferenceList names the EncryptedData');
  }

  /** True if the keys must be reserved before they are used (X24). */
  get mustReserve(): boolean {
    return this.#decrypting.acceptsCbc && this.#keys.size > 0;
  }

  /** SHA-256 of the decoded keys, 32 characters each (X24). */
  get wrappedKeys(): readonly string[] {
    return [...this.#keys.values()].map(({ wrapped }) => hash('sha256', wrapped, 'latin1'));
  }

  /** True if an element of the block is encrypted, because it may be a Signature (X24). */
  get hasEncryptedElement(): boolean {
    return [...this.#planned.keys()].some(({ parent }) => parent === this.#message.block);
  }

  /** Refuses CBC without a Signature, because nothing would detect changed data (X24). Throws SecurityProblem. */
  refuseCbc(): void {
    for (const { cipher } of this.#planned.values())
      if (cipher.isCbc) refuseAlgorithm(cipher.uri, acceptedCiphers);
  }

  /** URI of the algorithm of the message: that of Body if it is encrypted (X32); undefined without EncryptedData. */
  get algorithm(): string | undefined {
    const all = [...this.#planned.values()];
    const ofBody = all.find(({ element }) => element.parent === this.#message.body);
    return (ofBody ?? all[0])?.cipher.uri;
  }

  /** Returns true if a reply can be encrypted for a signer (X32). */
  canAnswer(signer: Certificate): boolean {
    return canEncrypt(signer);
  }

  /** Decrypted parts, for the log (X29); undefined for none. */
  get facts(): { readonly shown: string; readonly usesCbc: boolean } | undefined {
    const { algorithm } = this;
    if (algorithm === undefined || this.#done.length === 0) return undefined;
    const parts = this.#done.map(({ result }) => result.local.toLowerCase()).join('+');
    const name = dataCiphers.get(algorithm)?.name;
    return { shown: `${name} ${parts}`, usesCbc: this.#hasUsedCbc };
  }

  /**
   * Decrypts what a child of the block names. Returns the elements that replaced EncryptedData in the block. Throws
   * SecurityProblem.
   */
  decrypt(child: TreeElement): ReadonlyMap<TreeElement, TreeElement> {
    const replaced = new Map<TreeElement, TreeElement>();
    const step = this.#steps.get(child) ?? [];
    for (const data of step) {
      const result = this.#decrypt(data);
      if (data.element.parent === this.#message.block) replaced.set(data.element, result);
      this.#done.push({ data, result });
    }
    if (step.length > 0) this.#ids.recount();
    return replaced;
  }

  /** Refuses an element that may not be encrypted. Its name would reveal plaintext (X24). Throws SecurityProblem. */
  refuseElement(): never {
    throw failedDecryption();
  }

  /**
   * Returns the problem to report for an error before the coverage check. Failures that could reveal something about the
   * plaintext are one problem (X24). An undeclared prefix is none, because its ciphertext was verified before (X23).
   */
  problemOf(error: unknown): unknown {
    if (this.#keys.size === 0 || this.#isChecked) return error;
    if (error instanceof XmlError) return this.#hasStarted ? failedDecryption() : error;
    if (!(error instanceof SecurityProblem)) return error;
    const isRevealing = this.#hasUsedCbc && error.logged !== unsignedPrefix;
    return error.code === 'FailedCheck' || isRevealing ? failedDecryption() : error;
  }

  /**
   * Refuses encrypted content that is left, and CBC plaintext without a Signature (X23, X24). Later refusals have their
   * own codes. Throws SecurityProblem.
   *
   * @param needsBody true if Body must be encrypted (X25)
   */
  checkAll(needsBody: boolean): void {
    if (needsBody && !this.#done.some(({ result }) => result === this.#message.body))
      invalid({ expected: 'Body to be encrypted', got: 'text' }, 'encryption required');
    const pending = [this.#message.body];
    for (let element = pending.pop(); element !== undefined; element = pending.pop())
      for (const child of element.children) {
        if (child.is(names.xenc, 'EncryptedData')) unsupportedToken('EncryptedData is left in Body');
        pending.push(child);
      }
    for (const { data, result } of this.#done) {
      const isSigned = this.#verified.signatures.some(
        ({ covered }) => covered.has(result) || covered.has(data.element),
      );
      if (data.cipher.isCbc && !isSigned && !result.is(names.ds, 'Signature')) throw failedDecryption();
    }
    this.#isChecked = true;
  }

  #plan(step: TreeElement, list: TreeElement, owner: TreeElement | undefined): void {
    const targets = referencesIn(list, this.#ids, maxDataReferences - this.#planned.size);
    const data = targets.map((element) => {
      if (this.#planned.has(element))
        invalid({ expected: 'one DataReference to each EncryptedData', got: 'several' }, 'limit');
      const planned = {
        ...readEncryptedData(element, this.#message, this.#decrypting.acceptsCbc),
        owner,
      };
      this.#planned.set(element, planned);
      return planned;
    });
    this.#steps.set(step, data);
  }

  /** Returns the private key of the certificate that an EncryptedKey names (X10). Throws SecurityProblem. */
  #privateKeyOf({ keyInfo }: EncryptedKey): DecryptionKey['privateKey'] {
    const { keys, now } = this.#decrypting;
    for (const { privateKey, certificate, trust } of keys) {
      try {
        const { signer } = new Tokens(this.#message.block, this.#ids, trust, now).ofKeyInfo(keyInfo);
        if (signer.bytes.equals(certificate.bytes)) return privateKey;
      } catch (error) {
        if (!(error instanceof SecurityProblem) || error.code !== 'SecurityTokenUnavailable') throw error;
      }
    }
    throw new SecurityProblem(
      'SecurityTokenUnavailable',
      {
        detail:
          keys.length === 0
            ? 'encrypted messages are not decrypted here. Use the command soapbridge explain'
            : 'the message is encrypted for a certificate that the gateway does not have',
      },
      'unknown certificate',
    );
  }

  #keyOf({ owner, keyInfo }: Planned): KnownKey {
    const named = keyInfo === undefined ? owner : keyNamedIn(keyInfo, this.#ids);
    const key = named === undefined ? undefined : this.#keys.get(named);
    if (key === undefined || (owner !== undefined && named !== owner))
      unsupportedToken('KeyInfo of EncryptedData does not name its EncryptedKey');
    return key;
  }

  /** Returns the key for data. Random bytes replace an invalid key, so that all failures take the same steps (X24). */
  #keyFor(data: Planned): Buffer {
    const known = this.#keyOf(data);
    const { wrapped, privateKey, transport } = known;
    if (wrapped.length * 8 !== privateKey.asymmetricKeyDetails?.modulusLength) throw failedDecryption();
    known.unwrapped ??= { key: unwrapKey(wrapped, privateKey, transport) };
    const { keyBytes } = data.cipher;
    const substitute = randomBytes(keyBytes);
    const { key } = known.unwrapped;
    return key?.length === keyBytes ? key : substitute;
  }

  /** Replaces an EncryptedData by its plaintext. Returns Body, or the element in the block. */
  #decrypt(data: Planned): TreeElement {
    const key = this.#keyFor(data);
    this.#hasStarted = true;
    if (data.cipher.isCbc) this.#hasUsedCbc = true;
    const text = textOf(decryptData(data.cipher, key, data.bytes));
    const { parent: place } = data.element;
    if (place === undefined) throw new RangeError('EncryptedData without a parent');
    const content = this.#parse(text, place);
    const { body } = this.#message;
    const isContent = place === body;
    const elements = content.filter((node) => typeof node !== 'string');
    const [element] = elements;
    if (!isContent && (elements.length !== 1 || content.some(isText))) throw failedDecryption();
    const result = isContent || element === undefined ? body : element;
    this.#keepSigned(data.element, result, content, text);
    if (isContent) place.content.length = 0;
    const at = isContent ? 0 : place.content.indexOf(data.element);
    place.content.splice(at, 1, ...(isContent ? content : elements));
    for (const node of elements) {
      node.parent = place;
      node.isDecrypted = true;
    }
    return result;
  }

  /** Reads plaintext within the limits that the rest of the message left (X23). */
  #parse(text: string, place: TreeElement): readonly (TreeElement | string)[] {
    const { limits, tolerance } = this.#decrypting;
    const { elements, attributes } = this.#counts;
    let outer = 0;
    for (let at = place.parent; at !== undefined; at = at.parent) outer++;
    const left = {
      ...limits,
      xmlDepth: limits.xmlDepth - outer,
      xmlElements: limits.xmlElements - elements,
      xmlChildren: maxChildren(limits),
      xmlAllAttributes: maxAllAttributes(limits) - attributes,
    };
    try {
      const fragment = readFragment(text, scopeOf(place), left, tolerance);
      this.#counts = {
        elements: elements + fragment.counts.elements,
        attributes: attributes + fragment.counts.attributes,
      };
      this.#message.tree.relative.push(...fragment.relative);
      return fragment.root.content;
    } catch (error) {
      if (error instanceof XmlError) throw failedDecryption();
      throw error;
    }
  }

  /** Puts plaintext into the octets of a verified Signature that covers its EncryptedData (X23). */
  #keepSigned(
    data: TreeElement,
    result: TreeElement,
    content: readonly (TreeElement | string)[],
    text: string,
  ): void {
    const { octets, signatures } = this.#verified;
    const outer = data.parent === undefined ? undefined : octets.get(data.parent);
    if (outer !== undefined) {
      const { root } = readTree(outer, this.#decrypting.limits, this.#decrypting.tolerance);
      refuseUnsigned(content, scopeOf(root));
      octets.set(result, `${outer.slice(0, root.start)}${text}${outer.slice(outer.lastIndexOf('</'))}`);
    } else if (octets.has(data)) {
      refuseUnsigned(content, new Map());
      if (result !== this.#message.body) {
        octets.set(result, text);
        for (const { covered } of signatures) if (covered.has(data)) covered.add(result);
      } else this.signedContent = text;
    }
  }
}

function textOf(bytes: Buffer | undefined): string {
  if (bytes === undefined) throw failedDecryption();
  try {
    return utf8.decode(bytes);
  } catch {
    throw failedDecryption();
  }
}

function isText(node: TreeElement | string): boolean {
  return typeof node === 'string' && /[^ \t\r\n]/.test(node);
}

/** Refuses a prefix whose declaration is outside the signed octets and the plaintext (X23). Throws SecurityProblem. */
function refuseUnsigned(nodes: readonly (TreeElement | string)[], scope: Map<string, string>): void {
  for (const node of nodes) {
    if (typeof node === 'string') continue;
    const hidden = node.declarations.map(({ prefix }) => [prefix, scope.get(prefix)] as const);
    for (const { prefix, namespace } of node.declarations) scope.set(prefix, namespace);
    for (const { prefix, namespace } of [node, ...node.attributes.filter((one) => one.prefix !== '')])
      if (prefix !== 'xml' && (scope.get(prefix) ?? '') !== namespace)
        invalid(
          {
            detail: `${prefix === '' ? 'the default namespace' : `the prefix ${prefix.slice(0, 64)}`} is not signed`,
          },
          unsignedPrefix,
        );
    refuseUnsigned(node.content, scope);
    for (const [prefix, namespace] of hidden)
      if (namespace === undefined) scope.delete(prefix);
      else scope.set(prefix, namespace);
  }
}
