import { isReference, scalarTable } from '../../codec/scalars/table.ts';
import type { Field } from '../../contract/model.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { someOf } from '../document/node.ts';
import type { Dialect } from '../overlay/dialects.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** A field while its record is built. */
export type FieldDraft = { -readonly [key in keyof Field]: Field[key] };

/** What decides whether a field is nillable, once it is known who reaches its record (W33). */
export interface FieldFacts {
  readonly field: FieldDraft;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

/** Puts a record's fields in the order of the wire (W18): the overlay's, or the dialect's. */
export function sortFields(name: string, fields: Field[], overlay: Overlay, report: Report): void {
  const { dialect } = overlay;
  const stated = overlay.types.get(name)?.order;
  if (stated !== undefined) {
    checkOrder(name, stated, fields, report);
    const places = new Map(stated.map((member, index) => [member, index]));
    const placeOf = ({ json }: Field): number => places.get(json) ?? -1;
    fields.sort((a, b) => placeOf(a) - placeOf(b));
    return;
  }
  if (dialect.order === 'ordinal') fields.sort((a, b) => (a.xml < b.xml ? -1 : a.xml > b.xml ? 1 : 0));
  const rank = ({ json }: Field): number => {
    const index = dialect.first.indexOf(json);
    return index === -1 ? dialect.first.length : index;
  };
  fields.sort((a, b) => rank(a) - rank(b));
}

function checkOrder(name: string, stated: readonly string[], fields: readonly Field[], report: Report): void {
  const pointer = `/types${pointerSegment(name)}/order`;
  const members = new Set(fields.map(({ json }) => json));
  for (const member of stated) {
    if (!members.has(member))
      report(pointer, `${name} has no member ${member}; expected ${someOf([...members])}`);
  }
  const named = new Set(stated);
  for (const member of members) {
    if (!named.has(member)) report(pointer, `expected all members of ${name}, ${member} is missing`);
  }
}

/** W33: all of a reply; of a request what a caller may leave out and what then means something. */
export function isNillable(
  { field: { type }, nullable, hasDefault }: FieldFacts,
  dialect: Dialect,
  inReply: boolean,
): boolean {
  if (dialect.nillable === 'declared') return nullable;
  if (inReply || hasDefault || isReference(type) || type.kind === 'enum') return true;
  return type.kind === 'scalar' && scalarTable[type.scalar].temporal === true;
}
