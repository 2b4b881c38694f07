import { applyEdits, problemText } from '../../../../mappings/codec/problem.ts';
import type { CompiledContract } from '../../../../mappings/compile.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import type { Settings } from '../../../../mappings/contract/overlay-keys.ts';
import { load } from '../../../plain/documents.ts';
import { compile, operationOf, readJson, readXml, writeReply } from '../codec-calls.ts';

/** A contract whose only operation takes and returns an object with a member `m`, and functions to convert it. */
export interface Member {
  readonly compiled: CompiledContract;
  /** Returns the JSON of an element's content or its problem, then ignored members. */
  readonly read: (content: string) => string;
  /** Returns the validated JSON of a JSON caller or its problem, then ignored members. */
  readonly pass: (json: string) => string;
  /** Returns the XML of a reply's value or its mismatch, then omitted members. */
  readonly write: (json: string) => string;
}

/** Creates the member of a schema, which may reference others by name. */
export function memberOf(
  schema: object,
  overlay: object = {},
  schemas: object = {},
  settings: Partial<Settings> = {},
  limits: Partial<Limits> = {},
): Member {
  const content = { 'application/json': { schema: { type: 'object', properties: { m: schema } } } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  const info = { title: 'Members', version: '1' };
  const document = { openapi: '3.1.0', info, paths: { '/': { put } }, components: { schemas } };
  const compiled = compile(load(document, undefined, overlay).contract, settings, limits);
  const told = ({ problems, input, ignored }: ReturnType<typeof readXml>, json: () => string): string => {
    const missing = input.reading.missing.map(problemText);
    const wrong = [...problems, ...missing].join('; ').replaceAll('Body.m', 'm');
    if (wrong !== '') return wrong;
    const [, value = ''] = /"m"\s*:(.*)\}\s*\}$/s.exec(json()) ?? [];
    return ignored.length === 0 ? value : `${value} without ${ignored}`;
  };
  return {
    compiled,
    read: (xml) => {
      const read = readXml(compiled, 'put', `<Body><m>${xml}</m></Body>`);
      return told(read, () => operationOf(compiled, 'put').jsonOf(read.input));
    },
    pass: (json) => {
      const text = `{"Body":{"m":${json}}}`;
      const read = readJson(compiled, 'put', text);
      return told(read, () => applyEdits(text, read.input.reading.edits));
    },
    write: (json) => {
      try {
        const { xml, dropped } = writeReply(compiled, 'put', `{"m":${json}}`);
        const [, value = ''] = /<m(?:>| i:nil="true"\/>)(.*?)(?:<\/m>)?<\/Result>/s.exec(xml) ?? [];
        return dropped === 0 ? value : `${value} ${dropped} dropped`;
      } catch (error) {
        return error instanceof Error ? error.message.replace('Result.m', 'm') : String(error);
      }
    },
  };
}
