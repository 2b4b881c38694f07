import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { ContractError, type ContractProblem } from '../../../mappings/loader/document/error.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { writeWsdl } from '../../../wsdl/wsdl.ts';
import { readByLibxml2 } from '../libxml2.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';

type Outcome =
  | { readonly kind: 'refused'; readonly problems: readonly ContractProblem[] }
  | { readonly kind: 'loaded'; readonly wsdl: string };

/** Separator between an OpenAPI document and its overlay in an input. */
const separator = '\n%%% overlay\n';

const folder = mkdtempSync(join(tmpdir(), 'fuzz-contract-'));
const files = { openapi: join(folder, 'openapi.yaml'), overlay: join(folder, 'soap.yaml') } as const;
process.once('exit', () => rmSync(folder, { recursive: true }));

/**
 * Fewer steps than the default limits, which allow many seconds of work. Code that is still slow does work that is not
 * counted.
 */
const limits = { ...defaultLimits, contractSteps: 250_000 };

/** Time limit for any document of at most 100 kB with these limits, in ms of CPU. */
const mostMs = 5_000;

/**
 * Loads and compiles an OpenAPI document with an optional overlay, and writes its WSDL. The oracle expects a WSDL that
 * libxml2 reads, or errors with location and reason, both within the time limit.
 */
export const contract = target<Outcome>({
  name: 'contract',
  words: [
    ...[
      '$ref: ',
      '"$ref": "#/components/schemas/A"',
      '#/components/schemas/',
      '#/',
      '~1',
      '~0',
      '%25',
      './openapi.yaml#/',
    ],
    ...[
      'allOf',
      'oneOf',
      'anyOf',
      'not',
      'properties',
      'items',
      'prefixItems',
      'additionalProperties',
      'required',
    ],
    ...[
      'discriminator',
      'propertyName',
      'mapping',
      'enum',
      'const',
      'default',
      'format',
      'pattern',
      'nullable',
      'type',
    ],
    ...[
      'parameters',
      'requestBody',
      'responses',
      'content',
      'schema',
      'headers',
      'servers',
      'security',
      'operationId',
    ],
    ...[
      'application/json',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'text/plain',
      '*/*',
      'default',
    ],
    ...[
      'style',
      'explode',
      'in',
      'path',
      'query',
      'header',
      'cookie',
      'deepObject',
      'true',
      'false',
      'null',
      '~',
    ],
    ...[
      '&a ',
      '*a',
      '<<: ',
      '!!str ',
      '!!binary ',
      '---\n',
      '...\n',
      '- ',
      ': ',
      '? ',
      '|\n',
      '>-\n',
      '{',
      '}',
      '[',
      ']',
    ],
    ...[
      '1e999999',
      '-0',
      '.nan',
      '.inf',
      '0x7fffffff',
      '99999999999999999999',
      '""',
      '__proto__',
      'constructor',
      '\t',
    ],
    ...[
      'dialect: servicestack',
      'validate: strict',
      'json: tree',
      'reply: envelope',
      'operations',
      'types',
      separator,
    ],
  ],
  make: makeInput,
  judgeOneOf: 4,
  mostMs: 3_000,
  run: (input) => {
    const [document = '', overlay] = input.toString('latin1').split(separator);
    writeFileSync(files.openapi, document, 'latin1');
    writeFileSync(files.overlay, overlay ?? '', 'latin1');
    const overlayFile = overlay === undefined ? undefined : files.overlay;
    const [outcome, tookMs] = timed(() => load(overlayFile));
    // measured again, because a suspended machine counts as CPU time
    const leastMs = tookMs > mostMs ? Math.min(tookMs, timed(() => load(overlayFile))[1]) : tookMs;
    if (leastMs > mostMs) throw new Error(`expected at most ${mostMs} ms of CPU, got ${leastMs.toFixed(0)}`);
    return outcome;
  },
  kind: (outcome) =>
    outcome.kind === 'loaded'
      ? `loaded ${new Set(outcome.wsdl.match(/<xs:\w+/g)).size}`
      : shapeOf(outcome.problems[0]?.message ?? ''),
  judge: (_, outcome) =>
    outcome.kind === 'loaded' ? judgeWsdl(outcome.wsdl) : judgeProblems(outcome.problems),
});

