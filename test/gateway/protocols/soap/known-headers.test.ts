import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import fc from 'fast-check';
import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { type SoapVersion, soap11, soap12 } from '../../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../../mappings/compile.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { readContract, screeningContract } from '../../../../mappings/loader/load.ts';
import { withoutByteReader } from '../../../mappings/codec/codec-calls.ts';
import { createSoapReader, type ReadSoap } from '../../../read-soap.ts';
import { counting, plainInput } from './soap-outcome.ts';
import { type Case, cases, folder } from './wsse-cases.ts';

// Requests with header blocks in a known form are read faster. The result must not depend on the requests read before.

const { contract } = readContract(screeningContract);
const compiled = compileContract(contract);
const types = contract.namespaces.types;
const usualOnly = withoutByteReader(compiled);

interface Request {
  readonly bytes: Buffer;
  readonly version: SoapVersion;
  readonly actions: readonly string[];
  readonly at: number;
}

function outcomeOf(read: ReadSoap, { bytes, version, actions, at }: Request): unknown {
  mock.timers.setTime(at);
  try {
    const call = read(bytes, undefined, version, actions);
    const { operation, input, header, values: credentials, isMtom } = call;
    const { name } = operation.operation;
    const text = JSON.stringify(operation.jsonOf(input));
    return {
      version: call.version.name,
      name,
      input: plainInput(input),
      text,
      header,
      credentials,
      sent: [...operation.credentialsOf(input)],
      isMtom,
    };
  } catch (error) {
    if (error instanceof Fault) return { code: error.code, version: error.version.name, says: error.message };
    throw error;
  }
}

function captured(file: string, { soap, receivedAt }: Case): Request {
  const bytes = readFileSync(join(folder, file));
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const action = /^SOAPAction: "?([^"\r]*)/im.exec(bytes.subarray(0, end).toString('latin1'))?.[1];
  return {
    bytes: bytes.subarray(end),
    version: soap === '1.1' ? soap11 : soap12,
    actions: action === undefined ? [] : [action],
    at: Date.parse(receivedAt),
  };
}

const base = Date.parse('2026-11-21T12:00:00Z');
const clock = (seconds: number): string => new Date(base + seconds * 1_000).toISOString();
const security = (inside: string, attributes = ''): string =>
  `<o:Security xmlns:o="${namespaces.wsse}" xmlns:u="${namespaces.wsu}"${attributes}>${inside}</o:Security>`;
const timestamp = (from: number, to: number): string =>
  `<u:Timestamp u:Id="t"><u:Created>${clock(from)}</u:Created><u:Expires>${clock(to)}</u:Expires></u:Timestamp>`;
const token = (name: string, password: string): string =>
  `<o:UsernameToken><o:Username>${name}</o:Username><o:Password>${password}</o:Password></o:UsernameToken>`;
const action = (name: string): string =>
  `<a:Action xmlns:a="http://www.w3.org/2005/08/addressing">${name}</a:Action>`;

