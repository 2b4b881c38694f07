import { Command } from 'commander';
import { adminTokenCommand } from '../../gateway/commands/admin-token.ts';
import { adoptCommand } from '../../gateway/commands/adopt.ts';
import { checkCommand } from '../../gateway/commands/check.ts';
import { diffCommand } from '../../gateway/commands/diff.ts';
import { explainCommand } from '../../gateway/commands/explain.ts';
import { forgetCommand } from '../../gateway/commands/forget.ts';
import { initCommand } from '../../gateway/commands/init.ts';
import { kitCommand } from '../../gateway/commands/kit.ts';
import { mapCommand } from '../../gateway/commands/map.ts';
import { namesCommand } from '../../gateway/commands/names.ts';
import { recordCommand } from '../../gateway/commands/record.ts';
import { replayCommand } from '../../gateway/commands/replay.ts';
import { reportCommand } from '../../gateway/commands/report.ts';
import { routesCommand } from '../../gateway/commands/routes.ts';
import { serveCommand } from '../../gateway/commands/serve.ts';
import { translateCommand } from '../../gateway/commands/translate.ts';
import { usageCommand } from '../../gateway/commands/usage.ts';
import { wsdlCommand } from '../../gateway/commands/wsdl.ts';

/** The commands of soapbridge, which parse a command line and do nothing else. */
function createParser(): Command {
  const program = new Command('soapbridge').version('1.0.0');
  for (const create of [
    ...[
      routesCommand,
      reportCommand,
      adminTokenCommand,
      adoptCommand,
      checkCommand,
      diffCommand,
      explainCommand,
      initCommand,
      kitCommand,
    ],
    ...[forgetCommand, recordCommand, replayCommand],
    ...[mapCommand, namesCommand, serveCommand, translateCommand, usageCommand, wsdlCommand],
  ])
    program.addCommand(create());
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap(({ commands }) => commands),
  ]) {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
  }
  return program;
}

/** Splits a line of a shell script into words, without comments. Quotes are removed; variables stay as they are. */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/#.*|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)) {
    if (word.startsWith('#')) break;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return words;
}

/** The commands of a shell script: its lines, continued lines as one, split at `&&`, `||` and pipes. */
export function commandsOf(script: string): readonly (readonly string[])[] {
  return script
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => split(wordsOf(line)))
    .filter((words) => words.length > 0);
}

function split(words: readonly string[]): string[][] {
  const commands: string[][] = [[]];
  for (const word of words) {
    if (['&&', '||', '|', ';'].includes(word)) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands;
}

/** The arguments of soapbridge in a command, without redirections; undefined for another program. */
export function soapbridgeArguments(words: readonly string[]): readonly string[] | undefined {
  const at = words.indexOf('soapbridge');
  const before = words.slice(0, at).every((word) => /^(?:npx|env|-u|[A-Z_]+(?:=.*)?)$/.test(word));
  if (at < 0 || !before) return undefined;
  const end = words.findIndex((word) => /^[<>]/.test(word));
  return words.slice(at + 1, end < 0 ? undefined : end);
}

/** Parses the arguments of soapbridge. Returns the error of the command line, or undefined if it is valid. */
export function parseProblem(words: readonly string[]): string | undefined {
  try {
    createParser().parse(words, { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return error.code === 'commander.helpDisplayed' ? undefined : error.message;
  }
}

/** The options of an incomplete command line that its command does not have; undefined if there is no such command. */
export function unknownOptions(words: readonly string[]): readonly string[] | undefined {
  let command: Command | undefined = createParser();
  const names = words.filter((word) => /^[a-z]+$/.test(word));
  command = command.commands.find((each) => each.name() === names[0]);
  command = command?.commands.find((each) => each.name() === names[1]) ?? command;
  const known = [...(command?.options ?? []), { long: '--help', short: '-h' }].flatMap(({ long, short }) => [
    long,
    short,
  ]);
  if (command === undefined) return undefined;
  return words
    .filter((word) => /^--?[a-z]/.test(word))
    .filter((word) => !known.includes(word.replace(/=.*/, '')));
}
