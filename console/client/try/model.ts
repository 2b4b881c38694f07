import type { FormDescription, MemberDescription, TypeDescription, TypeRef } from '../../description.ts';

// The form's model of a message. Each slot is given, nil or absent, and every value is the text that is written into
// the message. The fields change the model in place.

/** A member, item or entry of a message: a value, nil, or absent. */
export interface Slot {
  state: 'absent' | 'given' | 'nil';
  /** Created on first use, since types may be recursive. */
  value: Value | undefined;
}

/** A value that is given. */
export type Value =
  | { readonly kind: 'text'; text: string }
  | { readonly kind: 'record'; readonly members: readonly Member[] }
  | {
      readonly kind: 'list';
      readonly type: TypeRef;
      readonly item: string;
      readonly arrays: boolean;
      items: Slot[];
    }
  | {
      readonly kind: 'map';
      readonly type: TypeRef;
      readonly entry: string;
      readonly arrays: boolean;
      entries: Entry[];
    }
  | { readonly kind: 'union'; readonly variants: readonly Member[]; chosen: number };

/** A member of a record, a position of a tuple or a variant of a union. */
export interface Member {
  readonly xml: string;
  readonly type: TypeRef;
  readonly described: MemberDescription | undefined;
  readonly slot: Slot;
}

/** An entry of a map. */
export interface Entry {
  key: string;
  readonly slot: Slot;
}

/** The parts of a description that the model needs. */
export type Form = Pick<FormDescription, 'types' | 'namespaces'>;

/** Creates a slot without a value. */
export function emptySlot(state: Slot['state'] = 'absent'): Slot {
  return { state, value: undefined };
}

/** Returns the value of a slot. Creates an empty value if there is none. */
export function givenValue(form: Form, slot: Slot, type: TypeRef): Value {
  slot.value ??= emptyValue(form, type);
  return slot.value;
}

/** Returns the named type of a reference, or undefined for a scalar. */
export function typeOf(form: Form, type: TypeRef): TypeDescription | undefined {
  return 'type' in type ? form.types[type.type] : undefined;
}

/** Creates members with empty slots. Required members are given, all others absent. */
export function membersOf(described: readonly MemberDescription[]): Member[] {
  return described.map((each) => ({
    xml: each.xml,
    type: each.type,
    described: each,
    slot: emptySlot(each.required === true ? 'given' : 'absent'),
  }));
}

function emptyValue(form: Form, type: TypeRef): Value {
  const named = typeOf(form, type);
  if (named === undefined) return { kind: 'text', text: '' };
  switch (named.kind) {
    case 'enum':
      return { kind: 'text', text: named.values[0] ?? '' };
    case 'record': {
      const members = membersOf(named.members);
      if (named.others !== undefined) members.push(memberOf(named.others));
      return { kind: 'record', members };
    }
    case 'tuple':
      return { kind: 'record', members: named.positions.map(memberOf) };
    case 'union':
      return { kind: 'union', variants: named.variants.map((each) => memberOf(each, 'given')), chosen: 0 };
    case 'array':
      return {
        kind: 'list',
        type: named.item,
        item: named.itemName,
        arrays: named.namespace === 'arrays',
        items: [],
      };
    case 'map':
      return {
        kind: 'map',
        type: named.value,
        entry: named.entryName,
        arrays: named.namespace === 'arrays',
        entries: [],
      };
  }
}

function memberOf(
  { xml, type }: { xml: string; type: TypeRef },
  state: Slot['state'] | number = 'absent',
): Member {
  return { xml, type, described: undefined, slot: emptySlot(typeof state === 'string' ? state : 'absent') };
}

// --- writing ---------------------------------------------------------------------------------------

const xsi = 'http://www.w3.org/2001/XMLSchema-instance';

/** Writes the element of an operation's request, indented. Names come from the contract, and every value is escaped. */
export function writePayload(form: Form, name: string, members: readonly Member[]): string {
  const { types, arrays } = form.namespaces;
  const lines: string[] = [];
  for (const member of members) writeMember(form, member, '  ', lines);
  const body = lines.join('\n');
  const declared =
    (body.includes('<arr:') ? ` xmlns:arr="${escapeXml(arrays)}"` : '') +
    (body.includes(' i:nil="true"') ? ` xmlns:i="${xsi}"` : '');
  return `<${name} xmlns="${escapeXml(types)}"${declared}>${body === '' ? '' : `\n${body}\n`}</${name}>`;
}

