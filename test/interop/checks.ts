import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExact } from './exact-json.ts';

export type Version = '1.1' | '1.2';
/** A value as a client prints it: text, or null where its API says that there is none. */
export type Printed = string | null;

/** One call and what must come of it on both sides: a row of `checks.json`. */
export interface Check {
  readonly operation: string;
  /** What the call is to show; `call` where it's the operation itself. */
  readonly situation: string;
  /** The operation's inputs by their XML names, credentials aside. */
  readonly input: object;
  /**
   * The JSON that the service behind must get, credentials aside; absent where another row says it. A null must come;
   * others may, as many stacks write null for what the caller leaves out.
   */
  readonly upstream?: object;
  /** No null may come but those in `upstream`. */
  readonly exact?: boolean;
  readonly reply?: { readonly status: number; readonly data: object };
  /** What the client must read, by path below the reply's `Data`; by SOAP version where that differs. */
  readonly read: Readonly<Record<string, Printed | Readonly<Record<Version, string>>>>;
}

/** What every client sends as `Authentication`. */
export const credentials = { apiUserId: 'demo', apiUserKey: 'demo-key' };

export const checksFile = join(import.meta.dirname, 'checks.json');
export const checks = readExact(readFileSync(checksFile, 'utf8')) as readonly Check[];

/** The WSDL taken in by the stack's own tool: the first thing that each client shows. */
export const importCheck: Pick<Check, 'operation' | 'situation' | 'read'> = {
  operation: '',
  situation: 'import',
  read: {},
};

/** What reports and known gaps call a check: its operation for a plain call, else its situation. */
export function nameOf({ operation, situation }: Pick<Check, 'operation' | 'situation'>): string {
  return situation === 'call' ? operation : situation;
}

/** One line that a client prints. */
export interface Line {
  readonly operation?: string;
  readonly situation: string;
  /** The values read, in the order of the check's `read`. */
  readonly got?: readonly Printed[];
  /** Why nothing could be read. */
  readonly error?: string;
}

/** Undefined where the client read what it must, else the sentence that says what it did instead. */
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

/** A double with an exponent, which each language writes in its own form. */
const exponent = /^-?[\d.]+e-?\d+$/;
const zoned = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Texts are the same to the character, dates with a zone when they are the same instant. */
function isSame(expected: Printed, got: Printed): boolean {
  if (expected === null || got === null) return expected === got;
  if (exponent.test(expected)) return got.trim() !== '' && Number(got) === Number(expected);
  if (zoned.test(expected)) return zoned.test(got) && Date.parse(expected) === Date.parse(got);
  // a fault's text ends with the id of its request
  return expected === got.replace(/ \(request [^)]*\)$/, '');
}
