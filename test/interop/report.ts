import { checks, importCheck, nameOf } from './checks.ts';
import type { Result } from './judge.ts';
import type { Made } from './judge-exchange.ts';
import { exchangeGaps, knownGaps } from './known-gaps.ts';
import { isCalledBy, type ServiceResult, versionsOf } from './services/call.ts';
import { type Service, services } from './services/checks.ts';
import { serviceGaps } from './services/gaps.ts';
import type { Stack } from './stacks.ts';
import { variantNamed, variants } from './variants.ts';

/** A stack and its installed version, or undefined if it is not installed. */
export interface StackState {
  readonly stack: Stack;
  readonly installed: string | undefined;
}

const marks = { passed: '✔', failed: '✘', gap: '–' } as const;

const operations = checks.filter(({ situation }) => situation === 'call').map(nameOf);
const situations = [importCheck, ...checks].map(nameOf).filter((name) => !operations.includes(name));

/** Formats one line per check in the form that CI counts. A known gap is neither passed nor failed. */
export function resultLines(results: readonly Result[]): string {
  return results
    .map(({ stack, version, variant, check, outcome, why }) => {
      const told = outcome === 'passed' ? '' : `: ${why}`;
      const way = variant === undefined ? '' : ` ${variant.title} ›`;
      return `  ${marks[outcome]} interop › ${stack.title} ${version} ›${way} ${check}${told}\n`;
    })
    .join('');
}

/** The results of one stack in one version. */
interface Row extends Pick<Result, 'stack' | 'version'> {
  readonly results: readonly Result[];
}

/** Groups results by stack and version, in order of first occurrence. */
function rowsOf(results: readonly Result[]): readonly Row[] {
  const rows = new Map<string, Row & { readonly results: Result[] }>();
  for (const result of results) {
    const { stack, version } = result;
    const key = `${stack.name} ${version}`;
    const row = rows.get(key) ?? { stack, version, results: [] };
    row.results.push(result);
    rows.set(key, row);
  }
  return [...rows.values()];
}

/** Counts the rows of the matrix with a failed check, and lists the others. */
export function noticed(results: readonly Result[]): string {
  const rows = rowsOf(results);
  const blind = rows.filter((row) => !row.results.some(({ outcome }) => outcome === 'failed'));
  const names = blind.map(({ stack, version }) => `${stack.title} ${version}`);
  const noticing = `${rows.length - blind.length} of ${rows.length} rows noticed`;
  return names.length === 0 ? noticing : `${noticing}, but not ${names.join(', ')}`;
}

/**
 * Formats the matrix as a Markdown table: a row per stack and version, a column per situation, one column for plain
 * calls.
 */
