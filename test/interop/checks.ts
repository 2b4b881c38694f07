import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExact } from './exact-json.ts';

export type Version = '1.1' | '1.2';
/** A value printed by a client: text, or null if its API reports no value. */
export type Printed = string | null;

/** One call and its expected effects on both sides: a row of `checks.json`. */
export interface Check {
  readonly operation: string;
  /** Purpose of the call, or `call` for a plain call of the operation. */
  readonly situation: string;
  /** The operation's inputs by XML name, without credentials. */
  readonly input: object;
  /**
   * The expected JSON for the upstream, without credentials. Absent if another row checks it. Expected nulls must be
   * sent. Other nulls are allowed, since many stacks write null for absent values.
   */
  readonly upstream?: object;
  /** True if only the nulls of `upstream` are allowed. */
  readonly exact?: boolean;
  readonly reply?: { readonly status: number; readonly data: object };
  /** Expected values by path below the reply's `Data`; by SOAP version if they differ. */
  readonly read: Readonly<Record<string, Printed | Readonly<Record<Version, string>>>>;
}

/** The `Authentication` that every client sends. */
export const credentials = { apiUserId: 'demo', apiUserKey: 'demo-key' };

export const checksFile = join(import.meta.dirname, 'checks.json');
export const checks = readExact(readFileSync(checksFile, 'utf8')) as readonly Check[];

/** The import of the WSDL by the stack's own tool: the first check of each client. */
export const importCheck: Pick<Check, 'operation' | 'situation' | 'read'> = {
  operation: '',
  situation: 'import',
  read: {},
};

/** Returns the name of a check in reports and known gaps: its operation for a plain call, otherwise its situation. */
export function nameOf({ operation, situation }: Pick<Check, 'operation' | 'situation'>): string {
  return situation === 'call' ? operation : situation;
}

/** One line of a client's output. */
export interface Line {
  readonly operation?: string;
  readonly situation: string;
  /** The values in the order of the check's `read`. */
  readonly got?: readonly Printed[];
  /** Reason why nothing was read. */
  readonly error?: string;
}

/** Returns a description of the difference, or undefined if the client read the expected values. */
export function problemOf(check: Pick<Check, 'read'>, version: Version, line: Line): string | undefined {
  if (line.got === undefined) return `expected a reply, got ${line.error ?? 'neither values nor an error'}`;
  const paths = Object.entries(check.read);
  if (line.got.length !== paths.length) return `expected ${paths.length} values, got ${line.got.length}`;
  for (const [index, [path, stated]] of paths.entries()) {
    const expected = stated === null || typeof stated === 'string' ? stated : stated[version];
    const got = line.got[index] ?? null;
    if (!isSame(expected, got)) {
      return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
    }
  }
  return undefined;
}

/** A double with an exponent, whose text differs between languages. */
const exponent = /^-?[\d.]+e-?\d+$/;
const zoned = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Compares texts by character, and dates with a zone by instant. */
function isSame(expected: Printed, got: Printed): boolean {
  if (expected === null || got === null) return expected === got;
  if (exponent.test(expected)) return got.trim() !== '' && Number(got) === Number(expected);
  if (zoned.test(expected)) return zoned.test(got) && Date.parse(expected) === Date.parse(got);
  // a fault's text ends with the id of its request
  return expected === got.replace(/ \(request [^)]*\)$/, '');
}
