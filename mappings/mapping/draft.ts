import { isNode, type Node } from '../loader/document/node.ts';
import { pathText } from './paths.ts';
import { SchemaReader, type Shape } from './schemas.ts';
import { anyShape } from './shape-checks.ts';
import { type TargetOperation, targetOperation } from './target.ts';

/** Proposes a first version of mapping rules (M6) by name, kind and structure. An author must review them. */

/** A proposed entry as plain data for YAML, with the members that have no match. */
export interface Draft {
  /** The entry without `omit`, which the author must decide. */
  readonly entry: Record<string, unknown>;
  /** Members of the legacy request without a match in the call. */
  readonly unmatchedRequest: readonly string[];
  /** Required members of the call and of the legacy reply without a match in the source. */
  readonly unmatchedRequired: readonly string[];
  /** Members of the legacy reply without a match in the upstream response. */
  readonly unmatchedReply: readonly string[];
}

/** Minimum similarity of two names, from 0 to 1. */
const least = 0.5;
/** Maximum depth of objects and lists. */
const deepest = 5;
/** Maximum number of scalars and lists on one side. */
const most = 2_000;

/** Splits a name into words: `FundingOpportunityNumber` and `funding_opportunity_number` have the same words. */
function wordsOf(name: string): readonly string[] {
  // A word starts with a capital letter that follows a lower-case letter or digit, or precedes a lower-case letter.
  const parted = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
  return (parted.match(/[A-Za-z]+|[0-9]+/g) ?? [name]).map((word) => word.toLowerCase());
}

/** Returns the similarity of two names: common words divided by all words; 1 for the same words. */
export function likeness(one: readonly string[], other: readonly string[]): number {
  if (one.join('') === other.join('')) return 1;
  const common = one.filter((word) => other.includes(word)).length;
  return common / new Set([...one, ...other]).size;
}

/** A scalar or list of a document, identified by its path through objects. */
interface Leaf {
  readonly path: readonly string[];
  readonly words: readonly string[];
  readonly allWords: readonly string[];
  readonly shape: Shape;
  /** True if its parent object requires it. */
  readonly required: boolean;
  /** The enclosing objects from the outermost, each with whether its parent requires it. */
  readonly around: readonly Around[];
}

interface Around {
  readonly path: string;
  readonly required: boolean;
}

function leavesOf(shape: Shape): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const shapes = new Set<Shape>();
  const visit = (at: Shape, path: readonly string[], required: boolean, around: readonly Around[]): void => {
    if (shapes.has(at) || leaves.length === most) return; // a recursive type
    if (path.length > 0 && (at.members.size === 0 || path.length === deepest)) {
      const words = singular(wordsOf(path.at(-1) ?? ''));
      const allWords = singular(path.flatMap(wordsOf));
      leaves.push({ path, words, allWords, shape: at, required, around });
      return;
    }
    shapes.add(at);
    const inner = path.length === 0 ? around : [...around, { path: dotted(path), required }];
    for (const [name, member] of at.members) visit(member.shape, [...path, name], member.required, inner);
    shapes.delete(at);
  };
  visit(shape, [], true, []);
  return leaves;
}

/** Returns true if a mapping requires a rule for a leaf: each enclosing object is required or has a rule inside. */
function isNeeded({ required, around }: Leaf, filled: ReadonlySet<string>): boolean {
  return required && around.every((one) => one.required || filled.has(one.path));
}

function isList({ kinds }: Shape): boolean {
  return kinds.has('array') && !kinds.has('string');
}

interface Match {
  readonly target: Leaf;
  readonly source: Leaf;
  readonly score: number;
}

/** Returns pairs of leaves, the most similar first, each leaf at most once. */
function matched(sources: readonly Leaf[], targets: readonly Leaf[]): readonly Match[] {
  const pairs: Match[] = [];
  for (const target of targets)
    for (const source of sources) {
      if (isList(target.shape) !== isList(source.shape)) continue;
      const byName = likeness(source.words, target.words);
      const score = byName + likeness(source.allWords, target.allWords) / 10;
      if (byName >= least) pairs.push({ target, source, score });
    }
  return bestFirst(pairs);
}

