import type { Deviation } from '../../../mappings/codec/problem.ts';
import { namespaceText } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import { namespaces, type Port } from '../../../mappings/contract/model.ts';
import { nearest } from '../../../mappings/contract/nearest.ts';
import { quoteElement, quoteValue } from '../../../mappings/contract/reason.ts';
import type { XmlReader } from '../../../mappings/xml/reader.ts';
import { Fault, refuse } from './faults.ts';
import { protocolOf } from './headers/protocols.ts';
import { unsupported } from './headers/security.ts';
import type { SoapVersion } from './versions.ts';

/**
 * Finds the operation of a request (W4, A6). Throws Fault.
 *
 * @param xml reader at the start tag of the body's first element; undefined for an empty body
 * @param actions actions that the request names, starting with the HTTP message
 */
export type FindOperation = (
  xml: XmlReader | undefined,
  actions: readonly string[],
  version: SoapVersion,
) => CompiledOperation;

/** The operations of one path. */
export interface Dispatch {
  readonly find: FindOperation;
  /** Returns how the body's element deviates from the element of the operation (A6); undefined if it does not. */
  readonly deviationOf: (operation: CompiledOperation, xml: XmlReader | undefined) => Deviation | undefined;
  /** Returns true if the body's element determines the operation without an action. */
  readonly isByElement: (operation: CompiledOperation) => boolean;
  /** Checks that no action names another operation. Throws Fault. */
  readonly checkActions: (
    operation: CompiledOperation,
    actions: readonly string[],
    version: SoapVersion,
  ) => void;
}

/** Compiles the dispatch tables of a contract by endpoint path. The key undefined is for all operations. */
export function compileDispatch(compiled: CompiledContract): ReadonlyMap<string | undefined, Dispatch> {
  const { ports } = compiled.contract;
  const all = operationsAt(ports, compiled);
  const whole = dispatchTo(compiled, all);
  const dispatches = new Map<string | undefined, Dispatch>([[undefined, whole]]);
  for (const [path, ofPath] of Map.groupBy(ports, (port) => port.path)) {
    const served = operationsAt(ofPath, compiled);
    const isWhole =
      all.length === served.length && all.every((operation, index) => operation === served[index]);
    dispatches.set(path, isWhole ? whole : dispatchTo(compiled, served));
  }
  return dispatches;
}

/** Returns the operations of ports, in their order; all operations of the contract if the ports have none. */
function operationsAt(
  ports: readonly Port[],
  { operations }: CompiledContract,
): readonly CompiledOperation[] {
  const names = new Set(ports.flatMap((port) => port.operations));
  const served = [...names].flatMap((name) => operations.get(name) ?? []);
  return served.length === 0 ? [...operations.values()] : served;
}

const longestName = 64;

/** Maximum number of operations for a suggestion, because comparing names takes time. */
const mostCompared = 300;

/**
 * Rejects elements of other protocols in Body with a message that says what to do instead (W50). Accepts any other
 * element.
 */
function refuseProtocol({ namespace, local }: XmlReader, version: SoapVersion): void {
  if (namespace === namespaces.xenc && local === 'EncryptedData')
    throw new Fault(version, 'UnsupportedSecurityToken', unsupported(local));
  const protocol = protocolOf(namespace);
  if (protocol !== undefined)
    refuse(
      version,
      {
        expected: 'an operation of the contract in Body',
        got: quoteElement(local, `: ${protocol.problem}`),
        detail: protocol.instead,
      },
      'OperationNotFound',
    );
}

function refuseSpoof(operation: string, named: string, version: SoapVersion): never {
  refuse(
    version,
    {
      expected: `the action of ${operation}, the operation in Body`,
      got: quoteValue(`the action of ${named}`),
    },
    'WrongAction',
  );
}

/**
 * Finds operations by the body's first element. The action decides if several operations have this element, or if Body
 * is empty. An action that names another operation is an error (W4, A6).
 */
