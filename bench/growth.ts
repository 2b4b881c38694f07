import { screeningCodecs } from './codecs.ts';
import { searchReply, subUserRequest } from './messages.ts';
import { median } from './process.ts';

export interface GrowthRow {
  readonly direction: string;
  /** Nanoseconds per byte at each size of `growthSizes`. */
  readonly nanosecondsPerByte: readonly number[];
  /** Exponent of the growth of time with size, fitted by least squares to the logarithms. 1 is linear. */
  readonly slope: number;
}

/** Sizes in megabytes: 1 kB to 32 MB. */
export const growthSizes: readonly number[] = [0.001, 0.016, 0.25, 2, 8, 32];

/** Measures how the time of both codecs grows with the message size. */
export function measureGrowth(rounds: number): readonly GrowthRow[] {
  const { namespaces, toXml, toJson } = screeningCodecs();
  return [
    growthOf(
      'JSON→XML (GetSearch reply)',
      toXml,
      growthSizes.map((size) => Buffer.from(searchReply(size))),
      rounds,
    ),
    growthOf(
      'XML→JSON (UpdateSubUser request)',
      toJson,
      growthSizes.map((size) => Buffer.from(subUserRequest(size, namespaces.types, namespaces.arrays))),
      rounds,
    ),
  ];
}

function growthOf(
  direction: string,
  run: (bytes: Buffer) => unknown,
  messages: readonly Buffer[],
  rounds: number,
): GrowthRow {
  const nanosecondsPerByte = messages.map((bytes) => {
    // the same number of bytes for each size, so that all are equally warm
    const times = Math.max(1, Math.round(4e6 / bytes.length));
    const figures: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const started = performance.now();
      for (let time = 0; time < times; time++) run(bytes);
      if (round >= 0) figures.push(((performance.now() - started) * 1e6) / (times * bytes.length));
    }
    return median(figures);
  });
  return { direction, nanosecondsPerByte, slope: slopeOf(messages, nanosecondsPerByte) };
}

function slopeOf(messages: readonly Buffer[], nanosecondsPerByte: readonly number[]): number {
  const points = messages.map((bytes, index) => ({
    x: Math.log(bytes.length),
    y: Math.log(bytes.length * (nanosecondsPerByte[index] ?? 0)),
  }));
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const x = mean((point) => point.x);
  const y = mean((point) => point.y);
  return mean((point) => (point.x - x) * (point.y - y)) / mean((point) => (point.x - x) ** 2);
}
