import { readFileSync } from 'node:fs';
import { isRecord, readTree, type Tree, type TreeRecord } from '../tree.ts';
import { faultOf } from './checks.ts';

/** An operation's input for both libraries: members by name, repeated members as an array. */
export type Input = Readonly<Record<string, unknown>>;

/** Methods of a port as both libraries create them from the WSDL. */
export type Port = Readonly<
  Record<string, (input: Input, done: (error: Error | null, reply: unknown) => void) => void>
>;

/**
 * Makes the calls of calls.xml at a port, one after another, and prints the results. `empty` is the library's value for
 * an empty element.
 */
export async function makeCalls(
  file: string,
  version: string,
  port: Port,
  empty: null | undefined,
): Promise<void> {
  const calls = readFileSync(file, 'utf8').matchAll(/<call name="([^"]+)">(<([^\s/>]+).*?)<\/call>/gs);
  for (const [, name, request = '', operation = ''] of calls) {
    const came = await makeCall(port, operation, inputOf(readTree(request)), empty);
    console.log(JSON.stringify({ name, version, ...came }));
  }
}

function makeCall(port: Port, operation: string, input: Input, empty: null | undefined): Promise<object> {
  return new Promise((resolve) => {
    port[operation]?.(input, (error, reply) => {
      if (error === null) return resolve({ got: treeOf(reply, empty) });
      const fault = faultOf(error);
      resolve(fault === undefined ? { error: String(error) } : { fault });
    });
  });
}

function inputOf(tree: Tree): Input {
  return isRecord(tree) ? mapMembers(tree) : {};
}

function nativeOf(tree: Tree): unknown {
  return isRecord(tree) ? mapMembers(tree) : tree;
}

function mapMembers(record: TreeRecord): Input {
  return Object.fromEntries(
    Object.entries(record).map(([name, items]) => {
      const [first, ...others] = items.map(nativeOf);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
}

/** Converts a value for comparison. Attributes of the reply's elements are ignored. */
function treeOf(value: unknown, empty: null | undefined): Tree {
  if (value === empty) return '';
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Date) return { is: value.toISOString() };
  if (typeof value !== 'object') return { is: String(value) };
  const members = Object.entries(value).filter(([name]) => !/^\$?attributes$/.test(name));
  return Object.fromEntries(
    members.map(([name, member]) => [name, [member].flat().map((item) => treeOf(item, empty))]),
  );
}
