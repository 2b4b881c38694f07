import { isNode, type Node } from '../loader/document/node.ts';
import { pathText } from './paths.ts';
import { SchemaReader, type Shape } from './schemas.ts';
import { type TargetOperation, targetOperation } from './target.ts';

/** Rules that a mapping could begin with (M6): proposed by name, kind and structure, for people to look at. */

/** A proposed entry, as plain data for YAML, and what nothing was found for. */
export interface Draft {
  /** Without `omit`: what is left out is for people to say. */
  readonly entry: Record<string, unknown>;
  /** Members of the old request that no member of the call is like. */
  readonly unmatchedRequest: readonly string[];
  /** Required members of the call, and of the old reply, that none of the source is like. */
  readonly unmatchedRequired: readonly string[];
  /** Members of the old reply that the answer has nothing like. */
  readonly unmatchedReply: readonly string[];
}

/** How like two names have to be, from 0 to 1. */
const least = 0.5;
/** Objects, and lists, in one another that are looked at. */
const deepest = 5;
/** Scalars and lists of one side that are looked at. */
const most = 2_000;

/** The words of a name: `FundingOpportunityNumber` and `funding_opportunity_number` have the same. */
function wordsOf(name: string): readonly string[] {
  // a capital before a small letter begins a word, as does what follows small letters
  const parted = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
  return (parted.match(/[A-Za-z]+|[0-9]+/g) ?? [name]).map((word) => word.toLowerCase());
}

/** How like two names are: words in common of all that they have; 1 for the same words. */
export function likeness(one: readonly string[], other: readonly string[]): number {
  if (one.join('') === other.join('')) return 1;
  const common = one.filter((word) => other.includes(word)).length;
  return common / new Set([...one, ...other]).size;
}

/** A scalar or list of a document, by its path through objects. */
interface Leaf {
  readonly path: readonly string[];
  readonly words: readonly string[];
  readonly allWords: readonly string[];
  readonly shape: Shape;
  readonly required: boolean;
}

function leavesOf(shape: Shape): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const around = new Set<Shape>();
  const visit = (at: Shape, path: readonly string[], required: boolean): void => {
    if (around.has(at) || leaves.length === most) return; // a type in itself
    if (path.length > 0 && (at.members.size === 0 || path.length === deepest)) {
      const words = wordsOf(path.at(-1) ?? '');
      leaves.push({ path, words, allWords: [...new Set(path.flatMap(wordsOf))], shape: at, required });
      return;
    }
    around.add(at);
    for (const [name, member] of at.members)
      visit(member.shape, [...path, name], required && member.required);
    around.delete(at);
  };
  visit(shape, [], true);
  return leaves;
}

function isList({ kinds }: Shape): boolean {
  return kinds.has('array') && !kinds.has('string');
}

interface Match {
  readonly target: Leaf;
  readonly source: Leaf;
  readonly score: number;
}

/** Pairs of leaves, the likest first, each leaf at most once. */
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

/** The pairs with the highest scores, no leaf in two of them. */
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

/** The rule that makes one leaf of another. */
function ruleOf({ source, target }: Match, depth: number): unknown {
  const from = dotted(source.path);
  if (isList(target.shape)) {
    const [items, wanted] = [source.shape.items, target.shape.items];
    const isPlain = items === undefined || wanted === undefined || wanted.members.size === 0;
    return isPlain || depth === deepest
      ? { each: from }
      : { each: from, map: rulesOf(items, wanted, depth + 1).rules };
  }
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

/** Lists of records that are called otherwise: those with the most members alike belong together. */
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

/** Rules by target path, and the leaves that none is for. */
interface Rules {
  readonly rules: Record<string, unknown>;
  readonly sources: readonly Leaf[];
  readonly targets: readonly Leaf[];
}

/** Rules from one shape to another, and the leaves that none is for. */
function rulesOf(source: Shape, target: Shape, depth = 0): Rules {
  const sources = leavesOf(source);
  const targets = leavesOf(target);
  const named = matched(sources, targets);
  const matches = [...named, ...matchedByItems(sources, targets, named, depth)];
  const rules: Record<string, unknown> = {};
  // in the target's order
  for (const leaf of targets) {
    const match = matches.find((one) => one.target === leaf);
    if (match !== undefined) rules[dotted(leaf.path)] = ruleOf(match, depth);
  }
  const taken = new Set(matches.flatMap((match) => [match.source, match.target]));
  return {
    rules,
    sources: sources.filter((leaf) => !taken.has(leaf)),
    targets: targets.filter((leaf) => !taken.has(leaf)),
  };
}

/** Proposes an entry for an operation of the old service and one of the new. */
export function draftEntry(old: TargetOperation, target: TargetOperation): Draft {
  const { body } = old;
  const request = body === undefined || target.body === undefined ? undefined : rulesOf(body, target.body);
  const reply =
    old.reply === undefined || target.reply === undefined ? undefined : rulesOf(target.reply, old.reply);
  const rules: Record<string, unknown> = { ...request?.rules };
  let left = request?.sources ?? (body === undefined ? [] : leavesOf(body));
  for (const { in: place, name } of target.parameters) {
    if (place === 'cookie') continue;
    const like = left.find(({ words }) => likeness(words, wordsOf(name)) >= least);
    if (like === undefined) continue;
    rules[`${place}.${name}`] = dotted(like.path);
    left = left.filter((leaf) => leaf !== like);
  }
  const required = [...(request?.targets ?? []), ...(reply?.targets ?? [])].filter((leaf) => leaf.required);
  const parameters = target.parameters.filter(
    (one) => one.required && rules[`${one.in}.${one.name}`] === undefined,
  );
  return {
    entry: {
      call: { [target.method]: target.path },
      request: rules,
      reply: reply?.rules ?? {},
    },
    unmatchedRequest: left.map(({ path }) => dotted(path)),
    unmatchedRequired: [
      ...parameters.map((one) => `${one.in}.${one.name}`),
      ...required.map(({ path }) => dotted(path)),
    ],
    unmatchedReply: (reply?.targets ?? []).map(({ path }) => dotted(path)),
  };
}

/** The operation of a document whose names are likest to an operation's; undefined where none has a word of it. */
export function likestOperation(name: string, openapi: Node, most: number): TargetOperation | undefined {
  const reader = new SchemaReader(openapi, most);
  let best: { readonly score: number; readonly method: string; readonly path: string } | undefined;
  for (const [path, item] of Object.entries(isNode(openapi.paths) ? openapi.paths : {}))
    for (const [method, operation] of Object.entries(isNode(item) ? item : {})) {
      if (!isNode(operation)) continue;
      const said = `${String(operation.operationId ?? '')} ${String(operation.summary ?? '')} ${path} ${method}`;
      const score = likeness(singular(wordsOf(name)), singular(wordsOf(said)));
      if (score > (best?.score ?? 0)) best = { score, method: method.toUpperCase(), path };
    }
  if (best === undefined) return undefined;
  const found = targetOperation(openapi, reader, best.method, best.path);
  return typeof found === 'string' ? undefined : found;
}

function singular(words: readonly string[]): readonly string[] {
  return [...new Set(words.map((word) => word.replace(/ies$/, 'y').replace(/s$/, '')))];
}
