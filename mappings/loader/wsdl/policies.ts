import type { AdoptedService, PolicyKind } from '../../contract/adopted.ts';
import type { Definition } from './definitions.ts';
import { attributeOf, type XmlElement } from './xml-tree.ts';

type Requirement = AdoptedService['policies'][number];

/** Namespaces of WS-Policy 1.2 and 1.5. */
const policyNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/ws/2002/12/policy',
  'http://schemas.xmlsoap.org/ws/2004/09/policy',
  'http://www.w3.org/ns/ws-policy',
]);

/** Assertions that the gateway satisfies or that require nothing of messages. Assertions inside are read. */
const carriers: ReadonlySet<string> = new Set([
  'SupportingTokens',
  'SignedSupportingTokens',
  'SignedEncryptedSupportingTokens',
  'EncryptedSupportingTokens',
  'TransportBinding',
  'TransportToken',
]);

/** Assertions about the transport, or about how other assertions are satisfied. They are ignored. */
const nothing: ReadonlySet<string> = new Set([
  'HttpsToken',
  'AlgorithmSuite',
  'Layout',
  'IncludeTimestamp',
  'Wss10',
  'Wss11',
  'Trust10',
  'Trust13',
]);

const known: ReadonlyMap<string, PolicyKind> = new Map([
  ['UsingAddressing', 'addressing'],
  ['Addressing', 'addressing'],
  ['OptimizedMimeSerialization', 'mtom'],
]);

/** Returns the distinct requirements of the policies of bindings, their operations and messages (A31). */
export function readPolicies(
  definitions: readonly XmlElement[],
  bindings: readonly Definition[],
): readonly Requirement[] {
  const reader = new PolicyReader(definitions);
  for (const { name, element } of bindings) reader.readSubject(element, `binding ${name.local}`);
  return [...reader.requirements.values()];
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

  /** Reads the policies attached to a binding and to its descendants (WS-PolicyAttachment, 4). */
  readSubject(element: XmlElement, where: string): void {
    const uris = element.attributes.find(({ local }) => local === 'PolicyURIs')?.value.split(/\s+/) ?? [];
    for (const uri of uris) this.#readPolicy(this.#byId.get(uri), where);
    for (const child of element.children) {
      if (isPolicy(child, 'PolicyReference'))
        this.#readPolicy(this.#byId.get(attributeOf(child, 'URI') ?? ''), where);
      else if (isPolicy(child, 'Policy')) this.#readPolicy(child, where);
      else if (known.has(child.local)) this.#readAssertion(child, where);
      else if (['operation', 'input', 'output', 'fault'].includes(child.local)) {
        const name = child.local === 'operation' ? ` ${attributeOf(child, 'name')}` : '';
        this.readSubject(child, `${where}, ${child.local}${name}`);
      }
    }
  }

  #readPolicy(policy: XmlElement | undefined, where: string): void {
    for (const child of policy?.children ?? []) this.#readAssertion(child, where);
  }

  #readAssertion(element: XmlElement, where: string): void {
    const { local } = element;
    if (policyNamespaces.has(element.namespace)) {
      // References inside policies are ignored because they could be circular.
      if (local !== 'PolicyReference') this.#readPolicy(element, where);
      return;
    }
    if (nothing.has(local)) return;
    if (carriers.has(local)) {
      this.#readPolicy(element, where);
      return;
    }
    const optional = element.attributes.some(
      (attribute) => attribute.local === 'Optional' && /^(?:true|1)$/.test(attribute.value),
    );
    const requirement = `${where}: ${local}${optional ? ', which is optional' : ''}`;
    if (local === 'UsernameToken') {
      const digest = holds(element, 'HashPassword');
      const text = digest ? `${requirement} with a digest of the password` : requirement;
      this.#add({ text, kind: digest ? 'other' : 'usernameToken', served: !digest || optional });
      return;
    }
    const kind = known.get(local);
    this.#add({ text: requirement, kind: kind ?? 'other', served: kind !== undefined || optional });
  }

  #add(one: Requirement): void {
    if (!this.requirements.has(one.text)) this.requirements.set(one.text, one);
  }
}

function isPolicy({ namespace, local }: XmlElement, name: string): boolean {
  return local === name && policyNamespaces.has(namespace);
}

function holds(element: XmlElement, local: string): boolean {
  return element.children.some((child) => child.local === local || holds(child, local));
}
