import test from 'ava';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../../mappings/compile.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../../../mappings/loader/load.ts';
import { createSoapReader, type ReadSoap } from '../../../read-soap.ts';
import { outcomeOf } from './soap-outcome.ts';

const { contract } = readContract(screeningContract);
const limits = { ...defaultLimits, xmlElements: 9, xmlChildren: 3 };
const compiled = compileContract(contract, limits);
const types = contract.namespaces.types;

const head =
  '<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n' +
  `<s:Envelope xmlns:s="${soap11.namespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">\n <s:Header/>\n <s:Body>` +
  `<t:GetSearch xmlns:t="${types}" xmlns="${types}">`;
const close = '</t:GetSearch></s:Body></s:Envelope>';
const request = '<Request><Id>7</Id></Request>';

/** Different texts after the same start. */
const rests: Readonly<Record<string, string>> = {
  'a call': `${request}${close}`,
  'a prefix of the head': `<t:Request><t:Id>7</t:Id></t:Request>${close}`,
  'a nil': `<Request i:nil="true"/>${close}`,
  'the element that the limit still takes': `${'<a/>'.repeat(3)}${close}`,
  'one element too many': `<Request>${'<a/>'.repeat(3)}</Request><a><b/><c/></a>${close}`,
  'one child too many': `${'<a/>'.repeat(4)}${close}`,
  'an unknown member': `<Nothing/>${close}`,
  'an unbound prefix': `<x:Request/>${close}`,
  'a wrong end tag': `${request}</t:GetOther></s:Body></s:Envelope>`,
  'no end': request,
  'a character that is none': `<Request>\u0001</Request>${close}`,
  'text beside the operation': `${request}</t:GetSearch>text</s:Body></s:Envelope>`,
  'a second operation': `${request}</t:GetSearch><t:GetSearch/></s:Body></s:Envelope>`,
  'a second Body': `${request}</t:GetSearch></s:Body><s:Body/></s:Envelope>`,
  'text beside Body': `${request}</t:GetSearch></s:Body>text</s:Envelope>`,
  'text after the document': `${request}${close}text`,
  'a DTD after the document': `${request}${close}<!DOCTYPE x>`,
};

function warmReader(beginning: string): ReadSoap {
  const read = createSoapReader(compiled);
  for (let times = 0; times < 40; times++)
    read(Buffer.from(`${beginning}${request}${close}`), undefined, soap11, []);
  return read;
}

const warm = warmReader(head);
for (const [what, rest] of Object.entries(rests)) {
  test(`W41, W43: after a known beginning, ${what} reads as it does the first time`, (t) => {
    t.deepEqual(outcomeOf(warm, head + rest), outcomeOf(createSoapReader(compiled), head + rest));
  });
}

test('W43: beginnings that differ in one character are different', (t) => {
  const other = head.replace('made by hand', 'made by band').replace('t:GetSearch', 'u:GetSearch');
  const broken = `${other}${request}${close}`;
  t.deepEqual(outcomeOf(warm, broken), outcomeOf(createSoapReader(compiled), broken));
});

const declared = (encoding: string): string =>
  head.replace('encoding="utf-8"', `encoding="${encoding}"`) + request.replace('7', '7é') + close;

/** The bytes of a request and the charset of its Content-Type. */
const encodings: Readonly<Record<string, readonly [document: Buffer, charset: string | undefined]>> = {
  'UTF-8 by its charset': [Buffer.from(declared('utf-8')), 'utf-8'],
  'UTF-8 by its declaration': [Buffer.from(declared('utf-8')), undefined],
  'windows-1252 by its charset': [Buffer.from(declared('utf-8'), 'latin1'), 'windows-1252'],
  'windows-1252 by its declaration': [Buffer.from(declared('windows-1252'), 'latin1'), undefined],
  'US-ASCII by its charset': [Buffer.from(declared('utf-8')), 'us-ascii'],
  'bytes that are not UTF-8': [Buffer.from(declared('utf-8'), 'latin1'), undefined],
  'UTF-8 with a mark': [Buffer.from(`\ufeff${declared('utf-8')}`), undefined],
  'UTF-16 with a mark': [Buffer.from(`\ufeff${declared('utf-16')}`, 'utf16le'), undefined],
  'UTF-16 by its charset': [Buffer.from(declared('utf-16'), 'utf16le'), 'utf-16'],
  'a charset that nobody knows': [Buffer.from(declared('utf-8')), 'utf-42'],
};

for (const [what, [document, charset]] of Object.entries(encodings)) {
  test(`W9: ${what} reads the same whatever encoding the known beginning had`, (t) => {
    const outcome = (read: ReadSoap) => {
      try {
        return read(document, charset, soap11, []).input.text;
      } catch (error) {
        return String(error);
      }
    };
    const read = createSoapReader(compiled);
    for (let times = 0; times < 40; times++) {
      for (const [other, otherCharset] of Object.values(encodings)) {
        try {
          read(other, otherCharset, soap11, []);
        } catch {
          // some cannot be read at all
        }
      }
      t.deepEqual(outcome(read), outcome(createSoapReader(compiled)));
    }
  });
}

test('W28: header blocks of an envelope count per message', (t) => {
  const withHeader = head.replace(
    '<s:Header/>',
    '<s:Header><x:Must xmlns:x="urn:x" s:mustUnderstand="1"/></s:Header>',
  );
  const read = warmReader(head);
  for (let times = 0; times < 40; times++) {
    t.like(outcomeOf(read, `${withHeader}${request}${close}`), { code: 'MustUnderstand' });
  }
});

test('W43: more beginnings than the cache holds are read correctly', (t) => {
  const read = createSoapReader(compiled);
  for (let round = 0; round < 300; round++) {
    const text = `${head.replace('made by hand', `made by ${round % 37}`)}${request}${close}`;
    t.deepEqual(outcomeOf(read, text), outcomeOf(createSoapReader(compiled), text));
  }
});
