/**
 * A time zone as W16 and W17 use it. Instants are ms since 1970-01-01T00:00:00Z; a wall clock is the ms that
 * its reading would be in UTC. Both functions take and give whole ms between year 1 and year 9999, a day over
 * at either end.
 */
export interface Zone {
  readonly name: string;
  /** What the zone's clocks show at an instant. */
  wallOf(instant: number): number;
  /** When they show it. Where that is twice or never, the smaller of the two UTC offsets decides (W16). */
  instantOf(wall: number): number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** The mean Gregorian year: 400 of them are exactly 146,097 days, which are whole weeks too. */
const YEAR = 31_556_952 * SECOND;
const CYCLE = 400 * YEAR;

/** In 1800 each town still kept its own mean time; by 1980 every zone had left that. */
const MEAN_TIME = -170 * YEAR;
const STANDARD_TIME = 10 * YEAR;
/** From 2100 on each zone follows one fixed rule (the last dated entries, Morocco's, end in 2087): 400 years repeat. */
const RULES_ONLY = 130 * YEAR;
/** The shortest time between two changes in the database is a week less an hour; before 1920, a month. */
const STEP = 5 * DAY;
const EARLY_STEP = 5 * STEP;
/** Wall clock and instant are never further apart than this. */
const MARGIN = 2 * DAY;

const utc: Zone = { name: 'UTC', wallOf: (instant) => instant, instantOf: (wall) => wall };

type OffsetAt = (instant: number) => number;

interface Change {
  readonly since: number;
  readonly offset: number;
}

/** A stretch of time with one UTC offset, and the one before it as far as the year that holds them needs it. */
interface Span extends Change {
  /** The first reading in it: where a wall clock moves over to this span gives W16's smaller offset, in gaps and overlaps alike. */
  readonly sinceWall: number;
  readonly before: Span | undefined;
}

/**
 * The zone of an IANA name, by `Intl.DateTimeFormat` alone and so never by the process's `TZ`. Its changes of
 * offset are looked up year by year when first asked for, and kept. RangeError for a name that isn't one.
 *
 * Before the first standard time stands the first standard offset (W16). What that replaces is the zone's
 * offset of 1800 for as long as it lasts: `Intl` knows no names, so a mean time made the standard unchanged (Paris
 * in 1891) is still taken for the local one. Where the first change is to a summer hour, the mean time had
 * surely become the standard (Dublin's −0:25:21), and stays.
 */
export function createZone(name: string): Zone {
  if (name === 'UTC') return utc; // without Intl, whose first use takes 20 ms
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

/** The offset in ms that a text such as `07 PM GMT-04:56:02` ends with; zero may be a bare `GMT`. */
function parseOffset(text: string): number {
  const [hours = '0', minutes = '0', seconds = '0'] = text.slice(text.indexOf('GMT') + 4).split(':');
  const size = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * SECOND;
  return text.includes('GMT+') ? size : -size;
}

/** A time with the same offset in the years that have to be looked at. */
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

/** The same offsets, but with the first standard one instead of the local mean time before it. */
function standardized(offsetAt: OffsetAt): OffsetAt {
  const mean = offsetAt(MEAN_TIME);
  for (const first of changes(offsetAt, MEAN_TIME, STANDARD_TIME, EARLY_STEP)) {
    const moved = first.offset - mean;
    // The date line went by (Alaska, Samoa, the Philippines): another day, the same mean time.
    if (moved % DAY === 0) continue;
    if (moved % HOUR === 0) break;
    return (instant) => (instant < first.since ? first.offset : offsetAt(instant));
  }
  return offsetAt;
}

/** Each change of offset after `from` and up to `to`, in order, where none comes back within a `step`; changes fall on whole seconds. */
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
