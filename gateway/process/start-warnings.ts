import type { Contract } from '../../mappings/contract/model.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { Logger } from '../telemetry/logger.ts';
import { isThisMachine } from '../upstream/proxy.ts';
import { isAnyAddress } from './listener.ts';
import type { ServeOptions } from './serve-options.ts';

/** Logs options that are valid but probably wrong. */
export function warnOfOptions({ publicUrl, host, logMessages }: ServeOptions, log: Logger): void {
  if (publicUrl === undefined && isAnyAddress(host))
    log.warn(
      {},
      'SOAPBRIDGE_PUBLIC_URL is not set: the WSDL contains http://localhost, which remote callers cannot reach',
    );
  if (logMessages === true)
    log.warn(
      {},
      'SOAPBRIDGE_LOG_MESSAGES is on: the log contains values that the overlay does not mark as personal',
    );
}

/** Warns if passwords would be sent without TLS. A UsernameToken and HTTP Basic contain the plain password (W54). */
export function warnOfHttp(
  { wsse, credentials, basePath }: Contract,
  publicUrl: string | undefined,
  log: Logger,
): void {
  const url = URL.parse(publicUrl ?? '');
  const isBasic = credentials?.basic !== undefined;
  if ((wsse === undefined && !isBasic) || url?.protocol !== 'http:') return;
  if (isThisMachine(url.hostname)) return;
  log.warn(
    { contract: shownPath(basePath) },
    `SOAPBRIDGE_PUBLIC_URL is http: passwords of ${isBasic ? 'HTTP Basic' : 'UsernameTokens'} are sent unencrypted`,
  );
}
