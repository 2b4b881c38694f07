import type { AdoptedService, PolicyKind, SecurityNeeds } from '../../contract/adopted.ts';
import type { Definition } from './definitions.ts';
import { attributeOf, type XmlElement } from './xml-tree.ts';

type Requirement = AdoptedService['policies'][number];

/** Namespaces of WS-Policy 1.2 and 1.5. */
const policyNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/ws/2002/12/policy',
  'http://schemas.xmlsoap.org/ws/2004/09/policy',
  'http://www.w3.org/ns/ws-policy',
]);

/** Assertions that require nothing themselves. Assertions inside are read. */
const carriers: ReadonlySet<string> = new Set([
  'SupportingTokens',
  'SignedSupportingTokens',
  'SignedEncryptedSupportingTokens',
  'EncryptedSupportingTokens',
  'EndorsingSupportingTokens',
  'SignedEndorsingSupportingTokens',
  'TransportToken',
  'InitiatorToken',
  'RecipientToken',
  'HttpsToken',
  'Wss11',
]);

/** Assertions about how other assertions are satisfied. They are ignored. */
const nothing: ReadonlySet<string> = new Set([
  'Layout',
  'IncludeTimestamp',
  'Wss10',
  'Trust10',
  'Trust13',
  'OnlySignEntireHeadersAndBody',
  'ProtectTokens',
  'EncryptBeforeSigning',
  'EncryptSignature',
]);

/** Carriers whose X509Token signs the message, or only the Timestamp of a message that TLS protects. */
const signing: ReadonlySet<string> = new Set([
  'SignedSupportingTokens',
  'EndorsingSupportingTokens',
  'SignedEndorsingSupportingTokens',
]);

const known: ReadonlyMap<string, PolicyKind> = new Map([
  ['UsingAddressing', 'addressing'],
  ['Addressing', 'addressing'],
  ['OptimizedMimeSerialization', 'mtom'],
]);

/**
 * Returns the distinct requirements of the policies of services, ports, bindings, their operations and messages (A31).
 *
 * @param ports elements of the ports that are served, by name
 */
export function readPolicies(
  definitions: readonly XmlElement[],
  bindings: readonly Definition[],
  ports: ReadonlyMap<string, XmlElement>,
): readonly Requirement[] {
  const reader = new PolicyReader(definitions);
  const served = new Set(ports.values());
  for (const service of definitions.flatMap(({ children }) => children))
    if (service.local === 'service' && service.children.some((child) => served.has(child))) {
      reader.readSubject(service, `service ${attributeOf(service, 'name')}`);
      for (const port of service.children)
        if (served.has(port)) reader.readSubject(port, `port ${attributeOf(port, 'name')}`);
    }
  for (const { name, element } of bindings) reader.readSubject(element, `binding ${name.local}`);
  const all = [...reader.requirements.values()];
  const isSymmetric = all.some(({ text }) => text.endsWith(': SymmetricBinding'));
  if (isSymmetric)
    return all.map(({ needs, ...one }) => (needs === undefined ? one : { ...one, served: false }));
  const isSigned = all.some(({ needs }) => needs?.x509 === true);
  // without a signature, TLS protects the parts of a message
  return isSigned ? all : all.filter(({ kind }) => kind !== 'signature');
}

/** Reads policies that are attached or referenced. */
class PolicyReader {
  /** Requirements by text. */
  readonly requirements: Map<string, Requirement> = new Map();
  /** Policies by the fragment of their references. */
  readonly #byId = new Map<string, XmlElement>();

  constructor(definitions: readonly XmlElement[]) {
    for (const root of definitions) this.#addPolicies(root);
  }

  #addPolicies(element: XmlElement): void {
    for (const child of element.children) {
      if (isPolicy(child, 'Policy')) {
        const id = child.attributes.find(({ local }) => local === 'Id' || local === 'id')?.value;
        if (id !== undefined) this.#byId.set(`#${id}`, child);
      } else if (child.local !== 'types') this.#addPolicies(child);
    }
  }

  /** Reads the policies attached to a subject and to its operations and messages (WS-PolicyAttachment, 4). */
  readSubject(element: XmlElement, where: string): void {
    const uris = element.attributes.find(({ local }) => local === 'PolicyURIs')?.value.split(/\s+/) ?? [];
    for (const uri of uris) this.#add(this.#byId.get(uri), where);
    for (const child of element.children) {
      if (isPolicy(child, 'PolicyReference'))
        this.#add(this.#byId.get(attributeOf(child, 'URI') ?? ''), where);
      else if (isPolicy(child, 'Policy') || known.has(child.local)) this.#add(child, where);
      else if (['operation', 'input', 'output', 'fault'].includes(child.local)) {
        const name = child.local === 'operation' ? ` ${attributeOf(child, 'name')}` : '';
        this.readSubject(child, `${where}, ${child.local}${name}`);
      }
    }
  }

  #add(element: XmlElement | undefined, where: string): void {
    if (element === undefined) return;
    for (const one of requirementsOf(element, where))
      if (!this.requirements.has(one.text)) this.requirements.set(one.text, one);
  }
}

