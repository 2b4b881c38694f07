import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type CompiledAdoptedOperation, compileAdopted } from '../../../mappings/codec/adopted/compile.ts';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { type Comparer, compileComparison } from '../../../mappings/compare/compare.ts';
import type { ReplyBytes } from '../../../mappings/compare/comparison.ts';
import { type ReplyPath, replyPathText } from '../../../mappings/compare/paths.ts';
import type { AdoptedService } from '../../../mappings/contract/adopted.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { loadAdoptedService } from '../../../mappings/loader/wsdl/load-adopted.ts';
import { firstWsdls } from '../../adopt/corpus.ts';
import { contractFolder } from '../../migration/scenario.ts';
import { readMessage } from '../codec/adopted/messages.ts';
import { type Pick, picker, randomBody, TooDeep } from '../codec/adopted/random-messages.ts';
import { envelope } from './replies.ts';

const orders = readContract(contractFolder('contracts/orders')).contract;

/** Returns a contract of a service without an overlay. */
function contractOf(service: AdoptedService): Contract {
  const [operation] = orders.operations;
  if (operation === undefined) throw new RangeError('no operation');
  return {
    ...orders,
    adopted: { service },
    operations: service.operations.map(({ name }) => ({ ...operation, name })),
  };
}

/** Returns a message with other prefixes, attributes in another order, CDATA, comments and references. */
function respelled(text: string, pick: Pick): string {
  const named = (name: string): string =>
    name.replace(/^(xmlns:)?(e|xsi)(?=:|$)/, (_, start = '', prefix) => start + (prefix === 'e' ? 'k' : 'i'));
  return text.replace(
    /<(\/?)([^\s>/]+)((?:\s+[^\s=]+="[^"]*")*)\s*(\/?)>|([^<]+)/g,
    (_, slash, name, attributes = '', end, run) => {
      if (run !== undefined) return respelledText(run, pick);
      const own = [...attributes.matchAll(/([^\s=]+)=("[^"]*")/g)].map(
        ([, its, value]) => ` ${named(its)}=${value}`,
      );
      const comment = slash === '' && pick(3) === 0 ? '<!-- <x> & -->' : '';
      return `${comment}<${slash}${named(name)}${own.toReversed().join('\n')}${end}>`;
    },
  );
}

function respelledText(run: string, pick: Pick): string {
  if (/&|^\s*$/.test(run)) return run;
  if (pick(2) === 0) return `<![CDATA[${run}]]>`;
  return `&#${run.codePointAt(0)};${run.slice((run.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)}`;
}

function reply(body: string, isWide = false): ReplyBytes {
  const text = envelope(body);
  return {
    status: 200,
    contentType: 'text/xml',
    body: isWide ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text),
  };
}

/** A scalar of a reply: its path, and its JSON with another value. */
interface Change {
  readonly path: ReplyPath;
  readonly json: string;
}

/** A number of a JSON text, with its digits. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Parses JSON. Numbers keep their digits. */
function parsed(json: string): unknown {
  return JSON.parse(json, (_key, value, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new Digits(context?.source ?? '') : value,
  );
}

function jsonOf(value: unknown): string {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`)
    .join(',')}}`;
}

/** Returns a change for each number and text that can have another value of the same kind. */
function changesOf(value: unknown, path: ReplyPath): readonly Change[] {
  if (value instanceof Digits) return [{ path, json: value.text === '77' ? '78' : '77' }];
  if (typeof value === 'string')
    return path.at(-1) === '@type' || value.includes('<')
      ? []
      : [{ path, json: JSON.stringify(`${value}zz`) }];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      changesOf(item, [...path, index]).map((change) => ({
        ...change,
        json: `[${value.map((one, at) => (at === index ? change.json : jsonOf(one))).join(',')}]`,
      })),
    );
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  return members.flatMap(([name, inner]) =>
    changesOf(inner, [...path, name]).map((change) => ({
      ...change,
      json: `{${members.map(([its, one]) => `${JSON.stringify(its)}:${its === name ? change.json : jsonOf(one)}`).join(',')}}`,
    })),
  );
}

/** Checks both properties with one reply of an operation. Returns the number of changes that were tried. */
function check(
  t: ExecutionContext,
  comparer: Comparer,
  name: string,
  { operation, reply: codec }: CompiledAdoptedOperation,
  seed: number,
): number {
  const pick = picker(seed);
  let body: string | undefined;
  try {
    body = operation.output && randomBody(operation.output.body, pick);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
  }
  if (body === undefined || codec === undefined || body.length > 20_000) return 0;
  const equal = comparer.compare(name, reply(body), reply(respelled(body, pick), pick(2) === 0));
  t.deepEqual(
    { result: equal.result, differences: equal.differences },
    { result: 'equal', differences: [] },
    body,
  );
  const changes = changesOf(parsed(readMessage(codec, body).json), []);
  const change = changes[pick(Math.max(1, changes.length))];
  if (change === undefined || change.path.length === 0) return 0;
  try {
    const written = codec.write(Buffer.from(change.json)).xml.toString();
    if (readMessage(codec, written).problems.length > 0) return 0; // the value is outside its type
    const { differences } = comparer.compare(name, reply(body), reply(written));
    t.deepEqual(
      differences.map(({ path }) => path),
      [replyPathText(change.path)],
      `${body}\n${written}`,
    );
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error; // the value has another type, e.g. a date
    return 0;
  }
  return 1;
}

function checkService(t: ExecutionContext, service: AdoptedService, numRuns: number): number {
  const comparer = compileComparison(contractOf(service));
  const { operations } = compileAdopted(service);
  let changes = 0;
  for (const [name, compiled] of operations)
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        changes += check(t, comparer, name, compiled, seed);
      }),
      { numRuns },
    );
  return changes;
}

for (const folder of ['agency', 'orders', 'types'])
  test(`another spelling of a reply of ${folder} is equal, and one change is one difference (G33, G37, G40)`, (t) => {
    t.true(checkService(t, loadAdoptedService(contractFolder(`contracts/${folder}`)).service, 60) > 5);
  });

const corpus = process.env.WSDL_CORPUS;

if (corpus === undefined || !existsSync(corpus))
  test.skip('replies of real WSDLs are compared (skipped: WSDL_CORPUS is not set)', () => {});
else
  for (const name of readdirSync(corpus).filter((one) => statSync(join(corpus, one)).isDirectory()))
    for (const wsdl of firstWsdls(join(corpus, name)))
      test.serial(
        `replies of ${name}/${wsdl}: another spelling is equal, one change is one difference (G37, G40)`,
        (t) => {
          let service: AdoptedService;
          try {
            ({ service } = loadAdoptedService(join(corpus, name), { wsdl }));
          } catch (error) {
            if (!(error instanceof ContractError)) throw error;
            t.pass();
            return;
          }
          t.log(`${checkService(t, { ...service, operations: service.operations.slice(0, 40) }, 3)} changes`);
          t.pass();
        },
      );
