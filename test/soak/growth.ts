/** A measurement of a process without pending requests, after garbage collection. */
export interface Sample {
  readonly minutes: number;
  readonly bytes: number;
}

export interface Growth {
  /** Median of the slopes between all pairs of samples (Theil–Sen), in bytes per 10 minutes. */
  readonly slope: number;
  /** Share of rising minus falling pairs, from -1 to 1 (Kendall's tau): near 0 for noise. */
  readonly tau: number;
}

/** Returns the growth of samples, robust against outliers. */
export function growthOf(samples: readonly Sample[]): Growth {
  const slopes = samples.flatMap((later, index) =>
    samples
      .slice(0, index)
      .map((earlier) => ((later.bytes - earlier.bytes) / (later.minutes - earlier.minutes)) * 10),
  );
  const sorted = slopes.toSorted((a, b) => a - b);
  const signs = slopes.reduce((sum, slope) => sum + Math.sign(slope), 0);
  return {
    slope: sorted[Math.floor(sorted.length / 2)] ?? 0,
    tau: slopes.length === 0 ? 0 : signs / slopes.length,
  };
}

/** Minimum number of samples for a verdict. */
export const fewestSamples = 12;

/** Returns true for clear growth: more than `most` bytes in 10 minutes, in most pairs. */
export function grows(samples: readonly Sample[], most: number): boolean {
  if (samples.length < fewestSamples) return false;
  const { slope, tau } = growthOf(samples);
  return slope > most && tau > 0.5;
}

/** Returns the difference between the medians of the last and the first quarter, for values that fluctuate. */
export function riseOf(samples: readonly Sample[]): number {
  const quarter = Math.ceil(samples.length / 4);
  return medianOf(samples.slice(-quarter)) - medianOf(samples.slice(0, quarter));
}

function medianOf(samples: readonly Sample[]): number {
  return samples.map(({ bytes }) => bytes).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}
