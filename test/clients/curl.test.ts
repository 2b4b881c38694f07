import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { startGateway } from './gateway.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
// Skipped tests state the reason in their title.
const curlTest = hasCurl ? test : test.skip;
const title = (sentence: string): string =>
  hasCurl ? sentence : `${sentence} (skipped: no curl on the PATH)`;

let gateway: Running;

test.before(async () => {
  gateway = await startGateway();
});

test.after.always(() => gateway.stop(0));

const types = 'http://schemas.servicestack.net/types';
const arrays = 'http://schemas.microsoft.com/2003/10/Serialization/Arrays';
const credentials = ['-H', 'X-Api-User: demo', '-H', 'X-Api-Key: demo-key'];
const run = promisify(execFile);

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Calls curl with credentials in headers, and returns the response. */
async function curl(...options: readonly string[]): Promise<Answer> {
  const { stdout } = await run('curl', [
    ...['--silent', '--show-error', '--max-time', '60', '--write-out', '\n%{http_code} %{content_type}'],
    ...credentials,
    ...options,
  ]);
  const end = stdout.lastIndexOf('\n');
  const [, status, contentType = ''] = /^(\d+) (.*)$/.exec(stdout.slice(end + 1)) ?? [];
  return { status: Number(status), contentType, body: stdout.slice(0, end) };
}

/** Inputs and a part of the expected reply, in JSON and in XML. */
interface Call {
  readonly operation: string;
  readonly json: readonly [input: string, reply: string];
  readonly xml: readonly [input: string, reply: string];
}

const calls: readonly Call[] = [
  {
    operation: 'UpdateSubUser',
    json: ['{"request":{"subUserName":"jane","permissions":["bob"]}}', '"permissions":["bob"]'],
    xml: [
      `<Request><Permissions xmlns:a="${arrays}"><a:string>bob</a:string></Permissions><SubUserName>jane</SubUserName></Request>`,
      `<Permissions xmlns:a="${arrays}"><a:string>bob</a:string></Permissions><UserId>6f9619ff-8b86-d011-b42d-00cf4fc964ff</UserId>`,
    ],
  },
  {
    operation: 'UpdateValidId',
    json: ['{"request":{"id":1,"clientInResults":true,"clientNotInResults":false}}', '"success":true'],
    xml: [
      '<Request><ClientInResults>true</ClientInResults><ClientNotInResults>false</ClientNotInResults><Id>1</Id></Request>',
      '<Success>true</Success>',
    ],
  },
  {
    operation: 'AddClientTemplate',
    json: ['', '"proofOfPreset":"ValidateMe"'],
    xml: ['', '<Id>11</Id><Name>Passport</Name>'],
  },
  {
    operation: 'GetDbsSearch',
    json: ['{"id":1}', '"applicantPin":"004217"'],
    xml: ['<Id>1</Id>', '<JobLocation>Llanfair &amp; District</JobLocation>'],
  },
  {
    operation: 'RenewAllPepSearches',
    json: ['{"request":{"renewalDate":"/Date(221845392000000-0000)/"}}', '"totalCost":13.20'],
    xml: [
      '<Request><RenewalDate>9000-01-01T00:00:00</RenewalDate></Request>',
      '<Count>12</Count><RenewalDate>9000-01-01</RenewalDate><TotalCost>13.20</TotalCost>',
    ],
  },
  {
    operation: 'DeleteClient',
    json: ['{"id":3}', '"responseStatus":{}'],
    xml: ['<Id>4</Id>', '<Data><ResponseStatus/></Data>'],
  },
  {
    operation: 'GetSearch',
    json: ['{"request":{"id":1}}', '"fullName":"Зоя Выдуманная"'],
    xml: ['<Request><Id>1</Id></Request>', '<Name6>ÅNGSTRÖM-MÜLLER</Name6>'],
  },
  {
    operation: 'CostRenewAllPepSearches',
    json: [
      '{"request":{"renewalDate":"9000-01-01T00:00:00"}}',
      '"renewalDate":"9000-01-01","canAfford":true',
    ],
    xml: [
      '<Request><RenewalDate>9000-01-01</RenewalDate></Request>',
      '<CanAfford>true</CanAfford><Count>12</Count>',
    ],
  },
  {
    operation: 'GetPdf',
    json: ['{"request":{"id":9007199254740993}}', '"id":9007199254740993,'],
    xml: ['<Request><Id>9007199254740993</Id></Request>', '<DocumentBytes>JVBERi0'],
  },
  {
    operation: 'CountIncompleteClients',
    json: [
      '{"daysIncomplete":0,"isValidateMe":true,"state":"PendingVerification"}',
      '"numberOfIncompleteClients":',
    ],
    xml: ['<DaysIncomplete>0</DaysIncomplete>', '<NumberOfIncompleteClients>'],
  },
  {
    operation: 'GetEulaStatus',
    json: ['{"request":{"subUserName":"jane"}}', '"agreeToContact":true'],
    xml: [
      '<Request><SubUserName>bob</SubUserName></Request>',
      '<AgreeToDataProtection>false</AgreeToDataProtection><AgreeToDataProtectionInfo>',
    ],
  },
  {
    operation: 'GetValidIds',
    json: ['{"request":{"page":3}}', '"totalSearchRecords":57,"currentPageNum":3,"maxPageNum":3'],
    xml: ['<Request><NameSearch>SOREN</NameSearch></Request>', '<FullName>Søren Opdigtet</FullName>'],
  },
];

