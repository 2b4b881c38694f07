import { defaultLimits } from '../contract/limits.ts';
import { type About, type Binding, type Contract, partsOf, type Type } from '../contract/model.ts';
import { Allowance, contractError, isStackOverflow, OverLimit } from './document/allowance.ts';
import type { ReadBytes } from './document/bytes-reader.ts';
import type { ContractProblem, Note, Report } from './document/error.ts';
import { misspeltKeys, misspeltRootKeys } from './document/misspelt-keys.ts';
import { addTo, childOf, isNode, type Node, shown, textOf } from './document/node.ts';
import { fileOf, OtherFiles, type OtherFilesSource } from './document/other-files.ts';
import { References } from './document/references.ts';
import { UnforeseenReferences } from './document/unforeseen.ts';
import type { ContractNames, Displaced } from './names/names.ts';
import { serviceNameOf } from './names/service-name.ts';
import { buildCredentials, credentialsType, schemeCredentials } from './operations/credentials.ts';
import type { NotServed } from './operations/entries.ts';
import { type OperationDraft, readOperations } from './operations/operations.ts';
import { checkErrors, checkOverlayNames, checkStreams } from './operations/overlay-checks.ts';
import { faultDetailOf, faultDetailTypes, findResponseStatus } from './operations/response-status.ts';
import { readRoutes } from './operations/routes.ts';
import { Servers } from './operations/servers.ts';
import { checkEncryptedReplies } from './overlay/encrypted-replies.ts';
import { type Overlay, readOverlay } from './overlay/overlay.ts';
import { deepFreeze } from './schema/freeze.ts';
import { TypeBuilder } from './schema/type-builder.ts';
import type { Places } from './versions/places.ts';
import { supportedDocument } from './versions/supported.ts';
import { convertSwagger, isSwagger } from './versions/swagger.ts';

/** The parsed documents of a contract, with their names for error messages. */
export interface ContractSource {
  /** Reads another file that the document refers to; undefined if references to other files are not supported. */
  readonly readFile?: OtherFilesSource['read'];
  /** Reads a file that the overlay names; undefined if the overlay is not a file. */
  readonly readBytes?: ReadBytes;
  readonly openapi: unknown;
  readonly openapiName: string;
  readonly overlay: unknown;
  readonly overlayName: string;
  /** Limits for building the contract, shared with reading its files. The default is the default limits. */
  readonly allowance?: Allowance;
  /** Names in `names.lock`; undefined if there is none. */
  readonly names?: ContractNames | undefined;
}

/** A contract with remarks for its author. */
export interface LoadedContract {
  /** The deeply frozen contract. */
  readonly contract: Contract;
  /** Hash of the contract's files, 16 hexadecimal digits. Equal files have equal hashes. */
  readonly hash: string;
  /** Values represented as JSON text because no closed type fits. */
  readonly notes: readonly Note[];
  /** Operations of the document that cannot be called. */
  readonly notServed: readonly NotServed[];
  /** Members with contradictory definitions in an `allOf`. The first definition is used. */
  readonly contradictions: readonly Note[];
  /** Constraints that `validate: strict` cannot check. */
  readonly unchecked: readonly Note[];
  /** Servers of operations without an address. The upstream is called instead. */
  readonly assumedServers: readonly Note[];
  /** The URL of the document's first server; undefined if the document has none, or a relative one. */
  readonly server: string | undefined;
  /** XML properties (`xml`) of schemas, which are ignored because the contract determines the XML of SOAP. */
  readonly ownXml: readonly Note[];
  /** Numbers that may exceed the range of .NET clients, if the dialect is for .NET. Only `check` reports them. */
  readonly unbounded: readonly Note[];
  /** References at locations where OpenAPI allows none. Their targets were read. */
  readonly unforeseen: readonly Note[];
  /** All names that clients compile in, for `names.lock`. */
  readonly names: ContractNames;
  /** Path of the document that is derived from the WSDL, whether it exists or not (A32); undefined without a WSDL. */
  readonly derivedFile?: string;
  /** Names of operations without the changes made to avoid collisions, by the keys of `names.operations`. */
  readonly wantedOperations: ContractNames['operations'];
  /** Items that got another name because `names.lock` keeps the wanted name for a different item. */
  readonly displaced: readonly Displaced[];
  /** Errors that were tolerated (A3). */
  readonly warnings: readonly ContractProblem[];
}

