import test from 'ava';
import { writeJsonp } from '../../../gateway/http/negotiate.ts';

test('a reply full of characters that JSONP escapes takes little more than linear time', (t) => {
  const json = Buffer.from(`"${'\u2028\u2029'.repeat(500_000)}"`);
  const least = (work: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        work();
        const { user, system } = process.cpuUsage(before);
        return user + system;
      }),
    );
  const bytes = least(() => json.reduce((sum, byte) => sum + byte, 0));
  t.true(least(() => writeJsonp('f', json)) < 4 * bytes + 20_000);
});
