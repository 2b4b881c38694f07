import type { Type } from '../../contract/model.ts';
import type { Node } from '../document/node.ts';
import type { References } from '../document/references.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { AlternativesReader } from './alternative.ts';
import type { TypeDrafts } from './drafts.ts';
import type { Surroundings } from './resolve.ts';
import type { SchemaRules } from './rules.ts';

/** A type, and what stood around its schema that a field keeps. */
export interface Usage extends Surroundings {
  readonly type: Type;
  /** Enum values it takes, when fewer than its type has. */
  readonly allowed: readonly string[] | undefined;
}

/** What the makers of records, unions, arrays and tuples work with, and how they ask for the types inside. */
export interface SchemaContext {
  readonly references: References;
  readonly overlay: Overlay;
  readonly alternatives: AlternativesReader;
  readonly rules: SchemaRules;
  readonly drafts: TypeDrafts;
  /** The type of the schema at `pointer`, made once; `name` is what an inline type is called. Throws OverLimit. */
  readonly usageOf: (schema: unknown, pointer: string, name: string) => Usage;
  /** The same of an array's items or a map's values. */
  readonly itemOf: (schema: unknown, pointer: string, name: string) => Pick<Usage, 'type' | 'nullable'>;
  /** The type of a schema of one kind that leads to no other. */
  readonly shapeOf: (schema: Node, pointer: string, name: string) => Type;
}

/** A type with nothing around its schema. */
export function plain(type: Type): Usage {
  return { type, nullable: false, hasDefault: false, notEmpty: false, allowed: undefined };
}
