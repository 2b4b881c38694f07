import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { defaultLimits, type Limits } from '../../../../mappings/contract/limits.ts';
import type { LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { readContract } from '../../../../mappings/loader/load.ts';

const openapi = `openapi: 3.1.0
info: { title: Shelf }
paths:
  /books:
    get:
      operationId: ListBooks
      tags: [books, public]
      parameters:
        - { name: page, in: query, schema: { type: integer } }
        - { name: author, in: query, schema: { type: string } }
      responses: { 200: { description: Books. } }
  /notes:
    $ref: parts/notes.yaml
`;
const notes = 'get:\n  operationId: ListNotes\n  responses: { 200: { description: Notes. } }\n';

/** Loads the document above with one patch with these actions, and other files. */
function patched(
  t: ExecutionContext,
  actions: unknown,
  { head = {}, files = {}, limits = defaultLimits }: Given = {},
): { readonly loaded?: LoadedContract; readonly problems: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'patches-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const patch = { overlay: '1.1.0', info: { title: 'Fix', version: '1' }, actions, ...head };
  const all = {
    'openapi.yaml': openapi,
    'parts/notes.yaml': notes,
    'soap.yaml': 'patches: [fix.yaml]',
    'fix.yaml': JSON.stringify(patch, null, 1),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  try {
    return { loaded: readContract(directory, limits), problems: [] };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { problems: error.message.replaceAll(`${directory}/`, '').split('\n') };
  }
}

function withoutLines(problems: readonly string[]): readonly string[] {
  return problems.map((problem) => problem.replaceAll(/:\d+#/g, '#'));
}

interface Given {
  readonly head?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: Limits;
}

function operationsOf({ loaded, problems }: ReturnType<typeof patched>): string {
  if (loaded === undefined) return problems.join('\n');
  return loaded.contract.operations
    .map(({ name, input }) => `${name}(${input.fields.map(({ json }) => json).join(', ')})`)
    .join(' ');
}

for (const [what, actions, expected] of [
  [
    'merges an object into what is there',
    [{ target: "$.paths['/books'].get", update: { operationId: 'Books', description: 'All.' } }],
    'Books(page, author) ListNotes()',
  ],
  [
    'puts an object behind the last of a list',
    [
      {
        target: "$.paths['/books'].get.parameters",
        update: { name: 'size', in: 'query', schema: { type: 'integer' } },
      },
    ],
    'ListBooks(page, author, size) ListNotes()',
  ],
  [
    'puts a list behind a list, within objects too',
    [
      {
        target: '$',
        update: { paths: { '/books': { get: { parameters: [{ name: 'q', in: 'query', schema: {} }] } } } },
      },
    ],
    'ListBooks(page, author, q) ListNotes()',
  ],
  ['replaces a text', [{ target: '$..operationId', update: 'Shelf' }], 'Shelf(page, author) ListNotes()'],
  [
    'removes what a filter selects of a list',
    [{ target: "$..parameters[?search(@.name, '^p')]", remove: true }],
    'ListBooks(author) ListNotes()',
  ],
  [
    'removes several of a list at once',
    [{ target: '$..parameters[*]', remove: true }],
    'ListBooks() ListNotes()',
  ],
  [
    'copies what another place holds',
    [
      { target: '$.paths', update: { '/copies': { get: {} } } },
      { target: "$.paths['/copies'].get", copy: "$.paths['/books'].get" },
      { target: "$.paths['/copies'].get.operationId", update: 'ListCopies' },
    ],
    'ListBooks(page, author) ListNotes() ListCopies(page, author)',
  ],
  [
    'takes `remove: false` for none',
    [{ target: "$.paths['/books'].get.operationId", update: 'Shelf', remove: false, 'x-note': 1 }],
    'Shelf(page, author) ListNotes()',
  ],
] as const) {
  test(`a patch ${what}`, (t) => {
    t.is(operationsOf(patched(t, actions)), expected);
  });
}

test('a patch that extends another file of the document changes that file', (t) => {
  const update = [{ target: '$.get.operationId', update: 'Notes' }];
  const head = { extends: 'parts/notes.yaml' };
  t.is(operationsOf(patched(t, update, { head })), 'ListBooks(page, author) Notes()');
  const url = { extends: 'https://api.example/parts/notes.yaml' }; // the original address of the document
  t.regex(
    operationsOf(patched(t, update, { head: url })),
    /"\$\.get\.operationId" selects nothing in openapi\.yaml/,
  );
});

test('a YAML anchor used twice is patched only at the target', (t) => {
  const shared = `${openapi}  /more:
    get: &more
      operationId: More
      responses: { 200: { description: More. } }
    put: *more
`;
  const files = { 'openapi.yaml': shared };
  const actions = [{ target: "$.paths['/more'].put.operationId", update: 'PutMore' }];
  t.is(operationsOf(patched(t, actions, { files })), 'ListBooks(page, author) ListNotes() More() PutMore()');
});

const books = "$.paths['/books'].get";
for (const [what, actions, head, said] of [
  [
    'selects nothing',
    [{ target: '$.nothing', remove: true }],
    {},
    ['fix.yaml#/actions/0/target: "$.nothing" selects nothing in openapi.yaml. Expected a value'],
  ],
  [
    'is no JSONPath',
    [{ target: '$[', remove: true }],
    {},
    [/^fix\.yaml#\/actions\/0\/target: expected a JSONPath \(RFC 9535\), got "\$\[": /],
  ],
  [
    'does not begin with $',
    [{ target: 'paths', remove: true }, { update: 1 }],
    {},
    [
      'fix.yaml#/actions/0/target: expected a JSONPath, which begins with $, got "paths"',
      'fix.yaml#/actions/1/target: expected a JSONPath, which begins with $, got nothing',
    ],
  ],
  [
    'has a pattern that takes no linear time',
    [{ target: "$..[?match(@, '(?=a)b')]", remove: true }],
    {},
    [/match\(\) got "\(\?=a\)b", which is not a regular expression with linear matching time$/],
  ],
  [
    'is the document itself, to be removed',
    [{ target: '$', remove: true }],
    {},
    ['fix.yaml#/actions/0/target: expected values in the document, got the document itself'],
  ],
  [
    'selects an object and a text',
    [
      { target: "$.info['title']", update: 1 },
      { target: '$.info', update: 1 },
      { target: `${books}['operationId','tags']`, update: 'a' },
    ],
    {},
    [
      'fix.yaml#/actions/1/update: expected an object, like /info of openapi.yaml, got a text, number, boolean or null. Remove that value first',
      'fix.yaml#/actions/2/target: expected values of one kind in openapi.yaml, got a text, number, boolean or null and a list',
    ],
  ],
  [
    'puts an object where a list is',
    [{ target: books, update: { parameters: { name: 'q' } } }],
    {},
    [
      'fix.yaml#/actions/0/update/parameters: expected a list, like /paths/~1books/get/parameters of openapi.yaml, got an object. Remove that value first',
    ],
  ],
  [
    'copies several values',
    [
      { target: books, copy: '$..get' },
      { target: books, copy: '$..put' },
    ],
    {},
    ['fix.yaml#/actions/1/copy: expected one value in openapi.yaml, got none'],
  ],
  [
    'says nothing to do, or two things',
    [{ target: '$' }, { target: '$', update: {}, remove: true }],
    {},
    [
      'fix.yaml#/actions/0: expected one of update, copy and remove: true, got none',
      'fix.yaml#/actions/1: expected one of update, copy and remove: true, got update and remove',
    ],
  ],
  [
    'has keys that no Overlay has',
    [{ target: '$', updates: {} }],
    { action: [] },
    [
      'fix.yaml#/action: expected a known key, got "action". Did you mean actions?',
      'fix.yaml#/actions/0/updates: expected a known key, got "updates". Did you mean update?',
      'fix.yaml#/actions/0: expected one of update, copy and remove: true, got none',
    ],
  ],
  [
    'is of another version',
    [{ target: '$', update: {} }],
    { overlay: '2.0.0' },
    ['fix.yaml#/overlay: expected OpenAPI Overlay 1.0 or 1.1, such as "1.0.0", got "2.0.0"'],
  ],
  ['has no actions', [], {}, ['fix.yaml#/actions: expected a list of at least one action, got none']],
  [
    'is for a file that the document has not',
    [{ target: '$', update: {} }],
    { extends: 'parts/other.yaml' },
    ['fix.yaml#/extends: expected the document or a file that it references, got parts/other.yaml'],
  ],
] as const) {
  test(`a patch that ${what} is an error that names both files`, (t) => {
    const problems = withoutLines(patched(t, actions, { head }).problems);
    t.is(problems.length, said.length, problems.join('\n'));
    for (const [index, expected] of said.entries()) {
      if (typeof expected === 'string') t.is(problems[index], expected);
      else t.regex(problems[index] ?? '', expected);
    }
  });
}

test('the error for a patched value names its patch', (t) => {
  const schema = { type: 'date', $ref: '#/nowhere' };
  const update = { name: 'size', in: 'query', schema };
  const { problems } = patched(t, [{ target: `${books}.parameters`, update }]);
  t.true(problems.length > 0);
  for (const problem of problems) {
    t.true(problem.startsWith('openapi.yaml:'), problem);
    t.true(problem.endsWith(' (patched by fix.yaml:10#/actions/0/update)'), problem);
  }
  const gone = patched(t, [{ target: '$.paths.*', remove: true }]);
  t.regex(
    gone.problems.join(),
    /#\/paths: expected at least one supported operation.*\(patched by fix\.yaml:\d+#\/actions\/0\/remove\)/,
  );
  const other = patched(t, [{ target: '$.info', update: { version: '2' } }], {
    files: { 'openapi.yaml': openapi.replace('type: integer', 'type: date') },
  });
  t.notRegex(other.problems.join(), /patched/);
  t.is(other.problems.length, 1);
});

test('the error for a patch in place of the overlay describes it, and a missing file is reported', (t) => {
  const action = [{ target: '$', update: {} }];
  const overlay = '{overlay: 1.0.0, info: {title: x}, actions: []}';
  t.deepEqual(patched(t, action, { files: { 'soap.yaml': overlay } }).problems, [
    'soap.yaml#: expected the overlay of soapbridge, got an OpenAPI Overlay. List it in an overlay: `patches: [soap.yaml]`',
  ]);
  t.deepEqual(patched(t, action, { files: { 'soap.yaml': 'patches: [none.yaml]' } }).problems, [
    'none.yaml#: no such file',
  ]);
  t.deepEqual(patched(t, action, { files: { 'soap.yaml': 'patches: fix.yaml' } }).problems, [
    'soap.yaml:1#/patches: expected a list of files, got "fix.yaml"',
  ]);
});

test('member names of Object.prototype are ordinary names', (t) => {
  const target = "$.paths['/books'].get";
  const text = `{"overlay":"1.0.0","info":{},"actions":[{"target":"${target}","update":{"__proto__":{"polluted":1},"constructor":2}}]}`;
  const { loaded } = patched(t, [], { files: { 'fix.yaml': text } });
  t.truthy(loaded);
  t.is(Object.hasOwn(Object.prototype, 'polluted'), false);
  const update = [{ target: `${target}.constructor`, remove: true }];
  t.regex(operationsOf(patched(t, update)), /selects nothing/);
});

test('contractPath: a JSONPath of that many characters is read, a longer one is not', (t) => {
  const actions = [{ target: '$.info', update: {} }];
  const within = patched(t, actions, { limits: { ...defaultLimits, contractPath: 6 } });
  t.deepEqual(within.problems, []);
  const beyond = patched(t, actions, { limits: { ...defaultLimits, contractPath: 5 } });
  t.deepEqual(withoutLines(beyond.problems), [
    'fix.yaml#/actions/0/target: expected at most 5 characters in a JSONPath, got 6',
  ]);
});

test('a JSONPath with quadratic work ends at the limit of steps', (t) => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index}`, { a: { b: 1 } }]));
  const files = { 'openapi.yaml': `${openapi}x-many: ${JSON.stringify(many)}\n` };
  const actions = [{ target: '$..[?count($..*) > 1e9]', remove: true }];
  const limits = { ...defaultLimits, contractSteps: 50_000 };
  t.regex(
    withoutLines(patched(t, actions, { files, limits }).problems).join(),
    /^fix\.yaml#\/actions\/0: expected a contract of at most 50000 steps, got more steps/,
  );
});
