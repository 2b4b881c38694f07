import { componentTypeName } from '../names/schema-name.ts';
import type { TypeBuilder } from '../schema/type-builder.ts';

/**
 * What the inline types of a parameter, a body or a response at a pointer are called: a component's after the component,
 * so that they are made once however many operations refer to it; others after the operation. Where `names.lock` keeps
 * names after the operation, they stay.
 */
export function sharedTypeName(pointer: string, own: string, { kept }: TypeBuilder): string {
  const shared = componentTypeName(pointer);
  return shared === undefined || kept.keepsType(own) ? own : shared;
}
