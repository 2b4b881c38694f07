import test from 'ava';
import { xmlFromJson } from '../../../../mappings/codec/scalars/dates.ts';
import { scanDate, writeDate } from '../../../../mappings/codec/scalars/wcf-dates.ts';
import { createZone } from '../../../../mappings/codec/scalars/zone.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { Tape } from '../../../../mappings/json/tape.ts';
import { Output } from '../../../../mappings/xml/output.ts';

const zone = createZone('Asia/Kolkata');
const tape = new Tape();

/** Returns the XML form of a string's bytes, or undefined if the slow path must read them. */
function scanned(content: string): string | undefined {
  const json = `"${content}"`;
  tape.start(Buffer.from(`${json},"x"`), defaultLimits);
  const date = scanDate(tape, zone);
  if (date === undefined) return tape.position === 0 ? undefined : `moved to ${tape.position}`;
  if (tape.position !== json.length) return `left at ${tape.position}`;
  const output = new Output();
  output.start(0);
  output.reserve(40);
  writeDate(output, date.days, date.ms, date.utc);
  return output.take().toString();
}

test('W17: the two most frequent date forms of a reply are read as bytes, also escaped', (t) => {
  const day = 86_400_000;
  const first = -62_135_596_800_000 + 2 * day;
  const last = 253_402_300_799_999 - 2 * day;
  for (const [ms, local, utc] of [
    [0, '1970-01-01T05:30:00', '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T05:30:00.001', '1970-01-01T00:00:00.001Z'],
    [-1, '1970-01-01T05:29:59.999', '1969-12-31T23:59:59.999Z'],
    [1_709_208_000_120, '2024-02-29T17:30:00.12', '2024-02-29T12:00:00.12Z'],
    [last, '9999-12-30T05:29:59.999', '9999-12-29T23:59:59.999Z'],
  ] as const)
    for (const slash of ['/', '\\/']) {
      t.is(scanned(`${slash}Date(${ms}-0000)${slash}`), local);
      t.is(scanned(`${slash}Date(${ms})${slash}`), utc);
    }
  t.is(scanned(`/Date(${first})/`), '0001-01-03T00:00:00Z');
  t.is(scanned(`/Date(${first - 1})/`), undefined);
  t.is(scanned(`/Date(${last + 1})/`), undefined);
  t.is(scanned('/Date(-000000000000000)/'), '1970-01-01T00:00:00Z');
});

test('W17: other forms are left to the slow path, and no position moves', (t) => {
  for (const content of [
    'x',
    'Date(0)',
    '/date(0)/',
    '/Datf(0)/',
    '/Date[0)/',
    '/Date()/',
    '/Date(-)/',
    '/Date(+1)/',
    '/Date(:)/',
    '/Date(0000000000000001)/',
    '/Date(1',
    '/Date(1)',
    '/Date(1)/ ',
    '/Date(1)x',
    '/Date(1]/',
    '/Date(1+0000)/',
    '/Date(1-0100)/',
    '/Date(1-1000)/',
    '/Date(1-0010)/',
    '/Date(1-0001)/',
    '/Date(1-0000]/',
    '/Date(1-000)/',
    '\\\\/Date(1)/',
    '\\/Date(1)\\\\/',
    '/Date(1.5)/',
    '/Date(1)\\n',
  ])
    t.is(scanned(content), undefined, content);
});

test('W17: every day of a leap year and around each century matches the calendar', (t) => {
  const day = 86_400_000;
  const days = Array.from({ length: 366 }, (_, index) => Date.UTC(2024, 0, 1) + index * day);
  for (let year = 100; year < 10_000; year += 100)
    for (const month of [0, 2]) days.push(Date.UTC(year, month, 1), Date.UTC(year, month, 1) - day);
  for (const ms of days) {
    const written = new Date(ms).toISOString().replace('.000Z', 'Z');
    t.is(scanned(`/Date(${ms})/`), written);
    t.is(xmlFromJson(`/Date(${ms})/`, zone), written);
  }
});
