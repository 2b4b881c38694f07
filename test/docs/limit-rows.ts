import { formerLimits } from '../../mappings/contract/former-limits.ts';
import { limitTable } from '../../mappings/contract/limits.ts';

/** A value in the unit of its limit's name, as an operator would say it. */
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

/** The rows of docs/limits.md's table of limits, as mappings/contract/limits.ts says. */
export const limitRows = Object.entries(limitTable)
  .map(([name, { value, bounds }]) => `| \`${name}\` | ${said(name, value)} | ${bounds} |\n`)
  .join('');

/** The rows of docs/upgrading.md's table of limits that are constants, as mappings/contract/former-limits.ts says. */
export const formerLimitRows = Object.entries(formerLimits)
  .map(([name, now]) => `| \`${name}\` | ${typeof now === 'number' ? said(name, now) : now} |\n`)
  .join('');

/** The place of those rows on that page. */
export const formerLimitTableForm =
  /(?<=### Limits that are constants now\n[^|]*\| old name \| now \|\n\|---\|---\|\n)(?:\|.*\n)*/;

/** Where those rows stand on the page. */
export const limitTableForm = /(?<=\| limit \| default \| bounds \|\n\|---\|---\|---\|\n)(?:\|.*\n)*/;
