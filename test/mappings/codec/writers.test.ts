import { strictEqual } from 'node:assert';
import test from 'ava';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { xmlFromJson } from '../../../mappings/codec/scalars/dates.ts';
import {
  decimalFromJson,
  finite,
  type IntegerRange,
  integerFromJson,
} from '../../../mappings/codec/scalars/numbers.ts';
import { createZone } from '../../../mappings/codec/scalars/zone.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import type { ScalarName } from '../../../mappings/contract/model.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { fc } from '../../property.ts';
import {
  type BothWays,
  codecsOf,
  compile,
  depot,
  operationOf,
  scalar,
  screening,
  textOf,
  writeReply,
} from './contracts.ts';
import { legalText, parseElement } from './elements.ts';
import { canonical, picker, tell, valuesOf } from './values.ts';

/** The writer has fast paths for common values. Each is compared with the general rule. */

function contentOf(codec: BothWays, json: string): string | null | undefined {
  try {
    return codec.write(json).content;
  } catch (error) {
    if (error instanceof MismatchError) return undefined;
    throw error;
  }
}

for (const name of ['UTC', 'Europe/London', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia']) {
  const zone = createZone(name);
  const dateTime = codecsOf(screening, { upstreamTimeZone: name }).codecOf(scalar('dateTime'));
  const instants = fc.oneof(
    fc.integer({ min: -62_135_596_800_000 - 10, max: 253_402_300_799_999 + 10 }),
    fc.integer({ min: -2_000_000_000, max: 4_000_000_000 }).map((seconds) => seconds * 1000),
    fc.constantFrom(-62_135_596_800_000, 253_402_300_799_999, -62_135_596_799_999, 0, -1, 1, 999, -1000),
    fc.integer({ min: -100_000_000, max: 100_000_000 }).map((ms) => -62_135_596_800_000 + Math.abs(ms)),
    fc.integer({ min: 0, max: 100_000_000 }).map((ms) => 253_402_300_799_999 - ms),
  );
  const forms = fc
    .tuple(
      instants,
      fc.constantFrom('', '-0000', '-0000', '+0000', '+0100', '-0530', '+1400', '+1401', '-000', '0'),
      fc.constantFrom(
        '/Date(*)/',
        '/Date(*)/',
        '\\/Date(*)\\/',
        '/Date(*)',
        'Date(*)/',
        '/Date( *)/',
        '/Date(*)/ ',
      ),
    )
    .map(([ms, suffix, form]) => form.replace('*', `${ms}${suffix}`));

  test(`W17: any /Date()/ in ${name} is written as codec/dates.ts defines`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(forms, (text) => {
          const expected = xmlFromJson(text.replaceAll('\\/', '/'), zone);
          strictEqual(contentOf(dateTime, `"${text}"`), expected);
        }),
        { numRuns: 400 },
      ),
    );
  });
}

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength, size: 'max' });
const numbers = fc
  .tuple(
    fc.boolean(),
    fc.oneof(digits(3), digits(11), digits(22), digits(420)),
    fc.option(fc.oneof(digits(3), fc.constantFrom('0', '000')), { freq: 2 }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.oneof(fc.nat(12), fc.nat(500))), {
      freq: 2,
    }),
  )
  .map(([negative, integer, fraction, exponent]) => {
    const whole = integer.replace(/^0+(?=\d)/, '');
    const power = exponent === null ? '' : exponent.join('');
    return `${negative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}${power}`;
  });

const range = (min: string, max: string) => (token: string) => {
  const bounds: IntegerRange = { min, max };
  return integerFromJson(token, bounds);
};

const rules: Partial<Record<ScalarName, (token: string) => string | symbol | undefined>> = {
  byte: range('-128', '127'),
  unsignedByte: range('0', '255'),
  short: range('-32768', '32767'),
  unsignedShort: range('0', '65535'),
  int: range('-2147483648', '2147483647'),
  unsignedInt: range('0', '4294967295'),
  long: range('-9223372036854775808', '9223372036854775807'),
  unsignedLong: range('0', '18446744073709551615'),
  integer: (token) => integerFromJson(token, undefined),
  decimal: decimalFromJson,
  double: (token) => finite(token, false),
  float: (token) => finite(token, true),
};

