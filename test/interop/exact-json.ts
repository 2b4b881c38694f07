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

/**
 * The text by which two values compare: members in order of their names, those that are null left out but where `like`
 * has a null in the same place.
 */
export function canonical(value: unknown, like?: unknown): string {
  return JSON.stringify(ordered(value, like));
}

/** The same with every null. */
export function exactly(value: unknown): string {
  return canonical(value, value);
}

function ordered(value: unknown, like: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value;
  const alike = (name: string): unknown => Reflect.get(Object(like), name);
  if (Array.isArray(value)) return value.map((item, index) => ordered(item, alike(String(index))));
  const members = Object.entries(value)
    .filter(([name, member]) => member !== null || alike(name) === null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, ordered(member, alike(name))]));
}

/** A JSON text without its null members, in its order, digit for digit. */
export function withoutNulls(text: string): string {
  return JSON.stringify(readExact(text), (_name, value) => (value === null ? undefined : value));
}
