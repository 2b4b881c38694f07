import { text } from '../../mappings/contract/setting.ts';

/** The reason of a change (G72). */
export const reasonMember = text(
  'Why it is done, for the audit.',
  'a reason of 3 to 500 characters',
  /^[\P{Cc}\n\r\t]{3,500}$/u,
);

/** Returns a time as RFC 3339 text. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
