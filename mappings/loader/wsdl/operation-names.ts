import type { AdoptedOperation, NotServedPart } from '../../contract/adopted.ts';
import { unserved } from './findings.ts';
import type { XmlElement } from './xml-tree.ts';

/** An operation that hasn't its JSON name yet. */
export type UnnamedOperation = Omit<AdoptedOperation, 'name'>;

/** What `names.lock` keeps an operation's name by. */
export function operationKey({
  portType,
  wsdlName,
}: Pick<AdoptedOperation, 'portType' | 'wsdlName'>): string {
  return `${portType}.${wsdlName}`;
}

/**
 * The operations with their JSON names (A4): the operation's, where no other has it; else its body element's local name,
 * where that is alone; else `{portType}_{operation}`. Of two that have the same even so, the later isn't served.
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
      // a name that another operation would have by itself stays its
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

/** `''` for a body of no element. */
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