/** Builds the model from a document and its overlay. Throws ContractError with all problems. */
export function buildContract(source: ContractSource): LoadedContract {
  const problems = new Map<string, ContractProblem>();
  const broken = new Map<string, ContractProblem>();
  let places: Places | undefined; // maps the pointers of a converted document to the original
  const reportTo =
    (file: string, list = problems): Report =>
    (read, message) => {
      const at = file === source.openapiName ? (places?.originalOf(read) ?? read) : read;
      const other = fileOf(at);
      const problem =
        other === ''
          ? { file, pointer: at, message }
          : { file: siblingPath(file, other), pointer: at.slice(other.length + 1), message };
      list.set(JSON.stringify(problem), problem);
    };
  const report = reportTo(source.openapiName);
  const reportOverlay = reportTo(source.overlayName);
  const { allowance = new Allowance(defaultLimits) } = source;
  const { limits } = allowance;
  const overlay = readOverlay(source.overlay, reportOverlay, source.readBytes);
  // With the rules of another dialect, many later problems would be wrong.
  if ([...problems.values()].some(({ pointer }) => pointer === '/dialect'))
    throw contractError(problems.values(), limits);
  const document = supportedDocument(source.openapi, report);
  const pinned = source.names ?? { operations: new Map(), types: new Map(), members: new Map() };
  const make = (stated: Node): Omit<LoadedContract, 'hash'> => {
    const converted = isSwagger(stated)
      ? convertSwagger(stated, reportTo(source.openapiName, broken), allowance)
      : undefined;
    const root = converted?.document ?? stated;
    places = converted?.places;
    const others = otherFilesOf(source, overlay, limits);
    const references = new References(root, reportTo(source.openapiName, broken), others, allowance);
    const settled = new UnforeseenReferences(references).settle(root);
    references.useDocument(settled);
    const credentials = overlay.credentials ?? schemeCredentials(settled, references);
    const assembled = assemble({
      document: settled,
      references,
      overlay: { ...overlay, credentials },
      pinned,
      openapiName: source.openapiName,
      report,
      reportOverlay,
    });
    const made = { ...assembled, unforeseen: references.unforeseen() };
    return places === undefined ? made : withOriginalPointers(made, places);
  };
  const loaded = document === undefined ? undefined : withinLimits(() => make(document), allowance, report);
  const problemsOf = (find: (root: Node) => readonly Note[]): readonly ContractProblem[] =>
    document === undefined ? [] : problemsAt(source.openapiName, find(document));
  const misspelt = problemsOf(misspeltKeys);
  const misspeltRoot = problemsOf(misspeltRootKeys);
  if (loaded === undefined || problems.size + broken.size > 0) {
    const hasNone = [...problems.values()].some(({ pointer }) => pointer === '/paths');
    const found = new Map([...problems, ...broken]).values();
    // A misspelt key may be the cause of the others.
    throw contractError([...misspeltRoot, ...found, ...(hasNone ? misspelt : [])], limits);
  }
  return { ...loaded, hash: allowance.hash, warnings: [...misspeltRoot, ...loaded.warnings, ...misspelt] };
}

function problemsAt(file: string, notes: readonly Note[]): readonly ContractProblem[] {
  return notes.map(({ pointer, why }) => ({ file, pointer, message: why }));
}