/** Returns the pairs with the highest scores, each leaf at most once. */
function bestFirst(pairs: readonly Match[]): readonly Match[] {
  const taken = new Set<Leaf>();
  return pairs
    .toSorted((one, other) => other.score - one.score)
    .filter(({ target, source }) => {
      if (taken.has(target) || taken.has(source)) return false;
      taken.add(target).add(source);
      return true;
    });
}

function dotted(path: readonly string[]): string {
  return pathText(path.map((name) => ({ kind: 'member', name }) as const));
}

/** Returns rules for the items of two lists; undefined for lists of scalars. */
function itemRules({ source, target }: Match, depth: number): Rules | undefined {
  const [items, wanted] = [source.shape.items, target.shape.items];
  if (!isList(target.shape) || items === undefined || wanted === undefined) return undefined;
  return wanted.members.size === 0 || depth === deepest ? undefined : rulesOf(items, wanted, depth + 1);
}

/** Returns the rule that converts one leaf to another. */
function ruleOf({ source, target }: Match, items: Rules | undefined): unknown {
  const from = dotted(source.path);
  if (isList(target.shape)) return items === undefined ? { each: from } : { each: from, map: items.rules };
  const { values } = target.shape;
  if (source.shape.values !== undefined && values !== undefined) {
    const table = source.shape.values.map((value) => {
      const like = values.find((one) => likeness(wordsOf(one), wordsOf(value)) === 1);
      return like === undefined ? [] : [[value, like] as const];
    });
    const isSame = source.shape.values.every((value) => values.includes(value));
    return isSame ? from : { from, values: Object.fromEntries(table.flat()) };
  }
  const isText = (shape: Shape) => shape.kinds.has('string');
  if (isText(source.shape) === isText(target.shape)) return from;
  if (isText(target.shape)) return { from, as: 'text' };
  return { from, as: target.shape.kinds.has('number') ? 'number' : 'boolean' };
}

/** Pairs lists of objects with different names by the number of similar members. */
function matchedByItems(
  sources: readonly Leaf[],
  targets: readonly Leaf[],
  named: readonly Match[],
  depth: number,
): readonly Match[] {
  if (depth === deepest) return [];
  const isFree = (leaf: Leaf) =>
    (leaf.shape.items?.members.size ?? 0) > 0 &&
    !named.some((one) => one.source === leaf || one.target === leaf);
  const pairs: Match[] = [];
  for (const target of targets.filter(isFree))
    for (const source of sources.filter(isFree)) {
      const [items, wanted] = [source.shape.items, target.shape.items];
      if (items === undefined || wanted === undefined) continue;
      const score = matched(leavesOf(items), leavesOf(wanted)).length;
      if (score > 0) pairs.push({ target, source, score });
    }
  return bestFirst(pairs);
}

/** Rules by target path, and the paths without a rule. `[]` represents the items of a list. */
interface Rules {
  readonly rules: Record<string, unknown>;
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  /** Targets that require a rule. */
  readonly needed: readonly string[];
}

/** Proposes rules from one shape to another, and lists the paths without a rule. */
function rulesOf(source: Shape, target: Shape, depth = 0): Rules {
  const sources = leavesOf(source);
  const targets = leavesOf(target);
  const named = matched(sources, targets);
  return rulesBy([...named, ...matchedByItems(sources, targets, named, depth)], sources, targets, depth);
}

function rulesBy(
  matches: readonly Match[],
  sources: readonly Leaf[],
  targets: readonly Leaf[],
  depth: number,
): Rules {
  const rules: Record<string, unknown> = {};
  const left = { sources: [] as string[], targets: [] as string[], needed: [] as string[] };
  const filled = new Set(matches.flatMap((match) => match.target.around.map(({ path }) => path)));
  // in the target's order
  for (const leaf of targets) {
    const match = matches.find((one) => one.target === leaf);
    const path = dotted(leaf.path);
    if (match === undefined) {
      left.targets.push(path);
      if (isNeeded(leaf, filled)) left.needed.push(path);
      continue;
    }
    const items = itemRules(match, depth);
    rules[path] = ruleOf(match, items);
    const within = (all: readonly string[] = [], list = path) => all.map((one) => `${list}[].${one}`);
    left.sources.push(...within(items?.sources, dotted(match.source.path)));
    left.targets.push(...within(items?.targets));
    left.needed.push(...within(items?.needed));
  }
  const taken = new Set(matches.map((match) => match.source));
  const unused = sources.filter((leaf) => !taken.has(leaf)).map(({ path }) => dotted(path));
  return { rules, ...left, sources: [...unused, ...left.sources] };
}

