import type { BlockList } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import { compileIdentify, type Identify } from '../http/client-certificate.ts';
import { describeError } from '../telemetry/log.ts';
import { type ListenerPlan, readListenerPlan } from './config.ts';
import type { Listener } from './listener.ts';
import type { ServeOptions } from './serve-options.ts';
import { loadTls, watchTls } from './tls.ts';

/** TLS towards callers as it is now, and what makes their certificates credentials. */
export interface ListenerTls {
  readonly tls: TlsOptions | undefined;
  readonly identify: Identify | undefined;
  /** The header that they fill. */
  readonly certified: string | undefined;
  /** Reads the configuration and its files again. Throws ContractError; what it gives is to be put into force. */
  readonly reload: () => TlsOptions | undefined;
  /** Renews the certificates of a listener whenever their files change; what it gives ends that. */
  readonly watch: (listener: Listener, log: Log) => () => void;
}

/** In ms. */
const watchMs = 5_000;

/** Reads what is said of TLS. Throws ContractError. */
export function openTls(options: ServeOptions, trustedProxies: BlockList | undefined): ListenerTls {
  const planned = (): ListenerPlan =>
    options.config === undefined
      ? { tls: options.tls, clientCertificate: undefined }
      : readListenerPlan(options.config, trustedProxies !== undefined);
  const { tls: plan, clientCertificate } = planned();
  const load = (): TlsOptions | undefined => {
    const now = planned().tls;
    const isSame = (now === undefined) === (plan === undefined);
    if (isSame && now?.clientCertificates === plan?.clientCertificates)
      return now === undefined ? undefined : loadTls(now);
    const message = 'expected tls and its clientCertificates as they were, got others: they take a restart';
    throw new ContractError([{ file: options.config ?? '', pointer: '/tls', message }]);
  };
  return {
    tls: plan === undefined ? undefined : loadTls(plan),
    identify:
      clientCertificate === undefined ? undefined : compileIdentify(clientCertificate, trustedProxies),
    certified: clientCertificate?.header,
    reload: load,
    watch: (listener, log) => {
      if (plan === undefined) return () => {};
      return watchTls(plan, options.tlsWatchMs ?? watchMs, () => {
        try {
          const renewed = load();
          if (renewed !== undefined) listener.renewTls(renewed);
          log.info({}, 'the certificates of TLS changed: new connections have the new ones');
        } catch (error) {
          const why = error instanceof ContractError ? { problems: error.problems } : describeError(error);
          log.error(why, 'the certificates of TLS changed and can’t be taken: the former ones go on');
        }
      });
    },
  };
}
