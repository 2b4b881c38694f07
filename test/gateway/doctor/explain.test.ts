import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { createDoctor, type Explanation, maxFindings } from '../../../gateway/doctor/explain.ts';
import { adviseOn } from '../../../gateway/doctor/values.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { createSampler } from '../../../wsdl/samples/samples.ts';

const root = join(import.meta.dirname, '../../..');
const { contract } = readContract(join(import.meta.dirname, 'contract'));

function explain(body: string, limits: Partial<Limits> = {}): Explanation {
  const doctor = createDoctor(compileContract(contract, { ...defaultLimits, ...limits }));
  return doctor.explain({ body: Buffer.from(body), headers: { 'content-type': 'text/xml' } });
}

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/';

function envelope(payload: string, blocks = ''): string {
  const header = blocks === '' ? '' : `<s:Header>${blocks}</s:Header>`;
  return `<s:Envelope xmlns:s="${soap11}">${header}<s:Body>${payload}</s:Body></s:Envelope>`;
}

for (const [name, place] of [
  ['the screening contract', screeningContract],
  ['an adopted contract', join(root, 'test/fixtures/adopt/catalogue')],
  ['an adopted rpc contract', join(root, 'test/fixtures/adopt/orders-rpc')],
  ['unions', join(root, 'test/documents/fulfillment')],
] as const)
  test(`${name}: reports no problem for correct messages`, (t) => {
    const compiled = compileContract(readContract(place).contract);
    const doctor = createDoctor(compiled);
    const sampler = createSampler(compiled);
    for (const operation of compiled.operations.keys())
      for (const request of sampler.samplesOf(operation)?.requests ?? []) {
        if (!request.format.startsWith('soap')) continue;
        const headers = { 'content-type': request.contentType, soapaction: request.headers.SOAPAction };
        const { findings, corrected } = doctor.explain({ body: Buffer.from(request.text), headers });
        t.deepEqual(findings, [], request.text);
        t.true(corrected?.isTaken);
      }
  });

test('an imported WSDL: names, values and header blocks are compared with its schema', (t) => {
  const compiled = compileContract(readContract(join(root, 'test/fixtures/adopt/catalogue')).contract);
  const request = createSampler(compiled).samplesOf('Find')?.requests[0];
  const body = (request?.text ?? '').replaceAll('Contains>', 'Contain>').replace('limit="1"', 'limit="x"');
  const { findings } = createDoctor(compiled).explain({ body: Buffer.from(body), headers: {} });
  const told = findings.map(({ message }) => message).join('\n');
  t.regex(told, /<Contain> is misspelt: did you mean <Contains>\?/);
  t.regex(told, /limit: expected/);
});

test('W10: a reference to an illegal character is a finding unless the contract accepts it', (t) => {
  const compiled = compileContract(contract);
  const request = createSampler(compiled).samplesOf('PlaceOrder')?.requests[0]?.text ?? '';
  const body = Buffer.from(request.replace('Jane Doe', 'Jane&#11;Doe'));
  for (const illegalCharacterReferences of ['refuse', 'accept'] as const) {
    const settings = { ...contract.settings, illegalCharacterReferences };
    const doctor = createDoctor(compileContract({ ...contract, settings }));
    const { findings } = doctor.explain({ body, headers: { 'content-type': 'text/xml' } });
    const isFound = findings.some(({ message }) => message.startsWith('a control character is in'));
    t.is(isFound, illegalCharacterReferences === 'refuse', illegalCharacterReferences);
  }
});

test('advice about a value of a long enum lists its first twelve values', (t) => {
  const adviceFor = (count: number) => {
    const values = Array.from({ length: count }, (_, index) => `v${index + 1}`);
    return adviseOn('other', { kind: 'text', type: 'string', values, refusal: () => 'no value' })?.cause;
  };
  t.is(adviceFor(12), undefined);
  t.is(adviceFor(13), 'expected one of v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, …');
});

