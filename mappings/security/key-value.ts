import { createPublicKey, hash, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import { base64In, ds, elementsIn, inOrder, onlyIn } from './elements.ts';
import { names } from './names.ts';
import { invalid, SecurityProblem, unsupportedToken } from './problem.ts';
import type { TreeElement } from './tree.ts';

/** A key without a certificate, with the fields that it has in common with a certificate. */
export interface BareKey {
  readonly x509: undefined;
  readonly publicKey: KeyObject;
  /** SubjectPublicKeyInfo in DER. */
  readonly bytes: Buffer;
  /** Its SHA-256, one character per byte. */
  readonly keyHash: string;
}

const ds11 = 'http://www.w3.org/2009/xmldsig11#';

/** Curves of ECKeyValue by URI: the name in JWK, and the size of a coordinate in bytes. */
const curves: ReadonlyMap<string, readonly [name: string, size: number]> = new Map([
  ['urn:oid:1.2.840.10045.3.1.7', ['P-256', 32]],
  ['urn:oid:1.3.132.0.34', ['P-384', 48]],
  ['urn:oid:1.3.132.0.35', ['P-521', 66]],
]);

/** Reads a ds:KeyValue with an RSA key, or an EC key on a curve of X9. Throws SecurityProblem. */
export function readKeyValue(element: TreeElement): BareKey {
  const value = onlyIn(element, 'one key in KeyValue');
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: jwkOf(value), format: 'jwk' });
  } catch (error) {
    if (error instanceof SecurityProblem) throw error;
    throw new SecurityProblem(
      'InvalidSecurityToken',
      { expected: 'a public key in KeyValue', got: 'another value' },
      'token',
    );
  }
  const bytes = publicKey.export({ type: 'spki', format: 'der' });
  return { x509: undefined, publicKey, bytes, keyHash: hash('sha256', bytes, 'latin1') };
}

function jwkOf(value: TreeElement): JsonWebKeyInput['key'] {
  const children = elementsIn(value);
  const [first, second] = children;
  if (value.is(names.ds, 'RSAKeyValue')) {
    const parts = inOrder(children, 'Modulus and Exponent in RSAKeyValue', ds('Modulus', 'Exponent'));
    const [n = '', e = ''] = parts.map((part) => base64In(part).toString('base64url'));
    return { kty: 'RSA', n, e };
  }
  if (!value.is(ds11, 'ECKeyValue'))
    return unsupportedToken('the kind of key in KeyValue is not supported. Send an RSA or EC key');
  const [name, size] = curves.get(first?.attribute('', 'URI') ?? '') ?? [];
  if (first?.is(ds11, 'NamedCurve') !== true || second?.is(ds11, 'PublicKey') !== true || size === undefined)
    return unsupportedToken('the curve of ECKeyValue is not supported. Use P-256, P-384 or P-521');
  const point = base64In(second);
  if (point[0] !== 4 || point.length !== 1 + 2 * size)
    return invalid({ expected: 'an uncompressed point in PublicKey', got: 'another value' }, 'shape');
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
  return { kty: 'EC', crv: name ?? '', x: x.toString('base64url'), y: y.toString('base64url') };
}
