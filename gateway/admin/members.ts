import { text } from '../../mappings/contract/setting.ts';
import { shown } from '../../mappings/loader/document/node.ts';
import { invalid } from './problem.ts';

/** The reason of a change (G72). */
export const reasonMember = text(
  'Why it is done, for the audit.',
  'a reason of 3 to 500 characters',
  /^[\P{Cc}\n\r\t]{3,500}$/u,
);

/** Throws Problem 400 for a reason of another length. Other problems of the request are reported first (S38). */
export function checkReason(reason: string): void {
  if (reasonMember.pattern.test(reason)) return;
  const message = `expected ${reasonMember.expected}, got ${shown(reason)}`;
  throw invalid(400, [{ pointer: '/reason', message }]);
}

/** Returns a time as RFC 3339 text. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** A row of the store as JSON: its times are RFC 3339 texts, and undefined is null. */
export type View<Row, Times extends keyof Row> = {
  readonly [Key in keyof Row]-?: undefined extends Row[Key]
    ? (Key extends Times ? string : Exclude<Row[Key], undefined>) | null
    : Key extends Times
      ? string
      : Row[Key];
};

/** Returns a row as JSON. */
export function viewOf<Row extends object, Times extends keyof Row & string>(
  row: Row,
  ...times: readonly Times[]
): View<Row, Times> {
  const names: readonly string[] = times;
  const members = Object.entries(row).map(([name, value]) => {
    if (value === undefined) return [name, null];
    return [name, names.includes(name) ? timeOf(value) : value];
  });
  return Object.fromEntries(members);
}
