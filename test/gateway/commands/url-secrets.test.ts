import test from 'ava';
import { file } from './file.ts';
import { run } from './run.ts';

const config = `contracts:
  /a:
    contract: mappings/screening
    upstream: { url: "http://usr:$\{PW}@127.0.0.1:1" }
`;

for (const [what, args, variables] of [
  ['--upstream', ['serve', '--upstream', 'http://usr:SECRET@127.0.0.1:1'], {}],
  ['SOAPBRIDGE_UPSTREAM_URL', ['serve'], { SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:1/?key=SECRET' }],
  ['--public-url', ['serve', '--demo', '--public-url', 'http://usr:SECRET@a.example'], {}],
  ['upstream.url', ['check', '--config', ''], { PW: 'SECRET' }],
] as const) {
  test(`a URL with a password or a query in ${what} is refused without them`, async (t) => {
    const given = args.map((arg) => (arg === '' ? file(t, config, 'soapbridge.yaml') : arg));
    const { code, out, err } = await run(t, given, variables).ended;
    t.is(code, 2);
    t.regex(err, /expected an http or https URL without .*, got "http:\/\/(?:127\.0\.0\.1:1|a\.example)\/?"/);
    t.false(`${out}${err}`.includes('SECRET'));
  });
}
