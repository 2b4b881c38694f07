import { requiresSignature, type Wsse } from '../../mappings/contract/credentials.ts';
import { fitsEndorsed, lackingForSigned } from '../policy.ts';

/** The call that the files configure. */
interface Signed {
  readonly wsdl: string;
  /** The policy of the WSDL that the clients obey; undefined if no policy fits the settings (X35). */
  readonly policy: 'signed' | 'endorsed' | undefined;
  readonly signsReplies: boolean;
  readonly sha1: boolean | 'signature';
  /** True if Body must be encrypted. */
  readonly isEncrypted: boolean;
}

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/**
 * Returns configurations of clients that sign, by path; none for a contract that requires no signatures (X38). Clients
 * that cannot satisfy `require` have none.
 */
export function signingFiles(wsse: Wsse | undefined, wsdl: string): ReadonlyMap<string, string> {
  const { x509, sign } = wsse ?? {};
  if (wsse === undefined || x509 === undefined || !requiresSignature(wsse)) return new Map();
  const isEndorsed = wsdl.startsWith('https:') && fitsEndorsed(wsse);
  const policy = lackingForSigned(wsse) === undefined ? 'signed' : isEndorsed ? 'endorsed' : undefined;
  const isEncrypted = x509.require.includes('encryption');
  const signed: Signed = { wsdl, policy, signsReplies: sign !== undefined, sha1: x509.sha1, isEncrypted };
  const files = clients.filter(({ fits }) => fits(signed));
  return new Map([
    ['signing/README.txt', readme(signed, x509.require, files)],
    ...files.map(({ name, text }) => [`signing/${name}`, text(signed)] as const),
  ]);
}

/** The configuration of a client. */
interface Client {
  readonly name: string;
  readonly description: (signed: Signed) => string;
  /** Returns true if the client can send what the contract requires. */
  readonly fits: (signed: Signed) => boolean;
  readonly text: (signed: Signed) => string;
}

/** Clients that need a policy, and encrypt if it says so. */
const followsPolicy: Client['fits'] = ({ policy }) => policy !== undefined;
const encryptsNothing: Client['fits'] = ({ isEncrypted }) => !isEncrypted;

const clients: readonly Client[] = [
  {
    name: 'cxf.properties',
    description: (signed) => `CXF, which reads the policy of ${addressOf(signed)}`,
    fits: followsPolicy,
    text: cxf,
  },
  {
    name: 'metro.xml',
    description: (signed) => `Metro: keys for the policy of ${addressOf(signed)}`,
    // signs with RSA-SHA1 only
    fits: ({ policy, sha1 }) => policy !== undefined && sha1 !== false,
    text: metro,
  },
  {
    name: 'rampart.xml',
    description: (signed) => `Axis2 with Rampart: keys for the policy of ${addressOf(signed)}`,
    fits: ({ policy }) => policy === 'signed',
    text: rampart,
  },
  { name: 'wcf.config', description: () => 'WCF: a customBinding', fits: followsPolicy, text: wcf },
  {
    name: 'zeep_signing.py',
    description: () => 'zeep: BinarySignature with SHA-256 and a Timestamp',
    fits: encryptsNothing,
    text: zeep,
  },
  {
    name: 'node-soap.mjs',
    description: () => 'node-soap: WSSecurityCert',
    fits: encryptsNothing,
    text: nodeSoap,
  },
  {
    name: 'wse-php.php',
    description: () => 'PHP: wse-php with SHA-256',
    fits: encryptsNothing,
    text: wsePhp,
  },
  {
    name: 'soapui.txt',
    description: () => 'SoapUI: outgoing WS-Security configuration',
    fits: encryptsNothing,
    text: soapUi,
  },
];

function addressOf({ wsdl, policy }: Signed): string {
  return policy === undefined ? wsdl : `${wsdl}&policy=${policy}`;
}

function readme(signed: Signed, require: readonly string[], files: readonly Client[]): string {
  const replies = signed.signsReplies
    ? 'Replies to signed calls are signed. The certificate of the service is gateway.crt in these files.'
    : 'Replies are not signed.';
  const lines = files.map(({ name, description }) => `${name.padEnd(17)}${description(signed)}`);
  const items = require.filter((item) => item !== 'encryption').join(', ');
  const encrypted = signed.isEncrypted ? ' Body must be encrypted for that certificate.' : '';
  return `Each call must be signed with an X.509 certificate. One signature covers: ${items}.
Only SOAP calls can be signed. ${replies}${encrypted}
caller.key and caller.crt are your key and certificate, and caller.p12 has both.

${lines.join('\n')}

WSSecurityCertWithToken of node-soap 1.13.0 cannot be verified: its Reference names #_0, but Body has no Id.
Use WSSecurityCert or WSSecurityPlusCert.
`;
}

