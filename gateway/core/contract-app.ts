import { maxLoopSteps } from '../../mappings/codec/problem.ts';
import type { CompiledContract } from '../../mappings/compile.ts';
import { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { shownPath, withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import type { Admission } from '../admission/admission.ts';
import type { CallerLimits } from '../admission/caller-limits.ts';
import type { CallService } from '../call/call-service.ts';
import { challengeOf } from '../call/credentials.ts';
import type { Secrets } from '../call/digest.ts';
import type { NonceStore } from '../call/nonces.ts';
import { createAdoptedDocuments } from '../http/adopted-documents.ts';
import { ContractDocuments, type DocumentOptions, type Documents, publicUrlOf } from '../http/documents.ts';
import { compileRefuseForeign, compileRefuseForeignScript } from '../http/foreign.ts';
import type { Pages } from '../http/pages.ts';
import type { AppOptions } from '../http/request-context.ts';
import { isGone } from '../http/sockets.ts';
import { compileReaders } from '../protocols/read-call.ts';
import type { WorkerReader } from '../protocols/read-in-worker.ts';
import type { Service } from '../protocols/read-request.ts';
import type { Reservations } from '../protocols/soap/reserved-keys.ts';
import { type Callers, compileCallerId } from '../telemetry/callers.ts';
import { compileRequestLine, describeError, levels } from '../telemetry/log.ts';
import { compileShownMessages, createMessageLog } from '../telemetry/messages.ts';
import { type Observer, observeAll } from '../telemetry/observer.ts';
import type { Metrics } from '../telemetry/request-metrics.ts';
import type { RequestRecord } from '../telemetry/request-stats.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { createMappedUpstream } from '../upstream/mapped-upstream.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { CoreOptions } from './core-options.ts';
import { watchReplies } from './replies.ts';

/** Parts that all contracts of a gateway share. */
export interface Shared {
  readonly options: CoreOptions;
  readonly admission: Admission;
  readonly metrics: Metrics;
  /** Reads large requests and replies in a worker thread. */
  readonly workerReader: WorkerReader;
  /**
   * Maps messages in a worker thread if the mapping has functions, because functions can use unlimited time and memory
   * (M5).
   */
  readonly functions: WorkerReader;
  /** Remembers digest nonces of all contracts. */
  readonly nonces: NonceStore;
  /** Reserves encrypted keys of calls of all contracts. Its module is loaded only for a contract with AES-CBC. */
  readonly reservations: () => Reservations;
  /** Returns the names of callers for the log. Called for each contract. */
  readonly callers: () => Callers;
  /** Returns the caller limits of the contract at a path; undefined if it has none. */
  readonly callerLimitsOf: (path: string) => CallerLimits | undefined;
  /** Returns the network of a client, which identifies callers without credentials. */
  readonly networkOf: UpstreamOptions['networkOf'];
  /** Returns the address of a client, if known. */
  readonly addressOf: AppOptions['addressOf'];
}

/**
 * Returns the application that serves a contract in front of an upstream.
 *
 * @param mapping translates between the contract's and the upstream's JSON; undefined if they are the same
 * @param deprecated the deprecated operations; undefined for none
 */
export function createContractApp(
  shared: Shared,
  compiled: CompiledContract,
  upstream: Upstream,
  mapping: LoadedMapping | undefined,
  deprecated: AppOptions['deprecated'],
): AppOptions {
  const { contract } = compiled;
  const { options, admission, metrics } = shared;
  const { limits, log, trustedProxies } = options;
  const path = shownPath(contract.basePath);
  const service = createService(shared, compiled, upstream, mapping);
  const documentOptions: DocumentOptions = {
    publicUrl: options.publicUrl,
    configured: options.isPublicUrlSet,
    trustedProxies,
    limits,
    change: deprecated?.document,
  };
  return {
    service,
    documents: documentsOf(contract, documentOptions),
    pages: pagesOf(service, options, documentOptions),
    isOwnHost: options.isOwnHost,
    addressOf: shared.addressOf,
    compareAddress: compareAddress(documentOptions),
    isReady: options.isReady,
    unreadyReason: options.unreadyReason,
    metrics: options.metricsPage,
    services: options.services ?? (() => undefined),
    deprecated,
    onProbe: createRecorder(shared, path, 'debug'),
    whenWaiting: watchReplies(admission, (requestId) => {
      metrics.countCut(path);
      log.info({ requestId, contract: path, cut: true }, 'reply sent only in part');
    }),
  };
}

/**
 * Returns a function that counts requests to a contract and logs those whose level is enabled.
 *
 * @param path path of the contract
 */
export function createRecorder(
  { options: { lines, lowestLevel }, metrics }: Shared,
  path: string,
  level: 'info' | 'debug',
): (record: RequestRecord) => void {
  const count = metrics.counterOf(path);
  if (lowestLevel > (level === 'debug' ? levels.debug : levels.error)) return count;
  const writeLine = compileRequestLine(path, level, lowestLevel);
  return (record) => {
    count(record);
    writeLine(record, lines);
  };
}

function createService(
  shared: Shared,
  compiled: CompiledContract,
  upstream: Upstream,
  mapping: LoadedMapping | undefined,
): Service {
  const { contract } = compiled;
  const { options, admission, workerReader, functions, nonces, callers } = shared;
  const { limits, log, logMessages } = options;
  const path = shownPath(contract.basePath);
  checkSigning(contract, options);
  const proofs = { secrets: secretsOf(contract, options), certified: options.certified };
  const binary = contract.operations.some((operation) => operation.binaryInput);
  const readInWorker = workerReader.readerOf(compiled, logMessages, proofs, mapping?.text);
  const hasFunctions = mapping !== undefined && mapping.text.modules.size > 0;
  const mapper = hasFunctions
    ? functions.readerOf(compiled, logMessages, proofs, mapping.text)
    : readInWorker;
  const service: Service = {
    ...compileReaders(compiled, limits.loopSteps ?? maxLoopSteps, proofs),
    readInWorker,
    readReserved: contract.wsse?.decrypt?.cbc === true ? shared.reservations().read : undefined,
    challenge: challengeOf(contract),
    nonces,
    refuseForeign: compileRefuseForeign(contract, options.certified),
    refuseForeignScript: compileRefuseForeignScript(contract, options.certified),
    upstream: mapping === undefined ? upstream : createMappedUpstream(upstream, mapping, mapper.map, limits),
    admission,
    observer: observeAll(observersOf(shared, path)),
    shown: logMessages ? compileShownMessages(compiled) : undefined,
    callerOf: callerNames(contract, callers()),
    streams: contract.operations.some(({ stream }) => stream),
    callerLimits: shared.callerLimitsOf(path),
    limitKeyOf: limitKeys(contract, callers(), shared.networkOf),
    networkOf: shared.networkOf,
    bodyLimit: binary ? limits.bodyBytesWithBinary : limits.bodyBytes,
    onError: (error, requestId) => {
      log.error({ requestId, ...describeError(error) }, 'internal error');
      options.onError?.(error, requestId);
    },
    openShadow: (parts) => {
      const reader = parts.reader.readerOf(compiled, false, proofs, mapping?.text);
      const { upstream: own } = parts;
      return {
        ...service,
        readInWorker: reader,
        upstream: mapping === undefined ? own : createMappedUpstream(own, mapping, reader.map, limits),
        admission: parts.admission,
        observer: observeAll([]),
        shown: undefined,
        callerLimits: undefined,
      };
    },
  };
  return service;
}

/** Returns the observers of the contract at a path: traces, audit, message log, metrics and log, then further ones. */
function observersOf(shared: Shared, path: string): readonly Observer[] {
  const { lines, logMessages, audit, traces, observer, observersOf: further } = shared.options;
  const record = createRecorder(shared, path, 'info');
  return [
    ...(traces === undefined ? [] : [traces.observerOf(path)]),
    ...(audit === undefined ? [] : [audit]),
    ...(logMessages ? [createMessageLog(lines, path)] : []),
    { finished: ({ stats }) => record(stats) },
    ...(observer === undefined ? [] : [observer]),
    ...(further?.(path) ?? []),
  ];
}

/** Settings of a contract that do not fit the process. The message has a fixed text and names of the contract. */
export class SettingError extends RangeError {
  constructor(message: string) {
    super(message);
    this.name = 'SettingError';
  }
}

/**
 * Returns the secrets for checking digests, if the contract requires them (W49). Throws SettingError if the process has
 * none.
 */
export function secretsOf({ wsse }: Contract, options: Pick<CoreOptions, 'secrets'>): Secrets | undefined {
  if (wsse?.digest !== 'secrets') return undefined;
  const secrets = options.secrets?.();
  if (secrets === undefined)
    throw new SettingError(
      'wsse: digest: secrets: expected a file of secrets (SOAPBRIDGE_WSSE_SECRETS), and SOAPBRIDGE_LIMIT_STORE or a single process (SOAPBRIDGE_WORKERS=1), got none',
    );
  return secrets;
}

/**
 * Throws SettingError if the settings for signatures do not fit the process (X2). Without a signed Body, only TLS keeps a
 * Security block, with the credential of its signer, from another message. Workers share their memory of messages only
 * with a limit store.
 */
function checkSigning(
  { wsse, credentials }: Contract,
  {
    certified,
    publicUrl,
    hasOtherWorkers,
    sharedNonces,
  }: Pick<CoreOptions, 'certified' | 'publicUrl' | 'hasOtherWorkers' | 'sharedNonces'>,
): void {
  const { require = [], credential, replay } = wsse?.x509 ?? {};
  const needsBody = require.length > 0 || credential !== undefined;
  if (needsBody && !require.includes('body') && !publicUrl().startsWith('https:'))
    throw new SettingError(
      'wsse: x509: require: expected body, or an https SOAPBRIDGE_PUBLIC_URL, got neither',
    );
  const isShared = hasOtherWorkers !== true || sharedNonces !== undefined;
  if (replay === 'refuse' && !isShared)
    throw new SettingError(
      'wsse: x509: replay: expected allow, SOAPBRIDGE_LIMIT_STORE, or a single process (SOAPBRIDGE_WORKERS=1), got several workers',
    );
  if (wsse?.saml !== undefined && !isShared)
    throw new SettingError(
      'wsse: saml: expected SOAPBRIDGE_LIMIT_STORE, or a single process (SOAPBRIDGE_WORKERS=1), got several workers',
    );
  if (wsse?.decrypt?.cbc === true && !isShared)
    throw new SettingError(
      'wsse: decrypt: cbc: expected false, SOAPBRIDGE_LIMIT_STORE, or a single process (SOAPBRIDGE_WORKERS=1), got several workers',
    );
  if (wsse?.saml?.bearer === true && !publicUrl().startsWith('https:'))
    throw new SettingError('wsse: saml: bearer: expected an https SOAPBRIDGE_PUBLIC_URL, got none');
  for (const [name, part] of verifiedCredentialsOf(wsse)) {
    const header = credentials?.parts.find((one) => one.name === name)?.header;
    if (header !== undefined && header.toLowerCase() === certified?.toLowerCase())
      throw new SettingError(
        `wsse: ${part === 'assertion' ? 'saml' : 'x509'}: credential: expected another credential than that of clientCertificates, got ${name}`,
      );
  }
}

function documentsOf(contract: Contract, options: DocumentOptions): Documents {
  return contract.documents.length > 0
    ? createAdoptedDocuments(contract, options)
    : new ContractDocuments(contract, options);
}

/** Returns a function that compares a URL with the public address of a request (X17, X26). */
function compareAddress(options: DocumentOptions): NonNullable<AppOptions['compareAddress']> {
  const { addressOf } = publicUrlOf(options);
  return (given, request) => {
    const [path = ''] = (request.url ?? '').split('?');
    const own = URL.parse(withoutEndSlashes(addressOf(request)) + path);
    const url = URL.parse(given);
    if (url === null || own === null || url.origin !== own.origin) return 'other server';
    return url.pathname === own.pathname ? 'same' : 'other path';
  };
}

/** Returns the console pages of a contract; undefined if the process has none. */
function pagesOf(
  { compiled, onError }: Service,
  { pages, tryIt = 'off' }: CoreOptions,
  documentOptions: DocumentOptions,
): Pages | undefined {
  const { addressOf, vary } = publicUrlOf(documentOptions);
  return pages?.({
    compiled,
    addressOf: (request) => withoutEndSlashes(addressOf(request)) + compiled.contract.basePath,
    vary,
    tryIt,
    // a client that disconnects early is not an internal error
    onError: (error) => {
      if (!isGone(error)) onError(error, '-');
    },
  });
}

/** Returns a function that names callers in the log and in metrics. */
function callerNames({ credentials }: Contract, { nameOf }: Callers): CallService['callerOf'] {
  const idOf = compileCallerId(credentials);
  return (values) => {
    const id = idOf(values);
    return id === undefined ? undefined : nameOf(id);
  };
}

/**
 * Returns a function that computes the caller key for limits. The key contains all credentials, so a client that knows
 * only another caller's id has another key. Without credentials, the key is the client's network. A digest that the
 * upstream checks differs in each call, so it is left out and the network is added. The key is a pseudonym, so the
 * store does not reveal who calls.
 */
function limitKeys(
  { wsse }: Contract,
  { nameOf }: Callers,
  networkOf: Shared['networkOf'],
): CallService['limitKeyOf'] {
  const digest = typeof wsse?.digest === 'object' ? wsse.digest : undefined;
  const ofDigest = new Set(digest === undefined ? [] : Object.values(digest));
  return (values, { request }) => {
    const all = values?.all ?? noCredentials;
    const isDigest = digest !== undefined && (all.has(digest.nonce) || all.has(digest.created));
    const given: string[] = [];
    for (const [name, value] of all) if (!isDigest || !ofDigest.has(name)) given.push(value);
    const network = isDigest || all.size === 0 ? `network ${networkOf(request)}` : '';
    return nameOf({ kind: 'secret', value: `${network}credentials ${given.join('\n')}` });
  };
}

const noCredentials: ReadonlyMap<string, string> = new Map();
