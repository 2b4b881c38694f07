import { dirname, join } from 'node:path';
import { type AdoptedOperation, type AdoptedService, derivedFile } from '../../contract/adopted.ts';
import type { CredentialPart, Credentials, Wsse } from '../../contract/credentials.ts';
import { isMixed } from '../../contract/members.ts';
import type { Binding, Contract, Operation, Port, Server } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import {
  messageElements,
  type Particle,
  reachableTypes,
  type SchemaType,
} from '../../contract/type-graph.ts';
import type { LoadedContract } from '../build-contract.ts';
import { Allowance, type ContractLimits, contractError } from '../document/allowance.ts';
import { bytesReader } from '../document/bytes-reader.ts';
import { ContractError, type ContractProblem, pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readYamlFile, withLines } from '../document/yaml.ts';
import { familyStatus } from '../operations/response-status.ts';
import { type OwnWsse, placedIn, withOwnWsse } from '../overlay/own-wsse.ts';
import { type AdoptedOverlay, readAdoptedOverlay } from './adopted-overlay.ts';
import { findAmbiguousOperations } from './ambiguous-operations.ts';
import { adoptedNames, loadAdoptedService, placeIn } from './load-adopted.ts';
import { operationKey } from './operation-names.ts';
import { checkedPolicies } from './policy-settings.ts';
import { openFieldsOf, renameMembers } from './renames.ts';

/**
 * Loads the contract of a folder with a WSDL and an optional overlay (A1). Throws ContractError with all problems.
 *
 * @param overlayFile path of the overlay; undefined if there is no overlay
 * @param own replaces the key `wsse` of the overlay
 */
export function loadAdoptedContract(
  folder: string,
  overlayFile: string | undefined,
  limits: ContractLimits,
  own?: OwnWsse,
): LoadedContract {
  const allowance = new Allowance(limits);
  const file = overlayFile ?? join(folder, 'soap.yaml');
  const problems: ContractProblem[] = [];
  const report: Report = (pointer, message) => problems.push(placedIn(file, own, { file, pointer, message }));
  const document =
    overlayFile === undefined ? undefined : readYamlFile(overlayFile, problems, allowance)?.root;
  const overlay = readAdoptedOverlay(
    withOwnWsse(document, own),
    report,
    bytesReader(dirname(own?.file ?? file), allowance),
  );
  if (problems.length > 0) throw new ContractError(withLines(problems));
  const { service: whole, warnings } = loadAdoptedService(folder, {
    wsdl: overlay.wsdl,
    refs: overlay.refs,
    allowance,
  });
  renameMembers(whole, overlay.rename, report);
  openFieldsOf(whole, overlay.open, report);
  checkOperations(folder, whole);
  const service = withOverlay(whole, overlay, report);
  const contract = contractOf(service, overlay, report);
  if (problems.length > 0) throw contractError(withLines(problems), limits);
  return {
    contract,
    hash: allowance.hash,
    notes: [],
    notServed: notServedOf(folder, service),
    contradictions: [],
    unchecked: [],
    ownXml: [],
    unbounded: [],
    assumedServers: [],
    server: undefined,
    unforeseen: [],
    names: adoptedNames(whole),
    derivedFile: join(folder, derivedFile),
    wantedOperations: new Map(),
    displaced: [],
    warnings: [
      ...warnings,
      ...findAmbiguousOperations(service, contract.ports).map((message) => {
        return { file, pointer: '/operations', message };
      }),
      ...overlay.missingFiles.map((pointer) =>
        placedIn(file, own, {
          file,
          pointer,
          message: 'expected the name of a file, got none. Until then, signed messages are rejected',
        }),
      ),
    ],
  };
}

/** Throws ContractError with all reasons if a WSDL has no operation that can be served. */
function checkOperations(folder: string, { operations, notServed, documents }: AdoptedService): void {
  if (operations.length > 0) return;
  const reasons = notServed.map(({ name, reason, file, line }): ContractProblem => {
    return { file: placeIn(folder, file), pointer: '', line, message: `${name} is not served: ${reason}` };
  });
  const message = 'expected a SOAP binding with a supported operation, got none';
  const file = placeIn(folder, documents[0]?.file ?? '');
  throw new ContractError([...reasons, { file, pointer: '', line: 1, message }]);
}

/** The parts of a service that are not served, with the reasons of each. */
function notServedOf(folder: string, { notServed }: AdoptedService): LoadedContract['notServed'] {
  const byName = Map.groupBy(notServed, ({ name }) => name);
  return [...byName].map(([name, parts]) => ({
    name,
    pointer: '',
    reasons: parts.map(({ reason, file, line }) => ({
      pointer: '',
      why: reason,
      file: placeIn(folder, file),
      line,
    })),
  }));
}

