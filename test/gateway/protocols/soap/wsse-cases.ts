import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Requests with WS-Security from sixteen client stacks.

/** The folder of the requests. */
export const folder = join(import.meta.dirname, '../../../fixtures/wsse');

/** Content of a captured request, as described in `cases.json`. */
export interface Case {
  readonly soap: '1.1' | '1.2';
  readonly receivedAt: string;
  readonly children: readonly string[];
  readonly timestamp: { readonly created: string; readonly expires?: string } | null;
  readonly wellFormed?: false;
  readonly role?: string;
  readonly username?: string;
  readonly password?: 'PasswordText' | 'no Type attribute' | 'PasswordDigest' | null;
  readonly text?: string;
  readonly nonce?: boolean;
  readonly created?: string | null;
  readonly digestMatches?: boolean | null;
}

/** All cases, by file name. */
export const cases: Readonly<Record<string, Case>> = JSON.parse(
  readFileSync(join(folder, 'cases.json'), 'utf8'),
);
