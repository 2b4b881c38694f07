/** Time in ms after a large reply during which more large replies of the operation are expected. */
const keptMs = 60_000;

/** Records which operations recently had large replies, as far as the process has seen the replies' bytes. */
export class LargeReplies {
  /** Time of an operation's last chunk of a large reply, in ms of `performance.now()`. */
  readonly #metAt = new WeakMap<object, number>();

  /** Records a chunk of a large reply. */
  note(operation: object): void {
    this.#metAt.set(operation, performance.now());
  }

  isLikelyOf(operation: object): boolean {
    const metAt = this.#metAt.get(operation);
    return metAt !== undefined && performance.now() - metAt < keptMs;
  }
}
