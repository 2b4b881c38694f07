import { isWithin, scalarTable } from '../mappings/codec/scalars/table.ts';
import type {
  ArrayType,
  Contract,
  Field,
  MapType,
  Operation,
  RecordType,
  TupleType,
  Type,
  UnionType,
} from '../mappings/contract/model.ts';
import type { Change, Direction, Grade, ReportChange } from './changes.ts';
import { compareAdopted } from './diff-adopted.ts';

export type { Change, Grade } from './changes.ts';

/** What differs between a contract and its successor as SOAP callers see it, the worst first. */
export function compareContracts(before: Contract, after: Contract): readonly Change[] {
  const changes = new Map<string, Change>();
  const report: ReportChange = (grade, where, what, why) => {
    changes.set(JSON.stringify([where, what]), { grade, where, what, why });
  };
  compareFaces(before, after, report);
  compareSettings(before, after, report);
  compareCredentials(before, after, report);
  if (before.adopted !== undefined && after.adopted !== undefined)
    compareAdopted(before.adopted, after.adopted, report);
  else if (before.adopted !== undefined || after.adopted !== undefined)
    throw new RangeError('expected two contracts of one kind, got a WSDL and an OpenAPI document');
  else compareOperations(before, after, report);
  const order: readonly Grade[] = ['breaking', 'strict', 'compatible'];
  return [...changes.values()].toSorted((a, b) => order.indexOf(a.grade) - order.indexOf(b.grade));
}

function compareFaces(before: Contract, after: Contract, report: ReportChange): void {
  if (before.service !== after.service)
    report(
      'compatible',
      'service',
      `${before.service} is ${after.service}`,
      'the name stands in no message; proxies generated anew have other class names',
    );
  if (before.basePath !== after.basePath)
    report(
      'breaking',
      'address',
      `${before.basePath || '/'} is ${after.basePath || '/'}`,
      'clients post to the address they were built with',
    );
  for (const name of ['types', 'arrays'] as const) {
    const old = before.namespaces[name];
    if (old !== after.namespaces[name])
      report(
        'breaking',
        `namespace of the ${name}`,
        `${old} is ${after.namespaces[name]}`,
        'clients have it compiled in, and their calls are refused',
      );
  }
}

/** Settings whose change a caller meets, from and to which words, and why. */
const settingChanges = [
  ['soapErrors', 'in-band', 'fault', 'clients look for the status in the reply and meet a fault'],
  ['soapErrors', 'fault', 'in-band', 'clients wait for a fault and take the reply for a success'],
  [
    'faultDetail',
    'none',
    'declared',
    "clients of Mono's WCF and of SOAP::WSDL read no fault with a detail that they weren't built for",
  ],
  ['faultDetail', 'declared', 'none', 'clients look for the detail of a fault and find none'],
  ['soapReplyContentType', 'by-version', 'documented', 'JAX-WS, ASMX and NuSOAP refuse application/xml'],
  ['mtomReplies', 'never', 'requested', 'node-soap with forceMTOM loses the bytes of replies'],
  ['validate', 'types', 'strict', 'calls with values that the document forbids are refused'],
  ['json', 'text', 'tree', 'clients have JSON text where there is a tree of elements'],
  ['json', 'tree', 'text', 'clients have a tree of elements where there is JSON text'],
  ['unknownElements', 'ignore', 'refuse', 'calls with an element that the WSDL lacks are refused'],
  [
    'emptyElements',
    'absent',
    'refuse',
    'calls with an empty element for a number, boolean or date are refused',
  ],
  ['illegalCharacterReferences', 'accept', 'refuse', '.NET sends references that XML forbids'],
  ['soap12FaultStatus', 'compatible', 'standard', '.NET and Lua read no fault that comes with 400'],
] as const;

function compareSettings(
  { settings: before }: Contract,
  { settings: after }: Contract,
  report: ReportChange,
): void {
  for (const [name, from, to, why] of settingChanges) {
    if (before[name] === from && after[name] === to) report('breaking', name, `${from} is ${to}`, why);
  }
}

