import type { JsonKind, Tag } from '../../contract/model.ts';
import type { Node } from '../document/node.ts';
import type { Located } from '../document/references.ts';

/** Schemas next to `oneOf`, `anyOf` or a part of `allOf`. They apply to each alternative inside. */
export interface Siblings {
  /** Schemas that each object alternative must also match. */
  readonly siblings: readonly Located[];
  /** The siblings that are not in a `$ref` target. Inline types inside are named after the alternatives. */
  readonly inlineSiblings: readonly Located[];
}

/** One alternative type for the values of a schema. */
export interface Alternative extends Siblings, Located {
  readonly node: Node;
  /** `any` if no closed type fits. */
  readonly kind: JsonKind;
  /** True for a complete `$ref` target. Its type is that of all references to it. */
  readonly isShared: boolean;
  /** True for a type that has subtypes, if it is an alternative next to them. */
  readonly isBaseType: boolean;
  /** True if the alternative is in a `$ref` target. Inline types inside are named after their pointers. */
  readonly isInTarget: boolean;
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
