import { readFileSync } from 'node:fs';
import { at } from '../../clients/calls.ts';

/** The parts of a row of checks.json that a client uses. */
interface Row {
  readonly operation: string;
  readonly situation: string;
  readonly input: object;
  readonly read: Readonly<Record<string, unknown>>;
}

/** Returns the reply's Data, or a fault's code and message. */
export type Read = (operation: string, input: object, address: string) => Promise<object>;

const credentials = { ApiUserId: 'demo', ApiUserKey: 'demo-key' };

/** Set if the credentials are sent in a UsernameToken: `text` or `digest`. */
export const security = process.env.SECURITY;

/** The credentials in the body; empty if a UsernameToken has them. */
export const authentication: object = security === undefined ? { Authentication: credentials } : {};

/** Options of WSSecurity, which both libraries have: with a Timestamp. */
export const tokenOptions = {
  passwordType: security === 'digest' ? 'PasswordDigest' : 'PasswordText',
  hasTimeStamp: true,
};

/** Makes all checks of the Node.js stacks, one after another. */
export async function makeChecks(read: Read): Promise<void> {
  say({ situation: 'import', got: [] });
  for (const { operation, situation, input, read: paths } of readTable()) {
    const address = process.env[situation === 'fault' ? 'FAULT_ENDPOINT' : 'ENDPOINT'] ?? '';
    try {
      const data = await read(operation, input, address);
      say({ operation, situation, got: Object.keys(paths).map((path) => printed(data, path, situation)) });
    } catch (error) {
      say({ operation, situation, error: String(error) });
    }
  }
}

/** Reads the checks. An integer that a double cannot hold becomes text, as callers of these libraries send it. */
function readTable(): readonly Row[] {
  const text = readFileSync(process.env.CHECKS ?? '', 'utf8');
  return JSON.parse(text.replace(/: (\d{16,})(?=[\s,])/g, ': "$1"'));
}

function printed(data: object, path: string, situation: string): string | null {
  if (path.endsWith('.?')) {
    const member = at(data, path.slice(0, -2));
    return member === undefined ? 'absent' : member === null ? 'nil' : 'value';
  }
  if (path.endsWith('.#')) {
    const array = at(data, path.replace(/\.\w+\.#$/, ''));
    // an array without an item is empty
    return array === null ? null : String([at(data, path.slice(0, -2)) ?? []].flat().length);
  }
  const value = at(data, path);
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return situation === 'date-no-zone' ? wallClock(value) : value.toISOString();
  if (path.endsWith('DocumentBytes')) {
    const bytes = Buffer.from(String(value), 'base64');
    return `${bytes.toString('latin1', 0, 4)} ${bytes.length}`;
  }
  return String(value);
}

/** Both libraries read a date without a zone as local time. */
function wallClock(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

function say(line: object): void {
  console.log(JSON.stringify(line));
}

/** Returns a fault as both libraries parse it, in either version, or undefined if the error is not a fault. */
export function faultOf(error: unknown): object | undefined {
  const fault = at(error, 'root.Envelope.Body.Fault');
  if (fault === undefined) return undefined;
  const code = String(at(fault, 'faultcode') ?? at(fault, 'Code.Value'));
  const text = at(fault, 'Reason.Text');
  return {
    code: code.replace(/^.*:/, ''),
    message: at(fault, 'faultstring') ?? at(text, '$value') ?? text,
  };
}