function compareCredentials(
  { credentials: before }: Contract,
  { credentials: after }: Contract,
  report: ReportChange,
): void {
  if (before?.member !== undefined && before.member !== after?.member)
    report('breaking', 'credentials', `no longer in ${before.member}`, 'clients send them there');
  for (const { name, header, required } of after?.parts ?? []) {
    const old = before?.parts.find((part) => part.name === name);
    if (required && old?.required !== true)
      report('breaking', `credential ${name}`, 'is required', 'calls without it are refused');
    if (old !== undefined && old.header.toLowerCase() !== header.toLowerCase())
      report('breaking', `credential ${name}`, `${old.header} is ${header}`, 'clients send the old header');
  }
}

// --- operations ------------------------------------------------------------------------------------

function compareOperations(before: Contract, after: Contract, report: ReportChange): void {
  const successors = new Map(after.operations.map((operation) => [operation.name, operation]));
  const names = new Set(before.operations.map(({ name }) => name));
  const callOf = ({ upstream: { method, path } }: Operation): string => `${method} ${path}`;
  const added = after.operations.filter(({ name }) => !names.has(name));
  const byCall = new Map(added.map((operation) => [callOf(operation), operation] as const).toReversed());
  const requests = new TypeComparer(report, 'requests');
  const replies = new TypeComparer(report, 'replies');
  for (const operation of before.operations) {
    const successor = successors.get(operation.name);
    if (successor === undefined) reportRemoved(operation, byCall.get(callOf(operation)), report);
    else {
      requests.compare(operation.input, successor.input);
      replies.compare(operation.output, successor.output);
    }
  }
  for (const { name } of added)
    report('compatible', name, 'the operation is new', 'clients that are built do not know it');
}

/** An operation is taken for renamed when another that is new makes the same call. */
function reportRemoved({ name }: Operation, renamed: Operation | undefined, report: ReportChange): void {
  const what = renamed === undefined ? 'the operation is gone' : `the operation is called ${renamed.name}`;
  report('breaking', name, what, 'clients that call it meet a fault');
}

// --- types -----------------------------------------------------------------------------------------

/** A record with the elements of members that it doesn't list as fields like others. */
function withAllElements(record: RecordType): RecordType {
  const { typed, untyped } = record.additional ?? {};
  const others = [typed, untyped].filter((element) => element !== undefined);
  return { ...record, fields: [...record.fields, ...others.map(optional)] };
}

/** A union as clients see it: a record of optional elements. */
function variantsOf({ variants, ...union }: UnionType): RecordType {
  return { ...union, kind: 'record', fields: variants.map(optional) };
}

/** A tuple as clients see it: a record of optional elements. */
function positionsOf({ positions, rest, ...tuple }: TupleType): RecordType {
  const elements = rest === undefined ? positions : [...positions, rest];
  return { ...tuple, kind: 'record', fields: elements.map(optional) };
}

function optional({
  xml,
  type,
  nillable = false,
}: Pick<Field, 'xml' | 'type'> & { readonly nillable?: boolean }): Field {
  return { json: xml, xml, type, nillable, required: false, notEmpty: false, allowed: undefined };
}

/** Compares the types of one direction, each pair of them once. */
class TypeComparer {
  readonly #report: ReportChange;
  readonly #direction: Direction;
  readonly #seen = new Map<Type, Set<Type>>();

  constructor(report: ReportChange, direction: Direction) {
    this.#report = report;
    this.#direction = direction;
  }

