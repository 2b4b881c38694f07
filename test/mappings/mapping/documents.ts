import { parse } from 'yaml';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { compileModule } from '../../../mappings/mapping/code.ts';
import type { MappedAnswer } from '../../../mappings/mapping/compiled-entry.ts';
import { compileMapping, type Mapping } from '../../../mappings/mapping/mapping.ts';
import { readEntries } from '../../../mappings/mapping/rules.ts';

/** A test's mapping: both schemas in YAML's flow style, and the rules. */
export interface Sides {
  /** Schemas of the legacy request and reply. */
  readonly old: string;
  readonly oldReply?: string;
  /** Schemas of the new request body and response. */
  readonly body?: string;
  readonly answer?: string;
  /** Responses of the new operation, instead of a 200 with `answer`. */
  readonly responses?: string;
  /** Media types of the new operation's body, instead of JSON with `body`. */
  readonly bodyContent?: string;
  /** Schema of the legacy operation's declared faults. */
  readonly oldFaults?: string | undefined;
  readonly parameters?: string;
  readonly path?: string;
  readonly components?: string;
  /** The rules of an entry without `call`, or a list of entries. */
  readonly rules: string;
  readonly code?: string;
  readonly limits?: Partial<Limits>;
}

const content = (schema: string) => ({ 'application/json': { schema: parse(schema) } });

/** Compiles a mapping of an operation `Do` to `POST /do`, with the problems of its rules. */
export function mappingOf(sides: Sides): Mapping {
  const limits = { ...defaultLimits, ...sides.limits };
  const components = sides.components === undefined ? {} : { schemas: parse(sides.components) };
  const derived = {
    openapi: '3.1.0',
    paths: {
      '/Do': {
        post: {
          requestBody: { required: true, content: content(sides.old) },
          responses: {
            200: { content: content(sides.oldReply ?? 'type: object') },
            ...(sides.oldFaults !== undefined && { '4XX': { content: content(sides.oldFaults) } }),
          },
        },
      },
    },
    components,
  };
  const openapi = {
    openapi: '3.1.0',
    paths: {
      [sides.path ?? '/do']: {
        post: {
          parameters: parse(sides.parameters ?? '[]'),
          ...(sides.body !== undefined && { requestBody: { required: true, content: content(sides.body) } }),
          ...(sides.bodyContent !== undefined && { requestBody: { content: parse(sides.bodyContent) } }),
          responses:
            sides.responses === undefined
              ? { 200: { content: content(sides.answer ?? 'type: object') } }
              : parse(sides.responses),
        },
      },
    },
    components,
  };
  const rules = parse(sides.rules) ?? {};
  const call = { POST: sides.path ?? '/do' };
  const entry = Array.isArray(rules) ? rules.map((one) => ({ call, ...one })) : { call, ...rules };
  const told: { pointer: string; message: string }[] = [];
  const entries = readEntries({ Do: entry }, (pointer, message) => told.push({ pointer, message }), limits);
  const mapping = compileMapping({
    derived,
    openapi,
    entries,
    moduleOf: () => (sides.code === undefined ? undefined : compileModule(sides.code, 'do.ts', limits)),
    limits,
  });
  return { ...mapping, problems: [...told, ...mapping.problems] };
}

/** Returns the problems of a mapping as `pointer: message`. */
export function problemsOf(sides: Sides): readonly string[] {
  return mappingOf(sides).problems.map(({ pointer, message }) => `${pointer}: ${message}`);
}

function operationOf(sides: Sides) {
  const { problems, operations } = mappingOf(sides);
  const operation = operations.get('Do');
  if (problems.length > 0 || operation === undefined) throw new Error(JSON.stringify(problems));
  return operation;
}

/** Maps a JSON request to upstream calls. Throws an Error for an invalid mapping. */
export function callsOf(sides: Sides, json: string) {
  return operationOf(sides).toCalls(json).calls;
}

/** Returns the body of the only call. */
export function bodyOf(sides: Sides, json: string): string | undefined {
  return callsOf(sides, json)[0]?.body;
}

/** Returns the declared fault for an error response. */
export function faultOf(sides: Sides, answer: Partial<MappedAnswer>): string | undefined {
  return operationOf(sides).toFault(0, { status: 404, headers: {}, body: '', ...answer });
}

/** Returns the reply for the responses to a request. */
export function replyOf(sides: Sides, json: string, ...answers: readonly Partial<MappedAnswer>[]): string {
  const operation = operationOf(sides);
  const { entry } = operation.toCalls(json);
  return operation.toReply(
    entry,
    answers.map((answer) => ({ status: 200, headers: {}, body: '', ...answer })),
  );
}
