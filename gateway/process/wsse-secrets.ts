import { statSync } from 'node:fs';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { isPrivate } from '../../mappings/loader/document/private-file.ts';
import { readYamlFile } from '../../mappings/loader/document/yaml.ts';
import type { Secrets } from '../call/digest.ts';

/**
 * Reads the secrets for digests of UsernameTokens: a YAML map of Username to secret. Other users may not have access to
 * the file (W49). Throws ContractError, which gives positions and never secrets.
 */
export function readSecrets(file: string): Secrets {
  const failure = (message: string, pointer = ''): ContractError =>
    new ContractError([{ file, pointer, message }]);
  const problems: ContractProblem[] = [];
  const root = readYamlFile(file, problems)?.root;
  if (problems.length > 0) {
    // A YAML error may quote the text, which may be a secret.
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
    throw failure(isThere ? 'expected valid YAML, got other text' : 'expected a file, got none');
  }
  const stats = statSync(file);
  if (!isPrivate(stats, process.getuid?.()))
    throw failure(
      `expected a file that only its owner can read (chmod 600), got mode ${(stats.mode & 0o777).toString(8)}`,
    );
  if (!isNode(root) || Array.isArray(root))
    throw failure('expected a map of usernames to secrets, got another value');
  const secrets = new Map<string, string>();
  for (const [name, secret] of Object.entries(root)) {
    if (typeof secret !== 'string' || secret === '')
      throw failure('expected a secret, a text in quotes, got none', pointerSegment(name));
    secrets.set(name, secret);
  }
  return secrets;
}
