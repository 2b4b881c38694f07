import { Command, InvalidArgumentError, Option } from 'commander';
import { createToken, type Role, roles, tokenName } from '../admin/tokens.ts';
import { printLine } from './output.ts';

/** Maximum validity of a token, in days. */
const mostDays = 3_650;

/** Creates the command `soapbridge admin-token`. */
export function adminTokenCommand(): Command {
  return new Command('admin-token')
    .description('create a token for the admin listener, and its entry for the token file')
    .addOption(
      new Option('--name <name>', 'name of the user or program').makeOptionMandatory().argParser(toName),
    )
    .addOption(
      new Option('--role <role>', 'permitted requests; change includes read').choices(roles).default('read'),
    )
    .addOption(
      new Option('--days <number>', 'days after which the token expires').default(90).argParser(toDays),
    )
    .addHelpText(
      'after',
      `
The token is printed once. The token file has only its SHA-256.

Example: soapbridge admin-token --name ann --role change`,
    )
    .action(printToken);
}

function printToken(options: { readonly name: string; readonly role: Role; readonly days: number }): void {
  const { token, entry } = createToken(options, Date.now());
  for (const line of [
    'Token, which is not shown again:',
    token,
    '',
    'Entry for the file in admin.tokens:',
    entry,
  ])
    printLine(line);
}

function toName(text: string): string {
  if (!tokenName.test(text))
    throw new InvalidArgumentError('expected 1 to 64 letters, digits, ".", "_" and "-".');
  return text;
}

function toDays(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > mostDays)
    throw new InvalidArgumentError(`expected a number from 1 to ${mostDays}.`);
  return days;
}
