import { createPublicKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { canonicalize } from '../../mappings/security/canonical.ts';
import { readTree } from '../../mappings/security/tree.ts';
import { folder } from './captures.ts';
import { certificateOf, keyOf } from './sign.ts';

// Issues SAML assertions of the tests. The canonical forms equal those of libxml2.

const ds = 'http://www.w3.org/2000/09/xmldsig#';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const saml2 = 'urn:oasis:names:tc:SAML:2.0:assertion';
const saml1 = 'urn:oasis:names:tc:SAML:1.0:assertion';
const profile = 'http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1';

/** An assertion to issue. */
export interface Issued {
  readonly version?: '2.0' | '1.1';
  readonly method?: string;
  readonly issuer?: string;
  readonly id?: string;
  /** The name of the files of the key that signs it; undefined for none. */
  readonly signedBy?: string | undefined;
  readonly nameId?: string;
  /** The content of KeyInfo of the holder. */
  readonly holder?: string;
  /** Attributes of SubjectConfirmationData. */
  readonly data?: string;
  readonly notBefore?: string;
  readonly notOnOrAfter?: string | undefined;
  /** Further conditions. */
  readonly conditions?: string;
  readonly audiences?: readonly string[];
  readonly attributes?: string;
  /** Further confirmations of the subject. */
  readonly confirmations?: string;
  /** The KeyInfo of its Signature. */
  readonly keyInfo?: string;
  readonly transforms?: string;
  /** Changes the assertion before it is signed. */
  readonly change?: (text: string) => string;
}

/** Returns X509Data with the certificate of a test. */
export function dataOf(name: string): string {
  return `<X509Data><X509Certificate>${certificateOf(name)}</X509Certificate></X509Data>`;
}

/** Returns a KeyValue with the key of a certificate of a test. */
export function keyValueOf(name: string): string {
  const key = createPublicKey(readFileSync(join(folder, `keys/${name}.crt`)));
  const { n = '', e = '', x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  if (key.asymmetricKeyType === 'rsa')
    return `<KeyValue><RSAKeyValue><Modulus>${bytes(n).toString('base64')}</Modulus><Exponent>${bytes(e).toString('base64')}</Exponent></RSAKeyValue></KeyValue>`;
  const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)]).toString('base64');
  return `<KeyValue><d:ECKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#"><d:NamedCurve URI="urn:oid:1.2.840.10045.3.1.7"/><d:PublicKey>${point}</d:PublicKey></d:ECKeyValue></KeyValue>`;
}

/** Returns the KeyInfo of a message's Signature that names an assertion. */
export function keyInfoOf(id = '_a', version: '2.0' | '1.1' = '2.0'): string {
  const type = version === '2.0' ? `${profile}.1#SAMLID` : `${profile}.0#SAMLAssertionID`;
  return `<KeyInfo><o:SecurityTokenReference xmlns:o="${wsse}"><o:KeyIdentifier ValueType="${type}">${id}</o:KeyIdentifier></o:SecurityTokenReference></KeyInfo>`;
}

/** Returns an assertion. By default, sts issues it for the holder of the key of alice. */
export function assertion(issued: Issued = {}): string {
  const { id = '_a', signedBy = 'sts', change = (text) => text } = issued;
  const unsigned = change(issued.version === '1.1' ? version1(issued, id) : version2(issued, id));
  if ('signedBy' in issued && issued.signedBy === undefined) return unsigned.replace('<Signature/>', '');
  const bare = readTree(unsigned.replace('<Signature/>', ''), defaultLimits);
  const form = { kind: 'exclusive', prefixes: new Set<string>() } as const;
  const digest = hash('sha256', canonicalize(bare, bare.root, form, { left: 1_000_000 }), 'base64');
  const transforms =
    issued.transforms ??
    `<Transform Algorithm="${ds}enveloped-signature"></Transform><Transform Algorithm="${exclusive}"></Transform>`;
  const info = `<SignedInfo xmlns="${ds}"><CanonicalizationMethod Algorithm="${exclusive}"></CanonicalizationMethod><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod><Reference URI="#${id}"><Transforms>${transforms}</Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod><DigestValue>${digest}</DigestValue></Reference></SignedInfo>`;
  const value = sign('sha256', Buffer.from(info), keyOf(signedBy)).toString('base64');
  const key = issued.keyInfo ?? `<KeyInfo>${dataOf(signedBy)}</KeyInfo>`;
  return unsigned.replace(
    '<Signature/>',
    `<Signature xmlns="${ds}">${info.replace(` xmlns="${ds}"`, '')}<SignatureValue>${value}</SignatureValue>${key}</Signature>`,
  );
}

