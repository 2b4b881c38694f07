import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from './run.ts';

/** Clears the screen, sets the window title, reverses the text direction and starts a new line. */
const evil = '\u001b[2J\u001b]0;mine\u0007\u009b31m\u202e\r\nnothing is wrong';
const seen = String.raw`\u001b[2J\u001b]0;mine\u0007\u009b31m\u202e\u000d\u000anothing is wrong`;
const acted = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]|^nothing/mu;

function contract(t: ExecutionContext, schema: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-terminal-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const content = { 'application/json': { schema } };
  const operation = { operationId: 'Put', requestBody: { content }, responses: { 200: { content } } };
  const document = { openapi: '3.0.3', info: { title: 'It' }, paths: { '/it': { put: operation } } };
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  return folder;
}

const members = (names: Readonly<Record<string, unknown>>) => ({ type: 'object', properties: names });
const text = { type: 'string' };

test('each problem of a document is on its own line, whatever its keys and values contain', async (t) => {
  const folder = contract(t, members({ [evil]: { $ref: evil } }));
  const { code, err } = await run(t, ['check', '-c', folder]).ended;
  t.is(code, 2);
  t.true(err.includes(seen), err);
  t.notRegex(err, acted);
  t.is(err.split('\n').length, 4, err);
});

test('output of check, names and diff about a document has no control characters and extra lines', async (t) => {
  const old = contract(
    t,
    members({
      a: { ...text, enum: ['x', evil] },
      [evil]: text,
      c: members({ [evil]: { oneOf: [text, text] } }),
    }),
  );
  const next = contract(t, members({ a: { ...text, enum: ['x'] } }));
  for (const args of [
    ['check', '-c', old],
    ['names', '-c', old],
    ['diff', old, next],
  ]) {
    const { out, err } = await run(t, args).ended;
    t.notRegex(out + err, acted, args[0]);
  }
});

test('--json escapes control characters without a change of the value', async (t) => {
  const { out } = await run(t, ['check', '--json', '-c', contract(t, members({ a: { $ref: evil } }))]).ended;
  t.notRegex(out, acted);
  t.true(JSON.parse(out).problems[0].message.includes('\u009b31m\u202e'));
});

test('output of explain about a message has no control characters', async (t) => {
  const folder = contract(t, members({ a: text }));
  const message = join(folder, 'message.xml');
  writeFileSync(message, `<a ${evil}='${evil}'><${evil}></a>${evil}`);
  const { out, err } = await run(t, ['explain', message, '-c', folder]).ended;
  t.true((out + err).length > 20);
  t.notRegex(out + err, /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
});
