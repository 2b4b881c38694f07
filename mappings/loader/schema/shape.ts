// The second pass: determines the type of each schema once. `records.ts`, `unions.ts` and `arrays.ts` build objects,
// unions, arrays and tuples, and call back for the types inside. `freeze.ts` assigns the names.
import type { ScalarName, ScalarType, Type } from '../../contract/model.ts';
import { isNode, type Node, shown } from '../document/node.ts';
import { isUnresolved, type References } from '../document/references.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { AlternativesReader } from './alternatives.ts';
import { arrayOf } from './arrays.ts';
import { isJson } from './collections.ts';
import type { TypeDrafts } from './drafts.ts';
import {
  closedValues,
  documentationOf,
  innerOf,
  integerScalar,
  isUnbounded,
  kindOf,
  numberScalar,
  stringScalar,
} from './keywords.ts';
import { objectOf } from './records.ts';
import { checkType, isReference, narrowedValues, scalarPartOf, surroundingsOf, targetOf } from './resolve.ts';
import type { SchemaRules } from './rules.ts';
import { plain, type SchemaContext, type Usage } from './schema-context.ts';
import { unionOf } from './unions.ts';

/** Maximum nesting of arrays, maps and references without an object between them. Real messages are far less deep. */
const deepest = 100;

/** Types of one document's schemas, created on demand. */
export class SchemaTypes implements SchemaContext {
  readonly references: References;
  readonly overlay: Overlay;
  readonly alternatives: AlternativesReader;
  readonly rules: SchemaRules;
  readonly drafts: TypeDrafts;
  /** Results by pointer and name for an inline type. */
  readonly #usages = new Map<string, Usage>();
  /** Schemas being read, with the number of enclosing arrays and maps. Detects a schema that contains itself. */
  readonly #open = new Map<string, number>();
  #containers = 0;
  /** Pointers of each schema. A schema with YAML aliases has several. */
  readonly #places = new Map<Node, string[]>();

  constructor(parts: Pick<SchemaContext, 'references' | 'overlay' | 'alternatives' | 'rules' | 'drafts'>) {
    this.references = parts.references;
    this.overlay = parts.overlay;
    this.alternatives = parts.alternatives;
    this.rules = parts.rules;
    this.drafts = parts.drafts;
  }

  usageOf(schema: unknown, pointer: string, name: string): Usage {
    if (!isNode(schema)) {
      const why = schema === true ? 'any value is allowed' : `expected a schema, got ${shown(schema)}`;
      return { ...this.#asJson(pointer, why), nullable: true };
    }
    const { allowance } = this.references;
    allowance.step(pointer);
    allowance.stepText(pointer, name.length + pointer.length);
    const key = `${name} ${pointer}`;
    const known = this.#usages.get(key);
    if (known !== undefined) return known;
    checkType(schema, pointer, this.references);
    if (this.#isInsideItself(schema, pointer))
      return this.#asJson(pointer, 'is an alias of an enclosing schema; expected a $ref');
    const opened = this.#open.get(key);
    // The schema contains itself without a record between. A record's type would be known already.
    if (opened !== undefined)
      return this.#asJson(
        pointer,
        opened === this.#containers
          ? 'refers to itself without an object in between; expected an object with members'
          : 'an array or map of itself',
      );
    if (this.#open.size >= deepest)
      return this.#asJson(pointer, `more than ${deepest} levels of nested arrays, maps and references`);
    this.#open.set(key, this.#containers);
    const usage = this.#read(schema, pointer, name);
    this.#open.delete(key);
    this.#usages.set(key, usage);
    return usage;
  }

  /** Returns the type of an item or value. A GUID is typed only as a member (W21). */
  itemOf(schema: unknown, pointer: string, name: string): Pick<Usage, 'type' | 'nullable'> {
    this.#containers++;
    const { type, nullable } = this.usageOf(schema, pointer, name);
    this.#containers--;
    const isGuid = type.kind === 'scalar' && type.scalar === 'guid';
    return { type: isGuid ? this.#scalar('string') : type, nullable };
  }

  shapeOf(schema: Node, pointer: string, name: string): Type {
    if (Object.hasOwn(schema, '$ref')) return this.#objectOf(schema, pointer, name);
    switch (kindOf(schema)) {
      case 'object': {
        const part = scalarPartOf(schema, pointer, this.references);
        return part === undefined
          ? this.#objectOf(schema, pointer, name)
          : this.usageOf(part.node, part.pointer, name).type;
      }
      case 'array':
        return arrayOf(this, schema, pointer, name);
      case 'string':
        return this.#stringOf(schema, pointer, name);
      case 'integer':
        return this.#scalar(integerScalar(schema));
      case 'number':
        return this.#numberOf(schema, pointer);
      case 'boolean':
        return this.#scalar('boolean');
      default:
        return this.drafts.asJson(pointer, 'it has no single type');
    }
  }

  #asJson(pointer: string, why: string): Usage {
    return plain(this.drafts.asJson(pointer, why));
  }

  #scalar(name: ScalarName): ScalarType {
    return this.drafts.collections.scalar(name);
  }

  /** Returns true for a YAML alias to an ancestor, which would nest without end. */
  #isInsideItself(schema: Node, pointer: string): boolean {
    const known = this.#places.get(schema);
    if (known === undefined) {
      this.#places.set(schema, [pointer]);
      return false;
    }
    if (known.some((place) => pointer[place.length] === '/' && pointer.startsWith(place))) return true;
    if (!known.includes(pointer)) known.push(pointer);
    return false;
  }

