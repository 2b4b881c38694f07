import { Command } from 'commander';
import { readVersion } from '../process/version.ts';
import { checkEnvironment, knownVariables } from './environment.ts';
import { fail, wrongInput } from './failure.ts';
import { printError, printErrorsAsLog, printJson } from './output.ts';
import { serveCommand } from './serve.ts';

/** The commands by name, in the order of the help. A command's modules are loaded only if they are needed. */
export const commands: Readonly<Record<string, () => Command | Promise<Command>>> = {
  serve: serveCommand,
  check: async () => (await import('./check.ts')).checkCommand(),
  wsdl: async () => (await import('./wsdl.ts')).wsdlCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  adopt: async () => (await import('./adopt.ts')).adoptCommand(),
  map: async () => (await import('./map.ts')).mapCommand(),
  names: async () => (await import('./names.ts')).namesCommand(),
  diff: async () => (await import('./diff.ts')).diffCommand(),
  translate: async () => (await import('./translate.ts')).translateCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  kit: async () => (await import('./kit.ts')).kitCommand(),
  routes: async () => (await import('./routes.ts')).routesCommand(),
  usage: async () => (await import('./usage.ts')).usageCommand(),
  report: async () => (await import('./report.ts')).reportCommand(),
  forget: async () => (await import('./forget.ts')).forgetCommand(),
  record: async () => (await import('./record.ts')).recordCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  'admin-token': async () => (await import('./admin-token.ts')).adminTokenCommand(),
};

/** Runs the command line. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('soapbridge')
    .description('Puts a SOAP interface (SOAP 1.1, SOAP 1.2, plain XML) in front of a JSON service.')
    .version(readVersion());
  for (const create of commandsFor(argv[2])) program.addCommand(await create());
  const isJson = argv.includes('--json');
  // The output of a service that runs without a terminal is a log, so its start errors are JSON lines, too.
  const isLog = argv[2] === 'serve' && !process.stdout.isTTY;
  if (isLog) printErrorsAsLog();
  const nested = program.commands.flatMap(({ commands }) => commands);
  const all = [program, ...program.commands, ...nested];
  const known = knownVariables(all);
  program.hook('preAction', (_program, command) => checkEnvironment(command, known));
  for (const command of all) {
    if (isJson) command.configureOutput({ outputError: printAsProblem });
    else if (isLog) command.configureOutput({ outputError: (text) => printError(withoutPrefix(text)) });
    else command.showHelpAfterError('(list the options with --help)');
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : wrongInput));
  }
  process.stdout.on('error', stopPrinting);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    fail(error, isJson);
  }
}

/**
 * Returns the command that the first argument names, and `serve`, which has all variables that the other commands have.
 * Returns all commands for the help and for an unknown command.
 */
function commandsFor(first = ''): readonly (typeof commands)[string][] {
  const named = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (named === undefined) return Object.values(commands);
  return named === serveCommand ? [named] : [serveCommand, named];
}

/** Prints a command line error as JSON, like the other errors with `--json`. */
function printAsProblem(text: string): void {
  printJson({ problems: [{ message: withoutPrefix(text) }] });
}

function withoutPrefix(text: string): string {
  return text.replace(/^error: /, '').trimEnd();
}

/**
 * Handles errors of standard output. If the reader has closed it, as `head` does, the program ends normally. Any other
 * error, for example a full disk, is reported.
 */
function stopPrinting({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit();
  printError(`standard output: expected a writable output, got ${code}`);
  process.exit(wrongInput);
}
