import test from 'ava';
import { compileContract, createCodec, loadContract, TranslationError } from '../../gateway/codec.ts';
import { envelope, getSearch } from './gateway.ts';

const library = createCodec(
  compileContract(loadContract({ openapi: 'docs/tutorial/openapi.yaml', overlay: undefined }).contract),
);
const screening = createCodec(compileContract(loadContract('mappings/screening').contract));
const lend =
  '<lend xmlns="urn:CityLibrary"><Body><isbn>978-0-00-000000-2</isbn><reader>Zoë</reader></Body></lend>';
const loan = '{"number":9007199254740993,"isbn":"978-0-00-000000-2","reader":"Zoë","due":"2026-03-28"}';

for (const [what, document] of [
  ['an operation’s element', lend],
  ['an envelope of SOAP 1.1', envelope('1.1', { body: lend })],
  ['an envelope of SOAP 1.2', envelope('1.2', { body: lend })],
] as const) {
  test(`${what} becomes its operation and the JSON of its inputs`, (t) => {
    t.deepEqual(library.xmlToJson(Buffer.from(document)), {
      operation: 'lend',
      json: '{"Body":{"isbn":"978-0-00-000000-2","reader":"Zoë"}}',
    });
  });
}

test('the charset of the Content-Type is applied', (t) => {
  const { json } = library.xmlToJson(Buffer.from(lend, 'latin1'), 'text/xml; charset=iso-8859-1');
  t.regex(json, /"reader":"Zoë"/);
});

test('a response becomes its element with all digits, in the requested envelope', (t) => {
  const element =
    '<lendResponse xmlns="urn:CityLibrary" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Result>' +
    '<number>9007199254740993</number><isbn>978-0-00-000000-2</isbn><reader>Zoë</reader><due>2026-03-28</due></Result></lendResponse>';
  t.is(library.jsonToXml('lend', loan), element);
  t.is(library.jsonToXml('lend', Buffer.from(loan)), element);
  for (const version of ['1.1', '1.2'] as const) {
    const xml = library.jsonToXml('lend', loan, version);
    t.regex(xml, /^<\?xml version="1\.0" encoding="utf-8"\?><s:Envelope /);
    t.true(xml.includes(element));
  }
});

test('refuses a response that is not UTF-8, and loses no character', (t) => {
  const error = t.throws(() => library.jsonToXml('lend', Buffer.from(loan, 'latin1')), {
    instanceOf: TranslationError,
  });
  t.is(error.message, 'expected JSON in UTF-8, got invalid UTF-8');
});

test('a long response is written completely', (t) => {
  const reader = 'é&'.repeat(100_000);
  const xml = library.jsonToXml('lend', loan.replace('Zoë', reader));
  t.true(xml.includes(`<reader>${'é&amp;'.repeat(100_000)}</reader>`));
});

test('credentials in the body are inputs; without them the other members are translated', (t) => {
  t.regex(screening.xmlToJson(Buffer.from(getSearch)).json, /"authentication":\{"apiUserId":"u"/);
  const without = getSearch.replace(/<Authentication>.*<\/Authentication>/, '');
  t.is(screening.xmlToJson(Buffer.from(without)).json, '{"request":{"id":1}}');
});

test('errors of members have their paths', (t) => {
  const wrong = lend.replace('<reader>Zoë</reader>', '<raeder>Zoë</raeder>');
  const error = t.throws(() => library.xmlToJson(Buffer.from(wrong)), { instanceOf: TranslationError });
  t.like(error.problems[0], { code: 'UnknownElement', field: 'Body.raeder' });
});

for (const [what, document, message] of [
  ['no XML', 'lend', /^line 1, column 1: /],
  ['XML that ends early', '<lend xmlns="urn:CityLibrary">', /^line 1, /],
  ['another element', '<borrow/>', /^expected a SOAP Envelope or one of <getBook>, <lend>, got <borrow>$/],
  ['an envelope without a Body', envelope('1.1').replace(/<e:Body>.*<\/e:Body>/, ''), /expected a Body/],
] as const) {
  test(`refuses ${what} as a request`, (t) => {
    t.throws(() => library.xmlToJson(Buffer.from(document)), { instanceOf: TranslationError, message });
  });
}

test('refuses a response of a wrong type with the position, and an unknown operation by name', (t) => {
  t.throws(() => library.jsonToXml('lend', '{"number":"x"}'), {
    instanceOf: TranslationError,
    message: /number/,
  });
  t.throws(() => library.jsonToXml('lend', '{'), { instanceOf: TranslationError });
  t.throws(() => library.jsonToXml('borrow', '{}'), {
    instanceOf: RangeError,
    message: 'operation: expected an operation of the contract, got "borrow"',
  });
});
