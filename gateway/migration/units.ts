const durations: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizes: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Reads a duration such as `30s`, `10m`, `1h` or `7d` (G3), in ms. Returns undefined for another form. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (durations[unit] ?? 0);
}

/** Reads a size such as `5 GiB` (G3), in bytes. Returns undefined for another form. */
export function readSize(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6}) ?([KMGT]iB)$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (sizes[unit] ?? 0);
}