function dispatchTo(compiled: CompiledContract, operations: readonly CompiledOperation[]): Dispatch {
  const { types } = compiled.contract.namespaces;
  /** Operations by local name, because elements may have no namespace (W11). */
  const byLocal = new Map<string, CompiledOperation[]>();
  const empty: CompiledOperation[] = [];
  const byAction = new Map<string, Set<CompiledOperation>>();
  /** Operations that an action names by its last segment. */
  const bySegment = new Map<string, Set<CompiledOperation>>();
  for (const operation of operations) {
    const { root } = operation;
    const { name, binding } = operation.operation;
    if (root === undefined) empty.push(operation);
    else byLocal.set(root.local, [...(byLocal.get(root.local) ?? []), operation]);
    for (const action of binding.actions)
      byAction.set(action, (byAction.get(action) ?? new Set()).add(operation));
    if (binding.dispatch === 'name') bySegment.set(name, new Set([operation]));
  }

  const find: FindOperation = (xml, actions, version) => {
    const candidates = xml === undefined ? empty : candidatesOf(xml);
    const [only] = candidates;
    if (only === undefined) refuseUnknown(xml, version);
    if (candidates.length > 1) return chosen(candidates, actions, version);
    checkActions(only, actions, version);
    return only;
  };
  const checkActions: Dispatch['checkActions'] = (operation, actions, version) => {
    for (const action of actions) {
      const named = byAction.get(action) ?? bySegment.get(lastSegmentOf(action));
      if (named === undefined || named.has(operation)) continue;
      const names = [...named].map((one) => one.operation.name);
      refuseSpoof(operation.operation.name, names.join(', '), version);
    }
  };
  const isByElement = ({ root }: CompiledOperation): boolean =>
    root !== undefined && byLocal.get(root.local)?.length === 1;
  const deviationOf: Dispatch['deviationOf'] = (operation, xml) => {
    const { root } = operation;
    if (xml === undefined) return undefined;
    if (root === undefined) return 'operationElement';
    return isRpc(operation) && xml.namespace !== root.namespace ? 'wrapperNamespace' : undefined;
  };
  return { find, deviationOf, isByElement, checkActions };

  function candidatesOf({ namespace, local }: XmlReader): readonly CompiledOperation[] {
    const alike = byLocal.get(local) ?? [];
    if (alike.length === 1 && alike[0]?.root?.namespace === namespace) return alike;
    const found = alike.filter(({ root }) => root?.namespace === namespace);
    if (found.length > 0) return found;
    if (alike.length > 0 && namespace === '') return alike;
    if (alike.length === 1 && alike.every(isRpc)) return alike;
    // clients like Axis 1.4 send an element for a message without parts
    const isOurs = namespace === types || namespace === '';
    return isOurs ? empty.filter(({ operation }) => operation.binding.wsdlName === local) : [];
  }

  function refuseUnknown(xml: XmlReader | undefined, version: SoapVersion): never {
    if (xml === undefined) refuse(version, { expected: 'one element in Body', got: 'none' });
    const name = xml.local.slice(0, longestName);
    const [known] = byLocal.get(xml.local) ?? [];
    const isNamed = known?.operation.binding.dispatch === 'name';
    if (!isNamed) refuseProtocol(xml, version);
    if (known?.root !== undefined)
      refuse(
        version,
        {
          expected: `<${name}> in ${namespaceText(known.root.namespace)}`,
          got: quoteElement(name, ` in ${namespaceText(xml.namespace)}`),
        },
        isNamed ? 'OperationNotFound' : 'InvalidEnvelope',
      );
    refuse(
      version,
      {
        expected: 'an operation of the contract in Body',
        got: quoteElement(name),
        meant: bySegment.size > mostCompared ? undefined : nearest(name, [...bySegment.keys()]),
      },
      'OperationNotFound',
    );
  }
}

function isRpc({ operation }: CompiledOperation): boolean {
  return operation.binding.style === 'rpc';
}

function lastSegmentOf(action: string): string {
  return action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1);
}

/** Maximum number of operations and of actions that a fault lists. */
const mostListed = 50;

function listed(names: ReadonlySet<string>): string {
  const first = [...names].slice(0, mostListed).join(', ');
  return names.size > mostListed ? `${first}, …` : first;
}

/**
 * Returns the operation that declares a given action. Throws a Fault that lists the operations and their actions if
 * none or several match.
 */
function chosen(
  candidates: readonly CompiledOperation[],
  given: readonly string[],
  version: SoapVersion,
): CompiledOperation {
  const [one, ...others] = candidates.filter(({ operation: { binding } }) =>
    given.some((action) => binding.actions.includes(action)),
  );
  if (one !== undefined && others.length === 0) return one;
  const declaredBy = candidates.flatMap(({ operation }) => operation.binding.actions);
  const actions = new Set(declaredBy.map((action) => `"${action}"`));
  const declared = actions.size === 0 ? 'but the WSDL declares none' : `one of ${listed(actions)}`;
  const names = new Set(candidates.map(({ operation }) => operation.name));
  const got = given.filter((action) => action !== '');
  const gotText =
    got.length === 0 ? 'none' : others.length > 0 ? 'actions of several operations' : 'another action';
  refuse(
    version,
    {
      expected: `an action (SOAPAction, the Content-Type's action or wsa:Action) that selects an operation with this Body (${listed(names)}), ${declared}`,
      got: gotText,
    },
    'WrongAction',
  );
}
