import type { Wsse } from '../mappings/contract/credentials.ts';
import { namespaces } from '../mappings/contract/model.ts';
import { type Attributes, type DocumentNode, element } from './document.ts';

/** Values of `?wsdl&policy=…` (W55, X35). */
export const policyNames = ['transport', 'message', 'signed', 'endorsed'] as const;

/**
 * `transport`: a UsernameToken and a Timestamp over TLS. `message`: only a UsernameToken. `signed`: signed requests and
 * replies. `endorsed`: a signed Timestamp over TLS.
 */
export type PolicyName = (typeof policyNames)[number];

/**
 * Returns the setting that clients of policy `signed` need and the contract lacks (X35); undefined for none. They
 * encrypt a UsernameToken, and Body if the policy says so, with AES-CBC.
 */
export function lackingForSigned({ username, x509, sign, decrypt }: Wsse): string | undefined {
  const requirements: readonly string[] = x509?.require ?? [];
  const isEncrypted = requirements.includes('encryption');
  if (sign === undefined) return 'the key wsse.sign';
  if (!requirements.includes('body')) return 'body in wsse.x509.require';
  if ((username === undefined && !isEncrypted) || decrypt?.cbc === true) return undefined;
  const encrypted = username === undefined ? 'Body' : 'the UsernameToken';
  return `wsse.decrypt with cbc: true (clients encrypt ${encrypted} with AES-CBC)`;
}

/** Returns true if clients of policy `endorsed` sign everything that the contract requires: only a Timestamp. */
export function fitsEndorsed({ username, x509 }: Wsse): boolean {
  const beyond: readonly string[] = ['body', 'encryption', ...(username === undefined ? [] : ['token'])];
  return x509?.require.every((item) => !beyond.includes(item)) === true;
}

const policyNamespace = { 'xmlns:wsp': 'http://schemas.xmlsoap.org/ws/2004/09/policy' };
const securityPolicy = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702';

/**
 * Creates `<wsp:Policy wsu:Id="Security"> … </wsp:Policy>`, the first child of `definitions` (WS-SecurityPolicy 1.2).
 */
export function policyElement(name: PolicyName, wsse: Wsse | undefined): DocumentNode {
  const attributes = {
    ...policyNamespace,
    'xmlns:sp': securityPolicy,
    'xmlns:wsu': namespaces.wsu,
    'wsu:Id': 'Security',
  };
  return element(
    'wsp:Policy',
    attributes,
    element('wsp:ExactlyOne', {}, element('wsp:All', {}, ...assertionsOf(name, wsse))),
  );
}

function assertionsOf(name: PolicyName, wsse: Wsse | undefined): readonly DocumentNode[] {
  const userTokens =
    wsse?.username === undefined ? [] : [assertion('sp:SignedSupportingTokens', {}, usernameToken)];
  switch (name) {
    case 'message':
      return [assertion('sp:SupportingTokens', {}, usernameToken)];
    case 'transport':
      return [transportBinding('sp:Basic256'), ...userTokens, assertion('sp:Wss11', {})];
    case 'endorsed':
      return [
        transportBinding('sp:Basic256Sha256'),
        ...userTokens,
        assertion('sp:EndorsingSupportingTokens', {}, initiatorToken),
        assertion(
          'sp:Wss11',
          {},
          ...references('KeyIdentifier', 'IssuerSerial', 'Thumbprint', 'EncryptedKey'),
        ),
      ];
    case 'signed': {
      const requirements: readonly string[] = wsse?.x509?.require ?? [];
      return [
        asymmetricBinding,
        assertion('sp:Wss10', {}, ...references('KeyIdentifier', 'IssuerSerial')),
        ...userTokens,
        element('sp:SignedParts', {}, element('sp:Body', {})),
        ...(requirements.includes('encryption')
          ? [element('sp:EncryptedParts', {}, element('sp:Body', {}))]
          : []),
      ];
    }
  }
}

/** Creates `<wsp:PolicyReference URI="#Security"/>`, the first child of each binding. */
export function policyReference(): DocumentNode {
  return element('wsp:PolicyReference', { ...policyNamespace, URI: '#Security' });
}

function references(...kinds: readonly string[]): readonly DocumentNode[] {
  return kinds.map((kind) => element(`sp:MustSupportRef${kind}`, {}));
}

/** Creates an assertion with a nested policy. */
function assertion(name: string, attributes: Attributes, ...nested: readonly DocumentNode[]): DocumentNode {
  return element(name, attributes, element('wsp:Policy', {}, ...nested));
}

/** Creates the parts of a binding that all bindings have. */
function bindingParts(suite: string): readonly DocumentNode[] {
  return [
    assertion('sp:AlgorithmSuite', {}, element(suite, {})),
    assertion('sp:Layout', {}, element('sp:Lax', {})),
    element('sp:IncludeTimestamp', {}),
  ];
}

function transportBinding(suite: string): DocumentNode {
  const token = assertion('sp:TransportToken', {}, assertion('sp:HttpsToken', {}));
  return assertion('sp:TransportBinding', {}, token, ...bindingParts(suite));
}

function included(where: 'AlwaysToRecipient' | 'Never'): Attributes {
  return { 'sp:IncludeToken': `${securityPolicy}/IncludeToken/${where}` };
}

const v3 = element('sp:WssX509V3Token10', {});
const usernameToken = assertion(
  'sp:UsernameToken',
  included('AlwaysToRecipient'),
  element('sp:WssUsernameToken10', {}),
);
const initiatorToken = assertion('sp:X509Token', included('AlwaysToRecipient'), v3);

const asymmetricBinding = assertion(
  'sp:AsymmetricBinding',
  {},
  assertion('sp:InitiatorToken', {}, initiatorToken),
  assertion(
    'sp:RecipientToken',
    {},
    assertion('sp:X509Token', included('Never'), element('sp:RequireIssuerSerialReference', {}), v3),
  ),
  ...bindingParts('sp:Basic256Sha256'),
  element('sp:OnlySignEntireHeadersAndBody', {}),
);