/** Shape without members, for a body that the document does not describe. */
const nothing: Shape = { ...anyShape, open: false };

/** Proposes a rule that maps a whole text or binary response to one member. */
function rulesOfText(isBinary: boolean, target: Shape): Rules {
  const targets = leavesOf(target);
  const [source] = leavesOf({ ...nothing, members: new Map([['.', { shape: nothing, required: false }]]) });
  const takes = ({ shape }: Leaf) => shape.base64 || (!isBinary && shape.kinds.has('string') && !shape.open);
  const leaf = targets.find((one) => takes(one) && one.shape.base64 === isBinary) ?? targets.find(takes);
  const { rules, ...left } = rulesBy(
    source === undefined || leaf === undefined ? [] : [{ source, target: leaf, score: 1 }],
    [],
    targets,
    0,
  );
  return { ...left, rules: leaf === undefined ? rules : { [dotted(leaf.path)]: '.' } };
}

/** Proposes an entry for a legacy operation and an upstream operation. */
export function draftEntry(old: TargetOperation, target: TargetOperation): Draft {
  const body = old.body ?? nothing;
  const request = rulesOf(body, target.body ?? nothing);
  const reply =
    target.replyForm === 'text' || target.replyForm === 'binary'
      ? rulesOfText(target.replyForm === 'binary', old.reply ?? nothing)
      : rulesOf(target.reply ?? nothing, old.reply ?? nothing);
  const rules: Record<string, unknown> = { ...request.rules };
  const leaves = leavesOf(body);
  let left = request.sources;
  const missing: string[] = [];
  for (const { in: place, name, required, shape } of target.parameters) {
    const at = `${place}.${name}`;
    const names = place === 'path' ? namesInPath(target.path, name) : [singular(wordsOf(name))];
    const isFree = (leaf: Leaf) => left.includes(dotted(leaf.path));
    const like =
      place === 'cookie'
        ? undefined
        : (likest(leaves.filter(isFree), names) ?? (required ? likest(leaves, names) : undefined));
    if (like !== undefined) {
      rules[at] = ruleFrom(like, shape);
      left = left.filter((path) => path !== dotted(like.path));
    } else if (/^(?:x-)?idempotency-key$/i.test(name) && place === 'header') rules[at] = { uuid: true };
    else if (required) missing.push(at);
  }
  return {
    entry: { call: { [target.method]: target.path }, request: rules, reply: reply.rules },
    unmatchedRequest: left,
    unmatchedRequired: [...missing, ...request.needed, ...reply.needed],
    unmatchedReply: reply.targets,
  };
}

/** Returns the leaf with the name most similar to any name of a parameter; undefined if none is similar. */
function likest(leaves: readonly Leaf[], names: readonly (readonly string[])[]): Leaf | undefined {
  const scored = leaves.map((leaf) => ({ leaf, score: likenessOf(leaf, names) }));
  const best = scored.toSorted((one, other) => other.score - one.score)[0];
  return best === undefined || best.score < least ? undefined : best.leaf;
}

function likenessOf({ words }: Leaf, names: readonly (readonly string[])[]): number {
  const plain = words.map((word) => (keyWords.has(word) ? 'id' : word));
  return Math.max(...names.map((name) => Math.max(likeness(words, name), likeness(plain, name))));
}

/** Words for an identifier, besides `id`. */
const keyWords: ReadonlySet<string> = new Set(['number', 'no', 'nr', 'key', 'code', 'uuid', 'guid', 'ref']);

/**
 * Returns the names of a path parameter: its own, and with the preceding segment, for example `order id` for
 * `/orders/{id}`.
 */
