import type { IncomingHttpHeaders } from 'node:http';
import { type ContentType, parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { type RelatedType, RelatedTypeError, readRelatedType } from '../../mappings/http-mapping/related.ts';

/**
 * Header fields of a message. `rawHeaders` alternates names and values as received, so it keeps repeated fields
 * separate.
 */
export interface MessageHead {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

/** Head of a request, parsed once. It is plain data, so it can be sent to another thread. */
export interface RequestHead extends MessageHead {
  readonly contentType: ContentType;
  /** Parsed Content-Type of `multipart/related` (W57), or the error in it; undefined for any other type. */
  readonly related: RelatedType | RelatedTypeError | undefined;
  /**
   * Value of SOAPAction (SOAP 1.1, 6.1.1) without surrounding quotes and whitespace; undefined if the field is missing.
   */
  readonly soapAction: string | undefined;
}

/** Media type of SOAP messages with attachments. */
const relatedType = 'multipart/related';

export function readHead({ headers, rawHeaders }: MessageHead): RequestHead {
  const text = headers['content-type'] ?? '';
  const contentType = parseContentType(text);
  return {
    headers,
    rawHeaders,
    contentType,
    related: contentType.type === relatedType ? relatedIn(text) : undefined,
    soapAction: typeof headers.soapaction === 'string' ? actionIn(headers.soapaction) : undefined,
  };
}

function relatedIn(header: string): RelatedType | RelatedTypeError {
  try {
    return readRelatedType(header);
  } catch (error) {
    if (error instanceof RelatedTypeError) return error;
    throw error;
  }
}

function actionIn(header: string): string {
  const text = header.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}
