import { contractKindOf } from '../mappings/contract/adopted.ts';
import type { Contract, Operation, Port } from '../mappings/contract/model.ts';
import { expanded } from '../mappings/contract/type-graph.ts';
import { type OperationMessages, typeGraphOf } from '../mappings/type-graph.ts';
import type { Change, Direction, Grade, ReportChange } from './changes.ts';
import { TypeComparison } from './diff-types.ts';

export type { Change, Grade } from './changes.ts';

/**
 * Returns the differences between a contract and its successor as SOAP callers see them, worst first. Throws a
 * RangeError if one contract is a WSDL and the other an OpenAPI document.
 */
export function compareContracts(before: Contract, after: Contract): readonly Change[] {
  const changes = new Map<string, Change>();
  const report: ReportChange = (grade, where, what, why) => {
    changes.set(JSON.stringify([where, what]), { grade, where, what, why });
  };
  compareService(before, after, report);
  compareSettings(before, after, report);
  compareCredentials(before, after, report);
  if (contractKindOf(before) !== contractKindOf(after))
    throw new RangeError('expected two contracts of one kind, got a WSDL and an OpenAPI document');
  compareEndpoints(before.ports, after.ports, report);
  compareOperations(before, after, report);
  const order: readonly Grade[] = ['breaking', 'strict', 'compatible'];
  return [...changes.values()].toSorted((a, b) => order.indexOf(a.grade) - order.indexOf(b.grade));
}

function compareService(before: Contract, after: Contract, report: ReportChange): void {
  if (before.service !== after.service)
    report(
      'compatible',
      'service',
      `${before.service} is ${after.service}`,
      'no message contains the name; regenerated proxies have other class names',
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

/** Settings whose change breaks callers: name, old value, new value, reason. */
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

/** One type comparison per direction, shared by all operations. */
type Comparisons = Readonly<Record<Direction, TypeComparison>>;

function compareOperations(before: Contract, after: Contract, report: ReportChange): void {
  const successors = new Map(after.operations.map((operation) => [operation.name, operation]));
  const known = new Set(before.operations.map(({ name }) => name));
  const callOf = ({ upstream: { method, path } }: Operation): string => `${method} ${path}`;
  const added = after.operations.filter(({ name }) => !known.has(name));
  const byCall = new Map(added.map((operation) => [callOf(operation), operation] as const).toReversed());
  const names = { before: before.namespaces, after: after.namespaces };
  const types: Comparisons = {
    requests: new TypeComparison(report, 'requests', names),
    replies: new TypeComparison(report, 'replies', names),
  };
  for (const operation of before.operations) {
    const successor = successors.get(operation.name);
    if (successor === undefined) reportRemoved(operation, byCall.get(callOf(operation)), report);
    else {
      const old = typeGraphOf(before).messagesOf(operation);
      compareMessages(operation.name, old, typeGraphOf(after).messagesOf(successor), types, report);
      compareBindings(operation, successor, types, report);
    }
  }
  for (const { name } of added)
    report('compatible', name, 'the operation is new', 'clients that are built do not know it');
}

function compareMessages(
  name: string,
  before: OperationMessages,
  after: OperationMessages,
  { requests, replies }: Comparisons,
  report: ReportChange,
): void {
  requests.messages(name, before.input, after.input);
  if (before.output !== undefined && after.output !== undefined)
    replies.messages(name, before.output, after.output);
  else if (before.output !== after.output)
    report(
      'breaking',
      name,
      before.output === undefined ? 'it has a reply' : 'it has no reply',
      'clients wait for a reply, or for none',
    );
}

/** Reports a removed operation. It counts as renamed if a new operation makes the same upstream call. */
function reportRemoved({ name }: Operation, renamed: Operation | undefined, report: ReportChange): void {
  const what = renamed === undefined ? 'the operation is gone' : `the operation is called ${renamed.name}`;
  report('breaking', name, what, 'clients that call it meet a fault');
}

// --- ports and bindings ------------------------------------------------------------------------------

function compareEndpoints(before: readonly Port[], after: readonly Port[], report: ReportChange): void {
  const paths = new Set(after.map(({ path }) => path.toLowerCase()));
  for (const path of new Set(before.map((port) => port.path)))
    if (!paths.has(path.toLowerCase()))
      report('breaking', path, 'nothing answers there', 'clients post to the address they were built with');
}

/** Compares the style, actions and faults of an operation. */
function compareBindings(
  { name, binding: before }: Operation,
  { binding: after }: Operation,
  { replies }: Comparisons,
  report: ReportChange,
): void {
  if (before.style !== after.style || before.use !== after.use)
    report(
      'breaking',
      name,
      `${before.style}/${before.use} is ${after.style}/${after.use}`,
      'messages are put together otherwise',
    );
  const lost = before.actions.filter((action) => !after.actions.includes(action));
  if (lost.length > 0)
    report(
      'strict',
      name,
      `the action ${lost.join(', ')} is gone`,
      'where several operations share a body, calls with it are refused',
    );
  const faults = new Map(after.faults.map(({ element }) => [expanded(element.name), element]));
  for (const { element } of before.faults) {
    const other = faults.get(expanded(element.name));
    faults.delete(expanded(element.name));
    if (other !== undefined) replies.types(`${name} fault ${element.name.local}`, element.type, other.type);
  }
  for (const fault of faults.values())
    report('strict', name, `the fault ${fault.name.local} is new`, 'clients read it as a fault of no type');
}
