import type { Contract } from '../../mappings/contract/model.ts';

/** The placeholder of a credential in a sample: `YOUR_API_KEY` for `apiKey`. */
export function placeholderOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_|_$/g, '');
  return `YOUR_${words.toUpperCase()}`;
}

/**
 * Returns the placeholder of each credential of a contract by its name. A credential of a header block, for example
 * `Session.id`, uses its last part, or the whole name if two credentials share the last part.
 */
export function placeholdersOf({ credentials }: Pick<Contract, 'credentials'>): ReadonlyMap<string, string> {
  const names = (credentials?.parts ?? []).map(({ name }) => name);
  const short = names.map((name) => placeholderOf(name.slice(name.lastIndexOf('.') + 1)));
  return new Map(
    names.map((name, index) => {
      const own = short[index] ?? '';
      return [name, short.indexOf(own) === short.lastIndexOf(own) ? own : placeholderOf(name)];
    }),
  );
}

/** A credential that a request sends in an HTTP header. */
export interface CredentialHeader {
  /** The credential's name in the contract. */
  readonly credential: string;
  readonly header: string;
  /** The complete value with a placeholder, for example `Bearer YOUR_TOKEN`. */
  readonly value: string;
  readonly placeholder: string;
  /** The value with `{}` in place of what a person types; for a scheme of HTTP that is the whole value. */
  readonly format: string;
  /** True if calls without it are rejected. */
  readonly required: boolean;
}

/** Every credential of a contract as an HTTP header. */
export function credentialHeaders({ credentials }: Contract): readonly CredentialHeader[] {
  const placeholders = placeholdersOf({ credentials });
  return (credentials?.parts ?? []).map(({ name, header, required, moved }) => {
    const placeholder = placeholders.get(name) ?? '';
    const isScheme = header.toLowerCase() === 'authorization';
    const format = moved?.format ?? '{}';
    const value = (isScheme && moved === undefined ? 'Bearer {}' : format).replace('{}', placeholder);
    return { credential: name, header, value, placeholder, format, required };
  });
}
