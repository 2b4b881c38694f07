import { type CompiledAdoptedOperation, compileAdopted } from '../codec/adopted/compile.ts';
import { serviceOf } from '../contract/adopted.ts';
import { defaultLimits, type Limits } from '../contract/limits.ts';
import type { Contract, Operation } from '../contract/model.ts';
import { type ObjectPart, type Part, readLazyPart } from '../json/parts.ts';
import { parsePath } from '../mapping/paths.ts';
import type { Comparison, ReplyBytes } from './comparison.ts';
import { type DecodedReply, decodeReply, maxViolations, replyLimits, type Violation } from './reply.ts';
import { type CompareSettings, noCompareRules } from './rules.ts';
import { sensitiveMembers } from './sensitivity.ts';
import { type ObjectShape, type Shape, Shapes } from './shapes.ts';
import { Sink, TooMuchWork } from './sink.ts';
import { Values } from './values.ts';

/**
 * Maximum number of elements and attributes of two replies together, and of values, lists and objects in their JSON. A
 * value takes at most 290 bytes, so they fit into the memory of the comparison thread.
 */
export const maxCompareParts = 150_000;

/** Compares the replies of the legacy and the new service to one request. It never throws for their content. */
export interface Comparer {
  /**
   * @param operation name of an operation with a reply. Throws RangeError for another name.
   * @param legacy reply of the legacy service
   * @param fresh reply that the gateway wrote for the new service, or a second reply of the legacy service
   * @param now time in ms, for `until` of rules
   */
  readonly compare: (operation: string, legacy: ReplyBytes, fresh: ReplyBytes, now?: number) => Comparison;
}

/** Parts of a comparison that depend on the operation. */
interface Subject {
  readonly operation: Operation;
  readonly codecs: CompiledAdoptedOperation;
}

/**
 * Compiles the comparison of an adopted contract's replies (G33 to G44). Its codecs are those of the contract with
 * settings that keep values as they are in the message. Throws RangeError for an OpenAPI contract.
 */
export function compileComparison(
  contract: Contract,
  settings: CompareSettings = noCompareRules,
  limits: Limits = defaultLimits,
): Comparer {
  const ofReplies = replyLimits(limits);
  const operations = compileReplyCodecs(contract, limits);
  const shapes = new Shapes(contract);
  const sensitive = sensitiveMembers(contract);
  const subjects = new Map<string, Subject>();
  for (const operation of contract.operations) {
    const codecs = operations.get(operation.name);
    if (codecs !== undefined) subjects.set(operation.name, { operation, codecs });
  }
  return {
    compare: (name, legacy, fresh, now = Date.now()) => {
      const subject = subjects.get(name);
      if (subject === undefined)
        throw new RangeError(`compare: expected an operation of the contract, got ${name}`);
      const sink = (): Sink => new Sink(name, settings, sensitive, now);
      const found = sink();
      try {
        const takeNodes = budgetOf(maxCompareParts);
        const [ours, theirs] = [
          decodeReply(subject.codecs, legacy, ofReplies, takeNodes),
          decodeReply(subject.codecs, fresh, ofReplies, takeNodes),
        ];
        const values = new Values(shapes, found, limits.compareItems);
        const [shape, body] = [shapes.replyOf(subject.operation), shapes.bodyOf(subject.operation)];
        new Replies(shape, body, values, found, ofReplies).compare(ours, theirs);
        return found.comparison();
      } catch (error) {
        if (!(error instanceof TooMuchWork)) throw error;
        const given = sink();
        given.path.push('@reply');
        given.add({ kind: 'unreadable', texts: { legacy: 'too much work', new: 'too much work' } });
        return given.comparison();
      }
    },
  };
}

/** Compiles codecs by operation that keep the values of replies as they are in the message. */
export function compileReplyCodecs(
  contract: Contract,
  limits: Limits,
): ReadonlyMap<string, CompiledAdoptedOperation> {
  const settings = {
    ...contract.settings,
    unknownElements: 'refuse',
    emptyElements: 'refuse',
    types: 'derived',
    bigNumbers: 'number',
    nonFiniteNumbers: 'asText',
    dates: 'text',
    upstreamTimeZone: undefined,
  } as const;
  return compileAdopted(serviceOf(contract), settings, replyLimits(limits)).operations;
}

/** Returns a function that takes from an amount. It throws TooMuchWork if too little is left. */
function budgetOf(amount: number): (taken: number) => void {
  let left = amount;
  return (taken) => {
    left -= taken;
    if (left < 0) throw new TooMuchWork();
  };
}

/** Compares two decoded replies. */
class Replies {
  readonly #shape: ObjectShape;
  readonly #takeParts = budgetOf(maxCompareParts);
  readonly #body: { readonly name: string; readonly shape: Shape };
  readonly #values: Values;
  readonly #sink: Sink;
  readonly #limits: Limits;

  constructor(
    shape: ObjectShape,
    body: { readonly name: string; readonly shape: Shape },
    values: Values,
    sink: Sink,
    limits: Limits,
  ) {
    this.#shape = shape;
    this.#body = body;
    this.#values = values;
    this.#sink = sink;
    this.#limits = limits;
  }

