import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { scalarTable } from '../../../mappings/codec/scalars/table.ts';
import { escapeXml } from '../../../mappings/codec/scalars/text.ts';
import { type Contract, namespaces, type TupleType, type Type } from '../../../mappings/contract/model.ts';
import { isCharacter } from '../../../mappings/xml/characters.ts';
import { type Pick, shuffle } from './values.ts';

/** Replaces characters that XML forbids by U+FFFD, and counts them (W21). */
export function legalText(text: string): { readonly text: string; readonly replaced: number } {
  let legal = '';
  let replaced = 0;
  for (const character of text) {
    const isLegal = isCharacter(character.codePointAt(0) ?? 0);
    legal += isLegal ? character : '\ufffd';
    if (!isLegal) replaced++;
  }
  return { text: legal, replaced };
}

/** An element as read by saxes. */
export interface Element {
  readonly namespace: string;
  readonly local: string;
  readonly nil: boolean;
  readonly children: readonly Element[];
  /** Its own character data. */
  readonly text: string;
}

interface OpenElement extends Element {
  readonly children: Element[];
  text: string;
}

/** Reads a document with saxes. Throws if it is not well-formed, or has an attribute that replies never have. */
export function parseElement(xml: string): Element {
  const open: OpenElement[] = [];
  let root: Element | undefined;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ local, uri, attributes }) => {
    const element = { namespace: uri, local, nil: isNil(Object.values(attributes)), children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(xml).close();
  if (root === undefined) throw new Error('no root');
  return root;
}

function isNil(attributes: readonly SaxesAttributeNS[]): boolean {
  const own = attributes.filter(({ uri }) => uri !== 'http://www.w3.org/2000/xmlns/');
  for (const { local, uri, value } of own) {
    if (uri !== namespaces.xsi || local !== 'nil' || value !== 'true')
      throw new Error(`attribute ${local}="${value}"`);
  }
  return own.length === 1;
}

/** XSD's lexical forms of the scalars that restrict their text. */
const lexical: Readonly<Record<string, RegExp>> = {
  boolean: /^(?:true|false)$/,
  decimal: /^-?\d+(?:\.\d+)?$/,
  float: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  double: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  dateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d*[1-9])?(?:Z|[+-]\d\d:\d\d)?$/,
  duration: /^-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/,
  date: /^\d{4}-\d\d-\d\d(?:Z|[+-]\d\d:\d\d)?$/,
  base64Binary: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
};

/**
 * Returns the lexical form of a type. ISO 8601 dates keep any fraction that XSD allows, and any text is allowed if
 * dates may be text.
 */
function formOf(name: string, { settings }: Contract): RegExp | undefined {
  if (settings.dates === 'text' && (name === 'dateTime' || name === 'date')) return /^.*$/s;
  if (settings.dates === 'iso' && name === 'dateTime')
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/;
  return lexical[name];
}