const family = codecsOf(screening);

for (const [name, rule] of Object.entries(rules)) {
  test(`W15, W22: any number for an xs:${name} is written as codec/numbers.ts defines`, (t) => {
    const codec = family.codecOf(scalar(name as ScalarName));
    t.notThrows(() =>
      fc.assert(
        fc.property(numbers, fc.boolean(), (token, quoted) => {
          const expected = rule(token);
          const content = contentOf(codec, quoted ? `"${token}"` : token);
          strictEqual(content, typeof expected === 'string' ? expected : undefined);
        }),
        { numRuns: 300 },
      ),
    );
  });
}

test('W15: a decimal of 400 digits is written, one of 401 is a mismatch', (t) => {
  const codec = family.codecOf(scalar('decimal'));
  const rows = [
    ['9'.repeat(400), true],
    [`-${'9'.repeat(400)}`, true],
    [`-${'9'.repeat(200)}.${'9'.repeat(200)}`, true],
    ['9'.repeat(401), false],
    [`-${'9'.repeat(401)}`, false],
    [`${'9'.repeat(200)}.${'9'.repeat(201)}`, false],
  ] as const;
  for (const [token, fits] of rows) {
    t.is(contentOf(codec, token), fits ? token : undefined);
    t.is(contentOf(codec, `"${token}"`), fits ? token : undefined);
  }
});

const units = fc.array(
  fc.oneof(
    fc.constantFrom(
      'a',
      '&',
      '<',
      '>',
      '"',
      '\\',
      '/',
      '\b',
      '\f',
      '\n',
      '\r',
      '\t',
      '\0',
      '\u001f',
      '\u007f',
    ),
    fc.constantFrom(
      'é',
      '漢',
      '\ufdd0',
      '\uffef',
      '\ufffd',
      '\ufffe',
      '\uffff',
      '\ufeff',
      '😀',
      '\u{1fffe}',
      '\u{10ffff}',
    ),
    fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff'),
    fc.nat(0xffff).map((code) => String.fromCharCode(code)),
  ),
  { maxLength: 20 },
);

test('W21: saxes reads any written string back; illegal characters are counted as U+FFFD', (t) => {
  const codec = family.codecOf(scalar('string'));
  t.notThrows(() =>
    fc.assert(
      fc.property(units, fc.integer(), (list, seed) => {
        const text = list.join('');
        const pick = picker(seed);
        // required escapes, and some optional ones
        const json = JSON.stringify(text).replace(/\\u[0-9a-f]{4}|\\.|[^\\"]/gsu, (piece) =>
          piece.length === 1 && pick(4) === 0
            ? `\\u${piece.charCodeAt(0).toString(16).padStart(4, '0')}`
            : piece === '/' && pick(2) === 0
              ? '\\/'
              : piece,
        );
        const { content, replaced } = codec.write(json);
        const expected = legalText(text);
        strictEqual(parseElement(`<e>${content}</e>`).text, expected.text);
        strictEqual(replaced, expected.replaced);
      }),
      { numRuns: 1000 },
    ),
  );
});

test('W21: a long text is written like short ones, wherever it is split', (t) => {
  const codec = family.codecOf(scalar('string'));
  const units = [
    '&',
    '<x>',
    'é',
    '漢',
    '😀',
    '\uffef',
    '\ufffe',
    '"',
    '\n',
    '\ud800',
    '\udc00',
    'plain text',
  ];
  const written = (unit: string): string =>
    [...unit]
      .flatMap((character) => character.split(''))
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  for (const [index, unit] of units.entries()) {
    for (const spelled of [JSON.stringify(unit).slice(1, -1), written(unit)]) {
      for (const before of ['', 'a', 'é&', 'abcde']) {
        const pair = [spelled, JSON.stringify(units[(index + 1) % units.length]).slice(1, -1)];
        const text = before + pair.join('').repeat(Math.ceil(150_000 / pair.join('').length));
        const expected = String(JSON.parse(`"${text}"`)).replaceAll(/[\p{Surrogate}\ufffe]/gu, '\ufffd');
        strictEqual(parseElement(`<e>${codec.write(`"${text}"`).content}</e>`).text, expected);
      }
    }
  }
  t.pass();
});

test('base64 of any length is unchanged, and one wrong letter is a mismatch', (t) => {
  const codec = family.codecOf(scalar('base64Binary'));
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200, size: 'max' }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.constantFrom('-', '_', ' ', '=', '\\n', 'é', '<', '*'),
        (bytes, place, wrong) => {
          const text = Buffer.from(bytes).toString('base64');
          strictEqual(contentOf(codec, `"${text}"`), text);
          if (text === '') return;
          const at = Math.floor(place * text.length);
          if (wrong === '=' && at >= text.length - 2) return; // padding may be valid there
          strictEqual(contentOf(codec, `"${text.slice(0, at)}${wrong}${text.slice(at + 1)}"`), undefined);
          strictEqual(contentOf(codec, `"${text.slice(1)}"`), undefined);
        },
      ),
      { numRuns: 300 },
    ),
  );
});

