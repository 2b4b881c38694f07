import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { visible } from '../../mappings/loader/document/error.ts';
import { isNode, type Node } from '../../mappings/loader/document/node.ts';
import { findFile, isAdopted } from '../../mappings/loader/load.ts';
import { loadAdoptedContract } from '../../mappings/loader/wsdl/adopted-contract.ts';
import type { MappedAnswer } from '../../mappings/mapping/compiled-entry.ts';
import { type FaultNames, faultNamesOf } from '../../mappings/mapping/faults.ts';
import { type LoadedMapping, loadMapping } from '../../mappings/mapping/load.ts';
import { MappingError } from '../../mappings/mapping/run.ts';
import { usedFunctions, writeTestSkeleton, writeTypes } from '../../mappings/mapping/types.ts';
import { requirePackages } from '../../mappings/optional-packages.ts';
import { deriveFromContract } from '../../wsdl/derived-openapi/document.ts';
import { createCodec, TranslationError } from '../codec.ts';
import { draftMapping } from '../process/draft-mapping.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { limitsOption, refuseTwice } from './options.ts';
import { jsonOption, print, printJson, printLine } from './output.ts';
import { writeWhole } from './write-file.ts';

interface MapFlags {
  readonly contract?: string | undefined;
  readonly openapi?: string;
  readonly mapping?: string;
  readonly limits?: Limits;
  readonly json: boolean;
}

/** Creates the command `soapbridge map`: a mapping between an adopted WSDL and another OpenAPI document (M1 to M7). */
export function mapCommand(): Command {
  const command = new Command('map').description('map a legacy WSDL onto another OpenAPI document');
  for (const subcommand of [checkCommand(), draftCommand(), tryCommand(), typesCommand()])
    command.addCommand(subcommand);
  return command;
}

function checkCommand(): Command {
  return subcommand('check', 'report problems of a mapping, or list its operations')
    .argument(...folderArgument)
    .addHelpText(
      'after',
      helpEnd('soapbridge map check orders', { 0: 'the mapping can be served', 2: wrongInputText }),
    )
    .action((folder: string | undefined, flags: MapFlags, own: Command) =>
      check(withFolder(folder, flags, own)),
    );
}

function draftCommand(): Command {
  return subcommand('draft', 'propose rules for an operation, from names, types and structure')
    .argument('<operation>', 'operation of the WSDL')
    .argument(...folderArgument)
    .option(
      '--call <operation>',
      "operation to call, such as 'POST /orders' (default: the most similar name)",
    )
    .addHelpText(
      'after',
      helpEnd('soapbridge map draft PlaceOrder orders', {
        0: 'every member has a rule',
        1: 'a member has no match',
        2: wrongInputText,
      }),
    )
    .action((name: string, folder: string | undefined, flags: MapFlags, own: Command) =>
      draft(name, withFolder(folder, flags, own)),
    );
}

function tryCommand(): Command {
  return subcommand('try', 'map sample messages and validate the results')
    .argument(
      '<samples...>',
      'optional folder with the WSDL, then envelopes (.xml) or JSON bodies named Operation.json or Operation.NAME.json',
    )
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge map try orders samples/PlaceOrder.xml',
        { 0: 'all results are valid', 1: 'a result is invalid', 2: wrongInputText },
        'The response for a sample X.json or X.xml is X.answer.json in the same folder, or X.answer.404.json with status 404.\n' +
          'A text or binary response has another extension, such as X.answer.pdf.',
      ),
    )
    .action((samples: readonly string[], flags: MapFlags, own: Command) => {
      const [first = '', ...more] = samples;
      const isNamed = own.getOptionValueSource('contract') === 'cli';
      return !isNamed && isAdopted(first)
        ? trySamples(more, withFolder(first, flags, own))
        : trySamples(samples, flags);
    });
}

