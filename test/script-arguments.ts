import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Reads the arguments of a script, for example `npm run fuzz`. With `--help` or `-h` it prints the help and exits with
 * 0. For an unknown argument or a missing value it prints one line and exits with 2.
 *
 * @param config config of `parseArgs`, without `help`
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

/** Parses a number. If it is missing or too small, prints one line with its name and exits with 2. */
export function numberOf(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (text === '' || !(value >= least)) endWith(`${name}: expected a number from ${least}, got ${text}`);
  return value;
}

function endWith(problem: string): never {
  console.error(`${problem}; --help shows the options`);
  process.exit(2);
}
