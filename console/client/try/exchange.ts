import type { FormDescription, RequestDescription } from '../../description.ts';
import { escapeXml, type Form, type Member, writePayload } from './model.ts';

/** A request as it is about to be sent. */
export interface OutgoingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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
