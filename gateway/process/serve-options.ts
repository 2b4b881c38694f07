import type { Limits } from '../../mappings/contract/limits.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import type { PagesMaker, TryIt } from '../http/pages.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { Way } from '../upstream/connector.ts';
import type { Proxies } from '../upstream/proxy.ts';
import type { CallerFiles } from './callers-file.ts';
import type { LoadReport } from './load-report.ts';
import type { LogLevel } from './process-log.ts';
import type { TlsPlan } from './tls.ts';

/** How a process serves; the command line and the environment fill it in. */
export interface ServeOptions {
  /** The file that says what is served, read again at each reload; undefined: `contract` and `upstreamUrl` do. */
  readonly config?: string | undefined;
  /** Where the contract's documents lie. */
  readonly contract: ContractPlace;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The JSON service behind; undefined runs the reference upstream in this process. */
  readonly upstreamUrl: string | undefined;
  /** How the upstream is connected to; undefined: as Node does. */
  readonly way?: Way | undefined;
  /** TLS towards callers, where no file of configuration says it; undefined: plain HTTP. */
  readonly tls?: TlsPlan | undefined;
  /** How often, in ms, files of TLS are looked at; 5 s by default. */
  readonly tlsWatchMs?: number;
  /** Proxies that upstreams are called through; undefined: none. */
  readonly proxies?: Proxies | undefined;
  /** Whether the log says at start if the upstream can be reached. */
  readonly probesUpstream?: boolean;
  /** True for a trial: what goes to other servers goes to the upstream too. */
  readonly upstreamOnly?: boolean;
  /** Database file of the embedded reference upstream; undefined keeps it in memory. */
  readonly upstreamDatabase: string | undefined;
  /** Where callers reach this process, for the WSDL; undefined takes the listening address (W34). */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /**
   * Names that a request's Host may have, without ports; `loopback`: loopback names, names without a dot and the host of the
   * public URL; undefined: any.
   */
  readonly allowedHosts?: readonly string[] | 'loopback' | undefined;
  readonly logLevel: LogLevel;
  /** Whether messages are logged too, whatever the level, without credentials and personal members. */
  readonly logMessages?: boolean;
  /** How long, in ms, a stopping process still takes requests, so that a balancer sees it isn't ready. */
  readonly drainDelayMs: number;
  /** File of the secrets that digests of UsernameTokens are checked by (W49); undefined: there is none. */
  readonly wsseSecrets?: string | undefined;
  /** Files of callers' names, and of the key of pseudonyms. */
  readonly callerFiles?: CallerFiles | undefined;
  /** Whether calls are traced, as the variables `OTEL_*` say. */
  readonly traces?: boolean | undefined;
  /** File of what callers may do, one by one; undefined: nothing limits them so. */
  readonly callerLimits?: string | undefined;
  /** `redis://` or `rediss://`, where their calls are counted for all replicas; undefined: in this process. */
  readonly limitStore?: string | undefined;
  readonly limits?: Limits;
  /** File that audit lines are appended to, each before the call it is about goes out; undefined: they go to the log. */
  readonly auditLog?: string;
  /** Gets what there is to say of each contract that is loaded; undefined: it goes to the log. */
  readonly tellLoaded?: ((report: LoadReport) => void) | undefined;
  /** Where the log goes; standard output by default. */
  readonly logTo?: NodeJS.WritableStream;
  /** Makes pages for people; undefined: there are none but the plain list of operations. */
  readonly pages?: PagesMaker;
  /** Whether they may send calls; by default where the process listens on a loopback address alone. */
  readonly tryIt?: TryIt;
  /** What /metrics tells in place of this process's own, where it is one of several. */
  readonly metricsOfAll?: (() => Promise<Snapshot | undefined>) | undefined;
}
