import type { AdoptedOperation, NotServedPart } from '../../contract/adopted.ts';
import { unserved } from './findings.ts';
import type { XmlElement } from './xml-tree.ts';

/** An operation without its JSON name. */
export type UnnamedOperation = Omit<AdoptedOperation, 'name'>;

/** Returns the key of an operation in `names.lock`. */
export function operationKey({
  portType,
  wsdlName,
}: Pick<AdoptedOperation, 'portType' | 'wsdlName'>): string {
  return `${portType}.${wsdlName}`;
}

/**
 * Names the operations in JSON (A4): the operation's name if it is unique, or the local name of its body element if
 * that is unique, or `{portType}_{operation}`. If the name is still taken, the later operation is not served.
 */
export function nameOperations(
  operations: ReadonlyMap<XmlElement, UnnamedOperation>,
  locked: ReadonlyMap<string, string>,
  notServed: NotServedPart[],
): ReadonlyMap<XmlElement, AdoptedOperation> {
  const own = countOf([...operations.values()].map(({ wsdlName }) => wsdlName));
  const bodies = countOf([...operations.values()].map(bodyName));
  const given = new Set(locked.values());
  const taken = new Set<string>();
  const named = new Map<XmlElement, AdoptedOperation>();
  for (const [key, operation] of operations) {
    const kept = locked.get(operationKey(operation));
    const candidates = [
      ...(own.get(operation.wsdlName) === 1 ? [operation.wsdlName] : []),
      // A name that is another operation's own stays reserved for that operation.
      ...(bodies.get(bodyName(operation)) === 1 && !own.has(bodyName(operation))
        ? [bodyName(operation)]
        : []),
      `${operation.portType}_${operation.wsdlName}`,
    ];
    const free = candidates.find((name) => name !== '' && !taken.has(name) && !given.has(name));
    const name = kept !== undefined && !taken.has(kept) ? kept : free;
    if (name === undefined) {
      notServed.push(unserved(key, operationKey(operation), 'overloaded: another operation has its name'));
      continue;
    }
    taken.add(name);
    named.set(key, { name, ...operation });
  }
  return named;
}

/** Returns the local name of the body element; `''` for an empty body. */
function bodyName({ input }: UnnamedOperation): string {
  switch (input.body.kind) {
    case 'element':
      return input.body.element.name.local;
    case 'rpc':
      return input.body.wrapper.local;
    case 'empty':
      return '';
  }
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
