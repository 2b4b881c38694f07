import type { Deviation } from '../../mappings/codec/problem.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import type { CredentialValues, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { Admission } from '../admission/admission.ts';
import type { CallerLimits } from '../admission/caller-limits.ts';
import type { InFlight } from '../admission/in-flight-set.ts';
import type { ShownMessages } from '../telemetry/messages.ts';
import type { Observer } from '../telemetry/observer.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';
import type { Upstream, UpstreamReply, Waiting } from '../upstream/upstream.ts';
import type { FoundCredentials, MessageCredentials, ReadCredentials } from './credentials.ts';
import type { CallError } from './error.ts';
import type { RequestHead } from './head.ts';
import type { NonceStore } from './nonces.ts';
import type { Outcome } from './outcome.ts';

/** The parts that every call of one contract needs. They are created at start. */
export interface CallService {
  readonly compiled: CompiledContract;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** `WWW-Authenticate` challenge for a call without credentials; undefined if the contract has none to give. */
  readonly challenge: string | undefined;
  /** Remembers the nonces of digests (W49). */
  readonly nonces: NonceStore;
  /** Reads large replies in a worker thread. */
  readonly readInWorker: ReplyReader;
  readonly upstream: Upstream;
  readonly admission: Admission;
  /** Receives the events of every call, stage by stage. */
  readonly observer: Required<Observer>;
  /** Formats the parts of messages that observers may show; undefined if no observer shows messages. */
  readonly shown: ShownMessages | undefined;
  /** Returns the caller's name or pseudonym for the log and metrics; undefined if the caller gave no id. */
  readonly callerOf: (values: CredentialValues) => string | undefined;
  /** Limits per caller; undefined if none is configured. */
  readonly callerLimits: CallerLimits | undefined;
  /** Returns the key under which `callerLimits` counts a call. The key does not reveal the caller's credentials. */
  readonly limitKeyOf: (values: CredentialValues | undefined, exchange: Exchange) => string;
  /** Reports an internal error once. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The data of an HTTP request that its call uses. */
export interface Exchange extends Waiting, InFlight {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly stats: RequestStats;
  /** Time of receipt, in ms of `performance.now()`. */
  readonly started: number;
  /** It is replaced by the timeout of the operation, if it has one. */
  deadline: number;
  /** Headers for the reply: upstream headers that are passed on, and headers of the caller's limits. */
  passed: Readonly<Record<string, string>> | undefined;
  /** Called with the upstream's reply before it is read, which may release its memory. Undefined for most calls. */
  onUpstreamReply?: (reply: UpstreamReply) => void;
}

/** A call that was read in a worker thread. Its inputs are checked and released, and its upstream request is built. */
export interface Prepared {
  readonly reading: {
    readonly illegalReferences: number;
    readonly deviations: ReadonlySet<Deviation> | undefined;
    readonly ignored: readonly string[];
    readonly isReadTwice: boolean;
    readonly isReordered: boolean;
  };
  readonly given: MessageCredentials;
  /** Credentials of the call; undefined if the contract has none or they were not checked. */
  readonly values: FoundCredentials | undefined;
  /** Text of the request for the message log; undefined if there is no message log. */
  readonly shown: string | undefined;
  /** JSON of a call of a legacy WSDL if an error prevents its upstream request; otherwise undefined. */
  readonly json: string | undefined;
  /** The upstream request, or the error that prevents it. */
  readonly request: UpstreamRequest | CallError;
}

/** The data needed to read a large reply. */
export interface ReplyTerms {
  /** Frame of the reply; undefined for a caller of JSON. */
  readonly frame: Frame | undefined;
  /** Credentials of the call. Errors never contain them. */
  readonly values: CredentialValues | undefined;
  /** Secrets that the gateway itself sent with the call. Errors never contain them. */
  readonly ownSecrets: readonly string[];
  /**
   * Called when reading is about to begin. Returns the free memory in bytes, or undefined if reading must not begin.
   */
  readonly freeBytes: () => number | undefined;
}

/** A large reply after it was read. */
export interface ReadReply {
  /** Contains the JSON only for a caller of JSON. */
  readonly outcome: Outcome;
  /** Text of the reply for the message log; undefined if there is no message log, and for a failure. */
  readonly shown: string | undefined;
}

/** Reads large replies of one contract in a worker thread. */
export interface ReplyReader {
  /**
   * Reads an upstream response and transfers its memory to the thread. Returns undefined and leaves the response
   * unchanged if reading must not begin. The reply to a write waits however long the queue is.
   * Throws CallError CallerGone. After the deadline it throws Overloaded for a read and UpstreamTimeout for a write. It
   * also throws the errors of `readReply`.
   */
  readonly reply: (
    exchange: Exchange,
    operation: CompiledOperation,
    reply: UpstreamReply,
    terms: ReplyTerms,
  ) => Promise<ReadReply | undefined>;
}
