import type { Limits } from '../../contract/limits.ts';
import type { Contract } from '../../contract/model.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { noContent, type ReplyWriter, scanNull } from '../write-element.ts';
import type { WrittenValue } from '../write-value.ts';
import { readStatus } from './response-status.ts';

const { nothing, empty } = nodeKinds;

/**
 * A responseStatus inside a reply: nothing in it makes the reply fail, and an errorCode is noticed (W30).
 * @param writeTidy writes the status once its members are in order
 */
export function statusWriter(
  contract: Contract,
  limits: Limits,
  writeTidy: (json: string) => WrittenValue,
): ReplyWriter {
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 110) {
      scanNull(tape);
      return;
    }
    if (byte === 123 && tape.bytes[tape.position + 1] === 125) {
      tape.position += 2;
      tape.pushKind(empty);
      return;
    }
    const start = tape.position;
    tape.skip();
    const json = new JsonReader(tape.slice(start, tape.position), limits);
    const status = readStatus(json, contract.responseStatus, contract.settings, (_, value) => value);
    tape.dropped += json.dropped;
    if (status === undefined) tape.pushKind(nothing);
    else if (status.errorCode !== undefined) {
      tape.failed = true;
      tape.pushKind(empty);
    } else {
      const { content, replaced, dropped } = writeTidy(status.text);
      tape.replaced += replaced;
      tape.dropped += dropped;
      if (content === null || content === '') tape.pushKind(empty);
      else tape.pushMade(content);
    }
  };
  return { scan, write: noContent, declarations: '' };
}

/** A scalar of a responseStatus: a value that isn't of its type is left out and counted (W30). */
export function leaveOutMisfits(writer: ReplyWriter): ReplyWriter {
  return {
    ...writer,
    scan: (tape) => {
      const { position, top } = tape;
      try {
        writer.scan(tape);
      } catch (error) {
        if (!(error instanceof MismatchError)) throw error;
        tape.position = position;
        tape.top = top;
        tape.skip();
        tape.dropped++;
        tape.pushKind(nothing);
      }
    },
  };
}
