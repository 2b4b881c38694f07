import test from 'ava';
import { linesOf, reportOf } from '../../../gateway/process/load-report.ts';
import { load } from '../../plain/documents.ts';

const responses = { 200: { description: 'Done.' } };

/** Returns the report of a document with this server and these paths, for an upstream. */
function reported(server: string | undefined, paths: readonly string[], upstreamUrl: string | undefined) {
  const loaded = load({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    ...(server === undefined ? {} : { servers: [{ url: server }] }),
    paths: Object.fromEntries(paths.map((path) => [path, { get: { responses } }])),
  });
  return reportOf(loaded, { basePath: '/edge', upstreamUrl, isMapped: false });
}

test('a report counts operations per destination, and shows one call completely', (t) => {
  const report = reported('https://pets.example/v1', ['/pets', '/cats'], 'http://internal:9090');
  t.like(report, {
    contract: '/edge',
    service: 'Pets',
    operations: 2,
    notServed: 0,
    upstream: 'http://internal:9090',
    example: 'getPets: GET http://internal:9090/v1/pets',
    remarks: [],
  });
  t.deepEqual(linesOf([report]), [
    'Pets under /edge: 2 operations',
    '  calls go to http://internal:9090, such as getPets: GET http://internal:9090/v1/pets',
  ]);
  t.is(reported('/v1', ['/pets'], undefined).example, 'getPets: GET /v1/pets');
});

for (const [what, server, paths, upstream, said] of [
  [
    'is lost to a slash',
    'https://a.example/api/v1',
    ['/pets'],
    'http://b/',
    /^base path of the document is missing in the upstream URL\. Use http:\/\/b to add it, or http:\/\/b\/api\/v1 for both paths$/,
  ],
  [
    'is lost to another',
    '/v1',
    ['/pets'],
    'http://b/internal/',
    /Use http:\/\/b to add it, or http:\/\/b\/internal\/v1 for both paths$/,
  ],
  [
    'is there twice',
    undefined,
    ['/api/v1/pets', '/api/v1/cats'],
    'http://b/api/v1',
    /^base path repeats the start of all paths. Set the upstream without it: http:\/\/b\/$/,
  ],
  ['is there twice in the document', '/v1', ['/v1/pets', '/v1'], 'http://b', /without it: http:\/\/b\/$/],
  ['is there twice in part', undefined, ['/v1/pets'], 'http://b/proxy/v1', /without it: http:\/\/b\/proxy$/],
] as const) {
  test(`a base path that ${what} is a warning with the remedy`, (t) => {
    const { remarks } = reported(server, paths, upstream);
    t.is(remarks.length, 1);
    t.regex(remarks[0]?.message ?? '', said);
  });
}

for (const [what, server, paths, upstream] of [
  ['that the upstream has, too', '/api/v1', ['/pets'], 'http://b/api/v1'],
  ['behind that of a proxy', '/api/v1', ['/pets'], 'http://b/proxy/api/v1/'],
  ['that the upstream leaves to the document', '/api/v1', ['/pets'], 'http://b'],
  ['that some paths begin with', '/pets', ['/pets/{id}x', '/cats'], 'http://b'],
  ['of the upstream alone', undefined, ['/pets'], 'http://b/v1'],
] as const) {
  test(`a base path ${what} is no warning`, (t) => {
    const plain = paths.map((path) => path.replace('{id}', ''));
    t.deepEqual(reported(server, plain, upstream).remarks, []);
  });
}

for (const [url, isOdd] of [
  ['api.example.com/v1', true],
  ['localhost:8080/v1', true],
  ['internal:8080', true],
  ['10.0.0.1', true],
  ['https://api.example.com/v1', false],
  ['//api.example.com/v1', false],
  ['/v1', false],
  ['v1.0', false],
  ['{scheme}://api.example.com', false],
] as const) {
  test(`a server's URL ${url} ${isOdd ? 'without scheme is a warning' : 'is no warning'}`, (t) => {
    const { remarks } = reported(url, ['/pets'], undefined);
    t.is(remarks.length, isOdd ? 1 : 0);
    const [first] = remarks[0]?.all ?? [];
    if (isOdd)
      t.deepEqual(first, {
        pointer: '/servers/0/url',
        why: `expected a URL with its scheme, such as "https://${url}", got "${url}", which is a path`,
      });
  });
}

test('the human-readable report has at most twenty lines, for any number of contracts', (t) => {
  const one = reported('api.example.com', ['/api.example.com/pets'], 'http://b/');
  t.true(one.remarks.length >= 2);
  const lines = linesOf([one]);
  t.is(lines.at(-1), 'run soapbridge check for the full list');
  t.true(lines.every((line) => line.length <= 200));
  for (const count of [1, 4, 5, 18, 19, 20, 300]) {
    const told = linesOf(Array.from({ length: count }, () => one));
    t.true(told.length < 20, `${told.length} lines of ${count} contracts`);
    t.true(told.some((line) => line.includes('2 operations') || line.includes('1 operations')));
  }
  t.is(linesOf(Array.from({ length: 300 }, () => one)).at(-1), '282 more contracts');
  t.regex(
    linesOf(Array.from({ length: 10 }, () => one))[0] ?? '',
    /; \d remarks, run soapbridge check to list them$/,
  );
});
