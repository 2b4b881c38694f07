import test from 'ava';
import { Attachments, isCid } from '../../../mappings/codec/attachments.ts';
import { FilledBody } from '../../../mappings/codec/filled-body.ts';
import { startReading } from '../../../mappings/codec/problem.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { operationOf } from './contracts.ts';
import { memberOf } from './types/member.ts';

const part = (id: string | undefined, text: string) => ({ id, bytes: Buffer.from(text) });
const base64 = (text: string): string => `"${Buffer.from(text).toString('base64')}"`;

/** What a reference gives, with what is wrong with it. */
function take(attachments: Attachments, href: string): readonly unknown[] {
  const reading = startReading(10);
  const token = attachments.take(href, reading);
  return [token, ...reading.problems.map(({ code, message }) => `${code} ${message}`)];
}

for (const [href, id] of [
  ['cid:a', 'a'],
  ['CID:a', 'a'],
  ['cid:<a@b>', 'a@b'],
  ['cid:a%40b', 'a@b'],
  ['cid:a%40b', 'a%40b'],
  ['cid:100%', '100%'],
  ['cid:<a', '<a'],
] as const)
  test(`W61: ${href} refers to the part ${id}`, (t) => {
    t.deepEqual(take(new Attachments('mtom', [part('x', '1'), part(id, 'two')]), href), [base64('two')]);
  });

test('W61: what refers to no part, or to one a second time, is told with the reference cut short', (t) => {
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
    'DuplicateElement expected one reference to the part "cid:a", got another',
  ]);
});

test('W61: parts that nothing refers to are refused or left out, each by its name', (t) => {
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
    refused.problems.map(({ code, message }) => `${code} ${message}`),
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

test('W60: a part that a header block mentions is not unused, and may be taken by nothing more', (t) => {
  const attachments = new Attachments('mtom', [part('a', '1'), part('b', '2')]);
  attachments.mention('cid:a');
  attachments.mention('urn:b');
  attachments.mention('cid:none');
  t.true(attachments.hasUnused);
  attachments.mention('cid:b');
  t.false(attachments.hasUnused);
  t.is(take(attachments, 'cid:a')[0], undefined);
});

test('W64: held parts are tokens in the JSON, and base64 in the body that goes upstream', (t) => {
  const attachments = new Attachments('mtom', [part('a', 'one'), part('b', 'two'), part('c', 'three')]);
  attachments.hold();
  const [token] = take(attachments, 'cid:b');
  const [other] = take(attachments, 'cid:c');
  attachments.hold(); // what it gave out stays good
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

test('W64: parts that are not held are base64 at once, and no body is looked through for them', (t) => {
  const attachments = new Attachments('mtom', [part('a', 'one')]);
  const [token] = take(attachments, 'cid:a');
  t.is(token, base64('one'));
  t.is(attachments.bytesOf(String(token)), undefined);
  t.is(attachments.fill('{"part":1}'), '{"part":1}');
});

test('a reference is to a part by its scheme, in any case', (t) => {
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

/** What the member is read as, or what is wrong with it, where the message has a part `x`. */
function read(form: 'mtom' | 'swa', content: string): string {
  const { compiled } = member;
  const xop = 'xmlns:xop="http://www.w3.org/2004/08/xop/include"';
  const text = `<put xmlns="urn:Members" ${xop}><Body><m>${content}</m></Body></put>`;
  const xml = new XmlReader(text, compiled.limits, { illegalReferences: true });
  xml.readRoot();
  const attachments = new Attachments(form, [part('x', 'two')]);
  const reading = { ...startReading(10), attachments };
  const input = operationOf(compiled, 'put').readXml(xml, reading);
  if (reading.problems.length > 0)
    return reading.problems
      .map(({ code, message }) => `${code} ${message}`.replace('Body.m', 'm'))
      .join('; ');
  return String(attachments.fill(operationOf(compiled, 'put').jsonOf(input)));
}

const include = '<xop:Include href="cid:x"/>';
for (const [form, content, becomes] of [
  ['mtom', `<bytes>${include}</bytes>`, '{"Body":{"m":{"bytes":"dHdv"}}}'],
  ['mtom', `<text>${include}</text>`, 'InvalidType m.text: xop:Include stands for base64 only'],
  ['mtom', include, 'InvalidType m: xop:Include stands for base64 only'],
  ['mtom', '<z/>', 'UnknownElement m.z: unknown element, expected text, bytes, list, tuple, map'],
  ['mtom', '<text>a</text><bytes>dHdv</bytes>', '{"Body":{"m":{"text":"a","bytes":"dHdv"}}}'],
  ['mtom', `<list><base64Binary>${include}</base64Binary></list>`, '{"Body":{"m":{"list":["dHdv"]}}}'],
  ['mtom', `<list>${include}</list>`, 'InvalidType m.list[0]: xop:Include stands for base64 only'],
  ['mtom', `<tuple>${include}</tuple>`, 'InvalidType m.tuple.Include: xop:Include stands for base64 only'],
  ['mtom', `<map>${include}</map>`, 'InvalidType m.map[0]: xop:Include stands for base64 only'],
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
