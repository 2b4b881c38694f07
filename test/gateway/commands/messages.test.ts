import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { send } from '../gateway.ts';
import { run, start } from './run.ts';

// Messages of the command line about wrong input: position, expected value, actual value and action.

const library = 'docs/tutorial/openapi.yaml';

/** Creates a temporary folder with files, given by name. */
function folderWith(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'messages-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const document = (servers: string, paths = 'paths'): string => `openapi: 3.0.3
info: { title: T, version: "1" }
${servers}
${paths}: { /a: { get: { operationId: getA, responses: { "200": { description: ok } } } } }
`;

for (const [what, args, files, message] of [
  [
    'adopt of a URL',
    ['adopt', 'https://a.example/Service.svc?wsdl', '--out', 'out'],
    {},
    "https://a.example/Service.svc?wsdl: expected the path of a WSDL file, got a URL. Download the document first: curl -o service.wsdl 'https://a.example/Service.svc?wsdl'",
  ],
  [
    'adopt of a missing file',
    ['adopt', 'no.wsdl', '--out', 'out'],
    {},
    'no.wsdl: expected the path of a WSDL file, got a path that does not exist',
  ],
  [
    'adopt of a folder',
    ['adopt', '.', '--out', 'out'],
    {},
    '.: expected the path of a WSDL file, got a folder. Give the path of the WSDL in it',
  ],
  [
    'adopt of an OpenAPI document',
    ['adopt', 'o.yaml', '--out', 'out'],
    { 'o.yaml': document('') },
    'o.yaml: expected a WSDL, got an OpenAPI document. Serve it with soapbridge serve o.yaml --upstream URL',
  ],
  [
    'adopt of a Swagger document in JSON',
    ['adopt', 'o.json', '--out', 'out'],
    { 'o.json': '{ "swagger": "2.0" }' },
    'o.json: expected a WSDL, got an OpenAPI document. Serve it with soapbridge serve o.json --upstream URL',
  ],
  [
    'adopt of text',
    ['adopt', 'a.txt', '--out', 'out'],
    { 'a.txt': 'hello' },
    'a.txt: expected a WSDL, got a file that is not XML',
  ],
  [
    'a misspelt paths',
    ['check', 'o.yaml'],
    { 'o.yaml': document('', 'pathz') },
    'o.yaml:4#/pathz: expected a key of OpenAPI, got "pathz". Did you mean paths?',
  ],
  [
    'a misspelt openapi',
    ['check', 'o.yaml'],
    { 'o.yaml': document('').replace('openapi', 'opnapi') },
    'o.yaml:1#/opnapi: expected a key of OpenAPI, got "opnapi". Did you mean openapi?',
  ],
  [
    'a misspelt key of an overlay',
    ['check', '--openapi', 'o.yaml', '--overlay', 'soap.yaml'],
    { 'o.yaml': document(''), 'soap.yaml': 'servce: X' },
    'soap.yaml:1#/servce: expected a known key, got "servce". Did you mean service?',
  ],
  [
    'a misspelt operation of an overlay',
    ['check', '--openapi', 'o.yaml', '--overlay', 'soap.yaml'],
    { 'o.yaml': document(''), 'soap.yaml': 'operations: { getB: { hide: true } }' },
    'soap.yaml:1#/operations/getB: expected the name of an operation, got "getB". Did you mean getA?',
  ],
  [
    'a misspelt dialect',
    ['check', '--openapi', 'o.yaml', '--overlay', 'soap.yaml'],
    { 'o.yaml': document(''), 'soap.yaml': 'dialect: plian' },
    'soap.yaml:1#/dialect: expected one of servicestack, plain, got "plian". Did you mean plain?',
  ],
  [
    'a key for a WSDL in the overlay of an OpenAPI document',
    ['check', '--openapi', 'o.yaml', '--overlay', 'soap.yaml'],
    { 'o.yaml': document(''), 'soap.yaml': 'endpoints: {}' },
    'soap.yaml:1#/endpoints: expected a known key, got "endpoints"; it is only for a contract that is loaded from a WSDL',
  ],
  [
    'a misspelt operation of a kit',
    ['kit', 'o.yaml', '--operation', 'getAA', '--out', 'kit'],
    { 'o.yaml': document('') },
    'operation: expected one of the contract, got "getAA". Did you mean getA?',
  ],
  [
    'a misspelt tag on the command line',
    ['wsdl', 'o.yaml', '--tag', 'trackin'],
    { 'o.yaml': document('').replace('getA,', 'getA, tags: [tracking],') },
    'tag: expected one of tracking, got "trackin". Did you mean tracking?',
  ],
  [
    'a misspelt limit of soapbridge.yaml',
    ['check', '--config', 's.yaml'],
    {
      'o.yaml': document(''),
      's.yaml': 'contracts:\n  /a: { openapi: o.yaml, upstream: "http://a", limits: { totlMs: 1 } }\n',
    },
    's.yaml:2#/contracts/~1a/limits/totlMs: limits: expected the name of a limit, got "totlMs". Did you mean totalMs?',
  ],
  [
    'a limit of the process in soapbridge.yaml',
    ['check', '--config', 's.yaml'],
    {
      'o.yaml': document(''),
      's.yaml': 'contracts:\n  /a: { openapi: o.yaml, upstream: "http://a", limits: { inFlight: 1 } }\n',
    },
    's.yaml:2#/contracts/~1a/limits/inFlight: expected a limit of an upstream, got a limit for all contracts. Set it with SOAPBRIDGE_LIMITS',
  ],
  [
    'a misspelt limit',
    ['check', 'o.yaml', '--limits', 'inFlght=3'],
    { 'o.yaml': document('') },
    'limits: expected a limit and its value, such as inFlight=256, got "inFlght=3". Did you mean inFlight?',
  ],
  [
    'a misspelt operation on the command line',
    ['wsdl', 'o.yaml', '--operation', 'getAA'],
    { 'o.yaml': document('') },
    'operation: expected one of getA, got "getAA". Did you mean getA?',
  ],
  [
    'a variable that is not set, once',
    ['check', '--config', 's.yaml'],
    {
      'o.yaml': document(''),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is how variables are written
      's.yaml': 'contracts:\n  /a: { openapi: o.yaml, upstream: "${NO_SUCH}" }\n',
    },
    's.yaml:2#/contracts/~1a/upstream: expected the environment variable NO_SUCH, got none',
  ],
  ...[
    [
      'a variable for upstream.url that is not set',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is how variables are written
      'url: "${NO_SUCH}"',
      '/url: expected the environment variable NO_SUCH, got none',
    ],
    [
      'an invalid upstream.url',
      'url: "ftp://a"',
      '/url: expected an http or https URL without credentials and query, got "ftp://a"',
    ],
    [
      'a misspelt upstream.url',
      'urls: "http://a"',
      '/urls: expected a known key, got "urls". Did you mean url?',
    ],
    [
      'an invalid address',
      'addresses: [{ url: "ftp://a" }]',
      '/addresses/0/url: expected an http or https URL without credentials and query, got "ftp://a"',
    ],
    [
      'an invalid path of a health check',
      'url: "http://a", healthCheck: { path: 5 }',
      '/healthCheck/path: expected a path such as /healthz, got 5',
    ],
  ].map(
    ([what = '', upstream = '', problem = '']) =>
      [
        `${what}, once`,
        ['check', '--config', 's.yaml'],
        {
          'o.yaml': document(''),
          's.yaml': `contracts:\n  /a: { openapi: o.yaml, upstream: { ${upstream} } }\n`,
        },
        `s.yaml:2#/contracts/~1a/upstream${problem}`,
      ] as const,
  ),
  [
    'a misspelt key of soapbridge.yaml, once',
    ['check', '--config', 's.yaml'],
    { 'o.yaml': document(''), 's.yaml': 'contracts:\n  /a: { openapi: o.yaml, upstrem: "http://a" }\n' },
    's.yaml:2#/contracts/~1a/upstrem: expected a known key, got "upstrem". Did you mean upstream?',
  ],
] as const) {
  test(`${what} is reported with the cause and the remedy`, async (t) => {
    const folder = folderWith(t, files);
    const { code, out, err } = await run(t, args, {}, '', folder).ended;
    t.is(code, 2);
    t.is(out, '');
    const lines = err.trimEnd().split('\n');
    t.deepEqual(
      lines.filter((line) => line !== 'errors in the contract or the settings:'),
      [message],
    );
  });
}

