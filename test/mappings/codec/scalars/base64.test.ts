import test from 'ava';
import { MismatchError } from '../../../../mappings/codec/problem.ts';
import { base64FromXml, base64Size } from '../../../../mappings/codec/scalars/base64.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { codecsOf, compile, depot, operationOf, passOne, scalar, textOf } from '../contracts.ts';

/** Returns `read` or `refused`, so that a failure does not print a hundred thousand letters. */
function judge(text: string, expected: string): string {
  const letters = base64FromXml(text);
  if (letters === undefined) return 'refused';
  return letters === expected ? 'read' : 'read as another text';
}

// long texts are checked by other code than short ones
for (const length of [8, 1_000, 1_008, 100_000]) {
  const letters = 'Az09+/Qg'.repeat(length / 8);

  test(`W14: base64 of ${length} letters is read, padded or not, and with blanks at any position`, (t) => {
    t.is(judge(letters, letters), 'read');
    for (const end of ['QUI=', 'QQ==']) t.is(judge(letters + end, letters + end), 'read');
    const blanks = ` ${letters.slice(0, 5)}\r\n\t${letters.slice(5)}Q Q = = `;
    t.is(judge(blanks, `${letters}QQ==`), 'read');
  });

  test(`W14: refuses base64 of ${length} letters with an invalid one at any position`, (t) => {
    for (const other of ['-', '_', '!', '\u00a0', '\u0141', '\ud800', '\0']) {
      for (const at of [0, 1, length / 2, length - 1]) {
        t.is(judge(letters.slice(0, at) + other + letters.slice(at + 1), ''), 'refused', `${other} at ${at}`);
      }
    }
  });

  test(`W14: refuses base64 of ${length} letters with padding before its end`, (t) => {
    for (const at of [0, 1, length / 2]) {
      t.is(judge(`${letters.slice(0, at)}=${letters.slice(at + 1)}`, ''), 'refused', `at ${at}`);
    }
  });

  test(`W14: refuses base64 of ${length} letters with an impossible end`, (t) => {
    for (const end of ['A', 'AA', 'AAA', 'QR==', 'QE==', 'QUJ=', 'Q===', '===='])
      t.is(judge(letters + end, ''), 'refused', end);
  });
}

/** Returns base64 of `size` bytes that contains both special letters. */
const base64Of = (size: number): string =>
  Buffer.alloc(size, '\u00fb\u00ff\u00bf7', 'latin1').toString('base64');

const compiled = compile(depot);

/** Writes a reply with a parcel's photo, given as JSON. Returns its element's content, its parts, or the mismatch. */
function replied(photo: string, attachFrom?: number) {
  const frame = { before: '', after: '', ...(attachFrom === undefined ? {} : { attachFrom }) };
  const body = Buffer.from(`{"name":"box","photo":${photo},"note":"behind"}`);
  try {
    const { xml = '', attached = [] } = operationOf(compiled, 'GetParcel').writeReply(body, frame);
    const [, note, content = 'another reply'] =
      /<note>(behind)<\/note>.*<photo>(.*)<\/photo>/s.exec(textOf(xml)) ?? [];
    return {
      content: note === 'behind' ? content : 'no note',
      parts: attached.map((part) => part.toString()),
    };
  } catch (error) {
    if (error instanceof MismatchError) return { mismatch: error.message };
    throw error;
  }
}

test('W22: base64 of a reply is unchanged, for any length and padding', (t) => {
  for (let size = 1; size < 120; size++) {
    const letters = base64Of(size);
    t.deepEqual(replied(`"${letters}"`), { content: letters, parts: [] });
    t.deepEqual(replied(`"${letters.replaceAll('/', '\\/')}"`), { content: letters, parts: [] });
  }
});