function writeMember(form: Form, { xml, type, slot }: Member, indent: string, lines: string[]): void {
  writeSlot(form, xml, type, slot, indent, lines);
}

function writeSlot(
  form: Form,
  name: string,
  type: TypeRef,
  slot: Slot,
  indent: string,
  lines: string[],
): void {
  if (slot.state === 'absent') return;
  if (slot.state === 'nil') {
    lines.push(`${indent}<${name} i:nil="true"/>`);
    return;
  }
  const value = givenValue(form, slot, type);
  if (value.kind === 'text') {
    lines.push(`${indent}<${name}>${escapeXml(value.text)}</${name}>`);
    return;
  }
  const inner: string[] = [];
  const deeper = `${indent}  `;
  if (value.kind === 'record') for (const member of value.members) writeMember(form, member, deeper, inner);
  else if (value.kind === 'union') {
    const chosen = value.variants[value.chosen];
    if (chosen !== undefined) writeMember(form, chosen, deeper, inner);
  } else if (value.kind === 'list') {
    const prefix = prefixOf(form, value.arrays);
    for (const item of value.items) writeSlot(form, prefix + value.item, value.type, item, deeper, inner);
  } else {
    const prefix = prefixOf(form, value.arrays);
    for (const entry of value.entries) {
      inner.push(
        `${deeper}<${prefix}${value.entry}>`,
        `${deeper}  <${prefix}Key>${escapeXml(entry.key)}</${prefix}Key>`,
      );
      writeSlot(form, `${prefix}Value`, value.type, entry.slot, `${deeper}  `, inner);
      inner.push(`${deeper}</${prefix}${value.entry}>`);
    }
  }
  if (inner.length === 0) lines.push(`${indent}<${name}/>`);
  else lines.push(`${indent}<${name}>`, ...inner, `${indent}</${name}>`);
}

function prefixOf({ namespaces }: Form, arrays: boolean): '' | 'arr:' {
  return arrays && namespaces.arrays !== namespaces.types ? 'arr:' : '';
}

/** Escapes a text for an element or an attribute. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

// --- reading ---------------------------------------------------------------------------------------

/** The parts of the browser's Element that reading needs. */
export interface XmlElement {
  readonly localName: string;
  readonly textContent: string | null;
  readonly children: Iterable<XmlElement>;
  getAttributeNS(namespace: string, name: string): string | null;
}

/** Reads an element into members. Missing members become absent, and unknown elements are ignored. */
export function readPayload(form: Form, members: readonly Member[], element: XmlElement): void {
  const children = [...element.children];
  for (const { xml, type, slot } of members) {
    const found = children.find(({ localName }) => localName === xml);
    if (found === undefined) slot.state = 'absent';
    else readSlot(form, slot, type, found);
  }
}

function readSlot(form: Form, slot: Slot, type: TypeRef, element: XmlElement): void {
  if (/^(?:true|1)$/.test(element.getAttributeNS(xsi, 'nil') ?? '')) {
    slot.state = 'nil';
    return;
  }
  slot.state = 'given';
  slot.value = undefined;
  const value = givenValue(form, slot, type);
  const children = [...element.children];
  if (value.kind === 'text') value.text = element.textContent ?? '';
  else if (value.kind === 'record') readPayload(form, value.members, element);
  else if (value.kind === 'union') {
    const [first] = children;
    const at = value.variants.findIndex(({ xml }) => xml === first?.localName);
    const variant = value.variants[at];
    if (variant === undefined || first === undefined) return;
    value.chosen = at;
    readSlot(form, variant.slot, variant.type, first);
  } else if (value.kind === 'list') {
    value.items = children.map((child) => {
      const item = emptySlot('given');
      readSlot(form, item, value.type, child);
      return item;
    });
  } else {
    value.entries = children.map((child) => {
      const [key, held] = [...child.children];
      const slotOf = emptySlot('given');
      if (held !== undefined) readSlot(form, slotOf, value.type, held);
      return { key: key?.textContent ?? '', slot: slotOf };
    });
  }
}
