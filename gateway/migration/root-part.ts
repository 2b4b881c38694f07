import { RelatedError, RelatedTypeError } from '../../mappings/http-mapping/related.ts';
import { type RelatedRoot, rootIn } from '../../mappings/http-mapping/related-stream.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Returns the first part of a package; undefined for another message, and if the part is not readable as plain bytes. */
export function rootOf(
  bytes: Buffer,
  { head: { related }, options }: Pick<RequestContext, 'head' | 'options'>,
): RelatedRoot | undefined {
  if (related === undefined || related instanceof RelatedTypeError) return undefined;
  try {
    return rootIn(bytes, related, options.service.compiled.limits);
  } catch (error) {
    if (!(error instanceof RelatedError)) throw error;
    return undefined;
  }
}

/** Returns true if a request is an MTOM package (W57), and false for SOAP with Attachments (W58). */
export function isMtomRequest(bytes: Buffer, context: Pick<RequestContext, 'head' | 'options'>): boolean {
  const { related } = context.head;
  if (related === undefined || related instanceof RelatedTypeError) return false;
  return (related.form ?? rootOf(bytes, context)?.form) === 'mtom';
}
