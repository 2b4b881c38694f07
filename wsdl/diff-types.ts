import { isWithin, scalarTable } from '../mappings/codec/scalars/table.ts';
import { contentMembers } from '../mappings/contract/members.ts';
import { type Contract, namespaces } from '../mappings/contract/model.ts';
import {
  type AdoptedMessage,
  type ComplexType,
  type ElementDeclaration,
  expanded,
  type Member,
  type Members,
  type QName,
  type SchemaType,
  type SimpleType,
} from '../mappings/contract/type-graph.ts';
import type { ScalarName } from '../mappings/contract/values.ts';
import type { Direction, ReportChange } from './changes.ts';

/** The namespaces of a contract, before and after a change. */
export type Namespaces = Readonly<Record<'before' | 'after', Contract['namespaces']>>;

/** Compares messages and types of one direction as clients see them. Each pair of types is compared once. */
export class TypeComparison {
  readonly #report: ReportChange;
  readonly #direction: Direction;
  readonly #namespaces: Namespaces;
  readonly #seen = new Map<SchemaType, Set<SchemaType>>();

  constructor(report: ReportChange, direction: Direction, names: Namespaces) {
    this.#report = report;
    this.#direction = direction;
    this.#namespaces = names;
  }

  messages(operation: string, before: AdoptedMessage, after: AdoptedMessage): void {
    const where = `${operation} in ${this.#direction}`;
    const [old, next] = [wrapperOf(before), wrapperOf(after)];
    if (this.#key('before', old) !== this.#key('after', next))
      this.#report(
        'breaking',
        where,
        `${shownWrapper(old)} is ${shownWrapper(next)}`,
        'the body is found by the name of its element',
      );
    else if (before.body.kind === 'element' && after.body.kind === 'element')
      this.types(where, before.body.element.type, after.body.element.type);
    else if (before.body.kind === 'rpc' && after.body.kind === 'rpc')
      this.#elements(where, partsOf(before.body.parts), partsOf(after.body.parts));
    this.#headers(where, before, after);
  }

  #headers(where: string, before: AdoptedMessage, after: AdoptedMessage): void {
    const headers = new Map(after.headers.map((element) => [expanded(element.name), element]));
    for (const { name, type } of before.headers) {
      const other = headers.get(expanded(name));
      const what = `the header block ${name.local} is gone`;
      if (other !== undefined) this.types(`${where} header ${name.local}`, type, other.type);
      else if (this.#direction === 'requests')
        this.#report('strict', where, what, 'it is passed over; with mustUnderstand the call is refused');
      else this.#report('breaking', where, what, 'clients look for it');
    }
  }

  types(where: string, before: SchemaType, after: SchemaType): void {
    const { name } = before;
    const isOfSchema = name !== undefined && name.namespace !== namespaces.xsd;
    if (isOfSchema || before.kind === 'complex') {
      const known = this.#seen.get(before) ?? new Set();
      if (known.has(after)) return;
      this.#seen.set(before, known.add(after));
    }
    const at = isOfSchema ? `${name.local} in ${this.#direction}` : where;
    if (before.kind === 'simple' && after.kind === 'simple') this.#simple(at, before, after);
    else if (before.kind === 'complex' && after.kind === 'complex') this.#complex(at, before, after);
    else this.#shape(at, before.kind === 'complex');
  }

