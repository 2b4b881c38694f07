import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import test from 'ava';
import {
  instantFromXml,
  isoFromJson,
  isoFromXml,
  rfc3339FromXml,
  wcfFromJson,
  wcfFromXml,
  xmlFromJson,
  xmlFromRfc3339,
} from '../../../../mappings/codec/scalars/dates.ts';
import { createZone, type Zone } from '../../../../mappings/codec/scalars/zone.ts';
import { fc } from '../../../property.ts';

const zones = new Map<string, Zone>();

function zoneOf(name: string): Zone {
  const zone = zones.get(name) ?? createZone(name);
  zones.set(name, zone);
  return zone;
}

/** W16: XML texts in a zone with the expected JSON; `undefined` for InvalidType. */
const w16: Readonly<
  Record<string, readonly (readonly [text: string, zone: string, json: string | undefined])[]>
> = {
  'W16: a dateTime without a zone is the wall clock of upstreamTimeZone': [
    ['2024-06-01T10:00:00', 'UTC', '/Date(1717236000000-0000)/'],
    ['2024-06-01T10:00:00', 'Europe/London', '/Date(1717232400000-0000)/'],
    ['2024-01-15T10:00:00', 'Europe/London', '/Date(1705312800000-0000)/'],
    ['2024-06-01T10:00:00', 'America/New_York', '/Date(1717250400000-0000)/'],
    ['2024-06-01T10:00:00', 'Asia/Kolkata', '/Date(1717216200000-0000)/'],
    ['2024-06-01T10:00:00', '+05:30', '/Date(1717216200000-0000)/'],
    ['1969-12-31T23:59:59.999', 'UTC', '/Date(-1-0000)/'],
    ['2400-07-01T12:00:00', 'Europe/London', '/Date(13585230000000-0000)/'],
    ['9000-07-01T12:00:00', 'Europe/London', '/Date(221861070000000-0000)/'],
    ['9000-01-01T12:00:00', 'Europe/London', '/Date(221845435200000-0000)/'],
    // a summer time of one week, and one that started at new year
    ['2000-10-10T12:00:00', 'America/Boa_Vista', '/Date(971190000000-0000)/'],
    ['1987-01-01T02:00:00', 'America/Lima', '/Date(536479200000-0000)/'],
  ],
  'W16: Z and an offset are their instant, and no offset is forwarded': [
    ['2024-06-01T10:00:00Z', 'Europe/London', '/Date(1717236000000-0000)/'],
    ['2024-06-01T10:00:00+01:00', 'Asia/Kolkata', '/Date(1717232400000-0000)/'],
    ['2024-06-01T10:00:00-05:00', 'UTC', '/Date(1717254000000-0000)/'],
    ['2024-06-01T10:00:00+00:00', 'UTC', '/Date(1717236000000-0000)/'],
    ['2024-06-01T10:00:00-00:00', 'UTC', '/Date(1717236000000-0000)/'],
    ['1970-01-01T05:45:00+05:45', 'UTC', '/Date(0-0000)/'],
  ],
  'W16: the first and the last date of .NET are their own before any zone arithmetic': [
    ['0001-01-01T00:00:00', 'UTC', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T00:00:00', 'Asia/Kolkata', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T00:00:00', 'America/New_York', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T00:00:00.0000000', 'America/New_York', '/Date(-62135596800000-0000)/'],
    ['0001-01-01', 'America/New_York', '/Date(-62135596800000-0000)/'],
    ['9999-12-31T23:59:59.999', 'Asia/Kolkata', '/Date(253402300799999-0000)/'],
    ['9999-12-31T23:59:59.9999999', 'America/New_York', '/Date(253402300799999-0000)/'],
    ['9999-12-31T23:59:59.99999999999', 'Asia/Kolkata', '/Date(253402300799999-0000)/'],
  ],
  'W16: a wall clock that its offset or zone pushes beyond the bounds is put at that bound': [
    ['0001-01-01T00:00:00+00:01', 'UTC', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T13:59:59+14:00', 'UTC', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T00:00:00.001', 'Asia/Kolkata', '/Date(-62135596800000-0000)/'],
    ['9999-12-31T23:59:59.998-00:01', 'UTC', '/Date(253402300799999-0000)/'],
    ['9999-12-31T23:59:59', 'America/New_York', '/Date(253402300799999-0000)/'],
  ],
  'W16: a wall clock that its offset keeps within the bounds is its instant': [
    ['0001-01-01T00:00:00-00:01', 'UTC', '/Date(-62135596740000-0000)/'],
    ['0001-01-01T14:00:00+14:00', 'UTC', '/Date(-62135596800000-0000)/'],
    ['0001-01-01T14:00:00.001+14:00', 'UTC', '/Date(-62135596799999-0000)/'],
    ['9999-12-31T23:59:59.999+00:01', 'UTC', '/Date(253402300739999-0000)/'],
  ],
  'W16: an instant outside the bounds as such is refused': [
    ['9999-12-31T24:00:00', 'UTC', undefined],
    ['9999-12-31T24:00:00+14:00', 'UTC', undefined],
    ['10000-01-01T00:00:00Z', 'UTC', undefined],
    ['0000-12-31T23:59:59Z', 'UTC', undefined],
  ],
  'W16: an offset beyond ±14:00 is refused': [
    ['2024-06-01T10:00:00+14:00', 'UTC', '/Date(1717185600000-0000)/'],
    ['2024-06-01T10:00:00-14:00', 'UTC', '/Date(1717286400000-0000)/'],
    ['2024-06-01T10:00:00+14:01', 'UTC', undefined],
    ['2024-06-01T10:00:00-14:01', 'UTC', undefined],
    ['2024-06-01T10:00:00+15:00', 'UTC', undefined],
    ['2024-06-01T10:00:00+01:60', 'UTC', undefined],
  ],
  'W16: a date without time is midnight': [
    ['2024-06-01', 'UTC', '/Date(1717200000000-0000)/'],
    ['2024-06-01', 'Europe/London', '/Date(1717196400000-0000)/'],
    ['2024-06-01Z', 'Europe/London', '/Date(1717200000000-0000)/'],
    ['2024-06-01+01:00', 'UTC', '/Date(1717196400000-0000)/'],
  ],
  'W16: 24:00:00 is the next day, and nothing past it is a time': [
    ['2024-06-01T24:00:00', 'UTC', '/Date(1717286400000-0000)/'],
    ['2024-12-31T24:00:00Z', 'UTC', '/Date(1735689600000-0000)/'],
    ['2024-02-28T24:00:00.000', 'UTC', '/Date(1709164800000-0000)/'],
    ['2024-06-01T24:00:00.0001', 'UTC', undefined],
    ['2024-06-01T24:00:01', 'UTC', undefined],
    ['2024-06-01T24:01:00', 'UTC', undefined],
    ['2024-06-01T25:00:00', 'UTC', undefined],
  ],
  'W16: digits after the third are cut, before 1970 too': [
    ['2024-06-01T10:00:00.1', 'UTC', '/Date(1717236000100-0000)/'],
    ['2024-06-01T10:00:00.12', 'UTC', '/Date(1717236000120-0000)/'],
    ['2024-06-01T10:00:00.1239999', 'UTC', '/Date(1717236000123-0000)/'],
    ['2024-06-01T10:00:00.99999999', 'UTC', '/Date(1717236000999-0000)/'],
    ['1969-12-31T23:59:59.9999999Z', 'UTC', '/Date(-1-0000)/'],
    ['1969-12-31T23:59:59.0001Z', 'UTC', '/Date(-1000-0000)/'],
    [`2024-06-01T10:00:00.5${'0'.repeat(999)}`, 'UTC', '/Date(1717236000500-0000)/'],
  ],
  'W16: dates are checked by the calendar, from year 1 to 9999': [
    ['2024-02-29', 'UTC', '/Date(1709164800000-0000)/'],
    ['2000-02-29', 'UTC', '/Date(951782400000-0000)/'],
    ['2023-02-29', 'UTC', undefined],
    ['1900-02-29', 'UTC', undefined],
    ['2026-02-30T00:00:00', 'UTC', undefined],
    ['2024-06-31', 'UTC', undefined],
    ['2024-06-00', 'UTC', undefined],
    ['2024-00-10', 'UTC', undefined],
    ['2024-13-01', 'UTC', undefined],
    ['0000-01-01', 'UTC', undefined],
    ['-0001-01-01', 'UTC', undefined],
    ['2024-06-01T10:60:00', 'UTC', undefined],
    ['2024-06-01T23:59:60', 'UTC', undefined],
  ],
  'W16: an ambiguous wall time uses the smaller of the two UTC offsets': [
    ['2024-10-27T00:59:59.999', 'Europe/London', '/Date(1729987199999-0000)/'],
    ['2024-10-27T01:00:00', 'Europe/London', '/Date(1729990800000-0000)/'],
    ['2024-10-27T01:30:00', 'Europe/London', '/Date(1729992600000-0000)/'],
    ['2024-10-27T01:30:00', 'Europe/Dublin', '/Date(1729992600000-0000)/'],
    ['2024-11-03T01:30:00', 'America/New_York', '/Date(1730615400000-0000)/'],
    ['1971-10-31T02:30:00', 'Europe/London', '/Date(57724200000-0000)/'],
    ['8024-10-27T01:30:00', 'Europe/London', '/Date(191071704600000-0000)/'],
  ],
  'W16: a missing wall time uses the smaller of the two UTC offsets': [
    ['2024-03-31T00:59:59.999', 'Europe/London', '/Date(1711846799999-0000)/'],
    ['2024-03-31T01:00:00', 'Europe/London', '/Date(1711846800000-0000)/'],
    ['2024-03-31T01:30:00', 'Europe/London', '/Date(1711848600000-0000)/'],
    ['2024-03-31T02:00:00', 'Europe/London', '/Date(1711846800000-0000)/'],
    ['2024-03-31T01:30:00', 'Europe/Dublin', '/Date(1711848600000-0000)/'],
    ['2024-03-10T02:30:00', 'America/New_York', '/Date(1710055800000-0000)/'],
    // the day that Samoa skipped, from −10:00 to +14:00
    ['2011-12-29T23:59:59', 'Pacific/Apia', '/Date(1325239199000-0000)/'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '/Date(1325282400000-0000)/'],
    ['2011-12-31T00:00:00', 'Pacific/Apia', '/Date(1325239200000-0000)/'],
  ],
  "W16: before a zone's first standard time its first standard offset applies": [
    ['1753-01-01T00:00:00', 'Europe/London', '/Date(-6847804800000-0000)/'],
    ['1753-01-01T00:00:00', 'America/New_York', '/Date(-6847786800000-0000)/'],
    ['1883-11-18T12:01:00', 'America/New_York', '/Date(-2717650740000-0000)/'],
    ['1883-11-18T11:59:00', 'America/New_York', '/Date(-2717650860000-0000)/'],
    // −11:30, although Samoa also moved the date line during its local mean time
    ['1880-01-01T00:00:00', 'Pacific/Apia', '/Date(-2840099400000-0000)/'],
    ['1900-01-01T00:00:00', 'Pacific/Apia', '/Date(-2208947400000-0000)/'],
    // Dublin Mean Time was the standard until its first summer time
    ['1900-01-01T00:00:00', 'Europe/Dublin', '/Date(-2208987279000-0000)/'],
  ],
  'W14: blanks around a date collapse, and no others': [
    [' \t\r\n2024-06-01T10:00:00Z\n ', 'UTC', '/Date(1717236000000-0000)/'],
    [' 2024-06-01 ', 'UTC', '/Date(1717200000000-0000)/'],
    ['\u00a02024-06-01', 'UTC', undefined],
    ['2024-06-01T10:00:00 Z', 'UTC', undefined],
    ['2024-06-01 10:00:00', 'UTC', undefined],
  ],
  'W14: only the lexical forms of xs:dateTime and xs:date are read': [
    ['', 'UTC', undefined],
    [' ', 'UTC', undefined],
    ['2024-06-01T10:00', 'UTC', undefined],
    ['2024-06-01T10:00Z', 'UTC', undefined],
    ['2024-06-01T10', 'UTC', undefined],
    ['2024-06-01T', 'UTC', undefined],
    ['2024-06-01T10:00:00.', 'UTC', undefined],
    ['2024-06-01T10:00:00.Z', 'UTC', undefined],
    ['2024-06-01T10:00:00,5', 'UTC', undefined],
    ['2024-06-01T10:00:00.5.5', 'UTC', undefined],
    ['2024-06-01T10:00:00z', 'UTC', undefined],
    ['2024-06-01t10:00:00Z', 'UTC', undefined],
    ['2024-06-01T10:00:00ZZ', 'UTC', undefined],
    ['2024-06-01T10:00:00+01', 'UTC', undefined],
    ['2024-06-01T10:00:00+0100', 'UTC', undefined],
    ['2024-06-01T10:00:00+1:00', 'UTC', undefined],
    ['2024-06-01T10:00:00~01:00', 'UTC', undefined],
    ['2024-06-01T10:00:00+01.00', 'UTC', undefined],
    ['2024-06-01T10:00:00+01:000', 'UTC', undefined],
    ['2024/06-01', 'UTC', undefined],
    ['2024-0:-01', 'UTC', undefined],
    ['2024-06-0:', 'UTC', undefined],
    ['2024-06-01T10:00:0:', 'UTC', undefined],
    ['2024-06/01', 'UTC', undefined],
    ['2024-6-1', 'UTC', undefined],
    ['2024-06', 'UTC', undefined],
    ['2024', 'UTC', undefined],
    ['10:00:00', 'UTC', undefined],
    ['20240601T100000', 'UTC', undefined],
    ['+2024-06-01', 'UTC', undefined],
    ['02024-06-01', 'UTC', undefined],
    ['٢٠٢٤-06-01', 'UTC', undefined],
    ['/Date(0)/', 'UTC', undefined],
  ],
};

for (const [title, rows] of Object.entries(w16)) {
  test(title, (t) => {
    for (const [text, zone, json] of rows) {
      t.is(wcfFromXml(text, zoneOf(zone), 'zoned'), json, `${JSON.stringify(text.slice(0, 40))} in ${zone}`);
    }
  });
}

test('W16: utcDates "bare" writes /Date(ms)/ for Z, and only for Z', (t) => {
  const london = zoneOf('Europe/London');
  t.is(wcfFromXml('2024-06-01T10:00:00Z', london, 'bare'), '/Date(1717236000000)/');
  t.is(wcfFromXml('2024-06-01Z', london, 'bare'), '/Date(1717200000000)/');
  t.is(wcfFromXml('2024-06-01T10:00:00+00:00', london, 'bare'), '/Date(1717236000000-0000)/');
  t.is(wcfFromXml('2024-06-01T10:00:00', london, 'bare'), '/Date(1717232400000-0000)/');
});

/** An `xs:dateTime`, the zone, and the instant in RFC 3339. */
const utcDates = [
  ['2024-06-01T10:00:00', 'Europe/London', '2024-06-01T09:00:00Z'],
  ['2024-06-01T10:00:00.1234567', 'Europe/London', '2024-06-01T09:00:00.1234567Z'],
  ['2024-06-01T10:00:00Z', 'Europe/London', '2024-06-01T10:00:00+00:00'],
  ['2024-06-01T10:00:00.50Z', 'Europe/London', '2024-06-01T10:00:00.50+00:00'],
  ['2024-06-01T10:00:00.5-05:00', 'Europe/London', '2024-06-01T10:00:00.5-05:00'],
  ['0001-01-01T00:00:00', 'Europe/London', '0001-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59', 'America/New_York', '9999-12-31T23:59:59Z'],
] as const;

for (const [xml, zone, json] of utcDates)
  test(`A26: with dates: utc ${xml} in ${zone} is ${json}, in both directions`, (t) => {
    t.is(rfc3339FromXml(xml, zoneOf(zone)), json);
    t.is(xmlFromRfc3339(json, zoneOf(zone)), xml);
  });

test('A26: refuses text that is no RFC 3339 moment', (t) => {
  for (const text of ['2024-06-01', '10:00:00Z', '2024-13-01T00:00:00Z', ''])
    t.is(xmlFromRfc3339(text, zoneOf('UTC')), undefined, text);
});

test('A26: an xs:dateTime without an RFC 3339 form is unchanged, and so is the reverse', (t) => {
  const london = zoneOf('Europe/London');
  for (const text of ['12024-06-01T10:00:00', '2024-06-01t10:00:00', '2024-06-01T10:00'])
    t.is(rfc3339FromXml(text, london), text);
  t.is(rfc3339FromXml('12024-06-01T10:00:00Z', london), '12024-06-01T10:00:00+00:00');
  t.is(xmlFromRfc3339('2024-06-01t10:00z', london), '2024-06-01T11:00:00');
});

test('the instant of an xs:dateTime uses its offset, or UTC; a date without a time has none', (t) => {
  for (const [text, instant] of [
    ['2024-06-01T10:00:00Z', 1_717_236_000_000],
    [' 2024-06-01T10:00:00.5 ', 1_717_236_000_500],
    ['2024-06-01T10:00:00+01:30', 1_717_230_600_000],
    ['2024-06-01T10:00:00-01:30', 1_717_241_400_000],
    ['0001-01-01T00:00:00+14:00', -62_135_647_200_000],
    ['2024-06-01', undefined],
    ['2024-06-01t10:00:00z', undefined],
    ['', undefined],
  ] as const)
    t.is(instantFromXml(text), instant, text);
});

/** W17: JSON strings in a zone with the expected XML text; `undefined` for a mismatch. */
const w17: Readonly<
  Record<string, readonly (readonly [text: string, zone: string, xml: string | undefined])[]>
> = {
  'W17: /Date(ms)/ gives Z in every zone': [
    ['/Date(0)/', 'Europe/London', '1970-01-01T00:00:00Z'],
    ['/Date(1717236000000)/', 'Asia/Kolkata', '2024-06-01T10:00:00Z'],
    ['/Date(-1)/', 'UTC', '1969-12-31T23:59:59.999Z'],
    ['/Date(-0)/', 'UTC', '1970-01-01T00:00:00Z'],
    ['/Date(00017)/', 'UTC', '1970-01-01T00:00:00.017Z'],
    ['/Date(-2203977600000)/', 'UTC', '1900-02-28T00:00:00Z'],
    ['/Date(-2203891200000)/', 'UTC', '1900-03-01T00:00:00Z'],
    ['/Date(951782400000)/', 'UTC', '2000-02-29T00:00:00Z'],
  ],
  'W17: /Date(ms-0000)/ gives the wall clock in upstreamTimeZone, without a suffix': [
    ['/Date(1717236000000-0000)/', 'UTC', '2024-06-01T10:00:00'],
    ['/Date(1717236000000-0000)/', 'Europe/London', '2024-06-01T11:00:00'],
    ['/Date(1717236000000-0000)/', 'America/New_York', '2024-06-01T06:00:00'],
    ['/Date(1717236000000-0000)/', 'Asia/Kolkata', '2024-06-01T15:30:00'],
    ['/Date(1325239199000-0000)/', 'Pacific/Apia', '2011-12-29T23:59:59'],
    ['/Date(1325239200000-0000)/', 'Pacific/Apia', '2011-12-31T00:00:00'],
    ['/Date(1711846799000-0000)/', 'Europe/London', '2024-03-31T00:59:59'],
    ['/Date(1711846800000-0000)/', 'Europe/London', '2024-03-31T02:00:00'],
    ['/Date(1729989000000-0000)/', 'Europe/London', '2024-10-27T01:30:00'],
    ['/Date(1729992600000-0000)/', 'Europe/London', '2024-10-27T01:30:00'],
  ],
  'W17: /Date(ms±hhmm)/ gives the wall clock at that offset with its suffix': [
    ['/Date(1717236000000+0100)/', 'Asia/Kolkata', '2024-06-01T11:00:00+01:00'],
    ['/Date(1717236000000-0500)/', 'UTC', '2024-06-01T05:00:00-05:00'],
    ['/Date(1717236000000+0530)/', 'UTC', '2024-06-01T15:30:00+05:30'],
    ['/Date(1717236000000+0000)/', 'Europe/London', '2024-06-01T10:00:00+00:00'],
    ['/Date(1717236000000+1400)/', 'UTC', '2024-06-02T00:00:00+14:00'],
    ['/Date(1717236000000-1400)/', 'UTC', '2024-05-31T20:00:00-14:00'],
  ],
  'W17: the first and the last date of .NET are written before any zone arithmetic, whatever the offset': [
    ['/Date(-62135596800000)/', 'UTC', '0001-01-01T00:00:00'],
    ['/Date(-62135596800000-0000)/', 'Asia/Kolkata', '0001-01-01T00:00:00'],
    ['/Date(-62135596800000-0500)/', 'UTC', '0001-01-01T00:00:00'],
    ['/Date(-62135596800000+0530)/', 'UTC', '0001-01-01T00:00:00'],
    ['/Date(253402300799999)/', 'UTC', '9999-12-31T23:59:59.999'],
    ['/Date(253402300799999-0000)/', 'America/New_York', '9999-12-31T23:59:59.999'],
    ['/Date(253402300799999+0530)/', 'UTC', '9999-12-31T23:59:59.999'],
  ],
  'W17: a wall clock that its offset or zone pushes outside year 1 to 9999 is put at the nearest bound': [
    ['/Date(-62135596799999-0500)/', 'UTC', '0001-01-01T00:00:00-05:00'],
    ['/Date(-62135596799999-0000)/', 'America/New_York', '0001-01-01T00:00:00'],
    ['/Date(253402300799998+0530)/', 'UTC', '9999-12-31T23:59:59.999+05:30'],
    ['/Date(253402300799998-0000)/', 'Asia/Kolkata', '9999-12-31T23:59:59.999'],
    ['/Date(-62135596799999+0530)/', 'UTC', '0001-01-01T05:30:00.001+05:30'],
    ['/Date(253402300799998)/', 'Asia/Kolkata', '9999-12-31T23:59:59.998Z'],
  ],
  'W17: an instant outside the bounds is a mismatch': [
    ['/Date(-62135596800001)/', 'UTC', undefined],
    ['/Date(-62135596800001+0100)/', 'UTC', undefined],
    ['/Date(253402300800000)/', 'UTC', undefined],
    ['/Date(253402300800000-0100)/', 'UTC', undefined],
    ['/Date(8640000000000001)/', 'UTC', undefined],
    ['/Date(9223372036854775807)/', 'UTC', undefined],
  ],
  'W17: an offset beyond ±14:00, or one that is none, is a mismatch': [
    ['/Date(1717236000000+1401)/', 'UTC', undefined],
    ['/Date(1-9999)/', 'UTC', undefined],
    ['/Date(-62135596800000+9999)/', 'UTC', undefined],
    ['/Date(0+0160)/', 'UTC', undefined],
    ['/Date(0+1)/', 'UTC', undefined],
    ['/Date(0+01:00)/', 'UTC', undefined],
    ['/Date(0+zz)/', 'UTC', undefined],
    ['/Date(0+)/', 'UTC', undefined],
  ],
  'W17: a fraction is written only when it is not zero, without trailing zeros': [
    ['/Date(1000)/', 'UTC', '1970-01-01T00:00:01Z'],
    ['/Date(1001)/', 'UTC', '1970-01-01T00:00:01.001Z'],
    ['/Date(1010)/', 'UTC', '1970-01-01T00:00:01.01Z'],
    ['/Date(1100)/', 'UTC', '1970-01-01T00:00:01.1Z'],
    ['/Date(1120-0000)/', 'UTC', '1970-01-01T00:00:01.12'],
  ],
  'W17: an ISO 8601 date-time passes in canonical form': [
    ['2024-06-01T10:00:00', 'Europe/London', '2024-06-01T10:00:00'],
    ['2024-06-01T10:00:00Z', 'Europe/London', '2024-06-01T10:00:00Z'],
    ['2024-06-01T10:00:00.5+01:00', 'UTC', '2024-06-01T10:00:00.5+01:00'],
    ['2024-06-01t10:00:00z', 'UTC', '2024-06-01T10:00:00Z'],
    ['2024-06-01T10:00Z', 'UTC', '2024-06-01T10:00:00Z'],
    ['2024-06-01T10:00+05:30', 'UTC', '2024-06-01T10:00:00+05:30'],
    ['2024-06-01T10:00:00.1234567', 'UTC', '2024-06-01T10:00:00.1234567'],
    ['2024-06-01T10:00:00.123456789Z', 'UTC', '2024-06-01T10:00:00.1234567Z'],
    ['1969-12-31T23:59:59.99999999Z', 'UTC', '1969-12-31T23:59:59.9999999Z'],
    ['2024-06-01T10:00:00.000Z', 'UTC', '2024-06-01T10:00:00Z'],
    ['2024-06-01T10:00:00.120', 'UTC', '2024-06-01T10:00:00.12'],
    ['2024-06-01T10:00:00.00000009', 'UTC', '2024-06-01T10:00:00'],
    ['2024-06-01T24:00:00', 'UTC', '2024-06-02T00:00:00'],
    ['2024-12-31T24:00Z', 'UTC', '2025-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00+01:00', 'UTC', '0001-01-01T00:00:00+01:00'],
  ],
  'W17: a date alone gets midnight': [
    ['2024-06-01', 'Europe/London', '2024-06-01T00:00:00'],
    ['2024-06-01z', 'UTC', '2024-06-01T00:00:00Z'],
    ['2024-06-01-05:00', 'UTC', '2024-06-01T00:00:00-05:00'],
  ],
  'W17: ISO text that is no date-time is a mismatch': [
    ['2023-02-29T10:00:00', 'UTC', undefined],
    ['2024-06-01T10', 'UTC', undefined],
    ['2024-06-01 10:00:00', 'UTC', undefined],
    ['2024-06-01T10:00.5', 'UTC', undefined],
    ['2024-06-01T10:00:00,5', 'UTC', undefined],
    ['2024-06-01T10:00:00+14:01', 'UTC', undefined],
    ['2024-06-01T10:00:00+0100', 'UTC', undefined],
    ['9999-12-31T24:00:00', 'UTC', undefined],
    [' 2024-06-01', 'UTC', undefined],
    ['20240601', 'UTC', undefined],
    ['1717236000000', 'UTC', undefined],
    ['', 'UTC', undefined],
  ],
  'W17: text that only looks like /Date(…)/ is a mismatch': [
    ['/Date()/', 'UTC', undefined],
    ['/Date(-)/', 'UTC', undefined],
    ['/Date(--1)/', 'UTC', undefined],
    ['/Date(+5)/', 'UTC', undefined],
    ['/Date( 0 )/', 'UTC', undefined],
    ['/Date(1.5)/', 'UTC', undefined],
    ['/Date(1e3)/', 'UTC', undefined],
    ['/Date(9e99)/', 'UTC', undefined],
    ['/Date(0x10)/', 'UTC', undefined],
    ['/Date(NaN)/', 'UTC', undefined],
    ['/date(0)/', 'UTC', undefined],
    ['Date(0)', 'UTC', undefined],
    ['/Date(0)', 'UTC', undefined],
    ['/Date(0/)', 'UTC', undefined],
    ['/Date(0)//', 'UTC', undefined],
    ['/Date(0)/ ', 'UTC', undefined],
    [' /Date(0)/', 'UTC', undefined],
    ['\\/Date(0)\\/', 'UTC', undefined],
    ['/Date(0+0100)x', 'UTC', undefined],
    ['/', 'UTC', undefined],
  ],
  "W17: before a zone's first standard time its first standard offset applies": [
    ['/Date(-6847804800000-0000)/', 'Europe/London', '1753-01-01T00:00:00'],
    ['/Date(-6847786800000-0000)/', 'America/New_York', '1753-01-01T00:00:00'],
    ['/Date(-2208947400000-0000)/', 'Pacific/Apia', '1900-01-01T00:00:00'],
    ['/Date(-2208987279000-0000)/', 'Europe/Dublin', '1900-01-01T00:00:00'],
  ],
};

for (const [title, rows] of Object.entries(w17)) {
  test(title, (t) => {
    for (const [text, zone, xml] of rows)
      t.is(xmlFromJson(text, zoneOf(zone)), xml, `${JSON.stringify(text)} in ${zone}`);
  });
}

test('W37: a /Date(…)/ of a JSON request is unchanged', (t) => {
  const london = zoneOf('Europe/London');
  for (const text of ['/Date(0)/', '/Date(-1-0000)/', '/Date(00017+0530)/', '/Date(-62135596800000)/']) {
    t.is(wcfFromJson(text, london, 'zoned'), text);
  }
  for (const text of ['/Date()/', '/Date(253402300800000)/', '/Date(0+1401)/', ' /Date(0)/', '/2024-06-01']) {
    t.is(wcfFromJson(text, london, 'zoned'), undefined, text);
  }
});

test('W37: ISO text of a JSON request is read by W14 and W16', (t) => {
  const london = zoneOf('Europe/London');
  t.is(wcfFromJson('2024-06-01T10:00:00', london, 'zoned'), '/Date(1717232400000-0000)/');
  t.is(wcfFromJson(' 2024-06-01 ', london, 'zoned'), '/Date(1717196400000-0000)/');
  t.is(wcfFromJson('2024-06-01T10:00:00Z', london, 'zoned'), '/Date(1717236000000-0000)/');
  t.is(wcfFromJson('2024-06-01T10:00:00Z', london, 'bare'), '/Date(1717236000000)/');
  for (const text of ['', 'tomorrow', '2024-06-01T10:00', '2024-06-01T10:00:00z', '2024-02-30']) {
    t.is(wcfFromJson(text, london, 'zoned'), undefined, text);
  }
});

test('W14: an xs:dateTime or xs:date becomes ISO JSON as written, without surrounding blanks', (t) => {
  for (const text of [
    '2024-06-01T10:00:00',
    '2024-06-01T10:00:00.1200+01:00',
    '0001-01-01T00:00:00Z',
    '2024-06-01T24:00:00',
  ]) {
    t.is(isoFromXml(` ${text}\n`, 'dateTime'), text);
    t.is(isoFromXml(text, 'date'), undefined, text);
  }
  for (const text of ['2024-06-01', '2024-06-01Z', '2024-02-29-14:00']) {
    t.is(isoFromXml(` ${text}\n`, 'date'), text);
    t.is(isoFromXml(text, 'dateTime'), undefined, text);
  }
  for (const text of [
    '',
    '2024-02-30',
    '2024-06-01T10:00',
    '2024-06-01t10:00:00',
    '2024-06-01+14:01',
    '/Date(0)/',
  ]) {
    t.is(isoFromXml(text, 'dateTime'), undefined, text);
    t.is(isoFromXml(text, 'date'), undefined, text);
  }
});

test('W17: ISO JSON becomes an xs:dateTime in canonical form', (t) => {
  t.is(isoFromJson('2024-06-01t10:00z', 'dateTime'), '2024-06-01T10:00:00Z');
  t.is(isoFromJson('2024-06-01T10:00:00.1234567890-05:00', 'dateTime'), '2024-06-01T10:00:00.1234567-05:00');
  t.is(isoFromJson('2024-06-01', 'dateTime'), '2024-06-01T00:00:00');
  t.is(isoFromJson('/Date(0)/', 'dateTime'), undefined);
});

test('W17: ISO JSON becomes an xs:date only if it has no time', (t) => {
  t.is(isoFromJson('2024-02-29', 'date'), '2024-02-29');
  t.is(isoFromJson('2024-02-29z', 'date'), '2024-02-29Z');
  t.is(isoFromJson('2024-02-29+05:30', 'date'), '2024-02-29+05:30');
  for (const text of ['2024-02-29T00:00:00', '2023-02-29', '2024-02-29+14:30', ' 2024-02-29', '']) {
    t.is(isoFromJson(text, 'date'), undefined, text);
  }
});

test('B13, B14: ten million digits are refused without a hang', (t) => {
  const digits = (digit: string) => Buffer.alloc(10_000_000, digit).toString('latin1');
  const utc = zoneOf('UTC');
  t.is(xmlFromJson(`/Date(${digits('9')})/`, utc), undefined);
  t.is(xmlFromJson(`/Date(${digits('0')}x)/`, utc), undefined);
  t.is(xmlFromJson(digits('1'), utc), undefined);
  t.is(wcfFromXml(digits('1'), utc, 'zoned'), undefined);
  t.is(wcfFromXml(digits(' '), utc, 'zoned'), undefined);
  t.is(wcfFromXml(`2024-06-01T10:00:00.${digits('1')}x`, utc, 'zoned'), undefined);
  t.is(wcfFromXml(`2024-06-01T24:00:00.${digits('0')}1`, utc, 'zoned'), undefined);
});

test('an unknown time zone is refused with a sentence', (t) => {
  for (const name of ['Europe/Londres', '', 'Factory', 'local']) {
    t.throws(() => createZone(name), {
      instanceOf: RangeError,
      message: `time zone: expected a name of the IANA database, got "${name}"`,
    });
  }
});

const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
const day = 86_400_000;
const anyInstant = fc.integer({ min: -62_135_596_800_000 + day, max: 253_402_300_799_999 - day });
/** Range of the zones' time changes: 1830 to 2100. */
const eventfulInstant = fc.integer({ min: -4_417_977_600_000, max: 4_102_444_800_000 });
const instant = fc.oneof(anyInstant, eventfulInstant);

test('in every zone local time is as Intl shows it, from its standard time on', (t) => {
  const readings = new Map<string, Intl.DateTimeFormat>();
  fc.assert(
    fc.property(anyZone, fc.integer({ min: 315_532_800_000, max: 253_402_300_799_999 - day }), (name, ms) => {
      const format =
        readings.get(name) ??
        new Intl.DateTimeFormat('en-US', {
          timeZone: name,
          hourCycle: 'h23',
          year: 'numeric',
          month: 'numeric',
          day: 'numeric',
          hour: 'numeric',
          minute: 'numeric',
          second: 'numeric',
        });
      readings.set(name, format);
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format
        .format(ms)
        .split(/\D+/)
        .map(Number);
      const wholeSeconds = ms - (ms % 1000);
      t.is(
        zoneOf(name).wallOf(wholeSeconds),
        Date.UTC(year, month - 1, day, hour, minute, second),
        `${name} ${ms}`,
      );
    }),
    { numRuns: 1000 },
  );
});

test('an instant converts back from XML in every zone, or to the same local time if ambiguous', (t) => {
  fc.assert(
    fc.property(anyZone, instant, (name, ms) => {
      const zone = zoneOf(name);
      const json = `/Date(${ms}-0000)/`;
      const xml = xmlFromJson(json, zone) ?? '';
      const back = wcfFromXml(xml, zone, 'zoned') ?? '';
      t.is(xmlFromJson(back, zone), xml);
      // the smaller offset is the later instant
      t.true(Number(back.slice(6, -7)) >= ms, `${name} ${ms}`);
    }),
    { numRuns: 1000 },
  );
});

test('a local time converts back from JSON in every zone, or to a later one if it does not exist', (t) => {
  fc.assert(
    fc.property(anyZone, instant, (name, wall) => {
      const zone = zoneOf(name);
      const text = new Date(wall).toISOString().slice(0, -1);
      const back = xmlFromJson(wcfFromXml(text, zone, 'zoned') ?? '', zone) ?? '';
      t.true(Date.parse(`${back}Z`) >= wall, `${name} ${text}`);
      if (zone.wallOf(zone.instantOf(wall)) === wall) t.is(Date.parse(`${back}Z`), wall, `${name} ${text}`);
    }),
    { numRuns: 1000 },
  );
});

test('an instant with Z or an offset converts back from XML exactly', (t) => {
  const hhmm = (minutes: number) => {
    const size = Math.abs(minutes);
    return `${minutes < 0 ? '-' : '+'}${`${Math.floor(size / 60)}`.padStart(2, '0')}${`${size % 60}`.padStart(2, '0')}`;
  };
  const utc = zoneOf('UTC');
  fc.assert(
    fc.property(anyInstant, fc.integer({ min: -840, max: 840 }), (ms, offset) => {
      const xml = xmlFromJson(`/Date(${ms})/`, utc) ?? '';
      t.is(xml, new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z'));
      t.is(wcfFromXml(xml, utc, 'bare'), `/Date(${ms})/`);
      const local = xmlFromJson(`/Date(${ms}${hhmm(offset)})/`, utc) ?? '';
      t.is(wcfFromXml(local, utc, 'zoned'), `/Date(${ms}-0000)/`);
    }),
    { numRuns: 1000 },
  );
});

interface Vector {
  readonly text: string;
  /** Result of .NET by time zone; null if it rejects the text. */
  readonly reads: Readonly<Record<string, string | null>>;
}

const dotnet: { readonly fromXml: readonly Vector[]; readonly fromJson: readonly Vector[] } = JSON.parse(
  readFileSync(new URL('../../../fixtures/dates/dotnet.json', import.meta.url), 'utf8'),
);
const dotnetZones = [
  'UTC',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Europe/London',
  'Europe/Dublin',
];
const readIn = (vector: Vector, zone: string): string | undefined =>
  vector.reads['*'] ?? vector.reads[zone] ?? undefined;

/**
 * Texts for which .NET's milliseconds differ from W16 in one of the six zones, by the part of the rule that explains
 * it.
 */
const w16Differs: Readonly<Record<string, readonly string[]>> = {
  'an offset beyond ±14:00 is InvalidType': [
    '2024-06-01T10:00:00+14:01',
    '2024-06-01T10:00:00+15:00',
    '2024-06-01T10:00:00+01:60',
  ],
  'digits after the third are cut (.NET rounds the eighth)': [
    '2024-06-01T10:00:00.99999995',
    '2024-06-01T10:00:00.999999999',
    '2024-06-01T10:00:00.999999999Z',
    '9999-12-31T23:59:59.99999999',
  ],
  'before 1970 too (.NET cuts toward 1970)': [
    '1969-12-31T23:59:59.9994Z',
    '1969-12-31T23:59:59.9995Z',
    '1969-12-31T23:59:59.9999999Z',
    '1969-12-31T23:59:59.0001Z',
  ],
  'W14: the lexical rules of XSD (.NET takes gYear, gYearMonth, gMonthDay, time, z and no-break spaces for a dateTime)':
    [
      '2024-06',
      '2024',
      '10:00:00',
      '10:00:00Z',
      '--06-01',
      '2024-06-01T10:00:00z',
      '\u00a02024-06-01T10:00:00',
      '\u20032024-06-01T10:00:00',
    ],
  '24:00:00 is the next day': ['2024-06-01T24:00:00', '2024-12-31T24:00:00Z', '2024-06-01T24:00:00.0'],
  'the bounds before any zone arithmetic; what is pushed beyond is put there': [
    '0001-01-01T00:00:00',
    '0001-01-01T00:00:00+01:00',
    '0001-01-01T00:00:00-01:00',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59',
    '9999-12-31T23:59:59+01:00',
    '9999-12-31T23:59:59-01:00',
    '9999-12-31T23:59:59-14:00',
    '9999-12-31T23:59:59.999',
    '9999-12-31T23:59:59.9999999',
  ],
  'the smaller of the two UTC offsets (.NET: the standard one, which in Dublin is +01:00)': [
    '2024-03-31T01:30:00',
    '2024-10-27T01:30:00',
    '1971-10-31T02:30:00',
    '2011-12-29T23:59:59',
    '2011-12-30T12:00:00',
  ],
  'the first standard offset for local mean time; other mean times to the second (.NET: to the minute)': [
    '0001-01-01T00:00:00.001',
    '0001-01-02T00:00:00',
    '1753-01-01T00:00:00',
    '1811-07-23T15:06:40',
    '1883-11-18T12:01:00',
    '1900-01-01T00:00:00',
  ],
};

test('W16: milliseconds equal those of .NET except for the differences in the rules', (t) => {
  const explained = Object.values(w16Differs).flat();
  const milliseconds = (json: string | undefined) => json && /-?\d+/.exec(json)?.[0];
  const differing = dotnet.fromXml.filter((vector) =>
    dotnetZones.some(
      (zone) =>
        milliseconds(readIn(vector, zone)) !== milliseconds(wcfFromXml(vector.text, zoneOf(zone), 'zoned')),
    ),
  );
  t.true(dotnet.fromXml.length - differing.length > 100);
  t.deepEqual(differing.map((vector) => vector.text).sort(), explained.sort());
});

/**
 * JSON strings that .NET reads differently from W17 in one of the six zones, by the part of the rule that explains it.
 */
const w17Differs: Readonly<Record<string, readonly string[]>> = {
  'both bounds without a suffix, before any zone arithmetic': [
    '/Date(-62135596800000)/',
    '/Date(-62135596800000-0000)/',
    '/Date(-62135596800000+0000)/',
    '/Date(-62135596800000+0100)/',
    '/Date(-62135596800000-0500)/',
    '/Date(-62135596800000+0530)/',
    '/Date(253402300799999)/',
    '/Date(253402300799999-0000)/',
    '/Date(253402300799999+0000)/',
    '/Date(253402300799999+0100)/',
    '/Date(253402300799999-0500)/',
    '/Date(253402300799999+0530)/',
  ],
  'the offset decides the form, so only it can push a wall clock to a bound (.NET: the zone of the process)':
    [
      '/Date(-62135596799999-0000)/',
      '/Date(-62135596799999+0000)/',
      '/Date(-62135596799999+0100)/',
      '/Date(-62135596799999-0500)/',
      '/Date(-62135596799999+0530)/',
      '/Date(253402300799998-0000)/',
      '/Date(253402300799998+0000)/',
      '/Date(253402300799998+0100)/',
      '/Date(253402300799998-0500)/',
      '/Date(253402300799998+0530)/',
    ],
  'an offset beyond ±14:00, or none, is a mismatch (.NET ignores what stands there)': [
    '/Date(1717236000000+9999)/',
    '/Date(1717236000000+1)/',
    '/Date(1717236000000+01:00)/',
    '/Date(1717236000000+zz)/',
    '/Date(1717236000000+)/',
    '/Date(1717236000000-)/',
  ],
  'an instant outside the two bounds is a mismatch (.NET overflows)': [
    '/Date(9223372036854775807)/',
    '/Date(-9223372036854775808)/',
  ],
  'the forms named, and no others': ['/Date( 0 )/', '/Date(+5)/', '/Date(0)/ ', ' /Date(0)/'],
  'an ISO 8601 date-time passes': ['2024-06-01T10:00:00', '2024-06-01T10:00:00Z', '2024-06-01'],
  'the first standard offset for local mean time; other mean times to the second (.NET: to the minute)': [
    '/Date(-2717654400000-0000)/',
    '/Date(-5000000000000-0000)/',
    '/Date(-2208988800000-0000)/',
    '/Date(-6847804800000-0000)/',
  ],
};

test('W17: local time and instant equal those of .NET except for the differences in the rules', (t) => {
  const explained = Object.values(w17Differs).flat();
  const agrees = (text: string, theirs: string | undefined, zone: Zone): boolean => {
    const ours = xmlFromJson(text, zone);
    if (ours === undefined || theirs === undefined) return ours === theirs;
    // .NET writes its process's offset for the local zone, and instead of any other offset
    if (text.endsWith('-0000)/')) return ours === theirs.replace(/[+-]\d\d:\d\d$/, '');
    return /[+-]\d{4}\)/.test(text)
      ? wcfFromXml(ours, zone, 'zoned') === wcfFromXml(theirs, zone, 'zoned')
      : ours === theirs;
  };
  const differing = dotnet.fromJson.filter((vector) =>
    dotnetZones.some((zone) => !agrees(vector.text, readIn(vector, zone), zoneOf(zone))),
  );
  t.true(dotnet.fromJson.length - differing.length > 80);
  t.deepEqual(differing.map((vector) => vector.text).sort(), explained.sort());
});

/** Process zones, and the offset of `Date` in minutes in January and July 2024, which proves that TZ is effective. */
const processZones: readonly (readonly [name: string, behind: readonly number[]])[] = [
  ['UTC', [0, 0]],
  ['America/New_York', [300, 240]],
  ['Asia/Kolkata', [-330, -330]],
  ['Pacific/Apia', [-780, -780]],
  ['Europe/London', [0, -60]],
];

for (const [name, behind] of processZones) {
  test(`W16: output does not depend on the process's TZ, here ${name}`, async (t) => {
    const texts = [...dotnet.fromXml, ...dotnet.fromJson].map((vector) => vector.text);
    const script = `
      import { isoFromJson, wcfFromXml, xmlFromJson } from ${JSON.stringify(new URL('../../../../mappings/codec/scalars/dates.ts', import.meta.url))};
      import { createZone } from ${JSON.stringify(new URL('../../../../mappings/codec/scalars/zone.ts', import.meta.url))};
      const converted = ${JSON.stringify(dotnetZones)}.map((name) => {
        const zone = createZone(name);
        return ${JSON.stringify(texts)}.map((text) => [wcfFromXml(text, zone, 'bare'), xmlFromJson(text, zone), isoFromJson(text, 'dateTime')]);
      });
      const behind = [0, 6].map((month) => new Date(2024, month, 1).getTimezoneOffset());
      console.log(JSON.stringify({ behind, converted }));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        env: { ...process.env, TZ: name },
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    const converted = dotnetZones.map((zone) =>
      texts.map((text) => [
        wcfFromXml(text, zoneOf(zone), 'bare'),
        xmlFromJson(text, zoneOf(zone)),
        isoFromJson(text, 'dateTime'),
      ]),
    );
    t.true(converted.flat(2).filter((text) => text !== undefined).length > 2000);
    t.true(stdout === `${JSON.stringify({ behind, converted })}\n`);
  });
}