function typesCommand(): Command {
  return subcommand(
    'types',
    'write TypeScript types for the functions of a mapping, and a skeleton of their tests',
  )
    .requiredOption('--out <dir>', 'folder for mapping-types.ts; existing tests are kept')
    .argument(...folderArgument)
    .addHelpText(
      'after',
      helpEnd('soapbridge map types orders --out orders', {
        0: 'the types were written',
        2: wrongInputText,
      }),
    )
    .action((folder: string | undefined, flags: MapFlags & { readonly out: string }, own: Command) =>
      types(withFolder(folder, flags, own)),
    );
}

const folderArgument = ['[contract]', 'folder with the WSDL, like --contract'] as const;

/**
 * Adds the folder given by position to the flags. It takes precedence over the environment. Throws RangeError if both
 * the position and the flag are given.
 */
function withFolder<Flags extends MapFlags>(
  folder: string | undefined,
  flags: Flags,
  command: Command,
): Flags {
  if (folder === undefined) return flags;
  refuseTwice(folder, 'contract', command);
  return { ...flags, contract: folder };
}

/** Throws RangeError. */
function folderOf({ contract }: MapFlags): string {
  if (contract === undefined)
    throw new RangeError('contract: expected the folder with the WSDL as argument or --contract, got none');
  if (!isAdopted(contract)) throw new RangeError(`contract: expected a folder with a WSDL, got ${contract}`);
  return contract;
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(new Option('-c, --contract <dir>', 'folder with the WSDL').env('SOAPBRIDGE_CONTRACT'))
    .addOption(
      new Option(
        '-o, --openapi <file>',
        'OpenAPI document of the new service (default: openapi.yaml in that folder)',
      ),
    )
    .addOption(new Option('-m, --mapping <file>', 'mapping (default: mapping.yaml in that folder)'))
    .addOption(limitsOption())
    .addOption(jsonOption());
}

/** The two contracts that a mapping connects. */
interface Sides {
  readonly contract: Contract;
  readonly derived: Node;
  readonly faults: FaultNames;
  readonly openapi: string;
  readonly limits: Limits;
}

/** Throws ContractError. */
function sidesOf(flags: MapFlags): Sides {
  const { openapi, limits = defaultLimits } = flags;
  const folder = folderOf(flags);
  const { contract } = loadAdoptedContract(folder, findFile(folder, 'soap'), limits);
  return {
    contract,
    derived: deriveFromContract(contract).document,
    faults: faultNamesOf(contract),
    openapi: openapi ?? findFile(folder, 'openapi') ?? join(folder, 'openapi.yaml'),
    limits,
  };
}

function loaded(flags: MapFlags): Sides & { readonly mapping: LoadedMapping } {
  const sides = sidesOf(flags);
  const folder = folderOf(flags);
  const file = flags.mapping ?? findFile(folder, 'mapping') ?? join(folder, 'mapping.yaml');
  return { ...sides, mapping: loadMapping({ ...sides, mapping: file }, sides.limits) };
}

// --- check -----------------------------------------------------------------------------------------

function check(flags: MapFlags): void {
  const { mapping } = loaded(flags);
  const operations = [...mapping.operations.values()].map(({ name, targets }) => ({ name, targets }));
  const { oneWay, unmapped } = mapping;
  if (flags.json) {
    printJson({ operations, unmapped, oneWay });
    return;
  }
  for (const { name, targets } of operations) printLine(`${name} -> ${targets.join(', or ')}`);
  for (const { pointer, message } of oneWay) printLine(`one direction only: ${pointer} (${message})`);
  if (unmapped.length > 0) printLine(`not mapped: ${unmapped.join(', ')}`);
}

// --- draft -----------------------------------------------------------------------------------------

