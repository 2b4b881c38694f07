import { type DataCipher, dataCiphers, type KeyTransport, keyTransports, maskHashes } from './ciphers.ts';
import { algorithmOf, base64In, elementsIn, inOrder, refuseAlgorithm, refuseElement } from './elements.ts';
import type { Ids, SignedMessage } from './message.ts';
import { digestMethods, names } from './names.ts';
import { invalid, unsupportedToken } from './problem.ts';
import type { Tree, TreeElement } from './tree.ts';

const acceptedTransports = ['rsa-oaep-mgf1p', 'rsa-oaep'];

/** Data algorithms that every contract with `decrypt` accepts (X9). */
export const acceptedCiphers: readonly string[] = ['aes128-gcm', 'aes192-gcm', 'aes256-gcm'];

/** An xenc:EncryptedKey before anything is decrypted. */
export interface EncryptedKey {
  readonly element: TreeElement;
  readonly transport: KeyTransport;
  readonly keyInfo: TreeElement;
  readonly wrapped: Buffer;
  readonly list: TreeElement | undefined;
}

/** An xenc:EncryptedData before it is decrypted. */
export interface EncryptedData {
  readonly element: TreeElement;
  readonly cipher: DataCipher;
  readonly keyInfo: TreeElement | undefined;
  readonly bytes: Buffer;
}

/** Reads an EncryptedKey (X23). Throws SecurityProblem. */
export function readEncryptedKey(element: TreeElement, tree: Tree): EncryptedKey {
  const { method, keyInfo, data, rest } = partsOf(element);
  const [list, ...others] = rest;
  if (others.length > 0 || (list !== undefined && !list.is(names.xenc, 'ReferenceList')))
    invalid({ expected: 'at most a ReferenceList after CipherData in EncryptedKey' }, 'shape');
  const transport = transportOf(method);
  if (keyInfo === undefined) unsupportedToken('EncryptedKey has no KeyInfo with a certificate');
  return { element, transport, keyInfo, wrapped: cipherValueIn(data, tree), list };
}

/** Reads an EncryptedData, and checks its place (X23). Throws SecurityProblem. */
export function readEncryptedData(
  element: TreeElement,
  { block, body, tree }: SignedMessage,
  acceptsCbc: boolean,
): EncryptedData {
  if (!element.is(names.xenc, 'EncryptedData'))
    invalid({ expected: 'EncryptedData as the target of each DataReference' }, 'place');
  const type = element.attribute('', 'Type');
  const isBody = element.parent === body && type === `${names.xenc}Content`;
  const isWhole = isBody && elementsIn(body).length === 1;
  if (!isWhole && (element.parent !== block || type !== `${names.xenc}Element`))
    unsupportedToken('EncryptedData is not the content of Body or an element of Security');
  const { method, keyInfo, data, rest } = partsOf(element);
  if (rest.length > 0 || elementsIn(method).length > 0)
    invalid({ expected: 'EncryptionMethod, KeyInfo and CipherData in EncryptedData' }, 'shape');
  const uri = algorithmOf(method);
  const cipher = dataCiphers.get(uri);
  if (cipher === undefined || (cipher.isCbc && !acceptsCbc)) refuseAlgorithm(uri, acceptedCiphers);
  return { element, cipher, keyInfo, bytes: cipherValueIn(data, tree) };
}

/** Returns the EncryptedData that a ReferenceList names (X7). Throws SecurityProblem. */
export function referencesIn(list: TreeElement, ids: Ids, most: number): readonly TreeElement[] {
  const references = elementsIn(list);
  if (references.length > most) invalid({ detail: `more than ${most} DataReferences in Security` }, 'limit');
  return references.map((one) => {
    if (!one.is(names.xenc, 'DataReference')) refuseElement(one, 'only DataReference in ReferenceList');
    return ids.resolve(one.attribute('', 'URI'));
  });
}

/** Returns the EncryptedKey that the KeyInfo of an EncryptedData names. Throws SecurityProblem. */
export function keyNamedIn(keyInfo: TreeElement, ids: Ids): TreeElement {
  const [token, ...others] = elementsIn(keyInfo);
  const [reference, ...rest] =
    token?.is(names.wsse, 'SecurityTokenReference') === true ? elementsIn(token) : [];
  if (reference?.is(names.wsse, 'Reference') !== true || others.length + rest.length > 0)
    unsupportedToken('KeyInfo of EncryptedData does not name an EncryptedKey by a Reference');
  return ids.resolve(reference.attribute('', 'URI'));
}

/** Parts of an EncryptedKey or EncryptedData. */
function partsOf(element: TreeElement): {
  readonly method: TreeElement;
  readonly keyInfo: TreeElement | undefined;
  readonly data: TreeElement;
  readonly rest: readonly TreeElement[];
} {
  const all = elementsIn(element);
  const keyInfo = all[1]?.is(names.ds, 'KeyInfo') === true ? all[1] : undefined;
  const others = keyInfo === undefined ? all : all.toSpliced(1, 1);
  const [method, data] = inOrder(
    others.slice(0, 2),
    `EncryptionMethod, KeyInfo and CipherData in ${element.local}, in this order`,
    [
      [names.xenc, 'EncryptionMethod'],
      [names.xenc, 'CipherData'],
    ],
  );
  return { method, keyInfo, data, rest: others.slice(2) };
}

/** Returns the bytes in CipherData, or of the MIME part that an `xop:Include` in it names (X22). Nothing is fetched (X7). */
function cipherValueIn(data: TreeElement, { included }: Tree): Buffer {
  const [value] = inOrder(elementsIn(data), 'one CipherValue in CipherData', [[names.xenc, 'CipherValue']]);
  const [include] = value.children;
  return (include === undefined ? undefined : included.get(include)) ?? base64In(value);
}

function transportOf(method: TreeElement): KeyTransport {
  const uri = algorithmOf(method);
  if (uri !== keyTransports.mgf1p && uri !== keyTransports.oaep) refuseAlgorithm(uri, acceptedTransports);
  let digest: KeyTransport['hash'] | undefined;
  let mask: KeyTransport['mask'] | undefined;
  let label: Buffer | undefined;
  for (const child of elementsIn(method)) {
    if (child.is(names.ds, 'DigestMethod') && digest === undefined)
      digest =
        digestMethods.get(algorithmOf(child)) ?? refuseAlgorithm(algorithmOf(child), acceptedTransports);
    else if (child.is(names.xenc11, 'MGF') && mask === undefined && uri === keyTransports.oaep)
      mask = maskHashes.get(algorithmOf(child)) ?? refuseAlgorithm(algorithmOf(child), acceptedTransports);
    else if (child.is(names.xenc, 'OAEPparams') && label === undefined)
      label = child.text === '' ? Buffer.alloc(0) : base64In(child);
    else refuseElement(child, 'DigestMethod, MGF and OAEPparams in EncryptionMethod');
  }
  return { hash: digest ?? 'sha1', mask: mask ?? 'sha1', label: label ?? Buffer.alloc(0) };
}