  /** Returns the type of the schema or its target, with the properties of both. */
  #read(schema: Node, pointer: string, name: string): Usage {
    const usage = isReference(schema, this.references)
      ? this.#readReference(schema, pointer)
      : (this.#readInner(schema, pointer, name) ?? this.#readOwn(schema, pointer, name));
    const own = surroundingsOf(schema);
    return {
      type: usage.type,
      nullable: usage.nullable || own.nullable,
      hasDefault: usage.hasDefault || own.hasDefault,
      notEmpty: usage.notEmpty || own.notEmpty,
      allowed: usage.allowed,
    };
  }

  #readReference(schema: Node, pointer: string): Usage {
    const target = targetOf(schema, pointer, this.references);
    if (isUnresolved(target)) return this.#asJson(target.pointer, target.why);
    const usage = this.usageOf(target.node, target.pointer, nameAt(target.pointer));
    return { ...usage, allowed: this.#allowedOf(schema, usage, pointer) };
  }

  /** Returns the allowed values if an `enum` next to a `$ref` narrows an enum type. */
  #allowedOf(schema: Node, { type, allowed }: Usage, pointer: string): Usage['allowed'] {
    if (type.kind !== 'enum' || !Array.isArray(schema.enum)) return allowed;
    const stated: readonly unknown[] = schema.enum.filter((value) => value !== null);
    this.references.allowance.step(pointer, stated.length + type.values.length);
    const narrowed = narrowedValues(stated, type);
    if ('values' in narrowed) return narrowed.values;
    this.drafts.contradictions.set(`${pointer}/enum`, narrowed.why);
    return allowed;
  }

  #readInner(schema: Node, pointer: string, name: string): Usage | undefined {
    const inner = innerOf(schema, pointer);
    if (inner === undefined) return undefined;
    const usage = this.usageOf(inner.node, inner.pointer, name);
    return inner.nullable ? { ...usage, nullable: true } : usage;
  }

  #readOwn(schema: Node, pointer: string, name: string): Usage {
    if (this.alternatives.hasSeveral(schema, pointer)) {
      const { list, nullable } = this.alternatives.alternativesOf(schema, pointer, name);
      return { ...plain(unionOf(this, list, schema, pointer, name)), nullable };
    }
    const type = this.shapeOf(schema, pointer, name);
    // A schema without a type also allows null.
    return { ...plain(type), nullable: isJson(type) && kindOf(schema) === undefined };
  }

  #objectOf(node: Node, pointer: string, name: string): Type {
    return objectOf(this, { parts: [{ node, pointer }], documentation: documentationOf(node), name });
  }

  #numberOf(schema: Node, pointer: string): Type {
    const scalar = numberScalar(schema);
    if (scalar === 'decimal' && this.overlay.dialect.decimals === 'of-dotnet' && isUnbounded(schema))
      this.drafts.unbounded.set(
        pointer,
        'expected a minimum and a maximum within 28 digits (decimal of .NET), got a number without them. .NET clients fail at larger numbers in replies',
      );
    return this.#scalar(scalar);
  }

  #stringOf(schema: Node, pointer: string, name: string): Type {
    const { overlay, references, drafts } = this;
    const values = Array.isArray(schema.enum) ? closedValues(schema.enum) : undefined;
    references.allowance.step(pointer, values?.length ?? 0);
    if (values === undefined)
      return this.#scalar(stringScalar(schema, overlay.dialect.formats, overlay.settings.dates));
    return drafts.register({ kind: 'enum', name, documentation: documentationOf(schema), values }, pointer);
  }
}