test('W22: invalid base64 in a reply is a mismatch, after any number of letters', (t) => {
  const refused = { mismatch: 'Result.photo: expected base64, got other text' };
  for (const size of [3, 48, 51, 96])
    for (const end of [
      'A',
      'AA',
      'AAA',
      'A=',
      'AA=',
      'AAA==',
      '=',
      '==',
      'AAAA=',
      'AAAA==',
      'QR==',
      'QE==',
      'QUB=',
      'QUJ=',
      'Q===',
      '====',
      'QQ==QQ==',
      'QQ==\\n',
      'QUI=A',
      'QUI= ',
      'QQ=>',
      'Q>==',
      'QQ>=',
      '>UI=',
      'QQ= ',
      'QU-_',
      'QU\u00e9',
    ])
      t.deepEqual(replied(`"${base64Of(size)}${end}"`), refused, `${size} ${end}`);
});

test('W65: base64 of at least the threshold becomes a part, with any padding; one byte less stays', (t) => {
  const reference = `<xop:Include xmlns:xop="${namespaces.xop}" href="cid:1@soapbridge"/>`;
  for (const size of [1, 2, 3, 46, 47, 48, 49, 50, 51, 52, 96, 97, 98]) {
    const letters = base64Of(size);
    for (const photo of [`"${letters}"`, `"\\u00${letters.charCodeAt(0).toString(16)}${letters.slice(1)}"`]) {
      t.deepEqual(replied(photo, size), { content: reference, parts: [letters] }, `${size} ${photo}`);
      t.deepEqual(replied(photo, size + 1), { content: letters, parts: [] }, `${size} ${photo}`);
    }
  }
});

test('W65: each base64 value of a reply becomes a part by its own size', (t) => {
  const small = '"\\u0051UJD"';
  const large = '"\\u0051UJDREVG"';
  const body = Buffer.from(
    `{"name":"a","photo":${small},"parts":[{"name":"b","photo":${large}},{"name":"c","photo":${small}}]}`,
  );
  const frame = { before: '', after: '', attachFrom: 4 };
  const { xml = '', attached } = operationOf(compiled, 'GetParcel').writeReply(body, frame);
  t.deepEqual(attached?.map(String), ['QUJDREVG']);
  t.deepEqual(textOf(xml).match(/<photo>QUJD<\/photo>/g)?.length, 2);
});

test('W14: refuses characters whose lower byte is a base64 letter, also with blanks', (t) => {
  for (const text of ['QUJ\u0141 ', ' QUJ\u0141', '\u0120QUJD', 'QUJD\u0120'])
    t.is(base64FromXml(text), undefined, JSON.stringify(text));
});

test('W65: a null and an empty text are never parts, whatever the threshold', (t) => {
  const reply = (photo: string): string => {
    const body = Buffer.from(`{"name":"box","photo":${photo}}`);
    const { xml = '', attached } = operationOf(compiled, 'GetParcel').writeReply(body, {
      before: '',
      after: '',
      attachFrom: 0,
    });
    t.is(attached, undefined);
    return textOf(xml);
  };
  t.true(reply('null').includes('<photo i:nil="true"/>'));
  t.true(reply('""').includes('<photo/>'));
});

test('W37: base64 of a JSON request is checked after decoding escapes', (t) => {
  const codec = codecsOf(depot).codecOf(scalar('base64Binary'));
  const problem = 'InvalidType expected base64, got other text';
  for (const good of ['"QUJD"', '"\\u0051UJD"', '"\\/\\/\\/\\/"', '"QQ=\\u003d"'])
    t.deepEqual(passOne(codec, good), { value: good });
  for (const bad of ['"Q"', '"\\u0051"', '"\\/\\/\\/"', '"QQ\\u003d"', '"QQQ\\n"'])
    t.deepEqual(passOne(codec, bad), { problem }, bad);
});

test('the size of base64 is the number of its decoded bytes', (t) => {
  for (const text of ['', 'a', 'ab', 'abc', 'abcd', 'abcdefgh'])
    t.is(base64Size(Buffer.from(text).toString('base64')), text.length, text);
});
