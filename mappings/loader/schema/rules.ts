import { isFormat } from '../../codec/scalars/formats.ts';
import { linearPattern } from '../../codec/scalars/pattern.ts';
import type { Bound, Check, Ruled, Rules, Settings } from '../../contract/model.ts';
import { isNode, type Node } from '../document/node.ts';
import type { References } from '../document/references.ts';
import { fixedValues } from './keywords.ts';

/** Reads what a document's schemas ask of values beyond their type. */
export interface RulesReader {
  /** What the schema at a place asks; nothing where that isn't checked. */
  readonly at: (schema: unknown, pointer: string) => Ruled;
  /** The same of a list or map of which nothing is asked but of what is in it. */
  readonly inside: (kind: 'items' | 'values', schema: unknown, pointer: string) => Ruled;
  /** Keywords that can't be checked. */
  readonly unchecked: () => readonly { readonly pointer: string; readonly why: string }[];
}

export function createRules(references: References, validate: Settings['validate']): RulesReader {
  const { allowance } = references;
  const { contractPattern } = allowance.limits;
  const unchecked = new Map<string, string>();
  /** By schema; one that is being read asks nothing more inside itself. */
  const known = new Map<Node, Rules | undefined>();

  const rulesOf = (schema: unknown, pointer: string): Rules | undefined => {
    if (!isNode(schema)) return undefined;
    if (known.has(schema)) return known.get(schema);
    known.set(schema, undefined);
    const alone = Object.hasOwn(schema, '$ref') && !references.siblingsCount;
    allowance.step(pointer);
    const parts = references.parts(schema, pointer).map((part) => rulesOf(part.node, part.pointer));
    const rules = sum([...parts, ...(alone ? [] : [ownRules(schema, pointer)])]);
    allowance.step(pointer, rules?.checks.length ?? 0);
    known.set(schema, rules);
    return rules;
  };

  function ownRules(schema: Node, pointer: string): Rules {
    const { items, additionalProperties } = schema;
    return {
      checks: [
        ...(schema.readOnly === true ? [{ kind: 'readOnly' } as const] : []),
        ...valuesOf(schema),
        ...countsOf('length', schema.minLength, schema.maxLength),
        ...patternOf(schema, pointer),
        ...formatOf(schema),
        ...boundsOf(schema, pointer),
        ...countsOf('items', schema.minItems, schema.maxItems),
        ...(schema.uniqueItems === true ? [{ kind: 'unique' } as const] : []),
        ...countsOf('members', schema.minProperties, schema.maxProperties),
      ],
      items: insideOf(items, `${pointer}/items`),
      values: insideOf(additionalProperties, `${pointer}/additionalProperties`),
    };
  }

  /** A list as a whole may be read only, an item by itself not. */
  function insideOf(schema: unknown, pointer: string): Rules | undefined {
    const rules = rulesOf(schema, pointer);
    return rules && sum([{ ...rules, checks: rules.checks.filter(({ kind }) => kind !== 'readOnly') }]);
  }

  function patternOf({ pattern }: Node, pointer: string): Check[] {
    if (typeof pattern !== 'string') return [];
    if (pattern.length > contractPattern) {
      unchecked.set(
        `${pointer}/pattern`,
        `expected at most ${contractPattern} characters, got ${pattern.length}`,
      );
      return [];
    }
    const compiled = linearPattern(pattern);
    allowance.step(pointer, compiled?.programSize());
    if (compiled !== undefined) return [{ kind: 'pattern', source: pattern }];
    unchecked.set(`${pointer}/pattern`, 'no regular expression that matches in linear time');
    return [];
  }

  function boundsOf(schema: Node, pointer: string): Check[] {
    const checks: Check[] = [];
    const numberOf = (keyword: Bound | 'multipleOf'): string | undefined => {
      const value = schema[keyword];
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
      unchecked.set(
        `${pointer}/${keyword}`,
        'beyond 2 to the power of 53, where digits of the document are not kept',
      );
      return undefined;
    };
    for (const bound of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const) {
      const number = numberOf(bound);
      if (number !== undefined) checks.push({ kind: 'bound', bound: exclusiveOf(schema, bound), number });
    }
    const factor = numberOf('multipleOf');
    if (factor !== undefined && Number(factor) > 0) checks.push({ kind: 'multipleOf', number: factor });
    return checks;
  }

  const at: RulesReader['at'] = (schema, pointer) => {
    const rules = validate === 'strict' ? rulesOf(schema, pointer) : undefined;
    return rules === undefined ? {} : { rules };
  };
  return {
    at,
    inside: (kind, schema, pointer) => {
      const { rules } = at(schema, pointer);
      if (rules === undefined) return {};
      return { rules: { checks: [], items: undefined, values: undefined, [kind]: rules } };
    },
    unchecked: () => [...unchecked].map(([pointer, why]) => ({ pointer, why })),
  };
}

/** A format whose grammar isn't known is a remark. */
function formatOf({ format }: Node): Check[] {
  return typeof format === 'string' && isFormat(format) ? [{ kind: 'format', name: format }] : [];
}

/** OpenAPI 3.0 says by a boolean that a bound itself is out. */
function exclusiveOf(schema: Node, bound: Bound): Bound {
  if (bound === 'minimum' && schema.exclusiveMinimum === true) return 'exclusiveMinimum';
  if (bound === 'maximum' && schema.exclusiveMaximum === true) return 'exclusiveMaximum';
  return bound;
}

function valuesOf(schema: Node): Check[] {
  const values = fixedValues(Object.hasOwn(schema, 'const') ? { enum: [schema.const] } : schema);
  if (values === undefined || values.length === 0) return [];
  return [{ kind: 'values', tokens: values.map((value) => JSON.stringify(value)) }];
}

function countsOf(kind: 'length' | 'items' | 'members', least: unknown, most: unknown): Check[] {
  const from = typeof least === 'number' ? least : 0;
  const to = typeof most === 'number' ? most : undefined;
  return from <= 0 && to === undefined ? [] : [{ kind, least: from, most: to }];
}

/** All of several rules as one, each check once; of items and values what the last one says. */
function sum(parts: readonly (Rules | undefined)[]): Rules | undefined {
  const stated = parts.filter((part) => part !== undefined);
  const checks = [...new Set(stated.flatMap((part) => part.checks))];
  const items = stated.findLast((part) => part.items !== undefined)?.items;
  const values = stated.findLast((part) => part.values !== undefined)?.values;
  const nothing = checks.length === 0 && items === undefined && values === undefined;
  return nothing ? undefined : { checks, items, values };
}