test('neither findings nor the corrected message contain a credential', (t) => {
  const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
  const compiled = compileContract(readContract(screeningContract).contract);
  const body = `<s:Envelope xmlns:s="${soap11}"><s:Header><o:Security xmlns:o="${wsse}" s:mustUnderstand="1"><o:UsernameToken><o:Username>jane-secret</o:Username><o:Password>hunter-secret</o:Password></o:UsernameToken></o:Security></s:Header><s:Body><GetSearch xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserID>id-secret</ApiUserID><ApiUserKey>key-secret&nbsp;</ApiUserKey></Authentication><Request><Id>x</Id></Request></GetSearch></s:Body></s:Envelope>`;
  const headers = {
    'content-type': 'text/xml',
    soapaction: '"GetSearch"',
    authorization: 'Bearer head-secret',
  };
  const explanation = createDoctor(compiled).explain({ body: Buffer.from(body), headers });
  t.true(explanation.findings.length >= 3);
  t.notRegex(JSON.stringify(explanation), /secret/);
  t.regex(explanation.corrected?.text ?? '', /YOUR_API_USER_KEY/);
});

for (const [what, authentication] of [
  [
    'in attributes',
    '<Authentication ApiUserKey="key-secret" b="secret"><ApiUserID>1</ApiUserID></Authentication>',
  ],
  [
    'as text of what holds them',
    '<Authentication>key-secret<ApiUserID>1</ApiUserID><![CDATA[secret]]></Authentication>',
  ],
  [
    'in elements of other names',
    '<Authentication><ApiUserID>1</ApiUserID><Key><a>key-secret</a></Key></Authentication>',
  ],
  ['beside an element', '<Authentication><ApiUserKey>key-secret<b/></ApiUserKey></Authentication>'],
  [
    'in a comment',
    '<Authentication><!-- secret --></Authentication><!-- <ApiUserKey>secret</ApiUserKey> -->',
  ],
  ['in an attribute elsewhere', '<Request><Id apiKey="secret">1</Id></Request>'],
] as const)
  test(`hides misplaced credentials: ${what}`, (t) => {
    const compiled = compileContract(readContract(screeningContract).contract);
    const body = `<s:Envelope xmlns:s="${soap11}"><s:Body><GetSearch xmlns="http://schemas.servicestack.net/types">${authentication}</GetSearch></s:Body></s:Envelope>`;
    const explanation = createDoctor(compiled).explain({ body: Buffer.from(body), headers: {} });
    t.regex(explanation.corrected?.text ?? '', /<GetSearch/);
    t.notRegex(JSON.stringify(explanation), /secret/);
  });

test('repeated parts of an envelope are removed, whatever their number', (t) => {
  const compiled = compileContract(readContract(screeningContract).contract);
  const call =
    '<GetSearch xmlns="http://schemas.servicestack.net/types"><Request><Id>1</Id></Request></GetSearch>';
  for (const part of ['<s:Body/>', '<s:Header/>', '<other/>']) {
    const head = part === '<s:Header/>' ? part : '';
    const body = `<s:Envelope xmlns:s="${soap11}">${head}<s:Body>${call}</s:Body>${part.repeat(100)}</s:Envelope>`;
    const { corrected } = createDoctor(compiled).explain({ body: Buffer.from(body), headers: {} });
    t.true(corrected?.isTaken, part);
  }
});

test('explainBytes: refuses a longer message before the analysis', (t) => {
  const message = envelope('');
  t.notThrows(() => explain(message, { explainBytes: message.length }));
  t.throws(() => explain(message, { explainBytes: message.length - 1 }), {
    instanceOf: RangeError,
    message: `expected a message of at most ${message.length - 1} bytes, got ${message.length}`,
  });
});

test('explainFindings: reports that many findings, and the number of the others', (t) => {
  const wrong = envelope('<FindOrder xmlns="urn:Orders"><id>1</id><a/><b/><c/></FindOrder>');
  const of = (explainFindings: number) => {
    const { findings, more } = explain(wrong, { explainFindings });
    return [findings.length, more];
  };
  // the missing SOAPAction is another finding
  t.deepEqual(of(4), [4, 0]);
  t.deepEqual(of(3), [3, 1]);
});

