/**
 * The data of an error, which its sentence is made of. `expected` and `got` are also members of a fault's detail (W27).
 */
export interface Reason {
  /** The start of the sentence, for example `line 2, column 5`. */
  readonly where?: string | undefined;
  /** The right form, for example `xs:int`. */
  readonly expected?: string | undefined;
  /** The actual value as a JSON string, or words, for example `none`. */
  readonly got?: string | undefined;
  /** The known name that is similar to an unknown one. */
  readonly meant?: string | undefined;
  /** Additional text, for example how to fix the error. It is the whole sentence if `expected` is missing. */
  readonly detail?: string | undefined;
}

/** Adds a place in front of a reason's own place. */
export function within(place: string, reason: Reason): Reason {
  return { ...reason, where: reason.where === undefined ? place : `${place}: ${reason.where}` };
}

/** Writes the sentence of a reason: `where: expected …, got …; detail`. */
export function sentence({ where, expected, got, meant, detail }: Reason): string {
  let text = expected === undefined ? '' : `expected ${expected}`;
  if (got !== undefined) text += `, got ${got}`;
  if (meant !== undefined) text += `, did you mean ${meant}?`;
  if (detail !== undefined) text += text === '' ? detail : `; ${detail}`;
  return where === undefined ? text : `${where}: ${text}`;
}
