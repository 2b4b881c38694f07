import type { CanonicalForm } from './canonical.ts';
import {
  algorithmOf,
  base64In,
  ds,
  elementsIn,
  inOrder,
  refuseAlgorithm,
  refuseElement,
} from './elements.ts';
import {
  canonicalForms,
  digestMethods,
  names,
  type SignatureMethod,
  signatureMethods,
  transforms,
} from './names.ts';
import { invalid, SecurityProblem } from './problem.ts';
import type { TreeElement } from './tree.ts';

/** Maximum number of transforms of a Reference (X39). */
export const maxTransforms = 2;

/** Maximum number of names in a PrefixList (X39). */
export const maxPrefixes = 64;

/** Which algorithms with SHA-1 a contract accepts (X9). */
export type AcceptedSha1 = false | 'signature' | true;

/** Settings for reading a SignedInfo. */
export interface SignatureRules {
  readonly sha1: AcceptedSha1;
  /** Maximum number of References of one Signature. */
  readonly references: number;
}

/** The effect of a Reference's transforms (X13). */
export interface ReferenceTransforms {
  readonly form: CanonicalForm;
  /** True for an STR-Transform. */
  readonly isToken: boolean;
  /** True for the transform of a MIME part (X22). */
  readonly isPart: boolean;
  /** True for a form without the Signature that it contains. */
  readonly isEnveloped: boolean;
}

/** A ds:Reference. */
export interface Reference extends ReferenceTransforms {
  /** Undefined for none. */
  readonly uri: string | undefined;
  readonly hash: SignatureMethod['hash'];
  readonly digest: Buffer;
}

/** The content of a ds:SignedInfo. */
export interface SignedInfo {
  readonly form: CanonicalForm;
  readonly method: SignatureMethod;
  readonly references: readonly Reference[];
}

/** A ds:Signature with its parts, before anything is verified. */
export interface Signature {
  readonly element: TreeElement;
  readonly signedInfo: TreeElement;
  readonly value: Buffer;
  /** The KeyInfo, or a SecurityTokenReference that counts as one (X5). */
  readonly keyInfo: TreeElement;
}

/**
 * Reads the parts of a Signature (X5). Throws SecurityProblem.
 *
 * @param canLackKey true for the Signature of an Assertion, whose key is configured
 */
export function readSignature(element: TreeElement): Signature;
export function readSignature(
  element: TreeElement,
  canLackKey: true,
): Omit<Signature, 'keyInfo'> & { readonly keyInfo: TreeElement | undefined };
export function readSignature(
  element: TreeElement,
  canLackKey = false,
): Omit<Signature, 'keyInfo'> & { readonly keyInfo: TreeElement | undefined } {
  const children = elementsIn(element);
  const [, , keyInfo] = children;
  const hasKey =
    keyInfo?.is(names.ds, 'KeyInfo') === true || keyInfo?.is(names.wsse, 'SecurityTokenReference') === true;
  const [signedInfo, value] = inOrder(
    hasKey ? children.toSpliced(2, 1) : children,
    signatureShape,
    ds('SignedInfo', 'SignatureValue'),
  );
  if (!hasKey && !canLackKey) invalid({ expected: signatureShape }, 'shape');
  return { element, signedInfo, value: base64In(value), keyInfo };
}

const signatureShape = 'SignedInfo, SignatureValue and KeyInfo in Signature, once each and in this order';

/** Reads a SignedInfo (X5, X9, X39). Throws SecurityProblem. */
export function readSignedInfo(element: TreeElement, rules: SignatureRules): SignedInfo {
  const children = elementsIn(element);
  const references = children.slice(2);
  const expected = 'CanonicalizationMethod, SignatureMethod and one or more References in SignedInfo';
  const [canonical, method] = inOrder(
    children.slice(0, 2),
    expected,
    ds('CanonicalizationMethod', 'SignatureMethod'),
  );
  if (references.length === 0 || !references.every((one) => one.is(names.ds, 'Reference')))
    invalid({ expected }, 'shape');
  if (references.length > rules.references)
    invalid({ detail: `more than ${rules.references} References in a Signature` }, 'limit');
  const kind = canonicalForms.get(algorithmOf(canonical));
  if (kind === undefined) refuseAlgorithm(algorithmOf(canonical), [...canonicalForms.keys()]);
  return {
    form: { kind, prefixes: prefixesIn(canonical, kind) },
    method: methodOf(method, rules.sha1),
    references: references.map((one) => readReference(one, rules)),
  };
}

function methodOf(element: TreeElement, sha1: AcceptedSha1): SignatureMethod {
  const uri = algorithmOf(element);
  const method = signatureMethods.get(uri);
  if (method === undefined || element.children.length > 0)
    refuseAlgorithm(uri, ['rsa-sha256', 'sha256-rsa-MGF1', 'ecdsa-sha256']);
  if (method.hash === 'sha1' && sha1 === false)
    throw new SecurityProblem(
      'UnsupportedAlgorithm',
      {
        detail: 'rsa-sha1 is not accepted; use rsa-sha256 (CXF: ws-security.asymmetric.signature.algorithm)',
      },
      'algorithm',
    );
  return method;
}

