import test from 'ava';
import { file } from './file.ts';
import { run } from './run.ts';

const config = `contracts:
  /a:
    contract: mappings/screening
    upstream: { url: "http://usr:$\{PW}@127.0.0.1:1" }
`;

const url = 'http://usr:SECRET@127.0.0.1:1/a?key=SECRET';

for (const [what, args] of [
  ['a document', ['check', url]],
  ['--openapi', ['serve', '--openapi', url, '--upstream', 'http://127.0.0.1:9']],
  ['--contract', ['check', '--contract', url]],
  ['a document to compare', ['diff', url, 'mappings/screening']],
  ['a WSDL', ['adopt', url, '--out', 'never']],
  ['a WSDL at an FTP server', ['adopt', url.replace('http', 'ftp'), '--out', 'never']],
  ['an upstream without a scheme', ['serve', '--upstream', 'usr:SECRET@127.0.0.1']],
  ['openapi of a configuration', ['check', '--config', `openapi: "${url}"`]],
  ['contract of a configuration', ['check', '--config', `contract: "${url}"`]],
] as const) {
  test(`the error for a URL as ${what} omits its password and query`, async (t) => {
    const inConfig = (key: string): string =>
      file(t, `contracts: { /a: { upstream: "http://127.0.0.1:9", ${key} } }\n`, 'soapbridge.yaml');
    const given = args.map((arg, at) => (args[at - 1] === '--config' ? inConfig(arg) : arg));
    const { code, out, err } = await run(t, given).ended;
    t.is(code, 2);
    t.regex(err, /127\.0\.0\.1/);
    t.false(`${out}${err}`.includes('SECRET'), err);
  });
}

for (const [what, args, variables] of [
  ['--upstream', ['serve', '--upstream', 'http://usr:SECRET@127.0.0.1:1'], {}],
  ['SOAPBRIDGE_UPSTREAM_URL', ['serve'], { SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:1/?key=SECRET' }],
  ['--public-url', ['serve', '--demo', '--public-url', 'http://usr:SECRET@a.example'], {}],
  ['upstream.url', ['check', '--config', ''], { PW: 'SECRET' }],
] as const) {
  test(`the error for a URL with a password or query in ${what} omits them`, async (t) => {
    const given = args.map((arg) => (arg === '' ? file(t, config, 'soapbridge.yaml') : arg));
    const { code, out, err } = await run(t, given, variables).ended;
    t.is(code, 2);
    t.regex(err, /expected an http or https URL without .*, got "http:\/\/(?:127\.0\.0\.1:1|a\.example)\/?"/);
    t.false(`${out}${err}`.includes('SECRET'));
  });
}