/** Returns the result of a function and its CPU time in ms. */
function timed<T>(run: () => T): readonly [T, number] {
  const before = process.threadCpuUsage();
  const result = run();
  const { user, system } = process.threadCpuUsage(before);
  return [result, (user + system) / 1000];
}

function load(overlay: string | undefined): Outcome {
  try {
    const { contract: loaded } = readContract({ openapi: files.openapi, overlay }, limits);
    compileContract(loaded, limits);
    return { kind: 'loaded', wsdl: writeWsdl(loaded, { address: 'http://localhost/' }) };
  } catch (error) {
    if (error instanceof ContractError) return { kind: 'refused', problems: error.problems };
    throw error;
  }
}

function judgeWsdl(wsdl: string): string | undefined {
  const reading = readByLibxml2(wsdl);
  return reading.kind === 'refused' ? `libxml2 refuses the WSDL: ${reading.refusal}` : undefined;
}

/** Checks that every problem has a location and a message of the project. */
function judgeProblems(problems: readonly ContractProblem[]): string | undefined {
  if (problems.length === 0) return 'expected a problem, got none';
  for (const { file, pointer, message } of problems) {
    if (!file.startsWith(folder)) return `expected a file, got ${file}`;
    if (!/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)) return `expected a JSON pointer, got ${pointer}`;
    if (message === '' || /\bundefined\b|\[object |is not a function|Cannot read/.test(message))
      return `expected words on what is wrong, got ${message}`;
  }
  return undefined;
}

const names = [
  'A',
  'B',
  'C',
  'a',
  'id',
  'naïve',
  'x y',
  'a/b',
  'a~b',
  '',
  '__proto__',
  'constructor',
  '1',
  '漢',
  'xml',
] as const;

/** Returns any value, mostly a small one. */
function makeOdd(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 11 : 8);
  if (kind === 8) return Array.from({ length: random.below(4) }, () => makeOdd(random, depth - 1));
  if (kind >= 9) return makeSchema(random, depth - 1);
  return random.pick<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e300,
    2 ** 53,
    '',
    'x',
    random.pick(...names),
    'a'.repeat(300),
  );
}

/** Returns a record with random names and values. */
function makeRecord(random: Random, most: number, make: () => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: random.below(most + 1) }, () => [random.pick(...names), make()]),
  );
}

function makeReference(random: Random): object {
  if (!random.once(20)) return { $ref: `#/components/schemas/${random.pick('A', 'B', 'C')}` };
  return {
    $ref: random.pick(
      '#/components/schemas/missing',
      '#/components/schemas/A/properties/id',
      '#/components/schemas/A/allOf/0',
      '#/paths/~1a/post/requestBody/content/application~1json/schema',
      '#/components/parameters/A',
      './openapi.yaml#/components/schemas/B',
      './missing.yaml#/A',
      '../openapi.yaml',
      '.',
      '#',
      '#/%',
    ),
  };
}

function makeSchema(random: Random, depth: number): unknown {
  if (random.once(40)) return makeOdd(random, 1);
  if (depth <= 0 || random.once(5)) return random.once(2) ? makeReference(random) : makeScalar(random);
  const inner = (): unknown => makeSchema(random, depth - 1);
  const some = (most: number): unknown[] => Array.from({ length: random.below(most + 1) }, inner);
  const schema: Record<string, unknown> = {};
  for (let keywords = 1 + random.below(4); keywords > 0; keywords--) {
    const [name, make] = random.pick<readonly [string, () => unknown]>(
      ['properties', () => makeRecord(random, 4, inner)],
      ['properties', () => makeRecord(random, 4, inner)],
      ['required', () => Array.from({ length: random.below(3) }, () => random.pick(...names))],
      [
        'type',
        () => random.pick<unknown>('object', 'array', 'string', ['object', 'null'], ['string', 'integer']),
      ],
      ['items', () => inner()],
      ['prefixItems', () => some(3)],
      ['additionalProperties', () => random.pick<unknown>(true, false, inner())],
      ['patternProperties', () => makeRecord(random, 2, inner)],
      ['allOf', () => some(3)],
      ['oneOf', () => some(3)],
      ['anyOf', () => some(3)],
      ['not', () => inner()],
      [
        'discriminator',
        () => ({
          propertyName: random.pick(...names),
          mapping: makeRecord(random, 2, () => random.pick('A', '#/components/schemas/B', './openapi.yaml')),
        }),
      ],
      ['$defs', () => makeRecord(random, 2, inner)],
      ['default', () => makeOdd(random, 2)],
      ['nullable', () => true],
      ['readOnly', () => random.once(2)],
      ['description', () => random.pick('words', 'a ]]> b', '\u0000', '<&>', '\ud800')],
    );
    schema[name] = random.once(60) ? makeOdd(random, 1) : make();
  }
  return schema;
}

