import { namespaces } from '../mappings/contract/model.ts';
import { type Attributes, type DocumentNode, element } from './document.ts';

/** Values of `?wsdl&policy=…` (W55). */
export const policyNames = ['transport', 'message'] as const;

/** `transport`: a UsernameToken and a Timestamp over TLS. `message`: only a UsernameToken. */
export type PolicyName = (typeof policyNames)[number];

const policyNamespace = { 'xmlns:wsp': 'http://schemas.xmlsoap.org/ws/2004/09/policy' };
const securityPolicy = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702';

/**
 * Creates `<wsp:Policy wsu:Id="Security"> … </wsp:Policy>`, the first child of `definitions` (WS-SecurityPolicy 1.2).
 */
export function policyElement(name: PolicyName): DocumentNode {
  const attributes = {
    ...policyNamespace,
    'xmlns:sp': securityPolicy,
    'xmlns:wsu': namespaces.wsu,
    'wsu:Id': 'Security',
  };
  const assertions = name === 'transport' ? transportAssertions() : [tokens('sp:SupportingTokens')];
  return element(
    'wsp:Policy',
    attributes,
    element('wsp:ExactlyOne', {}, element('wsp:All', {}, ...assertions)),
  );
}

/** Creates `<wsp:PolicyReference URI="#Security"/>`, the first child of each binding. */
export function policyReference(): DocumentNode {
  return element('wsp:PolicyReference', { ...policyNamespace, URI: '#Security' });
}

function transportAssertions(): DocumentNode[] {
  return [
    assertion(
      'sp:TransportBinding',
      {},
      assertion('sp:TransportToken', {}, assertion('sp:HttpsToken', {})),
      assertion('sp:AlgorithmSuite', {}, element('sp:Basic256', {})),
      assertion('sp:Layout', {}, element('sp:Lax', {})),
      element('sp:IncludeTimestamp', {}),
    ),
    tokens('sp:SignedSupportingTokens'),
    assertion('sp:Wss11', {}),
  ];
}

function tokens(name: string): DocumentNode {
  const include = { 'sp:IncludeToken': `${securityPolicy}/IncludeToken/AlwaysToRecipient` };
  return assertion(name, {}, assertion('sp:UsernameToken', include, element('sp:WssUsernameToken10', {})));
}

/** Creates an assertion with a nested policy. */
function assertion(name: string, attributes: Attributes, ...nested: readonly DocumentNode[]): DocumentNode {
  return element(name, attributes, element('wsp:Policy', {}, ...nested));
}
