/** YAML or JSON as parsed: an object of unknown members. */
export type Node = Readonly<Record<string, unknown>>;

/** True for an object, neither null nor a list. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that is member `key`; an empty one where there is none. */
export function childOf(node: Node, key: string): Node {
  const value = memberOf(node, key);
  return isNode(value) ? value : {};
}

/** The member `key` that the document has, whatever an object inherits: a document may well name one `constructor`. */
export function memberOf(node: Node, key: string): unknown {
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

/** Sets a member that is called whatever it may be called. */
export function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A string; undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The strings of a list; undefined when it is none. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

/** Adds a value to the list of a key. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

/** The names of a few things, or the first of many and how many there are. */
export function someOf(names: readonly string[]): string {
  const most = 20;
  return names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** What was found where something else was expected, cut for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isNode(value)) return 'an object';
  const text = JSON.stringify(typeof value === 'string' ? withoutUrlSecrets(value) : value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * A text for messages and logs: of a URL only scheme, host, port and path, because user information and a query may hold
 * a password or a token. Any other text is returned as it is.
 */
export function withoutUrlSecrets(text: string): string {
  const [, start, rest = ''] = /^(\s*[a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(text) ?? [];
  if (start === undefined) return withoutPassword(text);
  // a password may hold `/`, `?` and `#`, so everything before the last `@` counts as user information
  return start + rest.slice(rest.lastIndexOf('@') + 1).replace(/[?#].*$/s, '');
}

/** A text without a scheme, such as `user:password@host`, with `***` in the place of what is before the last `@`. */
function withoutPassword(text: string): string {
  const end = text.lastIndexOf('@');
  const colon = text.indexOf(':');
  if (colon < 0 || colon > end || /\s/.test(text)) return text;
  return `***${text.slice(end).replace(/[?#].*$/s, '')}`;
}
