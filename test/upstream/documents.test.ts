import { spawnSync } from 'node:child_process';
import test from 'ava';
import { writePdf } from '../../upstream/pdf.ts';
import { day, demo, midnight, now, open, wireDate } from './client.ts';

interface GetPdf {
  readonly document: {
    readonly isReady: boolean;
    readonly documentBytes: string | null;
    readonly dateCreated: string;
    readonly dateExpires: string;
  };
}

const getReport = () =>
  open().send<GetPdf>(
    'GetPdf',
    `{"request":{"id":9007199254740993},"authentication":${JSON.stringify(demo)}}`,
  );

/** Returns the output of `pdftotext`, or undefined if it is not installed. */
function pdfText(bytes: Uint8Array): string | undefined {
  const { error, status, stdout, stderr } = spawnSync('pdftotext', ['-layout', '-', '-'], { input: bytes });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return undefined;
  if (status !== 0) throw new Error(`pdftotext: expected status 0, got ${status}: ${stderr}`);
  return stdout.toString('utf8');
}

test('GetPdf: the document with the bytes of a PDF', async (t) => {
  const { data, text } = await getReport();
  t.true(text.includes('"id":9007199254740993,'));
  t.like(data.document, {
    isReady: true,
    name: 'Sanctions report',
    searchedName: 'Zoë Ångström-Müller',
    fileName: 'sanctions-9007199254740993.pdf',
    type: 'sanctions',
    sanctionsSearchId: 1,
    pepSearchId: null,
    validIdSearchId: null,
    companyLookupSearchId: null,
    dateExpires: wireDate(midnight + 365 * day),
  });
  const bytes = Buffer.from(data.document.documentBytes ?? '', 'base64');
  t.is(bytes.subarray(0, 5).toString('latin1'), '%PDF-');
  t.regex(bytes.subarray(-8).toString('latin1'), /%%EOF\s*$/);
});

test('GetPdf: pdftotext finds the title, the searched name, the id and the dates', async (t) => {
  const { data } = await getReport();
  const text = pdfText(Buffer.from(data.document.documentBytes ?? '', 'base64'));
  if (text === undefined) {
    t.log('skipped: pdftotext (poppler-utils) is not installed');
    t.pass();
    return;
  }
  for (const part of [
    'Sanctions report',
    'Searched name: Zoë Ångström-Müller',
    'Document: 9007199254740993',
    'Created: 2026-02-28',
    'Available until: 2027-03-10',
  ]) {
    t.true(text.includes(part), part);
  }
});

test('GetPdf: a document always has the same bytes', async (t) => {
  t.is((await getReport()).text, (await getReport()).text);
});

test('a PDF shows a character that its font lacks as its code point', (t) => {
  const content = {
    id: '1',
    title: 'Report',
    searchedName: '架空 O’Neill € Łuk 😀',
    type: 'pep',
    dateCreated: now,
    dateExpires: now,
  };
  const text = pdfText(writePdf(content));
  if (text === undefined) {
    t.log('skipped: pdftotext (poppler-utils) is not installed');
    t.pass();
    return;
  }
  t.true(text.includes('Searched name: [U+67B6][U+7A7A] O’Neill € [U+0141]uk [U+1F600]'), text);
});

test('a PDF has a cross-reference table with the offset of each object', (t) => {
  const pdf = writePdf({
    id: '1',
    title: 'Report',
    searchedName: `(\\) ${'long '.repeat(60)}`,
    type: 'pep',
    dateCreated: now,
    dateExpires: now,
  }).toString('latin1');
  const [, table = ''] = /\nstartxref\n(\d+)\n%%EOF\n$/.exec(pdf) ?? [];
  const [, count = ''] = /^xref\n0 (\d+)\n0{10} 65535 f \n/.exec(pdf.slice(Number(table))) ?? [];
  const entries = [...pdf.slice(Number(table)).matchAll(/^(\d{10}) 00000 n $/gm)];
  t.is(entries.length, Number(count) - 1);
  for (const [index, [, offset = '']] of entries.entries())
    t.true(pdf.startsWith(`${index + 1} 0 obj\n`, Number(offset)), `object ${index + 1}`);
  const [, length = '', stream = ''] = /\/Length (\d+) >>\nstream\n(.*?)\nendstream/s.exec(pdf) ?? [];
  t.is(stream.length, Number(length));
  t.is(stream.match(/ Tj$/gm)?.length, 10); // the searched name has four lines
});

test('GetPdf: an unfinished document has isReady false and no bytes', async (t) => {
  const { status, data } = await open().call<GetPdf>('GetPdf', { request: { id: 2 } });
  t.is(status, 200);
  t.false(data.document.isReady);
  t.is(data.document.documentBytes, null);
});

test('GetPdf: an expired document is NotFound', async (t) => {
  t.is((await open().call('GetPdf', { request: { id: 3 } })).status, 404);
  let clock = now;
  const { call } = open(':memory:', () => clock);
  t.is((await call('GetPdf', { request: { id: 1 } })).status, 200);
  clock = midnight + 365 * day;
  t.is((await call('GetPdf', { request: { id: 1 } })).status, 404);
});
