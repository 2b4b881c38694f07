import test from 'ava';
import { isAt, PrefixCache } from '../../../../mappings/codec/fast-path/prefix-cache.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';

const beginning = (name: string): string => `<e xmlns="urn:${name}"><b><${name}>`;
const documentOf = (name: string, rest = 'x'): Buffer =>
  Buffer.from(`${beginning(name)}${rest}</${name}></b></e>`);

function learn(
  cache: PrefixCache<string>,
  document: Buffer,
  end: number,
  charset?: string,
  meaning = 'known',
): void {
  for (let time = 0; time < 8; time++) cache.note(document, charset, end, meaning, defaultLimits);
}

function cacheOf(...names: readonly string[]): PrefixCache<string> {
  const cache = new PrefixCache<string>();
  for (const name of names) learn(cache, documentOf(name), beginning(name).length, undefined, name);
  return cache;
}

test('one in eight unknown beginnings is kept, whatever the other seven were', (t) => {
  const cache = new PrefixCache<string>();
  for (let round = 0; round < 3; round++)
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f', 'g', `h${round}`].entries()) {
      cache.note(documentOf(name), undefined, beginning(name).length, name, defaultLimits);
      t.is(cache.find(documentOf(name), undefined)?.meaning, index === 7 ? name : undefined);
    }
});

test('a beginning is known by its bytes, whatever follows, and by its charset', (t) => {
  const cache = cacheOf('a', 'b', 'ab');
  for (const name of ['a', 'b', 'ab', 'b', 'a', 'a', 'ab']) {
    const prefix = cache.find(documentOf(name, '<c/>'), undefined);
    t.is(prefix?.meaning, name);
    t.is(prefix?.bytes.toString(), beginning(name));
    t.is(cache.find(Buffer.from(beginning(name)), undefined)?.meaning, name);
    t.is(cache.find(Buffer.from(beginning(name).slice(0, -1)), undefined), undefined);
    t.is(cache.find(documentOf(name), 'utf-8'), undefined);
  }
  for (const other of ['c', 'aa', 'A']) t.is(cache.find(documentOf(other), undefined), undefined);
  t.is(cache.find(Buffer.from(beginning('a').replace('urn', 'urm')), undefined), undefined);
  t.is(cache.find(Buffer.alloc(0), undefined), undefined);
  learn(cache, documentOf('a'), beginning('a').length, 'utf-8', 'in utf-8');
  t.is(cache.find(documentOf('a'), 'utf-8')?.meaning, 'in utf-8');
  t.is(cache.find(documentOf('a'), undefined)?.meaning, 'a');
});

test('a reader goes on behind a known beginning as if it had read it', (t) => {
  const cache = cacheOf('a', 'b');
  const document = documentOf('b', '<p>1</p>');
  const xml = new XmlReader(document.toString(), defaultLimits);
  const prefix = cache.find(document, undefined);
  if (prefix === undefined) return t.fail();
  xml.resume(prefix.snapshot);
  t.is(xml.position, beginning('b').length);
  t.true(xml.nextChild());
  t.is(`${xml.namespace} ${xml.local} ${xml.readText(10, true)}`, 'urn:b p 1');
  while (xml.depth > 0) xml.skip();
  xml.finish();
  return t.pass();
});

test('sixteen beginnings are known at once', (t) => {
  const names = Array.from({ length: 17 }, (_, index) => `n${index}`);
  const cache = cacheOf(...names.slice(0, 16));
  const known = () => names.filter((name) => cache.find(documentOf(name), undefined)?.meaning === name);
  for (let time = 0; time < 3; time++) t.deepEqual(known(), names.slice(0, 16));
  learn(cache, documentOf('n16'), beginning('n16').length, undefined, 'n16');
  t.is(cache.find(documentOf('n16'), undefined)?.meaning, 'n16');
  t.is(known().length, 16);
});

test('a beginning of 2,048 bytes is kept, and a longer one isn’t', (t) => {
  for (const [length, isKept] of [
    [2_048, true],
    [2_049, false],
  ] as const) {
    const document = Buffer.from(`<${'e'.repeat(30)}>`.padStart(length, ' ').concat(`y</${'e'.repeat(30)}>`));
    const cache = new PrefixCache<string>();
    learn(cache, document, length);
    t.is(cache.find(document, undefined) !== undefined, isKept, `${length}`);
  }
});

test('beginnings that aren’t ASCII, of other encodings, or with attributes are not kept', (t) => {
  for (const [document, end, charset] of [
    [Buffer.from('<e xmlns="urn:é">x</e>'), 18, undefined],
    [Buffer.from('\ufeff<eee>x</eee>'), 8, undefined],
    [Buffer.from('<eee>x</eee>'), 5, 'iso-8859-1'],
    [Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><e>x</e>'), 46, undefined],
    [Buffer.from('<e a="b">x</e>'), 9, undefined],
    [Buffer.from('<e>x<b></b></e>'), 7, undefined],
  ] as const) {
    const cache = new PrefixCache<string>();
    learn(cache, document, end, charset);
    t.is(cache.find(document, charset), undefined, document.toString());
  }
  const cache = new PrefixCache<string>();
  const text = Buffer.from('<eee>é</eee>');
  learn(cache, text, 5, 'utf-8');
  t.is(cache.find(text, 'utf-8')?.bytes.toString(), '<eee>');
});

test('what is kept is no part of the document that it was met in', (t) => {
  const cache = new PrefixCache<string>();
  const document = documentOf('a');
  learn(cache, document, beginning('a').length);
  document.fill(0);
  t.is(cache.find(documentOf('a'), undefined)?.meaning, 'known');
});

test('a beginning is known without some bytes of a document, wherever those end', (t) => {
  const cache = cacheOf('a', 'b');
  const whole = documentOf('b', '<c/>').toString();
  for (let start = 0; start < beginning('b').length; start++) {
    for (const header of ['', 'H', '<h>head</h>']) {
      const document = Buffer.from(whole.slice(0, start) + header + whole.slice(start));
      const end = start + header.length;
      t.is(cache.findWithout(document, undefined, start, end)?.meaning, 'b', `${start} ${header}`);
      t.is(cache.findWithout(document, 'utf-8', start, end), undefined);
      t.is(cache.findWithout(document, undefined, start, end + 1), undefined);
      const cut = document.subarray(0, beginning('b').length + header.length - 1);
      t.is(cache.findWithout(cut, undefined, start, end), undefined);
      if (start > 0) {
        const other = Buffer.from(document);
        other.write('*');
        t.is(cache.findWithout(other, undefined, start, end), undefined);
      }
    }
  }
  // bytes after the prefix are not part of it
  const { length } = beginning('b');
  t.is(cache.findWithout(Buffer.from(whole), undefined, length, length), undefined);
  t.is(cache.findWithout(Buffer.from(whole), undefined, length + 1, length + 1), undefined);
});

test('bytes of a beginning stand at an offset where all of them do', (t) => {
  const bytes = Buffer.from('abcdef');
  const document = Buffer.from('..cdef.');
  t.true(isAt(document, 2, bytes, 2));
  t.true(isAt(document, 4, bytes, 4));
  t.true(isAt(document, 6, bytes, 6));
  t.false(isAt(document, 1, bytes, 2));
  t.false(isAt(document, 3, bytes, 2));
  t.false(isAt(document.subarray(0, 5), 2, bytes, 2));
  t.true(isAt(document.subarray(0, 6), 2, bytes, 2));
});
