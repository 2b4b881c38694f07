import type { Limits } from '../contract/limits.ts';
import { nodeKinds, Tape } from '../json/tape.ts';
import { Output } from '../xml/output.ts';
import type { ReplyWriter } from './context.ts';
import { writeText } from './write-element.ts';

const { nothing, empty, plain, record, list } = nodeKinds;

/** What writing one value came to. */
export interface WrittenValue {
  /** The element's content; null for a JSON null. */
  readonly content: string | null;
  readonly dropped: number;
  readonly replaced: number;
  readonly failed: boolean;
}

/** One value's JSON as an element's content. Throws MismatchError, JsonError. */
export type WriteValue = (writer: ReplyWriter, json: string) => WrittenValue;

/** Writes single values, one at a time, with a tape and an output of its own. */
export function valueWriter(limits: Limits): WriteValue {
  const tape = new Tape();
  const output = new Output();
  return (writer, json) => {
    tape.start(Buffer.from(json), limits);
    writer.scan(tape);
    tape.end();
    output.start(json.length * 2);
    const [kind] = tape.words;
    if (kind === record || kind === list) writer.write(tape, 0, output);
    else if (kind === plain) output.text(tape.slice(tape.words[1] ?? 0, tape.words[2] ?? 0));
    else if (kind !== nothing && kind !== empty) writeText(tape, 0, output);
    const content = kind === nothing ? null : output.take().toString('utf8');
    const { dropped, replaced, failed } = tape;
    tape.release();
    return { content, dropped, replaced, failed };
  };
}
