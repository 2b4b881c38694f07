import test from 'ava';
import { shown, withoutUrlSecrets } from '../../../../mappings/loader/document/node.ts';

for (const [text, expected] of [
  ['http://usr:SECRET@127.0.0.1:1', 'http://127.0.0.1:1'],
  ['https://usr:SEC/RET?#@a.example/p', 'https://a.example/p'],
  ['https://usr:SEC@RET@a.example/p', 'https://a.example/p'],
  ['https://:SECRET@a.example', 'https://a.example'],
  ['http://a.example/p?token=SECRET', 'http://a.example/p'],
  ['http://a.example/p#SECRET', 'http://a.example/p'],
  [' FTP://usr:SECRET@a.example/p', ' FTP://a.example/p'],
  ['redis://:SECRET@store:6379/0?x=SECRET', 'redis://store:6379/0'],
  ['http://usr:SEC\nRET@a', 'http://a'],
  ['localhost:8080?a', 'localhost:8080?a'],
  ['a@b.example', 'a@b.example'],
  ['a@b.example:80', 'a@b.example:80'],
  ['10:30 a@b', '10:30 a@b'],
  ['usr:SECRET@a.example', '***@a.example'],
  ['usr:SEC@RET@a.example:80/p?x=SECRET', '***@a.example:80/p'],
  ['http//usr:SECRET@a.example', '***@a.example'],
  [':SECRET@a', '***@a'],
] as const) {
  test(`a message shows ${JSON.stringify(expected)} of ${JSON.stringify(text)}`, (t) => {
    t.is(withoutUrlSecrets(text), expected);
    t.is(shown(text), JSON.stringify(expected));
  });
}
