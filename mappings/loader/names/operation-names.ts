import { linearPattern } from '../../codec/scalars/pattern.ts';
import { classIdentifier, pascal } from './names.ts';

/** Properties of an operation that naming rules use. */
export interface NamedOperation {
  /** `''` if it is missing. */
  readonly operationId: string;
  readonly path: string;
  /** Method in lower case. */
  readonly method: string;
  /** First tag; `''` if there is none. */
  readonly tag: string;
}

/** A naming rule of the overlay. The name applies to operations that match all its patterns. */
export interface OperationNameRule {
  readonly operationId?: string | undefined;
  readonly path?: string | undefined;
  readonly tag?: string | undefined;
  readonly method?: string | undefined;
  /** Text with placeholders, for example `{1}`, `{tag}` or `{1:singular}`. */
  readonly name: string;
}

/** A preset or a list of rules. The first matching rule applies. */
export type OperationNames = 'fastapi' | readonly OperationNameRule[];

/** Returns the name of an operation; `''` if no rule matches or the name is empty. */
export type NameOperation = (operation: NamedOperation) => string;

/** Compiles rules with validated patterns. */
export function compileOperationNames(names: OperationNames | undefined): NameOperation {
  if (names === undefined) return () => '';
  if (names === 'fastapi') return functionName;
  const rules = names.map(compileRule);
  return (operation) => {
    for (const rule of rules) {
      const name = rule(operation);
      if (name !== undefined) return name === '' ? '' : classIdentifier(name);
    }
    return '';
  };
}

/**
 * Returns the Python function name in PascalCase. FastAPI's operationId consists of this name, the path with `_` for
 * each character other than letters, digits and underscores, and the method. `''` for any other operationId.
 */
function functionName({ operationId, path, method }: NamedOperation): string {
  const id = operationId.toLowerCase();
  // A route with several methods can have any method in its operationId.
  const end = [method, 'get', 'put', 'post', 'delete', 'patch', 'head', 'options']
    .map((word) => `${path.replace(/\W/g, '_')}_${word}`.toLowerCase())
    .find((suffix) => id.endsWith(suffix));
  const name = end === undefined ? '' : pascal(operationId.slice(0, -end.length));
  return name === '' ? '' : classIdentifier(name);
}

function compileRule({
  name,
  method,
  ...criteria
}: OperationNameRule): (operation: NamedOperation) => string | undefined {
  const patterns = (['operationId', 'path', 'tag'] as const).flatMap((key) => {
    const pattern = criteria[key] === undefined ? undefined : linearPattern(`^(?:${criteria[key]})$`);
    return pattern === undefined ? [] : [{ key, pattern }];
  });
  return (operation) => {
    if (method !== undefined && method.toLowerCase() !== operation.method) return undefined;
    const values = new Map<string, string>(Object.entries(operation));
    for (const { key, pattern } of patterns) {
      const matcher = pattern.matcher(operation[key]);
      if (!matcher.find()) return undefined;
      for (let group = 1; group <= Math.min(9, matcher.groupCount()); group++)
        values.set(`${key === 'operationId' ? '' : key}${group}`, matcher.group(group) ?? '');
    }
    return name.replaceAll(/\{(\w+)(:singular)?\}/g, (_, place: string, one: string | undefined) => {
      const value = pascal(values.get(place) ?? '');
      return one === undefined ? value : singular(value);
    });
  };
}

/** Returns the singular of an English plural, derived from its ending: `Repositories` becomes `Repository`. */
function singular(word: string): string {
  if (/(?:ss|us|is|news|series)$/i.test(word)) return word;
  if (/ies$/i.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ches|shes|sses|xes|zes)$/i.test(word)) return word.slice(0, -2);
  return word.replace(/s$/i, '');
}