/** Replaces pointers into the converted document with pointers into the original. */
function withOriginalPointers<T extends Omit<LoadedContract, 'hash'>>(made: T, places: Places): T {
  const toOriginal = <N extends { readonly pointer: string }>(notes: readonly N[]): readonly N[] =>
    notes.map((note) => ({ ...note, pointer: places.originalOf(note.pointer) }));
  return {
    ...made,
    notes: toOriginal(made.notes),
    notServed: made.notServed.map((one) => ({
      ...one,
      pointer: places.originalOf(one.pointer),
      reasons: toOriginal(one.reasons),
    })),
    contradictions: toOriginal(made.contradictions),
    unchecked: toOriginal(made.unchecked),
    ownXml: toOriginal(made.ownXml),
    unbounded: toOriginal(made.unbounded),
    assumedServers: toOriginal(made.assumedServers),
    unforeseen: toOriginal(made.unforeseen),
    warnings: toOriginal(made.warnings),
  };
}

/**
 * Runs `make` and returns its result. If a limit or the call stack is exceeded, reports the location and returns
 * undefined.
 */
function withinLimits<T>(make: () => T, allowance: Allowance, report: Report): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof OverLimit) report(error.pointer ?? allowance.place, error.message);
    else if (isStackOverflow(error))
      report(allowance.place, 'expected schemas with less nesting, got too many levels');
    else throw error;
    return undefined;
  }
}

function otherFilesOf(
  { openapiName, readFile }: ContractSource,
  overlay: Overlay,
  limits: Allowance['limits'],
): OtherFiles | undefined {
  if (readFile === undefined) return undefined;
  const document = openapiName.slice(openapiName.lastIndexOf('/') + 1);
  return new OtherFiles({ document, folders: overlay.refs, read: readFile, most: limits.contractFiles });
}

/** Returns the path of another file of the document. A URL is returned unchanged. */
function siblingPath(document: string, file: string): string {
  return file.includes(':') ? file : document.slice(0, document.lastIndexOf('/') + 1) + file;
}

/** Input of `assemble`. */
interface Parts {
  readonly document: Node;
  readonly references: References;
  readonly overlay: Overlay;
  readonly pinned: ContractNames;
  readonly openapiName: string;
  readonly report: Report;
  readonly reportOverlay: Report;
}

function assemble(parts: Parts): Omit<LoadedContract, 'hash' | 'unforeseen'> {
  const { document, references, overlay, pinned, openapiName, report, reportOverlay } = parts;
  const service = serviceOf(parts);
  const builder = new TypeBuilder(parts);
  const servers = new Servers(document, overlay, reportOverlay);
  const read = readOperations({
    ...parts,
    builder,
    pinned: pinned.operations,
    findServer: (entry) => servers.find(entry),
  });
  servers.checkOverlay();
  const { served: drafts, notServed } = read;
  if (drafts.length === 0) {
    for (const { pointer, why } of notServed.flatMap(({ reasons }) => reasons)) report(pointer, why);
    report('/paths', 'expected at least one supported operation, got none');
  }
  const responseStatus = findResponseStatus(builder);
  const finished = builder.finish(drafts, [...credentialsType(overlay), ...faultDetailTypes(overlay)]);
  const { types, jsonType, names, members, displaced } = finished;
  const binary = holdersOfBinary(drafts);
  const operations = drafts.map((draft) => ({
    ...draft,
    binding: writtenBinding(draft.name),
    binaryInput: binary.has(draft.input),
    binaryOutput: binary.has(draft.output),
  }));
  checkOverlayNames(overlay, drafts, types, reportOverlay);
  const credentials = buildCredentials(overlay, operations, finished.own, reportOverlay);
  const routes = readRoutes(overlay, operations, credentials, reportOverlay);
  checkStreams(overlay, operations, binary, reportOverlay);
  checkEncryptedReplies(overlay.settings.mtomReplies, overlay.wsse, '/mtomReplies', reportOverlay);
  checkErrors(overlay, operations, responseStatus, reportOverlay);
  const faultDetail = faultDetailOf(finished.own);
  const ports = writtenPorts(operations.map(({ name }) => name));
  const own = {
    service,
    jsonType,
    operations,
    ports,
    types,
    routes,
    credentials,
    responseStatus,
    faultDetail,
  };
  return {
    contract: deepFreeze({
      ...own,
      ...settingsOf(document, overlay, service),
      documents: [],
      typeNames: new Map(),
      notServed: notServed.map(({ name, reasons }) => ({ name, why: reasons[0]?.why ?? '' })),
      about: aboutOf(document),
    }),
    ...builder.notes(),
    notServed,
    assumedServers: servers.assumed(),
    server: servers.address,
    names: { service, operations: read.names, types: names, members },
    wantedOperations: read.wanted,
    displaced: [...read.displaced, ...displaced],
    warnings: problemsAt(openapiName, [...servers.suspicious(), ...references.tolerated()]),
  };
}

