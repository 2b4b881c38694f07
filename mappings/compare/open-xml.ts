import { readStartTag } from '../codec/adopted/canonical.ts';
import { isInstanceNamespace } from '../codec/schema-instance.ts';
import { xmlNamespace } from '../xml/namespaces.ts';

/** Declarations of an element and of the elements around it. */
interface Scope {
  readonly declared: ReadonlyMap<string, string>;
  readonly outer: Scope | undefined;
}

/**
 * Returns a text that XML of the same infoset shares (G38): names have namespaces instead of prefixes, attributes are
 * sorted, and white space between elements is removed.
 *
 * @param canonical the exclusive canonical form of content (A22, A24)
 */
export function openKey(canonical: string): string {
  const pieces: string[] = [];
  const scopes: Scope[] = [];
  let isAfterStart = false;
  let at = 0;
  for (let tag = canonical.indexOf('<'); tag !== -1; tag = canonical.indexOf('<', at)) {
    const isEnd = canonical.startsWith('</', tag);
    const run = canonical.slice(at, tag);
    if (/[^ \t\r\n]/.test(run) || (isAfterStart && isEnd)) pieces.push(run);
    if (isEnd) {
      pieces.push('</>');
      scopes.pop();
      at = canonical.indexOf('>', tag) + 1;
    } else {
      const start = readStartTag(canonical, tag + 1);
      const scope = scopeOf(start.attributes, scopes.at(-1));
      pieces.push(startKey(start.name, start.attributes, scope));
      if (start.empty) pieces.push('</>');
      else scopes.push(scope);
      at = start.end;
      isAfterStart = !start.empty;
      continue;
    }
    isAfterStart = false;
  }
  const rest = canonical.slice(at);
  return pieces.join('') + (/[^ \t\r\n]/.test(rest) || pieces.length === 0 ? rest : '');
}

function scopeOf(attributes: readonly (readonly [string, string])[], outer: Scope | undefined): Scope {
  const own = attributes.filter(([name]) => isDeclaration(name));
  if (own.length === 0 && outer !== undefined) return outer;
  return { declared: new Map(own.map(([name, value]) => [name.slice(6), value])), outer };
}

function isDeclaration(name: string): boolean {
  return name === 'xmlns' || name.startsWith('xmlns:');
}

function startKey(name: string, attributes: readonly (readonly [string, string])[], scope: Scope): string {
  const keys = attributes.flatMap(([qualified, value]) => {
    if (isDeclaration(qualified)) return [];
    const key = qualified.includes(':') ? expandedName(qualified, scope) : qualified;
    const isType = key.endsWith('}type') && isInstanceNamespace(key.slice(1, -5));
    return [`${key}=${JSON.stringify(isType ? expandedName(value.trim(), scope) : value)}`];
  });
  return `<${[expandedName(name, scope), ...keys.toSorted()].join(' ')}>`;
}

function expandedName(qualified: string, scope: Scope): string {
  const colon = qualified.indexOf(':');
  const prefix = qualified.slice(0, Math.max(0, colon));
  let namespace = prefix === 'xml' ? xmlNamespace : undefined;
  for (let at: Scope | undefined = scope; at !== undefined && namespace === undefined; at = at.outer)
    namespace = at.declared.get(prefix);
  return `{${namespace ?? ''}}${qualified.slice(colon + 1)}`;
}
