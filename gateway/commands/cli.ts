import { Command } from 'commander';
import { readVersion } from '../process/version.ts';
import { adminTokenCommand } from './admin-token.ts';
import { adoptCommand } from './adopt.ts';
import { checkCommand } from './check.ts';
import { diffCommand } from './diff.ts';
import { checkEnvironment, knownVariables } from './environment.ts';
import { explainCommand } from './explain.ts';
import { fail, wrongInput } from './failure.ts';
import { initCommand } from './init.ts';
import { kitCommand } from './kit.ts';
import { mapCommand } from './map.ts';
import { namesCommand } from './names.ts';
import { printError, printJson } from './output.ts';
import { serveCommand } from './serve.ts';
import { translateCommand } from './translate.ts';
import { wsdlCommand } from './wsdl.ts';

/** Runs the command line. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('soapbridge')
    .description('Puts a SOAP interface (SOAP 1.1, SOAP 1.2, plain XML) in front of a JSON service.')
    .version(readVersion());
  for (const command of [
    serveCommand(),
    checkCommand(),
    wsdlCommand(),
    initCommand(),
    adoptCommand(),
    mapCommand(),
    namesCommand(),
    diffCommand(),
    translateCommand(),
    explainCommand(),
    kitCommand(),
    adminTokenCommand(),
  ]) {
    program.addCommand(command);
  }
  const isJson = argv.includes('--json');
  const nested = program.commands.flatMap(({ commands }) => commands);
  const all = [program, ...program.commands, ...nested];
  const known = knownVariables(all);
  program.hook('preAction', (_program, command) => checkEnvironment(command, known));
  for (const command of all) {
    if (isJson) command.configureOutput({ outputError: printAsProblem });
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

/** Prints a command line error as JSON, like the other errors with `--json`. */
function printAsProblem(text: string): void {
  printJson({ problems: [{ message: text.replace(/^error: /, '').trimEnd() }] });
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
