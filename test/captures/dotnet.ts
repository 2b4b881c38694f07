import { createHash } from 'node:crypto';

/** Expected content of a request written by .NET's DataContractSerializer, from its sidecar file. */
export interface Sidecar {
  readonly operation: string;
  readonly contentType: string;
  readonly soapAction: string;
  readonly expect: readonly Leaf[];
}

interface Leaf {
  /** Dotted path of JSON names, with array positions in brackets. */
  readonly path: string;
  readonly type: string;
  /** The XML's text, or `(nil)`. */
  readonly xml: string;
  /** The JSON token, or `absent` if no member is sent. Dates depend on the time zone; long texts are only measured. */
  readonly json: string | { readonly UTC: string } | Measure;
}

interface Measure {
  readonly characters: number;
  readonly sha256OfUtf8: string;
}

type Node = { [name: string]: Node } | Node[] | string;

/** Types whose nil members are omitted (W13). The sidecars are older and expect `null`. */
const absentWhenNil = new Set(['int', 'long', 'boolean', 'dateTime', 'enum']);

/**
 * Returns the upstream body for a sidecar's leaves, `authentication` last (W35).
 *
 * @param credentials credentials from headers, if the body's Authentication is nil
 * @param long the text that a leaf only measures
 */
export function bodyMeant(
  sidecar: Sidecar,
  credentials: Readonly<Record<string, string>>,
  long: string,
): string {
  const root: { [name: string]: Node } = {};
  for (const leaf of sidecar.expect) {
    // The record exists even if all its members are nil.
    const [top = ''] = leaf.path.split('.');
    if (leaf.path.includes('.')) root[top] ??= {};
    const token = tokenOf(leaf, long);
    if (token !== undefined)
      place(root, leaf.path.replaceAll('[', '.').replaceAll(']', '').split('.'), token);
  }
  const { authentication = quoted(credentials), ...inputs } = root;
  return write({ ...inputs, authentication });
}

function quoted(values: Readonly<Record<string, string>>): Node {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
}

function tokenOf({ type, xml, json }: Leaf, long: string): string | undefined {
  if (json === 'absent' || (xml === '(nil)' && absentWhenNil.has(type))) return undefined;
  if (typeof json === 'object' && 'characters' in json) return measured(json, long);
  const token = typeof json === 'string' ? json : json.UTC;
  // Z becomes the wall clock of the upstream's zone, here UTC (W16). The sidecars are older.
  if (type === 'dateTime') return token.replace(/^"\/Date\((-?\d+)\)\/"$/, '"/Date($1-0000)/"');
  return type === 'string' ? JSON.stringify(JSON.parse(token)) : token;
}

function measured({ characters, sha256OfUtf8 }: Measure, long: string): string {
  const hash = createHash('sha256').update(long).digest('hex');
  if (long.length !== characters || hash !== sha256OfUtf8) {
    throw new Error(`expected a text of ${characters} characters and SHA-256 ${sha256OfUtf8}, got ${hash}`);
  }
  return JSON.stringify(long);
}

function place(root: { [name: string]: Node }, path: readonly string[], token: string): void {
  let at: Node = root;
  for (const [index, name] of path.entries()) {
    const next = path[index + 1];
    const value: Node = next === undefined ? token : /^\d+$/.test(next) ? [] : {};
    if (Array.isArray(at)) {
      const item: Node = at[Number(name)] ?? value;
      at[Number(name)] = item;
      at = item;
    } else if (typeof at === 'object') {
      const member: Node = at[name] ?? value;
      at[name] = member;
      at = member;
    }
  }
}

function write(node: Node): string {
  if (typeof node === 'string') return node;
  if (Array.isArray(node)) return `[${node.map(write).join(',')}]`;
  return `{${Object.entries(node)
    .map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`)
    .join(',')}}`;
}
