/**
 * Limits the number of functions run per event-loop iteration. Further ones run in later iterations, in order. This
 * keeps iterations short when hundreds of connections become ready at once.
 */
export function perIteration(most: number): (run: () => void) => void {
  /** Number of functions run in this iteration. */
  let count = 0;
  const waiting: (() => void)[] = [];

  function endIteration(): void {
    const due = waiting.splice(0, most);
    count = due.length;
    if (count > 0) setImmediate(endIteration);
    for (const run of due) run();
  }

  return (run) => {
    if (count === most) {
      waiting.push(run);
      return;
    }
    if (count === 0) setImmediate(endIteration);
    count++;
    run();
  };
}
