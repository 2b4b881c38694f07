import { choice, flag, keyword, list, map, record, text, value } from './setting.ts';

/** Overlay keys of callers' credentials and of WS-Security. */

/** The name of an HTTP header that the API itself uses. */
export const headerName = (description: string) =>
  text(description, 'the name of an HTTP header that only the API uses', /^[A-Za-z0-9_-]+$/);

const credentialNames = (description: string) =>
  list(description, 'names from /credentials/headers', text('Name of a credential.'));

const credentialName = (description: string) => text(description, 'a name from /credentials/headers');

/** The key `credentials` (W24). */
export const credentials = record(
  'Credentials of callers. Default: those of the security schemes in the document.',
  {
    member: text('Member of every request body that may hold the credentials, an object of strings.'),
    headers: map(
      'Name of each credential, and the HTTP header that may hold it.',
      '`name: Header-Name`',
      headerName('Name of the HTTP header.'),
    ),
    required: credentialNames('Credentials without which a call gets HTTP 401.'),
    secret: credentialNames('Credentials whose values are removed from error texts.'),
    send: keyword('Place of the credentials in upstream requests.', 'body', 'headers'),
    basic: record('Credentials that HTTP Basic supplies. Default: HTTP Basic is not read.', {
      username: credentialName('Credential for the user name.'),
      password: credentialName('Credential for the password.'),
    }),
  },
);

/** The name of a file. It is empty in the overlay that `adopt` writes (X37). */
const fileName = (description: string) => text(description, 'the path of a file', /^/);

const files = (description: string) =>
  choice(
    `${description} Paths are relative to this file.`,
    fileName('Path of a file.'),
    list('Paths of files.', 'paths of files', fileName('Path of a file.')),
  );

/** Keys of `wsse` without those of a UsernameToken (X1). */
const signatureKeys = {
  timestamp: keyword('Whether a call needs a Timestamp.', 'optional', 'required'),
  x509: record('Verify signatures with X.509 certificates. Default: signatures are rejected.', {
    ca: files('Files with certificates of CAs that issue the certificates of callers.'),
    certificates: files('Files with certificates of callers, which are trusted without a CA.'),
    crl: files('Files with lists of revoked certificates (CRL), signed by a CA of `ca`.'),
    require: list(
      'What one signature of each call must cover; `encryption`: Body must be encrypted. Default: body and timestamp.',
      'body, timestamp, token, to, attachments, encryption',
      keyword('Part of a message.', 'body', 'timestamp', 'token', 'to', 'attachments', 'encryption'),
    ),
    credential: map(
      'The credential that the signer supplies.',
      '`name: subject`',
      keyword('Part of the certificate.', 'subject', 'commonName', 'san', 'fingerprint'),
    ),
    sha1: value(
      'Accepted uses of SHA-1: `false`, `signature` (rsa-sha1 over other digests), or `true` (also SHA-1 digests).',
    ),
    replay: keyword('Whether a message is rejected the second time.', 'refuse', 'allow'),
  }),
  sign: record('Sign replies to signed requests. Default: replies are not signed.', {
    key: fileName('File with the private key of the gateway, in PEM. Its path is relative to this file.'),
    certificate: fileName(
      'File with the certificate of the key, before certificates of its issuers. Its path is relative to this file.',
    ),
    confirmation: flag('Confirm the signatures of the request in the reply (SignatureConfirmation).'),
  }),
  decrypt: record('Decrypt requests. Default: encrypted requests are rejected.', {
    keys: list(
      'Key pairs of the gateway. List the old and the new one during a key rotation. Default: that of `sign`.',
      'objects with key and certificate',
      record('A key pair.', {
        key: text('File with an RSA private key, in PEM. Its path is relative to this file.'),
        certificate: text('File with the certificate of the key. Its path is relative to this file.'),
      }),
    ),
    cbc: flag('Accept AES-CBC in signed messages, for callers without AES-GCM.'),
  }),
  saml: record('Verify SAML assertions. Default: assertions are rejected.', {
    issuers: map(
      'Name of each issuer, and the file with its certificates. The path is relative to this file.',
      '`issuer: file`',
      text('Path of a file.'),
    ),
    audience: text('The audience that each assertion must name. Default: any audience.'),
    vouchers: list(
      'SHA-256 fingerprints of certificates whose signers may vouch for assertions (sender-vouches).',
      'fingerprints of 64 hex digits',
      text('SHA-256 fingerprint of a certificate.'),
    ),
    bearer: flag('Accept bearer assertions. The public URL must be https.'),
    credential: map(
      'The credential that an assertion supplies.',
      '`name: nameId`',
      text('`nameId`, or the name of an attribute.'),
    ),
  }),
  unverified: list(
    'Elements that are ignored without verification, for callers behind a proxy that verified them.',
    'Signature, BinarySecurityToken, Assertion',
    keyword('Child of the Security block.', 'Signature', 'BinarySecurityToken', 'Assertion'),
  ),
} as const;

/** The key `wsse` (W45, X1). */
export const wsse = record('WS-Security: read a UsernameToken and a Timestamp. Default: neither is read.', {
  username: credentialName('Credential for the element Username.'),
  password: credentialName('Credential for the element Password.'),
  digest: choice(
    'Password digests: rejected, checked with the secrets of SOAPBRIDGE_WSSE_SECRETS, or sent upstream as credentials.',
    keyword('Reject digests, or check them.', 'refuse', 'secrets'),
    record('Credentials for the parts of the digest.', {
      password: credentialName('Credential for the digest.'),
      nonce: credentialName('Credential for the element Nonce.'),
      created: credentialName('Credential for the element Created.'),
    }),
  ),
  ...signatureKeys,
});

/** The key `wsse` of a WSDL. The key `headers` configures a UsernameToken (A31). */
export const adoptedWsse = record(
  'WS-Security: verify and sign messages. Default: signed messages are rejected.',
  signatureKeys,
);
