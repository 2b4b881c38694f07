import { indentJson, indentXml } from '../../../wsdl/samples/indent.ts';
import type { FormDescription, RequestDescription } from '../../description.ts';
import { escapeXml, type Form, type Member, writePayload } from './model.ts';

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

const envelopes = {
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
} as const;

/** Returns the message of a form in one format. JSON starts with the sample, without credentials in the body. */
export function messageOf(
  description: FormDescription,
  request: RequestDescription,
  members: readonly Member[],
): string {
  const { operation, credentialsMember, isAdopted } = description;
  const { format } = request;
  if (format === 'json') return withoutMember(request.text, credentialsMember);
  if (isAdopted) return request.text;
  const form: Form = description;
  const payload = writePayload(form, operation.name, members);
  const start = '<?xml version="1.0" encoding="utf-8"?>\n';
  if (format === 'xml') return `${start}${payload}\n`;
  const inner = payload
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
  return `${start}<soap:Envelope xmlns:soap="${escapeXml(envelopes[format])}">\n  <soap:Body>\n${inner}\n  </soap:Body>\n</soap:Envelope>\n`;
}

/**
 * Creates the call for a message with the visitor's credentials: in their HTTP headers, or in place of their
 * placeholders in the message.
 *
 * @param values values by the header of the credential
 * @param base relative path from the page to the contract's base path
 */
export function callOf(
  { credentials }: FormDescription,
  request: RequestDescription,
  message: string,
  values: Readonly<Record<string, string>>,
  base: string,
): OutgoingCall {
  const inHeaders = new Set(request.credentials.map(({ credential }) => credential));
  const headers: Record<string, string> = { 'Content-Type': request.contentType, ...request.headers };
  let body = message;
  for (const { name, header, placeholder, format } of credentials) {
    const value = values[header] ?? '';
    if (value === '') continue;
    const isPlaced = !inHeaders.has(name) && message.includes(placeholder);
    if (!isPlaced) headers[header] = format.replace('{}', () => value);
    else body = body.replaceAll(placeholder, () => escaped(value, request.format));
  }
  return { url: base + request.path.slice(1), headers, body, shown: message };
}

function escaped(value: string, format: RequestDescription['format']): string {
  return format === 'json' ? JSON.stringify(value).slice(1, -1) : escapeXml(value);
}

/** Indents a reply: XML and JSON get one element or member per line. Other texts are returned unchanged. */
export function indented(text: string, contentType: string): string {
  if (/[/+]json\b/i.test(contentType)) return isJson(text) ? indentJson(text).trimEnd() : text;
  if (!/[/+]xml\b/i.test(contentType)) return text;
  const declaration = /^<\?xml[^>]*\?>\s*/.exec(text)?.[0] ?? '';
  const xml = text.slice(declaration.length);
  // the indenter does not support comments, CDATA and processing instructions
  if (/<[!?]/.test(xml)) return text;
  return `${declaration.trim()}${declaration === '' ? '' : '\n'}${indentXml(xml).trimEnd()}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON functions that keep the digits of numbers, in browsers that have them. */
interface RawJson {
  rawJSON?: (text: string) => unknown;
}

/** Removes a member from a JSON object. Other JSON texts are returned unchanged. */
function withoutMember(text: string, member: string | undefined): string {
  if (member === undefined) return text;
  const raw = JSON as RawJson;
  const reviver = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined && raw.rawJSON !== undefined
      ? raw.rawJSON(context.source)
      : value;
  const parsed: unknown = JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return text;
  const rest = Object.entries(parsed).filter(([name]) => name !== member);
  return `${JSON.stringify(Object.fromEntries(rest), null, 2)}\n`;
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