/** Returns the reason why an element is invalid against its type: order, names, nil, lexical forms. */
export function findInvalid(
  element: Element,
  type: Type,
  contract: Contract,
  at = element.local,
): string | undefined {
  if (element.nil)
    return element.children.length > 0 || element.text !== '' ? `${at}: nil with content` : undefined;
  const first = <Item>(items: readonly Item[], find: (item: Item, index: number) => string | undefined) => {
    for (const [index, item] of items.entries()) {
      const fault = find(item, index);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const { types, arrays } = contract.namespaces;
  switch (type.kind) {
    case 'scalar': {
      if (element.children.length > 0) return `${at}: elements in a scalar`;
      const name = scalarTable[type.scalar].xsd;
      const form = formOf(name, contract) ?? (name === 'string' ? /^.*$/s : /^-?\d+$/);
      return form.test(element.text) ? undefined : `${at}: ${JSON.stringify(element.text)} is no xs:${name}`;
    }
    case 'enum':
      if (contract.settings.unknownEnumValues === 'pass' && element.children.length === 0) return undefined;
      return type.values.includes(element.text) && element.children.length === 0
        ? undefined
        : `${at}: no value of ${type.name}`;
    case 'record': {
      if (element.text !== '') return `${at}: text in a record`;
      let last = -1;
      const { typed, untyped } = type.additional ?? {};
      return first(element.children, (child) => {
        const other = [typed, untyped].find((candidate) => candidate?.xml === child.local);
        if (other !== undefined) return findInvalid(child, other.type, contract, `${at}.${child.local}`);
        const index = type.fields.findIndex(({ xml }) => xml === child.local);
        const field = type.fields[index];
        const path = `${at}.${child.local}`;
        if (field === undefined || child.namespace !== types) return `${path}: unknown`;
        if (index <= last) return `${path}: out of order`;
        last = index;
        if (child.nil && !field.nillable) return `${path}: not nillable`;
        return findInvalid(child, field.type, contract, path);
      });
    }
    case 'union': {
      const [child, more] = element.children;
      const variant = type.variants.find(({ xml }) => xml === child?.local);
      if (child === undefined || variant === undefined || more !== undefined || element.text !== '')
        return `${at}: expected one variant`;
      if (child.nil || child.namespace !== types) return `${at}.${child.local}: nil, or of another namespace`;
      return findInvalid(child, variant.type, contract, `${at}.${child.local}`);
    }
    case 'tuple': {
      if (element.text !== '') return `${at}: text in a tuple`;
      const parts = partsOfTuple(type);
      return first(element.children, (child, index) => {
        const part = parts[index];
        const path = `${at}.${child.local}`;
        if (part?.xml !== child.local || child.namespace !== types) return `${path}: out of place`;
        return findInvalid(child, part.type, contract, path);
      });
    }
    case 'array': {
      if (element.text !== '') return `${at}: text in an array`;
      const namespace = contract.namespaces[type.namespace];
      return first(element.children, (child, index) =>
        child.local === type.itemName && child.namespace === namespace
          ? findInvalid(child, type.item, contract, `${at}[${index}]`)
          : `${at}[${index}]: another item`,
      );
    }
    case 'map': {
      const namespace = type.namespace === 'arrays' ? arrays : types;
      return first(element.children, ({ local, namespace: own, children: [key, value, more] }, index) => {
        const right =
          local === type.entryName && key?.local === 'Key' && value?.local === 'Value' && more === undefined;
        const all = [own, key?.namespace, value?.namespace].every((one) => one === namespace);
        if (!right || !all || value === undefined) return `${at}[${index}]: another entry`;
        return findInvalid(value, type.value, contract, `${at}[${index}]`);
      });
    }
  }
}

/** Rewrites an element with shuffled children of records, blanks and comments between them, and other prefixes. */
export function respell(element: Element, type: Type, pick: Pick): string {
  const between = () => ['', '', '\n  ', '<!-- <x/> & -->'][pick(4)] ?? '';
  const write = (one: Element, inner: Type | undefined): string => {
    const prefix = ['', 'p', 'é'][pick(3)] ?? '';
    const name = prefix === '' ? one.local : `${prefix}:${one.local}`;
    const bare = pick(4) === 0;
    const declared =
      prefix === '' ? `xmlns="${bare ? '' : one.namespace}"` : `xmlns:${prefix}="${one.namespace}"`;
    const nil = one.nil ? ` n:nil="${['true', '1', ' true '][pick(3)]}" xmlns:n="${namespaces.xsi}"` : '';
    const children = inner?.kind === 'array' ? one.children : shuffleChildren(one, inner);
    const content =
      children.length === 0
        ? writeText(one.text)
        : between() + children.map((child) => write(child, typeOfChild(child, inner)) + between()).join('');
    return content === '' && pick(2) === 0
      ? `<${name} ${declared}${nil}/>`
      : `<${name} ${declared}${nil}>${content}</${name}>`;
  };
  const shuffleChildren = (one: Element, inner: Type | undefined) =>
    // entries of a map keep their order; Key and Value may be swapped
    inner?.kind === 'map' ? one.children : shuffle(one.children, pick);
  const writeText = (text: string): string => {
    if (text !== '' && pick(3) === 0 && !text.includes('\r') && !text.includes(']]>'))
      return `<![CDATA[${text}]]>`;
    return escapeXml(text, { replaced: 0 });
  };
  const typeOfChild = (child: Element, inner: Type | undefined): Type | undefined => {
    if (inner?.kind === 'array') return inner.item;
    if (inner?.kind === 'union') return inner.variants.find(({ xml }) => xml === child.local)?.type;
    if (inner?.kind === 'tuple') return partsOfTuple(inner).find(({ xml }) => xml === child.local)?.type;
    if (inner?.kind === 'record') {
      const others = [inner.additional?.typed, inner.additional?.untyped].filter(
        (other) => other !== undefined,
      );
      return [...inner.fields, ...others].find(({ xml }) => xml === child.local)?.type;
    }
    if (inner?.kind === 'map')
      return { kind: 'record', name: '', documentation: '', fields: entryFields(inner.value) };
    return undefined;
  };
  return write(element, type);
}

/** Returns the elements of a tuple in order. */
function partsOfTuple({
  positions,
  rest,
}: TupleType): readonly { readonly xml: string; readonly type: Type }[] {
  return rest === undefined ? positions : [...positions, rest];
}

function entryFields(value: Type) {
  const field = { json: '', nillable: true, required: false, notEmpty: false, allowed: undefined };
  return [
    { ...field, xml: 'Key', type: { kind: 'scalar', scalar: 'string' } as const },
    { ...field, xml: 'Value', type: value },
  ];
}
