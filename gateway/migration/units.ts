import { readDuration } from '../../mappings/contract/times.ts';

const sizes: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Reads a duration such as `30s`, `10m`, `1h` or `7d` (G3), in ms. Returns undefined for another form. */
export function readPeriod(text: string): number | undefined {
  return readDuration(text, /^\d{1,6}[smhd]$/);
}

/** Reads a size such as `5 GiB` (G3), in bytes. Returns undefined for another form. */
export function readSize(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6}) ?([KMGT]iB)$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (sizes[unit] ?? 0);
}

/**
 * Reads a share such as `10%`, `0.5%` or `1 in 20` (G3). Returns it as a fraction: 0.1 for `10%`. Returns undefined for
 * another form.
 */
export function readShare(text: string): number | undefined {
  const [, percent] = /^(\d{1,9}(?:\.\d{1,9})?) ?%$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) / 100;
  const [, part, whole] = /^(\d{1,9}) in (\d{1,9})$/.exec(text) ?? [];
  if (part === undefined || Number(whole) === 0) return undefined;
  return Number(part) / Number(whole);
}
