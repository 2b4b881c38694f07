import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { Waiting } from './upstream.ts';
import type { Line } from './upstream-state.ts';

/** HTTP headers of an upstream call. */

/**
 * Returns the headers of an upstream call as a flat array of names and values, which undici processes fastest. It
 * includes the request id and trace headers (W3C Trace Context), unless the contract sets these headers. A body that is
 * written in pieces gets a Content-Length.
 */
export function headersOf(
  own: UpstreamRequest['headers'],
  body: UpstreamRequest['body'],
  { requestId, request }: Waiting,
  line: Line['headers'],
): string[] {
  const headers = [requestIdName, requestId];
  let hasTrace = false;
  for (const name in own) {
    if (line !== undefined && name in line) continue;
    const value = own[name] as string;
    if (name.length === requestIdName.length && name.toLowerCase() === requestIdName) headers[1] = value;
    else headers.push(name, value);
    if (name.length <= traceName.length) hasTrace ||= traceNames.has(name.toLowerCase());
  }
  if (line !== undefined) for (const name in line) headers.push(name, line[name] as string);
  const { traceparent, tracestate } = request.headers;
  if (!hasTrace && typeof traceparent === 'string' && traceparentForm.test(traceparent)) {
    headers.push(traceName, traceparent);
    if (typeof tracestate === 'string' && tracestateForm.test(tracestate))
      headers.push('tracestate', tracestate);
  }
  if (body instanceof FilledBody) headers.push('content-length', String(body.length));
  return headers;
}

const requestIdName = 'x-request-id';

const traceName = 'traceparent';

const traceNames: ReadonlySet<string> = new Set([traceName, 'tracestate']);

/** Version, trace, parent and flags. */
const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Maximum length that the specification requires to be passed on. */
const tracestateForm = /^[\x20-\x7e]{1,512}$/;
