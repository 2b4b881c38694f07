import type { Deviation } from '../../../mappings/codec/problem.ts';
import { namespaceText } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import type { Adopted } from '../../../mappings/contract/adopted.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { nearest } from '../../../mappings/contract/nearest.ts';
import { expanded } from '../../../mappings/contract/type-graph.ts';
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
  const { adopted } = compiled.contract;
  if (adopted === undefined) return new Map([[undefined, dispatchByElement(compiled)]]);
  const paths = [undefined, ...adopted.endpoints.map(({ path }) => path)];
  return new Map(paths.map((path) => [path, dispatchAdopted(compiled, adopted, path)]));
}

const longestName = 64;

/** Maximum number of operations for a suggestion, because comparing names takes time. */
const mostCompared = 300;

/** Returns the most similar name of an operation; undefined if none is similar. */
function suggestion(name: string, operations: CompiledContract['operations']): string | undefined {
  return operations.size > mostCompared ? undefined : nearest(name, [...operations.keys()]);
}

/**
 * Finds operations by the body's first element only. An action that names another operation of the contract is an error
 * (W4).
 */
function dispatchByElement(compiled: CompiledContract): Dispatch {
  const { types } = compiled.contract.namespaces;
  const find: FindOperation = (xml, actions, version) => {
    if (xml === undefined) refuse(version, { expected: 'one element in Body', got: 'none' });
    const operation = compiled.operations.get(xml.local);
    const name = xml.local.slice(0, longestName);
    if (operation === undefined) {
      refuseProtocol(xml, version);
      refuse(
        version,
        {
          expected: 'an operation of the contract in Body',
          got: `<${name}>`,
          meant: suggestion(name, compiled.operations),
        },
        'OperationNotFound',
      );
    }
    if (xml.namespace !== types && xml.namespace !== '')
      refuse(
        version,
        { expected: `<${name}> in ${namespaceText(types)}`, got: `it in ${namespaceText(xml.namespace)}` },
        'OperationNotFound',
      );
    checkActions(operation, actions, version);
    return operation;
  };
  const checkActions: Dispatch['checkActions'] = ({ operation }, actions, version) => {
    for (const action of actions) {
      if (action === operation.name) continue;
      const name = action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1);
      if (name !== operation.name && compiled.operations.has(name))
        refuseSpoof(operation.name, name, version);
    }
  };
  return { find, deviationOf: () => undefined, isByElement: () => true, checkActions };
}

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
        got: `<${local.slice(0, longestName)}>: ${protocol.told}`,
        detail: protocol.instead,
      },
      'OperationNotFound',
    );
}

function refuseSpoof(operation: string, named: string, version: SoapVersion): never {
  refuse(
    version,
    { expected: `the action of ${operation}, the operation in Body`, got: `the action of ${named}` },
    'WrongAction',
  );
}

/** An operation and the actions that its bindings declare. */
interface Candidate {
  readonly operation: CompiledOperation;
  readonly wsdlName: string;
  readonly isRpc: boolean;
  readonly actions: readonly string[];
}

/**
 * Finds operations of a path's ports by the body's first element. The action decides if several operations have this
 * element, or if Body is empty (A6).
 *
 * @param path undefined means all ports
 */
