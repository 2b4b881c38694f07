import type { BlockList } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import { compileIdentify, type Identify } from '../http/client-certificate.ts';
import { describeError } from '../telemetry/log.ts';
import { type Certificates, certificatesOfListener } from './certificates.ts';
import { type ConfigFile, type ListenerPlan, readListenerPlan } from './config.ts';
import type { Listener } from './listener.ts';
import type { ServeOptions } from './serve-options.ts';
import { loadTls, type TlsPlan, tlsStampsOf, watchTls } from './tls.ts';
import { usualWatchMs } from './watched-files.ts';

/** Current TLS settings for callers, and the function that turns their certificates into credentials. */
export interface ListenerTls {
  readonly tls: TlsOptions | undefined;
  readonly identify: Identify | undefined;
  /** Header that receives the certificate's credential. */
  readonly certified: string | undefined;
  /**
   * Reads the configuration and its files again. The caller must apply the result to the listener. Throws
   * ContractError.
   */
  readonly reload: () => TlsOptions | undefined;
  /** Uses new TLS options for future connections of the listener. */
  readonly renew: (listener: Listener, tls: TlsOptions) => void;
  /** Renews a listener's certificates whenever their files change. Returns a function that ends this. */
  readonly watch: (listener: Listener, log: Log) => () => void;
}

/** Reads the TLS settings. Throws ContractError. */
export function openTls(
  options: Pick<ServeOptions, 'tls' | 'watchMs'> & { readonly config?: string | ConfigFile | undefined },
  trustedProxies: BlockList | undefined,
  certificates: Certificates,
): ListenerTls {
  const { config } = options;
  const file = typeof config === 'object' ? config.path : (config ?? '');
  const planned = (): ListenerPlan =>
    config === undefined
      ? { tls: options.tls, clientCertificate: undefined, admin: undefined }
      : readListenerPlan(config, trustedProxies !== undefined);
  const { tls: plan, clientCertificate } = planned();
  const load = (): TlsOptions | undefined => {
    const { tls: now, clientCertificate: credential } = planned();
    const isSame = (now === undefined) === (plan === undefined);
    if (!isSame || now?.clientCertificates !== plan?.clientCertificates)
      throw changed('/tls', 'tls and clientCertificates without changes, got other values');
    if (!isDeepStrictEqual(credential, clientCertificate))
      throw changed('/clientCertificate', 'the values of the start, got other values');
    return now === undefined ? undefined : checked(now, loadTls(now));
  };
  const changed = (pointer: string, problem: string): ContractError => {
    const message = `expected ${problem}. Restart the gateway to change them`;
    return new ContractError([{ file, pointer, message }]);
  };
  const group = 'listener';
  const used = (of: TlsPlan, tls: TlsOptions) => certificatesOfListener(['server', 'ca'], of, tls);
  const checked = (of: TlsPlan, tls: TlsOptions): TlsOptions => {
    certificates.check(group, used(of, tls));
    return tls;
  };
  const renew: ListenerTls['renew'] = (listener, renewed) => {
    listener.renewTls(renewed);
    if (plan !== undefined) certificates.use(group, used(plan, renewed));
  };
  const before = plan === undefined ? new Map() : tlsStampsOf(plan);
  const tls = plan === undefined ? undefined : loadTls(plan);
  if (plan !== undefined && tls !== undefined) certificates.use(group, used(plan, tls));
  return {
    tls,
    identify:
      clientCertificate === undefined ? undefined : compileIdentify(clientCertificate, trustedProxies),
    certified: clientCertificate?.header,
    reload: load,
    renew,
    watch: (listener, log) => {
      if (plan === undefined) return () => {};
      return watchTls(plan, options.watchMs ?? usualWatchMs, before, () => {
        try {
          const renewed = load();
          if (renewed !== undefined) renew(listener, renewed);
          certificates.warn(log);
          log.info({}, 'TLS certificates reloaded for new connections');
        } catch (error) {
          const why = error instanceof ContractError ? { problems: error.problems } : describeError(error);
          log.error(why, 'TLS certificates not reloaded: keeping the previous certificates');
        }
      });
    },
  };
}
