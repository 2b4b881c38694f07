import type { Limits } from '../../mappings/contract/limits.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import { resolveReferences } from '../../mappings/xml/characters.ts';
import { maxHeaderBlocks } from '../protocols/soap/headers/headers.ts';
import type { Draft, Edit } from './draft.ts';
import {
  attributeOf,
  gapsIn,
  nameSpans,
  plainText,
  type TreeAttribute,
  type TreeElement,
  textOf,
  withoutComments,
} from './tree.ts';

/** The corrected envelope of a message. Its elements belong to the tree of the draft's text. */
export interface FixedEnvelope {
  readonly version: '1.1' | '1.2';
  readonly header: TreeElement | undefined;
  readonly body: TreeElement;
}

/** Context for correcting an envelope. */
export interface EnvelopeOptions {
  /** Local names of the request elements of all operations. */
  readonly roots: readonly string[];
  /** SOAP version in the HTTP headers; undefined if they do not state one. */
  readonly stated: '1.1' | '1.2' | undefined;
}

const soapNamespaces = { '1.1': namespaces.soap11, '1.2': namespaces.soap12 } as const;

/** Corrects the envelope in several steps. Returns undefined and adds a finding if no envelope is found. */
export function fixEnvelope(draft: Draft, options: EnvelopeOptions): FixedEnvelope | undefined {
  if (!fixRoot(draft, options)) return undefined;
  const version = fixNamespace(draft, options);
  if (version === undefined) return undefined;
  fixAttributes(draft, version);
  fixParts(draft, version);
  const root = draft.root;
  const namespace = soapNamespaces[version];
  const part = (local: string): TreeElement | undefined =>
    root?.children.find((child) => child.local === local && child.namespace === namespace);
  const body = part('Body');
  if (body === undefined) return undefined;
  return { version, header: part('Header'), body };
}

function rename(draft: Draft, element: TreeElement, local: string): void {
  const name = element.prefix === '' ? local : `${element.prefix}:${local}`;
  draft.replaceAll(nameSpans(draft.text, element).map(([start, end]) => ({ start, end, text: name })));
}

/** Explanations of root elements that are not an envelope. */
const otherRoots: Readonly<Record<string, string>> = {
  definitions: 'this is a WSDL, not a message: import it into your SOAP tool to generate messages',
  schema: 'this is a schema, not a message',
  html: 'this is an HTML page, not a SOAP message: probably a proxy, login or error page',
  methodCall: 'this is XML-RPC, not SOAP: use a SOAP client library',
  'soap-project': 'this is a SoapUI project, not a message',
};

/** Corrects the root element to an Envelope. Returns false if it cannot be one. */
function fixRoot(draft: Draft, { roots, stated }: EnvelopeOptions): boolean {
  const root = draft.root;
  if (root === undefined) return false;
  const { local } = root;
  if (local === 'Envelope') return true;
  const other = otherRoots[local];
  if (other !== undefined) {
    draft.error(root.start, other);
    return false;
  }
  if (nearest(local, ['Envelope']) !== undefined) {
    draft.error(root.start, `the root is <${local}>: expected Envelope, with a capital E`, 'Envelope');
    rename(draft, root, 'Envelope');
    return true;
  }
  const inner = root.children.find((child) => child.local === 'Envelope');
  if (inner !== undefined) {
    draft.error(
      root.start,
      `<${local.slice(0, 64)}> wraps the envelope: expected the envelope as the root`,
      'only the envelope',
    );
    draft.replace(inner.end, draft.text.length, '');
    draft.replace(0, inner.start, '');
    return true;
  }
  const near = roots.includes(local) ? local : nearest(local, roots);
  const isBody = local === 'Body';
  if (near === undefined && !isBody) {
    draft.error(root.start, `the root is <${local.slice(0, 64)}>: expected a SOAP Envelope`);
    return false;
  }
  draft.error(
    root.start,
    `the envelope is missing: <${local.slice(0, 64)}> must be inside soap:Envelope and soap:Body (without them, send it to /xml/reply/{operation})`,
    'an envelope around it',
  );
  const [before, after] = isBody ? ['', ''] : ['<soap:Body>', '</soap:Body>'];
  const namespace = soapNamespaces[stated ?? '1.1'];
  draft.replace(root.end, root.end, `${after}</soap:Envelope>`);
  draft.replace(root.start, root.start, `<soap:Envelope xmlns:soap="${namespace}">${before}`);
  return true;
}

