/** An exchange that cannot be replayed, with the reason. It contains no value of a message. */
export class Unreplayable extends Error {
  override readonly name = 'Unreplayable';
}
