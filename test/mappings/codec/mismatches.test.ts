import test from 'ava';
import { memberNames, pathForLog } from '../../../mappings/codec/mismatches.ts';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { type CompiledContract, compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Settings } from '../../../mappings/contract/overlay-keys.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { fc } from '../../property.ts';
import { compile, depot, operationOf, screening } from './contracts.ts';

const book = {
  type: 'object',
  required: ['isbn', 'title', 'secret', 'id'],
  properties: {
    isbn: { type: 'string' },
    title: { type: ['string', 'null'] },
    secret: { type: 'string', writeOnly: true },
    id: { type: 'integer', readOnly: true },
    pages: { type: 'integer' },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Book' } },
    byName: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Book' } },
    media: {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind' },
    },
  },
} as const;

function library(overlay: object, limits = {}): CompiledContract {
  const { contract } = buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Library', version: '1' },
      paths: {
        '/book': {
          get: {
            operationId: 'GetBook',
            responses: {
              200: {
                description: 'it',
                content: { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } },
              },
            },
          },
        },
      },
      components: {
        schemas: {
          Book: book,
          Open: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
          Cat: { type: 'object', properties: { purrs: { type: 'boolean' } } },
          Dog: { type: 'object', properties: { barks: { type: 'boolean' } } },
        },
      },
    },
    overlay,
  });
  return compileContract(contract, { ...defaultLimits, ...limits });
}

const write = (compiled: CompiledContract, json: unknown) =>
  operationOf(compiled, 'GetBook').writeReply(Buffer.from(JSON.stringify(json)), undefined);

test('W20: a payload with only unknown members is a mismatch; an empty one is not', (t) => {
  const compiled = library({});
  const rows = [
    [{ data: { isbn: '1' } }, 'Result: '],
    [{ zzz: 1 }, 'Result: '],
  ] as const;
  for (const [json, place] of rows) {
    const { message } = t.throws(() => write(compiled, json), { instanceOf: MismatchError });
    t.true(message.startsWith(place), message);
    t.regex(message, /expected an object with members of Book \(isbn, title, .*\), got one that has none/);
  }
  t.notThrows(() => write(compiled, {}));
  t.notThrows(() => write(library({ replies: 'lenient' }), { data: { isbn: '1' } }));
});

test('W20: nested objects without a known member are recorded', (t) => {
  const compiled = library({});
  const whole = { isbn: '1', title: 't', id: 1 };
  for (const [json, dropped, told] of [
    [{ ...whole, parts: [{ zzz: 1 }] }, 1, 'Result.parts[0].zzz: dropped, as Book lacks it'],
    [{ ...whole, byName: { x: { y: 1, z: 2 } } }, 2, 'Result.byName.*.y: dropped, as Book lacks it'],
    [{ ...whole, media: { kind: 'Cat', zzz: 1 } }, 1, 'Result.media.zzz: dropped, as Cat lacks it'],
  ] as const) {
    const written = write(compiled, json);
    t.is(written.dropped, dropped, told);
    t.is(written.mismatches?.described[0], told);
    t.throws(() => write(library({ replies: 'strict' }), json), { instanceOf: MismatchError });
  }
});

test('W20: the body of an envelope without a known member is a mismatch', (t) => {
  const { writeReply } = operationOf(library({ reply: 'envelope' }), 'GetBook');
  t.notThrows(() => writeReply(Buffer.from('{"StatusCode":200,"Body":{"isbn":"1"}}'), undefined));
  t.throws(() => writeReply(Buffer.from('{"StatusCode":200,"Body":{"zzz":1}}'), undefined), {
    instanceOf: MismatchError,
    message: /^Result\.Body: expected an object with members of Book/,
  });
});

test('W20: the data of a reply without a known member is a mismatch', (t) => {
  const { writeReply } = operationOf(compile(screening), 'GetSearch');
  t.throws(() => writeReply(Buffer.from('{"data":{"zzz":1}}'), undefined), {
    message: /^data: expected an object with members of/,
  });
});

