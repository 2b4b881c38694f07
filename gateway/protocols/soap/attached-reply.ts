import { randomBytes } from 'node:crypto';
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
