/** Measures the CPU time per event-loop iteration of this thread. */
export interface CpuTurns {
  /** Starts a new iteration; the maximum so far is kept. */
  readonly reset: () => void;
  /** Ends the measurement and returns the maximum, in milliseconds of CPU. */
  readonly end: () => number;
}

export function watchCpu(): CpuTurns {
  let longest = 0;
  let before = process.threadCpuUsage();
  const beat = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  }, 1);
  return {
    reset: () => {
      before = process.threadCpuUsage();
    },
    end: () => {
      clearInterval(beat);
      return longest;
    },
  };
}
