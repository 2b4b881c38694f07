import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';

/** Content of an element for stacks without generated classes: a text, or members by name. */
export type Arguments = string | ReadonlyMap<string, Arguments | readonly Arguments[]>;

/** Samples are created by this project, so their size needs no limit. */
const limits: Limits = {
  ...defaultLimits,
  xmlDepth: Number.POSITIVE_INFINITY,
  xmlElements: Number.POSITIVE_INFINITY,
  xmlText: Number.POSITIVE_INFINITY,
};

/** Returns the arguments of a call from the element in a message's Body. Throws XmlError. */
export function argumentsOf(envelope: string): Arguments {
  const xml = new XmlReader(envelope, limits);
  xml.readRoot();
  while (xml.nextChild() && xml.local !== 'Body') xml.skip();
  return xml.nextChild() ? contentOf(xml) : new Map();
}

function contentOf(xml: XmlReader): Arguments {
  const members = new Map<string, Arguments | readonly Arguments[]>();
  for (let index = 0; index < xml.attributeCount; index++)
    if (xml.attributeNamespace(index) === '')
      members.set(xml.attributeLocal(index), xml.attributeValue(index));
  if (members.size === 0 && !xml.beginsWithElement) return xml.readText(limits.xmlText, true) ?? '';
  if (!xml.beginsWithElement) return members.set('_value_1', xml.readText(limits.xmlText, true) ?? '');
  while (xml.nextChild()) {
    const { local } = xml;
    const value = contentOf(xml);
    const known = members.get(local);
    if (known === undefined) members.set(local, value);
    else members.set(local, Array.isArray(known) ? [...known, value] : [known as Arguments, value]);
  }
  return members;
}

/** Syntax of a language's literals. Lists are always in brackets. */
export interface Literals {
  readonly open: string;
  readonly close: string;
  /** Returns a member's name with the separator before its value. */
  readonly key: (name: string) => string;
  readonly text: (text: string) => string;
}

/** Writes arguments as a literal of a language, indented by two blanks per level. */
export function writeLiteral(
  value: Arguments | readonly Arguments[],
  literals: Literals,
  indent = '',
): string {
  const inner = `${indent}  `;
  if (typeof value === 'string') return literals.text(value);
  if (isList(value)) {
    const items = value.map((one) => `${inner}${writeLiteral(one, literals, inner)},\n`);
    return `[\n${items.join('')}${indent}]`;
  }
  if (value.size === 0) return literals.open + literals.close;
  const members = [...value].map(
    ([name, one]) => `${inner}${literals.key(name)}${writeLiteral(one, literals, inner)},\n`,
  );
  return `${literals.open}\n${members.join('')}${indent}${literals.close}`;
}

function isList(value: Arguments | readonly Arguments[]): value is readonly Arguments[] {
  return Array.isArray(value);
}