/** Corrects the namespace of the Envelope to SOAP 1.1 or 1.2. */
function fixNamespace(draft: Draft, { stated }: EnvelopeOptions): '1.1' | '1.2' | undefined {
  const root = draft.root;
  if (root === undefined) return undefined;
  const { namespace } = root;
  if (namespace === namespaces.soap11) return '1.1';
  if (namespace === namespaces.soap12) return '1.2';
  const meant = versionMeant(namespace, stated);
  const right = soapNamespaces[meant];
  const why =
    namespace === ''
      ? 'the envelope has no namespace: expected the namespace of its SOAP version'
      : `the namespace of the envelope is neither SOAP 1.1 nor SOAP 1.2: ${causeOf(namespace)}`;
  draft.error(root.start, `${why}; SOAP ${meant} is "${right}", to the character`, right);
  if (namespace !== '') {
    // Correct the declaration, so that all elements in its scope are corrected.
    const edits: Edit[] = root.declarations
      .filter(({ raw }) => raw === namespace)
      .map(({ name, start, end }) => ({ start, end, text: `${name}="${right}"` }));
    draft.replaceAll(edits);
  } else {
    const [[, end] = [0, 0]] = nameSpans(draft.text, root);
    const declared = root.prefix === '' ? ` xmlns="${right}"` : ` xmlns:${root.prefix}="${right}"`;
    const empty = root.declarations.find(({ local }) => local === root.prefix);
    if (empty !== undefined) cutAttribute(draft, empty);
    draft.replace(end, end, declared);
  }
  return draft.root?.namespace === right ? meant : undefined;
}

function versionMeant(namespace: string, stated: '1.1' | '1.2' | undefined): '1.1' | '1.2' {
  if (/soap\/envelope/i.test(namespace)) return '1.1';
  if (/soap-envelope/i.test(namespace)) return '1.2';
  return stated ?? '1.1';
}

function causeOf(namespace: string): string {
  if (/\/(?:2001\/(?:06|09|12)|2002\/\d\d)\/soap-envelope/.test(namespace))
    return 'it belongs to a draft of SOAP 1.2';
  if (/^https:/i.test(namespace))
    return 'it begins with https, but the namespace is a name that begins with http';
  const all = Object.values(soapNamespaces);
  if (all.some((one) => one.replace(/\/$/, '') === namespace.replace(/\/$/, '')))
    return 'the trailing slash is missing or must not be there';
  if (all.some((one) => one.toLowerCase() === namespace.toLowerCase())) return 'upper and lower case differ';
  if (all.some((one) => one === namespace.trim())) return 'it has white space around it';
  return 'it is another namespace';
}

/** Corrects attributes that are not allowed on Envelope and its children. */
function fixAttributes(draft: Draft, version: '1.1' | '1.2'): void {
  const root = draft.root;
  for (const element of [root, ...(root?.children ?? [])]) {
    if (element === undefined) continue;
    const style = element.attributes.find((one) => one.local === 'encodingStyle');
    if (style !== undefined) {
      const isNone = style.raw === '' || /\/none$/.test(style.raw);
      const isRefused = version === '1.2' && style.namespace === '';
      if (!isNone)
        draft.note(
          style.start,
          isRefused ? 'error' : 'warning',
          `encodingStyle means rpc/encoded (SOAP section 5), but this service is document/literal: the client was generated for another binding${version === '1.2' ? '; SOAP 1.2 does not allow it on Envelope' : ''}`,
          'left out',
        );
      cutAttribute(draft, style);
      fixAttributes(draft, version);
      return;
    }
    if (element !== root || version === '1.1') continue;
    const bare = element.attributes.find((one) => one.namespace === '');
    if (bare === undefined) continue;
    draft.error(
      bare.start,
      `the attribute ${bare.name.slice(0, 64)} on Envelope has no namespace, which SOAP 1.2 does not allow`,
      'left out',
    );
    cutAttribute(draft, bare);
    fixAttributes(draft, version);
    return;
  }
}

/** Removes an attribute with the whitespace before it. */
function cutAttribute(draft: Draft, attribute: TreeAttribute): void {
  draft.replaceAll([cutOf(draft, attribute)]);
}

