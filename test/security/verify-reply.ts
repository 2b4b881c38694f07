import { constants, hash, verify, X509Certificate } from 'node:crypto';
import { XmlC14NMode, XmlDocument, type XmlElement, type XmlNode } from 'libxml2-wasm';

// Verifies signed replies with the canonical forms of libxml2 and the signatures of OpenSSL.

const namespaces = {
  s: 'http://schemas.xmlsoap.org/soap/envelope/',
  s12: 'http://www.w3.org/2003/05/soap-envelope',
  o: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  u: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  d: 'http://www.w3.org/2000/09/xmldsig#',
};

/** The content of a verified reply. */
export interface VerifiedReply {
  /** Short names of the algorithms, such as `rsa-sha256`. */
  readonly method: string;
  readonly digest: string;
  /** Local names of the signed elements, in the order of the References. */
  readonly covered: readonly string[];
  /** Local names of the children of Security, and of the blocks of Header. */
  readonly block: readonly string[];
  readonly header: readonly string[];
  /** Common name of the signer. */
  readonly signer: string;
}

function elementsAt(node: XmlNode, path: string): XmlElement[] {
  return node.find(path, namespaces) as XmlElement[];
}

function textAt(node: XmlNode, path: string): string {
  return (node.get(path, namespaces) as XmlElement | null)?.content ?? '';
}

function canonical(element: XmlElement): string {
  return element.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, withComments: false });
}

/** Verifies the only Signature of a reply. Throws an Error with the first difference. */
export function verifyReply(reply: string): VerifiedReply {
  const document = XmlDocument.fromBuffer(Buffer.from(reply));
  try {
    const [security, ...others] = elementsAt(document.root, '*[local-name()="Header"]/o:Security');
    if (security === undefined || others.length > 0) throw new Error(`expected one Security: ${reply}`);
    const info = elementsAt(security, 'd:Signature/d:SignedInfo')[0];
    const key = textAt(security, 'o:BinarySecurityToken');
    if (info === undefined) throw new Error(`expected a Signature: ${reply}`);
    const covered = elementsAt(info, 'd:Reference').map((reference) => {
      const uri = reference.attr('URI')?.value ?? '';
      const [element, ...rest] = elementsAt(document.root, `//*[@u:Id="${uri.slice(1)}"]`);
      if (element === undefined || rest.length > 0) throw new Error(`expected one element ${uri}`);
      const digest = nameOf(reference, 'd:DigestMethod');
      if (hash(digest, canonical(element), 'base64') !== textAt(reference, 'd:DigestValue'))
        throw new Error(`the digest of ${element.name} differs: ${reply}`);
      return element.name;
    });
    const certificate = new X509Certificate(Buffer.from(key, 'base64'));
    const method = nameOf(info, 'd:SignatureMethod');
    const isPss = method.endsWith('MGF1');
    const padding = isPss
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {};
    const isValid = verify(
      /sha\d+/.exec(method)?.[0],
      Buffer.from(canonical(info)),
      { key: certificate.publicKey, dsaEncoding: 'ieee-p1363', ...padding },
      Buffer.from(textAt(security, 'd:Signature/d:SignatureValue'), 'base64'),
    );
    if (!isValid) throw new Error(`the SignatureValue is wrong: ${reply}`);
    const namesAt = (path: string): string[] => elementsAt(document.root, path).map(({ name }) => name);
    return {
      method,
      digest: nameOf(info, 'd:Reference/d:DigestMethod'),
      covered,
      block: namesAt('*[local-name()="Header"]/o:Security/*'),
      header: namesAt('*[local-name()="Header"]/*'),
      signer: /CN=(.*)/.exec(certificate.subject)?.[1] ?? '',
    };
  } finally {
    document.dispose();
  }
}

function nameOf(element: XmlElement, path: string): string {
  const [method] = elementsAt(element, path);
  return method?.attr('Algorithm')?.value.split('#')[1] ?? '';
}
