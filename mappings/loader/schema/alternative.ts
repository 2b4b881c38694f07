import type { JsonKind, Tag } from '../../contract/model.ts';
import type { Node } from '../document/node.ts';
import type { Located } from '../document/references.ts';

/** Sibling schemas that apply to each alternative. */
export interface Shared {
  /** Schemas that each object alternative must also match. */
  readonly base: readonly Located[];
  /** Schemas of `base` that are not in a `$ref` target. Inline types inside are named after the alternatives. */
  readonly own: readonly Located[];
}

/** One alternative type for the values of a schema. */
export interface Alternative extends Shared, Located {
  readonly node: Node;
  /** `any` if no closed type fits. */
  readonly kind: JsonKind;
  /** True for a complete `$ref` target, which has a type shared with other uses. */
  readonly shared: boolean;
  /** True for a base type that is an alternative next to its subtypes. */
  readonly itself: boolean;
  /** True if the alternative is in a `$ref` target. Inline types inside are named after their pointers. */
  readonly referred: boolean;
  /** Name that the name of an inline type starts with. */
  readonly owner: string;
  /** Distinguishes the alternative: a discriminator value, a fixed value or the name of the referenced schema. */
  readonly label: string | undefined;
  readonly tag: Tag | undefined;
}

/** All alternatives of a schema's values. */
export interface Alternatives {
  readonly list: readonly Alternative[];
  /** True if null is allowed. */
  readonly nullable: boolean;
}