function dispatchAdopted(
  compiled: CompiledContract,
  { service, endpoints }: Adopted,
  path: string | undefined,
): Dispatch {
  const ports = endpoints.filter((endpoint) => path === undefined || endpoint.path === path);
  const served = new Set(ports.flatMap((endpoint) => endpoint.ports.flatMap((port) => port.operations)));
  const byElement = new Map<string, Candidate[]>();
  /** Candidates by local name, for elements without a namespace (W11). */
  const byLocal = new Map<string, Candidate[]>();
  const ofAction = new Map<string, Set<CompiledOperation>>();
  const empty: Candidate[] = [];
  const rpc = new Set<CompiledOperation>();
  for (const { name, wsdlName, style, actions } of served.size === 0 ? service.operations : served) {
    const operation = compiled.operations.get(name);
    if (operation === undefined) continue;
    const candidate: Candidate = { operation, wsdlName, isRpc: style === 'rpc', actions };
    if (candidate.isRpc) rpc.add(operation);
    const { root } = operation;
    if (root === undefined) empty.push(candidate);
    else {
      enter(byElement, expanded(root), candidate);
      enter(byLocal, root.local, candidate);
    }
    for (const action of actions) ofAction.set(action, (ofAction.get(action) ?? new Set()).add(operation));
  }

  const find: FindOperation = (xml, actions, version) => {
    const candidates = xml === undefined ? empty : candidatesOf(xml);
    const [only, ...others] = candidates;
    if (only === undefined) refuseUnknown(xml, version);
    if (others.length > 0) return chosen(candidates, actions, version);
    checkActions(only.operation, actions, version);
    return only.operation;
  };
  const checkActions: Dispatch['checkActions'] = (operation, actions, version) => {
    for (const action of actions) {
      const named = ofAction.get(action);
      if (named !== undefined && !named.has(operation))
        refuseSpoof(
          operation.operation.name,
          [...named].map((one) => one.operation.name).join(', '),
          version,
        );
    }
  };
  const isByElement = ({ root }: CompiledOperation): boolean =>
    root !== undefined &&
    byElement.get(expanded(root))?.length === 1 &&
    byLocal.get(root.local)?.length === 1;
  const deviationOf: Dispatch['deviationOf'] = (operation, xml) => {
    const { root } = operation;
    if (xml === undefined) return undefined;
    if (root === undefined) return 'operationElement';
    return rpc.has(operation) && xml.namespace !== root.namespace ? 'wrapperNamespace' : undefined;
  };
  return { find, deviationOf, isByElement, checkActions };

  function candidatesOf({ namespace, local }: XmlReader): readonly Candidate[] {
    const found = byElement.get(expanded({ namespace, local }));
    if (found !== undefined) return found;
    const alike = byLocal.get(local) ?? [];
    if (alike.length > 0 && namespace === '') return alike;
    if (alike.length === 1 && alike[0]?.isRpc === true) return alike;
    // clients like Axis 1.4 send an element for a message without parts
    const isOurs = namespace === service.namespace || namespace === '';
    return isOurs ? empty.filter(({ wsdlName }) => wsdlName === local) : [];
  }

  function refuseUnknown(xml: XmlReader | undefined, version: SoapVersion): never {
    if (xml === undefined) refuse(version, { expected: 'one element in Body', got: 'none' });
    const name = xml.local.slice(0, longestName);
    refuseProtocol(xml, version);
    const [known] = byLocal.get(xml.local) ?? [];
    if (known?.operation.root !== undefined)
      refuse(version, {
        expected: `<${name}> in ${namespaceText(known.operation.root.namespace)}`,
        got: `it in ${namespaceText(xml.namespace)}`,
      });
    refuse(
      version,
      { expected: 'an operation of the contract in Body', got: `<${name}>` },
      'OperationNotFound',
    );
  }
}

function enter(table: Map<string, Candidate[]>, key: string, candidate: Candidate): void {
  const known = table.get(key);
  if (known === undefined) table.set(key, [candidate]);
  else known.push(candidate);
}

function isNamed({ actions }: Candidate, given: readonly string[]): boolean {
  return given.some((action) => actions.includes(action));
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
  candidates: readonly Candidate[],
  given: readonly string[],
  version: SoapVersion,
): CompiledOperation {
  const found = new Set(candidates.filter((candidate) => isNamed(candidate, given)));
  const [one, ...others] = found;
  if (one !== undefined && others.length === 0) return one.operation;
  const actions = new Set(candidates.flatMap((candidate) => candidate.actions.map((one) => `"${one}"`)));
  const declared = actions.size === 0 ? 'but the WSDL declares none' : `one of ${listed(actions)}`;
  const names = new Set(candidates.map(({ operation }) => operation.operation.name));
  const got = given.filter((action) => action !== '');
  const told =
    got.length === 0 ? 'none' : others.length > 0 ? 'actions of several operations' : 'another action';
  refuse(
    version,
    {
      expected: `an action (SOAPAction, the Content-Type's action or wsa:Action) that selects an operation with this Body (${listed(names)}), ${declared}`,
      got: told,
    },
    'WrongAction',
  );
}