function draft(name: string, flags: MapFlags & { readonly call?: string }): void {
  const { contract, openapi, limits } = sidesOf(flags);
  const proposed = draftMapping({ contract, openapi, operation: name, call: flags.call, limits });
  const { unmatchedRequest, unmatchedRequired, unmatchedReply, refusals } = proposed;
  if (flags.json)
    printJson({ [name]: proposed.entry, unmatchedRequest, unmatchedRequired, unmatchedReply, refusals });
  else {
    const sections = [
      ['request members without a match (add rules or omit them)', unmatchedRequest],
      ['required members without a match', unmatchedRequired],
      ['reply members without a match', unmatchedReply],
      ['operation that no mapping can call', refusals],
    ] as const;
    const lines = sections
      .filter(([, paths]) => paths.length > 0)
      .map(([title, paths]) => `# ${visible(`${title}: ${paths.join(', ')}`)}\n`);
    print(`# proposed from names, types and structure; review each rule\n${lines.join('')}`);
    // Control characters are written within quotes, where their escapes have the same meaning.
    const rules = stringify({ [name]: proposed.entry }).split('\n');
    print(rules.map(visible).join('\n'));
  }
  if (unmatchedRequest.length + unmatchedRequired.length + refusals.length > 0) process.exitCode = finding;
}

// --- try -------------------------------------------------------------------------------------------

/** Result of a sample. */
interface Tried {
  readonly sample: string;
  readonly operation?: string;
  readonly calls?: readonly {
    readonly method: string;
    readonly path: string;
    readonly body: string | undefined;
  }[];
  readonly reply?: string;
  readonly problems: readonly string[];
}

async function trySamples(samples: readonly string[], flags: MapFlags): Promise<void> {
  const all = loaded(flags);
  const files = samples.flatMap(filesOf);
  if (files.length === 0)
    throw new RangeError(`samples: expected at least one, got none in ${samples.join(', ')}`);
  const validate = await validator();
  const tried: Tried[] = [];
  for (const sample of files) tried.push(tryOne(sample, all, validate));
  if (flags.json) printJson({ samples: tried });
  else for (const one of tried) printTried(one);
  if (tried.some(({ problems }) => problems.length > 0)) process.exitCode = finding;
}

/** Suffix of an answer file's name, with its status unless that is 200. */
const answerForm = /\.answer(?:\.(\d{3}))?\.\w+$/;

/** Reads the answer file of a sample; undefined if there is none. */
function readAnswer(sample: string): MappedAnswer | undefined {
  const stem = basename(sample).replace(/\.(?:json|xml)$/, '');
  const name = readdirSync(dirname(sample))
    .toSorted()
    .find((one) => one.startsWith(`${stem}.answer.`) && answerForm.exec(one)?.index === stem.length);
  if (name === undefined) return undefined;
  const status = Number(answerForm.exec(name)?.[1] ?? 200);
  return { status, headers: {}, body: readFileSync(join(dirname(sample), name)) };
}

/** Returns the samples at a path. Answer files are skipped, because a shell expands `DIR/*` to them, too. */
function filesOf(path: string): readonly string[] {
  if (!existsSync(path))
    throw new RangeError(`samples: expected a file or a folder, got ${path}, which does not exist`);
  if (answerForm.test(path)) return [];
  if (/\.(?:json|xml)$/.test(path)) return [path];
  return readdirSync(path)
    .filter((name) => /\.(?:json|xml)$/.test(name) && !answerForm.test(name))
    .toSorted()
    .map((name) => join(path, name));
}

