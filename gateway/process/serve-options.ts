import type { Limits } from '../../mappings/contract/limits.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import type { PagesMaker, TryIt } from '../http/pages.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { Way } from '../upstream/connector.ts';
import type { Proxies } from '../upstream/proxy.ts';
import type { OpenAdmin, WorkerUpstreams } from './admin.ts';
import type { CallerFiles } from './callers-file.ts';
import type { AskFirstRows } from './first-rows.ts';
import type { LoadReport } from './load-report.ts';
import type { LogLevel } from './process-log.ts';
import type { ShownSetting } from './shown-settings.ts';
import type { TlsPlan } from './tls.ts';

/** Options of a process, set by the command line and the environment. */
export interface ServeOptions {
  /** Configuration file, read again at each reload. If undefined, `contract` and `upstreamUrl` apply. */
  readonly config?: string | undefined;
  /** Place of the contract's documents. */
  readonly contract: ContractPlace;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** URL of the upstream. If undefined, the reference upstream runs in this process. */
  readonly upstreamUrl: string | undefined;
  /** Connection settings of the upstream. If undefined, Node's defaults apply. */
  readonly way?: Way | undefined;
  /** TLS for callers, unless the configuration file sets it; undefined for plain HTTP. */
  readonly tls?: TlsPlan | undefined;
  /** Interval between two checks of files that are loaded again when they change, in ms; 5 s by default. */
  readonly watchMs?: number | undefined;
  /** Proxies for calls to upstreams; undefined for direct connections. */
  readonly proxies?: Proxies | undefined;
  /** True if the log reports at start whether the upstream is reachable. */
  readonly probesUpstream?: boolean;
  /** True for a trial: calls to other servers are sent to the upstream, too. */
  readonly upstreamOnly?: boolean;
  /** Database file of the embedded reference upstream. If undefined, it uses memory. */
  readonly upstreamDatabase: string | undefined;
  /** Public URL of this process, for the WSDL. If undefined, the listening address is used (W34). */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /**
   * Host names that requests may have, without ports; undefined allows any. `loopback` allows loopback names, names
   * without a dot and the host of the public URL.
   */
  readonly allowedHosts?: readonly string[] | 'loopback' | undefined;
  readonly logLevel: LogLevel;
  /** True to log messages at any level, without credentials and personal members. */
  readonly logMessages?: boolean;
  /**
   * Time during which a stopping process still accepts requests, in ms. A load balancer can then see that it is not
   * ready.
   */
  readonly drainDelayMs: number;
  /** File of the secrets for digests of UsernameTokens (W49); undefined if there are none. */
  readonly wsseSecrets?: string | undefined;
  /** Files with the callers' names and the key of their pseudonyms. */
  readonly callerFiles?: CallerFiles | undefined;
  /** True if calls are traced, as configured by the variables `OTEL_*`. */
  readonly traces?: boolean | undefined;
  /** File of limits per caller; undefined if there are none. */
  readonly callerLimits?: string | undefined;
  /**
   * `redis://` or `rediss://` URL of the store that counts calls for all replicas. If undefined, this process counts.
   */
  readonly limitStore?: string | undefined;
  readonly limits?: Limits | undefined;
  /** File for audit lines, each written before its upstream call. If undefined, they are written to the log. */
  readonly auditLog?: string | undefined;
  /** Receives the report on each loaded contract. If undefined, it is logged. */
  readonly onLoaded?: ((report: LoadReport) => void) | undefined;
  /** Destination of the log; standard output by default. */
  readonly logTo?: NodeJS.WritableStream;
  /** Creates HTML pages. If undefined, only the plain list of operations is served. */
  readonly pages?: PagesMaker | undefined;
  /** Permission of the pages to send calls. By default they can if the process listens only on a loopback address. */
  readonly tryIt?: TryIt | undefined;
  /** Returns the metrics of all workers for /metrics, if this process is one of several. */
  readonly metricsOfAll?: (() => Promise<Snapshot | undefined>) | undefined;
  /** Returns the states of the upstreams of all workers, if this process is one of several. */
  readonly upstreamsOfAll?: (() => Promise<WorkerUpstreams | undefined>) | undefined;
  /** Makes the other workers load their files again; undefined if this is the only process. */
  readonly reloadOthers?: (() => Promise<unknown>) | undefined;
  /** Asks the primary process for rows of the store (G54), if this process is one of several. */
  readonly askFirstRows?: AskFirstRows | undefined;
  /** Opens the admin listener. Undefined: a configuration with `admin` is an error. */
  readonly openAdmin?: OpenAdmin | undefined;
  /** Settings of the command line and the environment, without secrets, for the admin listener. */
  readonly settings?: readonly ShownSetting[] | undefined;
}