  #shape(where: string, hadElements: boolean): void {
    const what = hadElements ? 'elements are a text' : 'a text is elements';
    this.#report('breaking', where, what, 'no value of one is one of the other');
  }

  #simple(where: string, before: SimpleType, after: SimpleType): void {
    const [old, next] = [kindOf(before), kindOf(after)];
    if (old === next) {
      this.#values(where, before.facets.enumeration, after.facets.enumeration);
      return;
    }
    const [narrow, wide] = this.#direction === 'requests' ? [before, after] : [after, before];
    if (fits(narrow, wide))
      this.#report('compatible', where, `${old} is ${next}`, 'every value fits the other');
    else this.#report('breaking', where, `${old} is ${next}`, 'values of one may be none of the other');
  }

  #values(where: string, old: readonly string[] | undefined, next: readonly string[] | undefined): void {
    const isRequest = this.#direction === 'requests';
    if (old === undefined && next !== undefined)
      this.#report(
        isRequest ? 'breaking' : 'compatible',
        where,
        'it is one of some values',
        isRequest ? 'calls with others are refused' : 'clients read any text',
      );
    if (old !== undefined && next === undefined)
      this.#report(
        isRequest ? 'compatible' : 'strict',
        where,
        'it is any text',
        isRequest ? 'clients send the values that they know' : 'proxies have constants alone, and may fail',
      );
    if (old === undefined || next === undefined) return;
    const [before, after] = [new Set(old), new Set(next)];
    const lost = old.filter((value) => !after.has(value));
    const gained = next.filter((value) => !before.has(value));
    if (lost.length > 0)
      this.#report(
        isRequest ? 'breaking' : 'compatible',
        where,
        `${listed(lost)} gone`,
        isRequest ? 'calls with such a value are refused' : 'clients no longer meet it',
      );
    if (gained.length > 0)
      this.#report(
        isRequest ? 'compatible' : 'strict',
        where,
        `${listed(gained)} new`,
        isRequest
          ? 'clients that are built do not send it'
          : 'generated enums of .NET and Java refuse values they do not know',
      );
  }

  #complex(where: string, before: ComplexType, after: ComplexType): void {
    this.#attributes(where, before, after);
    const [old, next] = [membersOf(before), membersOf(after)];
    this.#elements(where, old, next);
    if (isSequence(before) && isSequence(after)) this.#order(where, old, next);
    if (before.content.kind === 'text' && after.content.kind === 'text')
      this.#simple(`${where}, its text`, before.content.type, after.content.type);
    else if (before.content.kind === 'encodedArray' && after.content.kind === 'encodedArray')
      this.types(`${where}, its items`, before.content.item, after.content.item);
    else if (isText(before) !== isText(after)) this.#shape(where, isText(after));
    this.#derived(where, before, after);
    if (!before.abstract && after.abstract && this.#direction === 'requests')
      this.#report('breaking', where, 'it is abstract', 'calls that name no derived type are refused');
  }

  #derived(where: string, before: ComplexType, after: ComplexType): void {
    const others = new Map(after.derived.flatMap((type) => (type.name ? [[expanded(type.name), type]] : [])));
    for (const type of before.derived) {
      if (type.name === undefined) continue;
      const other = others.get(expanded(type.name));
      others.delete(expanded(type.name));
      const what = `the derived type ${type.name.local} is gone`;
      if (other !== undefined) this.types(where, type, other);
      else if (this.#direction === 'requests')
        this.#report('breaking', where, what, 'calls that name it are refused');
    }
    if (this.#direction === 'requests') return;
    for (const { name } of others.values())
      this.#report(
        'strict',
        where,
        `the derived type ${name?.local} is new`,
        'proxies know no class for it, and fail where it comes',
      );
  }

  #attributes(where: string, before: ComplexType, after: ComplexType): void {
    const others = new Map(after.attributes.map((use) => [expanded(use.name), use]));
    for (const use of before.attributes) {
      const other = others.get(expanded(use.name));
      others.delete(expanded(use.name));
      const name = `${where}, attribute ${use.name.local}`;
      if (other === undefined) this.#removed(name, use.required, after.anyAttribute);
      else {
        this.#needed(name, use.required, other.required, true);
        this.#simple(name, use.type, other.type);
      }
    }
    for (const use of others.values()) this.#isNew(`${where}, attribute ${use.name.local}`, use.required);
  }

  #elements(where: string, before: Members, after: Members): void {
    const isOpen = after.members.some(({ kind }) => kind === 'any');
    const others = new Map(after.members.map((member) => [this.#memberKey('after', member), member]));
    const old = new Map(before.members.map((member) => [this.#memberKey('before', member), member]));
    const added = [...others].flatMap(([key, member]) => (old.has(key) ? [] : [member]));
    const formerNames = new Set(before.members.map(({ json }) => json));
    for (const [key, member] of old) {
      const other = others.get(key);
      const name = `${where}, ${shownName(member)}`;
      // a new element of the same JSON member is a renamed element
      const renamed = added.find(({ json }) => json === member.json);
      if (other !== undefined) this.#member(name, member, other);
      else if (renamed !== undefined)
        this.#report('breaking', name, `it is <${shownName(renamed)}>`, lost(this.#direction));
      else this.#removed(name, member.required || demandsOf(member) !== undefined, isOpen);
    }
    for (const member of added)
      if (!formerNames.has(member.json)) this.#isNew(`${where}, ${shownName(member)}`, member.required);
  }

  /**
   * Reports reordered elements of replies. Requests are read in any order, but some clients need the declared order.
   */
  #order(where: string, before: Members, after: Members): void {
    if (this.#direction === 'requests') return;
    const keys = (side: keyof Namespaces, { members }: Members): readonly string[] =>
      members.map((member) => this.#memberKey(side, member));
    const [old, next] = [keys('before', before), keys('after', after)];
    const [known, kept] = [new Set(old), new Set(next)];
    const sequence = next.filter((key) => known.has(key));
    const moved = old.filter((key) => kept.has(key)).findIndex((key, index) => sequence[index] !== key);
    if (moved >= 0)
      this.#report(
        'breaking',
        where,
        'its elements are in another order',
        'WCF reads elements that are out of order as null, zeep refuses them',
      );
  }

  #member(where: string, before: Member, after: Member): void {
    const demands = demandsOf(before);
    // replies of an OpenAPI contract may lack any element
    this.#needed(where, before.required, after.required, demands === undefined);
    if (before.repeats && !after.repeats && this.#direction === 'requests')
      this.#report('breaking', where, 'it stands once', 'calls with several are refused');
    if (!before.repeats && after.repeats && this.#direction === 'replies')
      this.#report('breaking', where, 'it stands any number of times', 'clients read one of them');
    if (before.kind === 'rounds' && after.kind === 'rounds')
      this.#elements(where, before.content, after.content);
    if (before.kind !== 'element' || after.kind !== 'element') return;
    if (this.#direction === 'requests' && demands?.notEmpty !== true && demandsOf(after)?.notEmpty === true)
      this.#report('breaking', where, 'it may no longer be empty', 'calls with an empty one are refused');
    this.#nil(where, before.element, after.element);
    const [old, next] = [before.element.type, after.element.type];
    const isNarrowed = (demands?.allowed ?? demandsOf(after)?.allowed) !== undefined;
    if (isNarrowed && old.kind === 'simple' && next.kind === 'simple') this.#simple(where, old, next);
    else this.types(where, old, next);
  }

  #nil(where: string, before: ElementDeclaration, after: ElementDeclaration): void {
    if (before.nillable === after.nillable) return;
    const isRequest = this.#direction === 'requests';
    if (after.nillable)
      this.#report(
        isRequest ? 'compatible' : 'strict',
        where,
        'it may be nil',
        isRequest ? 'clients that are built send no xsi:nil' : 'clients may have no place for that',
      );
    else if (!isRequest)
      this.#report('compatible', where, 'it can’t be nil', 'clients read a value as before');
    // a gateway with an OpenAPI contract reads every nil as null
    else if (before.demands !== undefined)
      this.#report('strict', where, 'it can’t be nil', 'calls with nil may be refused upstream');
    else this.#report('breaking', where, 'it can’t be nil', 'calls with nil are refused');
  }

  #needed(where: string, before: boolean, after: boolean, isPromise: boolean): void {
    if (before === after) return;
    if (this.#direction === 'requests') {
      if (after) this.#report('breaking', where, 'it is required', 'calls without it are refused');
      else this.#report('compatible', where, 'it may be absent', 'clients go on sending it');
    } else if (before && isPromise)
      this.#report('strict', where, 'it may be absent', 'clients may rely on it');
  }

  #removed(where: string, isReliedOn: boolean, isOpen: boolean): void {
    if (this.#direction === 'replies')
      this.#report(isReliedOn ? 'breaking' : 'strict', where, 'it is gone', 'clients look for its value');
    else if (!isOpen) this.#report('breaking', where, 'it is gone', 'calls with it are refused');
  }

  #isNew(where: string, isRequired: boolean): void {
    if (this.#direction === 'replies')
      this.#report(
        'strict',
        where,
        'it is new',
        'zeep, suds, Axis, PySimpleSOAP and SOAP::WSDL refuse elements they do not know',
      );
    else if (isRequired)
      this.#report('breaking', where, 'it is new and required', 'calls without it are refused');
    else this.#report('compatible', where, 'it is new', 'no client sends it yet');
  }

  /**
   * Returns the comparison key of a name. The contract's own namespaces have equal keys on both sides, since their
   * change is reported once.
   */
  #key(side: keyof Namespaces, name: QName | undefined): string {
    if (name === undefined) return '';
    const { types, arrays } = this.#namespaces[side];
    if (name.namespace === types && types !== '') return `types ${name.local}`;
    return name.namespace === arrays && arrays !== '' ? `arrays ${name.local}` : expanded(name);
  }

  #memberKey(side: keyof Namespaces, member: Member): string {
    return member.kind === 'element' ? this.#key(side, member.element.name) : `@${member.kind}`;
  }
}

