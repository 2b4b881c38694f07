import { namespaces } from '../contract/model.ts';

const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0';
const security = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0';

/** Namespaces of signatures. */
export const names = {
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: namespaces.xenc,
  xop: namespaces.xop,
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
  wsse: namespaces.wsse,
  wsse11: namespaces.wsse11,
  wsu: namespaces.wsu,
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  saml: ['urn:oasis:names:tc:SAML:2.0:assertion', 'urn:oasis:names:tc:SAML:1.0:assertion'],
} as const;

/** Values of ValueType and EncodingType (X10). */
export const valueTypes = {
  certificate: `${profile}#X509v3`,
  path: `${profile}#X509PKIPathv1`,
  keyId: `${profile}#X509SubjectKeyIdentifier`,
  thumbprint: 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1',
  base64: `${security}#Base64Binary`,
  assertion2: 'http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLID',
  assertion1: 'http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.0#SAMLAssertionID',
} as const;

/** A method of ds:SignatureMethod. */
export interface SignatureMethod {
  readonly name: string;
  readonly hash: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  readonly key: 'rsa' | 'ec';
  /** True for RSASSA-PSS, with a salt as long as the hash (RFC 9231, 2.3.10). */
  readonly isPss: boolean;
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const later = 'http://www.w3.org/2007/05/xmldsig-more#';
const strong = ['sha256', 'sha384', 'sha512'] as const;

/** Signature methods by URI (X9). */
export const signatureMethods: ReadonlyMap<string, SignatureMethod> = new Map<string, SignatureMethod>([
  [`${names.ds}rsa-sha1`, { name: 'rsa-sha1', hash: 'sha1', key: 'rsa', isPss: false }],
  ...strong.flatMap((hash): [string, SignatureMethod][] => [
    [`${more}rsa-${hash}`, { name: `rsa-${hash}`, hash, key: 'rsa', isPss: false }],
    [`${later}${hash}-rsa-MGF1`, { name: `${hash}-rsa-MGF1`, hash, key: 'rsa', isPss: true }],
    [`${more}ecdsa-${hash}`, { name: `ecdsa-${hash}`, hash, key: 'ec', isPss: false }],
  ]),
]);

/** Digest methods by URI (X9). */
export const digestMethods: ReadonlyMap<string, SignatureMethod['hash']> = new Map([
  [`${names.ds}sha1`, 'sha1'],
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  [`${more}sha384`, 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
]);

/** Canonical forms by URI (X9). Forms with comments are not accepted. */
export const canonicalForms: ReadonlyMap<string, 'exclusive' | 'inclusive' | 'inclusive11'> = new Map([
  [names.exclusive, 'exclusive'],
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', 'inclusive'],
  ['http://www.w3.org/2006/12/xml-c14n11', 'inclusive11'],
] as const);

/** URIs of the other transforms (X9). */
export const transforms = {
  enveloped: `${names.ds}enveloped-signature`,
  token: `${security}#STR-Transform`,
  attachment:
    'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform',
} as const;