test('missing and dropped members are logged with their path once, and counted every time', (t) => {
  const compiled = library({});
  const json = {
    isbn: '1',
    id: 1,
    né: 1,
    parts: [
      { isbn: '2', title: null, id: 2 },
      { isbn: '3', id: 3, title: 't', extra: 1, other: 2 },
    ],
    byName: { 'jane@example.org': { isbn: '4', id: 4, title: '', 'joe@example.org': 1 } },
  };
  const first = write(compiled, json);
  t.is(first.dropped, 4);
  t.deepEqual(first.mismatches, {
    missing: 1,
    described: [
      'Result.*: dropped, as Book lacks it',
      'Result.parts[1].extra: dropped, as Book lacks it',
      'Result.parts[1].other: dropped, as Book lacks it',
      'Result.byName.*.*: dropped, as Book lacks it',
      'Result.title: missing, though Book requires it',
    ],
  });
  const again = write(compiled, json);
  t.is(again.dropped, 4);
  t.deepEqual(again.mismatches, { missing: 1, described: [] });
  t.is(write(compiled, { isbn: '1', title: 't', id: 1 }).mismatches, undefined);
});

test('replies: lenient logs nothing; strict refuses missing and dropped members', (t) => {
  t.is(write(library({ replies: 'lenient' }), { isbn: '1', more: 1 }).mismatches, undefined);
  const strict = library({ replies: 'strict' });
  t.is(write(strict, { isbn: '1', title: 't', id: 1 }).dropped, 0);
  const rows = [
    [{ isbn: '1', id: 1 }, 'Result.title: expected the member, got none'],
    [{ isbn: '1', id: 1, title: 't', x: 1 }, 'Result.x: expected no member of this name, which Book lacks'],
    [{}, 'Result.isbn: expected the member, got none'],
  ] as const;
  for (const [json, message] of rows)
    t.throws(() => write(strict, json), { instanceOf: MismatchError, message });
});

test('the tag of a variant that is no member is expressed by its element, and no mismatch', (t) => {
  const strict = library({ replies: 'strict' });
  const whole = { isbn: '1', title: 't', id: 1 };
  t.is(write(strict, { ...whole, media: { kind: 'Cat', purrs: true } }).mismatches, undefined);
  t.throws(() => write(strict, { ...whole, media: { kind: 'Cat', purrs: true, x: 1 } }), {
    message: 'Result.media.x: expected no member of this name, which Cat lacks',
  });
});

test('a path starts below the reply’s single member, if it has one, and lists have positions', (t) => {
  const rows = [
    [
      depot,
      'SendParcel',
      '[{"name":"n"},{"name":"n","x":1},{}]',
      ['Result[1].x: dropped, as Parcel lacks it', 'Result[2].name: missing, though Parcel requires it'],
      'Result[1].x: expected no member of this name, which Parcel lacks',
    ],
    [
      screening,
      'GetPdf',
      '{"data":{"document":{"id":1,"x":[{"y":"]}"}]},"é":{}},"z":"{"}',
      [
        'data.document.x: dropped, as PdfDocumentWithData lacks it',
        'data.*: dropped, as GetPdfResult lacks it',
        'z: dropped, as GetPdfResponse lacks it',
      ],
      'data.document.x: expected no member of this name, which PdfDocumentWithData lacks',
    ],
  ] as const;
  for (const [contract, operation, json, told, refused] of rows) {
    const write = (settings: Partial<Settings>) =>
      operationOf(compile(contract, settings), operation).writeReply(Buffer.from(json), undefined);
    t.deepEqual(write({}).mismatches?.described, told);
    t.throws(() => write({ replies: 'strict' }), { instanceOf: MismatchError, message: refused });
  }
});

test('map keys are not logged, whatever they look like, and blanks between tokens do not matter', (t) => {
  const json =
    ' { "isbn" : "1" , "id" : 1 , "title" : "t" ,\n"byName" : { "jane" : { "isbn" : "2" , "id" : 2 , "joe" : 1 } } , "x" : [ ] } ';
  const { mismatches: misfits } = operationOf(library({}), 'GetBook').writeReply(
    Buffer.from(json),
    undefined,
  );
  t.deepEqual(misfits?.described, [
    'Result.byName.*.joe: dropped, as Book lacks it',
    'Result.byName.*.title: missing, though Book requires it',
    'Result.x: dropped, as Book lacks it',
  ]);
});

test('a byte order mark before a reply is not JSON', (t) => {
  t.throws(() => operationOf(library({}), 'GetBook').writeReply(Buffer.from('\ufeff{"x":1}'), undefined), {
    instanceOf: JsonError,
  });
});

