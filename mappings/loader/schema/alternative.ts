import type { JsonKind, Tag } from '../../contract/model.ts';
import type { Node } from '../document/node.ts';
import type { Located } from '../document/references.ts';

/** What stands around alternatives and holds for each of them. */
export interface Shared {
  /** What holds for each object inside. */
  readonly base: readonly Located[];
  /** What of that lies behind no `$ref`, so that its parts are called after the objects. */
  readonly own: readonly Located[];
}

/** One of the types that the values of a schema may be of. */
export interface Alternative extends Shared, Located {
  readonly node: Node;
  /** `any` where no closed type fits. */
  readonly kind: JsonKind;
  /** True for a whole schema that a `$ref` names, whose type others use too. */
  readonly shared: boolean;
  /** True for a base type as one of its own subtypes. */
  readonly itself: boolean;
  /** True where it lies behind a `$ref`, so that its parts are called after where they stand. */
  readonly referred: boolean;
  /** What an inline type of it is named after. */
  readonly owner: string;
  /** What tells it from the others: a discriminator's value, a fixed value, the name of what is referred to. */
  readonly label: string | undefined;
  readonly tag: Tag | undefined;
}

/** All that the values of a schema may be of. */
export interface Alternatives {
  readonly list: readonly Alternative[];
  /** Whether null is one of them. */
  readonly nullable: boolean;
}

/** Finds the alternatives of schemas in one document. */
export interface AlternativesReader {
  /** The types that a schema's values may be of, those of schemas it refers to or combines among them; `name` is what inline ones are named after. Throws OverLimit. */
  readonly alternativesOf: (schema: Node, pointer: string, name: string) => Alternatives;
  /** True for a schema that has more than one, by itself. Throws OverLimit. */
  readonly hasSeveral: (schema: Node, pointer: string) => boolean;
}