/** Returns the requirements of an element. The first alternative that the gateway supports is used (X37). */
function requirementsOf(element: XmlElement, where: string): readonly Requirement[] {
  const { local, children } = element;
  if (policyNamespaces.has(element.namespace)) {
    // References inside policies are ignored because they could be circular.
    if (local === 'PolicyReference') return [];
    const alternatives = children.map((child) => requirementsOf(child, where));
    if (local !== 'ExactlyOne') return alternatives.flat();
    return alternatives.find((all) => all.every(({ served }) => served)) ?? alternatives[0] ?? [];
  }
  if (nothing.has(local)) return [];
  const optional = element.attributes.some(
    (attribute) => attribute.local === 'Optional' && /^(?:true|1)$/.test(attribute.value),
  );
  const requirement = `${where}: ${local}${optional ? ', which is optional' : ''}`;
  if (local === 'UsernameToken') {
    const digest = holds(element, 'HashPassword');
    const text = digest ? `${requirement} with a digest of the password` : requirement;
    return [{ text, kind: digest ? 'other' : 'usernameToken', served: !digest || optional }];
  }
  const own = securityOf(element, requirement);
  if (own !== undefined) return [...own, ...nestedOf(element, where)];
  if (carriers.has(local)) return nestedOf(element, where);
  const kind = known.get(local);
  return [{ text: requirement, kind: kind ?? 'other', served: kind !== undefined || optional }];
}

/** Returns the requirements inside an assertion. X509Tokens are part of the requirement of the assertion. */
function nestedOf({ local, children }: XmlElement, where: string): readonly Requirement[] {
  const hasTokens = signing.has(local) || local === 'InitiatorToken' || local === 'RecipientToken';
  const inner = (child: XmlElement): readonly Requirement[] => {
    if (hasTokens && child.local === 'X509Token') return [];
    if (policyNamespaces.has(child.namespace) && child.local === 'Policy')
      return child.children.flatMap(inner);
    return child.local.startsWith('MustSupport') ? [] : requirementsOf(child, where);
  };
  return notParts.has(local) ? [] : children.flatMap(inner);
}

/** Assertions with content that is not a policy. */
const notParts: ReadonlySet<string> = new Set([
  'SignedParts',
  'EncryptedParts',
  'AlgorithmSuite',
  'SamlToken',
  'IssuedToken',
]);

/** Returns the requirements of an assertion of WS-SecurityPolicy (X37); undefined for other assertions. */
function securityOf(element: XmlElement, text: string): readonly Requirement[] | undefined {
  const { local } = element;
  const needing = (needs: SecurityNeeds, kind: PolicyKind = 'signature'): Requirement => ({
    text,
    kind,
    served: true,
    needs,
  });
  if (local === 'TransportBinding') return [{ text, kind: 'other', served: true }];
  if (local === 'RequireClientCertificate')
    return [{ text: `${text} (soapbridge.yaml: tls.clientCertificates)`, kind: 'other', served: true }];
  if (local === 'AsymmetricBinding')
    return [
      needing({ x509: true, sign: true, require: holds(element, 'IncludeTimestamp') ? ['timestamp'] : [] }),
    ];
  if (signing.has(local) && holds(element, 'X509Token'))
    return [needing({ x509: true, require: local === 'SignedSupportingTokens' ? [] : ['timestamp'] })];
  if (local === 'RequireSignatureConfirmation') return [needing({ confirmation: true })];
  if (local === 'SignedParts') return [needing({ require: partsOf(element) })];
  if (local === 'EncryptedParts')
    return element.children.some((child) => child.local === 'Body')
      ? [needing({ encryption: true })]
      : undefined;
  if (local === 'AlgorithmSuite') return suiteOf(element, text);
  if (local === 'SamlToken' || local === 'IssuedToken') {
    const issuer = textIn(element, 'IssuerName') ?? textIn(element, 'Address') ?? '';
    return [
      {
        text: issuer === '' ? text : `${text} of ${issuer}`,
        kind: 'other',
        served: true,
        needs: { saml: issuer },
      },
    ];
  }
  return undefined;
}

/** Returns the items of `require` for SignedParts. Without a child, it means the whole message. */
function partsOf({ children }: XmlElement): NonNullable<SecurityNeeds['require']> {
  const isBody = children.length === 0 || children.some(({ local }) => local === 'Body');
  const isTo = children.some((child) => child.local === 'Header' && attributeOf(child, 'Name') === 'To');
  return [...(isBody ? (['body'] as const) : []), ...(isTo ? (['to'] as const) : [])];
}

/** All suites without GCM encrypt with AES-CBC, and all suites sign with RSA-SHA1 (WS-SecurityPolicy 1.3, 6.1). */
function suiteOf(element: XmlElement, text: string): readonly Requirement[] {
  const names = namesIn(element).filter((name) => /^(?:Basic|TripleDes)/.test(name));
  return names.map((name): Requirement => {
    const isServed = !name.includes('Rsa15') && !name.startsWith('TripleDes');
    const needs: SecurityNeeds = {
      sha1: name.includes('Sha256') ? 'signature' : true,
      ...(!/gcm/i.test(name) && { cbc: true }),
    };
    return { text: `${text} ${name}`, kind: 'signature', served: isServed, ...(isServed && { needs }) };
  });
}

function namesIn({ children }: XmlElement): readonly string[] {
  return children.flatMap((child) => [child.local, ...namesIn(child)]);
}

/** Returns the text of the first descendant with a name. */
function textIn(element: XmlElement, local: string): string | undefined {
  for (const child of element.children) {
    if (child.local === local) {
      const { source, offset, end } = child;
      return source.text
        .slice(offset, end)
        .replace(/^[^>]*>/, '')
        .replace(/<\/[^<]*$/, '')
        .trim();
    }
    const inner = textIn(child, local);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function isPolicy({ namespace, local }: XmlElement, name: string): boolean {
  return local === name && policyNamespaces.has(namespace);
}

function holds(element: XmlElement, local: string): boolean {
  return element.children.some((child) => child.local === local || holds(child, local));
}
