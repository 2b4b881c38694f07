import { maxPageCacheBytes } from '../console/server/page-cache.ts';
import { maxWaitingVisitors } from '../console/server/pages.ts';
import {
  maxArriving,
  maxArrivingBytes,
  maxLeavingBytes,
  maxSlowWriteMs,
  maxUnpacking,
  minCallsInDelay,
  minWriteBytesPerSecond,
} from '../gateway/admission/admission.ts';
import { maxAuthorizationCharacters, maxCredentialCharacters } from '../gateway/call/credentials.ts';
import { maxMemoryWaits } from '../gateway/call/large-reply.ts';
import { maxFindings, maxMessageBytes } from '../gateway/doctor/explain.ts';
import { maxRepairs } from '../gateway/doctor/markup.ts';
import { maxHeaderLines } from '../gateway/http/app.ts';
import {
  maxBodyChunks,
  maxBodyIdleMs,
  maxBodyMs,
  maxSlowBodyMs,
  minBodyBytesPerSecond,
  minBodyChunkBytes,
} from '../gateway/http/body.ts';
import {
  maxHeadersMs,
  maxPipelined,
  maxPipelinedInProgress,
  maxRequestsPerConnection,
  maxWriteIdleMs,
} from '../gateway/http/connections.ts';
import { maxDocumentCacheBytes, maxSliceNames, maxWaitingForDocuments } from '../gateway/http/documents.ts';
import { maxAcceptRanges } from '../gateway/http/negotiate.ts';
import { maxParsingMs, parsingSlice, parsingWatch } from '../gateway/http/request-slicer.ts';
import { maxPlaceMs, maxStoreMs, maxWindows } from '../gateway/process/caller-limits.ts';
import { maxTlsHandshakes } from '../gateway/process/listener.ts';
import { maxHeapBytes, maxReadMs, maxWaiting } from '../gateway/protocols/read-in-worker.ts';
import { maxHeaderBlocks } from '../gateway/protocols/soap/headers/headers.ts';
import { maxStreamMs } from '../gateway/protocols/soap/streamed-call.ts';
import { usualRetryMs } from '../gateway/store/guarded-store.ts';
import { maxLogBytes } from '../gateway/telemetry/log-writer.ts';
import { maxCallers, maxOperations } from '../gateway/telemetry/request-metrics.ts';
import { failureWindowMs, maxNetworks, minFailingMs, probeIntervalMs } from '../gateway/upstream/breaker.ts';
import { maxOverheadBytes, maxQueueMs } from '../gateway/upstream/exchange.ts';
import { maxRetryAfterMs, maxSavedRetries } from '../gateway/upstream/retry-budget.ts';
import { maxTokenBytes, maxTokenMs, maxTokens } from '../gateway/upstream/tokens.ts';
import { maxLoopReplyBytes } from '../gateway/upstream/upstream.ts';
import { maxWrittenBytes } from '../mappings/codec/element.ts';
import { maxLoopSteps, maxReportedProblems, maxRereadCharacters } from '../mappings/codec/problem.ts';
import { maxLoggedCharacters } from '../mappings/codec/redact.ts';
import { maxPatternSteps } from '../mappings/codec/types/rules.ts';
import { defaultLimits, type Limits, type SettableLimits } from '../mappings/contract/limits.ts';
import { maxFormCharacters } from '../mappings/http-mapping/parameter.ts';
import {
  maxContentIdCharacters,
  maxOutsideBytes,
  maxPartHeaderBytes,
} from '../mappings/http-mapping/related.ts';
import { maxLoopRequestBytes } from '../mappings/http-mapping/related-stream.ts';
import { maxErrorCharacters } from '../mappings/http-mapping/upstream-error.ts';
import { maxMismatches } from '../mappings/json/tape.ts';
import { contractConstants } from '../mappings/loader/document/allowance.ts';
import { maxRules } from '../mappings/mapping/rules.ts';
import { maxCalls, maxCodeMs } from '../mappings/mapping/run-entry.ts';
import { maxParameterCharacters } from '../mappings/places.ts';
import {
  maxAllAttributes,
  maxAttributes,
  maxAttributeValueCharacters,
  maxNameCharacters,
  maxNamespaceCharacters,
} from '../mappings/xml/attributes.ts';
import { maxChildren } from '../mappings/xml/reader.ts';

