import type { Adopted, AdoptedOperation } from '../mappings/contract/adopted.ts';
import { membersOf, noMembers } from '../mappings/contract/members.ts';
import { namespaces } from '../mappings/contract/model.ts';
import {
  type AdoptedBody,
  type AdoptedMessage,
  type AttributeUse,
  type ComplexType,
  type ElementDeclaration,
  expanded,
  type Member,
  type Members,
  type SchemaType,
  type SimpleType,
} from '../mappings/contract/type-graph.ts';
import type { Direction, ReportChange } from './changes.ts';

/**
 * What differs between an adopted service's WSDL and its successor for clients that were built from the first: paths,
 * operations, and what their messages may hold, each pair of types once per direction.
 */
export function compareAdopted(before: Adopted, after: Adopted, report: ReportChange): void {
  compareEndpoints(before, after, report);
  const next = new Map(after.service.operations.map((operation) => [operation.name, operation]));
  const seen: Seen = { requests: new Map(), replies: new Map() };
  for (const operation of before.service.operations) {
    const other = next.get(operation.name);
    next.delete(operation.name);
    if (other === undefined)
      report('breaking', operation.name, 'the operation is gone', 'calls of it are refused');
    else compareOperation(operation, other, new Comparison(report, seen));
  }
  for (const name of next.keys())
    report('compatible', name, 'the operation is new', 'no client calls it yet');
}

/** The pairs of types that were compared, by direction. */
type Seen = Readonly<Record<Direction, Map<SchemaType, Set<SchemaType>>>>;

function compareEndpoints(before: Adopted, after: Adopted, report: ReportChange): void {
  const paths = new Set(after.endpoints.map(({ path }) => path.toLowerCase()));
  for (const { path } of before.endpoints)
    if (!paths.has(path.toLowerCase()))
      report('breaking', path, 'nothing answers there', 'clients post to the address they were built with');
}

function compareOperation(before: AdoptedOperation, after: AdoptedOperation, compare: Comparison): void {
  const { name } = before;
  if (before.style !== after.style || before.input.use !== after.input.use)
    compare.report(
      'breaking',
      name,
      `${before.style}/${before.input.use} is ${after.style}/${after.input.use}`,
      'messages are put together otherwise',
    );
  const lost = before.actions.filter((action) => !after.actions.includes(action));
  if (lost.length > 0)
    compare.report(
      'strict',
      name,
      `the action ${lost.join(', ')} is gone`,
      'where several operations share a body, calls with it are refused',
    );
  compare.messages(`${name} in requests`, before.input, after.input, 'requests');
  if ((before.output === undefined) !== (after.output === undefined))
    compare.report(
      'breaking',
      name,
      before.output === undefined ? 'it has a reply' : 'it has no reply',
      'clients wait for a reply, or for none',
    );
  if (before.output !== undefined && after.output !== undefined)
    compare.messages(`${name} in replies`, before.output, after.output, 'replies');
  compareFaults(before, after, compare);
}

function compareFaults(before: AdoptedOperation, after: AdoptedOperation, compare: Comparison): void {
  const faults = new Map(after.faults.map(({ element }) => [expanded(element.name), element]));
  for (const { element } of before.faults) {
    const other = faults.get(expanded(element.name));
    faults.delete(expanded(element.name));
    if (other !== undefined)
      compare.types(`${before.name} fault ${element.name.local}`, element.type, other.type, 'replies');
  }
  for (const { name } of faults.values())
    compare.report(
      'strict',
      before.name,
      `the fault ${name.local} is new`,
      'clients read it as a fault of no type',
    );
}

class Comparison {
  readonly report: ReportChange;
  readonly #seen: Seen;

  constructor(report: ReportChange, seen: Seen) {
    this.report = report;
    this.#seen = seen;
  }

  messages(where: string, before: AdoptedMessage, after: AdoptedMessage, direction: Direction): void {
    const old = wrapperOf(before.body);
    const next = wrapperOf(after.body);
    if (old !== next)
      this.report('breaking', where, `${old} is ${next}`, 'the body is found by the name of its element');
    else if (before.body.kind === 'element' && after.body.kind === 'element')
      this.types(where, before.body.element.type, after.body.element.type, direction);
    else if (before.body.kind === 'rpc' && after.body.kind === 'rpc')
      this.#elements(where, membersOfParts(before.body.parts), membersOfParts(after.body.parts), direction);
    const headers = new Map(after.headers.map((element) => [expanded(element.name), element]));
    for (const { name, type } of before.headers) {
      const other = headers.get(expanded(name));
      if (other !== undefined) this.types(`${where} header ${name.local}`, type, other.type, direction);
      else if (direction === 'requests')
        this.report(
          'strict',
          where,
          `the header block ${name.local} is gone`,
          'it is passed over; with mustUnderstand the call is refused',
        );
      else this.report('breaking', where, `the header block ${name.local} is gone`, 'clients look for it');
    }
  }