function namesInPath(path: string, name: string): readonly (readonly string[])[] {
  const segments = path.split('/');
  const before = segments[segments.findIndex((segment) => segment.includes(`{${name}}`)) - 1] ?? '';
  const own = singular(wordsOf(name));
  const around = before.includes('{') ? [] : singular(wordsOf(before));
  return [own, singular([...around, ...own.map((word) => (keyWords.has(word) ? 'id' : word))])];
}

/** Returns the rule that makes a parameter from a leaf. */
function ruleFrom(source: Leaf, target: Shape): unknown {
  if (isList(target) !== isList(source.shape)) return dotted(source.path);
  return ruleOf({ source, target: { ...source, shape: target }, score: 1 }, undefined);
}

const verbs: Readonly<Record<'get' | 'post' | 'put' | 'delete', string>> = {
  get: 'get find list search read fetch query retrieve lookup show view browse describe load',
  post: 'post add create insert submit place register',
  put: 'put update modify change edit set patch replace save',
  delete: 'delete remove drop',
};

const verbOf = new Map(
  Object.entries(verbs).flatMap(([verb, words]) => words.split(' ').map((word) => [word, verb] as const)),
);

/** Returns the words of a name, with verbs replaced by their usual HTTP method. */
function methodWords(text: string): readonly string[] {
  return singular(wordsOf(text)).map((word) => verbOf.get(word) ?? word);
}

/** Words in the name of a POST operation that only reads. */
const readsByPost = /search|query|find|lookup|filter|list/i;

/**
 * Returns the operation of a document that is most similar by its names and path parameters. For a read, prefers an
 * operation with a safe method (RFC 9110 §9.2.1). Undefined if none has a common word.
 */
export function likestOperation(
  name: string,
  openapi: Node,
  most: number,
  request: Shape = nothing,
): TargetOperation | undefined {
  const reader = new SchemaReader(openapi, most);
  const leaves = leavesOf(request);
  const words = methodWords(name);
  let best: { readonly score: number; readonly method: string; readonly path: string } | undefined;
  for (const [path, item] of Object.entries(isNode(openapi.paths) ? openapi.paths : {}))
    for (const [method, operation] of Object.entries(isNode(item) ? item : {})) {
      if (!isNode(operation) || !['get', 'put', 'post', 'delete', 'patch'].includes(method)) continue;
      const called = `${String(operation.operationId ?? '')} ${path.replaceAll(/\{[^{}]*\}/g, ' ')}`;
      const targetWords = methodWords(`${called} ${String(operation.summary ?? '')} ${method}`);
      const common = words.filter((word) => targetWords.includes(word));
      if (common.length === 0 || (common.every(isVerb) && !words.every(isVerb))) continue;
      const score =
        likeness(words, [...new Set(targetWords)]) + pathFit(path, leaves) + methodFit(words, method, called);
      if (best === undefined || score > best.score) best = { score, method: method.toUpperCase(), path };
    }
  if (best === undefined) return undefined;
  const found = targetOperation(openapi, reader, best.method, best.path);
  return typeof found === 'string' ? undefined : found;
}

function isVerb(word: string): boolean {
  return Object.hasOwn(verbs, word);
}

/** Returns a score from -0.2 to 0.2 for the share of path parameters that the request can fill. */
function pathFit(path: string, leaves: readonly Leaf[]): number {
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => namesInPath(path, name));
  if (names.length === 0) return 0;
  const fits = names.map((name) => Math.max(0, ...leaves.map((leaf) => likenessOf(leaf, name))));
  return (fits.reduce((sum, fit) => sum + (fit >= least ? fit : -1), 0) / names.length) * 0.2;
}

/** Returns -1 if a write would replace a read or the reverse, so that it is only a last resort. */
function methodFit(words: readonly string[], method: string, called: string): number {
  const verb = [words[0] ?? '', words.at(-1) ?? ''].find(isVerb);
  if (verb === undefined) return 0;
  const isRead = method === 'get' || (method === 'post' && readsByPost.test(called));
  return (verb === 'get') === isRead ? 0 : -1;
}

function singular(words: readonly string[]): readonly string[] {
  return [...new Set(words.map((word) => word.replace(/ies$/, 'y').replace(/s$/, '')))];
}
