import { type CompiledAdoptedOperation, compileAdopted } from '../codec/adopted/compile.ts';
import { faultNames } from '../codec/adopted/fault-codecs.ts';
import { writtenReply } from '../compile-adopted.ts';
import type { Frame, WrittenReply } from '../compiled.ts';
import { serviceOf } from '../contract/adopted.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract } from '../contract/model.ts';
import type { ReplyBytes } from './comparison.ts';
import { type DecodedReply, decodeReply, maxViolations, replyLimits } from './reply.ts';

/** Reads legacy replies of an operation, and writes replies that were made of them (G28, G31). */
export interface BlendCodec {
  /** Limits of the replies, whose size is limited before. */
  readonly limits: Limits;
  /** Names of the operation's declared faults, by the name of a decoded fault. */
  readonly faultsNamed: (name: string | undefined) => readonly string[];
  readonly decode: (reply: ReplyBytes) => DecodedReply;
  /** Writes a reply's JSON into a frame. Throws MismatchError, JsonError. */
  readonly write: (json: Uint8Array, frame: Frame) => WrittenReply;
}

/**
 * Compiles the codecs of an adopted contract's operations with a reply. Legacy replies keep their values: settings that
 * change or tolerate values of requests do not apply. Numbers and booleans keep their text (G29).
 */
export function compileBlendCodecs(contract: Contract, limits: Limits): ReadonlyMap<string, BlendCodec> {
  const { settings } = contract;
  const ofReplies = replyLimits(limits);
  const service = serviceOf(contract);
  const shared = { ...settings, unknownElements: 'refuse', emptyElements: 'refuse' } as const;
  const isUtc = settings.dates === 'utc';
  const texts = { ...shared, dates: 'text', upstreamTimeZone: undefined } as const;
  const { operations } = compileAdopted(service, texts, ofReplies, isUtc ? 'offsets' : 'texts');
  const writing = isUtc ? compileAdopted(service, shared, ofReplies, 'texts').operations : operations;
  return new Map(
    [...operations].map(([name, codecs]) => [name, codecOf(codecs, writing.get(name) ?? codecs, ofReplies)]),
  );
}

function codecOf(
  codecs: CompiledAdoptedOperation,
  { reply }: CompiledAdoptedOperation,
  limits: Limits,
): BlendCodec {
  const { faults } = codecs.operation;
  const names = faultNames(faults);
  return {
    limits,
    faultsNamed: (name) =>
      faults.filter(({ element }) => names.get(element) === name).map((fault) => fault.name),
    decode: (reply) => decodeReply(codecs, reply, limits, undefined, true),
    write: (json, frame) => {
      if (reply === undefined) throw new RangeError('blend: expected an operation with a reply');
      return writtenReply(reply.write(json, undefined, frame), frame);
    },
  };
}

/**
 * Returns why a decoded reply is unreadable (G31): the first violation of the contract. Returns undefined for a readable
 * one, and for one that only lacks members outside of items.
 *
 * @param readAt path of the list, see `BlendRule`
 */
export function unreadableAt(
  { violations }: Extract<DecodedReply, { kind: 'reply' }>,
  readAt: string,
): { readonly path: string; readonly expected: string } | undefined {
  const found = violations.find(({ path, code }) => code !== 'NotEmpty' || isInItem(path, readAt));
  // further violations were not recorded
  const any = found ?? (violations.length >= maxViolations ? violations[0] : undefined);
  return any && { path: any.path, expected: expectations.get(any.code) ?? 'a value of its type' };
}

function isInItem(path: string, readAt: string): boolean {
  return readAt === '' || path.startsWith(`${readAt}[`) || path.startsWith(`${readAt}.`);
}

const expectations: ReadonlyMap<string, string> = new Map([
  ['NotEmpty', 'a value'],
  ['UnknownElement', 'only declared elements'],
  ['UnknownAttribute', 'only declared attributes'],
  ['DuplicateElement', 'the element once'],
]);
