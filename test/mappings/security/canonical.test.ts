import test from 'ava';
import fc from 'fast-check';
import { XmlC14NMode, XmlDocument, XmlElement } from 'libxml2-wasm';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import {
  CanonicalError,
  type CanonicalForm,
  canonicalize,
  compareCodePoints,
} from '../../../mappings/security/canonical.ts';
import { readTree, type Tree, type TreeElement } from '../../../mappings/security/tree.ts';
import { envelopesOf } from '../../security/captures.ts';

const modes = {
  exclusive: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0,
  inclusive: XmlC14NMode.XML_C14N_1_0,
  inclusive11: XmlC14NMode.XML_C14N_1_1,
} as const;

const none: ReadonlySet<string> = new Set();

function ours(tree: Tree, apex: TreeElement, form: CanonicalForm, left = 50_000_000): string {
  return canonicalize(tree, apex, form, { left });
}

/** Elements of a tree in document order. */
function all(element: TreeElement): TreeElement[] {
  return [element, ...element.children.flatMap(all)];
}

function allTheirs(element: XmlElement): XmlElement[] {
  const found = [element];
  for (let child = element.firstChild; child !== null; child = child.next)
    if (child instanceof XmlElement) found.push(...allTheirs(child));
  return found;
}

/** Compares the forms of each element of a document, and returns how many were compared. */
function compareAll(text: string, prefixes: readonly string[], differ: (text: string) => void): number {
  const tree = readTree(text, defaultLimits);
  const document = XmlDocument.fromBuffer(Buffer.from(text));
  let compared = 0;
  try {
    const theirs = allTheirs(document.root);
    for (const [index, element] of all(tree.root).entries()) {
      for (const kind of ['exclusive', 'inclusive', 'inclusive11'] as const) {
        const list = kind === 'exclusive' ? prefixes : [];
        const form = { kind, prefixes: new Set(list.map((one) => (one === '#default' ? '' : one))) };
        const expected = theirs[index]?.canonicalizeToString({
          mode: modes[kind],
          withComments: false,
          ...(list.length > 0 && { inclusiveNamespacePrefixes: [...list] }),
        });
        const got = ours(tree, element, form);
        if (got !== expected) differ(`${kind} ${list.join(' ')}\n${text}\n${got}\n${expected}`);
        compared++;
      }
    }
  } finally {
    document.dispose();
  }
  return compared;
}

test('X14: the canonical forms of all elements of the captures equal those of libxml2', (t) => {
  let compared = 0;
  for (const { text } of envelopesOf())
    for (const prefixes of [[], ['soap', 'wsse', 'xsd'], ['#default', 'wsu']])
      compared += compareAll(text, prefixes, (difference) => t.fail(difference));
  t.true(compared > 1_000);
});

const prefix = fc.constantFrom('', 'a', 'b', 'c');
const namespace = fc.constantFrom('urn:one', 'urn:two', 'http://three.example/', 'urn:four');
const words = fc
  .string({
    unit: fc.constantFrom('x', ' ', '&amp;', '&lt;', '&#13;', '&#9;', '\n', '\r\n', '\r', 'é', '𝄞', '>', '"'),
  })
  .map((text) => text.replaceAll(']]>', ''));
const content = fc.oneof(
  words,
  words.map((text) => `<!--${text.replaceAll('-', '')}-->`),
  fc.constant('<![CDATA[&<>\r]]>'),
);

const blank = fc.constantFrom('', '', '', '', '\n');

interface Shape {
  readonly prefix: string;
  readonly declared: readonly (readonly [string, string])[];
  readonly attributes: readonly (readonly [string, string, string])[];
  readonly texts: readonly string[];
  /** White space at the end of the start tag and of the end tag. */
  readonly blanks: readonly [start: string, end: string];
  readonly children: readonly Shape[];
}

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.record({
    prefix,
    declared: fc.uniqueArray(fc.tuple(prefix, namespace), { selector: ([one]) => one, maxLength: 3 }),
    attributes: fc.array(
      fc.tuple(fc.constantFrom('', 'a', 'b', 'xml'), fc.constantFrom('k', 'lang', 'space', 'Z'), words),
      { maxLength: 3 },
    ),
    texts: fc.array(content, { maxLength: 2 }),
    blanks: fc.tuple(blank, blank),
    children: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('shape'), { maxLength: 3 })),
  }),
}));

