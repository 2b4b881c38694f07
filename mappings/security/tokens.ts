import { hash } from 'node:crypto';
import { quoteElement } from '../contract/reason.ts';
import { isAssertion } from './assertion.ts';
import { type Certificate, maxCertificateBytes } from './certificate.ts';
import { isNameOf } from './distinguished-name.ts';
import { base64In, ds, elementsIn, inOrder, onlyIn } from './elements.ts';
import type { Ids } from './message.ts';
import { names, valueTypes } from './names.ts';
import { invalid, SecurityProblem, unsupportedToken } from './problem.ts';
import { shownName, type TreeElement } from './tree.ts';
import { type Token, type TokenKind, type Trust, tokenId, tokenOf } from './trust.ts';

/** Maximum number of parts of an X509Data (X39). */
export const maxDataParts = 4;

/** A certificate that a message names. */
export interface NamedToken extends Token {
  /** The BinarySecurityToken; undefined if the message only names or embeds the certificate in another form. */
  readonly element: TreeElement | undefined;
}

/** Finds the certificates that elements of a message name (X10). */
export class Tokens {
  readonly #block: TreeElement;
  readonly #ids: Ids;
  readonly #trust: Trust;
  readonly #now: number;
  /** Tokens by kind and SHA-256. A message may name one certificate many times before it is trusted. */
  readonly #known = new Map<string, Token>();

  /** @param now time in ms since 1970 */
  constructor(block: TreeElement, ids: Ids, trust: Trust, now: number) {
    this.#block = block;
    this.#ids = ids;
    this.#trust = trust;
    this.#now = now;
  }

  /** Returns the certificate of a KeyInfo, or of a SecurityTokenReference that counts as one. Throws SecurityProblem. */
  ofKeyInfo(keyInfo: TreeElement): NamedToken {
    if (keyInfo.is(names.wsse, 'SecurityTokenReference')) return this.ofReference(keyInfo);
    const [child, ...others] = elementsIn(keyInfo);
    if (others.length > 0) invalid({ expected: 'one element in KeyInfo', got: 'several' }, 'shape');
    if (child === undefined) unsupportedToken(noCertificate);
    if (child.is(names.wsse, 'SecurityTokenReference')) return this.ofReference(child);
    if (child.is(names.ds, 'X509Data')) return this.#ofData(child);
    return unsupportedToken(
      `${quoteElement(child.local).text} in KeyInfo does not identify a caller. Send a certificate`,
    );
  }

  /**
   * Returns the Assertion that a KeyInfo or a SecurityTokenReference names; undefined for another key. Throws
   * SecurityProblem.
   */
  assertionOf(element: TreeElement): TreeElement | undefined {
    const [child, ...others] = elementsIn(element);
    if (child === undefined || others.length > 0) return undefined;
    if (element.is(names.ds, 'KeyInfo'))
      return child.is(names.wsse, 'SecurityTokenReference') ? this.assertionOf(child) : undefined;
    const type = child.attribute('', 'ValueType');
    const isById =
      child.is(names.wsse, 'KeyIdentifier') &&
      (type === valueTypes.assertion2 || type === valueTypes.assertion1);
    if (!isById && !child.is(names.wsse, 'Reference')) return undefined;
    const target = isById ? this.#ids.find(child.text) : this.#ids.resolve(child.attribute('', 'URI'));
    if (!isAssertion(target))
      return isById ? unsupportedToken('the KeyIdentifier of an Assertion names another element') : undefined;
    if (target.parent !== this.#block)
      invalid({ detail: 'the Assertion is at a place that is not read' }, 'place');
    return target;
  }

  /** Returns the certificate of a SecurityTokenReference. Throws SecurityProblem. */
  ofReference(reference: TreeElement): NamedToken {
    const child = onlyIn(reference, 'one element in SecurityTokenReference');
    if (child.is(names.wsse, 'Reference'))
      return this.#ofTarget(this.#ids.resolve(child.attribute('', 'URI')));
    if (child.is(names.wsse, 'KeyIdentifier')) return this.#ofKeyIdentifier(child);
    if (child.is(names.ds, 'X509Data')) return this.#ofData(child);
    if (!child.is(names.wsse, 'Embedded'))
      unsupportedToken(`${quoteElement(child.local).text} in SecurityTokenReference is not supported`);
    return this.#ofBinary(onlyIn(child, 'one token in Embedded'));
  }

  #ofTarget(element: TreeElement): NamedToken {
    if (element.is(names.wsse, 'BinarySecurityToken') && element.parent !== this.#block)
      invalid({ detail: 'the BinarySecurityToken is at a place that is not read' }, 'place');
    return this.#ofBinary(element);
  }

  #ofBinary(element: TreeElement): NamedToken {
    if (!element.is(names.wsse, 'BinarySecurityToken'))
      unsupportedToken(
        `the reference to a token names ${quoteElement(shownName(element)).text}. Send a BinarySecurityToken`,
      );
    const type = element.attribute('', 'ValueType');
    if (type !== valueTypes.certificate && type !== valueTypes.path)
      unsupportedToken('the ValueType of BinarySecurityToken is not #X509v3 or #X509PKIPathv1');
    const encoding = element.attribute('', 'EncodingType');
    if (encoding !== undefined && encoding !== valueTypes.base64)
      badToken('expected #Base64Binary or none as the EncodingType of BinarySecurityToken');
    return this.#parsed(base64In(element), type === valueTypes.path ? 'path' : 'certificate', element);
  }

