import { readFileSync, statSync } from 'node:fs';
import { choice, list, map, record, text } from '../../mappings/contract/setting.ts';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { readSettings } from '../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import { type Callers, createCallers } from '../telemetry/callers.ts';

/** Schema of `callers.yaml`. */
const callerSettings = map(
  'Names of callers with their ids or pseudonyms.',
  '`name: [ids]`',
  list(
    'Ids and pseudonyms of a caller.',
    'ids',
    choice(
      'An id, or the pseudonym of a caller with a secret credential.',
      text('User name of the caller, not a secret key.', 'an id, a text in quotes'),
      record('Pseudonym of a caller.', {
        pseudonym: text(
          'Pseudonym from the log, made with the same SOAPBRIDGE_CALLER_KEY.',
          'a pseudonym of 16 letters, digits, - and _',
          /^[\w-]{16}$/,
        ),
      }),
    ),
  ),
);

/** Files with names and pseudonyms of callers. */
export interface CallerFiles {
  /** Path of `callers.yaml`; undefined if callers have no names. */
  readonly callers?: string | undefined;
  /** File with the key of the pseudonyms, at least 16 bytes. If undefined, each start creates a new key. */
  readonly callerKey?: string | undefined;
}

const callerName = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** Label in the metrics for all callers without a series of their own. */
const reserved = 'other';
const leastKeyBytes = 16;
const mostKeyBytes = 4_096;

/** Reads both files. Throws ContractError, which gives positions and never the key. */
export function readCallers({ callers, callerKey }: CallerFiles): Callers {
  const key = callerKey === undefined ? undefined : readKey(callerKey);
  const namesById = new Map<string, string>();
  const namesByPseudonym = new Map<string, string>();
  if (callers !== undefined) {
    const problems: ContractProblem[] = [];
    const report = (pointer: string, message: string): void => {
      problems.push({ file: callers, pointer, message });
    };
    const root = readYamlFile(callers, problems)?.root;
    const named = readSettings(callerSettings, root ?? {}, '', report) ?? new Map();
    for (const [name, ids] of named) {
      const at = pointerSegment(name);
      if (!callerName.test(name) || name === reserved)
        report(at, `expected a name of letters, digits, ".", "_" and "-", other than ${reserved}`);
      for (const [index, id] of ids.entries()) {
        const names = typeof id === 'string' ? namesById : namesByPseudonym;
        const value = typeof id === 'string' ? id : id.pseudonym;
        if (value === undefined) report(`${at}/${index}`, 'expected an id or a pseudonym, got none');
        else if (names.has(value))
          report(`${at}/${index}`, 'expected an id of one caller, got an id of two callers');
        else names.set(value, name);
        if (typeof id !== 'string' && key === undefined)
          report(
            `${at}/${index}`,
            'expected SOAPBRIDGE_CALLER_KEY for a pseudonym, got none. Without it pseudonyms change at each start',
          );
      }
    }
    if (problems.length > 0) throw new ContractError(withLines(problems));
  }
  return createCallers({ key, namesById, namesByPseudonym });
}

/** Reads the bytes of a key. Throws ContractError. */
function readKey(file: string): Buffer {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) throw failure(file, 'expected a file with a key, got an empty file');
  if (stats.size > mostKeyBytes)
    throw failure(file, `expected a key of at most ${mostKeyBytes} bytes, got a longer key`);
  const key = readFileSync(file);
  if (key.length < leastKeyBytes)
    throw failure(file, `expected a key of at least ${leastKeyBytes} bytes, got ${key.length}`);
  return key;
}

function failure(file: string, message: string): ContractError {
  return new ContractError([{ file, pointer: '', message }]);
}
