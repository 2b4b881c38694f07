import test from 'ava';
import { MismatchError, problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { namespaces, type ScalarName } from '../../../../mappings/contract/model.ts';
import {
  type BothWays,
  codecsOf,
  compile,
  depot,
  operationOf,
  passOne,
  readOne,
  scalar,
  screening,
  typeNamed,
  writeOne,
  writeReply,
} from '../contracts.ts';

const family = codecsOf(screening);
const codecOf = (name: ScalarName): BothWays => family.codecOf(scalar(name));

/** An element's content and the expected JSON, or the problem. */
type XmlRow = readonly [content: string, json: string | { readonly problem: string }];
type XmlTable = Readonly<Record<string, readonly [ScalarName, readonly XmlRow[]]>>;

const invalid = (says: string) => ({ problem: `InvalidType expected ${says}` });
const outside = (says: string) => ({ problem: `OutOfRange expected ${says}` });
const hint = 'leave the element out where no value is meant';
const dateHint = ' (node-soap writes a JavaScript Date like this: pass it as an ISO string)';
const empty = (type: string) => ({
  problem: `NotEmpty expected ${type}, got an empty element; ${hint}${type.startsWith('xs:date') ? dateHint : ''}`,
});

const reading: XmlTable = {
  'W14: a string keeps every character, leading and trailing blanks too': [
    'string',
    [
      ['  x  ', '"  x  "'],
      ['', '""'],
      [' \n\t', '" \\n\\t"'],
      ['a&#13;&#10;b', '"a\\r\\nb"'],
      ['é漢😀&#x10FFFF;', '"é漢😀\u{10ffff}"'],
      ['<![CDATA[<&]]>"\\', '"<&\\"\\\\"'],
      ['us<!-- -->er', '"user"'],
      ['\u007f\u0085\u2028', '"\u007f\u0085\u2028"'],
      ['true', '"true"'],
      ['a<b/>', invalid('xs:string, got elements')],
    ],
  ],
  'W10: a string may hold references to characters that XML forbids': [
    'string',
    [
      ['&#x1;&#xB;&#x0;', '"\\u0001\\u000b\\u0000"'],
      ['&#xFFFE;', '"\ufffe"'],
      ['&#xD83D;&#xDE00;', '"😀"'],
    ],
  ],
  'W14: a boolean is one of four words, blanks around it collapsed (XSD Part 2, 3.2.2.1)': [
    'boolean',
    [
      ['true', 'true'],
      ['false', 'false'],
      ['1', 'true'],
      ['0', 'false'],
      [' \n true\t', 'true'],
      ['TRUE', invalid('xs:boolean, got "TRUE"')],
      ['True', invalid('xs:boolean, got "True"')],
      ['yes', invalid('xs:boolean, got "yes"')],
      ['01', invalid('xs:boolean, got "01"')],
      ['', empty('xs:boolean')],
      [' ', empty('xs:boolean')],
    ],
  ],
  'W14: an int is an xs:int, blanks around it collapsed': [
    'int',
    [
      ['5', '5'],
      [' 5 ', '5'],
      ['+5', '5'],
      ['007', '7'],
      ['<![CDATA[5]]>', '5'],
      ['&#53;', '5'],
      ['5.0', invalid('xs:int, got "5.0"')],
      ['1e3', invalid('xs:int, got "1e3"')],
      ['five', invalid('xs:int, got "five"')],
      ['1 2', invalid('xs:int, got "1 2"')],
      ['\u00a05', invalid('xs:int, got "\u00a05"')],
      ['<b>5</b>', invalid('xs:int, got elements')],
      ['2147483648', outside('xs:int from -2147483648 to 2147483647, got "2147483648"')],
      ['', empty('xs:int')],
    ],
  ],
  'W15: a long travels as text': [
    'long',
    [
      ['9007199254740993', '9007199254740993'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      [
        '9223372036854775808',
        outside('xs:long from -9223372036854775808 to 9223372036854775807, got "9223372036854775808"'),
      ],
    ],
  ],
  'W14: an unsigned byte is 0 to 255': [
    'unsignedByte',
    [
      ['0', '0'],
      ['255', '255'],
      ['256', outside('xs:unsignedByte from 0 to 255, got "256"')],
      ['-1', outside('xs:unsignedByte from 0 to 255, got "-1"')],
    ],
  ],
  'W14: a short is 16 bits': [
    'short',
    [
      ['-32768', '-32768'],
      ['32768', outside('xs:short from -32768 to 32767, got "32768"')],
    ],
  ],
  'W15: an integer without bounds has at most 400 digits': [
    'integer',
    [
      ['123456789012345678901234567890', '123456789012345678901234567890'],
      ['9'.repeat(401), outside(`xs:integer of at most 400 digits, got "${'9'.repeat(32)}…"`)],
    ],
  ],
  'W15: a decimal travels as text, without its exponent': [
    'decimal',
    [
      ['12.50', '12.50'],
      ['12345678901234567890.12', '12345678901234567890.12'],
      [' +.50 ', '0.50'],
      ['1e2', '100'],
      ['1e+06', '1000000'],
      ['0.1999e2', '19.99'],
      ['1.0E-5', '0.000010'],
      ['-12.50E0', '-12.50'],
      [' +.5e1 ', '5'],
      ['1e399', `1${'0'.repeat(399)}`],
      ['1e400', outside('xs:decimal of at most 400 digits, got "1e400"')],
      ['1e-99999999999', outside('xs:decimal of at most 400 digits, got "1e-99999999999"')],
      ['1e', invalid('xs:decimal, got "1e"')],
      ['e5', invalid('xs:decimal, got "e5"')],
      ['1e5.0', invalid('xs:decimal, got "1e5.0"')],
      ['INF', invalid('xs:decimal, got "INF"')],
    ],
  ],
  'W15: a double keeps its exponent, JSON has no INF and no NaN': [
    'double',
    [
      ['1E+21', '1E+21'],
      ['0.1234567890123456789', '0.1234567890123456789'],
      ['INF', invalid('a finite xs:double, as JSON has no INF, got "INF"')],
      ['-INF', invalid('a finite xs:double, as JSON has no -INF, got "-INF"')],
      ['NaN', invalid('a finite xs:double, as JSON has no NaN, got "NaN"')],
      ['1e400', outside('xs:double that 64 bits hold, got "1e400"')],
    ],
  ],
  'W14: a float is what 32 bits hold': [
    'float',
    [
      ['3.4e38', '3.4e38'],
      ['3.5e38', outside('xs:float that 32 bits hold, got "3.5e38"')],
      ['INF', invalid('a finite xs:float, as JSON has no INF, got "INF"')],
    ],
  ],
  'W16: a dateTime becomes /Date(ms-0000)/': [
    'dateTime',
    [
      ['2024-06-01T10:00:00', '"/Date(1717236000000-0000)/"'],
      [' 2024-06-01T10:00:00Z\n', '"/Date(1717236000000-0000)/"'],
      ['2024-06-01T10:00:00+01:00', '"/Date(1717232400000-0000)/"'],
      ['2024-06-01', '"/Date(1717200000000-0000)/"'],
      ['2026-02-30T00:00:00', invalid('xs:dateTime, got "2026-02-30T00:00:00"')],
      ['today', invalid('xs:dateTime, got "today"')],
      ['', empty('xs:dateTime')],
      [' ', empty('xs:dateTime')],
    ],
  ],
  'W14: base64 may have blanks between, and follows XSD Part 2, 3.2.16': [
    'base64Binary',
    [
      ['QUJD', '"QUJD"'],
      ['QU\nJD\r\n', '"QUJD"'],
      [' Q U J D ', '"QUJD"'],
      ['QUI=', '"QUI="'],
      ['QQ==', '"QQ=="'],
      ['', '""'],
      [' ', '""'],
      ['+/+/', '"+/+/"'],
      ['QUJ', invalid('xs:base64Binary, got other text')],
      ['QQ=', invalid('xs:base64Binary, got other text')],
      ['QQ', invalid('xs:base64Binary, got other text')],
      ['====', invalid('xs:base64Binary, got other text')],
      ['Q===', invalid('xs:base64Binary, got other text')],
      ['QQ==QQ==', invalid('xs:base64Binary, got other text')],
      ['-_-_', invalid('xs:base64Binary, got other text')],
      ['QR==', invalid('xs:base64Binary, got other text')],
      ['QUJ=', invalid('xs:base64Binary, got other text')],
      ['QUé=', invalid('xs:base64Binary, got other text')],
      ['Q\u00a0QQ', invalid('xs:base64Binary, got other text')],
      ['<b>QUJD</b>', invalid('xs:base64Binary, got elements')],
    ],
  ],
  'W21: a GUID of a request is text like any other': [
    'guid',
    [
      ['{6F9619FF-8B86-D011-B42D-00CF4FC964FF}', '"{6F9619FF-8B86-D011-B42D-00CF4FC964FF}"'],
      ['  ', '"  "'],
    ],
  ],
};

for (const [title, [name, rows]] of Object.entries(reading)) {
  test(title, (t) => {
    for (const [content, json] of rows) {
      t.deepEqual(
        readOne(codecOf(name), content),
        typeof json === 'string' ? { value: json } : json,
        content.slice(0, 60),
      );
    }
  });
}

/** A JSON value and the expected content; null for no value, `{ mismatch }` for a mismatch. */
type JsonRow = readonly [json: string, content: string | null | { readonly mismatch: string }];
type JsonTable = Readonly<Record<string, readonly [ScalarName, readonly JsonRow[]]>>;

const mismatch = (says: string) => ({ mismatch: `expected ${says}` });

const writing: JsonTable = {
  'W22: a number or boolean for a string is its JSON text': [
    'string',
    [
      ['"x"', 'x'],
      ['""', ''],
      ['null', null],
      ['12.50', '12.50'],
      ['1e5', '1e5'],
      ['true', 'true'],
      ['false', 'false'],
      ['[]', mismatch('a string, got an array')],
      ['{}', mismatch('a string, got an object')],
    ],
  ],
  'W21: a string is escaped, what XML can’t carry is U+FFFD': [
    'string',
    [
      ['"a<b>&\\"c"', 'a&lt;b&gt;&amp;"c'],
      ['"\\u003cx\\u003e"', '&lt;x&gt;'],
      ['"a\\r\\n\\tb"', 'a&#13;\n\tb'],
      ['"\\u0000\\ud800"', '\ufffd\ufffd'],
      ['"\\ud83d\\ude00"', '😀'],
      ['"]]>"', ']]&gt;'],
      ['"/Date(0)/"', '/Date(0)/'],
    ],
  ],
  'W22: a string that holds exactly a boolean counts as one': [
    'boolean',
    [
      ['true', 'true'],
      ['false', 'false'],
      ['"true"', 'true'],
      ['"false"', 'false'],
      ['""', null],
      ['null', null],
      ['"True"', mismatch('a boolean, got an invalid string')],
      ['" true"', mismatch('a boolean, got an invalid string')],
      ['"1"', mismatch('a boolean, got an invalid string')],
      ['1', mismatch('a boolean, got a number')],
      ['[true]', mismatch('a boolean, got an array')],
    ],
  ],
  'W22: a string that holds exactly a number counts as one, an integer is written plainly': [
    'int',
    [
      ['5', '5'],
      ['"5"', '5'],
      ['5.0', '5'],
      ['1e3', '1000'],
      ['"1e3"', '1000'],
      ['-0', '0'],
      ['""', null],
      ['null', null],
      ['"five"', mismatch('xs:int, got a string that is no number')],
      ['" 5"', mismatch('xs:int, got a string that is no number')],
      ['"+5"', mismatch('xs:int, got a string that is no number')],
      ['"05"', mismatch('xs:int, got a string that is no number')],
      ['5.5', mismatch('xs:int, got a fraction')],
      ['2147483648', mismatch('xs:int from -2147483648 to 2147483647, got a number outside it')],
      ['"2147483648"', mismatch('xs:int from -2147483648 to 2147483647, got a number outside it')],
      ['true', mismatch('xs:int, got a boolean')],
      ['{}', mismatch('xs:int, got an object')],
    ],
  ],
  'W15: a long leaves as its text': [
    'long',
    [
      ['9007199254740993', '9007199254740993'],
      ['"9223372036854775807"', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      [
        '9223372036854775808',
        mismatch('xs:long from -9223372036854775808 to 9223372036854775807, got a number outside it'),
      ],
    ],
  ],
  'W22: an unsigned byte is 0 to 255': [
    'unsignedByte',
    [
      ['255', '255'],
      ['256', mismatch('xs:unsignedByte from 0 to 255, got a number outside it')],
      ['-1', mismatch('xs:unsignedByte from 0 to 255, got a number outside it')],
      ['-0', '0'],
    ],
  ],
  'W15: a decimal leaves with its scale, its exponent written out': [
    'decimal',
    [
      ['12.50', '12.50'],
      ['12345678901234567890.12', '12345678901234567890.12'],
      ['1e2', '100'],
      ['"1.5e-3"', '0.0015'],
      ['""', null],
      ['9'.repeat(400), '9'.repeat(400)],
      ['9'.repeat(401), mismatch('xs:decimal of at most 400 digits, got a number outside it')],
      ['1e400', mismatch('xs:decimal of at most 400 digits, got a number outside it')],
    ],
  ],
  'W15: a float leaves as its text where 32 bits hold it': [
    'float',
    [
      ['3.4e38', '3.4e38'],
      ['9'.repeat(38), '9'.repeat(38)],
      ['9'.repeat(39), mismatch('xs:float that 32 bits hold, got a number outside it')],
      ['3.5e38', mismatch('xs:float that 32 bits hold, got a number outside it')],
      ['"3.5E38"', mismatch('xs:float that 32 bits hold, got a number outside it')],
      ['[1]', mismatch('xs:float, got an array')],
    ],
  ],
  'W15: a double leaves as its text': [
    'double',
    [
      ['9'.repeat(308), '9'.repeat(308)],
      ['9'.repeat(400), mismatch('xs:double that 64 bits hold, got a number outside it')],
      ['12.50', '12.50'],
      ['1E+21', '1E+21'],
      ['-0', '-0'],
      ['"0.1"', '0.1'],
      ['1e400', mismatch('xs:double that 64 bits hold, got a number outside it')],
      ['"NaN"', mismatch('a finite xs:double, as JSON has no NaN, got a string')],
      ['"INF"', mismatch('a finite xs:double, as JSON has no INF, got a string')],
    ],
  ],
  'W17: a date leaves as an xs:dateTime, "" is null': [
    'dateTime',
    [
      ['"/Date(1717236000000-0000)/"', '2024-06-01T10:00:00'],
      ['"\\/Date(1717236000000)\\/"', '2024-06-01T10:00:00Z'],
      ['"/Date(1717236000000+0100)/"', '2024-06-01T11:00:00+01:00'],
      ['"2024-06-01"', '2024-06-01T00:00:00'],
      ['""', null],
      ['null', null],
      ['"/Date(x)/"', mismatch('xs:dateTime, got an invalid string')],
      ['1717236000000', mismatch('xs:dateTime, got a number')],
    ],
  ],
  'W22: base64 leaves as it is, once checked': [
    'base64Binary',
    [
      ['"QUJD"', 'QUJD'],
      ['"\\/\\/\\/\\/"', '////'],
      ['"\\u0051UJD"', 'QUJD'],
      ['""', ''],
      ['null', null],
      ['"QUJ"', mismatch('base64, got other text')],
      ['"QU JD"', mismatch('base64, got other text')],
      ['"QU\\nJD"', mismatch('base64, got other text')],
      ['"-_-_"', mismatch('base64, got other text')],
      ['"<x/>"', mismatch('base64, got other text')],
      ['5', mismatch('base64, got a number')],
    ],
  ],
  'W21: a GUID is written 8-4-4-4-12 in lower case from any of .NET’s forms, as it is otherwise': [
    'guid',
    [
      ['"6f9619ff8b86d011b42d00cf4fc964ff"', '6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
      ['"6F9619FF-8B86-D011-B42D-00CF4FC964FF"', '6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
      ['"{6F9619FF-8B86-D011-B42D-00CF4FC964FF}"', '6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
      ['"(6f9619ff-8b86-d011-b42d-00cf4fc964ff)"', '6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
      ['"{6f9619ff8b86d011b42d00cf4fc964ff}"', '{6f9619ff8b86d011b42d00cf4fc964ff}'],
      ['"{6f9619ff-8b86-d011-b42d-00cf4fc964ff)"', '{6f9619ff-8b86-d011-b42d-00cf4fc964ff)'],
      ['"6f9619ff-8b86d011-b42d-00cf4fc964ff"', '6f9619ff-8b86d011-b42d-00cf4fc964ff'],
      ['"6f9619ff8b86d011b42d00cf4fc964fg"', '6f9619ff8b86d011b42d00cf4fc964fg'],
      ['" 6f9619ff8b86d011b42d00cf4fc964ff"', ' 6f9619ff8b86d011b42d00cf4fc964ff'],
      ['"6f9619ff8b86d011b42d00cf4fc964ff\\n"', '6f9619ff8b86d011b42d00cf4fc964ff\n'],
      ['"6f9619ff8b86d011b42d00cf4fc964f"', '6f9619ff8b86d011b42d00cf4fc964f'],
      ['"6f9619ff8b86d011b42d00cf4fc964ff0"', '6f9619ff8b86d011b42d00cf4fc964ff0'],
      ['"{6f9619ff-8b86-d011-b42d-00cf4fc964ff}}"', '{6f9619ff-8b86-d011-b42d-00cf4fc964ff}}'],
      ['true', 'true'],
      ['{}', mismatch('a string, got an object')],
      ['"JANE <1>"', 'JANE &lt;1&gt;'],
      ['""', ''],
      ['null', null],
      ['12', '12'],
    ],
  ],
};

function written(name: ScalarName, json: string): JsonRow[1] {
  try {
    return writeOne(codecOf(name), json);
  } catch (error) {
    if (error instanceof MismatchError) return { mismatch: error.message };
    throw error;
  }
}

for (const [title, [name, rows]] of Object.entries(writing)) {
  test(title, (t) => {
    for (const [json, content] of rows) t.deepEqual(written(name, json), content, json);
  });
}

test('a string end without its beginning is invalid, and nothing may follow a string', (t) => {
  for (const [name, json] of [
    ['guid', '56f9619ff8b86d011b42d00cf4fc964ff"'],
    ['guid', '"6f9619ff8b86d011b42d00cf4fc964ff"x'],
    ['string', 'xabc"'],
    ['base64Binary', '5QUJD"'],
    ['dateTime', '5/Date(0)/"'],
  ] as const)
    t.throws(() => writeOne(codecOf(name), json), undefined, json);
});

/** A JSON value of a request and the expected result: the value, its replacement, or the problem. */
type PassTable = Readonly<
  Record<string, readonly [ScalarName, readonly (readonly [string, string | { readonly problem: string }])[]]>
>;

const passing: PassTable = {
  'W37: a string of a request is a string': [
    'string',
    [
      ['"a\\u0041"', '"a\\u0041"'],
      ['null', 'null'],
      ['5', invalid('a string, got a number')],
      ['true', invalid('a string, got a boolean')],
      ['{"a":[1]}', invalid('a string, got an object')],
      ['["a"]', invalid('a string, got an array')],
    ],
  ],
  'W37: a boolean of a request is one, or a string that holds exactly one': [
    'boolean',
    [
      ['true', 'true'],
      ['"false"', 'false'],
      ['"tr\\u0075e"', 'true'],
      ['false', 'false'],
      ['null', 'null'],
      ['"TRUE"', invalid('a boolean, got "TRUE"')],
      ['"1"', invalid('a boolean, got "1"')],
      ['1', invalid('a boolean, got a number')],
      ['""', invalid('a boolean, got ""')],
    ],
  ],
  'W37: a number of a request is one, or a string that holds exactly one': [
    'int',
    [
      ['5', '5'],
      ['-0', '-0'],
      ['"5"', '5'],
      ['"\\u0035"', '5'],
      ['null', 'null'],
      ['5.0', invalid('xs:int, got "5.0"')],
      ['1e3', invalid('xs:int, got "1e3"')],
      ['"5.0"', invalid('xs:int, got "5.0"')],
      ['" 5"', invalid('xs:int, got " 5"')],
      ['"+5"', invalid('xs:int, got "+5"')],
      ['""', invalid('xs:int, got ""')],
      ['true', invalid('xs:int, got a boolean')],
      ['2147483648', outside('xs:int from -2147483648 to 2147483647, got "2147483648"')],
      ['"-2147483649"', outside('xs:int from -2147483648 to 2147483647, got "-2147483649"')],
    ],
  ],
  'W15: a long, a decimal and a double of a request keep their text': [
    'decimal',
    [
      ['12345678901234567890.120', '12345678901234567890.120'],
      ['"12.50"', '12.50'],
      ['1e3', '1e3'],
      ['1e400', outside('xs:decimal of at most 400 digits, got "1e400"')],
    ],
  ],
  'W37: a double of a request is what 64 bits hold': [
    'double',
    [
      ['1e308', '1e308'],
      ['0.1234567890123456789', '0.1234567890123456789'],
      ['1e400', outside('xs:double that 64 bits hold, got "1e400"')],
    ],
  ],
  'W37: a float of a request is what 32 bits hold': [
    'float',
    [
      ['3.4e38', '3.4e38'],
      ['3.5e38', outside('xs:float that 32 bits hold, got "3.5e38"')],
      ['"3.5e38"', outside('xs:float that 32 bits hold, got "3.5e38"')],
    ],
  ],
  'W37: a date of a request is a form of W17 as it is, or ISO as in XML': [
    'dateTime',
    [
      ['"/Date(1717236000000-0000)/"', '"/Date(1717236000000-0000)/"'],
      ['"\\/Date(1717236000000+0100)\\/"', '"\\/Date(1717236000000+0100)\\/"'],
      ['"/Date(0)/"', '"/Date(0)/"'],
      ['"2024-06-01T10:00:00"', '"/Date(1717236000000-0000)/"'],
      ['"2024-06-01"', '"/Date(1717200000000-0000)/"'],
      ['"2024-06-01T10:00:00+01:00"', '"/Date(1717232400000-0000)/"'],
      ['null', 'null'],
      ['"/Date(9e99)/"', invalid('xs:dateTime, got "/Date(9e99)/"')],
      ['"2024-02-30"', invalid('xs:dateTime, got "2024-02-30"')],
      ['""', invalid('xs:dateTime, got ""')],
      ['0', invalid('xs:dateTime, got a number')],
    ],
  ],
  'W37: base64 of a request goes on as it is, once checked': [
    'base64Binary',
    [
      ['"QUJD"', '"QUJD"'],
      ['"\\/\\/\\/\\/"', '"\\/\\/\\/\\/"'],
      ['""', '""'],
      ['"QUJ"', invalid('base64, got other text')],
      ['5', invalid('base64, got a number')],
    ],
  ],
};

for (const [title, [name, rows]] of Object.entries(passing)) {
  test(title, (t) => {
    for (const [json, expected] of rows) {
      t.deepEqual(
        passOne(codecOf(name), json),
        typeof expected === 'string' ? { value: expected } : expected,
        json,
      );
    }
  });
}

const plain = codecsOf(depot);

test('dates of the plain dialect are ISO in JSON too, as written in XML', (t) => {
  const dateTime = plain.codecOf(scalar('dateTime'));
  const date = plain.codecOf(scalar('date'));
  t.deepEqual(readOne(dateTime, ' 2024-06-01T10:00:00.50+01:00 '), {
    value: '"2024-06-01T10:00:00.50+01:00"',
  });
  t.deepEqual(readOne(dateTime, '2024-06-01'), invalid('xs:dateTime, got "2024-06-01"'));
  t.deepEqual(readOne(date, '2024-06-01'), { value: '"2024-06-01"' });
  t.is(writeOne(dateTime, '"2024-06-01t10:00z"'), '2024-06-01T10:00:00Z');
  t.is(writeOne(date, '"2024-06-01"'), '2024-06-01');
  for (const text of ['2024-06-01T10:00:00.50+01:00', '2024-06-01T24:00:00', '2024-06-01T10:00:00.12345678'])
    t.is(writeOne(dateTime, `"${text}"`), text);
  t.deepEqual(passOne(dateTime, '"2024-06-01T10:00:00Z"'), { value: '"2024-06-01T10:00:00Z"' });
  t.deepEqual(passOne(date, '"2024-06-01T10:00:00Z"'), invalid('xs:date, got "2024-06-01T10:00:00Z"'));
});

test('any JSON value is unchanged, escapes included', (t) => {
  const any = plain.codecOf(scalar('json'));
  for (const json of ['"\\\\"', '["a\\"b\\\\","\\u0041"]', '{"\\\\":1}', '1', 'true', '""', '[]'])
    t.is(any.write(json).content, json);
});

test('values without a closed type are sent as JSON text, checked in requests', (t) => {
  const any = plain.codecOf(scalar('json'));
  t.deepEqual(readOne(any, ' {"a": [1e400, "&lt;"]} '), { value: '{"a": [1e400, "<"]}' });
  t.deepEqual(
    readOne(any, '{a:1}'),
    invalid('JSON text, got invalid JSON (position 1: expected a member name, got U+0061)'),
  );
  t.deepEqual(readOne(any, ''), empty('JSON text'));
  t.is(writeOne(any, ' {"a" : "<\\u0000>"} '), '{"a" : "&lt;\\u0000&gt;"}');
  t.is(writeOne(any, 'null'), null);
  t.is(writeOne(any, '"\ufffe"'), '"\\ufffe"');
  t.is(writeOne(any, '["\uffff","\uff01"]'), '["\\uffff","\uff01"]');
  t.deepEqual(
    readOne(any, '"&#x1;"'),
    invalid(
      'JSON text, got invalid JSON (position 1: expected a character of a string or its closing quote, got U+0001)',
    ),
  );
  t.deepEqual(passOne(any, '[{"b":null}]'), { value: '[{"b":null}]' });
});

test('an empty text of a reply is an empty element', (t) => {
  const { xml } = writeReply(compile(depot), 'GetParcel', '{"name":"","note":" ","photo":""}');
  t.regex(xml, /<Result><name\/><note> <\/note><photo\/><\/Result>/);
});

test('text of a reply that does not match its type but is written is counted', (t) => {
  const compiled = compile(depot, { invalidDates: 'pass' });
  for (const [members, passed] of [
    ['"sentAt":"2024-06-01T10:00:00"', 0],
    ['"sentAt":"tomorrow"', 1],
    ['"day":"2024-02-30","takes":"long","sentAt":""', 2],
  ] as const) {
    const body = Buffer.from(`{"name":"box",${members}}`);
    t.is(
      operationOf(compiled, 'GetParcel').writeReply(body, { before: '', after: '' }).passed,
      passed,
      members,
    );
  }
});

test('a byte that cannot start a value is reported', (t) => {
  for (const name of ['int', 'string', 'boolean', 'dateTime', 'base64Binary'] as const)
    for (const json of [':', ':5', '/1'])
      t.throws(() => writeOne(codecOf(name), json), {
        message: `position 0: expected a value, got byte ${json.charCodeAt(0).toString(16).toUpperCase()}`,
      });
});

test('numbers beyond 96, 64 or 32 bits are unchanged, and counted', (t) => {
  const compiled = compile(depot);
  for (const [member, json, inexact] of [
    ['weight', '79228162514264337593543950335', undefined],
    ['weight', '79228162514264337593543950336', 1],
    ['weight', '0.00000000000000000000000000001', 1],
    ['weight', '"1e-29"', 1],
    ['double', '1e-300', undefined],
    ['double', '1e-400', 1],
    ['double', '0', undefined],
    ['float', '1e-44', undefined],
    ['float', '1e-50', 1],
    ['int64', '9223372036854775807', undefined],
    ['note', '"1e-400"', undefined],
  ] as const) {
    const body = Buffer.from(`{"name":"box","${member}":${json}}`);
    const frame = { before: '', after: '' };
    t.is(operationOf(compiled, 'GetParcel').writeReply(body, frame).inexact, inexact, `${member} ${json}`);
  }
});

test('W14, W22: enums match exactly; "" of a reply is null', (t) => {
  const state = plain.codecOf(typeNamed(depot, 'State'));
  const strict = codecsOf(depot, { unknownEnumValues: 'refuse' }).codecOf(typeNamed(depot, 'State'));
  const expected = 'expected one of sent, under way, <lost & "gone">';
  t.deepEqual(readOne(state, 'under way'), { value: '"under way"' });
  t.deepEqual(readOne(state, '&lt;lost &amp; "gone"&gt;'), { value: '"<lost & \\"gone\\">"' });
  t.deepEqual(readOne(state, ' sent'), { problem: `InvalidEnum ${expected}, got " sent"` });
  t.deepEqual(readOne(state, 'Sent'), { problem: `InvalidEnum ${expected}, got "Sent"` });
  t.deepEqual(readOne(state, ''), empty('one of sent, under way, <lost & "gone">'));
  t.is(writeOne(strict, '"<lost & \\"gone\\">"'), '&lt;lost &amp; "gone"&gt;');
  t.is(writeOne(strict, '""'), null);
  t.is(writeOne(strict, 'null'), null);
  t.throws(() => writeOne(strict, '"Sent"'), { message: `${expected}, got another value` });
  t.throws(() => writeOne(strict, '1'), { message: `${expected}, got a number` });
  t.is(writeOne(state, '"lo\\u0000st <"'), 'lo\ufffdst &lt;');
  t.deepEqual(passOne(state, '"sent"'), { value: '"sent"' });
  t.deepEqual(passOne(state, '"s\\u0065nt"'), { value: '"s\\u0065nt"' });
  t.deepEqual(passOne(state, '"Sent"'), { problem: `InvalidEnum ${expected}, got "Sent"` });
  t.deepEqual(passOne(state, '""'), { problem: `InvalidEnum ${expected}, got ""` });
  t.deepEqual(passOne(state, '1'), invalid('one of sent, under way, <lost & "gone">, got a number'));
});

test('W13: with emptyElements: absent, an empty number, boolean, date or enum is absent', (t) => {
  const lenient = codecsOf(depot, { emptyElements: 'absent' });
  for (const name of ['int', 'decimal', 'boolean', 'dateTime', 'date', 'json'] as const) {
    t.deepEqual(readOne(lenient.codecOf(scalar(name)), ' \n'), { value: undefined });
  }
  t.deepEqual(readOne(lenient.codecOf(typeNamed(depot, 'State')), ''), { value: undefined });
  t.deepEqual(readOne(lenient.codecOf(scalar('string')), ''), { value: '""' });
  t.deepEqual(readOne(lenient.codecOf(scalar('base64Binary')), ''), { value: '""' });
});

test('W38: a parameter’s text is read like an element’s', (t) => {
  const fromText = (name: ScalarName, text: string) => {
    const reading = startReading(20);
    reading.path.push('x');
    const value = codecOf(name).fromText?.(text, reading);
    const [problem] = reading.problems;
    return problem === undefined ? value : `${problem.code} ${problemText(problem)}`;
  };
  t.is(fromText('int', '+05'), '5');
  t.is(fromText('int', ' 5 '), '5');
  t.is(fromText('int', '7.5'), 'InvalidType x: expected xs:int, got "7.5"');
  t.is(fromText('int', ''), 'NotEmpty x: expected xs:int, got nothing');
  t.is(fromText('string', ''), '""');
  t.is(fromText('string', ' a+b '), '" a+b "');
  t.is(fromText('boolean', '1'), 'true');
  t.is(fromText('dateTime', '2024-06-01'), '"/Date(1717200000000-0000)/"');
});

test('W11: text typed as base64 by xsi:type is the decoded UTF-8 string', (t) => {
  const ns = ` xmlns:i="${namespaces.xsi}" xmlns:x="${namespaces.xsd}" xmlns:e="${namespaces.soap11Encoding}"`;
  const string = codecOf('string');
  const other = invalid('the base64 of UTF-8 text, as its xsi:type says, got other text');
  const rows = [
    ['i:type="x:base64Binary"', 'Wm/DqyDmvKIg8J+YgA==', { value: '"Zoë 漢 😀"' }],
    ['i:type="e:base64"', 'Wm/D\nqw==', { value: '"Zoë"' }],
    ['i:type=" x:base64Binary "', 'Wm/Dqw==', { value: '"Zoë"' }],
    ['i:type="x:base64Binary"', '', { value: '""' }],
    ['i:type="x:base64Binary"', '77u/', { value: '"\ufeff"' }],
    ['i:type="x:base64Binary"', 'Zoë', other],
    ['i:type="x:base64Binary"', 'Wm/r', other],
    ['i:type="x:base64Binary"', 'Wm8', other],
    ['i:type="x:string"', 'QUJD', { value: '"QUJD"' }],
    ['i:type="base64Binary"', 'QUJD', { value: '"QUJD"' }],
    ['i:type="i:base64Binary"', 'QUJD', { value: '"QUJD"' }],
    ['i:type="nowhere:base64Binary"', 'QUJD', { value: '"QUJD"' }],
    ['type="x:base64Binary"', 'QUJD', { value: '"QUJD"' }],
  ] as const;
  for (const [attribute, content, expected] of rows) {
    t.deepEqual(readOne(string, content, `${ns} ${attribute}`), expected, `${attribute} ${content}`);
  }
  t.deepEqual(readOne(codecOf('int'), '5', `${ns} i:type="x:base64Binary"`), { value: '5' });
});
