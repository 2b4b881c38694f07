import type { FormDescription, RequestDescription } from '../../description.ts';
import { escapeXml, type Form, type Member, writePayload } from './model.ts';

const envelopes = {
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
} as const;

/**
 * Returns the message of a form in one format. XML and SOAP have the values of the form's fields. JSON, and each message
 * of an adopted service, is the sample request: the visitor edits its text. JSON has no credentials.
 */
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

/** `JSON.rawJSON`, which keeps the digits of numbers. Some browsers do not have it. */
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