function cxf(signed: Signed): string {
  const algorithm =
    signed.sha1 === false
      ? `# RSA-SHA1, which CXF uses by default, is not accepted\nws-security.asymmetric.signature.algorithm=${rsaSha256}\n`
      : '';
  return `# Properties of CXF's request context or of a jaxws:client. Generate the client from
# ${addressOf(signed)}
ws-security.signature.username=caller
ws-security.signature.properties=caller.properties
ws-security.callback-handler=YOUR_PASSWORD_CALLBACK
# the certificate of the service, by its alias in the same keystore
ws-security.encryption.username=gateway
ws-security.encryption.properties=caller.properties
${algorithm}
# caller.properties:
#   org.apache.wss4j.crypto.provider=org.apache.wss4j.common.crypto.Merlin
#   org.apache.wss4j.crypto.merlin.keystore.type=pkcs12
#   org.apache.wss4j.crypto.merlin.keystore.file=caller.p12
#   org.apache.wss4j.crypto.merlin.keystore.password=YOUR_PASSWORD
#   org.apache.wss4j.crypto.merlin.keystore.alias=caller
`;
}

function metro(signed: Signed): string {
  const store = 'location="caller.p12" type="PKCS12" storepass="YOUR_PASSWORD"';
  const namespace = 'xmlns:sc="http://schemas.sun.com/2006/03/wss/client"';
  return `<!-- Save the WSDL ${addressOf(signed)}
     and add these elements at the start of its wsp:All. The client must use the saved WSDL.
     caller.p12 also has the certificate of the service, by the alias gateway. -->
<sc:KeyStore ${namespace}
  ${store} alias="caller"/>
<sc:TrustStore ${namespace}
  ${store} peeralias="gateway"/>
`;
}

function rampart(signed: Signed): string {
  const merlin = 'org.apache.ws.security.crypto.merlin';
  const crypto = (name: string): string => `  <ramp:${name}>
    <ramp:crypto provider="org.apache.ws.security.components.crypto.Merlin">
      <ramp:property name="${merlin}.keystore.type">pkcs12</ramp:property>
      <ramp:property name="${merlin}.file">caller.p12</ramp:property>
      <ramp:property name="${merlin}.keystore.password">YOUR_PASSWORD</ramp:property>
    </ramp:crypto>
  </ramp:${name}>
`;
  return `<!-- Save the WSDL ${addressOf(signed)}
     and add this element at the start of its wsp:All. The stub needs the policy of the saved WSDL and the module rampart.
     caller.p12 also has the certificate of the service, by the alias gateway. -->
<ramp:RampartConfig xmlns:ramp="http://ws.apache.org/rampart/policy">
  <ramp:user>caller</ramp:user>
  <ramp:encryptionUser>gateway</ramp:encryptionUser>
  <ramp:passwordCallbackClass>YOUR_PASSWORD_CALLBACK</ramp:passwordCallbackClass>
${crypto('signatureCrypto')}${crypto('encryptionCrypto')}</ramp:RampartConfig>
`;
}

function wcf({ policy, isEncrypted }: Signed): string {
  const isSigned = policy === 'signed';
  const level = isSigned
    ? ` Set ProtectionLevel.${isEncrypted ? 'EncryptAndSign' : 'Sign'} on the service contract.`
    : '';
  const mode = isSigned ? 'MutualCertificate' : 'CertificateOverTransport';
  const service = isSigned
    ? '\n          <serviceCertificate><defaultCertificate storeName="TrustedPeople" storeLocation="CurrentUser" x509FindType="FindBySubjectName" findValue="gateway"/></serviceCertificate>'
    : '';
  return `<!-- Not run: this stack is not among those that are tested here.${level} -->
<configuration>
  <system.serviceModel>
    <bindings>
      <customBinding>
        <binding name="signing">
          <security authenticationMode="${mode}" includeTimestamp="true" defaultAlgorithmSuite="Basic256Sha256"
            messageSecurityVersion="WSSecurity10WSTrustFebruary2005WSSecureConversationFebruary2005WSSecurityPolicy11BasicSecurityProfile10"
            securityHeaderLayout="Lax"/>
          <textMessageEncoding messageVersion="Soap11"/>
          <${isSigned ? 'httpTransport' : 'httpsTransport'}/>
        </binding>
      </customBinding>
    </bindings>
    <behaviors>
      <endpointBehaviors>
        <behavior name="signing"><clientCredentials>
          <clientCertificate storeName="My" storeLocation="CurrentUser" x509FindType="FindBySubjectName" findValue="caller"/>${service}
        </clientCredentials></behavior>
      </endpointBehaviors>
    </behaviors>
  </system.serviceModel>
</configuration>
`;
}