for (const [args, message] of [
  [['chek'], "error: unknown command 'chek'\n(Did you mean check?)"],
  [['map', 'dra'], "error: unknown command 'dra'\n(Did you mean draft?)"],
  [['check', '--limts', 'x=1'], "error: unknown option '--limts'\n(Did you mean --limits?)"],
  [['map', 'draft', '--cal', 'GET /a'], "error: unknown option '--cal'\n(Did you mean --call?)"],
] as const) {
  test(`soapbridge ${args.join(' ')} suggests the command or option`, async (t) => {
    const { code, err } = await run(t, args).ended;
    t.is(code, 2);
    t.true(err.startsWith(message), err);
  });
}

for (const [input, message] of [
  ['', /^standard input: expected a message, got none. Redirect a file/],
  [' \n', /^standard input: expected a message, got none/],
  ['hello', /^standard input: expected a SOAP envelope, an element of an operation, or JSON, got text$/m],
  ['{}', /^--operation: expected the name of an operation, got none. The contract has getBook, lend$/m],
  ['<lendd/>', /^operation: expected one of getBook, lend, got "lendd"\. Did you mean lend\?$/m],
] as const) {
  test(`translate of ${JSON.stringify(input)} reports what is missing`, async (t) => {
    const { code, err } = await run(t, ['translate', library], {}, input).ended;
    t.is(code, 2);
    t.regex(err, message);
  });
}

