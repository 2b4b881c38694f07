import { elementOf } from '../../mappings/codec/adopted/compile.ts';
import { integers, numbers } from '../../mappings/codec/adopted/facets.ts';
import { isTemporal } from '../../mappings/codec/adopted/temporal.ts';
import { zoneNamed } from '../../mappings/codec/scalars/zone.ts';
import type { BlendRule, ItemScalar } from '../../mappings/compare/blend.ts';
import { jsonFormOf, objectForm, substituteMembers } from '../../mappings/contract/members.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import {
  type AdoptedMessage,
  type BuiltIn,
  type ElementDeclaration,
  type JsonForm,
  type Member,
  messageElements,
  reachableTypes,
  type SimpleType,
} from '../../mappings/contract/type-graph.ts';
import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { parsePath } from '../../mappings/mapping/paths.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import type { StatedMigration } from '../process/migration-setting.ts';
import { checkFaults, checkOperation } from './known-names.ts';
import type { Blend, Routing } from './routing.ts';

// `migration.blend` (G28).

type Stated =
  NonNullable<StatedMigration['blend']> extends ReadonlyMap<string, infer Settings> ? Settings : never;

/** Checks `migration.blend` and reports all problems (G3). */
export function readBlends(
  stated: ReadonlyMap<string, Stated>,
  contract: Contract,
  at: string,
  report: Report,
): Routing['blends'] {
  const blends = new Map<string, Blend>();
  const names = contract.operations.map(({ name }) => name);
  for (const [name, settings] of stated) {
    const pointer = at + pointerSegment(name);
    const operation = contract.operations.find((one) => one.name === name);
    if (operation === undefined) checkOperation(name, names, pointer, report);
    else if (!operation.readOnly) report(pointer, `expected a read, got ${name}, a write`);
    else {
      const blend = new BlendReader(contract, operation, report).read(settings, pointer);
      if (blend !== undefined) blends.set(name, blend);
    }
  }
  return blends;
}

/** A place in a reply, by its path. */
type Place =
  | { readonly kind: 'form'; readonly form: JsonForm; readonly takesNull: boolean }
  | { readonly kind: 'list'; readonly item: Member }
  | { readonly kind: 'none'; readonly known: readonly string[]; readonly name: string };

class BlendReader {
  readonly #contract: Contract;
  readonly #operation: Operation;
  readonly #report: Report;

  constructor(contract: Contract, operation: Operation, report: Report) {
    this.#contract = contract;
    this.#operation = operation;
    this.#report = report;
  }

  read(stated: Stated, at: string): Blend | undefined {
    const { key, prefer = 'legacy', order, timeZone, counts = [], emptyFaults, partial = 'none' } = stated;
    const { output } = typeGraphOf(this.#contract).messagesOf(this.#operation);
    const root = replyForm(output);
    const list = this.#list(stated.list, root, at);
    const paths = counts.map((path, index) => this.#count(path, root, `${at}/counts/${index}`));
    const isZone = timeZone === undefined || this.#checkZone(timeZone, `${at}/timeZone`);
    const faults = {
      legacy: this.#faults(emptyFaults?.legacy, `${at}/emptyFaults/legacy`),
      new: this.#faults(emptyFaults?.new, `${at}/emptyFaults/new`),
    };
    if (order !== undefined && order.by === undefined)
      this.#report(`${at}/order`, 'expected by, the member to sort by, got none');
    if (list === undefined || !isZone) return undefined;
    const { item } = list;
    // in SOAP's encoding each value may be nil (A30)
    const takesNull = output?.use === 'encoded' || (item.kind === 'element' && item.element.nillable);
    const by = order?.by === undefined ? undefined : this.#scalar(order.by, item, `${at}/order/by`);
    return {
      rule: {
        list: list.path,
        readAt: readAt(root, list.path, item),
        choices: choicesAlong(root, list.path),
        takesNull,
        key: key === undefined ? undefined : this.#scalar(key, item, `${at}/key`),
        prefer,
        order: by === undefined ? undefined : { ...by, descending: order?.descending === true },
        timeZone: timeZone ?? this.#usualZone(),
        counts: paths.filter((path) => path !== undefined),
      },
      emptyFaults: faults,
      partial,
    };
  }

  #list(
    text: string | undefined,
    root: JsonForm | undefined,
    at: string,
  ): { readonly path: readonly string[]; readonly item: Member } | undefined {
    if (text === undefined) {
      this.#report(at, 'expected list, the path of a list in the reply, got none');
      return undefined;
    }
    const path = namesIn(text);
    const place = path === undefined || path.length === 0 || root === undefined ? none : placeIn(root, path);
    if (path !== undefined && place.kind === 'list') return { path, item: place.item };
    if (path !== undefined && place.kind === 'form' && place.form.kind === 'list')
      return { path, item: place.form.item };
    this.#report(`${at}/list`, `expected a path to a list in the reply, got ${text}${described(place)}`);
    return undefined;
  }

  #count(text: string, root: JsonForm | undefined, at: string): readonly string[] | undefined {
    const path = namesIn(text);
    const place = path === undefined || root === undefined ? none : placeIn(root, path);
    const type = place.kind === 'form' && place.form.kind === 'scalar' ? place.form.type : undefined;
    if (path !== undefined && type !== undefined && isInteger(type)) return path;
    this.#report(at, `expected a path to an integer in the reply, got ${text}${described(place)}`);
    return undefined;
  }

