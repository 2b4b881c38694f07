import type { ExecutionContext } from 'ava';
import { compileContract } from '../../../mappings/compile.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { indentXml } from '../../../wsdl/samples/indent.ts';
import {
  createSampler,
  type MessageSample,
  type OperationSamples,
  type RequestSample,
} from '../../../wsdl/samples/samples.ts';
import { type Answer, type Gateway, startGateway } from '../../gateway/gateway.ts';

/**
 * Sends the samples of a contract's operations through a gateway. Each must be accepted, and the SOAP 1.1 reply must
 * equal its sample.
 *
 * @param most maximum number of operations, spread over the contract
 */
export async function checkSamples(
  t: ExecutionContext,
  contract: string,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const compiled = compileContract(readContract(contract).contract);
  const names = [...compiled.operations.keys()];
  const step = Math.max(1, Math.ceil(names.length / most));
  const sampler = createSampler(compiled);
  const gateway = await startGateway(t, { serve: { contract } });
  let sent = 0;
  for (const operation of names.filter((_, index) => index % step === 0)) {
    const samples = sampler.samplesOf(operation);
    if (samples === undefined) return t.fail(operation);
    gateway.answer(answerOf(samples));
    for (const request of samples.requests) {
      const reply = await send(gateway, request);
      const text = `${operation} ${request.format}: ${reply.text}\n${request.text}`;
      t.true(reply.status < 300 && !/<\w*:?Fault|ErrorCode>/.test(reply.text), text);
      const sample: MessageSample | undefined = samples.replies.find(
        ({ format }) => format === request.format,
      );
      if (sample?.format === 'soap11') t.is(indented(reply.text), indented(sample.text), operation);
      sent++;
    }
  }
  t.true(sent >= 4);
}

/** Sends a sample with the credentials that belong in HTTP headers. */
async function send(gateway: Gateway, { path, headers, contentType, text, credentials }: RequestSample) {
  const given = credentials.map(({ header, value }) => [header, value] as const);
  const reply = await fetch(gateway.running.address + path, {
    method: 'POST',
    headers: { ...Object.fromEntries(given), ...headers, 'content-type': contentType, connection: 'close' },
    body: text,
  });
  return { status: reply.status, text: await reply.text() };
}

/** Returns the upstream's reply for the samples of an operation. */
function answerOf({ upstreamReply }: OperationSamples): Answer {
  if (upstreamReply === undefined) return { status: 202 };
  const { status, headers, body } = upstreamReply;
  return { status, headers: { ...headers }, body: Buffer.from(body) };
}

/** Returns the content of an envelope's Body, since the SOAP prefix differs between samples and replies. */
function indented(xml: string): string {
  const body = /<\w+:Body>([\s\S]*)<\/\w+:Body>/.exec(xml)?.[1] ?? xml;
  return indentXml(body.replace(/>\n\s*(?=<)/g, '>').trim());
}