/**
 * Returns the name of the service from the overlay, `names.lock` or the document's title. A name that is not an
 * identifier is reported.
 */
function serviceOf({ document, overlay, pinned, reportOverlay }: Parts): string {
  const service = overlay.service ?? pinned.service ?? serviceNameOf(document);
  if (!/^[A-Za-z_]\w*$/.test(service))
    reportOverlay('/service', `expected the service's name, an identifier, got ${shown(service)}`);
  return service;
}

/** Returns the settings that depend only on the overlay, and the document's description. */
function settingsOf(
  document: Node,
  overlay: Overlay,
  service: string,
): Pick<Contract, 'documentation' | 'basePath' | 'namespaces' | 'nulls' | 'settings' | 'personal' | 'wsse'> {
  const types = overlay.typesNamespace ?? `urn:${service}`;
  return {
    documentation: (textOf(childOf(document, 'info').description) ?? '').trim(),
    basePath: overlay.basePath,
    namespaces: { types, arrays: overlay.arraysNamespace ?? types },
    nulls: overlay.dialect.nillable === 'declared' ? 'kept' : 'by-kind',
    settings: overlay.settings,
    personal: overlay.personal,
    wsse: overlay.wsse,
  };
}

/** The ports of the WSDL that the gateway writes (W32). `Soap11` is first, since most importers use the first port. */
export function writtenPorts(operations: readonly string[]): Contract['ports'] {
  return [
    { name: 'Soap11', binding: 'Soap11Binding', path: '/soap11', soap: '1.1', operations },
    { name: 'Soap12', binding: 'Soap12Binding', path: '/soap12', soap: '1.2', operations },
  ];
}

/** The binding of an operation in the WSDL that the gateway writes (W32). */
export function writtenBinding(name: string): Binding {
  return {
    wsdlName: name,
    style: 'document',
    use: 'literal',
    action: name,
    actions: [name],
    dispatch: 'name',
    headers: [],
    faults: [],
  };
}

/** The document's description of itself. */
function aboutOf(document: Node): About {
  const info = childOf(document, 'info');
  const contact = childOf(info, 'contact');
  const license = childOf(info, 'license');
  const text = (value: unknown): string => (textOf(value) ?? '').trim();
  const tags = Array.isArray(document.tags) ? document.tags.filter(isNode) : [];
  return {
    title: text(info.title),
    version: typeof info.version === 'number' ? String(info.version) : text(info.version),
    contact: { name: text(contact.name), email: text(contact.email), url: text(contact.url) },
    license: { name: text(license.name), url: text(license.url) },
    termsOfService: text(info.termsOfService),
    externalDocs: text(childOf(document, 'externalDocs').url),
    tags: tags.map(({ name, description }) => ({ name: text(name), description: text(description) })),
  };
}

/** Returns the types that contain base64, directly or indirectly. */
function holdersOfBinary(drafts: readonly OperationDraft[]): ReadonlySet<Type> {
  const seen = new Set<Type>(drafts.flatMap(({ input, output }) => [input, output]));
  const holders = new Map<Type, Type[]>();
  for (const type of seen) {
    if (type.kind === 'scalar') continue;
    for (const part of partsOf(type)) {
      seen.add(part);
      addTo(holders, part, type);
    }
  }
  const binary = new Set(
    [...seen].filter((type) => type.kind === 'scalar' && type.scalar === 'base64Binary'),
  );
  for (const type of binary) for (const holder of holders.get(type) ?? []) binary.add(holder);
  return binary;
}
