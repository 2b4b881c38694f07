import test, { type ExecutionContext } from 'ava';
import { Attachments } from '../../../../mappings/codec/attachments.ts';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { compiledGet, element as e, get, many, sequence } from './messages.ts';

/** W60: only base64 values can be parts of a message. */

const type = sequence(
  e('b', 'xs:base64Binary', many) +
    e('s', 'xs:string', many) +
    e('i', 'xs:int', many) +
    e('f', 't:File', many),
);
const file =
  '<xs:complexType name="File"><xs:simpleContent><xs:extension base="xs:base64Binary"><xs:attribute name="name" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>';

function read(t: ExecutionContext, form: 'mtom' | 'swa', content: string) {
  const { request } = compiledGet(t, type, file);
  const xml = new XmlReader(get(content, ' xmlns:x="http://www.w3.org/2004/08/xop/include"'), defaultLimits);
  xml.readRoot();
  const reading = startReading(20);
  reading.attachments = new Attachments(form, [
    { id: 'a', bytes: Buffer.from('one') },
    { id: 'b', bytes: Buffer.from('two!') },
  ]);
  const json = request.read(xml, reading);
  xml.finish();
  return { json, problems: reading.problems.map(problemText) };
}

const include = (id: string): string => `<x:Include href="cid:${id}"/>`;

for (const [title, form, content, json, problems] of [
  [
    'an Include stands for base64',
    'mtom',
    `<t:b>${include('a')}</t:b><t:b>QUJD</t:b>`,
    '{"b":["b25l","QUJD"]}',
    [],
  ],
  [
    'an Include stands for base64 beside attributes',
    'mtom',
    `<t:f name="n">${include('b')}</t:f><t:f>QUJD</t:f>`,
    '{"f":[{"name":"n","value":"dHdvIQ=="},{"value":"QUJD"}]}',
    [],
  ],
  [
    'an Include of no part is refused',
    'mtom',
    `<t:b>${include('c')}</t:b><t:b>x</t:b>`,
    '{"b":[]}',
    [
      'b[0]: expected a part of the message, got no such part: "cid:c"',
      'b[1]: expected xs:base64Binary, got other text',
    ],
  ],
  [
    'an Include in a string or a number is refused',
    'mtom',
    `<t:s>${include('a')}</t:s><t:s>x</t:s><t:i>${include('a')}</t:i><t:i><x/></t:i><t:i>1</t:i>`,
    '{"s":["x"],"i":[1]}',
    [
      's[0]: xop:Include is allowed for base64 only',
      'i[0]: xop:Include is allowed for base64 only',
      'i[1]: expected xs:int, got elements',
    ],
  ],
  [
    'an href stands for base64',
    'swa',
    '<t:b href="cid:a"/><t:b>QUJD</t:b><t:f href="cid:b" name="n"/>',
    '{"b":["b25l","QUJD"],"f":[{"name":"n","value":"dHdvIQ=="}]}',
    [],
  ],
  [
    'an href to no part, or in another type, is refused',
    'swa',
    '<t:b href="a"/><t:b href="cid:c"/><t:s href="cid:a"/><t:s>x</t:s><t:f href="a" name="n">QUJD</t:f>',
    '{"b":[""],"s":["","x"],"f":[{"name":"n","value":"QUJD"}]}',
    [
      'b[0].href: unknown attribute, none is expected here',
      'b[1]: expected a part of the message, got no such part: "cid:c"',
      's[0].href: unknown attribute, none is expected here',
      'f[0].href: unknown attribute, expected name',
    ],
  ],
] as const)
  test(`W60: in a ${form} message ${title}`, (t) => {
    t.deepEqual(read(t, form, content), { json, problems: [...problems] });
  });

test('W65: base64 of a reply becomes an attachment, except in attributes', (t) => {
  const attributes = '<xs:attribute name="a" type="xs:base64Binary"/>';
  const { request } = compiledGet(
    t,
    sequence(e('b', 'xs:base64Binary', many) + e('f', 't:File', many), attributes),
    file,
  );
  const json = Buffer.from(
    '{"a":"b25lIQ==","b":["b25l","b25\\u006cIQ=="],"f":[{"name":"n","value":"dHdvIQ=="}]}',
  );
  const { xml, attached } = request.write(json, undefined, { attachFrom: 4 });
  t.deepEqual(
    attached?.map((letters) => Buffer.from(letters.toString(), 'base64').toString()),
    ['one!', 'two!'],
  );
  const text = xml.toString().replaceAll(' xmlns:xop="http://www.w3.org/2004/08/xop/include"', '');
  const references = ['<xop:Include href="cid:1@soapbridge"/>', '<xop:Include href="cid:2@soapbridge"/>'];
  t.true(text.includes(' a="b25lIQ=="'));
  t.true(
    text.includes(`<n0:b>b25l</n0:b><n0:b>${references[0]}</n0:b><n0:f name="n">${references[1]}</n0:f>`),
    text,
  );
  t.is(request.write(json).attached, undefined);
});