  #scalar(text: string, item: Member, at: string): ItemScalar | undefined {
    const path = namesIn(text);
    const form = formOfItem(item);
    const place = path === undefined || form === undefined ? none : placeIn(form, path);
    const type = place.kind === 'form' && place.form.kind === 'scalar' ? place.form.type : undefined;
    if (path !== undefined && type !== undefined && type.variety.kind !== 'list')
      return { path, kind: kindOf(type), whiteSpace: type.facets.whiteSpace };
    this.#report(at, `expected a path to a single scalar of an item, got ${text}${described(place)}`);
    return undefined;
  }

  /** Returns the zone of dates without an offset by the overlay; undefined for none. */
  #usualZone(): string | undefined {
    const { dates, upstreamTimeZone = 'UTC' } = this.#contract.settings;
    return dates === 'utc' ? upstreamTimeZone : undefined;
  }

  #checkZone(name: string, at: string): boolean {
    const isKnown = zoneNamed(name) !== undefined;
    if (!isKnown) this.#report(at, `expected a time zone of the IANA database, got ${name}`);
    return isKnown;
  }

  #faults(names: readonly string[] = [], at: string): ReadonlySet<string> {
    checkFaults(names, this.#contract, this.#operation.name, at, this.#report);
    return new Set(names);
  }
}

const none: Place = { kind: 'none', known: [], name: '' };

/** Returns the names in a path of members; undefined for another path. */
function namesIn(text: string): readonly string[] | undefined {
  const path = parsePath(text);
  if (path === undefined) return undefined;
  const names = path.flatMap((step) => (step.kind === 'member' ? [step.name] : []));
  return names.length === path.length ? names : undefined;
}

/** Returns the form of a reply's JSON: an object, also for a type of one repeated element (A13). */
function replyForm(output: AdoptedMessage | undefined): JsonForm | undefined {
  if (output === undefined || output.body.kind === 'empty') return undefined;
  const { type } = elementOf(output.body);
  const form = jsonFormOf(type, false);
  return form.kind === 'list' && type.kind === 'complex' && type.content.kind === 'elements'
    ? objectForm(type)
    : form;
}

function formOfItem(item: Member): JsonForm | undefined {
  if (item.kind === 'element') return formOfElement(item.element, false);
  if (item.kind === 'any') return undefined;
  return { kind: 'object', attributes: [], members: item.content, value: undefined, others: [] };
}

/**
 * Returns the form of an element's JSON. For the head of a substitution group it is an object with one member, an
 * element of the group (A20).
 */
function formOfElement(element: ElementDeclaration, once: boolean): JsonForm {
  if (element.substitutes.length === 0) return jsonFormOf(element.type, once);
  const limits = { repeats: false, least: 0, most: 1, required: false };
  const members = substituteMembers(element).map(
    (one): Member => ({
      kind: 'element',
      json: one.json,
      element: { ...one.element, substitutes: [] },
      ...limits,
    }),
  );
  const branches = members.map((_, index) => new Set([index]));
  return {
    kind: 'object',
    attributes: [],
    members: { members, choices: [{ branches }], order: undefined },
    value: undefined,
    others: [],
  };
}

function placeIn(form: JsonForm, [name, ...rest]: readonly string[]): Place {
  if (name === undefined) return { kind: 'form', form, takesNull: false };
  if (form.kind !== 'object') return { kind: 'none', known: [], name };
  const { attributes, members, value } = form;
  const scalarPlace = (type: SimpleType | undefined): Place =>
    type === undefined ? none : placeIn({ kind: 'scalar', type }, rest);
  if (name === value?.json) return scalarPlace(value.type);
  const attribute = attributes.find(({ json }) => json === name);
  if (attribute !== undefined) return scalarPlace(attribute.use.type);
  const member = members.members.find(({ json }) => json === name);
  const known = [...members.members, ...attributes].map(({ json }) => json);
  if (member === undefined) return { kind: 'none', known, name };
  if (member.repeats) return rest.length === 0 ? { kind: 'list', item: member } : none;
  if (member.kind !== 'element') return none;
  return placeIn(formOfElement(member.element, true), rest);
}

