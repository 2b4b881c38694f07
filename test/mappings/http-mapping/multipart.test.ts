import { createHash } from 'node:crypto';
import test from 'ava';
import { startReading } from '../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { compileMultipart } from '../../../mappings/http-mapping/multipart.ts';
import { fc } from '../../property.ts';

const write = compileMultipart(
  [{ name: 'file', kind: 'file', contentType: undefined }],
  'text',
  defaultLimits,
);

/** Returns the parts between the boundaries, with their heads: an independent reader (RFC 2046, 5.1.1). */
function partsOf(content: Buffer, boundary: string): string[] {
  const text = content.toString('latin1');
  const pieces = text.split(`--${boundary}`);
  return pieces.slice(1, -1).map((piece) => piece.replace(/^\r\n/, '').replace(/\r\n$/, ''));
}

test('the bytes of a file are sent unchanged', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (bytes, text) => {
        const base64 = Buffer.from(bytes).toString('base64');
        const reading = startReading(20);
        const { boundary, content } = write(
          JSON.stringify({ file: { Content: base64, FileName: 'a' }, text }),
          reading,
        );
        const [file = '', field = ''] = partsOf(content, boundary);
        const body = file.slice(file.indexOf('\r\n\r\n') + 4);
        const said = field.slice(field.indexOf('\r\n\r\n') + 4);
        return (
          Buffer.from(body, 'latin1').equals(Buffer.from(bytes)) &&
          Buffer.from(said, 'latin1').toString('utf8') === text
        );
      }),
    ),
  );
});

for (const value of [
  { text: '\ud800' },
  { 'a\udc00': 'x' },
  { list: ['a', '\ud800'] },
  { file: { Content: '', FileName: '\ud800' } },
]) {
  test(`half a surrogate pair in a part is reported, and not replaced: ${JSON.stringify(value)}`, (t) => {
    const reading = startReading(20);
    write(JSON.stringify(value), reading);
    t.like(reading.problems, [{ code: 'InvalidCharacter' }]);
    const whole = startReading(20);
    write(JSON.stringify(value).replaceAll(/\\ud[8c]00/g, '😀'), whole);
    t.deepEqual(whole.problems, []);
  });
}

test('a name or file name cannot end a header', (t) => {
  const reading = startReading(20);
  const { content } = write(
    JSON.stringify({ 'a"\r\nb': 'x', file: { Content: '', FileName: '"\r\nX: 1' } }),
    reading,
  );
  const text = content.toString('utf8');
  t.true(text.includes('name="a%22%0D%0Ab"\r\n'));
  t.true(text.includes('name="file"; filename="%22%0D%0AX: 1"\r\n'));
});

test('a boundary occurs in no part, even if a part predicts it', (t) => {
  // a part cannot contain its own digest, so this part contains the first boundary choice of another message
  const first = write('{"text":"x"}', startReading(20)).boundary;
  const head = 'Content-Disposition: form-data; name="text"\r\n\r\n';
  t.is(first, createHash('sha256').update(`${head}x`).digest('hex').slice(0, 32));
  const { boundary, content } = write(JSON.stringify({ text: first }), startReading(20));
  t.is(content.toString().split(boundary).length, 3);
});

for (const [contentType, isOne] of [
  ['image/png', true],
  ['text/plain; charset=utf-8 ;format=flowed', true],
  ['text/plain;charset="a;b"', true],
  ['text/plain;', false],
  ['text/plain; é', false],
  ['text/plain;a=b\r\nX-Evil: 1', false],
  ['text/plain;\r\nX-Evil:1', false],
  // with a backtracking pattern, each of these took minutes
  [`a/b${';x'.repeat(2_000)}é`, false],
  [`a/b${' ; '.repeat(2_000)}é`, false],
] as const) {
  const told = contentType.length > 60 ? `${contentType.slice(0, 20)}…` : contentType;
  test(`a part ${isOne ? 'has' : 'cannot have'} the content type ${JSON.stringify(told)}`, (t) => {
    const reading = startReading(20);
    const { content } = write(
      JSON.stringify({ file: { Content: '', ContentType: contentType, FileName: 'a' } }),
      reading,
    );
    const found = reading.problems.map(({ code, path }) => `${code} ${path}`);
    t.deepEqual(found, isOne ? [] : ['InvalidCharacter file.ContentType']);
    if (isOne) t.true(content.includes(`\r\nContent-Type: ${contentType}\r\n`));
  });
}