  types(where: string, before: SchemaType, after: SchemaType, direction: Direction): void {
    const { name } = before;
    const isOfSchema = name !== undefined && name.namespace !== namespaces.xsd;
    if (isOfSchema || before.kind === 'complex') {
      const known = this.#seen[direction].get(before) ?? new Set();
      if (known.has(after)) return;
      this.#seen[direction].set(before, known.add(after));
    }
    const at = isOfSchema ? `${name.local} in ${direction}` : where;
    if (before.kind === 'simple' && after.kind === 'simple') this.#simple(at, before, after, direction);
    else if (before.kind === 'complex' && after.kind === 'complex')
      this.#complex(at, before, after, direction);
    else
      this.report(
        'breaking',
        at,
        before.kind === 'simple' ? 'a text is elements' : 'elements are a text',
        'no value of one is one of the other',
      );
  }

  #simple(where: string, before: SimpleType, after: SimpleType, direction: Direction): void {
    if (kindOf(before) !== kindOf(after)) {
      this.report(
        'breaking',
        where,
        `${kindOf(before)} is ${kindOf(after)}`,
        'values of one may be none of the other',
      );
      return;
    }
    const old = before.facets.enumeration;
    const next = after.facets.enumeration;
    if (direction === 'requests') {
      const lost = (old ?? []).filter((value) => next?.includes(value) === false);
      if (old === undefined && next !== undefined)
        this.report('breaking', where, 'it is one of some values', 'calls with others are refused');
      if (lost.length > 0)
        this.report('breaking', where, `${listed(lost)} gone`, 'calls with such a value are refused');
    } else {
      const gained = (next ?? []).filter((value) => old?.includes(value) === false);
      if (gained.length > 0)
        this.report('strict', where, `${listed(gained)} new`, 'proxies have no such constant, and may fail');
      if (old !== undefined && next === undefined)
        this.report('strict', where, 'it is any text', 'proxies have constants alone, and may fail');
    }
  }

  #complex(where: string, before: ComplexType, after: ComplexType, direction: Direction): void {
    const old = contentOf(before);
    const next = contentOf(after);
    this.#attributes(where, before, after, direction);
    this.#elements(where, old, next, direction);
    if (before.content.kind === 'text' && after.content.kind === 'text')
      this.#simple(`${where}, its text`, before.content.type, after.content.type, direction);
    else if (before.content.kind === 'encodedArray' && after.content.kind === 'encodedArray')
      this.types(`${where}, its items`, before.content.item, after.content.item, direction);
    else if (isText(before) !== isText(after))
      this.report(
        'breaking',
        where,
        isText(after) ? 'elements are a text' : 'a text is elements',
        'no value of one is one of the other',
      );
    this.#derived(where, before, after, direction);
    if (!before.abstract && after.abstract && direction === 'requests')
      this.report('breaking', where, 'it is abstract', 'calls that name no derived type are refused');
  }

  #derived(where: string, before: ComplexType, after: ComplexType, direction: Direction): void {
    const others = new Map(after.derived.flatMap((type) => (type.name ? [[expanded(type.name), type]] : [])));
    for (const type of before.derived) {
      if (type.name === undefined) continue;
      const other = others.get(expanded(type.name));
      others.delete(expanded(type.name));
      if (other !== undefined) this.types(where, type, other, direction);
      else if (direction === 'requests')
        this.report(
          'breaking',
          where,
          `the derived type ${type.name.local} is gone`,
          'calls that name it are refused',
        );
    }
    if (direction === 'replies')
      for (const { name } of others.values())
        this.report(
          'strict',
          where,
          `the derived type ${name?.local} is new`,
          'proxies know no class for it, and fail where it comes',
        );
  }

  #attributes(where: string, before: ComplexType, after: ComplexType, direction: Direction): void {
    const others = new Map(after.attributes.map((use) => [expanded(use.name), use]));
    for (const use of before.attributes) {
      const other = others.get(expanded(use.name));
      others.delete(expanded(use.name));
      const name = `${where}, attribute ${use.name.local}`;
      if (other === undefined) this.#gone(name, use.required, after.anyAttribute, direction);
      else {
        this.#needed(name, use.required, other.required, direction);
        this.#simple(name, use.type, other.type, direction);
      }
    }
    for (const use of others.values()) this.#isNew(`${where}, attribute ${use.name.local}`, use, direction);
  }

  #elements(where: string, before: Members, after: Members, direction: Direction): void {
    const isOpen = after.members.some(({ kind }) => kind === 'any');
    const others = new Map(after.members.map((member) => [keyOf(member), member]));
    for (const member of before.members) {
      const other = others.get(keyOf(member));
      others.delete(keyOf(member));
      const name = `${where}, ${member.json}`;
      if (other === undefined) this.#gone(name, member.required, isOpen, direction);
      else this.#member(name, member, other, direction);
    }
    for (const member of others.values()) this.#isNew(`${where}, ${member.json}`, member, direction);
  }

  #member(where: string, before: Member, after: Member, direction: Direction): void {
    this.#needed(where, before.required, after.required, direction);
    if (before.repeats && !after.repeats && direction === 'requests')
      this.report('breaking', where, 'it stands once', 'calls with several are refused');
    if (!before.repeats && after.repeats && direction === 'replies')
      this.report('breaking', where, 'it stands any number of times', 'clients read one of them');
    if (before.kind === 'rounds' && after.kind === 'rounds')
      this.#elements(where, before.content, after.content, direction);
    if (before.kind !== 'element' || after.kind !== 'element') return;
    if (before.element.nillable && !after.element.nillable && direction === 'requests')
      this.report('breaking', where, 'it can’t be nil', 'calls with nil are refused');
    if (!before.element.nillable && after.element.nillable && direction === 'replies')
      this.report('strict', where, 'it may be nil', 'clients may have no place for that');
    this.types(where, before.element.type, after.element.type, direction);
  }

  #needed(where: string, before: boolean, after: boolean, direction: Direction): void {
    if (!before && after && direction === 'requests')
      this.report('breaking', where, 'it is required', 'calls without it are refused');
    if (before && !after && direction === 'replies')
      this.report('strict', where, 'it may be absent', 'clients may rely on it');
  }

  #gone(where: string, wasRequired: boolean, isOpen: boolean, direction: Direction): void {
    if (direction === 'replies')
      this.report(wasRequired ? 'breaking' : 'strict', where, 'it is gone', 'clients look for its value');
    else if (!isOpen) this.report('breaking', where, 'it is gone', 'calls with it are refused');
  }

  #isNew(where: string, { required }: Pick<Member | AttributeUse, 'required'>, direction: Direction): void {
    if (direction === 'replies')
      this.report('strict', where, 'it is new', 'readers of closed types refuse what they don’t know');
    else if (required)
      this.report('breaking', where, 'it is new and required', 'calls without it are refused');
    else this.report('compatible', where, 'it is new', 'no client sends it yet');
  }
}

