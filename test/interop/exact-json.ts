/** JSON whose numbers keep their digits, which a double could change. */

interface RawJson {
  readonly rawJSON: string;
}

// ECMA-262 25.5: Node has both since 21, but TypeScript's ES2024 library does not declare them yet.
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
};

/**
 * Reads a JSON text. A number that a double would change is kept as its digits, as `JSON.stringify` writes them. Throws
 * a SyntaxError.
 */
export function readExact(text: string): unknown {
  return parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/**
 * Returns a text for comparing values: members sorted by name, and null members removed unless `like` has a null there.
 */
export function canonical(value: unknown, like?: unknown): string {
  return JSON.stringify(ordered(value, like));
}

/** Returns the same text with all nulls. */
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

/** Removes the null members of a JSON text. Order and digits are kept. */
export function withoutNulls(text: string): string {
  return JSON.stringify(readExact(text), (_name, value) => (value === null ? undefined : value));
}