  #parsed(bytes: Buffer, kind: TokenKind, element: TreeElement | undefined): NamedToken {
    if (bytes.length > maxCertificateBytes)
      invalid({ detail: `a certificate of more than ${maxCertificateBytes} bytes` }, 'limit');
    const id = tokenId(bytes, kind);
    const token = this.#known.get(id) ?? this.#trust.parse(bytes, kind, id, this.#now);
    if (token === undefined) badToken('the token is not an X.509 certificate');
    this.#known.set(id, token);
    return { ...token, element };
  }

  #ofKeyIdentifier(element: TreeElement): NamedToken {
    const type = element.attribute('', 'ValueType');
    const bytes = base64In(element);
    if (type === valueTypes.certificate) return this.#parsed(bytes, 'certificate', undefined);
    if (type === valueTypes.keyId) return this.#configured(({ keyId }) => keyId === bytes.toString('hex'));
    if (type === valueTypes.thumbprint)
      return this.#configured((one) => hash('sha1', one.bytes, 'hex') === bytes.toString('hex'));
    return unsupportedToken('the ValueType of KeyIdentifier is not supported');
  }

  /** Returns the certificate of an X509Data. All its parts must name one certificate. */
  #ofData(data: TreeElement): NamedToken {
    const parts = elementsIn(data);
    if (parts.length > maxDataParts)
      invalid({ detail: `more than ${maxDataParts} elements in X509Data` }, 'limit');
    const tokens = parts.flatMap((part): NamedToken[] => {
      if (part.namespace !== names.ds) return [];
      if (part.local === 'X509Certificate') return [this.#parsed(base64In(part), 'certificate', undefined)];
      if (part.local === 'X509SKI') {
        const keyId = base64In(part).toString('hex');
        return [this.#configured((one) => one.keyId === keyId)];
      }
      return part.local === 'X509IssuerSerial' ? [this.#ofIssuer(part)] : [];
    });
    return only(tokens);
  }

  #ofIssuer(element: TreeElement): NamedToken {
    const [name, serial] = inOrder(
      elementsIn(element),
      'X509IssuerName and X509SerialNumber in X509IssuerSerial',
      ds('X509IssuerName', 'X509SerialNumber'),
    );
    const digits = serial.text.trim();
    if (!/^-?\d{1,64}$/.test(digits))
      invalid({ expected: 'digits in X509SerialNumber', got: 'other text' }, 'shape');
    const number = BigInt(digits);
    return this.#configured((one) => one.serial === number && isNameOf(name.text, one.issuer));
  }

  #configured(isNamed: (certificate: Certificate) => boolean): NamedToken {
    const [signer, ...others] = this.#trust.anchors.certificates.filter(isNamed);
    if (signer === undefined || others.length > 0)
      throw new SecurityProblem(
        'SecurityTokenUnavailable',
        { detail: 'the gateway does not know the certificate. Send the certificate itself' },
        'unknown certificate',
      );
    return { ...tokenOf(signer), element: undefined };
  }
}

const noCertificate = 'KeyInfo has no certificate and no reference to one';

function only(tokens: readonly NamedToken[]): NamedToken {
  const [token, ...others] = tokens;
  if (token === undefined) unsupportedToken(noCertificate);
  if (others.some(({ signer }) => !signer.bytes.equals(token.signer.bytes)))
    badToken('KeyInfo names two different certificates');
  return token;
}

function badToken(detail: string): never {
  throw new SecurityProblem('InvalidSecurityToken', { detail }, 'token');
}
