import test from 'ava';
import { HeaderFilter, replyHeaders } from '../../gateway/migration/forward-headers.ts';

test('G16: headers of a connection, and those that Connection names, are not passed on', (t) => {
  const raw = ['X-One', '1', 'Connection', 'close, x-Two', 'x-two', '2', 'TE', 'gzip', 'x-ONE', '3'];
  t.deepEqual(replyHeaders(raw), ['X-One', '1', 'x-ONE', '3']);
  t.deepEqual(replyHeaders(['connection', 'keep-alive', 'Proxy-Any', '1', 'x-two', '2']), ['x-two', '2']);
});

test('G16: more and longer names than are kept are treated alike', (t) => {
  let count = 0;
  const filter = new HeaderFilter((name) => {
    count++;
    return name.startsWith('removed');
  });
  const longName = 'x'.repeat(65);
  const raw = Array.from({ length: 999 }, (_, index) => [`removed-${index}`, '']).flat();
  const more = ['removed', '', longName, '1', 'kept', '2'];
  t.deepEqual(filter.apply([...more, ...raw]), [longName, '1', 'kept', '2']);
  t.is(count, 1_002);
  t.deepEqual(filter.apply([...more, ...raw]), [longName, '1', 'kept', '2']);
  // the long name, and the last one of 1,001
  t.is(count, 1_004);
});
