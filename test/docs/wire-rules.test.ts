import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { CallError, codesOfStatus, type ErrorCode, errorCodes, failureOf } from '../../gateway/call/error.ts';
import { soapReply, versionOf } from '../../gateway/protocols/reply.ts';
import {
  countedStatus,
  Fault,
  type FaultCode,
  type FaultKind,
  writeFault,
} from '../../gateway/protocols/soap/faults.ts';
import { soap11, soap12 } from '../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../mappings/compile.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/wire-rules.md'), 'utf8');
const rules = new Set([...page.matchAll(/^### ([WXAMRG]\d+) \S/gm)].map(([, rule = '']) => rule));

/** Files about adopted services. In other files, `A4` may be a paper size. */
const adopting = /adopt|mapping\/|commands\/map|loader\/wsdl|type-graph|contract\/members|built-in-types/;

/** Returns every rule cited in the TypeScript of these folders, with the citing files. */
function citations(folders: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.includes('node_modules')) continue;
      const file = join(folder, name);
      // longer numbers, for example "R1126", are requirements of the Basic Profile; "&#X41;" is a reference
      const citation = adopting.test(file) ? /(?<!#)\b(?:[WXAR]\d{1,2}|M\d)\b/g : /(?<!#)\b[WXRG]\d{1,2}\b/g;
      for (const [rule] of readFileSync(join(root, file), 'utf8').matchAll(citation)) {
        const files = found.get(rule);
        if (files === undefined) found.set(rule, [file]);
        else if (files.at(-1) !== file) files.push(file);
      }
    }
  }
  return found;
}

test('docs/wire-rules.md has all W, A and R rules, and its G rules, each once and in order', (t) => {
  const numbers = (letter: string, last: number) =>
    Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
  const named = [...page.matchAll(/^### ([WXAMRG]\d+) /gm)].map(([, rule]) => rule);
  const last = Math.max(...named.map((rule) => (rule?.startsWith('W') ? Number(rule.slice(1)) : 0)));
  t.true(last >= 56);
  const adopted = [...numbers('A', 34), ...numbers('M', 7)].filter((rule) => rules.has(rule));
  const signed = numbers('X', 44).filter((rule) => rules.has(rule));
  const migration = numbers('G', 74).filter((rule) => rules.has(rule));
  const beforeParts = numbers('W', 56);
  t.deepEqual(named, [
    ...beforeParts,
    ...signed,
    ...numbers('W', last).slice(56),
    ...adopted,
    ...migration,
    ...numbers('R', 10),
  ]);
});

test('docs/wire-rules.md contains every rule that code or a test cites', (t) => {
  const cited = citations(['gateway', 'mappings', 'wsdl', 'upstream', 'bench', 'test']);
  for (const [rule, files] of cited) t.true(rules.has(rule), `${rule}, cited by ${files.join(', ')}`);
});

test('every rule of docs/wire-rules.md is cited by a test', (t) => {
  const cited = citations(['test']);
  for (const rule of rules) t.true(cited.has(rule), rule);
});

/** Returns the code of a fault: the `faultcode` of SOAP 1.1, or the `Value` in the `Code` of SOAP 1.2. */
function codeIn(body: unknown): string | undefined {
  return /<(?:faultcode|s:Code><s:Value)>\w+:(\w+)</.exec(String(body))?.[1];
}

/** Returns the cells of the rows of a table that begins with this header. */
function rowsOf(header: string): string[][] {
  const [, table = ''] = page.split(`${header}\n`);
  const [rows = ''] = table.split('\n\n');
  return rows
    .split('\n')
    .slice(1)
    .map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''))
        .slice(1, -1),
    );
}

test('W29: the page lists each error code with its statuses and fault codes', (t) => {
  const openapi = join(root, 'docs/tutorial/openapi.yaml');
  const compiled = compileContract(readContract({ openapi }).contract);
  const context = { compiled, requestId: 'r', header: undefined, upstreamStatus: 0, asXml: false };
  const operation = compiled.operations.values().next().value;
  const codes = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => code !== 'CallerGone');
  const rows = rowsOf('| code | JSON | SOAP 1.1 | SOAP 1.2 | cause |');
  t.deepEqual(
    rows.map((row) => row.slice(0, 4)),
    codes.map((code) => {
      const failure = failureOf(new CallError(code), 'r', (text) => text);
      const replies = [versionOf.soap11, versionOf.soap12].map((version) => {
        const reply = soapReply(version, { kind: 'failure', failure }, { ...context, operation });
        t.is(reply.xStatus, errorCodes[code].status);
        return `${reply.status} ${codeIn(reply.body)}`;
      });
      return [code, String(errorCodes[code].status), ...replies];
    }),
  );
  for (const [status, code] of Object.entries(codesOfStatus))
    t.true(page.includes(`${status} \`${code}\``), code);
});

test('W26: the demo reports the same errors with HTTP status 200 and X-Status', (t) => {
  const compiled = compileContract(readContract(screeningContract).contract);
  const operation = compiled.operations.values().next().value;
  const context = { compiled, operation, requestId: 'r', header: undefined, upstreamStatus: 0, asXml: false };
  for (const [code, status] of rowsOf('| code | JSON | SOAP 1.1 | SOAP 1.2 | cause |')) {
    const failure = failureOf(new CallError(code as ErrorCode), 'r', (text) => text);
    const reply = soapReply(versionOf.soap11, { kind: 'failure', failure }, context);
    t.deepEqual([reply.status, String(reply.xStatus)], [200, status]);
  }
});

test('W27: the page lists each fault before an operation with its codes and its status in metrics', (t) => {
  const rows = rowsOf('| fault | SOAP 1.1 | SOAP 1.2 | counted as |');
  t.true(rows.length >= 8);
  for (const [kind = '', of11, of12, status] of rows) {
    const own = kind === 'VersionMismatch' || kind === 'MustUnderstand' ? kind : undefined;
    const code: FaultCode = own ?? (kind === 'InternalError' ? 'receiver' : 'sender');
    const texts = [soap11, soap12].map((version) =>
      codeIn(writeFault(new Fault(version, code, { detail: 'a' }, { kind: kind as FaultKind }), 'r')),
    );
    t.deepEqual([...texts, String(countedStatus(kind as FaultKind))], [of11, of12, status], kind);
  }
});
