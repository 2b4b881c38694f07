import test from 'ava';
import { encodeTarget } from '../../mappings/places.ts';

for (const [path, sent] of [
  ['/rest?method=search&x=1', '/rest?method=search&x=1'],
  ['/a[b]/{id}|{c}', '/a%5Bb%5D/{id}%7C{c}'],
  ['/a b/{na[me]}"<>^`\\', '/a%20b/{na[me]}%22%3C%3E%5E%60%5C'],
  ['/caf\u00e9/\u{1f600}%20', '/caf%C3%A9/%F0%9F%98%80%20'],
  ["/-._~!$&'()*+,;=:@/?", "/-._~!$&'()*+,;=:@/?"],
  ['/a{b', '/a%7Bb'],
] as const)
  test(`RFC 3986 §3.3, §3.4: the path ${path} is sent as ${sent}`, (t) => {
    t.is(encodeTarget(path), sent);
  });
