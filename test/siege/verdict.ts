import type { Answered } from './honest.ts';

/** Measurements of one attack. Times in ms. */
export interface Measured {
  readonly name: string;
  /** Normal calls before and during the attack. */
  readonly quiet: Answered;
  readonly beside: Answered;
  readonly peakBytes: number;
  readonly loopDelayMs: number | undefined;
  /** Exit code of the stopped gateway, with its output if the code is not 0. */
  readonly exit: string;
  /** CPU use of the gateway and the attacker, in percent of a core. */
  readonly gatewayPercent: number;
  readonly attackerPercent: number;
  /** Results of the attacker's messages, and violated guarantees. */
  readonly counts: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

export const bars = {
  /** Minimum share of normal calls with the right reply, in percent. */
  rightPercent: 99.5,
  /** Maximum ratio of p99 with and without the attack. */
  p99Ratio: 3,
  /** Maximum resident memory. */
  bytes: 1024 ** 3,
} as const;

/** A limit that was violated. */
export interface Miss {
  readonly bar: 'quiet' | 'right' | 'p99' | 'memory' | 'exit' | 'promises';
  readonly says: string;
}

export function rightPercentOf({ calls, right }: Answered): number {
  return calls === 0 ? 0 : (right / calls) * 100;
}

/**
 * Returns the maximum p99 during the attack, in ms. A delay that also occurs without an attack is not counted.
 *
 * @param quietP99s p99 of all runs without attack
 */
export function mostP99(quiet: Answered, quietP99s: readonly number[]): number {
  return Math.max(quiet.p99 * bars.p99Ratio, ...quietP99s);
}

/** Returns the violated limits with descriptions. */
export function missesOf(
  { quiet, beside, peakBytes, exit, broken }: Measured,
  quietP99s: readonly number[],
): readonly Miss[] {
  const misses: Miss[] = [];
  const miss = (bar: Miss['bar'], says: string): number => misses.push({ bar, says });
  const right = rightPercentOf(beside);
  const p99 = mostP99(quiet, quietP99s);
  if (rightPercentOf(quiet) < bars.rightPercent)
    miss(
      'quiet',
      `${rightPercentOf(quiet).toFixed(1)} % right without the attack: ${tellCounts(quiet.wrong)}`,
    );
  if (right < bars.rightPercent) miss('right', `${right.toFixed(1)} % right: ${tellCounts(beside.wrong)}`);
  if (beside.p99 > p99) miss('p99', `p99 of ${beside.p99.toFixed(0)} ms, above ${p99.toFixed(0)}`);
  if (peakBytes > bars.bytes) miss('memory', 'memory above 1 GiB');
  if (exit !== '0') miss('exit', `ended with ${exit}`);
  if (broken.length > 0) {
    const some = [...new Set(broken)].slice(0, 3).join('; ');
    miss('promises', `${broken.length} promises broken: ${some}`);
  }
  return misses;
}

export function tellCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} × ${count}`)
    .join(', ');
}

const columns = [
  ['attack', 18],
  ['right', -17],
  ['p99', -9],
  ['quiet', -8],
  ['most', -8],
  ['memory', -9],
  ['loop', -9],
  ['gateway', -8],
  ['attacker', -9],
  ['exit', -5],
] as const;

function row(cells: readonly string[]): string {
  return columns
    .map(([, width], index) => {
      const cell = cells[index] ?? '';
      return width < 0 ? cell.padStart(-width) : cell.padEnd(width);
    })
    .join('');
}

/** The table's head. The rows below it begin with a mark. */
export const head: string = `            ${row(columns.map(([name]) => name))}`;

/** Formats one attack as a row of the table, with a line for each violated limit. */
export function rowOf(measured: Measured, misses: readonly Miss[]): string {
  const { name, quiet, beside, peakBytes, loopDelayMs, exit, gatewayPercent, attackerPercent, counts } =
    measured;
  const ms = (value: number): string => `${value < 100 ? value.toFixed(1) : value.toFixed(0)} ms`;
  const cells = [
    name,
    `${rightPercentOf(beside).toFixed(1)} % of ${beside.calls}`,
    ms(beside.p99),
    ms(quiet.p99),
    ms(beside.most),
    `${(peakBytes / 1024 ** 2).toFixed(0)} MiB`,
    loopDelayMs === undefined ? '?' : `${loopDelayMs.toFixed(0)} ms`,
    `${gatewayPercent.toFixed(0)} %`,
    `${attackerPercent.toFixed(0)} %`,
    exit.split(' ', 1)[0] ?? '',
  ];
  return [
    `  ${misses.length === 0 ? '✔' : '✘'} siege › ${row(cells)}`,
    ...misses.map(({ says }) => `      missed: ${says}`),
    `      the attacker saw: ${tellCounts(counts) || 'nothing'}`,
  ].join('\n');
}
