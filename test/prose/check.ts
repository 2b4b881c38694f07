import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentStart, type Phrase, phrases } from './patterns.ts';
import { markdownProse, type Prose, sourceTexts } from './texts.ts';

const root = join(import.meta.dirname, '../..');

/** A forbidden phrase at a place: `file:line`, or the hash of a commit. */
export interface Finding {
  readonly place: string;
  readonly words: string;
  readonly reason: string;
  readonly better: string;
}

const compiled = phrases.map((phrase) => ({ phrase, form: expression(phrase, 'gi') }));
const start = new RegExp(`^${commentStart.form}\\b`);

function expression({ form }: Phrase, flags: string): RegExp {
  return new RegExp(`\\b(?:${form.replaceAll(' ', '\\s+')})\\b`, flags);
}

function finding(place: string, words: string, { reason, better }: Phrase): Finding {
  return { place, words: words.replace(/\s+/g, ' '), reason, better };
}

/** Forbidden phrases of a text, in the order of their lines. */
export function phrasesIn(file: string, text: Prose): readonly Finding[] {
  const found = compiled.flatMap(({ phrase, form }) =>
    [...text.matchAll(form)].map(({ 0: words, index }) => ({ words, index, phrase })),
  );
  return found
    .toSorted((one, other) => one.index - other.index)
    .map(({ words, index, phrase }) => finding(placeOf(file, text, index), words, phrase));
}

function placeOf(file: string, text: string, index: number): string {
  return `${file}:${text.slice(0, index).split('\n').length}`;
}

/** Forbidden phrases in the comments of a source, and in its strings if it is product code. */
export function findingsOfSource(file: string, source: string, withStrings: boolean): readonly Finding[] {
  const { comments, strings, starts } = sourceTexts(source);
  return [
    ...phrasesIn(file, comments),
    ...starts
      .filter(([, words]) => start.test(words))
      .map(([index, words]) =>
        finding(placeOf(file, source, index), start.exec(words)?.[0] ?? '', commentStart),
      ),
    ...(withStrings ? phrasesIn(file, strings) : []),
  ];
}

/** Texts that are not the project's own, or that quote forbidden phrases. */
const excluded =
  /^(?:test\/(?:fixtures|golden|documents\/[^/]+\/)|.*(?:node_modules|site-packages)\/|dist\/|release\/)/;
/** Product code whose messages are checked. Texts of `wsdl/schema.ts` are in WSDLs. */
const product = /^(?:bin|console|gateway|mappings|upstream|wsdl)\/(?!schema\.ts$)/;

/** Pages and sources, without generated files. */
const files = globSync('**/*.{md,ts,js,mts,mjs}', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist' || name === '.git',
})
  .filter((file) => !excluded.test(file))
  .toSorted();

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Findings in all Markdown pages. */
export function findingsInPages(): readonly Finding[] {
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => phrasesIn(file, markdownProse(read(file))));
}

/** Findings in comments, and in the messages and helps of product code. */
export function findingsInSources(): readonly Finding[] {
  return files
    .filter((file) => !file.endsWith('.md'))
    .flatMap((file) => findingsOfSource(file, read(file), product.test(file)));
}

/** Findings in the English texts of the pages. */
export function findingsInPageTexts(): readonly Finding[] {
  const file = 'console/texts/en.json';
  const texts: Record<string, string> = JSON.parse(read(file));
  return Object.entries(texts).flatMap(([key, text]) =>
    phrasesIn(file, text).map((found) => ({ ...found, place: `${file}: ${key}` })),
  );
}

const maxSubjectCharacters = 72;

/** Findings in the subject of a commit: its form, its length, and forbidden phrases. */
export function findingsInSubject(hash: string, subject: string): readonly Finding[] {
  const found = phrasesIn(hash, subject).map((each) => ({ ...each, place: hash }));
  if (subject.length > maxSubjectCharacters)
    found.push({
      place: hash,
      words: subject,
      reason: `it has ${subject.length} characters`,
      better: `at most ${maxSubjectCharacters} characters`,
    });
  if (!/^[a-z][a-z0-9 .,/_-]*: [^\s.].*[^.\s]$/.test(subject))
    found.push({
      place: hash,
      words: subject,
      reason: 'it has no area, or ends with a period',
      better: 'area: imperative sentence, such as "codec: reject empty dates"',
    });
  return found;
}

/** Findings in the subjects since the commit that added this check; a sentence if git has no answer. */
export function findingsInCommits(): readonly Finding[] | string {
  if (!existsSync(join(root, '.git'))) return 'the folder has no .git';
  const added = git('log', '--diff-filter=A', '--format=%H', '--', 'test/prose/check.ts').split('\n').at(-1);
  if (added === undefined || added === '') return 'the check is not committed';
  const subjects = [
    git('log', '-1', '--format=%h %s', added),
    git('log', '--no-merges', '--ancestry-path', '--format=%h %s', `${added}..HEAD`),
  ];
  return subjects
    .join('\n')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [hash = '', ...words] = line.split(' ');
      return findingsInSubject(hash, words.join(' '));
    });
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

/** A human-readable line: the place, the words, the reason and what to write. */
export function describe({ place, words, reason, better }: Finding): string {
  return `${place}: "${words}": ${reason}; write: ${better}`;
}
