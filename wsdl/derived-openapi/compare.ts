import type { AdoptedService } from '../../mappings/contract/adopted.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { deriveOpenapi } from './document.ts';

/**
 * A difference between a derived document and the WSDL. It has the properties of a contract problem except the line.
 */
export interface DerivedDifference {
  readonly file: string;
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** The expected value, from the WSDL, and the value in the file. */
  readonly message: string;
}

/** Maximum number of characters of a value in a message. */
const shownCharacters = 120;

/** Keys of arrays whose order has no meaning. */
const sets: ReadonlySet<string> = new Set(['required', 'enum', 'type', 'tags']);

/** Maximum number of reported differences. */
const maxDifferences = 1_000;

/**
 * Returns the differences between a derived document and the one that the WSDL gives now (A32). Each has a JSON pointer
 * and both values. The order of keys is ignored.
 *
 * @param root the document as plain data, as `readYamlFile` returns it
 * @param file its path, for messages
 */
export function compareDerived(
  service: AdoptedService,
  root: unknown,
  file: string,
  { settings, credentials }: Partial<Pick<Contract, 'settings' | 'credentials'>> = {},
  most = maxDifferences,
): readonly DerivedDifference[] {
  const { document } = deriveOpenapi(service, settings, movedHeadersOf(credentials));
  const problems: DerivedDifference[] = [];
  // pairs that are still to be compared; the last one is next
  const waiting = [{ pointer: '', key: '', expected: document as unknown, got: root }];
  for (let next = waiting.pop(); next !== undefined && problems.length < most; next = waiting.pop()) {
    const { pointer, key, expected, got } = next;
    if (isObject(expected) && isObject(got)) {
      const keys = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
      for (const name of keys.toReversed())
        waiting.push({
          pointer: `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          key: name,
          expected: ownOf(expected, name),
          got: ownOf(got, name),
        });
    } else if (Array.isArray(expected) && Array.isArray(got) && expected.length === got.length) {
      const [its, others] = sets.has(key) ? [sorted(expected), sorted(got)] : [expected, got];
      for (let index = its.length - 1; index >= 0; index--)
        waiting.push({
          pointer: `${pointer}/${index}`,
          key: '',
          expected: its[index],
          got: others[index],
        });
    } else if (!Object.is(expected, got))
      problems.push({
        file,
        pointer,
        message: `expected ${shownValue(expected)}, as the WSDL says, got ${shownValue(got)}`,
      });
  }
  return problems;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ownOf(node: object, name: string): unknown {
  return Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  return values.toSorted((one, other) => (String(one) < String(other) ? -1 : 1));
}

function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
