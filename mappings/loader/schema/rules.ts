import { isFormat } from '../../codec/scalars/formats.ts';
import { canMatchPatterns, linearPattern } from '../../codec/scalars/pattern.ts';
import type { Bound, Check, Ruled, Rules } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { type Note, notesOf } from '../document/error.ts';
import { isNode, type Node } from '../document/node.ts';
import type { References } from '../document/references.ts';
import { fixedValues } from './keywords.ts';
import { schemaParts } from './resolve.ts';

/** Validation rules of a document's schemas, beyond the types. */
export class SchemaRules {
  readonly #references: References;
  readonly #validate: Settings['validate'];
  readonly #unchecked = new Map<string, string>();
  /** Rules by schema. While a schema is being read, its entry has its own checks without those of items and values. */
  readonly #known = new Map<Node, Rules | undefined>();
  readonly #checks = new Map<Node, readonly Check[]>();

  /** @param validate with `types`, there are no rules */
  constructor(references: References, validate: Settings['validate']) {
    this.#references = references;
    this.#validate = validate;
  }

  /** Returns the rules of a schema, or nothing if they are not checked. Throws OverLimit. */
  at(schema: unknown, pointer: string): Ruled {
    const rules = this.#validate === 'strict' ? this.#rulesOf(schema, pointer) : undefined;
    return rules === undefined ? {} : { rules };
  }

  /** Returns the rules of a list or map that has rules only for its items or values. Throws OverLimit. */
  inside(kind: 'items' | 'values', schema: unknown, pointer: string): Ruled {
    const { rules } = this.at(schema, pointer);
    if (rules === undefined) return {};
    return { rules: { checks: [], items: undefined, values: undefined, [kind]: rules } };
  }

  /** Keywords that cannot be checked. */
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

  /** Returns true for a `$ref` with ignored siblings. */
  #isAlone(schema: Node): boolean {
    return Object.hasOwn(schema, '$ref') && !this.#references.siblingsCount;
  }

  /** Returns the checks of the value, without those of its items and values. */
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

  /** Returns the rules of items or values. Only a list as a whole can be read-only, not an item. */
  #insideOf(schema: unknown, pointer: string): Rules | undefined {
    const rules = this.#rulesOf(schema, pointer);
    if (rules === undefined) return undefined;
    return this.#sum([{ ...rules, checks: rules.checks.filter(({ kind }) => kind !== 'readOnly') }], pointer);
  }

  /** Combines rules, including those of items and values, without repeating a check. Throws OverLimit. */
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
    // A missing package is reported at `validate` of the overlay.
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
    return boundsOf(schema, (keyword) =>
      this.#unchecked.set(
        `${pointer}/${keyword}`,
        'more than 2 to the power of 53, so digits of the document are lost',
      ),
    );
  }
}

/** @param onInexact called for a number with lost digits, which is left out */
export function boundsOf(
  schema: Node,
  onInexact: (keyword: Bound | 'multipleOf') => void = () => {},
): Check[] {
  const checks: Check[] = [];
  const numberOf = (keyword: Bound | 'multipleOf'): string | undefined => {
    const value = schema[keyword];
    if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
    onInexact(keyword);
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

/** A format without a known grammar is only an annotation. */
export function formatOf({ format }: Node): Check[] {
  return typeof format === 'string' && isFormat(format) ? [{ kind: 'format', name: format }] : [];
}

/** In OpenAPI 3.0, a boolean excludes the bound. */
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

export function countsOf(kind: 'length' | 'items' | 'members', least: unknown, most: unknown): Check[] {
  const from = typeof least === 'number' ? least : 0;
  const to = typeof most === 'number' ? most : undefined;
  return from <= 0 && to === undefined ? [] : [{ kind, least: from, most: to }];
}
