import { Readable } from 'node:stream';
import test from 'ava';
import { Attachments, isCid } from '../../../mappings/codec/attachments.ts';
import { FilledBody } from '../../../mappings/codec/filled-body.ts';
import { problemText, startReading } from '../../../mappings/codec/problem.ts';
import { StreamedFile } from '../../../mappings/codec/streamed-file.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { compiledGet, element, get, sequence } from './adopted/messages.ts';
import { compile, depot, operationOf } from './contracts.ts';
import { memberOf } from './types/member.ts';

const part = (id: string | undefined, text: string) => ({ id, bytes: Buffer.from(text) });
const base64 = (text: string): string => `"${Buffer.from(text).toString('base64')}"`;

/** Returns the token of a reference and its problems. */
function take(attachments: Attachments, href: string): readonly unknown[] {
  const reading = startReading(10);
  const token = attachments.take(href, reading);
  return [token, ...reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`)];
}

for (const [href, id] of [
  ['cid:a', 'a'],
  ['CID:a', 'a'],
  ['cid:<a@b>', 'a@b'],
  ['cid:a%40b', 'a@b'],
  ['cid:a%40b', 'a%40b'],
  ['cid:100%', '100%'],
  ['cid:<a', '<a'],
  ['cid:a>', 'a>'],
] as const)
  test(`W61: ${href} refers to the part ${id}`, (t) => {
    t.deepEqual(take(new Attachments('mtom', [part('x', '1'), part(id, 'two')]), href), [base64('two')]);
  });

test('W61: a reference to no part, or to one twice, is reported with the reference cut short', (t) => {
  const attachments = new Attachments('mtom', [part('a', '1')]);
  const long = 'x'.repeat(100);
  t.deepEqual(take(attachments, 'http://a'), [
    undefined,
    'InvalidType expected a reference to a part, cid:…, got "http://a"',
  ]);
  t.deepEqual(take(attachments, `cid:${long}`), [
    undefined,
    `InvalidType expected a part of the message, got no such part: "cid:${long.slice(0, 64)}"`,
  ]);
  t.deepEqual(take(attachments, 'cid:a'), [base64('1')]);
  t.deepEqual(take(attachments, 'cid:a'), [
    undefined,
    'DuplicateElement expected one reference to the part "cid:a", got another reference',
  ]);
});

test('W61: unreferenced parts are refused or dropped, each by its name', (t) => {
  const attachments = new Attachments('swa', [
    part('used', ''),
    part('y'.repeat(70), ''),
    part(undefined, ''),
  ]);
  t.true(attachments.hasUnused);
  take(attachments, 'cid:used');
  const left = startReading(10);
  attachments.noteUnused(left, false);
  t.deepEqual(left.ignored, [`cid:${'y'.repeat(64)}`, 'part 4']);
  const refused = startReading(10);
  attachments.noteUnused(refused, true);
  t.deepEqual(
    refused.problems.map((problem) => `${problem.code} ${problemText(problem)}`),
    [
      `UnknownElement cid:${'y'.repeat(64)}: nothing in the message refers to it`,
      'UnknownElement part 4: nothing in the message refers to it',
    ],
  );
  t.deepEqual(refused.path, []);
  const full = startReading(1);
  attachments.noteUnused(full, true);
  t.is(full.problems.length, 1);
});

test('W60: a part mentioned by a header block is used, and nothing else may take it', (t) => {
  const attachments = new Attachments('mtom', [part('a', '1'), part('b', '2')]);
  attachments.mention('cid:a');
  attachments.mention('urn:b');
  attachments.mention('cid:none');
  t.true(attachments.hasUnused);
  attachments.mention('cid:b');
  t.false(attachments.hasUnused);
  t.is(take(attachments, 'cid:a')[0], undefined);
});

test('W64: held parts are tokens in the JSON, and base64 in the upstream body', (t) => {
  const attachments = new Attachments('mtom', [part('a', 'one'), part('b', 'two'), part('c', 'three')]);
  attachments.hold();
  const [token] = take(attachments, 'cid:b');
  const [other] = take(attachments, 'cid:c');
  attachments.hold(); // tokens returned earlier stay valid
  t.true(typeof token === 'string' && typeof other === 'string' && token !== other);
  t.is(attachments.bytesOf(String(token))?.toString(), 'two');
  t.is(attachments.bytesOf('"other"'), undefined);
  const body = attachments.fill(`{"b":${token},"c":${other},"d":1}`);
  t.true(body instanceof FilledBody);
  t.is(
    body instanceof FilledBody ? body.toBuffer().toString() : '',
    `{"b":${base64('two')},"c":${base64('three')},"d":1}`,
  );
  t.is(attachments.fill('{"b":1}'), '{"b":1}');
  const bytes = Buffer.from('{}');
  t.is(attachments.fill(bytes), bytes);
  t.throws(() => attachments.fill(`{"b":${String(token).slice(0, -2)}9"}`), {
    instanceOf: RangeError,
    message: 'a token of a part that the message lacks, or whose bytes are no member',
  });
});

