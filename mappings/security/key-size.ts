import type { KeyObject } from 'node:crypto';

/** Size of a coordinate of a supported EC curve in bytes. An ECDSA value has two numbers of this size (X9). */
export type CurveBytes = 32 | 48 | 66;

/** Supported curves by their names in OpenSSL: P-256, P-384 and P-521. */
const curves: Readonly<Record<string, CurveBytes>> = { prime256v1: 32, secp384r1: 48, secp521r1: 66 };

/** Returns the coordinate size of an EC key; undefined for another curve and for another key. */
export function curveBytes({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): CurveBytes | undefined {
  return asymmetricKeyType === 'ec' ? curves[asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
}

/** Bounds of RSA keys in bits (X2, X11). */
export const rsaRange = { least: 2_048, most: 8_192 } as const;

/** Returns the size of an RSA key in bits; undefined for another key. */
export function rsaBits({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): number | undefined {
  const isRsa = asymmetricKeyType === 'rsa' || asymmetricKeyType === 'rsa-pss';
  return isRsa ? (asymmetricKeyDetails?.modulusLength ?? 0) : undefined;
}