/** Applies the overlay's operation names to a service and removes the operations that it hides. */
function withOverlay(service: AdoptedService, overlay: AdoptedOverlay, report: Report): AdoptedService {
  if (overlay.operations.size === 0) return service;
  const byKey = new Map<string, AdoptedOperation>();
  for (const operation of service.operations) byKey.set(operationKey(operation), operation);
  for (const operation of service.operations) byKey.set(operation.name, operation);
  const made = new Map<AdoptedOperation, AdoptedOperation | undefined>();
  for (const [key, { name, hide }] of overlay.operations) {
    const operation = byKey.get(key);
    if (operation === undefined)
      report(
        `/operations${pointerSegment(key)}`,
        `expected a served operation of the WSDL, got ${shown(key)}${didYouMean(key, byKey.keys())}`,
      );
    else made.set(operation, hide === true ? undefined : { ...operation, name: name ?? operation.name });
  }
  const keep = (operation: AdoptedOperation): AdoptedOperation[] => {
    const kept = made.has(operation) ? made.get(operation) : operation;
    return kept === undefined ? [] : [kept];
  };
  const operations = service.operations.flatMap(keep);
  const names = new Set<string>();
  for (const { name } of operations) {
    if (names.has(name)) report('/operations', `expected each name once, got ${shown(name)} again`);
    names.add(name);
  }
  if (operations.length === 0)
    report('/operations', 'expected at least one operation to be served, got none');
  const ports = service.ports.map((port) => ({ ...port, operations: port.operations.flatMap(keep) }));
  return { ...service, operations, ports };
}

function contractOf(service: AdoptedService, overlay: AdoptedOverlay, report: Report): Contract {
  const { settings, personal, basePath } = overlay;
  const isBinary = holdsBinary(service);
  const { credentials, wsse } = credentialsOf(service, overlay, report);
  return {
    service: service.name,
    documentation: service.documentation,
    basePath,
    namespaces: { types: service.namespace, arrays: service.namespace },
    nulls: 'kept',
    jsonType: 'Json',
    operations: service.operations.map((operation) =>
      operationOf(operation, statedOf(operation, overlay), isBinary),
    ),
    ports: portsOf(service, overlay, report),
    documents: service.documents,
    single: service.single,
    typeNames: service.typeNames,
    notServed: service.notServed.map(({ name, reason }) => ({ name, why: reason })),
    types: [],
    routes: [],
    credentials,
    wsse,
    responseStatus: familyStatus(),
    settings,
    personal,
    adopted: {
      service: { ...service, policies: checkedPolicies(service.policies, wsse, Object.values(tokenPlaces)) },
    },
  };
}

/** The settings of an operation that apply to its upstream calls. */
type StatedCall = Pick<Operation, 'readOnly' | 'timeoutMs'>;