/** Returns the edit that removes an attribute with the whitespace before it. */
export function cutOf({ text }: Draft, { start, end }: TreeAttribute): Edit {
  return { start: /\s/.test(text[start - 1] ?? '') ? start - 1 : start, end, text: '' };
}

/** Maximum number of surplus elements that are reported. All are removed in one step, as each step parses the message again. */
const maxReported = 16;

/**
 * Corrects the parts of an Envelope: Header, then Body, each once and in the envelope's namespace. Each step makes one
 * correction, because it changes the offsets of the rest.
 */
function fixParts(draft: Draft, version: '1.1' | '1.2'): void {
  for (let steps = 0; steps < 16; steps++) if (!fixPart(draft, version)) return;
}

/** Corrects the first error in the parts of an Envelope. Returns false if they have no error. */
function fixPart(draft: Draft, version: '1.1' | '1.2'): boolean {
  const { text, root } = draft;
  if (root === undefined) return false;
  const namespace = soapNamespaces[version];
  const { children } = root;
  for (const child of children) if (fixName(draft, child, namespace)) return true;
  const bodies = children.filter((child) => child.local === 'Body' && child.namespace === namespace);
  const headers = children.filter((child) => child.local === 'Header' && child.namespace === namespace);
  const [body, ...moreBodies] = bodies;
  const [header, ...moreHeaders] = headers;
  if (body === undefined) return addBody(draft, root, header);
  const again = [...moreBodies, ...moreHeaders];
  if (again.length > 0) {
    const why = ({ local }: TreeElement) =>
      `${local} occurs twice in the Envelope: a message contains only one call`;
    return removeElements(draft, again, why, 'only the first one');
  }
  if (header !== undefined && header.start > body.start) {
    draft.error(header.start, 'Header is after Body: expected Header first', 'Header before Body');
    const moved = text.slice(header.start, header.end);
    draft.replace(header.start, header.end, '');
    draft.replace(body.start, body.start, moved);
    return true;
  }
  const extras = children.filter((child) => child !== body && child !== header);
  if (extras.length > 0) {
    const why = ({ local }: TreeElement) =>
      `<${local.slice(0, 64)}> is in Envelope: expected only Header and Body`;
    return removeElements(draft, extras, why, 'left out');
  }
  return removeText(draft, root);
}

/** Corrects the name or the namespace of a part that is meant as Body or Header. */
function fixName(draft: Draft, child: TreeElement, namespace: string): boolean {
  const { text, root } = draft;
  if (child.namespace === namespace && (child.local === 'Body' || child.local === 'Header')) return false;
  const meant = nearest(child.local, ['Body', 'Header']);
  if (meant === undefined || root === undefined) return false;
  if (child.local !== meant) {
    draft.error(
      child.start,
      `<${child.local.slice(0, 64)}> in Envelope: expected ${meant}, with a capital letter`,
      meant,
    );
    rename(draft, child, meant);
    return true;
  }
  draft.error(
    child.start,
    `<${child.local}> is not in the namespace of its Envelope: ${child.namespace === '' ? 'it has no namespace, the prefix is missing' : 'parts of SOAP 1.1 and SOAP 1.2, or of two templates, are mixed'}`,
    `the namespace of the Envelope`,
  );
  const declared = root.prefix === '' ? ` xmlns="${namespace}"` : '';
  const spans = nameSpans(text, child);
  draft.replaceAll(
    spans.map(([start, end], index) => ({
      start,
      end,
      text: prefixOf(root) + meant + (index === 0 ? declared : ''),
    })),
  );
  return true;
}

function prefixOf({ prefix }: TreeElement): string {
  return prefix === '' ? '' : `${prefix}:`;
}

/** Writes a Body around the payload of an Envelope without one. */
function addBody(draft: Draft, root: TreeElement, header: TreeElement | undefined): boolean {
  const payload = root.children.find((child) => child !== header);
  if (payload === undefined) {
    draft.error(root.start, 'the Envelope has no Body, so the operation is unknown');
    return false;
  }
  draft.error(
    payload.start,
    `<${payload.local.slice(0, 64)}> is in Envelope: expected a Body around it`,
    'a Body around it',
  );
  draft.replaceAll([
    { start: payload.start, end: payload.start, text: `<${prefixOf(root)}Body>` },
    { start: payload.end, end: payload.end, text: `</${prefixOf(root)}Body>` },
  ]);
  return true;
}

