import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';

/** Imports of each project file, including types. Paths are relative to the root. */
const imports: ReadonlyMap<string, readonly string[]> = new Map(
  globSync('{console,gateway,mappings,upstream,wsdl}/**/*.ts', { cwd: root() })
    .toSorted()
    .map((file) => [file, importsOf(file)]),
);

function root(): string {
  return join(import.meta.dirname, '../..');
}

function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(root(), file), 'utf8');
  const clauses = source.matchAll(
    /^(?:import|export)\b[^;'"]*?(?:from )?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  );
  return [...clauses].map(([, named, called]) => join(dirname(file), named ?? called ?? ''));
}

/** Files that read error messages of Node or a client library, because these errors have no other data. */
const readersOfMessages = ['gateway/admission/limit-store.ts', 'gateway/upstream/cause.ts'];

test('only messages of errors from other software are parsed', (t) => {
  const reads =
    /\.message\)?\??\.(?:endsWith|includes|indexOf|match|replace|search|slice|split|startsWith)|\.(?:exec|test)\([\w.]+\.message\)/;
  const found = [...imports.keys()].filter((file) => reads.test(readFileSync(join(root(), file), 'utf8')));
  t.deepEqual(found, readersOfMessages);
});

/** Returns imports from files below `from` to files below `not`, except those below `but`, as `one → another`. */
function edges(from: readonly string[], not: readonly string[], but: readonly string[]): readonly string[] {
  return [...imports].flatMap(([file, targets]) =>
    isBelow(file, from)
      ? targets
          .filter((target) => isBelow(target, not) && !isBelow(target, but))
          .map((target) => `${file} → ${target}`)
      : [],
  );
}