/** Writes a shape as XML, without undeclared prefixes and repeated attributes. */
function write(one: Shape, scope: ReadonlyMap<string, string>): string {
  const bound = new Map([...scope, ...one.declared]);
  const own = bound.has(one.prefix) ? one.prefix : '';
  const name = own === '' ? 'e' : `${own}:e`;
  const seen = new Set<string>();
  let tag = `<${name}`;
  for (const [declared, uri] of one.declared)
    tag += ` xmlns${declared === '' ? '' : `:${declared}`}="${uri}"`;
  for (const [of, local, value] of one.attributes) {
    if (of === 'xml' && local !== 'lang' && local !== 'space') continue;
    if (of !== '' && of !== 'xml' && !bound.has(of)) continue;
    const expanded = `${of === '' ? '' : (bound.get(of) ?? of)} ${local}`;
    if (seen.has(expanded)) continue;
    seen.add(expanded);
    const text = of === 'xml' && local === 'space' ? 'preserve' : value.replaceAll('"', '&quot;');
    tag += ` ${of === '' ? '' : `${of}:`}${local}="${text}"`;
  }
  const children = one.children.map((child) => write(child, bound));
  const [start, end] = one.blanks;
  return `${tag}${start}>${one.texts[0] ?? ''}${children.join('\n')}${one.texts[1] ?? ''}</${name}${end}>`;
}

test('X14: canonical forms of random trees equal those of libxml2', (t) => {
  const list = fc.subarray(['a', 'b', '#default', 'xml']);
  fc.assert(
    fc.property(shape, list, (random, prefixes) => {
      compareAll(write(random, new Map()), prefixes, (difference) => {
        throw new Error(difference);
      });
    }),
    { numRuns: 400 },
  );
  t.pass();
});

test('X14: reading a canonical form again gives the same form', (t) => {
  fc.assert(
    fc.property(shape, (random) => {
      const form: CanonicalForm = { kind: 'exclusive', prefixes: none };
      const tree = readTree(write(random, new Map()), defaultLimits);
      const octets = ours(tree, tree.root, form);
      const again = readTree(octets, defaultLimits);
      if (ours(again, again.root, form) !== octets) throw new Error(octets);
    }),
    { numRuns: 200 },
  );
  t.pass();
});

test('X14: a relative namespace name in scope has no canonical form', (t) => {
  const form: CanonicalForm = { kind: 'exclusive', prefixes: none };
  const tree = readTree('<a xmlns:r="urn:x"><b xmlns:r="../x"><c/></b><d/></a>', defaultLimits);
  const [b, d] = tree.root.children;
  for (const element of [tree.root, b, b?.children[0]]) {
    if (element === undefined) return t.fail();
    t.is(
      t.throws(() => ours(tree, element, form), { instanceOf: CanonicalError })?.problem,
      'relative namespace',
    );
  }
  t.is(d === undefined ? '' : ours(tree, d, form), '<d></d>');
});

test('X14: an inherited xml:base has no canonical form of version 1.1', (t) => {
  const tree = readTree('<a xml:base="http://a.example/"><b/></a>', defaultLimits);
  const [b] = tree.root.children;
  if (b === undefined) return t.fail();
  const error = t.throws(() => ours(tree, b, { kind: 'inclusive11', prefixes: none }), {
    instanceOf: CanonicalError,
  });
  t.is(error?.problem, 'xml:base');
  t.is(ours(tree, b, { kind: 'inclusive', prefixes: none }), '<b xml:base="http://a.example/"></b>');
});