function makeScalar(random: Random): object {
  return random.pick<object>(
    { type: 'string' },
    { type: 'string', format: random.pick('date-time', 'date', 'byte', 'binary', 'uuid', 'decimal', 'x') },
    { type: random.pick('integer', 'number'), format: random.pick('int32', 'int64', 'double', 'x') },
    { type: 'boolean' },
    { type: 'null' },
    {},
    { enum: Array.from({ length: random.below(4) }, () => makeOdd(random, 0)) },
    { const: makeOdd(random, 1) },
    {
      type: 'string',
      pattern: random.pick('^a+$', '(a|b)*', '[', '\\p{L}', '(?=a)', 'a{1000}', '(a{50}){50}'),
      minLength: -1,
      maxLength: 1e9,
    },
    { type: 'integer', minimum: 5, maximum: 1, multipleOf: 0, exclusiveMinimum: true },
    { type: 'array', items: makeReference(random), minItems: 1e9, uniqueItems: true },
  );
}

function makeContent(random: Random): object {
  const type = random.pick(
    'application/json',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/jsonl',
    'application/octet-stream',
    'application/merge-patch+json',
    'application/xml',
    '*/*',
    'x',
  );
  const encoding = makeRecord(random, 2, () => ({ contentType: 'image/png', style: 'form', headers: {} }));
  return { [type]: { schema: makeSchema(random, 3), ...(random.once(4) && { encoding }) } };
}

/** Returns a parameter, mostly with a location and style of OpenAPI. */
function makeParameter(random: Random, name: string): object {
  const [where, ...styles] = random.pick<readonly [string, string, ...string[]]>(
    ['query', 'form', 'deepObject', 'pipeDelimited', 'spaceDelimited'],
    ['header', 'simple'],
    ['cookie', 'form'],
    random.once(4) ? ['path', 'simple', 'label', 'matrix'] : ['query', 'form'],
  );
  return {
    name,
    in: where,
    required: where === 'path',
    ...(random.once(3) && { style: random.once(20) ? 'x' : styles[random.below(styles.length)] }),
    ...(random.once(3) && { explode: random.once(2) }),
    ...(random.once(8) ? { content: makeContent(random) } : { schema: makeSchema(random, 2) }),
  };
}

function makeOperation(random: Random): object {
  const parameters = Array.from({ length: random.below(3) }, () =>
    makeParameter(random, random.once(12) ? random.pick('x y', '') : random.pick('id', 'A')),
  );
  const response = (): object => ({
    description: 'x',
    content: makeContent(random),
    headers: makeRecord(random, 1, () => ({ schema: makeScalar(random) })),
  });
  return {
    ...(random.once(2) && { operationId: random.pick('a', 'getA', 'class', '1', 'é', 'Envelope') }),
    parameters,
    ...(random.once(2) && { requestBody: { required: random.once(2), content: makeContent(random) } }),
    responses: random.once(20)
      ? makeOdd(random, 1)
      : { [random.pick('200', '200', '201', '2XX', '204', 'default', '302')]: response() },
    ...(random.once(6) && { servers: [{ url: random.pick('/', 'https://{a}.example/', 'x', '//') }] }),
    ...(random.once(6) && { security: [makeRecord(random, 1, () => [])] }),
  };
}