test('check prints a namespace once, and the base path of soapbridge.yaml', async (t) => {
  const folder = folderWith(t, {
    'o.yaml': document(''),
    's.yaml': 'contracts:\n  /a: { openapi: o.yaml, upstream: "http://a" }\n',
  });
  const { out } = await run(t, ['check', '--config', 's.yaml'], {}, '', folder).ended;
  t.is(
    out,
    'T: 1 operations, 1 types (1 records) under /a\nnamespace: urn:T\n  getA() -> Result; GET /a, read only\n',
  );
  const json = await run(t, ['check', '--config', 's.yaml', '--json'], {}, '', folder).ended;
  t.is(JSON.parse(json.out).contracts[0].basePath, '/a');
});

test('serve calls the first server of the document, with the defaults of its variables', async (t) => {
  const calls: string[] = [];
  const upstream = createServer((request, response) => {
    calls.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.teardown(() => upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const servers = `servers: [{ url: "http://127.0.0.1:{port}/v1/", variables: { port: { default: "${port}" } } }, { url: "http://127.0.0.1:9" }]`;
  const file = join(folderWith(t, { 'o.yaml': document(servers) }), 'o.yaml');
  const { port: own, line } = await start(t, [file]);
  t.is(JSON.parse(line).upstream, `http://127.0.0.1:${port}/v1`);
  await send(own, 'POST', '/json/reply/getA', { 'Content-Type': 'application/json' }, '{}');
  t.deepEqual(calls, ['/v1/a']);
});

test('serve refuses --demo with a document that the reference upstream does not know', async (t) => {
  const { code, err } = await run(t, ['serve', '--demo', library], { PORT: '0' }).ended;
  t.is(code, 2);
  t.is(err, `--demo: expected the screening contract, got ${library}. Set its upstream with --upstream\n`);
});

for (const [what, servers] of [
  ['no server', ''],
  ['a relative server', 'servers: [{ url: /v1 }]'],
  ['a server without a scheme', 'servers: [{ url: "api.example/v1" }]'],
] as const) {
  test(`serve of a document with ${what} expects an upstream`, async (t) => {
    const file = join(folderWith(t, { 'o.yaml': document(servers) }), 'o.yaml');
    const { code, err } = await run(t, ['serve', file], { PORT: '0' }).ended;
    t.is(code, 2);
    t.regex(
      err,
      /^--upstream: expected the URL of the JSON service, got none, and the document has no server with an http or https URL\. /,
    );
  });
}
