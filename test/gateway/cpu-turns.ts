/** The CPU that this thread's event loop takes in one turn, watched from a call on. */
export interface CpuTurns {
  /** Counts anew from here; the longest so far stays. */
  readonly reset: () => void;
  /** Ends the watch and gives the longest turn, in milliseconds of CPU. */
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
