import { digestToken, measureFeatures, plain, textToken } from './features.ts';
import { median } from './process.ts';

/**
 * `npm run bench:tokens [-- rounds seconds]`: what a UsernameToken adds to a small call, of text and with a digest, in
 * turns with a plain one. Each round has a ratio of its own, since a machine's pace changes between rounds.
 */
const rounds = Number(process.argv[2] ?? 20);
const seconds = Number(process.argv[3] ?? 0.6);
const rows = await measureFeatures(rounds, seconds, [plain, textToken, digestToken]);
const costsOf = (name: string): readonly number[] =>
  rows.find((row) => row.name === name)?.cpuPerRequest ?? [];
const without = costsOf(plain);

for (const [name, bound] of [
  [textToken, 1.1],
  [digestToken, 1.25],
] as const) {
  const ratios = costsOf(name).map((cost, round) => cost / (without[round] ?? Number.NaN));
  const ratio = median(ratios);
  console.log(
    `${name}: ${ratio.toFixed(2)} of a plain small call (${median(without).toFixed(1)} µs of CPU), ${ratio <= bound ? 'holds' : 'MISSED'} (≤ ${bound})`,
  );
}
