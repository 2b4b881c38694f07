/**
 * Runs what it is given, so many in a turn of the event loop and the others in the next ones, in their order: what hundreds of
 * connections have ready in the same moment holds it for no longer than what a few have.
 */
export function perTurn(most: number): (run: () => void) => void {
  /** How many ran in this turn. */
  let count = 0;
  const waiting: (() => void)[] = [];

  function endTurn(): void {
    const due = waiting.splice(0, most);
    count = due.length;
    if (count > 0) setImmediate(endTurn);
    for (const run of due) run();
  }

  return (run) => {
    if (count === most) {
      waiting.push(run);
      return;
    }
    if (count === 0) setImmediate(endTurn);
    count++;
    run();
  };
}
