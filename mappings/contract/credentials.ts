/** Credentials of callers: their sources in a request, and their destination upstream. */

/** The sources and the destination of credentials (W24, W25). */
export interface Credentials {
  /** The input member with the credentials, if callers may send them in the body. */
  readonly member: string | undefined;
  readonly parts: readonly CredentialPart[];
  readonly send: 'body' | 'headers';
  /** The credentials that user name and password of HTTP Basic supply; undefined if HTTP Basic is not read. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  /** The SOAP header block for credentials, in the types namespace; undefined if bodies have a member for them. */
  readonly block?: CredentialsBlock | undefined;
}

/** The SOAP header block of a caller's credentials, as the WSDL declares it (W24). */
export interface CredentialsBlock {
  /** The name of its element. */
  readonly element: string;
  /** The name of its type. */
  readonly type: string;
}

/** Settings for reading the header block `Security` of a request (W45). */
export interface Wsse {
  /** The credential that a UsernameToken's Username supplies; undefined if the contract reads no UsernameToken. */
  readonly username: string | undefined;
  /** The credential that its Password supplies. */
  readonly password: string | undefined;
  /** Treatment of a password digest: refused, checked with a secret, or sent upstream as credentials (W49). */
  readonly digest: 'refuse' | 'secrets' | DigestCredentials;
  readonly timestamp: 'optional' | 'required';
  /** Children of the block that are ignored and not refused (W50). */
  readonly unverified: readonly ('Signature' | 'BinarySecurityToken' | 'Assertion')[];
  /** Undefined: signatures are not verified. */
  readonly x509?: Signing | undefined;
  /** Undefined: replies are not signed. */
  readonly sign?: ReplySigning | undefined;
  /** Undefined: encrypted messages are refused. */
  readonly decrypt?: Decrypting | undefined;
  /** Undefined: SAML Assertions are refused. */
  readonly saml?: Saml | undefined;
}

/** Settings for decrypting requests (X23). */
export interface Decrypting {
  /** Pairs of RSA keys. A message names one by its certificate. */
  readonly keys: readonly KeyPair[];
  /** True to accept AES-CBC (X24). */
  readonly cbc: boolean;
}

/** Settings for reading SAML Assertions (X26). */
export interface Saml {
  /** Names of issuers, and their certificates in DER in base64. */
  readonly issuers: readonly { readonly name: string; readonly certificates: readonly string[] }[];
  /** The audience that an Assertion must name; undefined for any. */
  readonly audience: string | undefined;
  /** SHA-256 fingerprints of signers that may vouch, in hex. */
  readonly vouchers: readonly string[];
  readonly bearer: boolean;
  /** The credential that an Assertion supplies, from `nameId` or the attribute with a name. */
  readonly credential: { readonly name: string; readonly from: string } | undefined;
  /** Paths of the files of certificates. */
  readonly files: readonly string[];
}

/** Returns true for a contract that remembers messages, nonces or burnt keys (W49, X17, X24, X26). */
export function remembersMessages(wsse: Wsse | undefined): boolean {
  return (
    wsse?.digest === 'secrets' ||
    wsse?.x509?.replay === 'refuse' ||
    wsse?.saml !== undefined ||
    wsse?.decrypt?.cbc === true
  );
}

/** Returns the credentials that only a verified message supplies, and the part of the message (X20, X26). */
export function verifiedCredentialsOf(
  wsse: Wsse | undefined,
): ReadonlyMap<string, 'signature' | 'assertion'> {
  const names = new Map<string, 'signature' | 'assertion'>();
  if (wsse?.x509?.credential !== undefined) names.set(wsse.x509.credential.name, 'signature');
  if (wsse?.saml?.credential !== undefined) names.set(wsse.saml.credential.name, 'assertion');
  return names;
}

/** A private key of the gateway with its certificate. The loader has checked that they belong together (X2). */
export interface KeyPair {
  /** PKCS #8 in DER in base64. It is in no log, error or reply. */
  readonly key: string;
  /** The certificate of the key, and those of its issuers. They are DER in base64. */
  readonly certificates: readonly [string, ...string[]];
  /** Paths of the files. */
  readonly files: readonly string[];
}

/** Settings for signing replies (X30). */
export interface ReplySigning extends KeyPair {
  /** True if replies confirm the signatures of their requests (X33). */
  readonly confirmation: boolean;
}

/** Settings for verifying signatures (X1). The loader has checked the certificates and CRLs. They are DER in base64. */
export interface Signing {
  readonly cas: readonly string[];
  /** Certificates of callers that are trusted without a CA. */
  readonly certificates: readonly string[];
  readonly crls: readonly string[];
  /** Parts that one signature of each call must cover (X4). */
  readonly require: readonly ('body' | 'timestamp' | 'token' | 'to' | 'attachments' | 'encryption')[];
  /** The credential that the signer supplies, and the part of the certificate (X20). */
  readonly credential:
    | { readonly name: string; readonly from: 'subject' | 'commonName' | 'san' | 'fingerprint' }
    | undefined;
  /** Accepted uses of SHA-1 (X9). */
  readonly sha1: false | 'signature' | true;
  readonly replay: 'refuse' | 'allow';
  /** Paths of the files of certificates and CRLs. */
  readonly files: readonly string[];
}

/** The credentials for the parts of a digest. */
export interface DigestCredentials {
  readonly password: string;
  readonly nonce: string;
  readonly created: string;
}

/** One value of a caller's credentials, for example a user or a key. */
export interface CredentialPart {
  readonly name: string;
  /** XML name in the body's member, or in the SOAP header block. */
  readonly xml: string;
  /** The HTTP header that callers may send it in. */
  readonly header: string;
  /** Its position in the upstream request, unless that is the body. */
  readonly sent: { readonly in: 'header' | 'query' | 'cookie'; readonly name: string };
  readonly required: boolean;
  /** True for a value that must not be in a log, error or reply. */
  readonly secret: boolean;
  /** The place in a declared SOAP header block that callers send it in (A8); undefined for other credentials. */
  readonly moved?: MovedFrom | undefined;
}

/** A scalar of a SOAP header block that is sent upstream in an HTTP header (A8). */
export interface MovedFrom {
  readonly block: string;
  /** The path of the scalar in the block, by JSON names. */
  readonly path: readonly string[];
  /** The value of the HTTP header, with `{}` for the scalar's text. */
  readonly format: string;
}

/** A scalar of a declared header block that is sent upstream as a credential, in an HTTP header (A8). */
export interface MovedHeader extends MovedFrom {
  /** The credential's name: `{block}.{path}`. */
  readonly name: string;
  /** The HTTP header's name. */
  readonly header: string;
}

/** Returns true if a contract accepts only signed calls, which are SOAP calls (X4). */
export function requiresSignature(wsse: Wsse | undefined): boolean {
  return (wsse?.x509?.require.length ?? 0) > 0;
}

/** The credentials of a contract that callers send in declared header blocks (A8). */
export function movedHeadersOf(credentials: Credentials | undefined): readonly MovedHeader[] {
  return (credentials?.parts ?? []).flatMap(({ name, header, moved }) =>
    moved === undefined ? [] : [{ name, header, ...moved }],
  );
}
