import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Named, readArchive, writeArchive } from '../records.ts';

/** A request of a real client: its head and body as sent, with the result expected from the gateway. */
export interface Recording extends Named {
  readonly expected: Outcome;
}

/** The result of a request: a WSDL, a call of the upstream, or a refusal. */
export interface Outcome {
  readonly wsdl?: true;
  /** The SOAP version of request and reply (W3). */
  readonly reply?: 'soap11' | 'soap12';
  readonly operation?: string;
  /** The upstream's request body, byte for byte. */
  readonly body?: string;
  readonly refusal?: Refusal;
}

export interface Refusal {
  readonly status: number;
  readonly errorCode: string;
  /** Pairs of errorCode and fieldName. */
  readonly errors: readonly (readonly [string, string])[];
  /** The reason, only in the archives; replies do not contain it. */
  readonly rule?: string;
}

const extension = '.requests';

/** The recorded client stacks by name. */
export const recordedStacks: readonly string[] = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(extension))
  .map((file) => file.slice(0, -extension.length));

/** Returns the recorded requests of a client stack. */
export function readRecordings(stack: string): Recording[] {
  return readArchive(fileOf(stack));
}

/** Replaces the recorded requests of a client stack. */
export function writeRecordings(stack: string, recordings: readonly Recording[]): void {
  writeArchive(fileOf(stack), recordings);
}

function fileOf(stack: string): string {
  return join(import.meta.dirname, `${stack}${extension}`);
}