const start = '2026-11-27T18:00:00Z';
const end = '2026-11-27T18:05:00Z';

function windowOf({ notBefore = start, ...issued }: Issued): string {
  const until = 'notOnOrAfter' in issued ? issued.notOnOrAfter : end;
  return `NotBefore="${notBefore}"${until === undefined ? '' : ` NotOnOrAfter="${until}"`}`;
}

function version2(issued: Issued, id: string): string {
  const {
    method = 'holder-of-key',
    issuer = 'urn:test:sts',
    nameId = 'alice@lab',
    audiences = ['urn:soapbridge:screening'],
  } = issued;
  const {
    holder = dataOf('alice'),
    data = '',
    conditions = '',
    attributes = '',
    confirmations = '',
  } = issued;
  const key = method === 'holder-of-key' ? `<KeyInfo xmlns="${ds}">${holder}</KeyInfo>` : '';
  const confirmation = `<a:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:${method}"><a:SubjectConfirmationData${data}>${key}</a:SubjectConfirmationData></a:SubjectConfirmation>${confirmations}`;
  const audience = audiences.map((one) => `<a:Audience>${one}</a:Audience>`).join('');
  const restriction = audience === '' ? '' : `<a:AudienceRestriction>${audience}</a:AudienceRestriction>`;
  return `<a:Assertion xmlns:a="${saml2}" ID="${id}" IssueInstant="${start}" Version="2.0"><a:Issuer>${issuer}</a:Issuer><Signature/><a:Subject><a:NameID>${nameId}</a:NameID>${confirmation}</a:Subject><a:Conditions ${windowOf(issued)}>${restriction}${conditions}</a:Conditions><a:AttributeStatement>${attributes}<a:Attribute Name="role"><a:AttributeValue>officer</a:AttributeValue></a:Attribute></a:AttributeStatement></a:Assertion>`;
}

function version1(issued: Issued, id: string): string {
  const { method = 'holder-of-key', issuer = 'urn:test:sts', nameId = 'alice@lab' } = issued;
  const { holder = dataOf('alice'), conditions = '', audiences = ['urn:soapbridge:screening'] } = issued;
  const key = method === 'holder-of-key' ? `<KeyInfo xmlns="${ds}">${holder}</KeyInfo>` : '';
  const subject = (name: string): string =>
    `<a:Subject><a:NameIdentifier>${name}</a:NameIdentifier><a:SubjectConfirmation><a:ConfirmationMethod>urn:oasis:names:tc:SAML:1.0:cm:${method}</a:ConfirmationMethod>${key}</a:SubjectConfirmation></a:Subject>`;
  const audience = audiences.map((one) => `<a:Audience>${one}</a:Audience>`).join('');
  return `<a:Assertion xmlns:a="${saml1}" AssertionID="${id}" Issuer="${issuer}" IssueInstant="${start}" MajorVersion="1" MinorVersion="1"><a:Conditions ${windowOf(issued)}><a:AudienceRestrictionCondition>${audience}</a:AudienceRestrictionCondition>${conditions}</a:Conditions><a:AuthenticationStatement AuthenticationMethod="urn:x" AuthenticationInstant="${start}">${subject(nameId)}</a:AuthenticationStatement><a:AttributeStatement>${subject(nameId)}<a:Attribute AttributeName="role" AttributeNamespace="urn:x"><a:AttributeValue>officer</a:AttributeValue></a:Attribute></a:AttributeStatement><Signature/></a:Assertion>`;
}
