/** Dates from one pattern to another (M2): YYYY, MM, DD, hh, mm, ss, Z (an offset or Z); all else stands for itself. */

const words = /YYYY|MM|DD|hh|mm|ss|Z/g;
const fields: Readonly<Record<string, RegExp>> = {
  YYYY: /[0-9]{4}/y,
  MM: /0[1-9]|1[0-2]/y,
  DD: /0[1-9]|[12][0-9]|3[01]/y,
  hh: /[01][0-9]|2[0-4]/y,
  mm: /[0-5][0-9]/y,
  ss: /[0-5][0-9](?:\.[0-9]{1,12})?/y,
  Z: /Z|[+-][0-9]{2}:[0-9]{2}|/y,
};

/** What stands where the source says nothing of it. */
const missing: Readonly<Record<string, string>> = {
  MM: '01',
  DD: '01',
  hh: '00',
  mm: '00',
  ss: '00',
  Z: 'Z',
};

/** A date's text in the target's form; undefined for a text that isn't of the source's form. */
export type DateWriter = (text: string) => string | undefined;

/**
 * Compiles two patterns. `DD.MM.YYYY` and `YYYY-MM-DD` are two; in the target fields that the source lacks are the first
 * day or midnight, and UTC.
 *
 * @returns a sentence where a pattern says nothing of a date, or the same twice
 */
export function compileDates(from: string, to: string): DateWriter | string {
  const names: string[] = from.match(words) ?? [];
  const targets: string[] = to.match(words) ?? [];
  if (names.length === 0 || new Set(names).size < names.length || targets.length === 0)
    return 'expected patterns of YYYY, MM, DD, hh, mm, ss and Z, each once';
  const lost = targets.find((name) => !names.includes(name) && missing[name] === undefined);
  if (lost !== undefined) return `expected ${lost} in the source's pattern too, got none`;
  const places = from.split(words);
  return (text) => {
    const found = new Map<string, string>();
    let at = 0;
    for (let index = 0; index < places.length; index++) {
      const literal = places[index] ?? '';
      if (!text.startsWith(literal, at)) return undefined;
      at += literal.length;
      const name = names[index];
      if (name === undefined) break;
      const value = fieldAt(text, at, name);
      if (value === undefined) return undefined;
      found.set(name, value);
      at += value.length;
    }
    if (at !== text.length || !isThere(found)) return undefined;
    return to.replace(words, (name) => found.get(name) ?? missing[name] ?? '');
  };
}

/** Whether the calendar and the clock have it: no 31 of a shorter month, nothing after 24:00, no offset of over 14 hours. */
function isThere(found: ReadonlyMap<string, string>): boolean {
  const year = 2000 + (Number(found.get('YYYY') ?? 0) % 400); // a leap year where nobody says which
  const lastOfMonth = new Date(Date.UTC(year, Number(found.get('MM') ?? 1), 0)).getUTCDate();
  if (Number(found.get('DD') ?? 1) > lastOfMonth) return false;
  if (found.get('hh') === '24' && Number(found.get('mm') ?? 0) + Number(found.get('ss') ?? 0) > 0)
    return false;
  const [, hours = 0, minutes = 0] = /([0-9]{2}):([0-9]{2})/.exec(found.get('Z') ?? '') ?? [];
  return Number(minutes) < 60 && Number(hours) * 60 + Number(minutes) <= 14 * 60;
}

function fieldAt(text: string, at: number, name: string): string | undefined {
  const form = fields[name];
  if (form === undefined) return undefined;
  form.lastIndex = at;
  return form.exec(text)?.[0];
}

/** Whether what the second pattern writes says all that the first one read. */
export function keepsAll(from: string, to: string): boolean {
  const targets = new Set(to.match(words));
  return (from.match(words) ?? []).every((name) => targets.has(name));
}