/** Returns the choices of the objects along a path, with the names of members. */
function choicesAlong(root: JsonForm | undefined, path: readonly string[]): BlendRule['choices'] {
  let form = root;
  return path.map((name) => {
    if (form?.kind !== 'object') return [];
    const { members, choices } = form.members;
    const next = members.find(({ json }) => json === name);
    form = next?.kind === 'element' ? formOfElement(next.element, true) : undefined;
    return choices.map(({ branches }) =>
      branches.map((branch) => new Set([...branch].flatMap((index) => members[index]?.json ?? []))),
    );
  });
}

/**
 * Returns the path of the list that a reader of XML reports, which has the names of elements. Returns `''` for a list
 * without an element of its own, and for one in a substitution group.
 */
function readAt(root: JsonForm | undefined, names: readonly string[], item: Member): string {
  if (item.kind !== 'element') return '';
  const locals: string[] = [];
  let form = root;
  for (const name of names) {
    const members = form?.kind === 'object' ? form.members.members : [];
    const member = members.find(({ json }) => json === name);
    if (member?.kind !== 'element' || member.element.substitutes.length > 0) return '';
    locals.push(member.element.name.local);
    form = formOfElement(member.element, true);
    if (member === item) break;
  }
  return locals.join('.');
}

/** Returns what is at a place, for an error: `, a boolean`; or the nearest name. */
function described(place: Place): string {
  if (place.kind === 'list') return ', a list';
  if (place.kind === 'none') {
    const near = nearest(place.name, place.known);
    return near === undefined ? '' : `, did you mean ${near}?`;
  }
  const { form } = place;
  if (form.kind === 'list') return ', a list';
  if (form.kind === 'xml') return ', XML';
  if (form.kind !== 'scalar') return ', an object';
  const { builtIn, variety } = form.type;
  if (variety.kind === 'list') return ', a list';
  if (builtIn === 'boolean') return ', a boolean';
  if (isInteger(form.type)) return ', an integer';
  if (numbers.has(builtIn)) return ', a number';
  return isTemporal(builtIn) ? ', a date' : ', a text';
}

function isInteger({ builtIn, variety }: SimpleType): boolean {
  return variety.kind === 'atomic' && integers.has(builtIn);
}

function kindOf({ builtIn, variety }: SimpleType): ItemScalar['kind'] {
  if (variety.kind !== 'atomic') return 'text';
  if (numbers.has(builtIn)) return 'number';
  if (isTemporal(builtIn)) return 'date';
  return kinds[builtIn] ?? 'text';
}

const kinds: { readonly [name in BuiltIn]?: ItemScalar['kind'] } = {
  boolean: 'boolean',
  duration: 'duration',
  hexBinary: 'hex',
};

/** Names of members that select a page, in lower case and without other characters than letters. */
const pagingNames =
  /^(?:page(?:no|num|number|index|size|token|start|offset)?|paging|(?:start|row)?offset|cursor|limit|skip|take|top|startindex|firstresult|max(?:results|rows|items)|(?:nextpage|next|continuation)token)$/;

/** Returns warnings about blended operations with requests for a page (G4): pages of two lists cannot be blended. */
export function pagingWarnings({ rules, blends }: Routing, contract: Contract): readonly string[] {
  return contract.operations.flatMap((operation) => {
    const isBlended = rules.some(
      ({ mode, operations }) => mode === 'blend' && operations?.has(operation.name) !== false,
    );
    if (!isBlended || !blends.has(operation.name)) return [];
    const { input } = typeGraphOf(contract).messagesOf(operation);
    const name = namesOf(input).find((one) => pagingNames.test(one.toLowerCase().replace(/[^a-z]/g, '')));
    if (name === undefined) return [];
    return [
      `blend of ${operation.name}: ${name} in the request seems to select a page, and lists in pages cannot be blended`,
    ];
  });
}

/** Returns the names of the elements and attributes of a message. */
function namesOf(message: AdoptedMessage): readonly string[] {
  const elements = messageElements(message);
  const names = new Set(message.body.kind === 'element' ? [] : elements.map(({ name }) => name.local));
  for (const type of reachableTypes(elements.map((element) => element.type))) {
    if (type.kind !== 'complex') continue;
    const { attributes, members } = objectForm(type);
    for (const { json } of [...attributes, ...members.members]) names.add(json);
  }
  return [...names];
}