test('a path for the log has member names, and of other names the last one if it looks like one', (t) => {
  const names = new Set(['a', 'b c']);
  for (const [path, known, text] of [
    [['a', 0, 'b c', 'x'], names, 'a[0].b c.x'],
    [['a', 'x', 'x'], names, 'a.*.x'],
    [['x', 'a'], names, '*.a'],
    [['a', 'x y'], names, 'a.*'],
    [['a', '1x'], names, 'a.*'],
    [['a', '@x'], names, 'a.@x'],
    [['a', 'x'.repeat(63)], names, `a.${'x'.repeat(63)}`],
    [['a', 'x'.repeat(64)], names, 'a.*'],
    [['x', 'y', 'x y', 'z'], undefined, 'x.y.*.z'],
    [[1, 'jane@example.org'], undefined, '[1].*'],
  ] as const)
    t.is(pathForLog(path, known), text);
});

test('the members reachable from a type are those of all types in it', (t) => {
  t.deepEqual([...memberNames({ kind: 'scalar', scalar: 'int' })], []);
  const { output } = operationOf(library({}), 'GetBook').operation;
  t.deepEqual([...memberNames(output)].toSorted(), [
    'Result',
    'barks',
    'byName',
    'id',
    'isbn',
    'media',
    'pages',
    'parts',
    'purrs',
    'secret',
    'title',
  ]);
});

test('replyMisfits: that many members are logged per operation, and no more', (t) => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, index]));
  const whole = { isbn: '1', title: 't', id: 1 };
  for (const [count, told] of [
    [3, 3],
    [4, 3],
  ] as const) {
    const { dropped, mismatches: misfits } = write(library({}, { replyMisfits: 3 }), {
      ...members(count),
      ...whole,
    });
    t.is(dropped, count);
    t.is(misfits?.described.length, told);
  }
  const one = library({}, { replyMisfits: 3 });
  t.is(write(one, { ...whole, ...members(2) }).mismatches?.described.length, 2);
  t.is(write(one, { ...whole, a: 1, b: 2 }).mismatches?.described.length, 1);
  t.is(write(one, { ...whole, c: 1 }).mismatches?.described.length, 0);
});

test('every member is written, logged or refused: missing and unknown members are counted', (t) => {
  const names = ['isbn', 'title', 'id', 'pages', 'x', 'y'] as const;
  const values = { isbn: 'i', title: 't', id: 1, pages: 2, x: 1, y: 2 } as const;
  const compiled = library({});
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...names)), (chosen) => {
      const json = Object.fromEntries(chosen.map((name) => [name, values[name]]));
      const known = chosen.filter((name) => name !== 'x' && name !== 'y');
      const others = chosen.length - known.length;
      if (known.length === 0 && others > 0) {
        t.throws(() => write(compiled, json), { instanceOf: MismatchError });
        return;
      }
      const { dropped, mismatches: misfits } = write(compiled, json);
      t.is(dropped, others);
      t.is(misfits?.missing ?? 0, 3 - known.filter((name) => name !== 'pages').length);
    }),
  );
});

test('a missing member is reported for the object that lacks it', (t) => {
  const whole = { isbn: '1', title: 't', id: 1 };
  const told = (json: unknown) => write(library({}), json).mismatches?.described;
  t.deepEqual(told({ ...whole, parts: [{ isbn: '2', id: 2 }] }), [
    'Result.parts[0].title: missing, though Book requires it',
  ]);
  t.deepEqual(told({ ...whole, byName: { a: { isbn: '2', title: 't' } } }), [
    'Result.byName.*.id: missing, though Book requires it',
  ]);
});

test('an escaped name is logged, or expressed by an element, in its decoded form', (t) => {
  const misfitsOf = (json: string) =>
    operationOf(library({}), 'GetBook').writeReply(Buffer.from(json), undefined).mismatches;
  const whole = '"isbn":"1","title":"t","id":1';
  t.deepEqual(misfitsOf(`{${whole},"e\\u0078tra":1}`)?.described, [
    'Result.extra: dropped, as Book lacks it',
  ]);
  t.is(misfitsOf(`{${whole},"media":{"k\\u0069nd":"Cat","purrs":true}}`), undefined);
});
