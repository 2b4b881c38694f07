/** Noun phrase for the error of a text that `readInstant` refuses. */
export const expectedInstant = 'a time with an offset, such as 2027-01-31T00:00:00Z';

/** Reads a time of RFC 3339 with an offset. Returns ms since 1970; undefined for any other value. */
export function readInstant(given: unknown): number | undefined {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  const time = typeof given === 'string' && form.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Returns a time in UTC, such as `2027-01-31T00:00:00Z`. */
export function instantText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.000Z$/, 'Z');
}

/** Form of a duration in a setting. */
export const durationForm = /^[1-9]\d{0,5}(?:ms|s|m|h|d)$/;

export const dayMs = 86_400_000;

/** Number of ms per unit of a duration. */
const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
};

/** Returns the ms of a duration such as `30s`, `10m` or `7d`; undefined for a text that does not have the form. */
export function readDuration(given: string, form = durationForm): number | undefined {
  if (!form.test(given)) return undefined;
  const [, amount, unit = ''] = /^(\d+)([a-z]+)$/.exec(given) ?? [];
  return Number(amount) * (units[unit] ?? 0);
}
