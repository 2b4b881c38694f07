/** The data of an error: its sentence is made of them, and the `expected` and `got` of a fault's detail are two of them (W27). */
export interface Reason {
  /** The start of the sentence, such as `line 2, column 5`. */
  readonly where?: string | undefined;
  /** The right form, such as `xs:int`. */
  readonly expected?: string | undefined;
  /** The actual value as a JSON string, or words such as `none`. */
  readonly got?: string | undefined;
  /** The known name that is similar to an unknown one. */
  readonly meant?: string | undefined;
  /** More text, such as what to do; the whole sentence if `expected` is missing. */
  readonly detail?: string | undefined;
}

/** A reason whose sentence begins with a place, before its own place. */
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