function zeep({ wsdl, signsReplies }: Signed): string {
  const verify = signsReplies ? 'self.gateway.verify(envelope)' : 'envelope';
  return `# pip install zeep xmlsec
from datetime import datetime, timedelta, timezone

import xmlsec
import zeep
from zeep.wsse.signature import BinarySignature
from zeep.wsse.utils import WSU, get_security_header

METHODS = {"signature_method": xmlsec.Transform.RSA_SHA256, "digest_method": xmlsec.Transform.SHA256}


def instant(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Signing:
    """Signs Body and a Timestamp${signsReplies ? ', and verifies replies with the certificate of the service' : ''}."""

    def __init__(self):
        self.caller = BinarySignature("caller.key", "caller.crt", **METHODS)
${signsReplies ? '        self.gateway = BinarySignature("caller.key", "gateway.crt", **METHODS)\n' : ''}
    def apply(self, envelope, headers):
        now = datetime.now(timezone.utc)
        times = [WSU.Created(instant(now)), WSU.Expires(instant(now + timedelta(minutes=5)))]
        get_security_header(envelope).append(WSU.Timestamp(*times))
        return self.caller.apply(envelope, headers)

    def verify(self, envelope):
        return ${verify}


client = zeep.Client(${JSON.stringify(wsdl)}, wsse=Signing())
`;
}

function nodeSoap({ wsdl }: Signed): string {
  return `// npm install soap
import { readFileSync } from 'node:fs';
import soap from 'soap';

const client = await soap.createClientAsync(${JSON.stringify(wsdl)});
client.setSecurity(
  new soap.WSSecurityCert(readFileSync('caller.key', 'utf8'), readFileSync('caller.crt', 'utf8'), '', {
    hasTimeStamp: true,
    signatureAlgorithm: '${rsaSha256}',
    digestAlgorithm: '${sha256}',
  }),
);
`;
}

function wsePhp(): string {
  return `<?php
// Not run: this stack is not among those that are tested here. composer require robrichards/wse-php
use RobRichards\\WsePhp\\WSSESoap;
use RobRichards\\XMLSecLibs\\{XMLSecurityDSig, XMLSecurityKey};

class SigningClient extends SoapClient
{
    public function __doRequest($request, $location, $action, $version, $oneWay = false): ?string
    {
        $document = new DOMDocument();
        $document->loadXML($request);
        $wsse = new WSSESoap($document);
        $wsse->addTimestamp(300);
        $key = new XMLSecurityKey(XMLSecurityKey::RSA_SHA256, ['type' => 'private']);
        $key->loadKey('caller.key', true);
        $wsse->signSoapDoc($key, ['algorithm' => XMLSecurityDSig::SHA256]);
        $wsse->attachTokentoSig($wsse->addBinaryToken(file_get_contents('caller.crt')));
        return parent::__doRequest($wsse->saveXML(), $location, $action, $version, $oneWay);
    }
}
`;
}

function soapUi({ signsReplies }: Signed): string {
  const incoming = signsReplies
    ? '\nIncoming WS-Security Configuration\n  Signature Keystore: a keystore with gateway.crt\n'
    : '';
  return `Show Project View, WS-Security Configurations

Keystores
  caller.p12 with its password

Outgoing WS-Security Configuration, in this order
  Timestamp: Time To Live 300
  Signature
    Keystore: caller.p12, Alias: caller
    Key Identifier Type: Binary Security Token
    Signature Algorithm: ${rsaSha256}
    Signature Canonicalization: http://www.w3.org/2001/10/xml-exc-c14n#
    Digest Algorithm: ${sha256}
    Use Single Certificate: yes
    Parts: Body of the envelope's namespace (Content or Element: Element);
      Timestamp of http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd (Element)
${incoming}`;
}