test('W64: parts that are not held become base64 at once, and no body is scanned for them', (t) => {
  const attachments = new Attachments('mtom', [part('a', 'one')]);
  const [token] = take(attachments, 'cid:a');
  t.is(token, base64('one'));
  t.is(attachments.bytesOf(String(token)), undefined);
  t.is(attachments.fill('{"part":1}'), '{"part":1}');
});

test('a reference to a part is recognized by its scheme, in any case', (t) => {
  t.deepEqual(['cid:a', 'CiD:a', 'cid', 'http:a', ''].map(isCid), [true, true, false, false, false]);
});

const member = memberOf({
  type: 'object',
  properties: {
    text: { type: 'string' },
    bytes: { type: 'string', format: 'byte' },
    list: { type: 'array', items: { type: 'string', format: 'byte' } },
    tuple: { type: 'array', prefixItems: [{ type: 'string', format: 'byte' }] },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
  },
});

/** Returns the JSON of the member, or its problem, in a message with a part `x`. */
function read(form: 'mtom' | 'swa', content: string): string {
  const { compiled } = member;
  const xop = 'xmlns:xop="http://www.w3.org/2004/08/xop/include"';
  const text = `<put xmlns="urn:Members" ${xop}><Body><m>${content}</m></Body></put>`;
  const xml = new XmlReader(text, compiled.limits, { acceptsIllegalReferences: true });
  xml.readRoot();
  const attachments = new Attachments(form, [part('x', 'two')]);
  const reading = { ...startReading(10), attachments };
  const input = operationOf(compiled, 'put').readXml(xml, reading);
  if (reading.problems.length > 0)
    return reading.problems
      .map((problem) => `${problem.code} ${problemText(problem)}`.replace('Body.m', 'm'))
      .join('; ');
  return String(attachments.fill(operationOf(compiled, 'put').jsonOf(input)));
}

const include = '<xop:Include href="cid:x"/>';
for (const [form, content, becomes] of [
  ['mtom', `<bytes>${include}</bytes>`, '{"Body":{"m":{"bytes":"dHdv"}}}'],
  ['mtom', `<text>${include}</text>`, 'InvalidType m.text: xop:Include is allowed for base64 only'],
  ['mtom', include, 'InvalidType m: xop:Include is allowed for base64 only'],
  ['mtom', '<z/>', 'UnknownElement m.z: unknown element, expected text, bytes, list, tuple, map'],
  ['mtom', '<text>a</text><bytes>dHdv</bytes>', '{"Body":{"m":{"text":"a","bytes":"dHdv"}}}'],
  ['mtom', `<list><base64Binary>${include}</base64Binary></list>`, '{"Body":{"m":{"list":["dHdv"]}}}'],
  ['mtom', `<list>${include}</list>`, 'InvalidType m.list[0]: xop:Include is allowed for base64 only'],
  [
    'mtom',
    `<tuple>${include}</tuple>`,
    'InvalidType m.tuple.Include: xop:Include is allowed for base64 only',
  ],
  ['mtom', `<map>${include}</map>`, 'InvalidType m.map[0]: xop:Include is allowed for base64 only'],
  [
    'mtom',
    '<bytes href="cid:x"/>',
    'InvalidType m.bytes: document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)',
  ],
  ['swa', '<bytes href="cid:x"/>', '{"Body":{"m":{"bytes":"dHdv"}}}'],
  [
    'swa',
    '<text href="cid:x"/>',
    'InvalidType m.text: document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)',
  ],
  ['swa', include, 'UnknownElement m.Include: unknown element, expected text, bytes, list, tuple, map'],
  ['swa', `<text>${include}</text>`, 'InvalidType m.text: expected xs:string, got elements'],
  ['swa', `<bytes>${include}</bytes>`, 'InvalidType m.bytes: expected xs:base64Binary, got elements'],
  ['swa', '<text>a</text><bytes>dHdv</bytes>', '{"Body":{"m":{"text":"a","bytes":"dHdv"}}}'],
] as const)
  test(`W60: ${form}, ${content}`, (t) => t.is(read(form, content), becomes));
