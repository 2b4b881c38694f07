import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { SaxesParser } from 'saxes';
import { parse } from 'yaml';
import { serveCommand } from '../../gateway/commands/serve.ts';
import { overlaySettings } from '../../mappings/contract/overlay-keys.ts';
import type { Report } from '../../mappings/loader/document/error.ts';
import { readSettings } from '../../mappings/loader/document/settings-file.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { mappingSettings } from '../../mappings/mapping/notation.ts';
import { commandsOf, parseProblem, soapbridgeArguments, unknownOptions, wordsOf } from './command-lines.ts';

// Every example of the documentation is run or parsed. Other tests run the pages with commands that print, and the
// programs in C#, Java, PHP, Python and TypeScript.

const root = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'bench/README.md', 'docs/**/*.md'], { cwd: root }).toSorted();

interface Block {
  readonly page: string;
  readonly line: number;
  /** The words after the fence: a language, and sometimes a purpose. */
  readonly fence: string;
  readonly text: string;
}

const blocks: readonly Block[] = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^( *)```([^\n]*)\n(.*?)^ *```$/gms)].map(
    ({ 2: fence = '', 3: inner = '', index }) => ({
      page,
      line: text.slice(0, index).split('\n').length,
      fence,
      text: inner,
    }),
  );
});

const blocksOf = (language: string): readonly Block[] =>
  blocks.filter(({ fence }) => fence.split(' ')[0] === language);
const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

test('every example has a language that a test reads', (t) => {
  const known = [
    '',
    'sh',
    'yaml',
    'json',
    'xml',
    'ts',
    'csharp',
    'java',
    'php',
    'python',
    'dockerfile',
    'haproxy',
    'nginx',
  ];
  t.deepEqual(blocks.filter(({ fence }) => !known.includes(fence.split(' ')[0] ?? '')).map(placeOf), []);
  t.true(blocks.length > 100);
});

test('every command line of soapbridge in an example is valid', (t) => {
  const found: string[] = [];
  let lines = 0;
  for (const block of blocks) {
    const script = block.fence.startsWith('sh')
      ? block.text
      : block.text.replace(/^(?!\$ ).*$/gm, '').replace(/^\$ /gm, '');
    for (const words of commandsOf(script)) {
      const given = soapbridgeArguments(words);
      if (given === undefined) continue;
      lines++;
      const problem = parseProblem(given);
      if (problem !== undefined) found.push(`${placeOf(block)}: ${given.join(' ')}: ${problem}`);
    }
  }
  t.deepEqual(found, []);
  t.true(lines > 50, String(lines));
});