test('X14: an element that is copied from its source needs its prefixes declared in the form', (t) => {
  const form: CanonicalForm = { kind: 'exclusive', prefixes: none };
  const inner = '<p:b><q:c>1</q:c><p:d>2</p:d></p:b>';
  const tree = readTree(`<a xmlns:p="urn:p" xmlns:q="urn:q"><p:e>${inner}</p:e>${inner}</a>`, defaultLimits);
  const declared = '<q:c xmlns:q="urn:q">1</q:c><p:d>2</p:d></p:b>';
  const expected = `<a><p:e xmlns:p="urn:p"><p:b>${declared}</p:e><p:b xmlns:p="urn:p">${declared}</a>`;
  t.is(ours(tree, tree.root, form), expected);
  const both = { kind: 'exclusive', prefixes: new Set(['p', 'q']) } as const;
  t.is(ours(tree, tree.root, both), `<a xmlns:p="urn:p" xmlns:q="urn:q"><p:e>${inner}</p:e>${inner}</a>`);
  const many = ['a', 'b', 'c', 'd', 'e'].map((prefix) => `<${prefix}:x>1</${prefix}:x>`).join('');
  const declarations = ['a', 'b', 'c', 'd', 'e'].map((prefix) => ` xmlns:${prefix}="urn:${prefix}"`).join('');
  const wide = `<o${declarations}><i>${many}</i></o>`;
  const wideTree = readTree(wide, defaultLimits);
  t.is(ours(wideTree, wideTree.root, { kind: 'inclusive', prefixes: none }), wide);
});

test('X14: each copied element declares the only prefix in it', (t) => {
  const form: CanonicalForm = { kind: 'exclusive', prefixes: none };
  const tree = readTree(
    '<q:a xmlns="urn:d" xmlns:p="urn:p" xmlns:q="urn:q"><p:b>1<p:c>&amp;</p:c></p:b><p:b>2<p:d>3</p:d></p:b><e>4</e><e>5</e></q:a>',
    defaultLimits,
  );
  const expected =
    '<q:a xmlns:q="urn:q"><p:b xmlns:p="urn:p">1<p:c>&amp;</p:c></p:b><p:b xmlns:p="urn:p">2<p:d>3</p:d></p:b><e xmlns="urn:d">4</e><e xmlns="urn:d">5</e></q:a>';
  t.is(ours(tree, tree.root, form), expected);
  const undeclared = readTree(
    '<a xmlns="urn:d"><p:b xmlns="" xmlns:p="urn:p"><c>1</c></p:b></a>',
    defaultLimits,
  );
  const empty = '<a xmlns="urn:d"><p:b xmlns:p="urn:p"><c xmlns="">1</c></p:b></a>';
  t.is(ours(undeclared, undeclared.root, form), empty);
  const escaped = readTree(`<q:a xmlns:q="urn:q" xmlns:p='urn:"&lt;'><p:b>1</p:b></q:a>`, defaultLimits);
  t.is(ours(escaped, escaped.root, form), '<q:a xmlns:q="urn:q"><p:b xmlns:p="urn:&quot;&lt;">1</p:b></q:a>');
  const long = readTree(
    `<a xmlns:p="urn:${'x'.repeat(500)}">${'<p:b>1</p:b>'.repeat(100)}</a>`,
    defaultLimits,
  );
  const { length } = ours(long, long.root, form);
  t.is(ours(long, long.root, form, length).length, length);
  const error = t.throws(() => ours(long, long.root, form, 600), { instanceOf: CanonicalError });
  t.is(error?.problem, 'too long');
});

test('X39: the length of canonical forms is limited while they are written', (t) => {
  const form: CanonicalForm = { kind: 'exclusive', prefixes: none };
  const tree = readTree(`<a xmlns:p="urn:${'x'.repeat(500)}">${'<p:b/>'.repeat(100)}</a>`, defaultLimits);
  const { length } = ours(tree, tree.root, form);
  t.is(ours(tree, tree.root, form, length).length, length);
  const error = t.throws(() => ours(tree, tree.root, form, length - 1), { instanceOf: CanonicalError });
  t.is(error?.problem, 'too long');
});

test('X14: texts are compared by code point', (t) => {
  t.true(compareCodePoints('\uffee', '\u{1d11e}') < 0);
  t.true(compareCodePoints('a', 'ab') < 0);
  t.is(compareCodePoints('é', 'é'), 0);
});

test('X14: an omitted element leaves the rest of the form', (t) => {
  const tree = readTree('<a>1<b/>2</a>', defaultLimits);
  const [b] = tree.root.children;
  t.is(canonicalize(tree, tree.root, { kind: 'exclusive', prefixes: none }, { left: 99 }, b), '<a>12</a>');
});
