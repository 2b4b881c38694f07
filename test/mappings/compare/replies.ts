import { readReply } from '../../../gateway/call/outcome.ts';
import { soapReply } from '../../../gateway/protocols/reply.ts';
import { soap11, soap12 } from '../../../gateway/protocols/soap/versions.ts';
import type { ReplyBytes } from '../../../mappings/compare/comparison.ts';
import { compileContract } from '../../../mappings/compile.ts';
import type { Contract } from '../../../mappings/contract/model.ts';

/** A reply of a stub service. */
export interface StubReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Returns a reply of the legacy service as its bytes. */
export function legacyReply({ status, headers = {}, body }: StubReply): ReplyBytes {
  const contentType = headers['content-type'] ?? 'text/xml; charset=utf-8';
  return { status, contentType, body: Buffer.from(body) };
}

/** Returns a function that writes the answer of the new service as the gateway does. */
export function compileNewReply(contract: Contract) {
  const compiled = compileContract(contract);
  return (name: string, { status, body }: StubReply, version: '1.1' | '1.2' = '1.1'): ReplyBytes => {
    const operation = compiled.operations.get(name);
    if (operation === undefined) throw new RangeError(name);
    const soap = version === '1.1' ? soap11 : soap12;
    const answer = { status, headers: {}, body: Buffer.from(body), retryAfter: undefined };
    const outcome = readReply(answer, compiled, operation, (text) => text, soap.frame);
    const context = {
      compiled,
      operation,
      requestId: 'r',
      header: undefined,
      upstreamStatus: status,
      asXml: false,
    };
    const reply = soapReply(soap, outcome, context);
    const bytes =
      reply.binary === true && typeof reply.body === 'string'
        ? Buffer.from(reply.body, 'latin1')
        : Buffer.from(String(reply.body));
    return { status: reply.status, contentType: reply.contentType, body: bytes };
  };
}

/** Returns an envelope of SOAP 1.1 with this content. */
export function envelope(body: string, header = ''): string {
  const head = header === '' ? '' : `<s:Header>${header}</s:Header>`;
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">${head}<s:Body>${body}</s:Body></s:Envelope>`;
}
