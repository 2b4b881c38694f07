import test from 'ava';
import { load } from '../../plain/documents.ts';
import { compile, operationOf, textOf, writeReply } from './codec-calls.ts';

/** Initial buffer size in bytes; a longer reply gets a larger buffer while it is written. */
const keptSize = 64 * 1024;
/** Pads a type's name to the maximum length. */
const long = (name: string): string => name.padEnd(58, '_');
const name = {
  item: long('Item'),
  state: long('State'),
  list: long('list'),
  text: long('text'),
  file: long('file'),
};

const compiled = compile(
  load({
    openapi: '3.1.0',
    info: { title: 'Writing', version: '1' },
    paths: {
      '/': {
        get: {
          operationId: 'get',
          responses: {
            200: {
              description: '',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Page' } } },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        Page: {
          type: 'object',
          properties: {
            pad: { type: 'string' },
            items: { type: 'array', items: { $ref: `#/components/schemas/${name.item}` } },
            states: { type: 'array', items: { $ref: `#/components/schemas/${name.state}` } },
            numbers: { type: 'array', items: { type: 'integer' } },
            texts: { type: 'array', items: { type: ['string', 'null'] } },
            dates: { type: 'array', items: { type: 'string', format: 'date-time' } },
            files: { type: 'array', items: { type: 'string', format: 'byte' } },
            n: { type: 'integer' },
            [name.list]: { type: 'array', items: { type: 'integer' } },
            m: { type: 'integer' },
            [name.text]: { type: ['string', 'null'] },
            k: { type: 'integer' },
            big: { type: 'number' },
            [name.file]: { type: 'string', format: 'byte' },
          },
        },
        [name.item]: { type: 'object', properties: { n: { type: 'integer' }, text: { type: 'string' } } },
        [name.state]: { type: 'string', enum: ['a', 'b&', 'c'] },
      },
    },
  }).contract,
);

/** Writes a reply whose base64 values of at least `attachFrom` bytes become parts (W66). */
function writtenWithParts(json: string, attachFrom: number) {
  const frame = { before: '', after: '', attachFrom };
  const { xml = '', attached = [] } = operationOf(compiled, 'get').writeReply(Buffer.from(json), frame);
  return { xml: resultOf(textOf(xml)), attached };
}

const resultOf = (xml: string): string => /<Result>(.*)<\/Result>/s.exec(xml)?.[1] ?? '';

/** Returns the content of `Result`. */
function written(json: string): string {
  return resultOf(writeReply(compiled, 'get', json).xml);
}

const many = 10_000;
for (const [member, item, expected] of [
  ['numbers', '7', '<long>7</long>'],
  ['texts', '""', '<string/>'],
  ['texts', 'null', '<string i:nil="true"/>'],
  ['texts', '"a&\\n"', '<string>a&amp;\n</string>'],
  ['texts', '7', '<string>7</string>'],
  ['items', '{}', `<${name.item}/>`],
  ['items', '{"n":1}', `<${name.item}><n>1</n></${name.item}>`],
  ['states', '"a"', `<${name.state}>a</${name.state}>`],
  ['states', '"b&"', `<${name.state}>b&amp;</${name.state}>`],
  ['dates', '"2024-02-29T12:00:00Z"', '<dateTime>2024-02-29T12:00:00Z</dateTime>'],
  ['files', '"QUJD"', '<base64Binary>QUJD</base64Binary>'],
  ['files', `"${'QUJD'.repeat(30)}"`, `<base64Binary>${'QUJD'.repeat(30)}</base64Binary>`],
] as const)
  test(`${many} items ${item.slice(0, 40)} are each written as ${expected.replaceAll('_', '').slice(0, 60)}`, (t) => {
    const xml = written(`{"n":1,"${member}":[${Array(many).fill(item).join(',')}]}`);
    t.true(xml === `<${member}>${expected.repeat(many)}</${member}><n>1</n>`);
  });

test('output continues in the next buffer at every end of the first one', (t) => {
  const items = 900;
  const digits = '7'.repeat(200);
  const item = `<${name.item}/>`;
  // short elements, so that little free space is left
  const ten = '[1,2,3,4,5,6,7,8,9,0]';
  const tenXml = '1234567890'.replace(/./g, '<long>$&</long>');
  const rows = [
    [
      `"n":1,"${name.list}":${ten},"m":2,"${name.text}":"t"`,
      `<n>1</n><${name.list}>${tenXml}</${name.list}><m>2</m><${name.text}>t</${name.text}>`,
    ],
    [`"n":1,"${name.list}":[],"m":2,"${name.text}":""`, `<n>1</n><${name.list}/><m>2</m><${name.text}/>`],
    [`"n":1,"m":2,"${name.text}":"a&b"`, `<n>1</n><m>2</m><${name.text}>a&amp;b</${name.text}>`],
    [
      `"n":1,"k":3,"${name.file}":"QUJD"`,
      `<n>1</n><k>3</k><${name.file}><xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:1@soapbridge"/></${name.file}>`,
    ],
    [`"k":1,"big":${digits}`, `<k>1</k><big>${digits}</big>`],
    [`"m":2,"${name.text}":"${digits}"`, `<m>2</m><${name.text}>${digits}</${name.text}>`],
    [`"files":["QUI="],"n":1`, '<files><base64Binary>QUI=</base64Binary></files><n>1</n>'],
    [`"n":1,"m":2,"${name.text}":null`, `<n>1</n><m>2</m><${name.text} i:nil="true"/>`],
  ] as const;
  for (const [json, expected] of rows) {
    // from a buffer that ends after the content to one that ends before it
    const start =
      '<getResponse xmlns="urn:Writing" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Result>';
    const before =
      start.length + `<pad></pad><items></items><numbers>${tenXml}</numbers>`.length + items * item.length;
    const first = keptSize - before - expected.length - 100;
    t.true(first > 0);
    for (let pad = first; pad < keptSize - before + 100; pad++) {
      const text = 'x'.repeat(pad);
      const { xml } = writtenWithParts(
        `{"pad":"${text}","items":[${Array(items).fill('{}').join(',')}],"numbers":${ten},${json}}`,
        3,
      );
      if (
        xml !==
        `<pad>${text}</pad><items>${item.repeat(items)}</items><numbers>${tenXml}</numbers>${expected}`
      )
        return t.fail(`${pad} ${json} ${xml.slice(-300)}`);
    }
  }
  return t.pass();
});

const include = (number: number): string =>
  `<base64Binary><xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:${number}@soapbridge"/></base64Binary>`;

test('W66: base64 of at least the requested size becomes a part, shorter base64 does not', (t) => {
  const texts = ['QUI=', 'QUJD', 'QUJDRA==', '+/+/', 'QQ=='.padStart(100, 'QUJD')];
  const json = `{"files":["QUI=","QUJD","QUJDRA==","+\\/+\\/","${texts[4]}",null],"n":1}`;
  const { xml, attached } = writtenWithParts(json, 3);
  t.is(
    xml,
    `<files><base64Binary>QUI=</base64Binary>${[1, 2, 3, 4].map(include).join('')}<base64Binary i:nil="true"/></files><n>1</n>`,
  );
  t.deepEqual(attached.map(String), texts.slice(1));
  const none = writtenWithParts(json, Number.POSITIVE_INFINITY);
  t.is(
    none.xml,
    `<files>${texts.map((text) => `<base64Binary>${text}</base64Binary>`).join('')}<base64Binary i:nil="true"/></files><n>1</n>`,
  );
  t.deepEqual(none.attached, []);
});

test('W66: parts are unchanged while the next reply is written, and may be many', (t) => {
  for (const length of [400, keptSize - 4, keptSize, keptSize + 4]) {
    const [first, second] = ['QUJD', 'REVG'].map((group) => {
      const text = group.repeat(length / 4);
      return { text, written: writtenWithParts(`{"files":["${text}"],"n":1}`, 3) };
    });
    for (const { text, written } of [first, second].filter((each) => each !== undefined)) {
      t.is(written.xml, `<files>${include(1)}</files><n>1</n>`);
      t.true(written.attached.length === 1 && written.attached.join() === text, `${length}`);
    }
  }
  const { xml, attached } = writtenWithParts(`{"files":[${Array(many).fill('"QUJD"').join(',')}]}`, 3);
  t.true(xml === `<files>${attached.map((_, index) => include(index + 1)).join('')}</files>`);
  t.is(attached.length, many);
});

test('a reply is unchanged while the next ones are written', (t) => {
  const write = (json: string) =>
    operationOf(compiled, 'get').writeReply(Buffer.from(json), { before: '', after: '' }).xml ?? '';
  const jsonOf = (letters: string): string => `{"files":["${letters}"],"n":1,"big":${letters.length}}`;
  const texts = [...'ABCDEF'].map((letter) => letter.repeat(400));
  const replies = texts.map((text) => write(jsonOf(text)));
  for (const [index, text] of texts.entries())
    t.is(
      resultOf(textOf(replies[index] ?? '')),
      `<files><base64Binary>${text}</base64Binary></files><n>1</n><big>400</big>`,
    );
});

test('a range of 64 KiB or more is written like a shorter one', (t) => {
  for (const length of [keptSize - 4, keptSize, keptSize + 4]) {
    const text = 'QUJD'.repeat(length / 4);
    t.true(
      written(`{"files":["${text}","QUJD"],"n":1}`) ===
        `<files><base64Binary>${text}</base64Binary><base64Binary>QUJD</base64Binary></files><n>1</n>`,
      `${length}`,
    );
  }
});