function readReference(element: TreeElement, rules: SignatureRules): Reference {
  const all = elementsIn(element);
  const rest = all[0]?.is(names.ds, 'Transforms') === true ? all.slice(1) : all;
  const list = rest.length === all.length ? undefined : all[0];
  const [method, value] = inOrder(
    rest,
    'Transforms, DigestMethod and DigestValue in Reference, in this order',
    ds('DigestMethod', 'DigestValue'),
  );
  const uri = algorithmOf(method);
  const hash = digestMethods.get(uri);
  if (hash === undefined || elementsIn(method).length > 0)
    refuseAlgorithm(uri, ['sha256', 'sha384', 'sha512']);
  if (hash === 'sha1' && rules.sha1 !== true)
    throw new SecurityProblem(
      'UnsupportedAlgorithm',
      { detail: 'the digest algorithm sha1 is not accepted; use sha256' },
      'algorithm',
    );
  return { uri: element.attribute('', 'URI'), hash, digest: base64In(value), ...transformsIn(list) };
}

/** Returns the effect of a list of transforms (X13). Throws SecurityProblem. */
function transformsIn(list: TreeElement | undefined): ReferenceTransforms {
  const elements = list === undefined ? [] : elementsIn(list);
  if (list !== undefined && (elements.length === 0 || elements.length > maxTransforms))
    invalid({ expected: `one to ${maxTransforms} Transforms in a Reference` }, 'limit');
  let found: Omit<ReferenceTransforms, 'isEnveloped'> | undefined;
  let isEnveloped = false;
  for (const element of elements) {
    if (!element.is(names.ds, 'Transform')) invalid({ expected: 'only Transform in Transforms' }, 'shape');
    const uri = algorithmOf(element);
    const kind = canonicalForms.get(uri);
    const isOther = uri === transforms.token || uri === transforms.attachment;
    if (kind === undefined && !isOther && uri !== transforms.enveloped)
      refuseAlgorithm(uri, [...canonicalForms.keys(), transforms.enveloped, transforms.token]);
    if (found !== undefined) invalid({ expected: 'no Transform after one that canonicalizes' }, 'transforms');
    if (kind !== undefined)
      found = { form: { kind, prefixes: prefixesIn(element, kind) }, isToken: false, isPart: false };
    else if (uri === transforms.token) found = tokenTransform(element);
    else if (elementsIn(element).length > 0)
      invalid(
        {
          expected: `no element in the Transform ${uri === transforms.attachment ? 'of a part' : 'enveloped-signature'}`,
        },
        'shape',
      );
    else if (uri === transforms.attachment) found = { form: usualForm, isToken: false, isPart: true };
    else isEnveloped = true;
  }
  if (found?.isPart === true && elements.length > 1)
    invalid({ expected: 'one Transform for a part of the message' }, 'transforms');
  return { ...(found ?? { form: usualForm, isToken: false, isPart: false }), isEnveloped };
}

const noPrefixes: ReadonlySet<string> = new Set();

/** The form of a Reference without a canonical form (XML Signature 1.1, 4.4.3.2). */
const usualForm: CanonicalForm = { kind: 'inclusive', prefixes: noPrefixes };

/** Reads an STR-Transform. Its token has the exclusive form with `#default` (X13). */
function tokenTransform(element: TreeElement): Omit<ReferenceTransforms, 'isEnveloped'> {
  const expected = 'TransformationParameters with a CanonicalizationMethod in STR-Transform';
  const [parameters] = inOrder(elementsIn(element), expected, [[names.wsse, 'TransformationParameters']]);
  const [method] = inOrder(elementsIn(parameters), expected, ds('CanonicalizationMethod'));
  const uri = algorithmOf(method);
  if (uri !== names.exclusive) refuseAlgorithm(uri, [names.exclusive]);
  const prefixes = new Set(['', ...prefixesIn(method, 'exclusive')]);
  return { form: { kind: 'exclusive', prefixes }, isToken: true, isPart: false };
}

/** Returns the prefixes of a PrefixList, `''` for `#default` (X14). */
function prefixesIn(element: TreeElement, kind: CanonicalForm['kind']): ReadonlySet<string> {
  const [list, ...others] = elementsIn(element);
  if (list === undefined) return noPrefixes;
  if (kind !== 'exclusive' || others.length > 0 || !list.is(names.exclusive, 'InclusiveNamespaces'))
    refuseElement(list, `at most InclusiveNamespaces in ${element.local}`);
  const given = (list.attribute('', 'PrefixList') ?? '').split(' ').filter((one) => one !== '');
  if (given.length > maxPrefixes)
    invalid({ detail: `more than ${maxPrefixes} names in a PrefixList` }, 'limit');
  return new Set(given.map((one) => (one === '#default' ? '' : one)));
}
