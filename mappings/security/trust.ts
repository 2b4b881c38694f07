import { hash } from 'node:crypto';
import {
  type Certificate,
  keyUsageBit,
  maxPathCertificates,
  parseCertificate,
  parsePath,
} from './certificate.ts';
import type { Crl } from './crl.ts';
import { rsaBits, rsaRange } from './key-size.ts';

/** Why a certificate is not trusted, for the log (X11). */
export type Distrust =
  | 'expired'
  | 'not yet valid'
  | 'revoked'
  | 'unknown CA'
  | 'not for signatures'
  | 'short key'
  | 'weak signature';

/** A token with a certificate, and its path to a CA. */
export interface Token {
  readonly signer: Certificate;
  /** The other certificates of a PKIPath. */
  readonly others: readonly Certificate[];
  /** Kind and SHA-256 of the bytes of the token. The cache of results uses it as key. */
  readonly id: string;
}

/** The form of the bytes of a token, which its ValueType states (X10). */
export type TokenKind = 'certificate' | 'path';

/** Returns the key of a token for caches. The same bytes are no token of another kind. */
export function tokenId(bytes: Buffer, kind: TokenKind): string {
  return `${kind} ${hash('sha256', bytes, 'latin1')}`;
}

/** Returns the token of a certificate without a path. */
export function tokenOf(signer: Certificate): Token {
  return { signer, others: [], id: tokenId(signer.bytes, 'certificate') };
}

/** Time for which a result is used again, in ms, and the number of remembered results (X11). */
export const trustCache = { ms: 60_000, most: 1_000 } as const;

/** Certificates and CRLs that a contract trusts. */
export interface Anchors {
  readonly cas: readonly Certificate[];
  readonly certificates: readonly Certificate[];
  readonly crls: readonly Crl[];
  /** True to accept certificates that were signed with SHA-1. Default: false. */
  readonly acceptsSha1?: boolean;
}

interface Remembered {
  readonly token: Token;
  readonly from: number;
  readonly until: number;
}

