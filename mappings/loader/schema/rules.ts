import { isFormat } from '../../codec/scalars/formats.ts';
import { canMatchPatterns, linearPattern } from '../../codec/scalars/pattern.ts';
import type { Bound, Check, Ruled, Rules } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { type Note, notesOf } from '../document/error.ts';
import { isNode, type Node } from '../document/node.ts';
import type { References } from '../document/references.ts';
import { fixedValues } from './keywords.ts';
import { schemaParts } from './resolve.ts';

/** What a document's schemas ask of values beyond their type. */
export class SchemaRules {
  readonly #references: References;
  readonly #validate: Settings['validate'];
  readonly #unchecked = new Map<string, string>();
  /** By schema; of one that is being read what it asks of a value, and nothing of what is in it. */
  readonly #known = new Map<Node, Rules | undefined>();
  readonly #checks = new Map<Node, readonly Check[]>();

  /** @param validate `types` for no rules at all */
  constructor(references: References, validate: Settings['validate']) {
    this.#references = references;
    this.#validate = validate;
  }

  /** What the schema at a place asks; nothing where that isn't checked. Throws OverLimit. */
  at(schema: unknown, pointer: string): Ruled {
    const rules = this.#validate === 'strict' ? this.#rulesOf(schema, pointer) : undefined;
    return rules === undefined ? {} : { rules };
  }

  /** The same of a list or map of which nothing is asked but of what is in it. */
  inside(kind: 'items' | 'values', schema: unknown, pointer: string): Ruled {
    const { rules } = this.at(schema, pointer);
    if (rules === undefined) return {};
    return { rules: { checks: [], items: undefined, values: undefined, [kind]: rules } };
  }

  /** Keywords that can't be checked. */
  unchecked(): readonly Note[] {
    return notesOf(this.#unchecked);
  }

  #rulesOf(schema: unknown, pointer: string): Rules | undefined {
    if (!isNode(schema)) return undefined;
    if (this.#known.has(schema)) return this.#known.get(schema);
    const checks = this.#checksOf(schema, pointer);
    this.#known.set(schema, { checks, items: undefined, values: undefined });
    const parts = schemaParts(schema, pointer, this.#references).map((part) =>
      this.#rulesOf(part.node, part.pointer),
    );
    const own = this.#isAlone(schema)
      ? undefined
      : {
          items: this.#insideOf(schema.items, `${pointer}/items`),
          values: this.#insideOf(schema.additionalProperties, `${pointer}/additionalProperties`),
        };
    const rules = this.#sum([{ checks, items: own?.items, values: own?.values }, ...parts], pointer);
    this.#known.set(schema, rules);
    return rules;
  }

  /** True for a `$ref` beside which nothing counts. */
  #isAlone(schema: Node): boolean {
    return Object.hasOwn(schema, '$ref') && !this.#references.siblingsCount;
  }

  /** What a schema asks of a value, but of what is in it. */
  #checksOf(schema: unknown, pointer: string): readonly Check[] {
    if (!isNode(schema)) return [];
    const known = this.#checks.get(schema);
    if (known !== undefined) return known;
    this.#checks.set(schema, []);
    const { allowance } = this.#references;
    allowance.step(pointer);
    const parts = schemaParts(schema, pointer, this.#references).flatMap((part) =>
      this.#checksOf(part.node, part.pointer),
    );
    const own = this.#isAlone(schema) ? [] : this.#ownChecks(schema, pointer);
    const checks = [...new Set([...parts, ...own])];
    allowance.step(pointer, checks.length);
    this.#checks.set(schema, checks);
    return checks;
  }

  #ownChecks(schema: Node, pointer: string): Check[] {
    return [
      ...(schema.readOnly === true ? [{ kind: 'readOnly' } as const] : []),
      ...valuesOf(schema),
      ...countsOf('length', schema.minLength, schema.maxLength),
      ...this.#patternOf(schema, pointer),
      ...formatOf(schema),
      ...this.#boundsOf(schema, pointer),
      ...countsOf('items', schema.minItems, schema.maxItems),
      ...(schema.uniqueItems === true ? [{ kind: 'unique' } as const] : []),
      ...countsOf('members', schema.minProperties, schema.maxProperties),
    ];
  }

  /** A list as a whole may be read only, an item by itself not. */
  #insideOf(schema: unknown, pointer: string): Rules | undefined {
    const rules = this.#rulesOf(schema, pointer);
    if (rules === undefined) return undefined;
    return this.#sum([{ ...rules, checks: rules.checks.filter(({ kind }) => kind !== 'readOnly') }], pointer);
  }

  /** All of several rules as one, each check once, and the same of items and values. Throws OverLimit. */
  #sum(parts: readonly (Rules | undefined)[], pointer: string): Rules | undefined {
    const stated = [...new Set(parts)].filter((part) => part !== undefined);
    const [first, ...others] = stated;
    if (first === undefined) return undefined;
    const checks = [...new Set(stated.flatMap((part) => part.checks))];
    this.#references.allowance.step(pointer, checks.length);
    const insideOf = (kind: 'items' | 'values'): Rules | undefined =>
      others.length === 0
        ? first[kind]
        : this.#sum(
            stated.map((part) => part[kind]),
            pointer,
          );
    const [items, values] = [insideOf('items'), insideOf('values')];
    const nothing = checks.length === 0 && items === undefined && values === undefined;
    return nothing ? undefined : { checks, items, values };
  }

  #patternOf({ pattern }: Node, pointer: string): Check[] {
    // the problem of a missing package is at `validate` of the overlay
    if (typeof pattern !== 'string' || !canMatchPatterns()) return [];
    const { allowance } = this.#references;
    const { contractPattern } = allowance.limits;
    if (pattern.length > contractPattern) {
      this.#unchecked.set(
        `${pointer}/pattern`,
        `expected at most ${contractPattern} characters, got ${pattern.length}`,
      );
      return [];
    }
    const compiled = linearPattern(pattern);
    allowance.step(pointer, compiled?.programSize());
    if (compiled !== undefined) return [{ kind: 'pattern', source: pattern }];
    this.#unchecked.set(`${pointer}/pattern`, 'no regular expression that matches in linear time');
    return [];
  }

  #boundsOf(schema: Node, pointer: string): Check[] {
    const checks: Check[] = [];
    const numberOf = (keyword: Bound | 'multipleOf'): string | undefined => {
      const value = schema[keyword];
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
      this.#unchecked.set(
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