export function matrix(results: readonly Result[]): string {
  const head = ['stack', 'SOAP', 'calls', ...situations];
  const lines = [head, head.map(() => '---')];
  for (const { stack, version, results: row } of rowsOf(
    results.filter(({ variant }) => variant === undefined),
  )) {
    const calls = row.filter(({ check }) => operations.includes(check));
    const passed = calls.filter(({ outcome }) => outcome === 'passed').length;
    const cells = situations.map((name) => {
      const result = row.find(({ check }) => check === name);
      return result === undefined ? '' : marks[result.outcome];
    });
    lines.push([stack.title, version, `${passed}/${operations.length}`, ...cells]);
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Formats the variants as a Markdown table: a row per stack and version, a column per variant. */
export function variantTable(results: readonly Result[]): string {
  const made = results.filter(({ variant }) => variant !== undefined);
  const single = ['other certificate', 'upload'];
  const head = ['stack', 'SOAP', ...variants.map(({ title }) => title), ...single];
  const rows = rowsOf(made).map(({ stack, version, results: row }) => [
    stack.title,
    version,
    ...variants.map(({ name }) => {
      const own = row.filter(({ variant, check }) => variant?.name === name && !single.includes(check));
      if (own.length === 0) return '';
      const calls = own.filter(({ check }) => operations.includes(check));
      const passed = calls.filter(({ outcome }) => outcome === 'passed').length;
      const failed = own.some(({ outcome }) => outcome === 'failed') ? ' ✘' : '';
      return `${passed}/${operations.length}${failed}`;
    }),
    ...single.map((name) =>
      row
        .filter(({ check }) => check === name)
        .map(({ outcome }) => marks[outcome])
        .join(''),
    ),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Formats one line per exchange of documents. */
export function exchangeLines(made: readonly Made[]): string {
  return made
    .map(({ stack, version, document, exchange, outcome, why }) => {
      const told = outcome === 'passed' ? '' : `: ${why}`;
      const sentence = exchange.replaceAll('-', ' ');
      return `  ${marks[outcome]} interop › ${stack.title} ${version} › ${document}: ${sentence}${told}\n`;
    })
    .join('');
}

/**
 * Formats the exchanges as a Markdown table: a row per document, a column per stack, with the number of correct
 * exchanges.
 */
export function exchangeTable(made: readonly Made[]): string {
  const stacks = [...new Set(made.map(({ stack }) => stack))];
  const head = ['document', ...stacks.map(({ title }) => title)];
  const rows = [...new Set(made.map(({ document }) => document))].map((document) => [
    document,
    ...stacks.map((stack) => {
      const own = made.filter((one) => one.document === document && one.stack === stack);
      return `${own.filter(({ outcome }) => outcome === 'passed').length}/${own.length}`;
    }),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Formats result lines of the clients of all services except the screening service. */
export function serviceLines(results: readonly ServiceResult[]): string {
  return results
    .map(({ stack, service, version, check, outcome, why }) => {
      const told = outcome === 'passed' ? '' : `: ${why}`;
      return `  ${marks[outcome]} interop › ${stack.title} ${version} › ${service.title}: ${check}${told}\n`;
    })
    .join('');
}

/** A Markdown table with a row per stack, service and SOAP version: whether the stack imports the WSDL, and the result of each check. */
export function serviceTable(
  stacks: readonly Stack[],
  screening: readonly Result[],
  results: readonly ServiceResult[],
): string {
  const head = ['stack', 'service', 'SOAP', 'WSDL by URL', 'result'];
  const rows = stacks.flatMap((stack) => [
    ...screeningRows(stack, screening),
    ...services.flatMap((service) => serviceRows(stack, service, results)),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function screeningRows(stack: Stack, screening: readonly Result[]): readonly (readonly string[])[] {
  const title = 'screening (OpenAPI document with an overlay)';
  const own = rowsOf(screening.filter((one) => one.stack === stack && one.variant === undefined));
  if (own.length === 0) return [[stack.title, title, '', '', 'no program']];
  return own.map(({ version, results }) => {
    const imported = results.find(({ check }) => check === importCheck.situation);
    const calls = results.filter(({ check }) => operations.includes(check));
    const passed = calls.filter(({ outcome }) => outcome === 'passed').length;
    const mark = imported === undefined ? '' : marks[imported.outcome];
    return [stack.title, title, version, mark, `${passed}/${calls.length} calls`];
  });
}

function serviceRows(
  stack: Stack,
  service: Service,
  results: readonly ServiceResult[],
): readonly (readonly string[])[] {
  if (!isCalledBy(stack, service)) return [[stack.title, service.title, '', '', 'no program']];
  return versionsOf(stack, service).map((version) => {
    const own = results.filter(
      (one) => one.service === service && one.stack === stack && one.version === version,
    );
    const [imported, ...checked] = own.map(({ outcome, check }) => ({ check, mark: marks[outcome] }));
    const list = checked.map(({ check, mark }) => `${mark} ${check}`).join(' · ');
    return [stack.title, service.title, version, imported?.mark ?? '', list];
  });
}

/** Returns the content of docs/interop.md. */
export function interopPage(
  states: readonly StackState[],
  results: readonly Result[],
  made: readonly Made[],
  adopted: readonly ServiceResult[],
  date: string,
): string {
  const versions = states.map(({ stack, installed }) => `| ${stack.title} | ${installed ?? 'not run'} |\n`);
  const gaps = knownGaps.map(
    ({ stack, version, variant, check, reason }) =>
      `| ${titleOf(states, stack)} | ${version ?? 'all'} | ${variant === undefined ? '' : `${variantNamed(variant).title}: `}${check} | ${reason} |\n`,
  );
  const madeGaps = exchangeGaps.map(
    ({ stack, version, document, exchange, reason }) =>
      `| ${titleOf(states, stack)} | ${version ?? 'all'} | ${document}: ${exchange.replaceAll('-', ' ')} | ${reason} |\n`,
  );
  const adoptedGapLines = serviceGaps.map(({ stack, service, version, check, reason }) => {
    const title = services.find(({ name }) => name === service)?.title ?? 'all services';
    return `| ${titleOf(states, stack)} | ${version ?? 'all'} | ${title}: ${check ?? 'all'} | ${reason} |\n`;
  });
  const losses = states.flatMap(({ stack: { title, losses = [] } }) =>
    losses.length === 0 ? [] : [`${title}: ${losses.join(', ')}.`],
  );
  return `# Client stacks

Generated by \`npm run interop -- --write\` on ${date}. Each stack imports the WSDL from the gateway's URL with its own tool and calls all twelve operations of the screening service through its own API. The upstream checks each call, and the client checks each reply. \`test/interop/README.md\` of a clone describes the programs.

✔ works · – not possible with this client ([reasons](#known-limits-of-clients)) · ✘ fails

${matrix(results)}
## Columns

| column | check |
| --- | --- |
| calls | number of the twelve operations that work |
| import | the stack's tool imports the WSDL |
| int64 | \`9007199254740993\` and \`9223372036854775807\` arrive with all digits |
| decimal | \`1234567890123456.78\` arrives with all digits |
| emoji | text outside the Basic Multilingual Plane, in both directions |
| null-empty | the client distinguishes null from empty text in a reply |
| null-absent | the client distinguishes null from an absent member in a reply |
| null-sent | a null that the client sends arrives as null |
| absent-sent | a member that the client omits is absent, and its empty text arrives as empty text |
| empty-array | an empty array arrives as an empty array, not as null, in both directions |
| date-no-zone | a time without a zone arrives unchanged, in both directions |
| date-zone | a time with a zone arrives as the same instant, in both directions |
| nested-array | arrays in records in arrays |
| base64 | the bytes of a PDF |
| map | names and values |
| in-band-error | an error of the service in an ordinary reply (\`soapErrors: in-band\`) |
| fault | an error of the service as a SOAP fault, with code and text (\`soapErrors: fault\`) |

## WS-Security and MTOM

The same calls and checks, with the credentials in a UsernameToken as text or as a digest, with MTOM in both directions, and with [signatures](overlay-keys.md#wsse). The test checks the messages on the wire. Each call is signed with an X.509 certificate, and each reply is signed. CXF, Metro and Rampart follow the policy of \`?wsdl&policy=signed\`. \`other certificate\`: a client that trusts another certificate refuses all replies. \`upload\` stores a document of 40,000 bytes in a second service and reads it back with MTOM.

${variantTable(results)}
## Public documents

The exchanges of \`test/documents\` of a clone, each in SOAP 1.1 and 1.2. The client generates its types from the WSDL of the gateway. A generic program fills and reads them. The upstream receives exactly the call that the document describes, and the client reads each member of the reply.

${exchangeTable(made)}
A check counts values as equal if the API of the client cannot distinguish them. ${losses.join(' ')}

## Services

A row per stack, service and SOAP version. \`soapbridge serve\` starts every gateway with its default settings. Each stack imports the WSDL from the URL that the start line prints; – marks a stack that cannot import this WSDL or any other. The gateway's metrics show the version of each call.

- **OpenAPI document** (\`test/interop/shop\` of a clone, without an overlay): a client reads an item, changes its name and writes it back. The item has a decimal, a double with an exponent, a time with a zone, a false boolean, and absent optional members. The upstream checks that the other members are unchanged.
- **wrapped .asmx** ([docs/adopt](adopt)): a WSDL with attributes, header blocks, a choice, \`xs:any\` and a typed fault.
- **rpc/encoded** and **document/literal bare** (\`test/fixtures/adopt\` of a clone): SOAP arrays; a WSDL of several files with a substitution group, derived types and a one-way operation. Their WSDLs have ports of SOAP 1.1 only.

${serviceTable(
  states.map(({ stack }) => stack),
  results,
  adopted,
)}
## Known limits of clients

| stack | SOAP | check | why |
| --- | --- | --- | --- |
${gaps.join('')}${madeGaps.join('')}${adoptedGapLines.join('')}
## Not run

| stack | why |
| --- | --- |
| Ruby savon | not in Debian |
| Perl XML::Compile::SOAP | Debian has XML::Compile, but not its SOAP modules |
| PHP laminas-soap | not in Debian |
| Microsoft .NET | not in Debian; the two stacks of Mono are run |

## Versions

| stack | version |
| --- | --- |
${versions.join('')}`;
}

function titleOf(states: readonly StackState[], name: string): string {
  return states.find(({ stack }) => stack.name === name)?.stack.title ?? name;
}
