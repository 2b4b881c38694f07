/** Date patterns (M2): YYYY, MM, DD, hh, mm, ss and Z (an offset or Z). All other characters are literals. */

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

/** Defaults for fields that the source lacks. */
const missing: Readonly<Record<string, string>> = {
  MM: '01',
  DD: '01',
  hh: '00',
  mm: '00',
  ss: '00',
  Z: 'Z',
};

/** Converts a date text to the target pattern. Undefined if the text does not match the source pattern. */
export type DateWriter = (text: string) => string | undefined;

/**
 * Compiles the conversion between two patterns, for example `DD.MM.YYYY` and `YYYY-MM-DD`. Missing target fields
 * default to the first month or day, midnight, and UTC.
 *
 * @returns an error message if a pattern has no date field or repeats one
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

/** Returns true for a valid date and time: day within the month, at most 24:00, offset of at most 14 hours. */
function isThere(found: ReadonlyMap<string, string>): boolean {
  const year = 2000 + (Number(found.get('YYYY') ?? 0) % 400); // a leap year if the year is unknown
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

/** Returns true if the second pattern keeps all fields of the first. */
export function keepsAll(from: string, to: string): boolean {
  const targets = new Set(to.match(words));
  return (from.match(words) ?? []).every((name) => targets.has(name));
}
