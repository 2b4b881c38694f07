/** Credentials by the name of their HTTP header. */
export type TypedCredentials = Readonly<Record<string, string>>;

const prefix = 'soapbridge-credentials ';

/** The key of a contract's credentials: pages of one contract share them, those of another contract don't. */
function keyOf(base: string): string {
  return prefix + new URL(base, document.baseURI).href;
}

/** The credentials that the visitor keeps in this tab; undefined for none. */
export function keptCredentials(base: string): TypedCredentials | undefined {
  const text = sessionStorage.getItem(keyOf(base));
  return text === null ? undefined : JSON.parse(text);
}

/** Keeps credentials until the tab is closed; undefined removes them. */
export function keepCredentials(base: string, values: TypedCredentials | undefined): void {
  if (values === undefined) sessionStorage.removeItem(keyOf(base));
  else sessionStorage.setItem(keyOf(base), JSON.stringify(values));
}
