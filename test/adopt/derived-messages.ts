import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type CompiledAdoptedOperation, compileAdopted } from '../../mappings/codec/adopted/compile.ts';
import { startReading } from '../../mappings/codec/problem.ts';
import type { AdoptedService } from '../../mappings/contract/adopted.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { deriveOpenapi } from '../../wsdl/derived-openapi/document.ts';
import { readMessage } from '../mappings/codec/adopted/messages.ts';
import { type Pick, picker, randomBody, TooDeep } from '../mappings/codec/adopted/random-messages.ts';

/** Validates the JSON that the codec reads from random messages against the schemas of the derived document. */

/** Keywords that random messages ignore. */
const unkept: ReadonlySet<string> = new Set([
  'pattern',
  'allOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
]);

/** Removes patterns, lengths and bounds from a document. */
function withoutBounds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBounds);
  if (!isNode(value)) return value;
  const isSchema = !('properties' in value) || typeof value.type === 'string';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(isSchema && unkept.has(key) && (!isNode(inner) || key === 'allOf')))
      .map(([key, inner]) => [key, withoutBounds(inner)]),
  );
}

/** Results of the random messages of one service. */
export interface Tried {
  readonly messages: number;
  readonly faults: number;
  /** Valid messages that the schema rejects, and invalid ones that it accepts. */
  readonly wrong: readonly string[];
}

/**
 * Tries random requests, replies and faults of every operation. It is a long function because all counters are in one
 * closure.
 */
export function tryMessages(service: AdoptedService, rounds: number): Tried {
  const { operations } = compileAdopted(service);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
  const document = withoutBounds(deriveOpenapi(service).document);
  if (!isNode(document)) throw new Error('expected a document');
  ajv.addSchema(document, 'derived');
  const wrong: string[] = [];
  const counts = { messages: 0, faults: 0 };

  const judge = (where: string, validate: ValidateFunction, json: string): void => {
    const value: unknown = JSON.parse(json);
    if (!validate(value)) {
      wrong.push(`${where}: ${ajv.errorsText(validate.errors)}\n${json}`.slice(0, 2000));
      return;
    }
    for (const lie of liesOf(value))
      if (validate(lie)) wrong.push(`${where} takes ${JSON.stringify(lie)}`.slice(0, 2000));
  };
  const validatorAt = (pointer: string): ValidateFunction => ajv.compile({ $ref: `derived#${pointer}` });
  const random = (body: AdoptedMessage['body'], pick: Pick): string | undefined => {
    try {
      const text = randomBody(body, pick);
      return text === undefined || text.length > 100_000 ? undefined : text;
    } catch (error) {
      if (error instanceof TooDeep) return undefined;
      throw error;
    }
  };
  const tryMessage = (
    operation: string,
    pointer: string,
    message: AdoptedMessage,
    codec: CompiledAdoptedOperation['request'],
  ): void => {
    const validate = validatorAt(`${pointer}/content/application~1json/schema`);
    for (let round = 0; round < rounds; round++) {
      const text = random(message.body, picker(counts.messages * 31 + round));
      if (text === undefined) continue;
      const { json, problems, missing } = readMessage(codec, text);
      if (problems.length + missing.length > 0) continue;
      counts.messages++;
      judge(operation, validate, json);
    }
  };
  for (const [name, { operation, request, reply, faults }] of operations) {
    const pointer = `/paths/~1${name}/post`;
    tryMessage(name, `${pointer}/requestBody`, operation.input, request);
    if (operation.output !== undefined && reply !== undefined)
      tryMessage(name, `${pointer}/responses/200`, operation.output, reply);
    for (const { element } of operation.faults) {
      const validate = validatorAt(`${pointer}/responses/4XX/content/application~1json/schema`);
      const text = random({ kind: 'element', element }, picker(counts.faults));
      if (text === undefined) continue;
      const xml = new XmlReader(text, defaultLimits);
      xml.readRoot();
      const reading = startReading(20);
      const json = faults.read(xml, reading);
      if (json === undefined || reading.problems.length + reading.missing.length > 0) continue;
      counts.faults++;
      judge(`${name}, fault ${element.name.local}`, validate, json);
    }
  }
  return { ...counts, wrong };
}

/** Returns invalid variants of a value: one with an unknown member, and one with a member of another type. */
function liesOf(value: unknown): readonly unknown[] {
  if (!isNode(value)) return [{ nobody: 1 }];
  const [first] = Object.keys(value).filter((name) => name !== '@fault');
  return [{ ...value, nobody: 1 }, ...(first === undefined ? [] : [{ ...value, [first]: { nobody: 1 } }])];
}