test('XSD Part 2, 3.2.16: base64 with leftover bits in its padding is a mismatch, long or short', (t) => {
  const codec = family.codecOf(scalar('base64Binary'));
  for (const before of ['', 'QUJD'.repeat(40)]) {
    for (const end of ['QQ==', 'QUI=', 'AAA=', 'AA=='])
      t.is(contentOf(codec, `"${before}${end}"`), before + end);
    for (const end of ['QR==', 'QUJ=', 'AAB=', 'AB==', 'Q===', 'QQ=', 'QQ', 'Q', '====', 'QQ==QUJD', 'QQ=Q'])
      t.is(contentOf(codec, `"${before}${end}"`), undefined, end);
  }
});

/** Describes the result of a reply. */
function outcome(compiled: ReturnType<typeof compile>, operation: string, text: string): string {
  try {
    const { xml, dropped, replaced, failed } = writeReply(compiled, operation, text);
    return `${dropped} ${replaced} ${failed} ${xml}`;
  } catch (error) {
    if (error instanceof MismatchError || error instanceof JsonError) return error.message;
    throw error;
  }
}

test('a reply is written as if it were the first one, whatever came before', (t) => {
  const shared = compile(screening);
  const outputs = screening.operations.map(({ name, output }) =>
    fc.tuple(
      fc.constant(name),
      fc
        .tuple(valuesOf(output, screening, { nulls: true }), fc.integer(), fc.nat(9))
        .map(([value, seed, way]) => {
          const text = tell(value, { ...canonical, pick: picker(seed) });
          if (way === 0) return text.slice(0, -1 - Math.abs(seed % text.length));
          if (way === 1) return text.replace('{', '{"unknown":"\\u0000",');
          if (way === 2) return text.replace('"data":{', '"data":{"responseStatus":{"errorCode":"X"},');
          // exceeds the initial size of the buffer and of the tape
          if (way === 3) return text.replace('{', `{"unknown":[${'1,'.repeat(20_000)}1],`);
          return text;
        }),
    ),
  );
  const replies = fc.sample(fc.oneof(...outputs), { numRuns: 150, seed: 7 });
  for (const [operation, text] of replies) {
    t.is(outcome(shared, operation, text), outcome(compile(screening), operation, text), text.slice(0, 200));
  }
});

test('a reply of many items is complete, and so is a small one after it', (t) => {
  const compiled = compile(screening);
  const record = (id: number) => `{"id":${id},"status":"é<${id}>","type":null,"unknown":[{"a":"b"}]}`;
  const ids = Array.from({ length: 5000 }, (_, index) => index);
  const many = writeReply(
    compiled,
    'GetValidIds',
    `{"data":{"searchRecords":[${ids.map(record).join(',')}]}}`,
  );
  t.is(many.dropped, 5000);
  const records = parseElement(many.xml).children[0]?.children[0]?.children ?? [];
  t.deepEqual(
    records.map(({ children }) => children.map(({ local, text }) => `${local}=${text}`).join()),
    ids.map((id) => `Id=${id},Status=é<${id}>`),
  );
  t.regex(
    writeReply(compiled, 'GetValidIds', '{"data":{"maxPageNum":3}}').xml,
    /<Data><MaxPageNum>3<\/MaxPageNum><\/Data>/,
  );
});

