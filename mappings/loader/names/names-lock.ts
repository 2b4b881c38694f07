import { existsSync } from 'node:fs';
import { map, record, text } from '../../contract/setting.ts';
import type { Allowance } from '../document/allowance.ts';
import { type ContractProblem, pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readSettings } from '../document/settings-file.ts';
import { readYamlFile } from '../document/yaml.ts';
import { byCodeUnit, type ContractNames, folded, type Names } from './names.ts';

const names = map(
  'Names by the items that they name.',
  '`pointer: name`',
  text('A name.', 'the name of an XML element', /^[\p{L}_][\p{L}\p{N}._-]*$/u),
);

/** The content of a `names.lock`. */
const lockSettings = record('Names that clients compile in.', {
  service: text('The service.', 'an identifier', /^[A-Za-z_]\w*$/),
  operations: names,
  types: names,
  members: names,
});

/**
 * Reads a `names.lock`. Returns undefined if there is none. Errors are added to `problems`.
 *
 * @param fold maps names that would collide in generated code to the same text
 */
export function readNamesLock(
  path: string,
  problems: ContractProblem[],
  allowance?: Allowance,
  fold: (name: string) => string = folded,
): ContractNames | undefined {
  if (!existsSync(path)) return undefined;
  const file = readYamlFile(path, problems, allowance);
  if (file === undefined) return undefined;
  const report: Report = (pointer, message) => {
    problems.push({ file: path, pointer, message });
  };
  const lock = readSettings(lockSettings, file.root, '', report) ?? {};
  checkUnique('operations', lock.operations, fold, report);
  checkUnique('types', lock.types, fold, report);
  const { service, operations = new Map(), types = new Map(), members = new Map() } = lock;
  return { service, operations, types, members };
}

/** Reports names that collide in generated code. `names.lock` may be edited by hand. */
function checkUnique(
  kind: 'operations' | 'types',
  given: Names | undefined,
  fold: (name: string) => string,
  report: Report,
): void {
  const keys = new Map<string, string>();
  for (const [key, name] of given ?? []) {
    if (key.endsWith('=')) continue; // merged types share a name
    const other = keys.get(fold(name));
    if (other !== undefined)
      report(
        `/${kind}${pointerSegment(key)}`,
        `expected a name other than the name of ${other}, got ${shown(name)}`,
      );
    keys.set(fold(name), key);
  }
}

/** Returns the text of a `names.lock`: JSON with one name a line, sorted by key. */
export function writeNamesLock({ service, operations, types, members }: ContractNames): string {
  const sorted = (of: Names): object => Object.fromEntries([...of].toSorted(([a], [b]) => byCodeUnit(a, b)));
  const lock = { service, operations: sorted(operations), types: sorted(types), members: sorted(members) };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** Merges two sets of names. The first takes precedence. */
export function joinNames(names: ContractNames, others: ContractNames): ContractNames {
  return {
    service: names.service ?? others.service,
    operations: new Map([...others.operations, ...names.operations]),
    types: new Map([...others.types, ...names.types]),
    members: new Map([...others.members, ...names.members]),
  };
}
