/**
 * Returns the command that sends a call of the admin API. The variable TOKEN has the token.
 *
 * @param body undefined for a call without members
 */
export function commandOf(method: string, url: string, body: Readonly<Record<string, unknown>>): string {
  const data =
    Object.keys(body).length === 0
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`];
  return [`curl -X ${method} -H "Authorization: Bearer $TOKEN"`, ...data, quoted(url)].join(' \\\n  ');
}

/** Returns a text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