/** Limits that cannot be configured, by the name with which a test overrides them in `Limits`. */
export const constantLimits = {
  ...contractConstants,
  mimeHeaderBytes: maxPartHeaderBytes,
  mimeContentId: maxContentIdCharacters,
  mimeOutsideBytes: maxOutsideBytes,
  streamMs: maxStreamMs,
  bodyPieces: maxBodyChunks,
  bodyPieceBytes: minBodyChunkBytes,
  unpacking: maxUnpacking,
  headerCount: maxHeaderLines,
  xmlChildren: maxChildren(defaultLimits),
  xmlAttributes: maxAttributes,
  xmlAllAttributes: maxAllAttributes(defaultLimits),
  xmlNamespace: maxNamespaceCharacters,
  xmlName: maxNameCharacters,
  xmlAttributeValue: maxAttributeValueCharacters,
  soapHeaderBlocks: maxHeaderBlocks,
  patternSteps: maxPatternSteps,
  loopSteps: maxLoopSteps,
  readAsideBytes: maxLoopRequestBytes,
  readAsideQueue: maxWaiting,
  readAsideMs: maxReadMs,
  readAsideHeapBytes: maxHeapBytes,
  replyAsideBytes: maxLoopReplyBytes,
  rereadText: maxRereadCharacters,
  parameterText: maxParameterCharacters,
  formText: maxFormCharacters(defaultLimits),
  credential: maxCredentialCharacters,
  authorization: maxAuthorizationCharacters,
  errors: maxReportedProblems,
  upstreamError: maxErrorCharacters,
  loggedMessage: maxLoggedCharacters,
  logBytes: maxLogBytes,
  metricOperations: maxOperations,
  topCallers: maxCallers,
  limitWindows: maxWindows,
  limitStoreMs: maxStoreMs,
  limitPlaceMs: maxPlaceMs,
  storeRetryMs: usualRetryMs,
  acceptRanges: maxAcceptRanges,
  writtenBytes: maxWrittenBytes(defaultLimits),
  sliceNames: maxSliceNames,
  documentsWaiting: maxWaitingForDocuments,
  documentCacheBytes: maxDocumentCacheBytes,
  pagesWaiting: maxWaitingVisitors,
  pageCacheBytes: maxPageCacheBytes,
  headersMs: maxHeadersMs,
  bodyMs: maxBodyMs(defaultLimits),
  bodyIdleMs: maxBodyIdleMs,
  bodySlowMs: maxSlowBodyMs,
  bodyBytesPerSecond: minBodyBytesPerSecond,
  writeIdleMs: maxWriteIdleMs,
  writeSlowMs: maxSlowWriteMs,
  writeBytesPerSecond: minWriteBytesPerSecond,
  upstreamOverheadBytes: maxOverheadBytes,
  tlsHandshakes: maxTlsHandshakes,
  requestsPerSocket: maxRequestsPerConnection,
  pipelined: maxPipelined,
  pipelinedAtOnce: maxPipelinedInProgress,
  arriving: maxArriving,
  arrivingBytes: maxArrivingBytes,
  leavingBytes: maxLeavingBytes,
  roomWaits: maxMemoryWaits,
  parsingMs: maxParsingMs,
  parsingSliceUs: parsingSlice,
  parsingWatchMs: parsingWatch,
  loopDelayInFlight: minCallsInDelay,
  upstreamQueueMs: maxQueueMs,
  tokens: maxTokens,
  tokenMs: maxTokenMs,
  tokenBytes: maxTokenBytes,
  breakerFailingMs: minFailingMs,
  breakerWindowMs: failureWindowMs,
  breakerProbeMs: probeIntervalMs,
  breakerNetworks: maxNetworks,
  retrySavings: maxSavedRetries,
  retryAfterMs: maxRetryAfterMs,
  replyMisfits: maxMismatches,
  explainBytes: maxMessageBytes,
  explainFindings: maxFindings,
  explainRepairs: maxRepairs,
  mappingRules: maxRules,
  mappingCalls: maxCalls,
  mappingCodeMs: maxCodeMs,
} satisfies { readonly [name in keyof Limits]?: number };

/** Defaults of all limits, configurable or not. */
export const allLimits = { ...(defaultLimits as SettableLimits), ...constantLimits };

/** Returns the environment for a process, run from the sources, in which the constant limits have these values. */
export function withConstants(
  values: Partial<typeof constantLimits>,
): Readonly<Record<'NODE_OPTIONS' | 'TEST_CONSTANTS', string>> {
  const preload = new URL('replace-constants.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import=${preload}`, TEST_CONSTANTS: JSON.stringify(values) };
}
