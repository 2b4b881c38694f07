import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { readRelatedType, splitRelated, takeParts } from '../../../mappings/http-mapping/related.ts';

/** Returns the message's parts, and the CPU time of finding them in ms. */
function split(boundary: string, content: Buffer) {
  const type = readRelatedType(`multipart/related; boundary="${boundary}"`);
  const head = `--${boundary}\r\nContent-Type: text/xml\r\n\r\n<a/>\r\n--${boundary}\r\nContent-ID: <p>\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--`)]);
  const began = process.cpuUsage();
  const { parts } = takeParts(body, splitRelated(body, type, defaultLimits));
  const { user, system } = process.cpuUsage(began);
  return { parts, ms: (user + system) / 1_000 };
}

test.serial('W63: bytes that look like the boundary take linear time', (t) => {
  for (const [boundary, text, times] of [
    ['-'.repeat(70), '-', 16_000_000],
    ['-'.repeat(70), `\r\n${'-'.repeat(71)}x`, 200_000],
    ['a', '\r\n--', 4_000_000],
    [`${'-'.repeat(69)}a`, '-', 16_000_000],
    ['ab'.repeat(35), `\r\n--${'ab'.repeat(34)}`, 200_000],
  ] as const) {
    const { parts, ms } = split(boundary, Buffer.from(`x${text.repeat(times)}`));
    t.is(parts[0]?.bytes.length, 1 + text.length * times);
    t.true(ms < 1_000, `${ms} ms`);
  }
});
