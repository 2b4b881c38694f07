import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Reads the arguments of a script, such as `npm run fuzz`. Prints the help and ends the process with 0 at `--help` or
 * `-h`. Prints one line and ends it with 2 where an argument is unknown or its value is missing.
 *
 * @param config of `parseArgs`, without `help`
 */
export function scriptArguments<const Config extends ParseArgsConfig>(
  help: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const given = process.argv.slice(2);
  if (given.includes('--help') || given.includes('-h')) {
    console.log(help);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    if (error instanceof TypeError) endWith(error.message.replace(/\.\s[\s\S]*$/, ''));
    throw error;
  }
}

/** A value as a number, with its name for the message. Prints one line and ends the process with 2 where it is none or too small. */
export function numberOf(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (text === '' || !(value >= least)) endWith(`${name}: expected a number from ${least}, got ${text}`);
  return value;
}

function endWith(problem: string): never {
  console.error(`${problem}; --help shows the options`);
  process.exit(2);
}
