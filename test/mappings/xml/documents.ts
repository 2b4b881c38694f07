import { isCharacter } from '../../../mappings/xml/characters.ts';
import { fc } from '../../property.ts';
import type { Element } from './infoset.ts';

/** Arbitrary documents: their infoset, and an unusual way to write it. */
export interface Document {
  readonly root: Element;
  readonly text: string;
}

interface Name {
  readonly namespace: string;
  readonly local: string;
}

interface Node {
  readonly name: Name;
  readonly attributes: readonly (Name & { readonly value: string })[];
  readonly children: readonly Node[];
  /** Text between the children, or the whole text. */
  readonly text: string;
}

const names = fc.record({
  namespace: fc.constantFrom('', '', 'urn:a', 'urn:b', 'http://example.org/?x=1&y=<2>"\''),
  local: fc.constantFrom('a', 'b', 'Request', 'x-1.y_2', '_', 'é', 'ſ𐀀', '__proto__'),
});

const characters = fc.oneof(
  fc.constantFrom(
    'a',
    ' ',
    '\n',
    '\r',
    '\t',
    '<',
    '&',
    '>',
    ']',
    ']]>',
    '"',
    "'",
    '-',
    '\u0085',
    '\u2028',
    '😀',
  ),
  fc.nat(0x10ffff).map((code) => (isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD')),
);

const texts = fc.array(characters, { maxLength: 8 }).map((list) => list.join(''));
const blanks = fc.constantFrom('', '', ' ', '\n\t ');

const nodes = fc.letrec<{ node: Node }>((tie) => ({
  node: fc
    .record({
      name: names,
      attributes: fc.uniqueArray(
        fc.tuple(names, texts).map(([name, value]) => ({ ...name, value })),
        { maxLength: 4, selector: ({ namespace, local }) => `${namespace} ${local}` },
      ),
      children: fc.oneof({ maxDepth: 4 }, fc.constant([]), fc.array(tie('node'), { maxLength: 3 })),
      text: fc.oneof(texts, blanks),
    })
    .map((node) => node as Node),
})).node;

/** The writer's choices. Each choice consumes the next number of a list, so that fast-check can shrink it. */
class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** Returns an unused prefix. */
  unique(): string {
    return `n${this.#next++}`;
  }

  pick<Choice>(...choices: [Choice, ...Choice[]]): Choice {
    const number = this.#numbers[this.#next++ % this.#numbers.length] ?? 0;
    return choices[number % choices.length] ?? choices[0];
  }
}

export const documents: fc.Arbitrary<Document> = fc
  .tuple(nodes, fc.array(fc.nat(1000), { minLength: 1, maxLength: 60 }))
  .map(([node, numbers]) => {
    const choices = new Choices(numbers);
    const declaration = choices.pick(
      '',
      '<?xml version="1.0"?>',
      "<?xml version = '1.0' encoding='utf-8' ?>\r\n",
    );
    const before = choices.pick('', '', '\n', '<!-- -x- -->\n', '<!---->');
    const { text, element } = writeElement(node, new Map([['', '']]), choices);
    const after = choices.pick('', '', '\r\n', ' <!--<a>&-->');
    return { root: element, text: declaration + before + text + after };
  });

type Scope = ReadonlyMap<string, string>;

function writeElement(node: Node, outer: Scope, choices: Choices): { text: string; element: Element } {
  const scope = new Map(outer);
  const declared = new Map<string, string>();
  const used = new Set<string>();
  const qualify = ({ namespace, local }: Name, isAttribute: boolean): string => {
    if (isAttribute && namespace === '') return local;
    const bound = [...scope.keys()].filter((prefix) => scope.get(prefix) === namespace);
    const fresh = (namespace === '' ? [''] : ['p', 'q', 'é', 'xm', '', choices.unique()]).filter(
      (prefix) => !used.has(prefix) && !declared.has(prefix),
    );
    const usable = (choices.pick(true, true, false) ? [...bound, ...fresh] : [...fresh, ...bound]).filter(
      (prefix) => prefix !== '' || !isAttribute,
    );
    const prefix = choices.pick(usable[0], usable[0], usable[0], ...usable) ?? '';
    if (scope.get(prefix) !== namespace || (fresh.includes(prefix) && choices.pick(true, false))) {
      declared.set(prefix, namespace);
      scope.set(prefix, namespace);
    }
    used.add(prefix);
    return prefix === '' ? local : `${prefix}:${local}`;
  };

  const name = qualify(node.name, false);
  const parts = node.attributes.map(
    (attribute) => `${qualify(attribute, true)}${equals(choices)}${writeValue(attribute.value, choices)}`,
  );
  for (const [prefix, namespace] of declared) {
    const declaration = `xmlns${prefix === '' ? '' : `:${prefix}`}${equals(choices)}${writeValue(namespace, choices)}`;
    // Declarations may follow the names that use them. The order of other attributes is kept.
    if (choices.pick(true, false)) parts.unshift(declaration);
    else parts.push(declaration);
  }
  const attributes = node.attributes.map((attribute) => `${expanded(attribute)}=${attribute.value}`);
  const tag = `<${[name, ...parts].join(choices.pick(' ', '\n  ', '\r\n', '\t'))}${choices.pick('', ' ')}`;
  const end = `</${name}${choices.pick('', '', ' ', '\n')}>`;

  if (node.children.length === 0) {
    const element = { name: expanded(node.name), attributes, children: [], text: node.text, stray: false };
    if (node.text === '' && choices.pick(true, false)) return { text: `${tag}/>`, element };
    return { text: `${tag}>${writeText(node.text, choices)}${end}`, element };
  }
  const stray = /[^ \t\r\n]/.test(node.text);
  let content = writeText(node.text, choices);
  const children: Element[] = [];
  for (const child of node.children) {
    const { text, element } = writeElement(child, scope, choices);
    content += text + choices.pick('', '\n  ', '<!-- x -->');
    children.push(element);
  }
  return {
    text: `${tag}>${content}${end}`,
    element: { name: expanded(node.name), attributes, children, text: undefined, stray },
  };
}

function equals(choices: Choices): string {
  return choices.pick('=', '=', ' = ', '\n=');
}

function expanded({ namespace, local }: Name): string {
  return namespace === '' ? local : `{${namespace}}${local}`;
}

function writeValue(value: string, choices: Choices): string {
  const quote = choices.pick('"', "'");
  let text = '';
  for (const character of value) {
    const raw = !/[<&\t\n\r]/.test(character) && character !== quote;
    text += raw && choices.pick(true, true, true, false) ? character : writeReference(character, choices);
  }
  return `${quote}${text}${quote}`;
}

function writeText(value: string, choices: Choices): string {
  let text = '';
  for (const character of value) {
    const style = choices.pick('raw', 'raw', 'raw', 'reference', 'section');
    if (choices.pick(false, false, false, true))
      text += choices.pick('<!-- & -->', '<!---->', '<![CDATA[]]>');
    if (character === '\n' && style === 'raw') text += choices.pick('\n', '\r\n');
    else if (character === '\r' || style === 'reference') text += writeReference(character, choices);
    else if (style === 'section') text += `<![CDATA[${character}]]>`;
    else if (/[<&]/.test(character) || (character === '>' && text.endsWith(']]'))) {
      text += writeReference(character, choices);
    } else text += character;
  }
  return text;
}

function writeReference(character: string, choices: Choices): string {
  const code = character.codePointAt(0) ?? 0;
  const entity = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&apos;', '"': '&quot;' }[character];
  return choices.pick(
    entity ?? `&#${code};`,
    `&#${code};`,
    `&#x${code.toString(16)};`,
    `&#x00${code.toString(16).toUpperCase()};`,
  );
}
