import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { readContract } from '../../../../mappings/loader/load.ts';

/**
 * Returns the notes for a document whose operation `tried` replies with the target of a reference. Other files are in
 * its folder and around it.
 */
function reasonsFor(t: ExecutionContext, ref: string): string {
  const around = mkdtempSync(join(tmpdir(), 'files-'));
  t.teardown(() => rmSync(around, { recursive: true, force: true }));
  const directory = join(around, 'contract');
  mkdirSync(join(directory, 'vendored'), { recursive: true });
  mkdirSync(join(around, 'contract-too'));
  mkdirSync(join(around, 'allowed/deep'), { recursive: true });
  const response = JSON.stringify({ description: 'a reply' });
  for (const path of [
    'secret.yaml',
    'contract-too/reply.yaml',
    'contract/a b.yaml',
    'contract/vendored/r.yaml',
    'allowed/r.yaml',
  ])
    writeFileSync(join(around, path), response);
  writeFileSync(join(directory, 'round.yaml'), 'a: { $ref: "#/b" }\nb: { $ref: "./round.yaml#/a" }\n');
  writeFileSync(join(directory, 'twice.yaml'), 'a: 1\na: 2\n');
  symlinkSync(join(around, 'secret.yaml'), join(directory, 'link.yaml'));
  symlinkSync(join(around, 'secret.yaml'), join(around, 'allowed/link.yaml'));
  writeFileSync(join(around, 'allowed/reply.yaml'), '{ $ref: "deep/reply.yaml" }');
  writeFileSync(join(around, 'allowed/deep/reply.yaml'), '{ $ref: "../r.yaml" }');
  const reply = (target: object): object => ({ get: { responses: { 200: target } } });
  const paths = { '/tried': reply({ $ref: ref }), '/served': reply({ description: 'done' }) };
  writeFileSync(join(directory, 'openapi.yaml'), JSON.stringify({ openapi: '3.1.0', info: {}, paths }));
  const refs = { 'https://schemas.example/': 'vendored', '../allowed/': '../allowed' };
  writeFileSync(join(directory, 'soap.yaml'), JSON.stringify({ service: 'Files', refs }));
  try {
    return readContract(directory)
      .notServed.flatMap(({ reasons }) => reasons.map(({ why }) => why))
      .join();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.problems.map(({ message }) => message).join();
  }
}

for (const ref of [
  'a%20b.yaml',
  './a b.yaml#',
  'vendored/../a b.yaml',
  'https://schemas.example/r.yaml',
  '../allowed/reply.yaml',
  '../allowed/deep/reply.yaml',
]) {
  test(`a reference to ${ref} resolves to its file`, (t) => {
    t.is(reasonsFor(t, ref), '');
  });
}

const outside =
  'is outside the folder of the document. Add its beginning, such as "../", and a folder among the overlay\'s refs';
const elsewhere =
  'cannot be resolved: expected a file below the folder of the document, got a file outside the folder';
const fetched = "is a URL, which is not downloaded. Add its beginning and a folder among the overlay's refs";

for (const [ref, says] of [
  ['../secret.yaml', outside],
  ['%2e%2e/secret.yaml', outside],
  ['..%2Fsecret.yaml', outside],
  ['../contract-too/reply.yaml', outside],
  ['vendored/../../secret.yaml', outside],
  ['../allowed/../secret.yaml', outside],
  [
    '../allowed/link.yaml',
    'cannot be resolved: expected a file in "../allowed", got a file outside the folder',
  ],
  ['../allowed/gone.yaml', 'cannot be resolved: expected a file in "../allowed", got none (ENOENT)'],
  ['/etc/passwd', 'is no relative path'],
  ['..\\secret.yaml', 'is no relative path'],
  ['a.yaml?version=1', 'is no relative path'],
  ['link.yaml', elsewhere],
  ['file:///etc/passwd', fetched],
  ['http://127.0.0.1/reply.yaml', fetched],
  [
    'https://schemas.example/..%2F..%2Fsecret.yaml',
    'cannot be resolved: expected a file in "vendored", got a file outside the folder',
  ],
  [
    'vendored',
    'cannot be resolved: expected a file below the folder of the document, got an unreadable file (expected a file, got a directory)',
  ],
  ['gone.yaml', 'cannot be resolved: expected a file below the folder of the document, got none (ENOENT)'],
  [
    'twice.yaml',
    'cannot be resolved: expected a file below the folder of the document, got an unreadable file (line 2, column 1: expected each key once, got this key again)',
  ],
  ['#/components/schemas/Gone', 'does not exist; expected a part of this file'],
] as const) {
  test(`a reference to ${ref} is a contract error, and not followed`, (t) => {
    t.is(reasonsFor(t, ref), `${JSON.stringify(ref)} ${says}`);
  });
}

test('circular references, across files too, are a contract error', (t) => {
  t.is(reasonsFor(t, 'round.yaml#/a'), 'refers to itself; expected a reference to a value');
});
