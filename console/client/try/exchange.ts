import { indentJson, indentXml } from '../../../wsdl/samples/indent.ts';
import type { FormDescription, RequestDescription } from '../../description.ts';
import { escapeXml, type Form, type Member, writePayload } from './model.ts';

/** A request as it is about to be sent. */
export interface OutgoingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body with placeholders in place of credentials. */
  readonly shown: string;
}

/** What came back. */
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

/** The message of a form in one of its forms; JSON begins with the sample, without credentials in the body. */
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
 * The call of a message with the credentials that the visitor typed: each in its HTTP header, or in place of its placeholder
 * where the message has one.
 *
 * @param values by the names of the credentials' headers
 * @param base the way from the page to the contract's base path
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

/** A reply as people read it: XML and JSON with an element or a member in each line. */
export function indented(text: string, contentType: string): string {
  if (/[/+]json\b/i.test(contentType)) return isJson(text) ? indentJson(text).trimEnd() : text;
  if (!/[/+]xml\b/i.test(contentType)) return text;
  const declaration = /^<\?xml[^>]*\?>\s*/.exec(text)?.[0] ?? '';
  const xml = text.slice(declaration.length);
  // comments, CDATA and instructions are not for the indenter
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

/** JSON that keeps the digits of its numbers, where the browser can. */
interface RawJson {
  rawJSON?: (text: string) => unknown;
}

/** JSON without one of its members; the text itself where it isn't an object. */
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

/** Sends a call to the gateway that the page is of; nothing else is told of it. Throws TypeError where there is no answer. */
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
