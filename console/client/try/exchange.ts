import type { FormDescription, RequestDescription } from '../../description.ts';
import { escapeXml } from './model.ts';

/** A request to be sent. */
export interface OutgoingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body with placeholders instead of credentials. */
  readonly shown: string;
}

/** The gateway's response. */
export interface Answer {
  readonly status: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly ms: number;
}

/**
 * Creates the call for a message with the visitor's credentials: in their HTTP headers, or in place of their
 * placeholders in the message.
 *
 * @param values the visitor's credentials, each by its HTTP header
 * @param base relative path from the page to the contract's base path
 */
export function callOf(
  { credentials }: FormDescription,
  request: RequestDescription,
  message: string,
  values: Readonly<Record<string, string>>,
  base: string,
): OutgoingCall {
  const headerCredentials = new Set(request.credentials.map(({ credential }) => credential));
  const headers: Record<string, string> = { 'Content-Type': request.contentType, ...request.headers };
  let body = message;
  for (const { name, header, placeholder, format } of credentials) {
    const value = values[header] ?? '';
    if (value === '') continue;
    const isInMessage = !headerCredentials.has(name) && message.includes(placeholder);
    if (isInMessage) body = body.replaceAll(placeholder, () => escaped(value, request.format));
    else headers[header] = format.replace('{}', () => value);
  }
  return { url: base + request.path.slice(1), headers, body, shown: message };
}

function escaped(value: string, format: RequestDescription['format']): string {
  return format === 'json' ? JSON.stringify(value).slice(1, -1) : escapeXml(value);
}

/**
 * Sends a call to the gateway that serves the page, and to no other host. Throws a TypeError if there is no response.
 */
export async function sendCall({ url, headers, body }: OutgoingCall): Promise<Answer> {
  const began = performance.now();
  const reply = await fetch(url, { method: 'POST', headers, body, credentials: 'omit', cache: 'no-store' });
  const text = await reply.text();
  return {
    status: `HTTP ${reply.status} ${reply.statusText}`.trim(),
    headers: [...reply.headers],
    body: text,
    ms: Math.round(performance.now() - began),
  };
}
