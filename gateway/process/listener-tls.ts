import type { BlockList } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import { compileIdentify, type Identify } from '../http/client-certificate.ts';
import type { Certificates } from './certificates.ts';
import { type ConfigFile, type ListenerPlan, readListenerPlan } from './config.ts';
import type { Listener } from './listener.ts';
import type { ServeOptions } from './serve-options.ts';
import { TlsFiles } from './tls-files.ts';
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
  const planned = (): Omit<ListenerPlan, 'admin'> =>
    config === undefined
      ? { tls: options.tls, clientCertificate: undefined }
      : readListenerPlan(config, trustedProxies !== undefined);
  const { tls: plan, clientCertificate } = planned();
  const files = plan === undefined ? undefined : new TlsFiles(plan, ['server', 'ca'], certificates);
  const reload = (): TlsOptions | undefined => {
    const next = planned();
    const isSame = (next.tls === undefined) === (plan === undefined);
    if (!isSame || next.tls?.clientCertificates !== plan?.clientCertificates)
      throw changed(config, '/tls', 'tls and clientCertificates without changes, got other values');
    if (!isDeepStrictEqual(next.clientCertificate, clientCertificate))
      throw changed(config, '/clientCertificate', 'the values of the start, got other values');
    return next.tls === undefined ? undefined : files?.read(next.tls);
  };
  const renew: ListenerTls['renew'] = (listener, renewed) => {
    listener.renewTls(renewed);
    if (plan !== undefined) files?.use(plan, renewed);
  };
  return {
    tls: files?.options,
    identify:
      clientCertificate === undefined ? undefined : compileIdentify(clientCertificate, trustedProxies),
    certified: clientCertificate?.header,
    reload,
    renew,
    watch: (listener, log) => {
      const renewFiles = (): void => {
        const renewed = reload();
        if (renewed !== undefined) renew(listener, renewed);
        certificates.warn(log);
      };
      const messages = {
        renewed: 'TLS certificates reloaded for new connections',
        failed: 'TLS certificates not reloaded: keeping the previous certificates',
      };
      return files?.watch(options.watchMs ?? usualWatchMs, renewFiles, log, messages) ?? (() => {});
    },
  };
}

function changed(config: string | ConfigFile | undefined, pointer: string, expected: string): ContractError {
  const file = typeof config === 'object' ? config.path : (config ?? '');
  const message = `expected ${expected}. Restart the gateway to change them`;
  return new ContractError([{ file, pointer, message }]);
}