function isBelow(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}/`));
}

/** Returns the import cycles, each sorted by name (Tarjan). */
function circles(): readonly (readonly string[])[] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: (readonly string[])[] = [];
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    stack.push(file);
    let low = number;
    for (const target of imports.get(file) ?? []) {
      if (!numbers.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, lowest.get(target) ?? numbers.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low === number) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) found.push(circle.toSorted());
    }
    return low;
  };
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return found;
}

test('every import leads to a file of the project', (t) => {
  t.true(imports.size > 150);
  const targets = [...imports.values()].flat();
  t.true(targets.length > 500);
  t.deepEqual(
    targets.filter((target) => !imports.has(target)),
    [],
  );
});

test('files of console/, gateway/, wsdl/ and mappings/ have no circular imports', (t) => {
  const found = circles().filter((circle) =>
    circle.some((file) => isBelow(file, ['console', 'gateway', 'mappings', 'wsdl'])),
  );
  t.deepEqual(found, []);
});

/** A rule that forbids imports between folders, including their subfolders. */
interface Layer {
  readonly title: string;
  readonly from: readonly string[];
  readonly not: readonly string[];
  /** Exceptions to `not`. */
  readonly but?: readonly string[];
}

/** Files that compile the codecs of a contract. */
const compilers = [
  'mappings/compile.ts',
  'mappings/compile-adopted.ts',
  'mappings/compile-openapi.ts',
  'mappings/compile-steps.ts',
];

const layers: readonly Layer[] = [
  {
    title: 'mappings/ knows no WSDL and no gateway',
    from: ['mappings'],
    not: ['wsdl', 'gateway', 'upstream'],
  },
  { title: 'wsdl/ knows no gateway', from: ['wsdl'], not: ['gateway', 'upstream'] },
  {
    title: 'wsdl/ writes what a contract says, however it was loaded and is called',
    from: ['wsdl'],
    not: [...compilers, 'mappings/http-mapping', 'mappings/loader'],
  },
  {
    title: 'the reference upstream knows nothing of the rest',
    from: ['upstream'],
    not: ['mappings', 'wsdl', 'gateway'],
  },
  {
    title: 'the contract is plain data, which imports nothing',
    from: ['mappings/contract'],
    not: ['mappings'],
    but: ['mappings/contract'],
  },
  {
    title: 'the type graph is made of contracts and the table of scalars',
    from: ['mappings/type-graph.ts'],
    not: ['mappings'],
    but: ['mappings/codec/scalars', 'mappings/contract'],
  },
  {
    title: 'XML and JSON are read and written whatever they are of',
    from: ['mappings/json', 'mappings/xml'],
    not: ['mappings/codec', ...compilers, 'mappings/http-mapping', 'mappings/loader'],
  },
  {
    title: 'codecs know contracts, XML and JSON',
    from: ['mappings/codec'],
    not: [...compilers, 'mappings/http-mapping', 'mappings/loader'],
  },
  {
    title: 'calls are mapped to HTTP with codecs, whoever made the contract',
    from: ['mappings/http-mapping'],
    not: [...compilers, 'mappings/loader'],
  },
  {
    title: 'the loader knows of codecs what scalars there are, and compiles nothing',
    from: ['mappings/loader'],
    not: ['mappings/codec', ...compilers],
    but: ['mappings/codec/scalars'],
  },
  {
    title: 'a mapping between two documents knows JSON and files, and neither codecs nor calls',
    from: ['mappings/mapping'],
    not: ['mappings'],
    but: [
      'mappings/contract',
      'mappings/json',
      'mappings/loader/document',
      'mappings/mapping',
      'mappings/places.ts',
    ],
  },
  {
    title: 'files are read before anything is known of schemas, operations and names',
    from: ['mappings/loader/document'],
    not: ['mappings/loader'],
    but: ['mappings/loader/document'],
  },
  {
    title: 'names are given whatever types and operations have them',
    from: ['mappings/loader/names'],
    not: ['mappings/loader/operations', 'mappings/loader/overlay', 'mappings/loader/schema'],
  },
  {
    title: 'schemas and overlays know no operations',
    from: ['mappings/loader/overlay', 'mappings/loader/schema'],
    not: ['mappings/loader/operations'],
  },
  {
    title: 'the way to threads knows nothing of what they do',
    from: ['gateway/workers'],
    not: [
      'mappings',
      'wsdl',
      'gateway/admission',
      'gateway/call',
      'gateway/http',
      'gateway/protocols',
      'gateway/core',
    ],
  },
  {
    title: 'calls, the upstream, log and admission know no way in',
    from: ['gateway/admission', 'gateway/call', 'gateway/telemetry', 'gateway/upstream'],
    not: ['gateway/http', 'gateway/protocols'],
  },
  {
    title: 'what a process and other programs have in common knows neither',
    from: [
      'gateway/admission',
      'gateway/call',
      'gateway/core',
      'gateway/http',
      'gateway/protocols',
      'gateway/telemetry',
      'gateway/upstream',
    ],
    not: ['gateway/commands', 'gateway/process', 'gateway/index.ts', 'gateway/codec.ts'],
  },
  {
    title: 'what all contracts share is put together of the rest of gateway/, which does not know it',
    from: [
      'gateway/admission',
      'gateway/call',
      'gateway/http',
      'gateway/protocols',
      'gateway/telemetry',
      'gateway/upstream',
    ],
    not: ['gateway/core'],
  },
  {
    title: 'the command line alone knows the pages, and hands them in',
    from: [
      'gateway/admission',
      'gateway/call',
      'gateway/core',
      'gateway/http',
      'gateway/process',
      'gateway/protocols',
      'gateway/telemetry',
      'gateway/upstream',
      'mappings',
      'upstream',
      'wsdl',
    ],
    not: ['console'],
  },
  {
    title: 'the pages know of the gateway what it has for them, and of the upstream nothing',
    from: ['console'],
    not: ['gateway', 'upstream'],
    but: [
      'gateway/admin/api-types.ts',
      'gateway/admin/operator-pages.ts',
      'gateway/codec.ts',
      'gateway/doctor/explain.ts',
      'gateway/http/pages.ts',
      'gateway/index.ts',
      'gateway/protocols/error-samples.ts',
      'gateway/protocols/preview.ts',
    ],
  },
  {
    title:
      'the script of the pages is the browser’s: it imports the search, the descriptions and the indenter only',
    from: ['console/client'],
    not: ['console/operators', 'console/server', 'gateway', 'mappings', 'upstream', 'wsdl'],
    but: ['wsdl/samples/indent.ts'],
  },
  {
    title: 'only the command line loads the admin listener',
    from: [
      'console/server',
      'gateway/admission',
      'gateway/call',
      'gateway/core',
      'gateway/http',
      'gateway/process',
      'gateway/protocols',
      'gateway/telemetry',
      'gateway/upstream',
    ],
    not: ['gateway/admin'],
  },
  {
    title: 'the admin listener imports no commands, no protocols and no calls',
    from: ['gateway/admin'],
    not: ['console', 'gateway/call', 'gateway/commands', 'gateway/core', 'gateway/protocols', 'wsdl'],
  },
  {
    title: 'a process knows no command',
    from: ['gateway/process'],
    not: ['gateway/commands'],
  },
];

for (const { title, from, not, but = [] } of layers) {
  test(title, (t) => {
    for (const folder of from)
      t.true(
        [...imports.keys()].some((file) => isBelow(file, [folder])),
        `expected files in ${folder}`,
      );
    t.deepEqual(edges(from, not, but), []);
  });
}
