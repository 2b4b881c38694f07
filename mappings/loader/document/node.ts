/** A parsed YAML or JSON object with unknown members. */
export type Node = Readonly<Record<string, unknown>>;

/** Returns true for an object; false for null and lists. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the member `key` if it is an object, otherwise an empty object. */
export function childOf(node: Node, key: string): Node {
  const value = memberOf(node, key);
  return isNode(value) ? value : {};
}

/**
 * Returns the own member `key`. Inherited members are ignored because a document can have a member named `constructor`.
 */
export function memberOf(node: Node, key: string): unknown {
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

/** Sets a member, even if its name is special, for example `__proto__`. */
export function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Returns a string; undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns a list of strings; undefined for any other value. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

/** Adds a value to the list of a key. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

/** Returns the names as text: all, or the first 20 and the number of the others. */
export function someOf(names: readonly string[]): string {
  const most = 20;
  return names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** Returns an unexpected value as text for a message, truncated. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isNode(value)) return 'an object';
  const plain = typeof value === 'string' ? withoutUrlSecrets(value) : value;
  const text = typeof plain === 'bigint' ? String(plain) : JSON.stringify(plain);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * Returns a text for messages and logs. A URL keeps only scheme, host, port and path, because user information and
 * query may contain secrets. Any other text is returned unchanged, except a password before `@`.
 */
export function withoutUrlSecrets(text: string): string {
  const [, start, rest = ''] = /^(\s*[a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(text) ?? [];
  if (start === undefined) return withoutPassword(text);
  // A password may contain `/`, `?` and `#`, so everything before the last `@` is treated as user information.
  return start + rest.slice(rest.lastIndexOf('@') + 1).replace(/[?#].*$/s, '');
}

/** Replaces everything before the last `@` with `***` in a text without a scheme, for example `user:password@host`. */
function withoutPassword(text: string): string {
  const end = text.lastIndexOf('@');
  const colon = text.indexOf(':');
  if (colon < 0 || colon > end || /\s/.test(text)) return text;
  return `***${text.slice(end).replace(/[?#].*$/s, '')}`;
}
