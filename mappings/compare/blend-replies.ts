import { fieldPath, MismatchError } from '../codec/problem.ts';
import type { Frame, WrittenReply } from '../compiled.ts';
import { type BlendRule, blend, type Duplicate, type Side } from './blend.ts';
import { type BlendCodec, unreadableAt } from './blend-codecs.ts';
import type { ReplyBytes } from './comparison.ts';
import { maxComparedDuplicates } from './items.ts';

/** Result of the new service: a list, a fault that means an empty list, or a failure. */
export type NewPart =
  /** `dropped` is the number of its members that are not written. */
  | { readonly kind: 'list'; readonly json: Uint8Array; readonly dropped: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'failed' };

/** The replies of both services to one request. */
export interface BlendInput {
  readonly rule: BlendRule;
  /** Names of faults of the legacy service that mean an empty list. */
  readonly emptyFaults: ReadonlySet<string>;
  /** Without content coding. */
  readonly legacy: ReplyBytes;
  readonly fresh: NewPart;
  readonly frame: Frame;
}

/** Result of a blend (G31). */
export type BlendResult =
  /** `keys` is the number of keys in both lists; `duplicates` has their first items. */
  | {
      readonly kind: 'blended';
      readonly reply: WrittenReply;
      readonly keys: number;
      readonly duplicates: readonly Duplicate[];
    }
  /** A fault or another error of the legacy service. */
  | { readonly kind: 'legacyFailed' }
  /** The reply of the legacy service is readable, and the new service failed. */
  | { readonly kind: 'legacyAlone' }
  | { readonly kind: 'bothEmpty' }
  /** A reply of one side, or its list, is unreadable. */
  | {
      readonly kind: 'unreadable';
      readonly side: Side;
      readonly path: string;
      readonly expected: string;
    }
  | { readonly kind: 'tooLong' };

/** Decodes the reply of the legacy service, blends both lists and writes the reply. Throws JsonError. */
export function blendReplies(codec: BlendCodec, input: BlendInput): BlendResult {
  const { rule, emptyFaults, legacy, fresh, frame } = input;
  const decoded = codec.decode(legacy);
  const isEmpty =
    decoded.kind === 'fault' && codec.faultsNamed(decoded.name).some((name) => emptyFaults.has(name));
  const isSuccess = legacy.status >= 200 && legacy.status < 300;
  if (!isEmpty && (decoded.kind === 'fault' || !isSuccess)) return { kind: 'legacyFailed' };
  if (decoded.kind === 'unreadable')
    return { kind: 'unreadable', side: 'legacy', path: '', expected: 'a readable SOAP envelope' };
  const wrong = decoded.kind === 'reply' ? unreadableAt(decoded, rule.readAt) : undefined;
  if (wrong !== undefined) return { kind: 'unreadable', side: 'legacy', ...wrong };
  if (fresh.kind === 'failed') return { kind: 'legacyAlone' };
  if (isEmpty && fresh.kind === 'empty') return { kind: 'bothEmpty' };
  const ofLegacy = decoded.kind === 'reply' ? decoded.json : undefined;
  const ofNew = fresh.kind === 'list' ? Buffer.from(fresh.json).toString('utf8') : undefined;
  const made = blend(rule, ofLegacy, ofNew === '' ? '{}' : ofNew, codec.limits);
  if (made.kind === 'failed') return { ...made, kind: 'unreadable' };
  if (made.items > codec.limits.blendItems) return { kind: 'tooLong' };
  try {
    const reply = codec.write(Buffer.from(made.json), frame);
    // a member of legacy, or one next to it, would be lost
    if (reply.dropped > (fresh.kind === 'list' ? fresh.dropped : 0))
      return { kind: 'unreadable', side: 'legacy', path: rule.list.join('.'), expected: cannotWrite };
    const { duplicates } = made;
    const keys = duplicates.length;
    return { kind: 'blended', reply, keys, duplicates: duplicates.slice(0, maxComparedDuplicates) };
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
    // the writer has checked the reply of the new service before
    const path = fieldPath(error.path);
    return { kind: 'unreadable', side: 'legacy', path, expected: cannotWrite };
  }
}

const cannotWrite = 'a value that can be written';
