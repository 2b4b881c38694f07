import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { run } from './run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const command = join(root, 'bin/soapbridge.js');

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'soapbridge-output-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

/** Runs `soapbridge` in a shell script, which sets limits and redirects the output. */
async function shell(script: string, ...args: readonly string[]) {
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, command, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { status, stderr };
}

for (const args of [['wsdl'], ['check', '--json']]) {
  test(`the output file of ${args.join(' ')} is complete, or the command exits with 2 and a sentence`, async (t) => {
    const { out: whole } = await run(t, args).ended;
    const path = join(folder(t), 'out');
    t.deepEqual(await shell(`"$@" > '${path}'`, ...args), { status: 0, stderr: '' });
    t.is(readFileSync(path, 'utf8'), whole);
    // A disk without enough space accepts the beginning.
    const { status, stderr } = await shell(`ulimit -f 1; "$@" > '${path}'`, ...args);
    t.true(statSync(path).size < Buffer.byteLength(whole));
    t.is(stderr, 'standard output: expected a writable output, got EFBIG\n');
    t.is(status, 2);
  });
}

(existsSync('/dev/full') ? test : test.skip)(
  'a device that takes nothing is told by 2, not by a stack',
  async (t) => {
    const { status, stderr } = await shell('"$@" > /dev/full', 'check');
    t.is(stderr, 'standard output: expected a writable output, got ENOSPC\n');
    t.is(status, 2);
  },
);

const paths = { '/it': { get: { operationId: 'Get', responses: { 204: {} } } } };
const document = { openapi: '3.0.3', info: { title: 'It', version: '1' }, paths };

test('names.lock is written completely, or unchanged if the disk is full', async (t) => {
  const place = folder(t);
  const lock = join(place, 'names.lock');
  const openapi = join(place, 'openapi.json');
  writeFileSync(openapi, JSON.stringify(document));
  t.is((await shell('"$@" > /dev/null', 'names', openapi)).status, 0);
  const former = readFileSync(lock, 'utf8');
  const more = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`/more${index}`, { get: { responses: { 204: {} } } }]),
  );
  writeFileSync(openapi, JSON.stringify({ ...document, paths: { ...paths, ...more } }));
  t.deepEqual(await shell('ulimit -f 1; "$@" > /dev/null', 'names', openapi), {
    status: 2,
    stderr: `${lock}: expected a writable file, got EFBIG\n`,
  });
  t.is(readFileSync(lock, 'utf8'), former);
  t.deepEqual(readdirSync(place).toSorted(), ['names.lock', 'openapi.json']);
  renameSync(lock, join(place, 'elsewhere'));
  symlinkSync('elsewhere', lock);
  t.is((await shell('"$@" > /dev/null', 'names', openapi)).status, 0);
  t.true(lstatSync(lock).isSymbolicLink());
  t.true(readFileSync(join(place, 'elsewhere'), 'utf8').includes('more49'));
});

test('a command writes its output through a named pipe, and keeps the pipe', async (t) => {
  const place = folder(t);
  const pipe = join(place, 'soap.yaml');
  const openapi = join(place, 'openapi.json');
  writeFileSync(openapi, JSON.stringify(document));
  execFileSync('mkfifo', [pipe]);
  const read = readFile(pipe, 'utf8');
  t.deepEqual(await shell('"$@" > /dev/null', 'init', '--force', '--overlay', pipe, openapi), {
    status: 0,
    stderr: '',
  });
  t.true((await read).includes('basePath'));
  t.true(lstatSync(pipe).isFIFO());
  t.deepEqual(readdirSync(place).toSorted(), ['openapi.json', 'soap.yaml']);
});

for (const [what, args, said] of [
  [
    'a file in the place of a kit’s folder',
    ['kit', '--out', 'openapi.json/kit'],
    /json\/kit\/.*: expected a writable file, got ENOTDIR$/,
  ],
  [
    'a folder in the place of an overlay',
    ['init', '--force', '--overlay', '.'],
    /^\.: expected a file or a new path, got a folder$/,
  ],
] as const) {
  test(`${what} is reported in a sentence`, async (t) => {
    const place = folder(t);
    writeFileSync(join(place, 'openapi.json'), JSON.stringify(document));
    const { status, stderr } = await shell(`cd '${place}' && "$@" > /dev/null`, ...args, 'openapi.json');
    t.regex(stderr.trimEnd(), said);
    t.is(status, 2);
  });
}

for (const [what, args, message] of [
  ['a flag that is none', ['check', '--json', '--nope'], "unknown option '--nope'"],
  [
    'a flag beside one that excludes it',
    ['check', '-c', 'a', '--openapi', 'b', '--json'],
    /^option '-o, --openapi <file>' cannot be used with option '-c, --contract <dir>'$/,
  ],
  ['a command that is none', ['nope', '--json'], /^unknown command 'nope'/],
] as const) {
  test(`${what} is reported in JSON with --json`, async (t) => {
    const { code, out, err } = await run(t, args).ended;
    t.is(code, 2);
    const { problems } = JSON.parse(out);
    t.is(problems.length, 1);
    if (typeof message === 'string') t.is(problems[0].message, message);
    else t.regex(problems[0].message, message);
    t.is(err, '');
  });
}
