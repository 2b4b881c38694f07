import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { compileAdopted, type MessageCodec } from '../../mappings/codec/adopted/compile.ts';
import { MismatchError, problemText } from '../../mappings/codec/problem.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { readMessage } from '../mappings/codec/adopted/messages.ts';
import { comparable, picker, randomBody, TooDeep } from '../mappings/codec/adopted/random-messages.ts';
import { firstWsdls } from './corpus.ts';

/** Round trips of random messages of real services: XML to JSON to XML, and JSON to XML to JSON. */

const corpus = process.env.WSDL_CORPUS;
const rounds = Number(process.env.MESSAGES ?? 3);

/** Returns the difference of a message after a round trip, or undefined if there is none. */
function difference(codec: MessageCodec, text: string, encoded: boolean): string | undefined {
  const { json, problems, missing } = readMessage(codec, text);
  if (problems.length > 0) return problems.map(problemText).join('; ');
  if (missing.length > 0) return missing.map(problemText).join('; ');
  try {
    const written = codec.write(Buffer.from(json));
    const back = written.xml.toString();
    if (comparable(back, encoded) !== comparable(text, encoded)) return `${json}\n${text}\n${back}`;
    const again = readMessage(codec, back);
    return again.json === json ? undefined : `${json}\n${again.json}`;
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
    return `${error.message}\n${json}`;
  }
}

if (corpus === undefined || !existsSync(corpus)) {
  test.skip('A10 to A30: messages of real WSDLs round-trip (skipped: WSDL_CORPUS is not set)', () => {});
} else {
  const all = { messages: 0, unequal: 0, operations: 0 };
  for (const name of readdirSync(corpus).filter((one) => statSync(join(corpus, one)).isDirectory())) {
    for (const wsdl of firstWsdls(join(corpus, name))) {
      test.serial(`A10 to A30: messages of ${name}/${wsdl} round-trip`, (t) => {
        let service: ReturnType<typeof loadAdoptedService>['service'];
        try {
          service = loadAdoptedService(join(corpus, name), { wsdl }).service;
        } catch (error) {
          if (!(error instanceof ContractError)) throw error;
          t.log('not read');
          t.pass();
          return;
        }
        const before = performance.now();
        const { operations } = compileAdopted(service);
        const ms = Math.round(performance.now() - before);
        all.operations += operations.size;
        let messages = 0;
        const found: string[] = [];
        const tryOut = (operation: string, message: AdoptedMessage, codec: MessageCodec): void => {
          for (let round = 0; round < rounds; round++) {
            let text: string | undefined;
            try {
              text = randomBody(message.body, picker(messages * 31 + round));
            } catch (error) {
              if (!(error instanceof TooDeep)) throw error;
            }
            if (text === undefined || text.length > 300_000) continue;
            messages++;
            const wrong = difference(codec, text, message.use === 'encoded');
            if (wrong !== undefined) found.push(`${operation}: ${wrong.slice(0, 1500)}`);
          }
        };
        for (const [operation, { operation: its, request, reply }] of operations) {
          tryOut(operation, its.input, request);
          if (its.output !== undefined && reply !== undefined) tryOut(operation, its.output, reply);
        }
        all.messages += messages;
        all.unequal += found.length;
        t.log(
          `${operations.size} operations compiled in ${ms} ms, ${messages} messages, ${found.length} unequal`,
        );
        for (const wrong of found.slice(0, 2)) t.log(wrong);
        t.true(found.length <= messages / 8); // an element that is declared twice is written at the first position (A15)
      });
    }
  }

  test.serial('A10 to A30: nearly all messages of real WSDLs round-trip', (t) => {
    t.log(all);
    t.true(all.unequal <= all.messages / 200);
  });
}
