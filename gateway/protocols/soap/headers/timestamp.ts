import { instantFromXml } from '../../../../mappings/codec/scalars/dates.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { quoteElement, type Reason } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';

/** Code and reason of an invalid Timestamp. */
export interface TimestampProblem {
  readonly code: 'InvalidSecurity' | 'MessageExpired';
  readonly reason: Reason;
}

/**
 * Reads a Timestamp from its start tag to its end tag, and checks that it is valid at a time (W48). It must have one
 * Created, and may have one Expires after it. Throws XmlError.
 *
 * @param now time in ms since 1970
 * @returns the error; undefined for a valid Timestamp
 */
export function readTimestamp(xml: ContentReader, now: number, limits: Limits): TimestampProblem | undefined {
  const given: { created?: number; expires?: number } = {};
  let reason: Reason | undefined;
  while (xml.nextChild()) {
    const { namespace, local } = xml;
    const isCreated = local === 'Created' && given.created === undefined && given.expires === undefined;
    const isExpires = local === 'Expires' && given.created !== undefined && given.expires === undefined;
    if (namespace !== namespaces.wsu || !(isCreated || isExpires)) {
      reason ??= {
        expected: 'one Created, and at most one Expires after it, in Timestamp',
        got: quoteElement(local),
      };
      xml.skip();
      continue;
    }
    const instant = instantFromXml(xml.readText(limits.xmlText, false) ?? '');
    if (instant === undefined)
      reason ??= { expected: `an xs:dateTime in ${local} of Timestamp`, got: 'other text' };
    given[isCreated ? 'created' : 'expires'] = instant ?? Number.NaN;
  }
  if (xml.hasText) reason ??= { expected: 'only elements in Timestamp', got: 'text' };
  const { created, expires } = given;
  if (created === undefined) reason ??= { expected: 'Created in Timestamp', got: 'none' };
  if (reason === undefined && created !== undefined) {
    if (expires !== undefined && expires <= created)
      reason = { expected: 'Expires of Timestamp after Created' };
    else {
      const late = windowProblem(
        'Timestamp',
        { created, end: expires ?? created + limits.wsseFreshMs },
        now,
        limits,
      );
      return late === undefined ? undefined : { code: 'MessageExpired', reason: late };
    }
  }
  return reason === undefined ? undefined : { code: 'InvalidSecurity', reason };
}

/**
 * Checks whether a time window on the caller's clock contains `now`, within the allowed clock skew (W48). Returns
 * undefined, or the reason with both times and the difference in seconds. All times are in ms since 1970.
 */
export function windowProblem(
  what: string,
  { created, end }: { readonly created: number; readonly end: number },
  now: number,
  { wsseSkewMs }: Limits,
): Reason | undefined {
  if (created > now + wsseSkewMs)
    return {
      detail: `${what} was created at ${timeOf(created)}, ${here(now)}: ${seconds(created - now - wsseSkewMs)} s too early`,
    };
  if (now > end + wsseSkewMs)
    return {
      detail: `${what} expired at ${timeOf(end)}, ${here(now)}: ${seconds(now - end - wsseSkewMs)} s too late`,
    };
  return undefined;
}

function here(now: number): string {
  return `the time of the gateway is ${new Date(now).toISOString()}`;
}

/** Formats a time. With an offset it may be outside the range of Date. */
function timeOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'a time out of range';
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** Writes a Security block with a Timestamp of the gateway. `now` is in ms since 1970 (W53). */
export function writeTimestamp(now: number): string {
  const created = new Date(now).toISOString();
  const expires = new Date(now + ownLifetimeMs).toISOString();
  return (
    `<o:Security xmlns:o="${namespaces.wsse}"><u:Timestamp xmlns:u="${namespaces.wsu}" u:Id="_0">` +
    `<u:Created>${created}</u:Created><u:Expires>${expires}</u:Expires></u:Timestamp></o:Security>`
  );
}

const ownLifetimeMs = 300_000;