  compare(old: Type, next: Type, where = ''): void {
    if (old.kind === 'scalar' || old.kind === 'enum' || next.kind === 'scalar' || next.kind === 'enum') {
      this.#compareValues(old, next, where);
      return;
    }
    if (!this.#isNew(old, next)) return;
    if (old.kind === 'record' && next.kind === 'record')
      this.#compareRecords(withAllElements(old), withAllElements(next));
    else if (old.kind === 'union' && next.kind === 'union')
      this.#compareRecords(variantsOf(old), variantsOf(next));
    else if (old.kind === 'tuple' && next.kind === 'tuple')
      this.#compareRecords(positionsOf(old), positionsOf(next));
    else if (old.kind === 'array' && next.kind === 'array') {
      const at = `items of ${old.name} in ${this.#direction}`;
      this.#comparePart(old, old.itemName, next, next.itemName, at);
      this.compare(old.item, next.item, at);
    } else if (old.kind === 'map' && next.kind === 'map') {
      const at = `values of ${old.name} in ${this.#direction}`;
      this.#comparePart(old, old.entryName, next, next.entryName, at);
      this.compare(old.value, next.value, at);
    } else
      this.#report('breaking', where, `${described(old)} is ${described(next)}`, misread(this.#direction));
  }

  #isNew(old: Type, next: Type): boolean {
    const known = this.#seen.get(old) ?? new Set();
    if (known.has(next)) return false;
    this.#seen.set(old, known.add(next));
    return true;
  }

