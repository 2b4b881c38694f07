import test from 'ava';
import { compileHide } from '../../../gateway/telemetry/secrets.ts';
import { excerpt } from '../../../mappings/codec/scalars/text.ts';
import { fc } from '../../property.ts';

/** Escapes of a text, by name. */
const escapes: Readonly<Record<string, (text: string) => string>> = {
  json: (text) => JSON.stringify(text).slice(1, -1),
  jsonWithSlashes: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  jsonInAscii: (text) => text.replaceAll(/[^a-z]/g, (unit) => `\\u${hex(unit, 4)}`),
  jsonInCapitals: (text) => text.replaceAll(/[\s\S]/g, (unit) => `\\u${hex(unit, 4).toUpperCase()}`),
  javascript: (text) => text.replaceAll(/[^\w]/g, (unit) => (unit < '\x7f' ? `\\x${hex(unit, 2)}` : unit)),
  xml: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  xmlDecimal: (text) => text.replaceAll(/[^a-z]/gu, (letter) => `&#${letter.codePointAt(0)};`),
  xmlHex: (text) => text.replaceAll(/[^a-z]/gu, (letter) => `&#x0${letter.codePointAt(0)?.toString(16)};`),
  html: (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('+', '&plus;')
      .replaceAll('/', '&sol;')
      .replaceAll('=', '&equals;'),
  url: (text) => encodeURIComponent(text),
  urlInSmall: (text) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
};

function hex(unit: string, digits: number): string {
  return unit.charCodeAt(0).toString(16).padStart(digits, '0');
}

const letters = fc.constantFrom(...'abcdefXYZ019/+=&<>"\'\\%;#!~ -_.:@é漢😀u');
const secrets = fc
  .array(letters, { minLength: 6, maxLength: 40 })
  .map((each) => each.join('').toWellFormed());
const around = fc
  .array(fc.constantFrom(...'abz /"<>=:,.|(){}é\n'), { maxLength: 20 })
  .map((each) => each.join(''));

test('a secret is redacted in every form, and in one form within another', (t) => {
  const ways = fc.array(fc.constantFrom(...Object.keys(escapes)), { maxLength: 2 });
  fc.assert(
    fc.property(secrets, ways, around, around, (secret, names, before, after) => {
      // For example six escaped percent signs can be too short to be recognised.
      fc.pre(/[\w/+=]{4}/.test(secret) && !secret.endsWith('\\'));
      let written = secret;
      for (const name of names) written = escapes[name]?.(written) ?? '';
      const text = `${before}|${written}|${after}`;
      t.is(compileHide([secret])(text), `${before}|***|${after}`, `${names} of ${secret}`);
    }),
    { numRuns: 1_500 },
  );
});

test('a secret is redacted in base64 of any text that contains it, in both alphabets', (t) => {
  const alphabets = fc.constantFrom<BufferEncoding>('base64', 'base64url');
  fc.assert(
    fc.property(secrets, alphabets, around, around, (secret, alphabet, before, after) => {
      const coded = Buffer.from(before + secret + after).toString(alphabet);
      const [head = '', tail = '', ...more] = compileHide([secret])(`a: ${coded}`).split('***');
      t.deepEqual(more, []);
      // The visible characters on both sides reveal no bytes of the secret.
      const shown = Buffer.from(head.slice(3), alphabet);
      t.true(Buffer.from(before).subarray(0, shown.length).equals(shown), `${head}***${tail}`);
      t.true(coded.startsWith(head.slice(3)) && coded.endsWith(tail));
      const hiddenBytes = Math.floor(((coded.length - head.length + 3 - tail.length) * 6) / 8);
      t.true(hiddenBytes >= Buffer.byteLength(secret));
    }),
    { numRuns: 800 },
  );
});

test('a text is cut after the redaction of its secrets, in any position', (t) => {
  const hide = compileHide(['abc/def+ghi==']);
  for (const written of ['abc/def+ghi==', 'abc\\/def+ghi==', 'abc%2Fdef%2Bghi%3D%3D']) {
    for (let before = 480; before < 505; before++) {
      const text = 'x'.repeat(before) + written + 'y'.repeat(600);
      t.is(hide(text, 500), `${'x'.repeat(before)}***${'y'.repeat(600)}`.slice(0, 500));
    }
  }
});

test('a secret cut short by the gateway’s own text is redacted', (t) => {
  const secret = 'k3y/with+quite=some-letters-in-it-all';
  const hide = compileHide([secret]);
  for (const value of [secret, `id-${secret}`, `"${secret}"`]) {
    const told = hide(`expected a number, got ${excerpt(value)}`);
    t.false(told.includes('k3y'), told);
  }
  t.is(hide('got "k3y…'), 'got "k3y…', 'fewer than six characters are not looked for');
});

test('texts of any length are scanned to the end, in windows that overlap', (t) => {
  const secret = 'abc/def+ghi==';
  const hide = compileHide([secret]);
  for (const written of [secret, 'abc\\u002fdef&#43;ghi==', Buffer.from(secret).toString('base64')]) {
    for (let from = 65_515; from < 65_540; from++) {
      const text = `${' '.repeat(from)}${written} ${written}${' '.repeat(70_000)}`;
      t.is(hide(text).replaceAll('=', '').trim(), '*** ***', `${from}`);
    }
  }
});

test('secrets of fewer than six characters stay, and a text without secrets is unchanged', (t) => {
  t.is(compileHide(['12345'])('12345'), '12345');
  t.is(compileHide([])('abc\\/def', 5), 'abc\\/');
  fc.assert(
    fc.property(fc.string({ maxLength: 200, unit: 'grapheme' }), (text) => {
      t.is(compileHide(['not-in-there-0815'])(text), text);
    }),
  );
});

test('redaction takes linear time, however the text is escaped', (t) => {
  const hide = compileHide(['abc/def+ghi==', 'aaaaaaaaaaaa']);
  for (const unit of [
    '\\',
    '%3',
    '&amp;',
    '&',
    ';',
    '\\u00',
    '%25',
    'aaaaa…',
    'abc/def+ghi=',
    '&#x',
    '\ud83d',
  ]) {
    const timeOf = (length: number): number => {
      const text = unit.repeat(length / unit.length);
      const { user } = process.cpuUsage();
      hide(text);
      return process.cpuUsage().user - user;
    };
    timeOf(100_000);
    const one = Math.max(timeOf(200_000), 20_000);
    t.true(timeOf(1_600_000) < one * 25, unit);
  }
});
