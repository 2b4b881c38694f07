import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { derivedFile } from '../../mappings/contract/adopted.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { withoutUrlSecrets } from '../../mappings/loader/document/node.ts';
import { findFile, isDocumentUrl, readContract } from '../../mappings/loader/load.ts';
import { joinNames, readNamesLock, writeNamesLock } from '../../mappings/loader/names/names-lock.ts';
import { portableName } from '../../mappings/loader/wsdl/files.ts';
import { type LoadedService, loadAdoptedService, placeIn } from '../../mappings/loader/wsdl/load-adopted.ts';
import { deriveFromContract, writeDerivedOpenapi } from '../../wsdl/derived-openapi/document.ts';
import type { OpenPlace } from '../../wsdl/derived-openapi/schemas.ts';
import { type AdoptedPlaces, adoptedOverlayText, placesText } from './adopt-overlay.ts';
import { printSummary, summaryOf } from './check.ts';
import { helpEnd } from './help.ts';
import { limitsOption } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';

interface AdoptFlags {
  readonly out: string;
  readonly refs: ReadonlyMap<string, string>;
  readonly force: boolean;
  readonly json: boolean;
  readonly limits?: Limits;
}

/** Creates the command `soapbridge adopt`. */
export function adoptCommand(): Command {
  return new Command('adopt')
    .description('make a contract folder from the WSDL of a legacy service')
    .argument('<wsdl>', 'WSDL file; its imports are in its folder or below')
    .addOption(new Option('--out <dir>', 'folder to write').makeOptionMandatory())
    .addOption(
      new Option(
        '--refs <beginning=dir>',
        'folder that replaces the beginning of a URL or path in imports, such as ../=shared (repeatable)',
      )
        .default(new Map(), 'none')
        .argParser(addReference),
    )
    .addOption(
      new Option('--force', 'replace existing files, except a soap.yaml that has keys').default(false),
    )
    .addOption(limitsOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge adopt old/Orders.wsdl --out orders',
        { 0: 'the folder was written', 2: 'a file exists already, or the input is wrong' },
        `Copies the documents and writes soap.yaml, ${derivedFile} and names.lock. Names in an existing names.lock do not change.`,
      ),
    )
    .action(adopt);
}

function addReference(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  // a folder's name or a URL may contain `=`, too
  const equals = /^(?:\.\.\/)+=/.test(text) ? text.indexOf('=') : text.lastIndexOf('=');
  if (equals < 1 || equals === text.length - 1)
    throw new InvalidArgumentError('expected BEGINNING=FOLDER, such as https://schemas.example/=schemas.');
  return new Map([...before, [text.slice(0, equals), text.slice(equals + 1)]]);
}