function keyOf(member: Member): string {
  return member.kind === 'element' ? expanded(member.element.name) : `@${member.kind}`;
}

function contentOf({ content }: ComplexType): Members {
  return content.kind === 'elements' ? membersOf(content.particle) : noMembers;
}

function membersOfParts(parts: readonly ElementDeclaration[]): Members {
  const particles = parts.map((element) => ({ kind: 'element', least: 0, most: 1, element }) as const);
  return membersOf({ kind: 'sequence', least: 1, most: 1, particles });
}

function isText({ content }: ComplexType): boolean {
  return content.kind === 'text' || content.kind === 'mixed';
}

function wrapperOf(body: AdoptedBody): string {
  if (body.kind === 'empty') return 'an empty body';
  return expanded(body.kind === 'rpc' ? body.wrapper : body.element.name);
}

/** What a simple type's values are, where restrictions don't count. */
function kindOf({ variety, builtIn }: SimpleType): string {
  if (variety.kind === 'list') return `a list of ${kindOf(variety.item)}`;
  return variety.kind === 'union' ? 'a union' : `xs:${builtIn}`;
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, 5).join(', ');
  return `${shown}${values.length > 5 ? ` and ${values.length - 5} more` : ''} ${values.length === 1 ? 'is' : 'are'}`;
}