/** Decides which signers a contract trusts. */
export class Trust {
  readonly anchors: Anchors;
  readonly #known: ReadonlySet<string>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(anchors: Anchors) {
    this.anchors = anchors;
    this.#known = new Set(anchors.certificates.map(({ bytes }) => bytes.toString('latin1')));
  }

  /**
   * Parses a certificate, or a path of certificates. Returns undefined for other bytes.
   *
   * @param id the `tokenId` of the bytes
   */
  parse(bytes: Buffer, kind: TokenKind, id: string, now: number): Token | undefined {
    const remembered = this.#remembered.get(id);
    if (remembered !== undefined && isDuring(remembered, now)) return remembered.token;
    if (kind === 'path') {
      const path = parsePath(bytes);
      const signer = path?.at(-1);
      return signer === undefined ? undefined : { signer, others: path?.slice(0, -1) ?? [], id };
    }
    const signer = parseCertificate(bytes);
    return signer === undefined ? undefined : { signer, others: [], id };
  }

  /**
   * Checks the certificate of a signer (X11).
   *
   * @param now time in ms since 1970
   * @returns undefined for a trusted certificate
   */
  check(token: Token, now: number): Distrust | undefined {
    const remembered = this.#remembered.get(token.id);
    if (remembered !== undefined && isDuring(remembered, now)) return undefined;
    const { signer } = token;
    const found = distrustOfSigner(signer) ?? this.#pathProblem(token, now);
    if (typeof found === 'string') return found;
    const until = Math.min(now + trustCache.ms, found.to);
    if (this.#remembered.size >= trustCache.most) this.#remembered.clear();
    this.#remembered.set(token.id, { token, from: now, until });
    return undefined;
  }

  /** Returns the end of the validity of a trusted path, or the reason for no trust. */
  #pathProblem(token: Token, now: number): { readonly to: number } | Distrust {
    const { signer, others } = token;
    if (this.#known.has(signer.bytes.toString('latin1')))
      return this.#timeProblem(signer, now) ?? { to: signer.to };
    let problem: Distrust = 'unknown CA';
    for (const path of this.#pathsFrom([signer], others)) {
      const found = this.#problemOf(path, now);
      if (found === undefined) return { to: Math.min(...path.map(({ to }) => to)) };
      if (found !== 'unknown CA') problem = found;
    }
    return problem;
  }

  /** Yields the paths from a signer to a CA, by names. Names prove nothing: `#problemOf` verifies the signatures. */
  *#pathsFrom(
    path: readonly Certificate[],
    others: readonly Certificate[],
  ): Generator<readonly Certificate[]> {
    const last = path.at(-1);
    if (last === undefined) return;
    if (this.anchors.cas.some(({ bytes }) => bytes.equals(last.bytes))) yield path;
    if (path.length >= maxPathCertificates) return;
    for (const ca of this.anchors.cas)
      if (ca.subject.equals(last.issuer) && !path.includes(ca)) yield [...path, ca];
    for (const other of others)
      if (other.subject.equals(last.issuer) && !path.includes(other))
        yield* this.#pathsFrom([...path, other], others);
  }

  /** Checks a path from the CA down, so that only keys of trusted certificates verify signatures. */
  #problemOf(path: readonly Certificate[], now: number): Distrust | undefined {
    for (let at = path.length - 1; at >= 0; at--) {
      const certificate = path[at];
      if (certificate === undefined) continue;
      const issuer = path[at + 1];
      if (issuer !== undefined && !certificate.x509.verify(issuer.publicKey)) return 'unknown CA';
      if (issuer !== undefined && !this.#isStrong(certificate)) return 'weak signature';
      const problem = this.#timeProblem(certificate, now);
      if (problem !== undefined) return problem;
      if (at > 0 && !isIssuer(certificate, at - 1)) return 'unknown CA';
    }
    return undefined;
  }

  /** Checks the hash of a certificate's signature (X9). That of an anchor is not used. */
  #isStrong({ strength }: Certificate): boolean {
    return strength === 'strong' || (strength === 'sha1' && this.anchors.acceptsSha1 === true);
  }

  #timeProblem(certificate: Certificate, now: number): Distrust | undefined {
    if (now > certificate.to) return 'expired';
    if (now < certificate.from) return 'not yet valid';
    const { crls } = this.anchors;
    if (crls.length === 0) return undefined;
    const issuer = certificate.issuer.toString('hex');
    const serial = String(certificate.serial);
    return crls.some((crl) => crl.issuer === issuer && crl.revoked.has(serial)) ? 'revoked' : undefined;
  }
}

/** @param below number of CAs below this one in its path */
function isIssuer(certificate: Certificate, below: number): boolean {
  const { isCa, keyUsage, pathLength, hasUnknownCritical, hasNameConstraints, publicKey } = certificate;
  return (
    isCa &&
    !hasUnknownCritical &&
    !hasNameConstraints &&
    (keyUsage === undefined || (keyUsage & keyUsageBit.keyCertSign) !== 0) &&
    (pathLength === undefined || below <= pathLength) &&
    isLongEnough(rsaBits(publicKey))
  );
}

function distrustOfSigner(certificate: Certificate): Distrust | undefined {
  const { keyUsage, publicKey, hasUnknownCritical } = certificate;
  const forSignatures = keyUsageBit.digitalSignature | keyUsageBit.nonRepudiation;
  if (hasUnknownCritical || (keyUsage !== undefined && (keyUsage & forSignatures) === 0))
    return 'not for signatures';
  return isLongEnough(rsaBits(publicKey)) ? undefined : 'short key';
}

function isLongEnough(bits: number | undefined): boolean {
  return bits === undefined || (bits >= rsaRange.least && bits <= rsaRange.most);
}

function isDuring({ from, until }: Remembered, now: number): boolean {
  return from <= now && now < until;
}
