import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { fail, wrongInput } from './failure.ts';

/** The commands, each in a file of its own: to load all of them would take half as long as it takes to serve. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  wsdl: async () => (await import('./wsdl.ts')).wsdlCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  diff: async () => (await import('./diff.ts')).diffCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  adopt: async () => (await import('./adopt.ts')).adoptCommand(),
  map: async () => (await import('./map.ts')).mapCommand(),
  names: async () => (await import('./names.ts')).namesCommand(),
  translate: async () => (await import('./translate.ts')).translateCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  kit: async () => (await import('./kit.ts')).kitCommand(),
};

/** Runs the command line. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('soapbridge')
    .description('Gives a JSON API a SOAP face: SOAP 1.1, SOAP 1.2 and plain XML in front, JSON behind.')
    .version(readVersion());
  const [, , asked = ''] = argv;
  // help, and what is said of a wrong name, is about all of them
  const names = Object.hasOwn(commands, asked) ? [asked] : Object.keys(commands);
  for (const name of names) program.addCommand(await (commands[name] as () => Promise<Command>)());
  const nested = program.commands.flatMap(({ commands }) => commands);
  for (const command of [program, ...program.commands, ...nested]) {
    command
      .showHelpAfterError('(add --help for what there is)')
      .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : wrongInput));
  }
  process.stdout.on('error', stopUnread);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    fail(error, argv.includes('--json'));
  }
}

/** Whoever reads what is printed has read enough, as `head` does: the rest isn't wanted. */
function stopUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

function readVersion(): string {
  const here = import.meta.dirname;
  const root = here.endsWith('/dist/gateway/commands') ? '../../..' : '../..';
  const manifest: { version: string } = JSON.parse(readFileSync(`${here}/${root}/package.json`, 'utf8'));
  return manifest.version;
}