function statedOf(operation: AdoptedOperation, { operations }: AdoptedOverlay): StatedCall {
  const found = [...operations].flatMap(([key, stated]) =>
    key === operation.name || key === operationKey(operation) || stated.name === operation.name
      ? [stated]
      : [],
  );
  const timeoutMs = found.find((stated) => stated.timeoutMs !== undefined)?.timeoutMs;
  return {
    readOnly: found.some(({ readOnly }) => readOnly === true),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

const server: Server = { address: undefined, basePath: '', root: '', credentials: true };

/**
 * Returns an operation with its upstream call: `POST /{name}` with the body as JSON (A7). The types are in the service.
 */
function operationOf(operation: AdoptedOperation, stated: StatedCall, isBinary: boolean): Operation {
  const { name, documentation } = operation;
  const wrapper = (called: string) =>
    ({ kind: 'record', name: called, documentation: '', fields: [] }) as const;
  return {
    name,
    documentation,
    tags: [],
    ...stated,
    binding: bindingOf(operation),
    stream: false,
    input: wrapper(name),
    output: wrapper(`${name}Response`),
    upstream: {
      server,
      method: 'POST',
      path: `/${encodeURIComponent(name)}`,
      parameters: [],
      body: { kind: 'members', mediaType: 'application/json' },
      accept: 'application/json',
      reply: { kind: 'object' },
    },
    binaryInput: isBinary,
    binaryOutput: isBinary,
  };
}

function bindingOf({ wsdlName, style, input, action, actions, faults }: AdoptedOperation): Binding {
  const { use, headers } = input;
  return {
    wsdlName,
    style,
    use,
    action,
    actions,
    dispatch: 'element',
    headers: headers.map(({ name }) => name),
    faults,
  };
}

/** Paths that the gateway itself serves. */
const ownPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/soap11', '/soap12']);

/** Returns the ports with the paths of their endpoints (A5). Paths that differ only in case are the first of them. */
function portsOf({ ports }: AdoptedService, { endpoints }: AdoptedOverlay, report: Report): readonly Port[] {
  for (const name of endpoints.keys())
    if (!ports.some((port) => port.name === name))
      report(
        `/endpoints${pointerSegment(name)}`,
        `expected a port of the WSDL with a SOAP address, got ${shown(name)}${didYouMean(
          name,
          ports.map((port) => port.name),
        )}`,
      );
  const paths = new Map<string, string>();
  return ports.map((port) => {
    const ofAddress = port.path === undefined || port.path === '/' ? `/soap/${port.name}` : port.path;
    const path = endpoints.get(port.name) ?? withoutEndSlash(ofAddress);
    const lower = path.toLowerCase();
    if (ownPaths.has(lower))
      report(
        `/endpoints${pointerSegment(port.name)}`,
        `expected a unique path for the port, got ${shown(path)}`,
      );
    const known = paths.get(lower) ?? path;
    paths.set(lower, known);
    const { name, soap, operations } = port;
    return { name, binding: name, path: known, soap, operations: operations.map((each) => each.name) };
  });
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The result of an overlay's `headers`: scalars of header blocks that are sent upstream as credentials (A8). */
interface Moved {
  readonly credentials: Credentials | undefined;
  /** Settings for reading a UsernameToken (A31). */
  readonly wsse: Wsse | undefined;
}

/** The keys in `headers` for the two values of a UsernameToken (A31). */
const tokenPlaces = { username: 'Security.Username', password: 'Security.Password' } as const;

/** Returns the settings of WS-Security; undefined for none. */
function wsseOf(hasToken: boolean, signatures: AdoptedOverlay['signatures']): Wsse | undefined {
  if (!hasToken && signatures === undefined) return undefined;
  const token = hasToken ? tokenPlaces : { username: undefined, password: undefined };
  return { ...token, digest: 'refuse', timestamp: 'optional', unverified: [], ...signatures };
}

function credentialsOf(
  { operations }: AdoptedService,
  { headers, signatures }: AdoptedOverlay,
  report: Report,
): Moved {
  const declared = operations.flatMap(({ input }) => input.headers);
  const blocks = new Set(declared.map(({ name }) => name.local));
  const parts: CredentialPart[] = [];
  const tokenParts: CredentialPart[] = [];
  const isToken = (place: string): boolean =>
    !blocks.has('Security') && Object.values<string>(tokenPlaces).includes(place);
  for (const [place, { header, format }] of headers) {
    const [block = '', ...path] = place.split('.');
    const at = `/headers${pointerSegment(place)}`;
    const part: CredentialPart = {
      name: place,
      xml: path.at(-1) ?? block,
      header,
      sent: { in: 'header', name: header },
      required: false,
      secret: true,
    };
    if (isToken(place)) {
      tokenParts.push(part);
      if (format !== '{}')
        report(
          `${at}/format`,
          `expected none, because the value of a UsernameToken is sent unchanged, got ${shown(format)}`,
        );
    } else if (!blocks.has(block)) {
      const known = [...blocks].slice(0, 10).join(', ') || 'none';
      report(
        at,
        `expected a header block that an operation declares (${known}), got ${shown(block)}${didYouMean(block, blocks)}`,
      );
    } else if (!declared.some(({ name, type }) => name.local === block && mayHave(type, path))) {
      report(at, `expected a header block and one value in it, such as Session.id, got ${shown(place)}`);
    } else {
      parts.push({ ...part, moved: { block, path, format } });
    }
  }
  if (tokenParts.length === 1)
    report(
      '/headers',
      `expected ${Object.values(tokenPlaces).join(' and ')}, got only ${tokenParts[0]?.name}`,
    );
  const all = [...parts, ...tokenParts];
  return {
    credentials: all.length === 0 ? undefined : { member: undefined, parts: all, send: 'headers' },
    wsse: wsseOf(tokenParts.length === 2, signatures),
  };
}

/**
 * Returns true if a type may have a single scalar at a path of JSON members. Special members of the gateway (`@…`) are
 * accepted without a check.
 */
function mayHave(type: SchemaType, [name, ...path]: readonly string[]): boolean {
  if (type.kind === 'simple') return name === undefined && type.variety.kind !== 'list';
  const { content } = type;
  const isText = content.kind === 'text' || isMixed(content);
  if (name === undefined) return isText;
  if (name.startsWith('@') || (isText && name === 'value')) return true;
  if (type.attributes.some((use) => (use.json ?? use.name.local) === name)) return path.length === 0;
  const isIn = (particle: Particle): boolean => {
    if (particle.kind === 'any' || particle.most > 1) return false;
    if (particle.kind !== 'element') return particle.particles.some(isIn);
    const { element, json = element.name.local } = particle;
    // A repeated element name gets a suffix, for example name_2.
    if (json !== name && !name.startsWith(`${json}_`)) return false;
    return element.substitutes.length > 0 || mayHave(element.type, path);
  };
  if (content.kind === 'elements' && isIn(content.particle)) return true;
  return type.derived.some((derived) => mayHave(derived, [name, ...path]));
}

/** Returns true if a message of the service may contain binary values. */
function holdsBinary({ operations }: AdoptedService): boolean {
  const elements = operations.flatMap(({ input, output, faults }) => [
    ...messageElements(input),
    ...(output === undefined ? [] : messageElements(output)),
    ...faults.map(({ element }) => element),
  ]);
  for (const type of reachableTypes(elements.map(({ type }) => type)))
    if (type.kind === 'simple' && (type.builtIn === 'base64Binary' || type.builtIn === 'hexBinary'))
      return true;
  return false;
}
