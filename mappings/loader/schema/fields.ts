// Fields of records: names of their elements, field order and nillable fields.
import { isReference, scalarTable } from '../../codec/scalars/table.ts';
import type { AdditionalElement, Field, MapType, RecordType } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { someOf } from '../document/node.ts';
import { byCodeUnit } from '../names/names.ts';
import { elementName } from '../names/portable.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { Draft, FieldDraft, FieldFacts, TypeDrafts } from './drafts.ts';

/** Adds fields to a record. Their elements are named together with the type. `fields` is the record's own list. */
export function setFields(
  drafts: TypeDrafts,
  { settings }: Pick<Overlay, 'settings'>,
  type: RecordType,
  fields: FieldDraft[],
  ofFields: readonly FieldFacts[],
): void {
  drafts.facts.set(type, { fields, ofFields });
  for (const { field } of ofFields) fields.push(field);
  const elements = fields
    .toSorted((a, b) => byCodeUnit(a.json, b.json))
    .map((field) => ({
      path: `/properties${pointerSegment(field.json)}`,
      tail: field.json,
      wanted: () => elementName(field.json, settings.names),
      set: (xml: string) => {
        field.xml = xml;
      },
    }));
  drafts.elements.set(type, elements);
}

/**
 * Adds elements for additional properties to a record, after the elements of `setFields`.
 *
 * @param untyped map for values that do not have the type of `typed`; undefined if there are none
 */
export function setAdditionalProperties(
  drafts: TypeDrafts,
  type: Draft<RecordType>,
  typed: Omit<AdditionalElement, 'xml'>,
  untyped: MapType | undefined,
): void {
  const ofType = { ...typed, xml: '' };
  const ofJson = untyped === undefined ? undefined : { xml: '', type: untyped };
  type.additional = { typed: ofType, untyped: ofJson };
  const own = [
    { element: ofType, wanted: 'AdditionalProperties' },
    { element: ofJson, wanted: 'AdditionalJson' },
  ].flatMap(({ element, wanted }) => {
    if (element === undefined) return [];
    const set = (xml: string): void => {
      element.xml = xml;
    };
    return [{ path: `/additionalProperties/${wanted}`, tail: wanted, wanted: () => wanted, set }];
  });
  drafts.elements.set(type, [...(drafts.elements.get(type) ?? []), ...own]);
}

/** Sorts the fields of a record into wire order (W18): the order of the overlay or of the dialect. */
export function sortFields(name: string, fields: Field[], overlay: Overlay, report: Report): void {
  const { dialect, settings } = overlay;
  const stated = overlay.types.get(name)?.order;
  if (stated !== undefined) {
    checkOrder(name, stated, fields, report);
    const places = new Map(stated.map((member, index) => [member, index]));
    const placeOf = ({ json }: Field): number => places.get(json) ?? -1;
    fields.sort((a, b) => placeOf(a) - placeOf(b));
    return;
  }
  if (settings.order === 'ordinal') fields.sort((a, b) => (a.xml < b.xml ? -1 : a.xml > b.xml ? 1 : 0));
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
      report(
        pointer,
        `${name} has no member ${member}${didYouMean(member, members) || `; expected ${someOf([...members])}`}`,
      );
  }
  const named = new Set(stated);
  for (const member of members) {
    if (!named.has(member)) report(pointer, `expected all members of ${name}, ${member} is missing`);
  }
}

/** Sets whether a field is nillable (W33), and the meaning of nil if the document forbids null. */
export function setNillable(fact: FieldFacts, { dialect, settings }: Overlay, inReply: boolean): void {
  const { field } = fact;
  field.nillable = isNillable(fact, dialect.nillable, inReply);
  const isOptionalValue = !field.required && !isReference(field.type);
  if (settings.optionalValues === 'declared' || field.nillable || !isOptionalValue) return;
  field.nillable = true;
  field.nilIsAbsent = true;
}

/**
 * W33: all fields of a reply; of a request, all except numbers and booleans without a default.
 */
function isNillable(
  { field: { type }, nullable, hasDefault }: FieldFacts,
  nillable: Overlay['dialect']['nillable'],
  inReply: boolean,
): boolean {
  if (nillable === 'declared') return nullable;
  if (inReply || hasDefault || isReference(type) || type.kind === 'enum') return true;
  return type.kind === 'scalar' && scalarTable[type.scalar].temporal === true;
}
