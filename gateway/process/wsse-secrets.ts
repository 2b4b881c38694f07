import { statSync } from 'node:fs';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { readYamlFile } from '../../mappings/loader/document/yaml.ts';
import type { Secrets } from '../call/digest.ts';

/** What others may do with the file. */
const ofOthers = 0o077;

/**
 * The secrets that digests of UsernameTokens are checked by: a YAML map of Username to secret, in a file that its owner alone
 * may read (W49). Throws ContractError, which says where and never what.
 */
export function readSecrets(file: string): Secrets {
  const failure = (message: string, pointer = ''): ContractError =>
    new ContractError([{ file, pointer, message }]);
  const problems: ContractProblem[] = [];
  const root = readYamlFile(file, problems)?.root;
  if (problems.length > 0) {
    // what is said of text that isn't YAML may quote it
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
    throw failure(isThere ? 'expected YAML that can be read, got other text' : 'expected a file, got none');
  }
  const { mode } = statSync(file);
  if ((mode & ofOthers) !== 0)
    throw failure(
      `expected a file that its owner alone may read (chmod 600), got mode ${(mode & 0o777).toString(8)}`,
    );
  if (!isNode(root) || Array.isArray(root))
    throw failure('expected a map of Username to secret, got something else');
  const secrets = new Map<string, string>();
  for (const [name, secret] of Object.entries(root)) {
    if (typeof secret !== 'string' || secret === '')
      throw failure('expected a secret, a text in quotes, got none', pointerSegment(name));
    secrets.set(name, secret);
  }
  return secrets;
}
