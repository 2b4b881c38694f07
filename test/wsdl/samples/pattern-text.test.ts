import test from 'ava';
import { textOfPattern } from '../../../wsdl/samples/pattern-text.ts';

test('a pattern matches the text generated for it', (t) => {
  for (const source of [
    '^[A-Z]{3}-\\d{4}$',
    '^(?:red|green)+$',
    '^\\p{Lu}\\p{Ll}*$',
    '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
    '^(?<year>\\d{4})-(0[1-9]|1[0-2])$',
    '^\\u0041\\x42\\/$',
    '^a{0}b?$',
    '^[\\]\\-]x$',
    '',
  ]) {
    const text = textOfPattern(source);
    t.regex(text ?? 'none', new RegExp(source, 'u'), source);
  }
});

test('a pattern with unsupported parts gives no text', (t) => {
  for (const source of ['^(?=a)a$', '(a)\\1', '[a', '(a', 'a)', '*a', '\\P{L}', 'a{100}', '('.repeat(40)])
    t.is(textOfPattern(source), undefined, source);
});
