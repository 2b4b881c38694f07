import type { AdoptedService, PolicyKind } from '../../contract/schema-components.ts';
import type { Definition } from './definitions.ts';
import { attributeOf, type XmlElement } from './xml-tree.ts';

type Asked = AdoptedService['policies'][number];

/** WS-Policy 1.2 and 1.5. */
const policyNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/ws/2002/12/policy',
  'http://schemas.xmlsoap.org/ws/2004/09/policy',
  'http://www.w3.org/ns/ws-policy',
]);

/** Assertions that a gateway meets or that ask nothing of a message; what stands in them is read as well. */
const carriers: ReadonlySet<string> = new Set([
  'SupportingTokens',
  'SignedSupportingTokens',
  'SignedEncryptedSupportingTokens',
  'EncryptedSupportingTokens',
  'TransportBinding',
  'TransportToken',
]);

/** Of a transport, or of how other assertions are met. */
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

/** What the policies of some bindings, their operations and messages ask for (A31), each once. */
export function readPolicies(
  definitions: readonly XmlElement[],
  bindings: readonly Definition[],
): readonly Asked[] {
  const byId = new Map<string, XmlElement>();
  for (const root of definitions) addPolicies(root, byId);
  const asked = new Map<string, Asked>();
  const add = (one: Asked): void => {
    if (!asked.has(one.text)) asked.set(one.text, one);
  };
  for (const { name, element } of bindings) readSubject(element, `binding ${name.local}`, byId, add);
  return [...asked.values()];
}

/** Policies by the fragment that refers to them. */
function addPolicies(element: XmlElement, byId: Map<string, XmlElement>): void {
  for (const child of element.children) {
    if (isPolicy(child, 'Policy')) {
      const id = child.attributes.find(({ local }) => local === 'Id' || local === 'id')?.value;
      if (id !== undefined) byId.set(`#${id}`, child);
    } else if (child.local !== 'types') addPolicies(child, byId);
  }
}

function isPolicy({ namespace, local }: XmlElement, name: string): boolean {
  return local === name && policyNamespaces.has(namespace);
}

/** A binding, and what it holds, with the policies that each attaches (WS-PolicyAttachment, 4). */
function readSubject(
  element: XmlElement,
  where: string,
  byId: ReadonlyMap<string, XmlElement>,
  add: (asked: Asked) => void,
): void {
  const uris = element.attributes.find(({ local }) => local === 'PolicyURIs')?.value.split(/\s+/) ?? [];
  for (const uri of uris) readPolicy(byId.get(uri), where, byId, add);
  for (const child of element.children) {
    if (isPolicy(child, 'PolicyReference'))
      readPolicy(byId.get(attributeOf(child, 'URI') ?? ''), where, byId, add);
    else if (isPolicy(child, 'Policy')) readPolicy(child, where, byId, add);
    else if (known.has(child.local)) readAssertion(child, where, byId, add);
    else if (['operation', 'input', 'output', 'fault'].includes(child.local)) {
      const name = child.local === 'operation' ? ` ${attributeOf(child, 'name')}` : '';
      readSubject(child, `${where}, ${child.local}${name}`, byId, add);
    }
  }
}

function readPolicy(
  policy: XmlElement | undefined,
  where: string,
  byId: ReadonlyMap<string, XmlElement>,
  add: (asked: Asked) => void,
): void {
  for (const child of policy?.children ?? []) readAssertion(child, where, byId, add);
}

function readAssertion(
  element: XmlElement,
  where: string,
  byId: ReadonlyMap<string, XmlElement>,
  add: (asked: Asked) => void,
): void {
  const { local } = element;
  if (policyNamespaces.has(element.namespace)) {
    // references within policies would lead in circles; none has been met
    if (local !== 'PolicyReference') readPolicy(element, where, byId, add);
    return;
  }
  if (nothing.has(local)) return;
  if (carriers.has(local)) {
    readPolicy(element, where, byId, add);
    return;
  }
  const optional = element.attributes.some(
    (attribute) => attribute.local === 'Optional' && /^(?:true|1)$/.test(attribute.value),
  );
  const said = `${where}: ${local}${optional ? ', which is optional' : ''}`;
  if (local === 'UsernameToken') {
    const digest = holds(element, 'HashPassword');
    const text = digest ? `${said} with a digest of the password` : said;
    add({ text, kind: digest ? 'other' : 'usernameToken', served: !digest || optional });
    return;
  }
  const kind = known.get(local);
  add({ text: said, kind: kind ?? 'other', served: kind !== undefined || optional });
}

function holds(element: XmlElement, local: string): boolean {
  return element.children.some((child) => child.local === local || holds(child, local));
}
