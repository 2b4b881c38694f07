import test from 'ava';
import { writeJsonp } from '../../../gateway/http/negotiate.ts';

test('W6: JSONP escapes U+2028 and U+2029, and nothing else', (t) => {
  for (const json of ['""', '"\u2028"', '"é\u2029\u2028"', '"\u2027\u202a\ua828€😀"', '{"a":"\u2028b"}']) {
    const escaped = json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
    t.is(writeJsonp('f', json).toString(), `/**/f(${escaped});`);
    t.is(writeJsonp('f', Buffer.from(json)).toString(), `/**/f(${escaped});`);
  }
});
