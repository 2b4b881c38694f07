import { existsSync } from 'node:fs';
import { map, record, text } from '../../contract/setting.ts';
import type { Allowance } from '../document/allowance.ts';
import { type ContractProblem, pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readSettings } from '../document/settings-file.ts';
import { readYamlFile } from '../document/yaml.ts';
import { byCodeUnit, type ContractNames, folded, type Names } from './names.ts';

const names = map(
  'Names by what they are of.',
  '`pointer: name`',
  text('A name.', 'the name of an XML element', /^[\p{L}_][\p{L}\p{N}._-]*$/u),
);

/** The content of a `names.lock`. */
const lockSettings = record('Names that callers have compiled in.', {
  service: text('The service.', 'an identifier', /^[A-Za-z_]\w*$/),
  operations: names,
  types: names,
  members: names,
});

/**
 * What a `names.lock` keeps; undefined where there is none. What is wrong with it is added to `problems`; `fold` makes the
 * same of names that can't both be.
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

/** Names may be changed by hand; two that generators would take for one are no names. */
function checkUnique(
  kind: 'operations' | 'types',
  given: Names | undefined,
  fold: (name: string) => string,
  report: Report,
): void {
  const keys = new Map<string, string>();
  for (const [key, name] of given ?? []) {
    if (key.endsWith('=')) continue; // each of equal types has the name of all
    const other = keys.get(fold(name));
    if (other !== undefined)
      report(`/${kind}${pointerSegment(key)}`, `expected a name unlike that of ${other}, got ${shown(name)}`);
    keys.set(fold(name), key);
  }
}

/** The text of a `names.lock`: JSON with one name a line, in an order that hangs on the names alone. */
export function writeNamesLock({ service, operations, types, members }: ContractNames): string {
  const sorted = (of: Names): object => Object.fromEntries([...of].toSorted(([a], [b]) => byCodeUnit(a, b)));
  const lock = { service, operations: sorted(operations), types: sorted(types), members: sorted(members) };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** Those of one set of names with those of another that the first lacks. */
export function joinNames(names: ContractNames, others: ContractNames): ContractNames {
  return {
    service: names.service ?? others.service,
    operations: new Map([...others.operations, ...names.operations]),
    types: new Map([...others.types, ...names.types]),
    members: new Map([...others.members, ...names.members]),
  };
}
