import test from 'ava';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { load } from '../../plain/documents.ts';
import { compile, operationOf } from '../codec/codec-calls.ts';

const schema = { type: 'string' };
const media = {
  text: { 'text/plain': { schema } },
  bytes: { 'application/pdf': {} },
  html: { 'text/html': { schema } },
  range: { 'text/*': { schema } },
  json: { 'application/json': { schema: { type: 'object', properties: { a: schema } } } },
} as const;
const paths = Object.fromEntries(
  Object.entries(media).map(([operationId, content]) => [
    `/${operationId}`,
    { get: { operationId, responses: { 200: { description: '', content } } } },
  ]),
);
const document = { openapi: '3.1.0', info: { title: 'Answers', version: '1' }, paths };

/** Reads an upstream response; `envelope` selects the contract whose replies are records of status and body. */
function read(operation: string, type: string | undefined, body: string, status = 200, envelope = false) {
  const overlay = envelope ? { reply: 'envelope' } : {};
  const compiled = compile(load(document, undefined, overlay).contract);
  const headers = type === undefined ? {} : { 'content-type': type };
  const json = operationOf(compiled, operation).readAnswer({ status, headers, body: Buffer.from(body) });
  return json?.toString();
}

const page = '<!DOCTYPE html><html><body>Sign in</body></html>';

for (const envelope of [false, true])
  for (const [operation, type] of [
    ['text', 'text/html; charset=utf-8'],
    ['text', 'application/xhtml+xml'],
    ['text', undefined],
    ['bytes', 'TEXT/HTML'],
    ['bytes', undefined],
  ] as const)
    test(`W22: HTML of ${type} is not a valid ${operation}${envelope ? ' in an envelope' : ''}`, (t) => {
      const message = `expected ${Object.keys(media[operation]).join()}, got HTML`;
      t.throws(() => read(operation, type, page, 200, envelope), { instanceOf: MismatchError, message });
    });

test('W22: HTML is accepted if the document declares it, and so is text that resembles it', (t) => {
  t.is(read('html', 'text/html', page), JSON.stringify(page));
  t.is(read('range', 'text/html', page), JSON.stringify(page));
  t.is(read('text', 'text/plain', page), JSON.stringify(page));
  t.is(read('text', undefined, 'a < b'), '"a < b"');
});

for (const envelope of [false, true])
  test(`W22: an empty 200 is not a JSON body${envelope ? ' of an envelope' : ''}`, (t) => {
    const message = 'expected a JSON body with status 200, got none';
    t.throws(() => read('json', 'application/json', '', 200, envelope), {
      instanceOf: MismatchError,
      message,
    });
    t.notThrows(() => read('json', undefined, '', 204, envelope));
    t.notThrows(() => read('json', undefined, '', 202, envelope));
    t.notThrows(() => read('text', 'text/plain', '', 200, envelope));
    t.notThrows(() => read('bytes', 'application/pdf', '', 200, envelope));
  });
