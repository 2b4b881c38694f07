import type { TlsOptions } from 'node:tls';
import { keyword, record, type ValueOf } from '../../mappings/contract/setting.ts';
import { ContractError, type ContractProblem, type Report } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import { checkPem, file, readText } from './upstream-plan.ts';

/** `tls` in `soapbridge.yaml`. */
export const tlsSetting = record('TLS for incoming connections. Without it, callers use plain HTTP.', {
  certificate: file('Server certificate with its intermediate certificates, PEM.'),
  key: file('Private key without a passphrase, PEM.'),
  ca: file('CA certificates for client certificates, PEM.'),
  minVersion: keyword('Minimum TLS version.', 'TLSv1.2', 'TLSv1.3'),
  clientCertificates: keyword('Ask callers for a client certificate, or require one.', 'ask', 'require'),
});

/** Files and requirements of TLS for callers. */
export interface TlsPlan {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | undefined;
  readonly clientCertificates: 'ask' | 'require' | undefined;
  /** Position of the setting, for problems. */
  readonly position: { readonly file: string; readonly pointer: string };
}

/** Reads the setting `tls`. Returns undefined after it has reported a problem. */
export function readTlsPlan(
  stated: NonNullable<ValueOf<typeof tlsSetting>>,
  configFile: string,
  inFolder: (name: string) => string,
  report: Report,
  pointer = '/tls',
): TlsPlan | undefined {
  const { certificate, key, ca, minVersion, clientCertificates } = stated;
  if (certificate === undefined || key === undefined) {
    report(pointer, 'expected certificate and key, got only one of the two, or none');
    return undefined;
  }
  return {
    certificate: inFolder(certificate),
    key: inFolder(key),
    ca: ca === undefined ? undefined : inFolder(ca),
    minVersion,
    clientCertificates,
    position: { file: configFile, pointer },
  };
}

/** Returns Node's TLS options with the current contents of the plan's files. Throws ContractError. */
export function loadTls({
  certificate,
  key,
  ca,
  minVersion,
  clientCertificates,
  position,
}: TlsPlan): TlsOptions {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file: position.file, pointer, message });
  };
  const pem = (name: string, path: string): string => readText(path, `${position.pointer}/${name}`, report);
  const cert = pem('certificate', certificate);
  const ownKey = pem('key', key);
  const callersCa = ca === undefined ? undefined : pem('ca', ca);
  if (problems.length === 0) checkPem({ cert, key: ownKey, ca: callersCa }, position.pointer, report);
  if (clientCertificates !== undefined && ca === undefined)
    report(position.pointer, 'expected ca, the CA certificates for clientCertificates, got none');
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return {
    cert,
    key: ownKey,
    ...(callersCa === undefined ? {} : { ca: callersCa }),
    minVersion: minVersion ?? 'TLSv1.2',
    ...(clientCertificates === undefined
      ? {}
      : { requestCert: true, rejectUnauthorized: clientCertificates === 'require' }),
  };
}
