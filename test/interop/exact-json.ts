/** JSON whose numbers stay the digits that were written: what no double may round on the way. */

interface RawJson {
  readonly rawJSON: string;
}

// ECMA-262 25.5: both are in Node since 21; TypeScript's library of ES2024 doesn't list them yet.
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
};

/** Reads one JSON text. A number that a double would change becomes its digits, as `JSON.stringify` writes them. Throws
 *  a SyntaxError. */
export function readExact(text: string): unknown {
  return parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/** The text by which two values compare: members in order of their names, those that are null left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || 'rawJSON' in inner)
      return inner;
    const members = Object.entries(inner).filter(([, member]) => member !== null);
    return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
