import { linearPattern } from '../../codec/scalars/pattern.ts';
import { classIdentifier, pascal } from './names.ts';

/** What an operation of a document is told apart by. */
export interface NamedOperation {
  /** `''` for none. */
  readonly operationId: string;
  readonly path: string;
  /** In lower case. */
  readonly method: string;
  /** The first one; `''` for none. */
  readonly tag: string;
}

/** One of the overlay's rules: a pattern for each thing that it asks, and the name of what fits all of them. */
export interface OperationNameRule {
  readonly operationId?: string | undefined;
  readonly path?: string | undefined;
  readonly tag?: string | undefined;
  readonly method?: string | undefined;
  /** Text with places such as `{1}`, `{tag}` or `{1:singular}`. */
  readonly name: string;
}

/** How operations are named: by a preset or by rules, of which the first that fits counts. */
export type OperationNames = 'fastapi' | readonly OperationNameRule[];

/** Gives an operation its name; `''` where no rule fits, or none is left of it. */
export type NameOperation = (operation: NamedOperation) => string;

/** Compiles rules, whose patterns were looked at before. */
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
 * The function's name in PascalCase: FastAPI's operationId is that, the path with `_` for all that is no letter, digit or
 * underscore, and the method. `''` for any other operationId.
 */
function functionName({ operationId, path, method }: NamedOperation): string {
  const id = operationId.toLowerCase();
  // of a route with several methods, any of them
  const end = [method, 'get', 'put', 'post', 'delete', 'patch', 'head', 'options']
    .map((word) => `${path.replace(/\W/g, '_')}_${word}`.toLowerCase())
    .find((suffix) => id.endsWith(suffix));
  const name = end === undefined ? '' : pascal(operationId.slice(0, -end.length));
  return name === '' ? '' : classIdentifier(name);
}

function compileRule({
  name,
  method,
  ...asked
}: OperationNameRule): (operation: NamedOperation) => string | undefined {
  const patterns = (['operationId', 'path', 'tag'] as const).flatMap((key) => {
    const pattern = asked[key] === undefined ? undefined : linearPattern(`^(?:${asked[key]})$`);
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

/** One of what an English word says several of, as far as its end tells: `Repositories` is `Repository`. */
function singular(word: string): string {
  if (/(?:ss|us|is|news|series)$/i.test(word)) return word;
  if (/ies$/i.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ches|shes|sses|xes|zes)$/i.test(word)) return word.slice(0, -2);
  return word.replace(/s$/i, '');
}
