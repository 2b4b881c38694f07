/** Credentials by the name of their HTTP header. */
export type TypedCredentials = Readonly<Record<string, string>>;

const prefix = 'soapbridge-credentials ';

/** Storage key of a contract's credentials. Pages of the same contract share them. */
function keyOf(base: string): string {
  return prefix + new URL(base, document.baseURI).href;
}

/** Returns the credentials stored in this tab, or undefined if there are none. */
export function keptCredentials(base: string): TypedCredentials | undefined {
  const text = sessionStorage.getItem(keyOf(base));
  return text === null ? undefined : JSON.parse(text);
}

/** Stores credentials until the tab is closed. Undefined removes them. */
export function keepCredentials(base: string, values: TypedCredentials | undefined): void {
  if (values === undefined) sessionStorage.removeItem(keyOf(base));
  else sessionStorage.setItem(keyOf(base), JSON.stringify(values));
}