const payload = `<t:UpdateSubUser xmlns:t="${types}"><t:Request><t:SubUserName>a&amp;b</t:SubUserName></t:Request></t:UpdateSubUser>`;
const request = (header: string, body = payload, at = 0): Request => ({
  bytes: Buffer.from(
    `<s:Envelope xmlns:s="${soap11.namespace}"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
  ),
  version: soap11,
  actions: [],
  at: base + at * 1_000,
});

/** Header blocks after the same start, valid and invalid. */
const byHand: Readonly<Record<string, Request>> = {
  'a token': request(security(token('demo', 'p&amp;q'))),
  'another token': request(security(token('Zoë', '漢字'))),
  'no block at all': request(''),
  'a token and white space': request(`\n  ${security(token('demo', 'p'))}\n  `),
  'a Timestamp that holds': request(security(timestamp(0, 60) + token('demo', 'p'))),
  'the same Timestamp when it has ended': request(
    security(timestamp(0, 60) + token('demo', 'p')),
    payload,
    3_600,
  ),
  'an end tag in a comment': request(`${security(token('demo', 'p'))}<!--</s:Header>-->`),
  'an end tag in character data': request(security(token('demo', '<![CDATA[</s:Header>]]>'))),
  'an end tag in an attribute': request(
    `<x:Block xmlns:x="urn:x" x:a="&lt;/s:Header>"/>${security(token('demo', 'p'))}`,
  ),
  'a second Header': request(`${security(token('demo', 'p'))}</s:Header><s:Header>`),
  'a Body of its own behind its end': request(
    `${security(token('demo', 'p'))}</s:Header><s:Body/></s:Envelope><!--`,
    `-->${payload}`,
  ),
  'a prefix bound to something else': request(
    `<x:Block xmlns:x="urn:x" xmlns:s="urn:other"><s:Header></s:Header></x:Block>${security(token('demo', 'p'))}`,
  ),
  'a block that must be understood': request('<x:Must xmlns:x="urn:x" s:mustUnderstand="1"/>'),
  'one that need not be': request('<x:May xmlns:x="urn:x"/>'),
  'one with a value that is none': request('<x:Must xmlns:x="urn:x" s:mustUnderstand="yes"/>'),
  'one for another role': request('<x:Must xmlns:x="urn:x" s:mustUnderstand="1" s:actor="urn:other"/>'),
  'the action of the payload': request(action('UpdateSubUser')),
  'the action of another operation': request(action('GetPdf')),
  'two tokens': request(security(token('demo', 'p') + token('demo', 'p'))),
  'two blocks of security': request(security(token('demo', 'p')) + security(token('demo', 'p'))),
  'an unbound prefix': request('<x:Block/>'),
  'a wrong end tag': request('<x:Block xmlns:x="urn:x"></x:Other>'),
  'text between blocks': request(`text${security(token('demo', 'p'))}`),
  'a character that is none': request(security(token('demo', 'p\u0001'))),
  'bytes that are no UTF-8': {
    ...request(''),
    bytes: Buffer.from(request(security(token('Zoë', 'p'))).bytes.toString(), 'latin1'),
  },
  'a body that is empty': request(security(token('demo', 'p')), ''),
  'a body that lacks a member': request(
    security(token('demo', 'p')),
    payload.replace('SubUserName', 'Other').replace('/t:SubUserName', '/t:Other'),
  ),
  'a member without a value': request(security(token('demo', 'p')), payload.replace('a&amp;b', '')),
  'a body of another operation': request(
    security(token('demo', 'p')),
    `<t:GetPermissions xmlns:t="${types}"/>`,
  ),
  'a body that is not known': request(security(token('demo', 'p')), `<t:Nothing xmlns:t="${types}"/>`),
  'a body with credentials of its own': request(
    security(token('demo', 'p')),
    payload.replace(
      '<t:Request>',
      '<t:Authentication><t:ApiUserId>x</t:ApiUserId></t:Authentication><t:Request>',
    ),
  ),
  'a body that needs the Header to bind its prefix': request(
    security(token('demo', 'p')),
    payload.replace(` xmlns:t="${types}"`, ''),
  ),
  'a comment with a Header before it': {
    ...request(''),
    bytes: Buffer.from(
      `<s:Envelope xmlns:s="${soap11.namespace}"><!--<s:Header>${security(token('demo', 'p'))}</s:Header>--><s:Header>${security(token('other', 'q'))}</s:Header><s:Body>${payload}</s:Body></s:Envelope>`,
    ),
  },
  'a comment with a Header and no other': {
    ...request(''),
    bytes: Buffer.from(
      `<s:Envelope xmlns:s="${soap11.namespace}"><!--<s:Header>${security(token('demo', 'p'))}</s:Header>--><s:Body>${payload}</s:Body></s:Envelope>`,
    ),
  },
  'a prefix that the payload binds': request('<t:May/>', payload),
  'a document type behind it': {
    ...request(''),
    bytes: Buffer.concat([request(security(token('demo', 'p'))).bytes, Buffer.from('<!DOCTYPE x>')]),
  },
};

/** Reads each request until its form is cached, then all of them in turn. */
function assertEqual(
  t: { deepEqual: (a: unknown, b: unknown, what: string) => unknown },
  all: Readonly<Record<string, Request>>,
): void {
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    const warm = createSoapReader(compiled);
    const usual = Object.entries(all);
    const cold = usual.map(([, one]) => outcomeOf(createSoapReader(usualOnly), one));
    for (const times of [2, 1]) {
      for (const [index, [what, one]] of usual.entries()) {
        for (let time = 0; time < times; time++) t.deepEqual(outcomeOf(warm, one), cold[index], what);
      }
    }
  } finally {
    mock.timers.reset();
  }
}

test.serial('W28, W46: requests with header blocks are read alike by both readers', (t) => {
  assertEqual(t, byHand);
});

for (const soap of ['1.1', '1.2'] as const) {
  test.serial(`W46: captured requests of SOAP ${soap} are read alike by both readers`, (t) => {
    const files = Object.entries(cases).filter(([, one]) => one.soap === soap);
    t.true(files.length > 20);
    t.is(readdirSync(folder).length, Object.keys(cases).length + 1);
    assertEqual(t, Object.fromEntries(files.map(([file, one]) => [file, captured(file, one)])));
  });
}

test.serial('the byte reader reads the payload of a request with header blocks', (t) => {
  mock.timers.enable({ apis: ['Date'], now: base });
  try {
    const counted = counting(compiled, 'UpdateSubUser');
    const read = createSoapReader(counted.compiled);
    for (let time = 0; time < 2; time++)
      read(request(security(token('demo', `p${time}`))).bytes, undefined, soap11, []);
    const before = counted.asked;
    const { values: credentials, input } = read(
      request(security(token('Zoë', 'p&amp;q'))).bytes,
      undefined,
      soap11,
      [],
    );
    t.is(counted.asked, before);
    t.deepEqual(
      credentials?.token,
      new Map([
        ['apiUserId', 'Zoë'],
        ['apiUserKey', 'p&q'],
      ]),
    );
    t.is(input.text.toString(), '{"request":{"subUserName":"a&b"}}');
  } finally {
    mock.timers.reset();
  }
});

test.serial('W28, W46: a Header that is broken at any place is read alike by both readers', (t) => {
  mock.timers.enable({ apis: ['Date'], now: base });
  try {
    const warm = createSoapReader(compiled);
    const good = [
      security(token('demo', 'p&amp;q')),
      security(`${timestamp(0, 60)}\n ${token('demo', 'p')}`, ' s:mustUnderstand="1"'),
      `${action('UpdateSubUser')}<x:May xmlns:x="urn:x" x:Id="1"><x:In>text</x:In></x:May>`,
    ];
    for (const header of good) outcomeOf(warm, request(header));
    fc.assert(
      fc.property(
        fc.constantFrom(...good),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(
          '',
          'x',
          '<',
          '>',
          '&',
          '"',
          '/',
          ' ',
          '\n',
          '<x/>',
          '<!---->',
          '&#0;',
          'é',
          ']]>',
          '</s:Header>',
        ),
        fc.nat({ max: 2 }),
        (header, where, put, cut) => {
          const at = Math.floor(where * header.length);
          const broken = request(header.slice(0, at) + put + header.slice(at + cut));
          t.deepEqual(
            outcomeOf(warm, broken),
            outcomeOf(createSoapReader(usualOnly), broken),
            `${at} ${put}`,
          );
        },
      ),
      { numRuns: 600 },
    );
  } finally {
    mock.timers.reset();
  }
});
