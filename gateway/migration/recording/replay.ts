import { Socket } from 'node:net';
import { bufferOf } from '../../../mappings/bytes.ts';
import { type Comparer, compileComparison } from '../../../mappings/compare/compare.ts';
import type { ReplyBytes } from '../../../mappings/compare/comparison.ts';
import { compileRules } from '../../../mappings/compare/rules.ts';
import { type CompiledContract, compileContract } from '../../../mappings/compile.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { instantText } from '../../../mappings/contract/times.ts';
import type { LoadedMapping } from '../../../mappings/mapping/load.ts';
import {
  compileRedaction,
  type RedactExchange,
  type RedactionMode,
} from '../../../mappings/redact/message.ts';
import { Core } from '../../core/core.ts';
import { type AppOptions, type RequestContext, startRequest } from '../../http/request-context.ts';
import { http } from '../../node-http.ts';
import type { UpstreamPlan } from '../../process/upstream-plan.ts';
import { createUpstreams, type Upstreams } from '../../process/upstreams.ts';
import { versionNamed } from '../../protocols/soap/versions.ts';
import type { StoredExchange } from '../../store/tables/record.ts';
import type { Callers } from '../../telemetry/callers.ts';
import { LineBuffer } from '../../telemetry/line-buffer.ts';
import { CallSecrets } from '../call-secrets.ts';
import { CopyMemory } from '../copy-memory.ts';
import { Evidence } from '../evidence.ts';
import type { CheckedMigration } from '../migrations.ts';
import { NewReplyWriter } from '../new-reply.ts';
import { type Report, reportOperations } from '../report.ts';
import { isMtomRequest } from '../root-part.ts';
import { callNew, createEnd } from '../shadow-request.ts';
import { Skipped } from '../skipped.ts';
import { type ReplayCredentials, withCredentials } from './replay-credentials.ts';
import { Unreplayable } from './unreplayable.ts';

/** Maximum number of exchanges that a report lists as not replayed. More are counted. */
const maxListed = 1_000;

/** The header with the time of the recording. */
const recordedAt = 'X-Soapbridge-Recorded-At';

/** Settings of a replay. */
export interface ReplayTerms {
  readonly checked: CheckedMigration;
  readonly mapping: LoadedMapping | undefined;
  readonly callers: Callers;
  readonly limits: Limits;
  /** URL of the service. */
  readonly against: string;
  /** Settings of the upstream, if it is the service; undefined for another service. */
  readonly upstream: UpstreamPlan | undefined;
  readonly credentials: ReadonlyMap<string, ReplayCredentials>;
  /** True if writes are replayed, too. */
  readonly isSandbox: boolean;
}

/** An exchange that was not replayed. */
export interface NotReplayed {
  readonly exchange: string;
  readonly operation: string;
  readonly caller: string | null;
  readonly at: string;
  readonly reason: string;
}

/** The report of a replay (G59). */
export interface ReplayReport extends Report {
  readonly compared: number;
  readonly equal: number;
  readonly explained: number;
  readonly different: number;
  /** Calls without a reply of the service. */
  readonly unanswered: number;
  /** At most 1,000 exchanges; `notReplayedCount` has their number. */
  readonly notReplayed: readonly NotReplayed[];
  readonly notReplayedCount: number;
}

/** Replays recorded exchanges of one contract against a service (G59, G60). */
export class Replay {
  readonly #terms: ReplayTerms;
  readonly #compiled: CompiledContract;
  readonly #core: Core;
  readonly #upstreams: Upstreams;
  readonly #comparer: Comparer;
  readonly #writer: NewReplyWriter;
  readonly #evidence: Evidence;
  readonly #redactions = new Map<RedactionMode, RedactExchange>();
  readonly #counts = { equal: 0, explained: 0, different: 0, unanswered: 0 };
  readonly #notReplayed: NotReplayed[] = [];
  #notReplayedCount = 0;
  #app: AppOptions | undefined;

