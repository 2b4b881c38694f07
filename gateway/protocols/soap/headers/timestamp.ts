import { instantFromXml } from '../../../../mappings/codec/scalars/dates.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import type { Reason } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';

/** The code and the data of a wrong Timestamp. */
export interface TimestampProblem {
  readonly code: 'InvalidSecurity' | 'MessageExpired';
  readonly reason: Reason;
}

/**
 * Reads a Timestamp, from behind its start tag to behind its end tag: one Created, at most one Expires behind it, and looks
 * whether it holds at an instant (W48). Throws XmlError.
 *
 * @param now in ms since 1970
 * @returns what is wrong with it; undefined for nothing
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
        expected: 'Created, once, and at most one Expires behind it in Timestamp',
        got: `<${local.slice(0, 64)}>`,
      };
      xml.skip();
      continue;
    }
    const instant = instantFromXml(xml.readText(limits.xmlText, false) ?? '');
    if (instant === undefined)
      reason ??= { expected: `an xs:dateTime in ${local} of Timestamp`, got: 'other text' };
    given[isCreated ? 'created' : 'expires'] = instant ?? Number.NaN;
  }
  if (xml.stray) reason ??= { expected: 'only elements in Timestamp', got: 'text' };
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
 * Whether something of a caller's clock holds at an instant, give or take what clocks may be off (W48): undefined, or why
 * not, with both times and the seconds between. All times in ms since 1970.
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
      detail: `${what} ended at ${timeOf(end)}, ${here(now)}: ${seconds(now - end - wsseSkewMs)} s too late`,
    };
  return undefined;
}

function here(now: number): string {
  return `the time here is ${new Date(now).toISOString()}`;
}

/** A time as it is told; those of years that a Date lacks aren't, as offsets may lead there. */
function timeOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'another age';
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** A Timestamp of ours as a header block; `now` in ms since 1970 (W53). */
export function writeTimestamp(now: number): string {
  const created = new Date(now).toISOString();
  const expires = new Date(now + ownLifetimeMs).toISOString();
  return (
    `<o:Security xmlns:o="${namespaces.wsse}"><u:Timestamp xmlns:u="${namespaces.wsu}" u:Id="_0">` +
    `<u:Created>${created}</u:Created><u:Expires>${expires}</u:Expires></u:Timestamp></o:Security>`
  );
}

const ownLifetimeMs = 300_000;
