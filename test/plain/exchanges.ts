import { type Gateway, send, soap11Namespace } from '../gateway/gateway.ts';
import { answerWith, callOf, type Exchange } from './exchange-files.ts';

/** Result of an exchange, for comparison with the expectation. */
export interface Outcome {
  readonly calls: readonly object[];
  /** Content of the reply's SOAP Body. */
  readonly reply: string | undefined;
}

/** Makes an exchange on a gateway. Exchanges must not overlap, since each sets the upstream's response. */
export async function makeExchange(gateway: Gateway, { request, answer }: Exchange): Promise<Outcome> {
  const before = gateway.hits.length;
  gateway.answer((_, response) => answerWith(answer, response));
  const { pathname } = new URL(gateway.running.address);
  const envelope = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${request}</s:Body></s:Envelope>`;
  const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
  const reply = await send(gateway.port, 'POST', `${pathname.replace(/\/$/, '')}/soap11`, headers, envelope);
  const content = /<(?:\w+:)?Body>(.*)<\/(?:\w+:)?Body>/s.exec(reply.text)?.[1];
  return {
    calls: gateway.hits.slice(before).map(callOf),
    // a fault contains its request's id, which changes
    reply: content?.replace(/ \(request [\w-]+\)/, '').replace(/<requestId>[\w-]+<\/requestId>/, ''),
  };
}