  /** The elements of which an array or map is made. */
  #comparePart(
    old: ArrayType | MapType,
    oldName: string,
    next: ArrayType | MapType,
    nextName: string,
    where: string,
  ): void {
    if (oldName !== nextName)
      this.#report('breaking', where, `<${oldName}> is <${nextName}>`, lost(this.#direction));
    if (old.namespace !== next.namespace)
      this.#report(
        'breaking',
        where,
        `<${oldName}> is in the namespace of the ${next.namespace}`,
        lost(this.#direction),
      );
  }

  #compareRecords(old: RecordType, next: RecordType): void {
    const successors = new Map(next.fields.map((field) => [field.xml, field]));
    const known = new Set(old.fields.map(({ xml }) => xml));
    const formerJson = new Set(old.fields.map(({ json }) => json));
    // the first of a name counts
    const renamed = new Map(
      next.fields
        .filter(({ xml }) => !known.has(xml))
        .map((field) => [field.json, field] as const)
        .toReversed(),
    );
    for (const field of old.fields) {
      const successor = successors.get(field.xml);
      const where = `${old.name}.${field.xml} in ${this.#direction}`;
      if (successor === undefined) this.#reportGone(field, renamed.get(field.json), where);
      else this.#compareFields(field, successor, where);
    }
    this.#compareOrder(old, next);
    for (const field of next.fields) {
      // one whose JSON name was there counts as renamed
      if (!known.has(field.xml) && !formerJson.has(field.json)) this.#reportAdded(field, old);
    }
  }

  #reportGone({ xml }: Field, renamed: Field | undefined, where: string): void {
    const what = renamed === undefined ? `<${xml}> is gone` : `<${xml}> is <${renamed.xml}>`;
    this.#report('breaking', where, what, lost(this.#direction));
  }

  #reportAdded(field: Field, old: RecordType): void {
    const where = `${old.name}.${field.xml} in ${this.#direction}`;
    const what = `<${field.xml}> is new`;
    if (this.#direction === 'replies')
      this.#report(
        'strict',
        where,
        what,
        'zeep, suds, Axis, PySimpleSOAP and SOAP::WSDL refuse elements they do not know',
      );
    else if (field.required)
      this.#report('breaking', where, `${what} and required`, 'calls without it are refused');
    else this.#report('compatible', where, what, 'clients that are built leave it out');
  }

  /** Requests are read in any order; replies aren't by all clients. */
  #compareOrder(old: RecordType, next: RecordType): void {
    if (this.#direction === 'requests') return;
    const common = (fields: readonly Field[], others: readonly Field[]): readonly string[] => {
      const names = new Set(others.map(({ xml }) => xml));
      return fields.map(({ xml }) => xml).filter((xml) => names.has(xml));
    };
    const sequence = common(next.fields, old.fields);
    const moved = common(old.fields, next.fields).find((xml, index) => sequence[index] !== xml);
    if (moved !== undefined)
      this.#report(
        'breaking',
        `${old.name} in replies`,
        `its elements stand in another order from <${moved}> on`,
        'WCF reads elements that are out of order as null, zeep refuses them',
      );
  }

  #compareFields(old: Field, next: Field, where: string): void {
    if (this.#direction === 'requests') {
      if (!old.required && next.required)
        this.#report('breaking', where, 'is required', 'calls without it are refused');
      if (old.required && !next.required)
        this.#report('compatible', where, 'is optional', 'clients go on sending it');
      if (!old.notEmpty && next.notEmpty)
        this.#report('breaking', where, 'may no longer be empty', 'calls with an empty one are refused');
      if (old.nillable && !next.nillable)
        this.#report(
          'strict',
          where,
          'is no longer nillable',
          'clients that send xsi:nil may be refused upstream',
        );
      if (!old.nillable && next.nillable)
        this.#report('compatible', where, 'is nillable', 'clients that are built send no xsi:nil');
    } else {
      if (!old.nillable && next.nillable)
        this.#report(
          'strict',
          where,
          'is nillable',
          'generated classes without a place for null fail on xsi:nil',
        );
      if (old.nillable && !next.nillable)
        this.#report('compatible', where, 'is no longer nillable', 'clients read a value as before');
    }
    this.compare(withAllowed(old), withAllowed(next), where);
  }

  #compareValues(old: Type, next: Type, where: string): void {
    if (old.kind === 'enum' && next.kind === 'enum') {
      this.#compareEnums(old.values, next.values, where);
      return;
    }
    const from = described(old);
    const to = described(next);
    if (from === to) return;
    const isEnumOfStrings = old.kind === 'enum' || next.kind === 'enum';
    if (isEnumOfStrings && isText(old) && isText(next)) {
      const opened = old.kind === 'enum';
      if (opened && this.#direction === 'replies')
        this.#report(
          'strict',
          where,
          'takes values beside those listed',
          'generated enums refuse values they do not know',
        );
      else if (!opened && this.#direction === 'requests')
        this.#report('breaking', where, 'takes listed values alone', 'calls with other values are refused');
      else this.#report('compatible', where, `${from} is ${to}`, 'the values clients send or read fit both');
      return;
    }
    const [narrow, wide] = this.#direction === 'requests' ? [old, next] : [next, old];
    if (fits(narrow, wide))
      this.#report('compatible', where, `${from} is ${to}`, 'every value fits the other');
    else this.#report('breaking', where, `${from} is ${to}`, misread(this.#direction));
  }

  #compareEnums(old: readonly string[], next: readonly string[], where: string): void {
    const before = new Set(old);
    const after = new Set(next);
    for (const value of old) {
      if (after.has(value)) continue;
      if (this.#direction === 'requests')
        this.#report('breaking', where, `${value} is gone`, 'calls with it are refused');
      else this.#report('compatible', where, `${value} is gone`, 'clients no longer meet it');
    }
    for (const value of next) {
      if (before.has(value)) continue;
      if (this.#direction === 'replies')
        this.#report(
          'strict',
          where,
          `${value} is new`,
          'generated enums of .NET and Java refuse values they do not know',
        );
      else this.#report('compatible', where, `${value} is new`, 'clients that are built do not send it');
    }
  }
}

/** The enum with the values that the field takes of it. */
function withAllowed({ type, allowed }: Field): Type {
  return type.kind === 'enum' && allowed !== undefined ? { ...type, values: allowed } : type;
}

function described(type: Type): string {
  return type.kind === 'scalar' ? `xs:${scalarTable[type.scalar].xsd}` : `${type.name} (${type.kind})`;
}

function isText(type: Type): boolean {
  return type.kind === 'enum' || (type.kind === 'scalar' && scalarTable[type.scalar].xsd === 'string');
}

/** True when every value of the one is a value of the other. */
function fits(narrow: Type, wide: Type): boolean {
  return narrow.kind === 'scalar' && wide.kind === 'scalar' && isWithin(narrow.scalar, wide.scalar);
}

function lost(direction: Direction): string {
  return direction === 'requests'
    ? 'clients go on sending the old element, which is refused'
    : 'clients look for the old element and read nothing';
}

function misread(direction: Direction): string {
  return direction === 'requests'
    ? 'clients send values that the new type refuses'
    : 'clients read the reply by the old type and fail';
}
