import { type AdoptedService, movedHeadersOf } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { deriveOpenapi } from './document.ts';

/** A place where a document and the WSDL say different things; a problem of a contract, but for the line. */
export interface DerivedDifference {
  readonly file: string;
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** What was expected, by the WSDL, and what the file has. */
  readonly message: string;
}

/** How much of a value a message shows. */
const shownCharacters = 120;

/** Lists in which order says nothing. */
const sets: ReadonlySet<string> = new Set(['required', 'enum', 'type', 'tags']);

/** Differences that are reported. */
const maxDifferences = 1_000;

/**
 * What a derived document says otherwise than the WSDL does now (A32): each difference with its JSON pointer and both sides;
 * none where they are equal. The order of keys makes no difference.
 *
 * @param root the document as plain data, as `readYamlFile` gives it
 * @param file its path, for messages
 */
export function compareDerived(
  service: AdoptedService,
  root: unknown,
  file: string,
  { settings, credentials }: Partial<Pick<Contract, 'settings' | 'credentials'>> = {},
  most = maxDifferences,
): readonly DerivedDifference[] {
  const { document } = deriveOpenapi(service, settings, movedHeadersOf({ credentials }));
  const problems: DerivedDifference[] = [];
  // what is left to compare, the next one last
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