  constructor(terms: ReplayTerms) {
    const { checked, limits, callers } = terms;
    const { contract, plan, routing } = checked;
    this.#terms = terms;
    this.#compiled = compileContract(contract, { ...limits, ...plan.limits });
    this.#core = new Core(coreOptions(this.#compiled.limits));
    this.#upstreams = createUpstreams(
      { upstreamDatabase: undefined },
      { ...this.#core.upstreamOptions, onBreaker: () => {}, onHealth: () => {} },
    );
    const { rules = [], strict = false } = plan.stated.compare ?? {};
    const settings = { rules: compileRules(rules, '', { contract }, () => {}), strict };
    this.#comparer = compileComparison(contract, settings, this.#compiled.limits);
    this.#writer = new NewReplyWriter(this.#compiled, plan.stated.replies ?? {});
    this.#evidence = new Evidence({
      contract: contract.basePath || '/',
      maxFindings: limits.findings,
      reasons: routing.compare.rules.map(({ reason }) => reason),
      pseudonymOf: callers.pseudonymOf,
    });
  }

  /** Sends an exchange and compares the reply. */
  readonly send = async (exchange: StoredExchange): Promise<void> => {
    try {
      const { bytes, isMtom, context, own } = this.#requestOf(exchange);
      const secrets = new CallSecrets(context, nobody);
      secrets.sent(secretsOf(own));
      const reply = await this.#call(exchange, context, bytes, secrets);
      if (reply === undefined) {
        this.#counts.unanswered++;
        this.#evidence.unanswered(exchange.operation, exchange.at);
      } else this.#compare(exchange, reply, isMtom, secrets);
    } catch (error) {
      if (!(error instanceof Unreplayable)) throw error;
      this.#list(exchange, error.message);
    }
  };

  #list({ id, operation, caller, at }: StoredExchange, reason: string): void {
    this.#notReplayedCount++;
    if (this.#notReplayed.length >= maxListed) return;
    this.#notReplayed.push({ exchange: id, operation, caller: caller ?? null, at: instantText(at), reason });
  }

  /** Returns the message of an exchange with its credentials. Throws Unreplayable. */
  #requestOf(exchange: StoredExchange) {
    const { contract } = this.#compiled;
    const { credentials, isSandbox } = this.#terms;
    const { operation: name, caller, request, legacy, details } = exchange;
    const operation = contract.operations.find((one) => one.name === name);
    if (operation === undefined) throw new Unreplayable('its operation is unknown');
    if (!operation.readOnly && !isSandbox)
      throw new Unreplayable('it is a write: add --sandbox to replay it');
    if (request === undefined) throw new Unreplayable('its request was recorded without a body');
    if (details.legacy === undefined) throw new Unreplayable('it has no reply of the legacy service');
    if (legacy === undefined) throw new Unreplayable('its legacy reply was recorded without a body');
    if (contract.wsse?.x509 !== undefined) throw new Unreplayable('its contract needs signed messages');
    const own = credentials.get(caller ?? '') ?? credentials.get('*') ?? {};
    const bytes = withCredentials(request, contract, own);
    const context = this.#contextOf(exchange, own);
    return { bytes, isMtom: isMtomRequest(bytes, context), context, own };
  }

  #contextOf({ details }: StoredExchange, { headers }: ReplayCredentials): RequestContext {
    if (this.#app === undefined) throw new Error('a replay that was not opened');
    const message = new http.IncomingMessage(new Socket());
    const { 'Content-Encoding': _, ...kept } = details.request.headers;
    message.method = 'POST';
    message.url = `${this.#compiled.contract.basePath}${details.path}`;
    message.rawHeaders = [...Object.entries(kept), ...(headers ?? [])].flat();
    for (let at = 0; at < message.rawHeaders.length; at += 2)
      message.headers[message.rawHeaders[at]?.toLowerCase() ?? ''] = message.rawHeaders[at + 1];
    return startRequest(message, new http.ServerResponse(message), '', this.#app, undefined);
  }

  /** Opens the connections to the service. */
  async open(): Promise<void> {
    const { against: upstreamUrl, upstream, mapping } = this.#terms;
    const place = upstream === undefined ? { upstreamUrl } : { upstreamUrl, upstream };
    this.#app = this.#core.appOf(this.#compiled, await this.#upstreams.at(place), mapping);
  }

  /** Returns the reply of the service; undefined without one. Throws Unreplayable. */
  async #call(
    { operation, details, at }: StoredExchange,
    context: RequestContext,
    body: Buffer,
    secrets: CallSecrets,
  ) {
    const { service } = context.options;
    const { limits } = service.compiled;
    const memory = new CopyMemory(service.admission, limits.compareBytes);
    try {
      return await callNew(
        service,
        { version: versionNamed(details.version), endpoint: details.path === '' ? undefined : details.path },
        {
          context,
          body,
          memory,
          secrets,
          end: createEnd(context),
          deadline: performance.now() + limits.totalMs,
          added: { [recordedAt]: instantText(at) },
          // the message decides what the service does
          onOperation: (name) => {
            if (name !== operation) throw new Unreplayable('its message has another operation');
          },
        },
      );
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      if (error.reason === 'size') throw new Unreplayable('its reply has more than compareBytes');
      return undefined;
    } finally {
      memory.release();
    }
  }

  #compare(
    { id, operation, caller, at, details, legacy, redaction }: StoredExchange,
    reply: Awaited<ReturnType<typeof callNew>>,
    isMtom: boolean,
    secrets: CallSecrets,
  ): void {
    const { version, legacy: recorded } = details;
    if (legacy === undefined || recorded === undefined) return;
    const { status, contentType, body, ms } = reply;
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const written = this.#writer.write(
      { status, headers, body: bufferOf(body), retryAfter: undefined },
      operation,
      { version, isMtom },
    );
    const comparison = this.#comparer.compare(
      operation,
      { status: recorded.status, contentType: recorded.headers['Content-Type'], body: legacy },
      this.#redacted(written, operation, redaction),
    );
    this.#counts[comparison.result]++;
    this.#evidence.add({
      operation,
      callerKey: `id ${caller ?? ''}`,
      callerName: caller,
      requestId: id,
      comparison: secrets.hideIn(comparison),
      legacyMs: Math.max(recorded.ms, 0.1),
      newMs: Math.max(ms, 0.1),
      at,
    });
  }

  /** Redacts a reply like the recorded one, so that only other values differ. */
  #redacted(reply: ReplyBytes, name: string, mode: RedactionMode): ReplyBytes {
    const { contract, limits } = this.#compiled;
    const { key } = this.#terms.callers;
    const operation = contract.operations.find((one) => one.name === name);
    if (operation === undefined) return reply;
    const path = contract.basePath || '/';
    const redact = this.#redactions.get(mode) ?? compileRedaction(contract, path, mode, key, limits);
    this.#redactions.set(mode, redact);
    const redaction = redact(
      operation,
      (text) => text,
      () => {},
    );
    const body = redaction.soap('output', bufferOf(reply.body), reply.contentType);
    return { ...reply, body: body ?? new Uint8Array(0) };
  }

  report(now: number): ReplayReport {
    const { contract, evidence, routing } = this.#terms.checked;
    const { equal, explained, different, unanswered } = this.#counts;
    const { ready } = evidence;
    const expired = routing.compare.rules.flatMap(({ reason, until }) =>
      until !== undefined && until < now ? [reason] : [],
    );
    return {
      contract: contract.basePath || '/',
      saved: now,
      ready,
      expired,
      compared: equal + explained + different,
      equal,
      explained,
      different,
      unanswered,
      notReplayed: this.#notReplayed,
      notReplayedCount: this.#notReplayedCount,
      operations: reportOperations(this.#evidence.data(), [], ready, now),
    };
  }

  async close(): Promise<void> {
    await this.#upstreams.close();
    await this.#core.close();
  }
}

const noValues: ReadonlyMap<string, string> = new Map();
const noNames: ReadonlySet<string> = new Set();
const nobody = { name: undefined, key: () => '', values: { all: noValues, fromHeaders: noNames } };

/** Returns the secrets of a caller, which a service may repeat in its reply. */
function secretsOf({ password, headers, values }: ReplayCredentials): readonly string[] {
  return [
    ...(password === undefined ? [] : [password]),
    ...(headers ?? new Map()).values(),
    ...(values ?? new Map()).values(),
  ];
}

function coreOptions(limits: Limits): ConstructorParameters<typeof Core>[0] {
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  return {
    limits,
    log: silent,
    lines: new LineBuffer({ write: () => {} }),
    lowestLevel: Number.POSITIVE_INFINITY,
    logMessages: false,
    audit: undefined,
    trustedProxies: undefined,
    isOwnHost: undefined,
    publicUrl: () => 'http://localhost',
    isPublicUrlSet: true,
    isReady: () => true,
    metricsPage: async () => undefined,
  };
}
