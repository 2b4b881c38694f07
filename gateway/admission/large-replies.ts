/** In ms: an operation is taken to give large replies for so long after the last one. */
const keptMs = 60_000;

/** Which operations gave large replies of late, as far as their replies' bytes were met. */
export class LargeReplies {
  /** When an operation's last piece of a large reply came, in ms of `performance.now()`. */
  readonly #metAt = new WeakMap<object, number>();

  /** A piece of a large reply came. */
  note(operation: object): void {
    this.#metAt.set(operation, performance.now());
  }

  isLikelyOf(operation: object): boolean {
    const metAt = this.#metAt.get(operation);
    return metAt !== undefined && performance.now() - metAt < keptMs;
  }
}