function adopt(wsdl: string, flags: AdoptFlags): void {
  const out = resolve(flags.out);
  checkWsdl(wsdl);
  // With a mapping it describes the new service that the WSDL is mapped onto.
  const document = findFile(out, 'mapping') === undefined ? findFile(flags.out, 'openapi') : undefined;
  if (document !== undefined)
    throw new RangeError(
      `${document}: expected no OpenAPI document in the output folder without a mapping, got a document. Choose another folder with --out`,
    );
  const source = readSource(wsdl, flags, out);
  const stage = `${out}.${process.pid}.new`;
  mkdirSync(dirname(stage), { recursive: true });
  mkdirSync(stage);
  try {
    const made = fill(stage, out, source, flags);
    const written = moveInto(stage, out, made.files, flags);
    report(made, written, source.command, flags);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Throws RangeError, with the command to run, for an argument that cannot be a WSDL file. */
function checkWsdl(wsdl: string): void {
  const shownName = withoutUrlSecrets(wsdl);
  if (isDocumentUrl(wsdl)) {
    const url = shownName + (/\?(?:wsdl|singlewsdl)$/i.exec(wsdl)?.[0] ?? '');
    throw new RangeError(
      `${url}: expected the path of a WSDL file, got a URL. Download the document first: curl -o service.wsdl '${url}'`,
    );
  }
  const found = statSync(wsdl, { throwIfNoEntry: false });
  if (found?.isFile() !== true) {
    const what =
      found?.isDirectory() === true
        ? 'a folder. Give the path of the WSDL in it'
        : 'a path that does not exist';
    throw new RangeError(`${shownName}: expected the path of a WSDL file, got ${what}`);
  }
  const start = startOf(wsdl);
  // UTF-16 has a zero byte next to each ASCII character.
  if (/^(?:ï»¿|þÿ|ÿþ|\0|\s)*</.test(start)) return;
  if (/^["']?(?:openapi|swagger)["']?\s*:/m.test(start.replace(/^\s*\{\s*/, '')))
    throw new RangeError(
      `${wsdl}: expected a WSDL, got an OpenAPI document. Serve it with soapbridge serve ${wsdl} --upstream URL`,
    );
  throw new RangeError(`${wsdl}: expected a WSDL, got a file that is not XML`);
}

/** Returns the first 4096 bytes of a file as Latin-1. */
function startOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString('latin1', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** The documents by their paths in the output folder, and the paths for its overlay. */
interface Source {
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly places: AdoptedPlaces;
  readonly names: ReturnType<typeof readNamesLock>;
  /** Original path of each document, by its path in the output folder. */
  readonly origins: ReadonlyMap<string, string>;
  /** Warnings about the documents, with their original paths. */
  readonly warnings: readonly ContractProblem[];
  /** Command that also reads the files outside the WSDL's folder; undefined if all were read. */
  readonly command: string | undefined;
}

/** Reads the WSDL and its imports at their original paths. Throws ContractError. */
function readSource(wsdl: string, flags: AdoptFlags, out: string): Source {
  const { refs, limits = defaultLimits } = flags;
  const problems: ContractProblem[] = [];
  const names = readNamesLock(join(out, 'names.lock'), problems, undefined, (name) => name);
  if (problems.length > 0) throw new ContractError(problems);
  const load = (folders: ReadonlyMap<string, string>, onOutside: (beginning: string) => void) =>
    loadAdoptedService(dirname(wsdl), {
      wsdl: basename(wsdl),
      refs: new Map([...folders].map(([beginning, folder]) => [beginning, resolve(folder)])),
      names: names ?? { operations: new Map(), types: new Map() },
      limits,
      skipped: out,
      onOutside,
    });
  const { service, warnings, command } = loadWithCommand(wsdl, flags, load);
  const folders = foldersOf(refs);
  const documents = new Map<string, Uint8Array>();
  const origins = new Map<string, string>();
  for (const { file, bytes, isBuiltIn } of service.documents) {
    if (isBuiltIn) continue;
    const path = pathOf(file, folders);
    checkPath(path, documents);
    documents.set(path, bytes);
    origins.set(path, placeIn(dirname(wsdl), file));
  }
  const first = pathOf(service.documents[0]?.file ?? '', folders);
  const wsdls = [...documents.keys()].filter((path) => !path.includes('/') && /\.wsdl$/i.test(path));
  const used = [...refs].filter(([, folder]) => {
    const below = `${folders.get(resolve(folder))}/`;
    return [...documents.keys()].some((path) => path.startsWith(below));
  });
  const places = {
    wsdl: wsdls.length === 1 && wsdls[0] === first ? undefined : first,
    refs: new Map(used.map(([beginning, folder]) => [beginning, folders.get(resolve(folder)) ?? ''])),
  };
  return { documents, places, names, origins, warnings, command };
}

type LoadSource = (
  folders: ReadonlyMap<string, string>,
  onOutside: (beginning: string) => void,
) => LoadedService;

/**
 * Loads a WSDL. If imports lead out of its folder, the result contains the command that reads these files. If loading
 * fails, the error ends with that command. Throws ContractError.
 */
function loadWithCommand(
  wsdl: string,
  flags: AdoptFlags,
  load: LoadSource,
): LoadedService & { readonly command: string | undefined } {
  const outside = new Set<string>();
  try {
    const loaded = load(flags.refs, (beginning) => outside.add(beginning));
    const command = outside.size === 0 ? undefined : commandWithRefs(wsdl, flags, outside, load);
    return { ...loaded, command };
  } catch (error) {
    if (!(error instanceof ContractError) || outside.size === 0) throw error;
    const message = `To read the files outside its folder, run: ${commandWithRefs(wsdl, flags, outside, load)}`;
    throw new ContractError([...error.problems, { file: wsdl, pointer: '', message }]);
  }
}

/** Maximum number of times that a WSDL is read again to find further path prefixes outside its folder. */
const mostRounds = 8;

/**
 * Returns the command that also reads the files outside the WSDL's folder.
 *
 * @param outside path prefixes, for example `../`; the prefixes that these files need are added
 */
function commandWithRefs(wsdl: string, flags: AdoptFlags, outside: Set<string>, load: LoadSource): string {
  const folderOf = (beginning: string): string => join(dirname(wsdl), beginning).replace(/(?<=.)[/\\]$/, '');
  const all = (): Map<string, string> =>
    new Map([...flags.refs, ...[...outside].map((beginning) => [beginning, folderOf(beginning)] as const)]);
  for (let round = 0, before = 0; round < mostRounds && before < outside.size; round++) {
    before = outside.size;
    try {
      load(all(), (beginning) => outside.add(beginning));
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
    }
  }
  const refs = [...all()].flatMap(([beginning, folder]) => ['--refs', `${beginning}=${folder}`]);
  const { force, out } = flags;
  const words = ['soapbridge', 'adopt', wsdl, '--out', out, ...refs, ...(force ? ['--force'] : [])];
  return words.map(quoted).join(' ');
}

/** Quotes a word of a command line if a shell would split or change it. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the subfolder of the output folder for each folder of `--refs`. */
function foldersOf(refs: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const all = new Set([...refs.values()].map((folder) => resolve(folder)));
  for (const absolute of [...all].toSorted((one, other) => one.length - other.length)) {
    // A nested folder remains nested, so that each file has only one path.
    const outer = [...folders].findLast(([one]) => absolute.startsWith(one + sep));
    if (outer !== undefined) {
      folders.set(absolute, outer[1] + portableName(absolute.slice(outer[0].length)).replaceAll(sep, '/'));
      continue;
    }
    const plain = `refs/${basename(absolute) || 'root'}`;
    let path = plain;
    for (let count = 2; [...folders.values()].includes(path); count++) path = `${plain}-${count}`;
    folders.set(absolute, path);
  }
  return folders;
}

/** Returns a document's path in the output folder. It is valid on all operating systems. */
function pathOf(file: string, folders: ReadonlyMap<string, string>): string {
  for (const [absolute, path] of folders)
    if (file.startsWith(absolute + sep)) return `${path}/${portableName(file.slice(absolute.length + 1))}`;
  return portableName(file);
}

/** Names of other files in a contract folder, ignoring case, because some file systems ignore it. */
const ownFile = /^(?:(?:soap|openapi|mapping)\.(?:yaml|yml|json)|derived\.openapi\.yaml|names\.lock)$/i;

/** Throws RangeError if a document has the path of another file in the folder. */
function checkPath(path: string, others: ReadonlyMap<string, unknown>): void {
  if (ownFile.test(path))
    throw new RangeError(
      `${path}: expected a document name that the contract folder does not use, got a reserved one. Rename the ` +
        `document and change its imports`,
    );
  if (others.has(path))
    throw new RangeError(
      `${path}: expected one document with this path, got a second one from --refs. Rename one of the folders`,
    );
}

interface Made {
  readonly files: readonly string[];
  readonly loaded: LoadedContract;
  readonly open: readonly OpenPlace[];
}

/** Writes all files to a temporary folder and loads it, which verifies that the result can be read. */
function fill(stage: string, out: string, source: Source, { limits, force }: AdoptFlags): Made {
  const { documents, places, names } = source;
  const files: string[] = [];
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), content);
    files.push(path);
  };
  for (const [path, bytes] of documents) write(path, bytes);
  const there = findFile(out, 'soap');
  // An overlay without keys is replaced by one with the refs.
  const isReplaced =
    force && placesText(places) !== '' && there === join(out, 'soap.yaml') && hasNoKeys(there);
  const kept = isReplaced ? undefined : there;
  const overlay = join(stage, basename(kept ?? 'soap.yaml'));
  writeFileSync(overlay, kept === undefined ? placesText(places) : readFileSync(kept));
  const lock = names === undefined ? undefined : writeNamesLock(names);
  if (lock !== undefined) writeFileSync(join(stage, 'names.lock'), lock);
  const loaded = loadStage(stage, out, source, limits);
  if (kept === undefined) write('soap.yaml', adoptedOverlayText(out, loaded.contract, places));
  const { document, open } = deriveFromContract(loaded.contract);
  write(derivedFile, writeDerivedOpenapi(document));
  write('names.lock', writeNamesLock(names === undefined ? loaded.names : joinNames(loaded.names, names)));
  // load the folder again with its new overlay and names
  const finished = loadStage(stage, out, source, limits);
  return { files, loaded: finished, open };
}

/** Returns true for a YAML file of comments and empty lines. */
function hasNoKeys(file: string): boolean {
  return readFileSync(file, 'utf8')
    .split('\n')
    .every((line) => /^\s*(?:#|$)/.test(line));
}

/**
 * Loads the temporary folder. Problems name the original files, because the output folder is not written in that case.
 * Warnings name the files in the output folder.
 */
function loadStage(
  stage: string,
  out: string,
  { origins, warnings }: Source,
  limits: Limits | undefined,
): LoadedContract {
  const inOut = (file: string): string => file.replace(stage, () => out);
  try {
    const loaded = readContract(stage, limits);
    const notServed = loaded.notServed.map((part) => ({
      ...part,
      reasons: part.reasons.map(({ file, ...reason }) =>
        file === undefined ? reason : { ...reason, file: inOut(file) },
      ),
    }));
    const paths = new Map([...origins].map(([path, origin]) => [origin, path]));
    const ofDocuments = warnings.map((one) => {
      const path = paths.get(one.file);
      return path === undefined ? one : { ...one, file: join(out, path) };
    });
    // A document that could not be read was not copied, so it would only be reported as missing.
    const others = loaded.warnings.filter(({ file }) => !origins.has(pathIn(stage, file)));
    const all = [...ofDocuments, ...others.map((one) => ({ ...one, file: inOut(one.file) }))];
    return { ...loaded, notServed, warnings: all };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw new ContractError(
      error.problems.map((one) => ({
        ...one,
        file: origins.get(pathIn(stage, one.file)) ?? inOut(one.file),
      })),
    );
  }
}

/** Returns the path of a file relative to a folder, with slashes. */
function pathIn(folder: string, file: string): string {
  return relative(folder, file).replaceAll(sep, '/');
}

/** Moves the files to the output folder, each atomically. Returns the changed files. Throws RangeError. */
function moveInto(
  stage: string,
  out: string,
  files: readonly string[],
  { force, out: called }: AdoptFlags,
): readonly string[] {
  if (!existsSync(out)) {
    renameSync(stage, out);
    return files;
  }
  const changed = files.filter((file) => !isSame(join(stage, file), join(out, file)));
  const inside = realpathSync(out);
  for (const file of changed) {
    const place = join(out, file);
    const folder = folderThere(dirname(place));
    if (folder !== inside && !folder.startsWith(inside + sep))
      throw new RangeError(
        `${join(called, file)}: expected a path inside ${called}, got a link to another folder`,
      );
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new RangeError(`${join(called, file)}: expected a file or a new path, got a folder`);
  }
  const there = changed.find((file) => existsSync(join(out, file)));
  if (there !== undefined && !force)
    throw new RangeError(
      `${join(called, there)}: expected no file or an equal one, got a file with other content. Replace it with ` +
        `--force`,
    );
  for (const file of changed) {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    renameSync(join(stage, file), join(out, file));
  }
  return changed;
}

/** Returns the real path of a folder, or of its closest existing parent. */
function folderThere(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folderThere(dirname(folder));
}

function isSame(one: string, other: string): boolean {
  return existsSync(other) && statSync(other).isFile() && readFileSync(one).equals(readFileSync(other));
}

const rules: Readonly<Record<OpenPlace['rule'], string>> = {
  A22: 'elements as XML text',
  A23: 'a value of any type',
  A24: 'inner XML as text',
};

function report(
  { loaded, open }: Made,
  written: readonly string[],
  command: string | undefined,
  { out, json }: AdoptFlags,
): void {
  if (json) {
    printJson({ written: written.map((file) => join(out, file)), contract: summaryOf(loaded), open });
    return;
  }
  printLine(
    `${out}: wrote ${written.length === 0 ? 'nothing, all files are up to date' : written.join(', ')}`,
  );
  printSummary(loaded);
  for (const { place, rule } of open) printLine(`no schema: ${place} (${rules[rule]}, ${rule})`);
  if (command !== undefined)
    printLine(`To read the files outside the folder of the WSDL too, run: ${command} --force`);
  printLine(`Review ${join(out, 'soap.yaml')}, then run: soapbridge check --contract ${out}`);
}
