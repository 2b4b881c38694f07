import test from 'ava';
import { startReading } from '../../../mappings/codec/problem.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';
import { constantLimits } from '../../constant-limits.ts';
import { load } from '../../plain/documents.ts';

/** Compares the time of inputs designed to be slow with the time of plain text of the same size in the same run. */

const bytes = 2 * 1024 * 1024;
/** Maximum ratio to the time of plain text. The worst inputs once took 30 to 500 times as long. */
const most = 16;

const text = { type: 'string' };
const list = (items: object) => ({ type: 'array', items });
const body = {
  type: 'object',
  properties: {
    content: { type: 'string', format: 'byte' },
    notes: list(text),
    times: list({ type: 'string', format: 'date-time' }),
    inner: {
      type: 'object',
      properties: Object.fromEntries(numbered(30, (index) => [`member${index}`, text])),
    },
  },
};

function numbered<T>(count: number, each: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => each(index));
}

const put = {
  operationId: 'put',
  requestBody: { content: { 'application/json': { schema: body } } },
  responses: { 204: { description: '' } },
};
const openapi = { openapi: '3.1.0', info: { title: 'Costs', version: '1' }, paths: { '/': { put } } };
const { contract } = load(openapi);
/** The same number of attributes per byte as the largest body may have. */
const xmlAllAttributes = (constantLimits.xmlAllAttributes * bytes) / defaultLimits.bodyBytesWithBinary;
const limits = { ...defaultLimits, xmlText: bytes, xmlChildren: 200_000, xmlAllAttributes };
const compiled = compileContract(contract, limits);
const operation = compiled.operations.get('put');

/** Reads a request as far as it is valid. */
function readXml(document: Buffer, charset?: string): void {
  const xml = new XmlReader(decodeXml(document, charset), limits, { acceptsIllegalReferences: true });
  xml.readRoot();
  operation?.readXml(xml, startReading(20));
}

function readJson(document: Buffer): void {
  operation?.readJson(document.toString(), startReading(20));
}

const fill = (piece: string): string => piece.repeat(bytes / Buffer.byteLength(piece));
const xml = (inside: string): Buffer =>
  Buffer.from(`<put xmlns="${contract.namespaces.types}"><Body>${inside}</Body></put>`);
const json = (members: string): Buffer => Buffer.from(`{"Body":{${members}}}`);

/** Inputs that are read or rejected. */
const xmlInputs: Readonly<Record<string, string>> = {
  'base64 with a return after each letter': `<content>${fill('Z\r')}</content>`,
  'base64 with a line end after each letter': `<content>${fill('Z\r\n')}</content>`,
  'base64 with a blank after each letter': `<content>${fill('Z ')}!</content>`,
  'base64 of character references': `<content>${fill('&#65;')}</content>`,
  'base64 of CDATA sections': `<content>${fill('<![CDATA[A]]>')}</content>`,
  'base64 of CDATA sections with a return': `<content>${fill('<![CDATA[\r]]>')}</content>`,
  'base64 in a CDATA section of returns': `<content><![CDATA[${fill('\r')}]]></content>`,
  'base64 between comments': `<content>${fill('A<!---->')}</content>`,
  'sixty attributes to an element': `<notes>${fill(`<string ${numbered(60, (index) => `a${index}=""`).join(' ')}/>`)}</notes>`,
  'sixty attributes of one name in long namespaces': `<notes ${numbered(60, (index) => `xmlns:p${index}="${'u'.repeat(1_000)}${index}"`).join(' ')}>${fill(`<string ${numbered(60, (index) => `p${index}:a=""`).join(' ')}/>`)}</notes>`,
  'sixty namespaces to an element': `<notes>${fill(`<string ${numbered(60, (index) => `xmlns:p${index}="u"`).join(' ')}/>`)}</notes>`,
  'attributes of tabs': `<notes>${fill(`<string a="${'\t'.repeat(65_000)}"/>`)}</notes>`,
  'lines of one character': `${fill('\n')}<unknown/>`,
  'an unclosed text after many lines': `${fill('\n')}</`,
};

const jsonInputs: Readonly<Record<string, string>> = {
  'an unknown member of a long name in capitals': `"${fill('A')}":1`,
  'an unknown member of a long name with letters beyond ASCII': `"${fill('Aé')}":1`,
  'unknown members in capitals': numbered(bytes / 50, (index) => `"${'A'.repeat(40)}${index}":1`).join(),
  'a date of escapes': `"times":["${fill('\\u0041')}"]`,
};

/** Returns the CPU time in ms: minimum of three runs. */
function costOf(run: () => void): number {
  const costs = numbered(3, () => {
    const before = process.cpuUsage();
    try {
      run();
    } catch {
      // other tests check the rejection
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

const plainXml = xml(`<notes><string>${'x'.repeat(bytes - 1)}</string></notes>`);
const plainJson = json(`"notes":["${'x'.repeat(bytes - 1)}"]`);

/** Returns the ratio to the cost of plain text; repeated on a busy machine. */
function timesPlain(run: () => void, plain: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 4 && least > most; time++)
    least = Math.min(least, costOf(run) / Math.max(1, costOf(plain)));
  return least;
}

for (const [what, inside] of Object.entries(xmlInputs)) {
  test(`XML: a byte of ${what} costs about as much as one of text`, (t) => {
    const document = xml(inside);
    const times = timesPlain(
      () => readXml(document),
      () => readXml(plainXml),
    );
    t.log(`${times.toFixed(1)} times`);
    t.true(times <= most, `${times.toFixed(1)} times`);
  });
}

for (const [what, members] of Object.entries(jsonInputs)) {
  test(`JSON: a byte of ${what} costs about as much as one of text`, (t) => {
    const document = json(members);
    const times = timesPlain(
      () => readJson(document),
      () => readJson(plainJson),
    );
    t.log(`${times.toFixed(1)} times`);
    t.true(times <= most, `${times.toFixed(1)} times`);
  });
}

for (const [charset, byte] of [
  ['windows-1252', 0x80],
  ['utf-8', 0xef],
  ['us-ascii', 0x0a],
] as const) {
  test(`an invalid or looked-up byte of ${charset} costs about as much as text`, (t) => {
    const document = Buffer.alloc(bytes, charset === 'utf-8' ? '\ufffd' : byte);
    document[bytes - 1] = 0x80;
    const times = timesPlain(
      () => readXml(document, charset),
      () => readXml(plainXml),
    );
    t.log(`${times.toFixed(1)} times`);
    t.true(times <= most, `${times.toFixed(1)} times`);
  });
}
