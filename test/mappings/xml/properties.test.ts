import { deepStrictEqual, ok } from 'node:assert';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { fc } from '../../property.ts';
import { documents } from './documents.ts';
import { type Element, Misreading, readInfoset, saxesInfoset } from './infoset.ts';

test('a document is read with the same meaning in any spelling', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, ({ root, text }) => {
        deepStrictEqual(readInfoset(text), root);
        deepStrictEqual(saxesInfoset(text), root);
      }),
      { numRuns: 300 },
    ),
  );
});

/** Pieces of syntax that are inserted at random positions. */
const pieces = fc.constantFrom(
  '<',
  '>',
  '/',
  '&',
  ';',
  '"',
  "'",
  '=',
  ' ',
  ':',
  '-',
  '--',
  ']]>',
  ']]',
  '<!',
  '<?',
  '?>',
  '</',
  '/>',
  '<a>',
  '</a>',
  '<a/>',
  '<!--',
  '-->',
  '<![CDATA[',
  '<!DOCTYPE a>',
  '<?xml version="1.0"?>',
  '<?pi?>',
  '&#',
  '&#x',
  '&#0;',
  '&#xD800;',
  '&amp;',
  '&x;',
  '&#65;',
  'xmlns',
  'xmlns=""',
  ' xmlns:p=""',
  ' xmlns:p="urn:p"',
  ' p:a=""',
  ' a="1"',
  'xml:',
  '\u0000',
  '\u0001',
  '\uFFFE',
  '\uFEFF',
  '\ud83d',
  '\ude00',
  '\r',
  '\n',
  'x',
  '·',
  'é',
);

const mutilated = fc
  .tuple(
    documents,
    fc.array(
      fc.record({
        at: fc.nat(),
        cut: fc.constantFrom(0, 0, 0, 1, 2, 5, 1000),
        piece: fc.oneof(fc.constant(''), pieces),
      }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  )
  .map(([{ text }, wounds]) => {
    let result = text;
    for (const { at, cut, piece } of wounds) {
      const offset = at % (result.length + 1);
      result = result.slice(0, offset) + piece + result.slice(offset + cut);
    }
    return result;
  });

function attempt(read: (text: string) => Element, text: string): Element | Error {
  try {
    return read(text);
  } catch (error) {
    return error as Error;
  }
}

test('a damaged document is read as by saxes, or refused with XmlError as by saxes', (t) => {
  const seen = { read: 0, refused: 0 };
  t.notThrows(() =>
    fc.assert(
      fc.property(mutilated, (text) => {
        const ours = attempt(readInfoset, text);
        const theirs = attempt(saxesInfoset, text);
        seen[ours instanceof Error ? 'refused' : 'read']++;
        ok(ours instanceof XmlError || !(ours instanceof Error), ours instanceof Error ? ours : undefined);
        if (theirs instanceof Misreading) return;
        if (ours instanceof Error) ok(theirs instanceof Error, `only soapbridge refuses it: ${ours.message}`);
        else deepStrictEqual(ours, theirs);
      }),
      { numRuns: 300 },
    ),
  );
  t.true(seen.read > 0 && seen.refused > 0);
});

/** Reads a document with the given methods in rotation. Returns the error message, if any. */
function refusal(text: string, ways: readonly ('children' | 'text' | 'skip')[]): string | undefined {
  const reader = new XmlReader(text, defaultLimits);
  let next = 0;
  const walk = () => {
    const way = ways[next++ % ways.length];
    if (way === 'text') reader.readText(Infinity, false);
    else if (way === 'skip') reader.skip();
    else while (reader.nextChild()) walk();
  };
  try {
    reader.readRoot();
    walk();
    reader.finish();
    return undefined;
  } catch (error) {
    ok(error instanceof XmlError, error as Error);
    return error.message;
  }
}

test('every way of reading a document ends in the same refusal', (t) => {
  const ways = fc.array(fc.constantFrom('children', 'children', 'text', 'skip'), {
    minLength: 1,
    maxLength: 9,
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(mutilated, ways, (text, walk) => {
        deepStrictEqual(refusal(text, walk), refusal(text, ['skip']));
      }),
      { numRuns: 500 },
    ),
  );
});

test('W9: a document is the same text in every encoding that can represent it', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, fc.boolean(), ({ text }, marked) => {
        const undeclared = text.replace(/^<\?xml[^>]*>/, '');
        const mark = marked ? '\uFEFF' : '';
        const little = Buffer.from(mark + undeclared, 'utf16le');
        const big = Buffer.from(little).swap16();
        deepStrictEqual(decodeXml(Buffer.from(mark + undeclared), undefined), undeclared);
        deepStrictEqual(decodeXml(little, marked ? undefined : 'utf-16'), undeclared);
        deepStrictEqual(decodeXml(big, marked ? undefined : 'utf-16'), undeclared);
      }),
      { numRuns: 100 },
    ),
  );
});

test('W9: any bytes with any charset are decoded or refused', (t) => {
  const charsets = fc.constantFrom(undefined, undefined, 'utf-8', 'utf-16', 'us-ascii', 'iso-8859-1', 'x');
  const prefixes = fc
    .constantFrom('', '\ufeff', '<?xml version="1.0" encoding="utf-16"?>', '<a>')
    .chain((prefix) =>
      fc.constantFrom(
        Buffer.from(prefix),
        Buffer.from(prefix, 'utf16le'),
        Buffer.from(prefix, 'utf16le').swap16(),
      ),
    );
  t.notThrows(() =>
    fc.assert(
      fc.property(prefixes, fc.uint8Array({ maxLength: 40 }), charsets, (prefix, bytes, charset) => {
        try {
          const text = decodeXml(Buffer.concat([prefix, bytes]), charset);
          ok(text.isWellFormed());
          refusal(text, ['children', 'text']);
        } catch (error) {
          ok(error instanceof XmlError || error instanceof UnsupportedCharset, error as Error);
        }
      }),
      { numRuns: 500 },
    ),
  );
});
