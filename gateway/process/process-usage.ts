import type { IncomingMessage } from 'node:http';
import type { Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { Log } from '../core/core-options.ts';
import { compileCertificateValue } from '../http/client-certificate.ts';
import { callerNetwork, proxyList } from '../http/forwarded.ts';
import { Usage, type UsageParts, usagePauseMs } from '../migration/usage.ts';
import type { Store } from '../store/store.ts';
import type { Callers } from '../telemetry/callers.ts';
import type { Observer } from '../telemetry/observer.ts';
import { readListenerPlan } from './config.ts';
import type { ServeOptions } from './serve-options.ts';
import type { PlannedContract } from './sites.ts';

/** Counts the calls of all contracts of a process with a store (G61). */
export class ProcessUsage {
  readonly #store: Store;
  readonly #log: Log;
  readonly #partsOf: (path: string) => Omit<UsageParts, 'keepsNetworks'>;
  /** Counters by the path of their contract. They continue over a reload. */
  readonly #usages = new Map<string, Usage>();
  /** Paths of contracts that store the networks of callers. */
  #withNetworks: ReadonlySet<string> = new Set();
  readonly #timer: NodeJS.Timeout;

  constructor(store: Store, log: Log, partsOf: (path: string) => Omit<UsageParts, 'keepsNetworks'>) {
    this.#store = store;
    this.#log = log;
    this.#partsOf = partsOf;
    this.#timer = setInterval(() => void this.#write(), usagePauseMs).unref();
  }

  /** Reads which contracts store the networks of callers (G62), before their observers are created. */
  use(contracts: readonly PlannedContract[]): void {
    this.#withNetworks = new Set(
      contracts.flatMap(({ plan, loaded }) => {
        const record = plan.legacy?.stated.record;
        const isPlain = typeof record === 'object' && record.redact === 'none';
        return isPlain ? [shownPath(plan.basePath ?? loaded.contract.basePath)] : [];
      }),
    );
  }

  /** Returns the observer of the contract at a path. */
  observerOf(path: string): Observer {
    const parts = { ...this.#partsOf(path), keepsNetworks: this.#withNetworks.has(path) };
    const known = this.#usages.get(path);
    const usage = known ?? new Usage(this.#store, this.#log, parts);
    usage.parts = parts;
    this.#usages.set(path, usage);
    if (known === undefined) void usage.write(); // reads the callers of the store
    return usage.observer;
  }

  /** Writes the counters a last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }

  async #write(): Promise<void> {
    await Promise.all([...this.#usages.values()].map((usage) => usage.write()));
  }
}

/** Opens the usage counters of a process with a store. */
export function openUsage(
  store: Store,
  options: Pick<ServeOptions, 'config' | 'trustedProxies'>,
  { usageCallers }: Limits,
  callers: () => Callers,
  log: Log,
): ProcessUsage {
  const proxies = proxyList(options.trustedProxies);
  const networkOf = (request: IncomingMessage): string => callerNetwork(request, proxies);
  const subjectOf = subjectsOf(options);
  return new ProcessUsage(store, log, (path) => ({
    path,
    maxCallers: usageCallers,
    networkOf,
    pseudonymOf: (text) => callers().pseudonymOf?.(text) ?? 'unknown', // a store requires the key
    subjectOf,
  }));
}

/** Returns a function that reads the subject of client certificates; undefined if the listener has none. */
function subjectsOf({
  config,
  trustedProxies,
}: Pick<ServeOptions, 'config' | 'trustedProxies'>): UsageParts['subjectOf'] {
  if (config === undefined) return undefined;
  const { tls, clientCertificate } = readListenerPlan(config, trustedProxies.length > 0);
  const { from, sentIn, verifiedBy } = clientCertificate ?? {};
  if (sentIn === undefined)
    return tls?.clientCertificates === undefined
      ? undefined
      : compileCertificateValue({ from: 'subject' }, undefined);
  // other proxies send only the part in `from`
  const hasSubject = from === 'subject' || sentIn.toLowerCase() === 'x-forwarded-client-cert';
  if (!hasSubject) return undefined;
  return compileCertificateValue({ from: 'subject', sentIn, verifiedBy }, proxyList(trustedProxies));
}
