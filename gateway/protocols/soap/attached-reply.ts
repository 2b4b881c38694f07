import { randomBytes, randomUUID } from 'node:crypto';
import { EncodedPiece, type Reply } from '../../http/reply.ts';
import type { SoapVersion } from './versions.ts';

/**
 * Writes an envelope and its binary parts as an MTOM message (W66). Each detail of the form is required by some client.
 *
 * @param letters base64 of each part, in the order of the references, from `cid:1@soapbridge` on
 */
export function attachedReply(
  { contentType }: SoapVersion,
  envelope: Buffer | string | readonly Buffer[],
  letters: readonly Buffer[],
): Pick<Reply, 'contentType' | 'body'> {
  const [type = ''] = contentType.split(';');
  const boundary = `soapbridge-${randomBytes(16).toString('hex')}`;
  const begin = (id: string, partType: string, isFirst = false): Buffer =>
    Buffer.from(
      `${isFirst ? '' : '\r\n'}--${boundary}\r\nContent-ID: <${id}@soapbridge>\r\nContent-Transfer-Encoding: binary\r\nContent-Type: ${partType}\r\n\r\n`,
    );
  const pieces = typeof envelope === 'string' ? [Buffer.from(envelope, 'latin1')] : [envelope].flat();
  return {
    contentType: `multipart/related; type="application/xop+xml"; start="<root@soapbridge>"; start-info="${type}"; boundary="${boundary}"`,
    body: [
      begin('root', `application/xop+xml; charset=utf-8; type="${type}"`, true),
      ...pieces,
      ...letters.flatMap((part, index) => [
        begin(String(index + 1), 'application/octet-stream'),
        new EncodedPiece(part),
      ]),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ],
  };
}

/** Content-ID of the envelope in each package, as CXF writes it (G23). */
const rootOfPackage = 'root.message@cxf.apache.org';

/**
 * Writes an envelope and its binary parts as a package in the form of CXF, for callers that read no other replies (G23).
 *
 * @param letters base64 of each part, in the order of the references, from `cid:1@soapbridge` on
 */
export function packagedReply(
  { contentType }: SoapVersion,
  envelope: Buffer | string | readonly Buffer[],
  letters: readonly Buffer[],
): Pick<Reply, 'contentType' | 'body'> {
  const [type = ''] = contentType.split(';');
  const boundary = `uuid:${randomUUID()}`;
  const begin = (id: string, partType: string): Buffer =>
    Buffer.from(
      `--${boundary}\r\nContent-Type: ${partType}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`,
    );
  const pieces = typeof envelope === 'string' ? [Buffer.from(envelope, 'latin1')] : [envelope].flat();
  return {
    contentType: `multipart/related; type="application/xop+xml"; boundary="${boundary}"; start="<${rootOfPackage}>"; start-info="${type}"`,
    body: [
      begin(rootOfPackage, `application/xop+xml; charset=UTF-8; type="${type}"`),
      ...pieces,
      ...letters.flatMap((part, index) => [
        lineEnd,
        begin(`${index + 1}@soapbridge`, 'application/octet-stream'),
        new EncodedPiece(part),
      ]),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ],
  };
}

const lineEnd = Buffer.from('\r\n');

/** Returns a SOAP reply as a package (G23). Returns a package, a plain text or an empty reply unchanged. */
export function inPackage(version: SoapVersion, reply: Reply): Reply {
  const { body, binary, contentType, ...rest } = reply;
  if (!/xml/.test(contentType) || contentType.startsWith('multipart/') || body.length === 0) return reply;
  if (typeof body !== 'string' && !Buffer.isBuffer(body) && !body.every((piece) => Buffer.isBuffer(piece)))
    return reply;
  const envelope = typeof body === 'string' ? Buffer.from(body, binary === true ? 'latin1' : 'utf8') : body;
  return { ...rest, ...packagedReply(version, envelope, []) };
}
