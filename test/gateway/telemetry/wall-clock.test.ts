import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { dateAt } from '../../../gateway/telemetry/wall-clock.ts';

test.serial('a moment has the date that the system says', async (t) => {
  for (let times = 0; times < 5; times++) {
    const before = Date.now();
    const date = dateAt(performance.now());
    t.true(date >= before - 1 && date <= Date.now(), `${date}`);
    await wait(30);
  }
});

test.serial('a clock that was set is followed', async (t) => {
  const systems = Date.now;
  const hour = 3_600_000;
  dateAt(performance.now());
  Date.now = () => systems() + hour;
  t.teardown(() => {
    Date.now = systems;
  });
  await wait(150);
  const late = dateAt(performance.now()) - systems();
  t.true(late >= hour - 1 && late <= hour, `${late}`);
});