test('a member’s name is compared completely, at any byte alignment', (t) => {
  const fields = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6'];
  const compiled = compile(screening);
  const wrap = (item: string) => `{"data":{"searchRecord":{"searchResults":{"hmtResults":[${item}]}}}}`;
  const written = (item: string) => {
    const { xml, dropped } = writeReply(compiled, 'GetSearch', wrap(item));
    return [xml.replace(/^.*<SearchResultHmTreasury>|<\/SearchResultHmTreasury>.*$/g, ''), dropped];
  };
  // the order of the previous object is only a hint
  for (const order of [fields, fields.toReversed(), ['Name3', 'Name1', 'Name6', 'Name2', 'Name5', 'Name4']]) {
    t.deepEqual(written(`{${order.map((name) => `"${name.toLowerCase()}":"${name}"`).join(',')}}`), [
      fields.map((name) => `<${name}>${name}</${name}>`).join(''),
      0,
    ]);
  }
  const unknown = [
    'name',
    'name11',
    'name1 ',
    ' name1',
    'nam',
    'n',
    '',
    'name7',
    'Name1',
    'nаme1',
    'name1\\u0000',
    'name1\\"',
  ];
  t.deepEqual(written(`{${unknown.map((name) => `"${name}":"x"`).join(',')},"n\\u0061me1":"y"}`), [
    '<Name1>y</Name1>',
    unknown.length,
  ]);
});

test('W29, A14: keys and names of a reply never reach a prototype', (t) => {
  const { xml } = writeReply(
    compile(screening),
    'GetEulaStatus',
    '{"data":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"responseStatus":{"__proto__":{"polluted":1},"meta":{"__proto__":"1","constructor":"2"}}}}',
  );
  t.regex(
    xml,
    /<a:Key>__proto__<\/a:Key><a:Value>1<\/a:Value>.*<a:Key>constructor<\/a:Key><a:Value>2<\/a:Value>/,
  );
  t.is(Reflect.get({}, 'polluted'), undefined);
});

test('without a frame a reply is only checked', (t) => {
  const operation = operationOf(compile(screening), 'RenewAllPepSearches');
  const check = (text: string) => operation.writeReply(Buffer.from(text), undefined);
  t.deepEqual(check('{"data":{"count":1},"x":1}'), {
    failed: false,
    dropped: 1,
    replaced: 0,
    passed: 0,
    mismatches: { missing: 0, described: ['x: dropped, as RenewAllPepSearchesResponse lacks it'] },
    xml: undefined,
  });
  t.true(check('{"data":{"responseStatus":{"errorCode":"X"}}}').failed);
  t.throws(() => check('{"data":{"count":"x"}}'), { instanceOf: MismatchError });
  t.throws(() => check('{"data":{}'), { instanceOf: JsonError });
});

test('a frame is written around the element, in UTF-8, the first time and later', (t) => {
  const operation = operationOf(compile(depot), 'CountParcels');
  const framed = (name: string) =>
    `<${name}><CountParcelsResponse xmlns="urn:Depot" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Result>5</Result></CountParcelsResponse></${name}>`;
  const [usual, other] = ['é', '漢'].map((name) => ({ before: `<${name}>`, after: `</${name}>` }));
  for (const frame of [usual, usual, usual, other, usual, other, other]) {
    const { xml = '' } = operation.writeReply(Buffer.from('5'), frame);
    t.is(textOf(xml), framed(frame?.before.slice(1, -1) ?? ''));
  }
});

test('jsonDepth, jsonMembers: a reply at the limit is read, a larger one is refused', (t) => {
  const reply = (depth: number) =>
    `{"data":{"count":1,"x":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}}`;
  const limited = (limits: Partial<Limits>) => (text: string) =>
    writeReply(compile(screening, {}, limits), 'RenewAllPepSearches', text);
  const deep = limited({ jsonDepth: 10 });
  t.notThrows(() => deep(reply(10)));
  t.throws(() => deep(reply(11)), { instanceOf: JsonError, message: /nesting deeper than 10/ });
  const wide = limited({ jsonMembers: 5 });
  t.notThrows(() => wide('{"data":{"count":1,"x":[1,2]}}'));
  t.throws(() => wide('{"data":{"count":1,"x":[1,2,3]}}'), {
    instanceOf: JsonError,
    message: /more than 5 members and items/,
  });
});
