import { formerLimits } from '../../mappings/contract/former-limits.ts';
import { limitTable } from '../../mappings/contract/limits.ts';

/** Formats a value in the unit of its limit's name. */
function said(name: string, value: number): string {
  if (name.endsWith('Us')) return `${value} µs`;
  if (name.endsWith('Ms')) return value % 1_000 === 0 ? `${value / 1_000} s` : `${value} ms`;
  if (/bytes/i.test(name)) {
    for (const [unit, size] of [
      ['MiB', 1024 * 1024],
      ['KiB', 1024],
    ] as const) {
      if (value % size === 0) return `${value / size} ${unit}`;
    }
  }
  if (name.endsWith('Percent')) return `${value} %`;
  return value.toLocaleString('en');
}

/** The rows of the table in docs/limits.md, from mappings/contract/limits.ts. */
export const limitRows = Object.entries(limitTable)
  .map(
    ([name, { value, bounds, result }]) => `| \`${name}\` | ${said(name, value)} | ${bounds} | ${result} |\n`,
  )
  .join('');

/** The rows of the table of constant limits in docs/upgrading.md, from mappings/contract/former-limits.ts. */
export const formerLimitRows = Object.entries(formerLimits)
  .map(([name, now]) => `| \`${name}\` | ${typeof now === 'number' ? said(name, now) : now} |\n`)
  .join('');

/** Matches the rows of that table in docs/upgrading.md. */
export const formerLimitTableForm =
  /(?<=### Limits that are constants now\n[^|]*\| old name \| now \|\n\|---\|---\|\n)(?:\|.*\n)*/;

/** Matches the rows of the table in docs/limits.md. */
export const limitTableForm =
  /(?<=\| limit \| default \| limited quantity \| above the limit \|\n\|---\|---\|---\|---\|\n)(?:\|.*\n)*/;