function demandsOf(member: Member): ElementDeclaration['demands'] {
  return member.kind === 'element' ? member.element.demands : undefined;
}

/** Returns a member's name as clients know it. */
function shownName(member: Member): string {
  return member.kind === 'element' ? member.element.name.local : member.json;
}

function membersOf({ content }: ComplexType): Members {
  return content.kind === 'map' ? partsOf([content.item]) : contentMembers(content);
}

/** Returns members for elements that occur at most once. */
function partsOf(elements: readonly ElementDeclaration[]): Members {
  const particles = elements.map((element) => ({ kind: 'element', least: 0, most: 1, element }) as const);
  const particle = { kind: 'sequence', least: 1, most: 1, particles } as const;
  return contentMembers({ kind: 'elements', particle, mixed: false });
}

function isSequence({ content }: ComplexType): boolean {
  if (content.kind !== 'elements' || content.particle.kind !== 'sequence') return false;
  return content.particle.particles.every(({ kind }) => kind === 'element');
}

function isText({ content }: ComplexType): boolean {
  return content.kind === 'text' || content.kind === 'mixed';
}

function wrapperOf({ body }: AdoptedMessage): QName | undefined {
  if (body.kind === 'empty') return undefined;
  return body.kind === 'rpc' ? body.wrapper : body.element.name;
}

function shownWrapper(name: QName | undefined): string {
  return name === undefined ? 'an empty body' : expanded(name);
}

/** Describes the values of a simple type without its restrictions. */
function kindOf({ variety, builtIn }: SimpleType): string {
  if (variety.kind === 'list') return `a list of ${kindOf(variety.item)}`;
  return variety.kind === 'union' ? 'a union' : `xs:${builtIn}`;
}

/** Returns true if every value of `narrow` is a value of `wide`. */
function fits(narrow: SimpleType, wide: SimpleType): boolean {
  if (narrow.variety.kind !== 'atomic' || wide.variety.kind !== 'atomic') return false;
  const [one, other] = [narrow.builtIn, wide.builtIn];
  return isScalar(one) && isScalar(other) && isWithin(one, other) && wide.facets.enumeration === undefined;
}

function isScalar(name: string): name is ScalarName {
  return Object.hasOwn(scalarTable, name);
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, 5).join(', ');
  return `${shown}${values.length > 5 ? ` and ${values.length - 5} more` : ''} ${values.length === 1 ? 'is' : 'are'}`;
}

function lost(direction: Direction): string {
  return direction === 'requests'
    ? 'clients go on sending the old element, which is refused'
    : 'clients look for the old element and read nothing';
}