  compare(legacy: DecodedReply, fresh: DecodedReply): void {
    if (legacy.kind === 'unreadable' || fresh.kind === 'unreadable') {
      const textOf = (side: DecodedReply) => (side.kind === 'unreadable' ? side.reason : side.kind);
      this.#add(['@reply'], 'unreadable', textOf(legacy), textOf(fresh));
      return;
    }
    if (legacy.frame !== fresh.frame) this.#add(['@frame'], 'frame', legacy.frame, fresh.frame);
    this.#noteViolations(legacy.violations);
    if (legacy.kind === 'reply' && fresh.kind === 'reply') {
      this.#compareReplies(legacy.json, fresh.json);
      this.#noteDefaults(legacy.defaults, fresh.defaults);
    } else if (legacy.kind === 'fault' && fresh.kind === 'fault') this.#compareFaults(legacy, fresh);
    else this.#add(['@fault'], 'fault', faultText(legacy), faultText(fresh));
  }

  #add(
    path: readonly string[],
    kind: 'unreadable' | 'frame' | 'fault' | 'status',
    legacy: string,
    fresh: string,
  ): void {
    this.#sink.path.push(...path);
    this.#sink.add({ kind, texts: { legacy, new: fresh } });
    this.#sink.path.length = 0;
  }

  #noteViolations(violations: readonly Violation[]): void {
    for (const { path, code } of violations) this.#at(path, () => this.#sink.violation(code));
  }

  /** Notes equal values if one of them is an empty element with a default (G36). Longer lists are incomplete. */
  #noteDefaults(legacy: readonly string[], fresh: readonly string[]): void {
    if (Math.max(legacy.length, fresh.length) >= maxViolations) return;
    const [ours, theirs] = [new Set(legacy), new Set(fresh)];
    for (const path of new Set([...legacy, ...fresh]))
      if (ours.has(path) !== theirs.has(path))
        this.#at(path, () => {
          if (!this.#sink.hasDifference() && !this.#sink.isInSet()) this.#sink.note('default', {});
        });
  }

  #at(text: string, act: () => void): void {
    const { path } = this.#sink;
    for (const step of parsePath(text) ?? [])
      if (step.kind === 'member') path.push(step.name);
      else if (step.kind === 'index') path.push(step.index);
    act();
    path.length = 0;
  }

  #compareReplies(legacy: string, fresh: string): void {
    if (legacy === fresh) return;
    const [ours, theirs] = [legacy, fresh].map((json) => splitHeaders(this.#partOf(json))) as [
      SplitReply,
      SplitReply,
    ];
    const headers = this.#shape.slots.get('@headers');
    if (headers !== undefined)
      this.#values.compareAt('@headers', headers, ours.headers ?? noHeaders, theirs.headers ?? noHeaders);
    const { name, shape } = this.#body;
    if (ours.body.kind === 'object' && theirs.body.kind === 'object' && shape.kind === 'object')
      this.#values.compareRoots(shape, ours.body, theirs.body);
    else this.#values.compareAt(name, { shape: () => shape }, ours.body, theirs.body);
  }

  /** Parses a reply. Throws TooMuchWork if the parsed values of both replies are more than `maxCompareParts`. */
  #partOf(json: string): Part {
    return readLazyPart(json, this.#limits, () => this.#takeParts(1));
  }

  #compareFaults(legacy: Fault, fresh: Fault): void {
    if (legacy.status !== fresh.status)
      this.#add(['@status'], 'status', String(legacy.status), String(fresh.status));
    if (legacy.code !== fresh.code) this.#add(['@fault', 'code'], 'fault', legacy.code, fresh.code);
    const isSame = legacy.name === fresh.name;
    if (!isSame) this.#add(['@fault', 'name'], 'fault', legacy.name ?? '(absent)', fresh.name ?? '(absent)');
    const fault = this.#shape.slots.get('@fault')?.shape();
    if (fault?.kind !== 'object') return;
    const { name } = legacy;
    for (const member of isSame && name !== undefined ? ['reason', name] : ['reason']) {
      const slot = fault.slots.get(member);
      if (slot === undefined) continue;
      this.#sink.path.push('@fault');
      const isReason = member === 'reason';
      const [ours, theirs] = [legacy, fresh].map(
        (one): Part => (isReason ? { kind: 'text', text: one.reason } : this.#partOf(one.json ?? '{}')),
      );
      this.#values.compareAt(member, slot, ours, theirs);
      this.#sink.path.length = 0;
    }
  }
}

/** No header blocks, so that each block of the other side is a difference of its own (G42). */
const noHeaders: Part = { kind: 'object', json: '{}', members: [] };

type Fault = Extract<DecodedReply, { kind: 'fault' }>;

interface SplitReply {
  readonly headers: Part | undefined;
  readonly body: Part;
}

/** Splits the header blocks from a reply. */
function splitHeaders(reply: Part): SplitReply {
  if (reply.kind !== 'object' || reply.members[0]?.[0] !== '@headers')
    return { headers: undefined, body: reply };
  const [[, headers], ...members] = reply.members as [ObjectPart['members'][number]];
  return { headers, body: { ...reply, members } };
}

function faultText(side: Exclude<DecodedReply, { kind: 'unreadable' }>): string {
  if (side.kind === 'reply') return side.kind;
  return side.name === undefined ? side.code : `${side.code} ${side.name}`;
}