/** Removes elements. Only the first `maxReported` are reported. */
function removeElements(
  draft: Draft,
  elements: readonly TreeElement[],
  why: (element: TreeElement) => string,
  instead: string,
): true {
  for (const element of elements.slice(0, maxReported)) draft.error(element.start, why(element), instead);
  draft.replaceAll(elements.map(({ start, end }) => ({ start, end, text: '' })));
  return true;
}

/** Removes text between the parts of an Envelope. */
function removeText(draft: Draft, root: TreeElement): boolean {
  const { text } = draft;
  for (const { start, end } of gapsIn(root)) {
    const between = text.slice(start, end);
    if (withoutComments(between).trim() === '') continue;
    draft.error(start + between.search(/\S/), 'text between the parts of the Envelope', 'left out');
    draft.replace(start, end, '');
    return true;
  }
  return false;
}

/**
 * Converts text content to markup if elements are expected: content of a CDATA section, or escaped markup. Returns true
 * if it changed the text.
 */
export function unescapeContent(draft: Draft, element: TreeElement, what: string): boolean {
  if (element.children.length > 0 || element.isEmptyTag) return false;
  const raw = draft.text.slice(element.opened, element.closing);
  const isCdata = /^\s*<!\[CDATA\[/.test(raw);
  const once = (isCdata ? plainText(raw) : textOf(draft.text, element)).trim();
  const text = /^&lt;/.test(once) ? resolveReferences(once).trim() : once;
  const markup = text.replace(/^<\?xml[^>]*\?>\s*/, '');
  if (!/^<[A-Za-z_]/.test(markup)) return false;
  const how = isCdata ? 'in a CDATA section' : 'escaped (&lt; for <)';
  draft.error(
    element.opened,
    `the content of ${what} is ${how}: expected elements, got text. The client passes XML as a string to a SOAP library`,
    'the elements themselves',
  );
  draft.replace(element.opened, element.closing, markup);
  return true;
}

/**
 * Reports and corrects mustUnderstand in header blocks, for example in blocks that this service does not understand.
 * Only the first `maxHeaderBlocks` blocks are checked, because a Header with more is rejected anyway.
 */
export function fixHeader(
  draft: Draft,
  version: '1.1' | '1.2',
  { soapHeaderBlocks = maxHeaderBlocks }: Limits,
  isUnderstood: (namespace: string, local: string) => boolean,
): void {
  const header = draft.root?.children.find(({ local }) => local === 'Header');
  const edits: Edit[] = [];
  for (const block of header?.children.slice(0, soapHeaderBlocks) ?? []) {
    const flag =
      attributeOf(block, soapNamespaces[version], 'mustUnderstand') ??
      block.attributes.find((one) => one.local === 'mustUnderstand');
    if (flag === undefined) continue;
    const name = block.local.slice(0, 64);
    if (flag.namespace !== soapNamespaces[version]) {
      draft.note(
        flag.start,
        'warning',
        `mustUnderstand of ${name} is not in the namespace of the envelope, so it has no effect`,
        'left out',
      );
      edits.push(cutOf(draft, flag));
      continue;
    }
    const isValid = /^\s*(?:0|1|true|false)\s*$/.test(flag.raw);
    if (!isValid)
      draft.error(
        flag.start,
        `mustUnderstand of ${name}: expected 1 or 0, or true or false in SOAP 1.2`,
        '1',
      );
    if (isUnderstood(block.namespace, block.local)) {
      if (!isValid) edits.push({ start: flag.start, end: flag.end, text: `${flag.name}="1"` });
      continue;
    }
    if (isValid && /0|false/.test(flag.raw)) continue;
    draft.error(
      block.start,
      `the header block ${name} has mustUnderstand="1", but this service does not support it: ${blockCause(block)}`,
      'the block without mustUnderstand',
    );
    edits.push(cutOf(draft, flag));
  }
  draft.replaceAll(edits);
}

function blockCause(block: TreeElement): string {
  if (block.namespace === namespaces.wsse)
    return 'the client adds WS-Security (WSS4J, wsdl2java or a WCF binding). Turn it off, or ask the operator to set wsse';
  if (/\/ws(?:rm)?\b|reliab|\/rm\b/i.test(block.namespace))
    return 'the client turned on a protocol of WS-* (reliable sessions, transactions): turn it off';
  return 'a client library or a policy adds it. Send it without mustUnderstand, or do not send it';
}
