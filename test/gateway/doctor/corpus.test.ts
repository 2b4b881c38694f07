import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { createDoctor } from '../../../gateway/doctor/explain.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { readContract } from '../../../mappings/loader/load.ts';

// Broken messages as sent by real client stacks. Each file has the expected findings, then the HTTP headers and the
// body.

const folder = join(import.meta.dirname, 'corpus');
const { contract } = readContract(join(import.meta.dirname, 'contract'));
const doctor = createDoctor(compileContract(contract));

/**
 * A parsed file: expected sentences, position of the first one, whether the corrected message is accepted, and a text
 * in it.
 */
interface Case {
  readonly says: readonly string[];
  readonly at: string | undefined;
  readonly taken: string | undefined;
  readonly contains: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function readCase(file: string): Case {
  const text = readFileSync(join(folder, file), 'utf8');
  const split = text.indexOf('\n---\n');
  const said = linesOf(text.slice(0, split));
  const message = text.slice(split + 5);
  const end = message.indexOf('\n\n');
  const headers = linesOf(message.slice(0, end)).map(([name, value]) => [name.toLowerCase(), value] as const);
  const of = (key: string) => said.find(([name]) => name === key)?.[1];
  const encoding = (of('bytes') ?? 'utf8') as BufferEncoding;
  return {
    says: said.filter(([name]) => name === 'says').map(([, value]) => value),
    at: of('at'),
    taken: of('taken'),
    contains: of('contains'),
    headers: Object.fromEntries(headers),
    body: Buffer.from(message.slice(end + 2), encoding),
  };
}

function linesOf(text: string): readonly (readonly [string, string])[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const);
}

const files = readdirSync(folder).toSorted();

test('there are at least sixty broken messages', (t) => {
  t.true(files.length >= 60);
});

for (const file of files) {
  test(`${file.replace('.txt', '')} is explained`, (t) => {
    const { says, at, taken, contains, headers, body } = readCase(file);
    const { findings, corrected } = doctor.explain({ body, headers });
    const all = findings.map(
      (one) => `${one.at?.line ?? '-'}:${one.at?.column ?? '-'} ${one.severity} ${one.message}`,
    );
    const told = `${all.join('\n')}\n${corrected?.text}`;
    for (const sentence of says)
      t.true(
        findings.some(({ message }) => message.includes(sentence)),
        `${sentence}\n${told}`,
      );
    const first = findings.find(({ message }) => message.includes(says[0] ?? ''));
    if (at !== undefined) t.is(`${first?.at?.line}:${first?.at?.column}`, at, told);
    t.is(corrected === undefined ? 'none' : corrected.isTaken ? 'yes' : 'no', String(taken), told);
    if (contains !== undefined) t.true(corrected?.text.includes(contains) === true, told);
    if (corrected?.isTaken !== true) return;
    // The corrected message has no errors.
    const again = doctor.explain({
      body: Buffer.from(corrected.text),
      headers: { 'content-type': corrected.contentType, soapaction: corrected.soapAction },
    });
    t.deepEqual(
      again.findings.filter(({ message }) => !/encoded twice|escaped twice/.test(message)),
      [],
      told,
    );
  });
}