test('every command of soapbridge in the text of a page exists, with its options', (t) => {
  const found: string[] = [];
  let commands = 0;
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '');
    for (const [, line = ''] of text.matchAll(/`((?:npx )?soapbridge [a-z][^`]*)`/g)) {
      const given = soapbridgeArguments(wordsOf(line)) ?? [];
      commands++;
      const unknown = unknownOptions(given);
      if (unknown === undefined) found.push(`${page}: ${line}: unknown command`);
      else if (unknown.length > 0) found.push(`${page}: ${line}: ${unknown.join(' ')}`);
    }
  }
  t.deepEqual(found, []);
  t.true(commands > 20, String(commands));
});

test('every variable that an example sets is one that serve reads', (t) => {
  const known = serveCommand().options.map(({ envVar }) => envVar);
  const named = blocksOf('sh').flatMap(({ text }) => [...text.matchAll(/\b(SOAPBRIDGE_[A-Z_]+)=/g)]);
  t.deepEqual(
    named.map(([, name]) => name).filter((name) => !known.includes(name)),
    [],
  );
  t.true(named.length > 2);
});

test('every npm script in an example exists, and its program has the options of the example', (t) => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const found: string[] = [];
  for (const block of blocks) {
    for (const words of commandsOf(block.text)) {
      if (words[0] !== 'npm' || words[1] !== 'run') continue;
      const script = scripts[words[2] ?? ''];
      if (script === undefined) found.push(`${placeOf(block)}: ${words.join(' ')}`);
      const source = /^node (\S+\.ts)/.exec(script ?? '')?.[1];
      for (const option of words.filter((word) => /^--[a-z]/.test(word)))
        if (source === undefined || !readFileSync(join(root, source), 'utf8').includes(option))
          found.push(`${placeOf(block)}: ${option}`);
    }
  }
  t.deepEqual(found, []);
});

test('every file of the repository that an example names exists', (t) => {
  const missing = blocksOf('sh').flatMap((block) =>
    [...block.text.matchAll(/(?<![\w/.-])(?:docs|deploy|bench|test)\/[\w/.-]*\w/g)]
      .filter(([path]) => !existsSync(join(root, path)))
      .map(([path]) => `${placeOf(block)}: ${path}`),
  );
  t.deepEqual(missing, []);
});

test('every JSON example is JSON', (t) => {
  for (const block of blocksOf('json')) t.notThrows(() => JSON.parse(block.text), placeOf(block));
});

test('every XML example is well-formed', (t) => {
  for (const block of blocksOf('xml')) {
    const parser = new SaxesParser({ fragment: true });
    const problems: string[] = [];
    parser.on('error', ({ message }) => problems.push(message));
    // a declaration begins a document, and this is a fragment
    parser.write(block.text.replace(/^<\?xml[^>]*\?>/, '')).close();
    t.deepEqual(problems, [], placeOf(block));
  }
});

/** The problems that a reader of settings reports. */
function problemsOf(read: (report: Report) => unknown): readonly string[] {
  const problems: string[] = [];
  read((pointer, message) => problems.push(`${pointer}: ${message}`));
  return problems;
}

/** A mapping file with the example: a whole file, keys of an operation, or rules of a reply. */
function mappingWith(example: Readonly<Record<string, unknown>>): unknown {
  const values = Object.values(example);
  const hasCalls = values.some((value) => typeof value === 'object' && value !== null && 'call' in value);
  if (hasCalls) return example;
  const call = { GET: '/orders' };
  return { GetOrder: 'fault' in example ? { call, ...example } : { call, reply: example } };
}

/** Pages whose YAML a test of their own reads. */
const readElsewhere: ReadonlyMap<string, string> = new Map([
  ['docs/commands.md', 'settings.test.ts'],
  ['docs/contract.md', 'contract.test.ts'],
  ['docs/credentials.md', 'settings.test.ts'],
  ['docs/derived-openapi.md', 'derived-openapi.test.ts'],
  ['docs/limits.md', 'settings.test.ts'],
  ['docs/migrate.md', 'migrate.test.ts'],
  ['docs/operations.md', 'settings.test.ts'],
  ['docs/record-and-replay.md', 'record-and-replay.test.ts'],
  ['docs/retire.md', 'retire.test.ts'],
  ['docs/store.md', 'settings.test.ts'],
]);

for (const block of blocksOf('yaml')) {
  const { page, fence, text } = block;
  // kustomize's and Prometheus's files are not the gateway's
  if (readElsewhere.has(page) || fence === 'yaml patch' || page === 'docs/deploy.md') continue;
  test(`${placeOf(block)}: the gateway reads the settings`, (t) => {
    const example: Record<string, unknown> = parse(text);
    const problems = problemsOf((report) => {
      if (page === 'docs/mapping.md' || page === 'docs/wire-rules.md')
        return readSettings(mappingSettings, mappingWith(example), '', report);
      const kind = page === 'docs/adopt.md' ? 'adopted' : 'openapi';
      return readSettings(overlaySettings[kind], example, '', report);
    });
    t.deepEqual(problems, []);
  });
}

test('each page whose YAML is read elsewhere has a test that names it', (t) => {
  for (const [page, file] of readElsewhere) {
    t.true(
      blocksOf('yaml').some((block) => block.page === page),
      page,
    );
    t.true(readFileSync(join(import.meta.dirname, file), 'utf8').includes(page), file);
  }
});

test('docs/overlay-keys.md: the patch changes the document of the tutorial', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const patches = blocksOf('yaml').filter(({ fence }) => fence === 'yaml patch');
  t.is(patches.length, 1);
  const [, file = ''] = /^# (\S+\.yaml)$/m.exec(patches[0]?.text ?? '') ?? [];
  const document = readFileSync(join(root, 'docs/tutorial/openapi.yaml'), 'utf8');
  const internal =
    '  /internal: { get: { operationId: Internal, responses: { "204": { description: Done. } } } }\n';
  writeFileSync(join(folder, 'openapi.yaml'), document.replace(/^paths:\n/m, `$&${internal}`));
  writeFileSync(join(folder, file), patches[0]?.text ?? '');
  writeFileSync(join(folder, 'soap.yaml'), `patches: [${file}]\n`);
  const { contract } = readContract(folder);
  t.deepEqual(
    contract.operations.map(({ name }) => name),
    ['getBook', 'lend'],
  );
  t.true(JSON.stringify(contract.types).includes('"pages"'));
});
