import type { CompiledOperation } from '../../mappings/compiled.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import type { Draft } from './draft.ts';
import { unescapeContent } from './envelope.ts';
import type { Known } from './known.ts';
import { listed, nameSpans, type TreeElement } from './tree.ts';

/** Finds the operation that a Body calls, and corrects its element. */

/** Returns the first element of the Body. */
export function payloadOf(root: TreeElement): TreeElement | undefined {
  return root.children.find(({ local }) => local === 'Body')?.children[0];
}

/** Converts text in the Body to markup. Returns true if it changed the text. */
export function unescapeBody(draft: Draft): boolean {
  const body = bodyOf(draft);
  return body?.children.length === 0 && unescapeContent(draft, body, 'Body');
}

/**
 * Finds the operation of the Body and corrects its element's name. Returns undefined and adds a finding if no operation
 * matches.
 */
export function fixPayload(
  known: Known,
  draft: Draft,
  action: string | undefined,
): CompiledOperation | undefined {
  const body = bodyOf(draft);
  if (body === undefined) return undefined;
  const [payload, ...others] = body.children;
  const empty = [...known.compiled.operations.values()].find(({ root }) => root === undefined);
  if (payload === undefined) {
    if (empty !== undefined) return empty;
    const text = draft.text.slice(body.opened, body.closing).trim();
    const what = /^[[{]/.test(text) ? 'holds JSON' : text === '' ? 'is empty' : 'holds text';
    draft.error(body.start, `Body ${what}: expected the element of an operation: ${listed(known.roots)}`);
    return undefined;
  }
  const operation = operationOf(known, draft, payload, action);
  if (operation !== undefined) fixRest(draft, others.length);
  return operation;
}

function bodyOf({ root }: Draft): TreeElement | undefined {
  return root?.children.find(({ local }) => local === 'Body');
}

/** Removes elements after the operation's element in the Body. */
function fixRest(draft: Draft, count: number): void {
  const [second] = bodyOf(draft)?.children.slice(1) ?? [];
  if (count === 0 || second === undefined) return;
  const isMultiRef =
    /^(?:multiRef|id\d*)$/i.test(second.local) || second.attributes.some(({ name }) => name === 'id');
  draft.error(
    second.start,
    isMultiRef
      ? `<${second.local.slice(0, 64)}> after the call in Body is SOAP encoding (multiRef, rpc/encoded): document/literal has values inline. Generate the client from the WSDL of this service`
      : `<${second.local.slice(0, 64)}> is after the call in Body: expected one element that contains the parameters (document/literal, wrapped)`,
    'left out',
  );
  const body = bodyOf(draft);
  if (body !== undefined) draft.replace(second.start, body.closing, '');
}

/** Finds the operation of an element and corrects the element's name and namespace. */
function operationOf(
  known: Known,
  draft: Draft,
  payload: TreeElement,
  action: string | undefined,
): CompiledOperation | undefined {
  const { compiled } = known;
  const all = [...compiled.operations.values()].filter(({ root }) => root !== undefined);
  const { local, namespace, start } = payload;
  const named = all.filter(({ root }) => root?.local === local);
  const stated = action?.trim().replace(/^"(.*)"$/, '$1');
  const isStated = ({ operation }: CompiledOperation): boolean =>
    stated !== undefined &&
    (operation.binding.action === stated || operation.binding.actions.includes(stated));
  const exact = named.filter(({ root }) => root?.namespace === namespace);
  const found = exact.find(isStated) ?? exact[0] ?? named.find(isStated) ?? named[0];
  if (found !== undefined) {
    if (found.root?.namespace !== namespace) fixRootNamespace(draft, payload, found);
    return found;
  }
  const what = otherPayload(payload, known.roots);
  const plain = local.replace(/(?:Request|SoapIn|In|Input|Async|Operation|Response)$/, '');
  const meant =
    known.roots.find((root) => root.toLowerCase() === local.toLowerCase()) ??
    known.roots.find((root) => root === plain) ??
    nearest(local, known.roots.slice(0, 2_000));
  const operation = all.find(({ root }) => root?.local === meant);
  if (operation === undefined || what !== undefined) {
    draft.error(
      start,
      what ??
        `<${local.slice(0, 64)}> is not an operation of this service, which has ${listed(known.roots)}: the client calls another service or version`,
    );
    return undefined;
  }
  const kind =
    meant?.toLowerCase() === local.toLowerCase()
      ? 'has a different case'
      : 'is not an operation of this service';
  draft.error(start, `<${local.slice(0, 64)}> ${kind}: did you mean <${meant}>?`, `<${meant}>`);
  const prefix = payload.prefix === '' ? '' : `${payload.prefix}:`;
  draft.replaceAll(
    nameSpans(draft.text, payload).map(([from, to]) => ({ start: from, end: to, text: `${prefix}${meant}` })),
  );
  const renamed = bodyOf(draft)?.children[0];
  if (renamed !== undefined && renamed.namespace !== operation.root?.namespace)
    fixRootNamespace(draft, renamed, operation);
  return operation;
}

/** Explains an element that calls no operation; undefined if it is unknown. */
function otherPayload({ local, namespace }: TreeElement, roots: readonly string[]): string | undefined {
  if (local === 'Fault') return 'this is a fault: a reply of a service, not a request';
  if (local.endsWith('Response') && roots.includes(local.slice(0, -8)))
    return `<${local.slice(0, 64)}> is the reply of ${local.slice(0, -8)}, not its request`;
  if (namespace === namespaces.xenc)
    return 'the body is encrypted (XML Encryption), which this service does not support: turn off encryption, TLS protects the message';
  if (/^RequestSecurityToken/.test(local))
    return 'this asks for a security token (WS-Trust): set establishSecurityContext="false", or use a binding without message security';
  if (/rm\/?$|wsrm/.test(namespace))
    return 'this opens a reliable session (WS-ReliableMessaging): turn it off in the client';
  return undefined;
}

/** Corrects the namespace of the operation's element, and of all members in the scope of the same declaration. */
function fixRootNamespace(draft: Draft, payload: TreeElement, { root }: CompiledOperation): void {
  if (root === undefined) return;
  const { namespace, prefix, local } = payload;
  const severity = namespace === '' ? 'warning' : 'error';
  draft.note(
    payload.start,
    severity,
    `wrong namespace: <${local.slice(0, 64)}> is ${namespace === '' ? 'in none' : `of "${namespace.slice(0, 200)}"`}, and this service's is "${root.namespace}"${namespaceCause(namespace, root.namespace)}`,
    root.namespace,
  );
  const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  for (let at: TreeElement | undefined = bodyOf(draft)?.children[0]; at !== undefined; at = at.parent) {
    const found = at.declarations.find((one) => one.local === prefix);
    if (found === undefined) continue;
    // The Envelope's own prefix must not change.
    if (at.local === 'Envelope' && prefix === at.prefix) break;
    draft.replace(found.start, found.end, `${name}="${root.namespace}"`);
    return;
  }
  const [[, end] = [0, 0]] = nameSpans(draft.text, payload);
  draft.replace(end, end, ` ${name}="${root.namespace}"`);
}

function namespaceCause(got: string, right: string): string {
  if (got === '') return '; this service accepts it, strict services reject it';
  if (got.toLowerCase() === right.toLowerCase()) return ': upper and lower case differ';
  if (got.replace(/\/$/, '') === right.replace(/\/$/, ''))
    return ': the trailing slash is missing or must not be there';
  if (got.replace(/^https?:/, '') === right.replace(/^https?:/, ''))
    return ': http and https differ, because a namespace is a name, not an address';
  if (/tempuri\.org/.test(got))
    return ': http://tempuri.org/ is the .NET default for services without a namespace';
  if (/soap\/envelope|soap-envelope/.test(got))
    return ': it is the namespace of the envelope, because the element has no xmlns declaration';
  const digits = /\d+/g;
  if (got.replace(digits, '') === right.replace(digits, ''))
    return ': the client was generated from another version of the WSDL';
  return ': the client was generated from another WSDL or version';
}
