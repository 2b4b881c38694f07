import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import fc from 'fast-check';
import { readHead } from '../../gateway/call/head.ts';
import { compileReaders, readSoapCall } from '../../gateway/protocols/read-call.ts';
import { Fault } from '../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { canonicalize } from '../../mappings/security/canonical.ts';
import { readTree, type TreeElement } from '../../mappings/security/tree.ts';
import { contractWith } from '../gateway/gateway.ts';
import { bodyOf, cases, folder } from './captures.ts';
import { signed } from './sign.ts';

// Moves, copies, renames and re-identifies subtrees of accepted messages. Whatever is accepted gives the upstream body
// of the original.

const ends: (() => unknown)[] = [];
test.after.always(() => {
  for (const end of ends) end();
});

const at = (name: string): string => JSON.stringify(join(folder, 'keys', name));
const overlay = `wsse: { username: apiUserId, password: apiUserKey, x509: { ca: [${at('issuing.crt')}, ${at('root.crt')}], certificates: [${at('alice.crt')}], sha1: true, replay: allow } }`;
const { contract } = readContract(contractWith({ teardown: (end) => ends.push(end) }, overlay));
const readers = compileReaders(compileContract(contract, defaultLimits), Number.POSITIVE_INFINITY);
const head = readHead({ headers: { 'content-type': 'text/xml; charset=utf-8' }, rawHeaders: [] });
const address = { version: soap11, endpoint: undefined };

/** Returns the inputs of a message; undefined for a refused one. */
function inputOf(envelope: string): string | undefined {
  try {
    return readSoapCall(readers, head, address, Buffer.from(envelope)).input.text.toString();
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

const sources = [
  { envelope: signed(), time: '2026-11-27T18:00:00Z' },
  ...Object.entries(cases.captures).flatMap(([file, { default: result, receivedAt }]) => {
    if (result !== 'accepted') return [];
    const envelope = bodyOf(readFileSync(join(folder, 'captures', `${file}.http`))).toString();
    return envelope.startsWith('--') || envelope.startsWith('\r') ? [] : [{ envelope, time: receivedAt }];
  }),
];

interface Change {
  readonly kind: 'move' | 'copy' | 'wrap' | 'remove' | 'rename' | 'identify' | 'replace';
  readonly what: number;
  readonly to: number;
  readonly place: number;
}

function all(element: TreeElement): TreeElement[] {
  return [element, ...element.children.flatMap(all)];
}

/** Offsets of an element in its document. */
function rangeOf(text: string, { start, end }: TreeElement): readonly [from: number, to: number] {
  return [text.lastIndexOf('<', start - 2), Math.max(end, start)];
}

/** Changes a document once. The document has all declarations on each element, so that a moved one stays well-formed. */
function changed(text: string, { kind, what, to, place }: Change): string {
  const elements = all(readTree(text, defaultLimits).root);
  const element = elements[what % elements.length];
  const target = elements[to % elements.length];
  if (element?.parent === undefined || target === undefined) return text;
  const [from, end] = rangeOf(text, element);
  const piece = text.slice(from, end);
  const insert = place % 2 === 0 ? target.start : rangeOf(text, target)[place % 3 === 0 ? 0 : 1];
  switch (kind) {
    case 'remove':
      return text.slice(0, from) + text.slice(end);
    case 'wrap':
      return `${text.slice(0, from)}<w>${piece}</w>${text.slice(end)}`;
    case 'rename':
      return text.slice(0, from) + piece.replaceAll(element.local, target.local) + text.slice(end);
    case 'identify': {
      const ids = [...text.matchAll(/Id="([^"]*)"/g)].map(([, id]) => id);
      const id = ids[place % Math.max(1, ids.length)] ?? 'x';
      return `${text.slice(0, element.start - 1)} Id="${id}">${text.slice(element.start)}`;
    }
    case 'replace':
      return (
        text.slice(0, from) +
        piece.replaceAll('jane', 'mallory').replaceAll('demo', 'admin') +
        text.slice(end)
      );
    case 'copy':
      return (
        text.slice(0, insert) +
        piece.replaceAll(place % 5 === 0 ? 'jane' : '\0', 'mallory') +
        text.slice(insert)
      );
    case 'move':
      if (insert > from && insert < end) return text;
      return insert <= from
        ? text.slice(0, insert) + piece + text.slice(insert, from) + text.slice(end)
        : text.slice(0, from) + text.slice(end, insert) + piece + text.slice(insert);
  }
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('move', 'copy', 'wrap', 'remove', 'rename', 'identify', 'replace'),
  what: fc.nat(60),
  to: fc.nat(60),
  place: fc.nat(30),
});

test.serial('X12: a changed message is refused, or it has the inputs of the original', (t) => {
  let accepted = 0;
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    const originals = sources.map(({ envelope, time }) => {
      mock.timers.setTime(Date.parse(time));
      const tree = readTree(envelope, defaultLimits);
      // the same message without a declaration and comments
      const text = canonicalize(tree, tree.root, { kind: 'inclusive', prefixes: new Set() }, { left: 1e7 });
      return { text, time, input: inputOf(text) };
    });
    t.true(originals.every(({ input }) => input !== undefined));
    fc.assert(
      fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 4 }), (index, changes) => {
        const original = originals[index % originals.length];
        if (original === undefined) return;
        mock.timers.setTime(Date.parse(original.time));
        let text = original.text;
        for (const one of changes) {
          const next = changed(text, one);
          try {
            readTree(next, defaultLimits);
          } catch {
            continue; // not well-formed, so it is refused before its signature is read
          }
          text = next;
        }
        const input = inputOf(text);
        if (input === undefined) return;
        accepted++;
        if (input !== original.input) throw new Error(`${input}\n${text}`);
      }),
      { numRuns: 3_000 },
    );
  } finally {
    mock.timers.reset();
  }
  t.log(accepted);
  t.true(accepted > 100);
});
