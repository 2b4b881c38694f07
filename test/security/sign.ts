import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { canonicalize } from '../../mappings/security/canonical.ts';
import { Ids } from '../../mappings/security/message.ts';
import { readTree } from '../../mappings/security/tree.ts';
import { folder } from './captures.ts';

// Signs messages of the tests. The canonical forms equal those of libxml2.

const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const wsu = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';
const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/';
const ds = 'http://www.w3.org/2000/09/xmldsig#';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const x509 = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3';
const attachment =
  'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform';

/** A message to sign. */
export interface Message {
  /** The content of Body. */
  readonly payload?: string;
  /** The Ids of the References, in order. Body is `body`, the Timestamp `time`. */
  readonly references?: readonly string[];
  /** Times of the Timestamp. */
  readonly created?: string;
  readonly expires?: string;
  /** Further header blocks, and further children of the Security block. */
  readonly header?: string;
  readonly block?: string;
  readonly prefixes?: string;
  readonly transforms?: number;
  /** Signs the References in that many Signatures. */
  readonly signatures?: readonly (readonly string[])[];
  /** Declarations and attributes of Envelope. */
  readonly envelope?: string;
  readonly bodyId?: string;
  /** The namespace of the envelope. */
  readonly soap?: string;
  /** The name of the files of the signer's key and certificate. Default: alice. */
  readonly signer?: string;
  /** The KeyInfo of the Signatures. Default: a reference to the certificate of the signer. */
  readonly keyInfo?: string;
  /** Bytes of MIME parts by `cid:` reference. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** The payload of the usual message. */
export const usualPayload =
  '<GetEulaStatus xmlns="http://schemas.servicestack.net/types"><Request><SubUserName>jane</SubUserName></Request></GetEulaStatus>';

/** Returns the private key of a test. */
export function keyOf(name: string): KeyObject {
  return createPrivateKey(readFileSync(join(folder, `keys/${name}.key`)));
}

/** Returns the certificate of a test in base64. */
export function certificateOf(name: string): string {
  return readFileSync(join(folder, `keys/${name}.crt`), 'latin1').replace(/-----[^-]*-----|\s/g, '');
}

/** Returns a message that Alice or another test key signed. */
export function signed(message: Message = {}): string {
  const lists = message.signatures ?? [message.references ?? ['body', 'time']];
  const unsigned = envelopeOf(message, lists.map((_, index) => `<Signature${index}/>`).join(''));
  const tree = readTree(unsigned, defaultLimits);
  const ids = new Ids(tree.root);
  const prefixes = new Set((message.prefixes ?? '').split(' ').filter((one) => one !== ''));
  const form = { kind: 'exclusive', prefixes } as const;
  return lists.reduce((text, names, index) => {
    const references = names.map((name) => {
      if (name.startsWith('cid:'))
        return `<Reference URI="${name}"><Transforms><Transform Algorithm="${attachment}"></Transform></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod><DigestValue>${hash('sha256', message.parts?.[name] ?? '', 'base64')}</DigestValue></Reference>`;
      const octets = canonicalize(tree, ids.find(name), form, { left: 10_000_000 });
      const list =
        message.prefixes === undefined
          ? ''
          : `<e:InclusiveNamespaces xmlns:e="${exclusive}" PrefixList="${message.prefixes}"/>`;
      const enveloped = `<Transform Algorithm="${ds}enveloped-signature"></Transform>`.repeat(
        (message.transforms ?? 1) - 1,
      );
      return `<Reference URI="#${name}"><Transforms>${enveloped}<Transform Algorithm="${exclusive}">${list}</Transform></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod><DigestValue>${hash('sha256', octets, 'base64')}</DigestValue></Reference>`;
    });
    const info = `<SignedInfo xmlns="${ds}"><CanonicalizationMethod Algorithm="${exclusive}"></CanonicalizationMethod><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>${references.join('')}</SignedInfo>`;
    const info2 = readTree(info, defaultLimits);
    const octets = canonicalize(
      info2,
      info2.root,
      { kind: 'exclusive', prefixes: new Set() },
      { left: 10_000_000 },
    );
    const value = sign('sha256', Buffer.from(octets), keyOf(message.signer ?? 'alice')).toString('base64');
    const key =
      message.keyInfo ??
      `<KeyInfo><o:SecurityTokenReference><o:Reference URI="#token" ValueType="${x509}"/></o:SecurityTokenReference></KeyInfo>`;
    return text.replace(
      `<Signature${index}/>`,
      `<Signature xmlns="${ds}">${info.replace(` xmlns="${ds}"`, '')}<SignatureValue>${value}</SignatureValue>${key}</Signature>`,
    );
  }, unsigned);
}

function envelopeOf(message: Message, signatures: string): string {
  const {
    payload = usualPayload,
    created = '2026-11-27T18:00:00Z',
    expires = '2026-11-27T18:05:00Z',
  } = message;
  const { header = '', block = '', envelope = '', bodyId = 'body', soap = soap11 } = message;
  const certificate = certificateOf(message.signer ?? 'alice');
  const timestamp = `<u:Timestamp u:Id="time"><u:Created>${created}</u:Created><u:Expires>${expires}</u:Expires></u:Timestamp>`;
  const token = `<o:BinarySecurityToken u:Id="token" ValueType="${x509}">${certificate}</o:BinarySecurityToken>`;
  return `<s:Envelope xmlns:s="${soap}" xmlns:u="${wsu}"${envelope}><s:Header>${header}<o:Security xmlns:o="${wsse}">${timestamp}${token}${block}${signatures}</o:Security></s:Header><s:Body u:Id="${bodyId}">${payload}</s:Body></s:Envelope>`;
}