test('explainRepairs: corrects markup in that many positions', (t) => {
  const wrong = envelope('<FindOrder xmlns="urn:Orders"><id>& & &</id></FindOrder>');
  t.not(explain(wrong, { explainRepairs: 3 }).operation, undefined);
  t.is(explain(wrong, { explainRepairs: 2 }).operation, undefined);
});

test('any changed message is explained in time and without an error', (t) => {
  const doctor = createDoctor(compileContract(contract));
  const good = envelope(
    '<PlaceOrder xmlns="urn:Orders"><Body><customer a="b">J &amp; S</customer><day>2026-01-31</day><tags><string>x</string></tags><!-- c --></Body></PlaceOrder>',
  );
  const pieces = [
    '<',
    '>',
    '&',
    '"',
    '/',
    '<a',
    ']]>',
    '<![CDATA[',
    '<!--',
    'xmlns:x=""',
    '\0',
    '<?x?>',
    '<!DOCTYPE',
    '--MIME\n',
  ];
  const edit = fc.record({
    at: fc.nat(good.length),
    length: fc.nat(12),
    text: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
      let text = good;
      for (const { at, length, text: put } of edits) text = text.slice(0, at) + put + text.slice(at + length);
      const { findings } = doctor.explain({ body: Buffer.from(text), headers: {} });
      return findings.length <= maxFindings;
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('with too many header blocks none is analysed: the message is refused for their number', (t) => {
  const block = '<x:a xmlns:x="u" s:mustUnderstand="1"/>';
  const blocksTold = (count: number): number => {
    const { findings } = explain(envelope('<FindOrder xmlns="urn:Orders"/>', block.repeat(count)));
    t.is(
      findings.some(({ message }) => message.includes('more than 32 header blocks')),
      count > 32,
    );
    return findings.filter(({ message }) => message.startsWith('the header block a has')).length;
  };
  t.is(blocksTold(32), 32);
  t.is(blocksTold(33), 32);
});

for (const [what, body] of [
  ['elements within one another', '<a>'.repeat(80_000)],
  ['ampersands', envelope('&'.repeat(200_000))],
  ['open brackets', envelope('<'.repeat(200_000))],
  ['CDATA sections without an end', envelope('<![CDATA['.repeat(20_000))],
  ['comments without an end', envelope('<!--'.repeat(50_000))],
  ['escaped markup', '&lt;'.repeat(60_000)],
  [
    'members that nobody knows',
    envelope(`<FindOrder xmlns="urn:Orders">${'<x/>'.repeat(40_000)}</FindOrder>`),
  ],
  [
    'members in the wrong order',
    envelope(
      `<PlaceOrder xmlns="urn:Orders"><Body>${'<total>1</total><customer/>'.repeat(9_000)}</Body></PlaceOrder>`,
    ),
  ],
  ['elements within one another, escaped', envelope('&lt;FindOrder&gt;'.repeat(10_000))],
  [
    'elements within one another, escaped, in a member',
    envelope(`<PlaceOrder xmlns="urn:Orders"><Body>${'&lt;customer&gt;'.repeat(10_000)}</Body></PlaceOrder>`),
  ],
  ['header blocks', envelope('', '<x:a xmlns:x="u" s:mustUnderstand="1"/>'.repeat(3_000))],
  ['attributes', `<a ${'b="c" '.repeat(40_000)}/>`],
  ['quotes', `<a ${'b='.repeat(100_000)}`],
  ['blanks', ' '.repeat(250_000)],
  ['digits', envelope(`<FindOrder xmlns="urn:Orders"><id>${'1,'.repeat(100_000)}</id></FindOrder>`)],
  ['hyphens', '--'.repeat(120_000)],
] as const)
  test(`a hostile message of ${what} is explained within two seconds`, (t) => {
    const started = process.cpuUsage();
    const { findings } = explain(body);
    const { user } = process.cpuUsage(started);
    t.true(findings.length > 0);
    t.true(user < 4_000_000, `${user / 1000} ms`);
  });