/** Returns a document, half the time a small one. */
function makeDocument(random: Random): object {
  const depth = random.pick(1, 1, 2, 4);
  const methods = (): object =>
    Object.fromEntries(
      Array.from({ length: 1 + random.below(depth) }, () => [
        random.pick('get', 'post', 'put', 'delete', random.once(20) ? 'trace' : 'patch'),
        makeOperation(random),
      ]),
    );
  const other = random.pick('/a/{id}', '/{A}/{id}', '/b?x=1', 'c', '/{}', '/a b');
  const schemes = (): object =>
    random.pick<object>(
      { type: 'http', scheme: 'bearer' },
      { type: 'apiKey', in: 'header', name: 'X-Key' },
      { type: 'oauth2' },
    );
  return {
    openapi: random.once(30) ? makeOdd(random, 1) : random.pick('3.1.0', '3.0.3'),
    info: { title: random.pick('T', '', '1', '漢字', 'a b'), version: '1' },
    paths: { '/a': methods(), ...(random.once(3) && { [other]: methods() }) },
    components: {
      schemas: { A: makeSchema(random, depth), B: makeSchema(random, depth - 1), C: makeScalar(random) },
      ...(random.once(6) && { parameters: { A: makeParameter(random, 'p') } }),
      ...(random.once(6) && { securitySchemes: makeRecord(random, 2, schemes) }),
    },
  };
}

function makeOverlay(random: Random): object {
  const keys: readonly (readonly [string, unknown])[] = [
    ['dialect', random.pick('plain', 'plain', 'servicestack')],
    ['validate', 'strict'],
    ['json', 'tree'],
    ['reply', 'envelope'],
    ['order', 'ordinal'],
    ['names', 'upper-first'],
    ['deepLists', 'bare'],
    ['documentation', random.pick('types', 'none')],
    ['basePath', random.pick('/v1', '/')],
    ['namespaces', { types: 'urn:x' }],
    ['personal', ['id']],
    ['upstreamTimeZone', random.pick('UTC', 'Europe/Berlin')],
    ['credentials', { headers: { id: 'X-Id' }, secret: ['id'], send: 'headers' }],
  ];
  const seldom: readonly (readonly [string, unknown])[] = [
    ['operations', makeRecord(random, 2, () => ({ readOnly: true, name: 'A', as: ['text/plain'] }))],
    ['types', makeRecord(random, 2, () => ({ order: ['id'], item: random.pick('a', '') }))],
    ['credentials', { member: 'authentication', headers: { id: 'X-Id' }, send: 'body' }],
    ['routes', { [random.pick('GET /x/{Id}', 'PUT /', 'x')]: random.pick('a', 'getA') }],
    ['refs', makeRecord(random, 1, () => '.')],
    ['servers', makeRecord(random, 1, () => ({ upstream: 'http://x' }))],
    ['namespaces', { types: random.pick('x', 'http://x/<') }],
    [random.pick('x', 'dialect', 'validate', 'basePath'), makeOdd(random, 1)],
  ];
  return Object.fromEntries([...keys.filter(() => random.once(5)), ...seldom.filter(() => random.once(60))]);
}

function makeInput(random: Random): string {
  const document = JSON.stringify(makeDocument(random));
  const text = random.once(3)
    ? document
    : random.once(2)
      ? JSON.stringify(JSON.parse(document), undefined, 1)
      : yamlOf(JSON.parse(document));
  return random.once(2) ? text : text + separator + JSON.stringify(makeOverlay(random));
}

/** Writes a value as YAML in block style, so that mutations affect YAML's syntax. */
function yamlOf(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)}\n`;
  const entries = Object.entries(value);
  if (entries.length === 0) return Array.isArray(value) ? ' []\n' : ' {}\n';
  const lines = entries.map(
    ([key, inner]) =>
      `${indent}${Array.isArray(value) ? '-' : `${JSON.stringify(key)}:`}${yamlOf(inner, `${indent}  `)}`,
  );
  return `${indent === '' ? '' : '\n'}${lines.join('')}`;
}