/** Runs one sample. It is one function, because each step returns the results so far. */
function tryOne(
  sample: string,
  { contract, derived, mapping, limits }: ReturnType<typeof loaded>,
  validate: Validate,
): Tried {
  try {
    const { name, json } = readSample(sample, contract, limits);
    const operation = mapping.operations.get(name);
    if (operation === undefined)
      return {
        sample,
        operation: name,
        problems: [`expected a mapped operation, got ${name}${didYouMean(name, mapping.operations.keys())}`],
      };
    const { openapi } = mapping.text;
    const request = operation.toCalls(json);
    const target = operation.calls[request.entry];
    const calls = request.calls.map(({ method, path, body }) => ({ method, path, body }));
    const problems = calls.flatMap(({ body }) =>
      body === undefined ? [] : validate(openapi, target?.schemas.body, body).map((why) => `call: ${why}`),
    );
    const answer = readAnswer(sample);
    if (answer === undefined) return { sample, operation: name, calls, problems };
    const isGood = answer.status >= 200 && answer.status <= 299;
    const fault = isGood ? undefined : operation.toFault(request.entry, answer);
    if (!isGood && fault === undefined && !request.takesErrors) {
      const own =
        `expected a declared fault for status ${answer.status}, got none. The caller receives the ` +
        `error itself`;
      return { sample, operation: name, calls, problems: [...problems, own] };
    }
    if (fault !== undefined) {
      const unfit = validate(derived, operation.old.schemas.fault, fault).map((why) => `fault: ${why}`);
      return { sample, operation: name, calls, reply: fault, problems: [...problems, ...unfit] };
    }
    const wrong =
      !isGood || target?.replyForm !== 'json' || answer.body.length === 0
        ? []
        : validate(openapi, target.schemas.reply, answer.body.toString()).map((why) => `answer: ${why}`);
    const reply = operation.toReply(
      request.entry,
      calls.map(() => answer),
    );
    const unfit = validate(derived, operation.old.schemas.reply, reply).map((why) => `reply: ${why}`);
    return { sample, operation: name, calls, reply, problems: [...problems, ...wrong, ...unfit] };
  } catch (error) {
    if (error instanceof MappingError || error instanceof JsonError || error instanceof TranslationError)
      return { sample, problems: [error.message] };
    throw error;
  }
}

/** Reads the operation and the JSON body of a sample. Throws TranslationError. */
function readSample(
  sample: string,
  contract: Contract,
  limits: Limits,
): { readonly name: string; readonly json: string } {
  const bytes = readFileSync(sample);
  if (sample.endsWith('.json'))
    return { name: basename(sample).split('.')[0] ?? '', json: bytes.toString('utf8') };
  const { operation, json } = createCodec(compileContract(contract, limits)).xmlToJson(bytes, 'text/xml');
  return { name: operation, json };
}

function printTried({ sample, operation, calls = [], reply, problems }: Tried): void {
  printLine(`${sample}: ${operation ?? 'rejected'}${problems.length === 0 ? ', valid' : ''}`);
  for (const { method, path, body } of calls) {
    printLine(`  ${method} ${path}`);
    if (body !== undefined) printLine(`  ${body}`);
  }
  if (reply !== undefined) printLine(`  reply: ${reply}`);
  for (const problem of problems) printLine(`  ${problem}`);
}

/**
 * Validates a JSON text by a schema of a document and returns the problems. Numbers have the precision of JavaScript.
 */
type Validate = (root: Node, schema: unknown, json: string) => readonly string[];

/** Loads the validator on demand, because it generates code. */
async function validator(): Promise<Validate> {
  requirePackages('samples');
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  return (root, schema, json) => {
    if (!isNode(schema)) return [];
    // Formats are not validated, because the validator does not know a document's own formats.
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: false,
      validateSchema: false,
      logger: false,
    });
    try {
      const check = ajv.compile({ allOf: [schema], components: root.components });
      if (check(JSON.parse(json))) return [];
      return (check.errors ?? [])
        .slice(0, 20)
        .map((one) => `${one.instancePath || 'the body'} ${one.message ?? ''}`);
    } catch (error) {
      return [`validation failed: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
}

// --- types -----------------------------------------------------------------------------------------

function types(flags: MapFlags & { readonly out: string }): void {
  const { mapping } = loaded(flags);
  const written = [join(flags.out, 'mapping-types.ts')];
  writeWhole(written[0] ?? '', writeTypes(mapping));
  for (const [module, names] of usedFunctions(mapping.entries)) {
    const file = join(flags.out, basename(module).replace(/\.(ts|js)$/, '.test.$1'));
    if (existsSync(file)) continue;
    writeWhole(file, writeTestSkeleton(`./${basename(module)}`, names));
    written.push(file);
  }
  if (flags.json) printJson({ written });
  else for (const file of written) printLine(`wrote ${file}`);
}