curlTest(title('curl calls all twelve operations at /json/reply with credentials in headers'), async (t) => {
  const { address } = gateway;
  await Promise.all(
    calls.map(async ({ operation, json: [input, reply] }) => {
      const answer = await curl(`${address}/json/reply/${operation}`, '--data-binary', input);
      t.is(answer.status, 200, answer.body);
      t.is(answer.contentType, 'application/json; charset=utf-8');
      t.true(answer.body.includes(reply), `${operation}: ${answer.body}`);
    }),
  );
});

curlTest(title('curl calls all twelve operations at /xml/reply with credentials in headers'), async (t) => {
  const { address } = gateway;
  await Promise.all(
    calls.map(async ({ operation, xml: [input, reply] }) => {
      const body = `<${operation} xmlns="${types}">${input}</${operation}>`;
      const answer = await curl(`${address}/xml/reply/${operation}`, '--data-binary', body);
      t.is(answer.status, 200, answer.body);
      t.is(answer.contentType, 'application/xml; charset=utf-8');
      t.regex(
        answer.body,
        new RegExp(`^<\\?xml version="1.0" encoding="utf-8"\\?><${operation}Response xmlns="${types}"`),
      );
      t.true(answer.body.includes(reply), `${operation}: ${answer.body}`);
    }),
  );
});

const asJson = ['-H', 'Content-Type: application/json', '--data-binary'];
const asXml = ['-H', 'Content-Type: application/xml', '--data-binary'];

/**
 * The seven routes: curl's options, the path, and a part of the expected reply. Without a body the reply is JSON (W5).
 */
const routes: readonly (readonly [readonly string[], string, string])[] = [
  [
    ['-X', 'PUT', ...asJson, '{"request":{"subUserName":"jane","permissions":["owner"]}}'],
    '/subusers/update',
    '"permissions":["owner"]',
  ],
  [
    ['-X', 'PUT', ...asXml, `<UpdateValidId xmlns="${types}"><Request><Id>1</Id></Request></UpdateValidId>`],
    '/validid/update',
    '<Success>true</Success>',
  ],
  [[], '/clients/template', '"proofOf":"address"'],
  [[], '/dbs/1?subUserName=owner', '"jobLocation":"Llanfair & District"'],
  [[], '/dbs/1.xml', '<ApplicantPin>004217</ApplicantPin>'],
  [['-X', 'PUT', ...asJson, '{"request":{}}'], '/peps/renew/all', '"count":'],
  [['-X', 'DELETE'], '/clients/5', '"responseStatus":{}'],
  [
    [...asXml, `<GetSearch xmlns="${types}"><Request><Id>1</Id></Request></GetSearch>`],
    '/sanctions/get',
    '<Name>Zoë Ångström-Müller</Name>',
  ],
];

for (const [options, path, part] of routes) {
  const verb = options.includes('-X') ? options[1] : options.length > 0 ? 'POST' : 'GET';
  curlTest(title(`curl calls ${verb} ${path} with credentials in headers`), async (t) => {
    const { address } = gateway;
    const answer = await curl(`${address}${path}`, ...options);
    t.is(answer.status, 200, answer.body);
    t.is(answer.contentType, `application/${part.startsWith('<') ? 'xml' : 'json'}; charset=utf-8`);
    t.true(answer.body.includes(part), answer.body);
  });
}

curlTest(
  title('a route’s error, such as a credential header given twice, carries its true status (W24, W26)'),
  async (t) => {
    const { address } = gateway;
    const unknown = await curl(`${address}/dbs/77`);
    t.is(unknown.status, 404);
    t.regex(unknown.body, /^\{"data":\{"responseStatus":\{"errorCode":"NotFound"/);
    const twice = await curl(`${address}/dbs/1`, '-H', 'X-Api-Key: demo-key');
    t.is(twice.status, 400);
    t.regex(twice.body, /^\{"data":\{"responseStatus":\{"errorCode":"ConflictingCredentials"/);
  },
);