test('W64: a body with base64 has the announced length, in chunks of limited size, every time', (t) => {
  const atOnce = 57 * 1024;
  for (const length of [0, 1, 2, 3, 4, atOnce - 1, atOnce, atOnce + 1, 3 * atOnce + 2]) {
    const first = Buffer.alloc(length, 'abcdefg');
    const body = new FilledBody(
      [
        { text: Buffer.from('{"a":"'), part: first },
        { text: Buffer.from('","é":"'), part: Buffer.from('xy') },
      ],
      Buffer.from('"}'),
    );
    const expected = `{"a":"${first.toString('base64')}","é":"eHk="}`;
    t.is(body.length, Buffer.byteLength(expected));
    t.is(body.ownBytes, 16);
    for (let time = 0; time < 2; time++) {
      const pieces = [...body];
      t.true(Buffer.concat(pieces).toString() === expected, `${length}`);
      t.true(pieces.every((piece) => piece.length <= (atOnce / 3) * 4));
      t.is(pieces.length, 4 + Math.ceil(length / atOnce));
    }
    t.true(body.toString() === expected);
    t.is(body.toBuffer().length, body.length);
  }
});

const compiled = compile(depot);

/** Returns a parcel with these elements as JSON, or its problems. */
function parcelOf(form: 'mtom' | 'swa', elements: string): string | readonly string[] {
  const xml = new XmlReader(
    `<SendParcel xmlns="${depot.namespaces.types}" xmlns:i="${namespaces.xsi}" xmlns:x="${namespaces.xop}"><Body>${elements}<name>n</name></Body></SendParcel>`,
    compiled.limits,
  );
  xml.readRoot();
  const reading = startReading(10);
  reading.attachments = new Attachments(form, [part('p', 'one'), part('q', 'two')]);
  operationOf(compiled, 'SendParcel').readXml(xml, reading);
  xml.finish();
  const problems = reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`);
  return problems.length === 0 ? String(reading.slots.at(-1)) : problems;
}

const encoding = 'document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)';
const one = '{"photo":"b25l","name":"n"}';
const none = '{"name":"n"}';
const notAlone = (got: string) => [
  `InvalidType Body.photo: expected one empty xop:Include with href alone, got ${got}`,
];
const notEmpty = ['InvalidType Body.photo: expected no content next to href="cid:…", got content'];
const long = 'l'.repeat(65);

for (const [form, elements, expected] of [
  ['mtom', '<photo><x:Include href="cid:p"/></photo>', one],
  ['mtom', '<photo>\n<!-- a --> <x:Include href="cid:p"> <!-- a --></x:Include>\n<!-- a --></photo>', one],
  ['mtom', '<photo>b25l</photo>', one],
  ['mtom', '<photo> </photo>', '{"photo":"","name":"n"}'],
  ['mtom', '<photo i:nil="true"/>', '{"photo":null,"name":"n"}'],
  ['mtom', '<photo><x:Include href="cid:p">a</x:Include></photo>', notAlone('content in xop:Include')],
  ['mtom', '<photo><x:Include href="cid:p"><a/></x:Include></photo>', notAlone('content in xop:Include')],
  [
    'mtom',
    '<photo><x:Include href="cid:p"/><a><b/></a></photo>',
    notAlone('other content next to xop:Include'),
  ],
  ['mtom', '<photo><x:Include href="cid:p"/>a</photo>', notAlone('other content next to xop:Include')],
  ['mtom', '<photo><x:Include/></photo>', notAlone('an xop:Include without href')],
  ['mtom', '<photo><x:Include x:href="cid:p"/></photo>', notAlone('an xop:Include without href')],
  [
    'mtom',
    '<photo><Include href="cid:p"/>a<b><c/></b></photo>',
    ['InvalidType Body.photo: expected base64 or xop:Include, got <Include>'],
  ],
  [
    'mtom',
    `<photo><x:${long}><a/></x:${long}></photo>`,
    [`InvalidType Body.photo: expected base64 or xop:Include, got <${long.slice(0, 64)}>`],
  ],
  [
    'mtom',
    '<photo><x:Include href="http://a"/></photo>',
    ['InvalidType Body.photo: expected a reference to a part, cid:…, got "http://a"'],
  ],
  ['mtom', '<int8 href="cid:p">x</int8>', [`InvalidType Body.int8: ${encoding}`]],
  ['mtom', '<photo href="cid:p"/>', [`InvalidType Body.photo: ${encoding}`]],
  [
    'mtom',
    '<int8><x:Include href="cid:p"><a/></x:Include>1<a/></int8>',
    ['InvalidType Body.int8: xop:Include is allowed for base64 only'],
  ],
  ['mtom', '<int8><a><b/></a>1<a/></int8>', ['InvalidType Body.int8: expected xs:byte, got elements']],
  ['mtom', '<int8>7</int8>', '{"int8":7,"name":"n"}'],
  ['mtom', '<note>a<!-- b --></note>', '{"note":"a","name":"n"}'],
  [
    'mtom',
    '<x:Include href="cid:p"><a/></x:Include>',
    ['InvalidType Body: xop:Include is allowed for base64 only'],
  ],
  [
    'mtom',
    '<marks><x:Include href="cid:p"/></marks>',
    ['InvalidType Body.marks[0]: xop:Include is allowed for base64 only'],
  ],
  ['mtom', '<marks><Include/></marks>', ['UnknownElement Body.marks[0]: expected <string>, got <Include>']],
  [
    'swa',
    '<marks><x:Include href="cid:p"/></marks>',
    ['UnknownElement Body.marks[0]: expected <string>, got <Include>'],
  ],
  [
    'swa',
    '<x:Include href="cid:p"/>',
    [
      'UnknownElement Body.Include: unknown element, expected name, note, anything, fragile, int8, uint8, int16, uint16, int32, uint32, int64, uint64, …',
    ],
  ],
  ['swa', '<photo href="cid:p"/>', one],
  ['swa', '<photo i:type="x" href="CID:p"> <!-- a -->\n</photo>', one],
  ['swa', '<photo>b25l</photo>', one],
  ['swa', '<photo/>', '{"photo":"","name":"n"}'],
  ['swa', '<photo href="cid:p">a</photo>', notEmpty],
  ['swa', '<photo href="cid:p"><a/></photo>', notEmpty],
  ['swa', '<photo href="#p"/>', [`InvalidType Body.photo: ${encoding}`]],
  ['swa', '<photo href="cid:p" i:nil="false"/>', [`InvalidType Body.photo: ${encoding}`]],
  ['swa', '<photo x:href="cid:p">b25l</photo>', one],
  ['swa', '<note href="cid:p">a</note>', [`InvalidType Body.note: ${encoding}`]],
  ['swa', '<note href="cid:p"/>', [`InvalidType Body.note: ${encoding}`]],
  [
    'swa',
    '<wrapping href="cid:p"><name>m</name><photo href="cid:q"/></wrapping>',
    [`InvalidType Body.wrapping: ${encoding}`],
  ],
  [
    'swa',
    '<photo><x:Include href="cid:p"/></photo>',
    ['InvalidType Body.photo: expected xs:base64Binary, got elements'],
  ],
  [
    'swa',
    '<int8><x:Include href="cid:p"/></int8>',
    ['InvalidType Body.int8: expected xs:byte, got elements'],
  ],
  ['swa', '', none],
] as const)
  test(`W60, W61: in a message of ${form} a parcel with ${elements || 'no photo'} is ${expected}`, (t) => {
    t.deepEqual(parcelOf(form, elements), expected);
  });

test('W61: content of an element with a reference is read like other text', (t) => {
  t.deepEqual(parcelOf('swa', '<photo href="cid:p">&#233;</photo>'), notEmpty);
  t.throws(() => parcelOf('swa', '<photo href="cid:p">&#xD83D;&#xDE00;</photo>'), { instanceOf: XmlError });
});

test('W61: a reference in a message of an imported service refers to a part too', (t) => {
  const { request } = compiledGet(t, sequence(element('v', 'xs:base64Binary')));
  const xml = new XmlReader(get('<t:v href="cid:p"/>'), compiled.limits);
  xml.readRoot();
  const reading = startReading(10);
  reading.attachments = new Attachments('swa', [part('p', 'one')]);
  t.is(request.read(xml, reading), `{"v":${base64('one')}}`);
  t.deepEqual(reading.problems, []);
});

test('W64: no sender can write the token of a part', (t) => {
  const marks = [0, 1].map(() => {
    const attachments = new Attachments('mtom', [part('a', 'one')]);
    attachments.hold();
    const token = String(take(attachments, 'cid:a')[0]);
    t.regex(token, /^"part [0-9a-f]{32} 0"$/);
    return token;
  });
  t.not(marks[0], marks[1]);
});

test('W61: a part that is only mentioned by name, without an id, is reported by its position', (t) => {
  const attachments = new Attachments('mtom', [part(undefined, 'a'), part('i'.repeat(64), 'b')]);
  const reading = startReading(10);
  attachments.noteUnused(reading, false);
  t.deepEqual(reading.ignored, ['part 2', `cid:${'i'.repeat(64)}`]);
});

test('a streamed file has no base64 and no text for a body', (t) => {
  const file = new StreamedFile(Readable.from([]));
  const attachments = new Attachments('mtom', [{ id: 'a', bytes: file }]);
  t.deepEqual(take(attachments, 'cid:a'), ['""']);
  const held = new Attachments('mtom', [{ id: 'a', bytes: file }]);
  held.hold();
  const [token] = take(held, 'cid:a');
  t.is(held.bytesOf(String(token)), file);
  t.throws(() => held.fill(`{"a":${token}}`), { instanceOf: RangeError });
});
