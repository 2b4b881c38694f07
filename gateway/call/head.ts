import type { IncomingHttpHeaders } from 'node:http';
import { type ContentType, parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { type RelatedType, RelatedTypeError, readRelatedType } from '../../mappings/http-mapping/related.ts';

/** The header fields of a message. `rawHeaders` has each as it came, name and value in turn: repeated ones are told apart there. */
export interface MessageHead {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

/** What the head of a request says, parsed once. It is plain data, so it can cross to another thread. */
export interface RequestHead extends MessageHead {
  readonly contentType: ContentType;
  /** What a Content-Type of `multipart/related` says (W57), or why it can't be read; undefined for any other type. */
  readonly related: RelatedType | RelatedTypeError | undefined;
  /** What SOAPAction says (SOAP 1.1, 6.1.1), without quotes and blanks around it; undefined for no such field. */
  readonly soapAction: string | undefined;
}

/** What SOAP messages with parts come in. */
const relatedType = 'multipart/related';

/** Parses the head of a request. */
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
