import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BigCall, type BigRow, documentOf, measureCalls } from './big.ts';

const document = {
  type: 'object',
  properties: { name: { type: 'string' }, content: { type: 'string', format: 'byte' } },
};
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Documents', version: '1' },
  paths: {
    '/documents': {
      post: {
        operationId: 'StoreDocument',
        requestBody: { content: { 'application/json': { schema: document } } },
        responses: {
          200: { description: 'the document', content: { 'application/json': { schema: document } } },
        },
      },
    },
  },
};
const overlay = 'dialect: plain\nnamespaces: { types: "urn:example:documents" }\nmtomReplies: requested\n';

const envelopeOf = (content: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><StoreDocument xmlns="urn:example:documents"><Body><name>a.pdf</name>${content}</Body></StoreDocument></s:Body></s:Envelope>`;

/** Returns an MTOM message with at most one part. */
function related(envelope: string, part?: Buffer): Pick<BigCall, 'headers' | 'body'> {
  const head = (id: string, type: string): string =>
    `--b\r\nContent-ID: <${id}>\r\nContent-Type: ${type}\r\n\r\n`;
  const pieces = [
    head('root', 'application/xop+xml; charset=utf-8; type="text/xml"'),
    envelope,
    ...(part === undefined ? [] : ['\r\n', head('part', 'application/octet-stream'), part]),
    '\r\n--b--\r\n',
  ];
  const type =
    'multipart/related; type="application/xop+xml"; start="<root>"; start-info="text/xml"; boundary="b"';
  return {
    headers: { 'content-type': type },
    body: Buffer.concat(pieces.map((piece) => Buffer.from(piece))),
  };
}

/** Measures a document of 10 MB in a request, as base64 and as an MTOM part, and one of 50 MB in an MTOM reply. */
export async function measureMtom(rounds: number): Promise<readonly BigRow[]> {
  const contract = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  try {
    writeFileSync(join(contract, 'openapi.json'), JSON.stringify(openapi));
    writeFileSync(join(contract, 'soap.yaml'), overlay);
    const [ten, fifty] = [documentOf(10), documentOf(50)];
    const call = {
      contract,
      path: '/soap11',
      megabytes: 10,
      reply: Buffer.from('{"name":"a.pdf"}'),
      least: 100,
    };
    const include = '<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:part"/>';
    return await measureCalls(
      [
        {
          ...call,
          what: 'a request, base64 in its envelope',
          headers: { 'content-type': 'text/xml; charset=utf-8' },
          body: envelopeOf(`<content>${ten.toString('base64')}</content>`),
        },
        {
          ...call,
          what: 'the same request, with an MTOM part',
          ...related(envelopeOf(`<content>${include}</content>`), ten),
        },
        {
          ...call,
          what: 'a reply with an MTOM part',
          megabytes: 50,
          ...related(envelopeOf('')),
          reply: Buffer.from(`{"name":"a.pdf","content":"${fifty.toString('base64')}"}`),
          least: fifty.length,
        },
      ],
      rounds,
    );
  } finally {
    rmSync(contract, { recursive: true });
  }
}
