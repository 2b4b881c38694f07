import type { Type } from '../../contract/model.ts';
import type { Node } from '../document/node.ts';
import type { References } from '../document/references.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { AlternativesReader } from './alternatives.ts';
import type { TypeDrafts } from './drafts.ts';
import type { Surroundings } from './resolve.ts';
import type { SchemaRules } from './rules.ts';

/** A type with the properties of its schema that a field keeps. */
export interface Usage extends Surroundings {
  readonly type: Type;
  /** Allowed enum values, if fewer than the values of the enum type. */
  readonly allowed: readonly string[] | undefined;
}

/** Dependencies of the functions that build records, unions, arrays and tuples. */
export interface SchemaContext {
  readonly references: References;
  readonly overlay: Overlay;
  readonly alternatives: AlternativesReader;
  readonly rules: SchemaRules;
  readonly drafts: TypeDrafts;
  /**
   * Returns the type of the schema at `pointer`, created once. `name` is the name for an inline type. Throws OverLimit.
   */
  readonly usageOf: (schema: unknown, pointer: string, name: string) => Usage;
  /** Like `usageOf`, for an array's items or a map's values. */
  readonly itemOf: (schema: unknown, pointer: string, name: string) => Pick<Usage, 'type' | 'nullable'>;
  /** Returns the type of a schema of one JSON type that is not a reference or a combination. */
  readonly shapeOf: (schema: Node, pointer: string, name: string) => Type;
}

/** Returns a type without additional properties. */
export function plain(type: Type): Usage {
  return { type, nullable: false, hasDefault: false, notEmpty: false, allowed: undefined };
}
