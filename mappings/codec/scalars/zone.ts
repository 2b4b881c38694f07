/**
 * A time zone for W16 and W17. Instants are ms since 1970-01-01T00:00:00Z. A wall clock is the ms that its date and
 * time would have in UTC. Both functions accept and return whole ms between the years 1 and 9999, with a tolerance of
 * one day.
 */
export interface Zone {
  readonly name: string;
  /** Returns the wall clock of the zone at an instant. */
  wallOf(instant: number): number;
  /**
   * Returns the instant of a wall clock. If it occurs twice or never, the smaller of the two UTC offsets applies (W16).
   */
  instantOf(wall: number): number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** The mean Gregorian year. 400 of them are exactly 146,097 days, which are whole weeks too. */
const YEAR = 31_556_952 * SECOND;
const CYCLE = 400 * YEAR;

/** In 1800 each town used its own mean time; by 1980 no zone did. */
const MEAN_TIME = -170 * YEAR;
const STANDARD_TIME = 10 * YEAR;
/**
 * From 2100 on each zone follows one fixed rule, which repeats after 400 years. The last dated entries, those of
 * Morocco, end in 2087.
 */
const RULES_ONLY = 130 * YEAR;
/** The shortest time between two changes in the database is a week minus an hour; before 1920, a month. */
const STEP = 5 * DAY;
const EARLY_STEP = 5 * STEP;
/** Maximum difference between wall clock and instant. */
const MARGIN = 2 * DAY;

const utc: Zone = { name: 'UTC', wallOf: (instant) => instant, instantOf: (wall) => wall };

type OffsetAt = (instant: number) => number;

interface Change {
  readonly since: number;
  readonly offset: number;
}

/** A period with one UTC offset, linked to the previous period of the same year. */
interface Span extends Change {
  /** Its first wall clock. At gaps and overlaps, this boundary selects the smaller offset of W16. */
  readonly sinceWall: number;
  readonly before: Span | undefined;
}

/**
 * Creates the zone of an IANA name with `Intl.DateTimeFormat`, independent of the process's `TZ`. Its offset changes
 * are computed per year on first use, and cached. Throws RangeError for an unknown name.
 *
 * The first standard offset also applies to all times before it (W16). It replaces the zone's offset of 1800 as long as
 * that lasts. `Intl` has no names of offsets, so a mean time that became the standard unchanged (Paris in 1891) still
 * counts as local. If the first change is to a summer hour, the mean time must have become the standard (Dublin's
 * −0:25:21), and it is kept.
 */
export function createZone(name: string): Zone {
  if (name === 'UTC') return utc; // avoids Intl, which is slow on its first use
  const format = formatOf(name);
  if (format.resolvedOptions().timeZone === 'UTC') return { ...utc, name };
  const offsetAt = standardized((instant) => parseOffset(format.format(instant)));
  const years = new Map<number, Span>();

  function spansOf(time: number): Span {
    const year = Math.floor(time / YEAR);
    let spans = years.get(year);
    if (spans === undefined) {
      spans = compileYear(offsetAt, year * YEAR);
      years.set(year, spans);
    }
    return spans;
  }

  return {
    name,
    wallOf(instant) {
      const time = representative(instant);
      let span = spansOf(time);
      while (span.before !== undefined && time < span.since) span = span.before;
      return instant + span.offset;
    },
    instantOf(wall) {
      const time = representative(wall);
      let span = spansOf(time);
      while (span.before !== undefined && time < span.sinceWall) span = span.before;
      return wall - span.offset;
    },
  };
}

/** Returns the zone with a name of the IANA database; undefined for another name. */
export function zoneNamed(name: string): Zone | undefined {
  try {
    return createZone(name);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, hour: '2-digit', timeZoneName: 'longOffset' });
  } catch (cause) {
    throw new RangeError(
      `time zone: expected a name of the IANA database, got ${JSON.stringify(timeZone.slice(0, 64))}`,
      { cause },
    );
  }
}

/** Parses the offset at the end of a text such as `07 PM GMT-04:56:02`, in ms. Zero may be a bare `GMT`. */
function parseOffset(text: string): number {
  const [hours = '0', minutes = '0', seconds = '0'] = text.slice(text.indexOf('GMT') + 4).split(':');
  const size = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * SECOND;
  return text.includes('GMT+') ? size : -size;
}

/** Returns a time with the same offset within the years that are computed. */
function representative(time: number): number {
  if (time < MEAN_TIME) return MEAN_TIME;
  return time < RULES_ONLY ? time : RULES_ONLY + ((time - RULES_ONLY) % CYCLE);
}

function compileYear(offsetAt: OffsetAt, start: number): Span {
  const from = start - MARGIN;
  let span: Span = { since: from, sinceWall: from, offset: offsetAt(from), before: undefined };
  for (const { since, offset } of changes(offsetAt, from, start + YEAR + MARGIN, STEP)) {
    span = { since, sinceWall: since + offset, offset, before: span };
  }
  return span;
}

/** Replaces the local mean time with the first standard offset. */
function standardized(offsetAt: OffsetAt): OffsetAt {
  const mean = offsetAt(MEAN_TIME);
  for (const first of changes(offsetAt, MEAN_TIME, STANDARD_TIME, EARLY_STEP)) {
    const moved = first.offset - mean;
    // The date line moved (Alaska, Samoa, the Philippines): another day, the same mean time.
    if (moved % DAY === 0) continue;
    if (moved % HOUR === 0) break;
    return (instant) => (instant < first.since ? first.offset : offsetAt(instant));
  }
  return offsetAt;
}

/**
 * Yields each change of offset after `from` and up to `to`, in order. Changes that are undone within a `step` are
 * missed. Changes are at whole seconds.
 */
function* changes(offsetAt: OffsetAt, from: number, to: number, step: number): Generator<Change> {
  let offset = offsetAt(from);
  let seen = from;
  while (seen < to) {
    const probe = Math.min(seen + step, to);
    if (offsetAt(probe) === offset) {
      seen = probe;
      continue;
    }
    let since = probe;
    while (since - seen > SECOND) {
      const middle = seen + Math.floor((since - seen) / (2 * SECOND)) * SECOND;
      if (offsetAt(middle) === offset) seen = middle;
      else since = middle;
    }
    offset = offsetAt(since);
    seen = since;
    yield { since, offset };
  }
}
