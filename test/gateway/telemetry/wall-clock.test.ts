import { performance } from 'node:perf_hooks';
import test, { type ExecutionContext } from 'ava';
import { dateAt } from '../../../gateway/telemetry/log.ts';

const hour = 3_600_000;
const day = Date.UTC(2026, 0, 1);

/** Replaces both clocks and returns a function that sets them. */
function replaceClocks(t: ExecutionContext): (date: number, moment: number) => void {
  const { now: systemDate } = Date;
  const { now: systemMoment } = performance;
  t.teardown(() => {
    Date.now = systemDate;
    performance.now = systemMoment;
  });
  return (date, moment) => {
    Date.now = () => date;
    performance.now = () => moment;
  };
}

test.serial('a moment has the date of the system', (t) => {
  const set = replaceClocks(t);
  for (const ms of [0, 50, 99, 100, 175, 3_000]) {
    set(day + ms, ms);
    t.is(dateAt(ms + 0.4), day + ms, `${ms} ms`);
  }
});

test.serial('a changed system clock is followed within 100 ms', (t) => {
  const set = replaceClocks(t);
  set(day, 10_000);
  t.is(dateAt(10_000), day);
  set(day + hour + 99, 10_099);
  t.is(dateAt(10_099), day + 99);
  set(day + hour + 100, 10_100);
  t.is(dateAt(10_100), day + hour + 100);
});
