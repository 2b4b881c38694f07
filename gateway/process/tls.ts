import { unwatchFile, watchFile } from 'node:fs';
import type { TlsOptions } from 'node:tls';
import { keyword, record, type ValueOf } from '../../mappings/contract/setting.ts';
import { ContractError, type ContractProblem, type Report } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import { checkPem, file, readText } from './upstream-plan.ts';

/** `tls` in `soapbridge.yaml`. */
export const tlsSetting = record('TLS towards callers; without it they speak plain HTTP.', {
  certificate: file('The certificate, PEM, with those between it and its CA.'),
  key: file('Its key, PEM, without a passphrase.'),
  ca: file('The CAs of callers’ certificates, PEM.'),
  minVersion: keyword('The least version.', 'TLSv1.2', 'TLSv1.3'),
  clientCertificates: keyword(
    'Whether callers are asked for a certificate, or must have one.',
    'ask',
    'require',
  ),
});

/** Which files TLS towards callers is made of, and what it asks for. */
export interface TlsPlan {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | undefined;
  readonly clientCertificates: 'ask' | 'require' | undefined;
  /** Where it is said, for what is wrong with it. */
  readonly said: { readonly file: string; readonly pointer: string };
}

/** Reads what `tls` says; undefined where what is wrong is reported. */
export function readTlsPlan(
  stated: NonNullable<ValueOf<typeof tlsSetting>>,
  configFile: string,
  inFolder: (name: string) => string,
  report: Report,
): TlsPlan | undefined {
  const { certificate, key, ca, minVersion, clientCertificates } = stated;
  if (certificate === undefined || key === undefined) {
    report('/tls', 'expected certificate and key, got one of them, or none');
    return undefined;
  }
  return {
    certificate: inFolder(certificate),
    key: inFolder(key),
    ca: ca === undefined ? undefined : inFolder(ca),
    minVersion,
    clientCertificates,
    said: { file: configFile, pointer: '/tls' },
  };
}

/** What Node takes of a plan, with what its files hold now. Throws ContractError. */
export function loadTls({ certificate, key, ca, minVersion, clientCertificates, said }: TlsPlan): TlsOptions {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file: said.file, pointer, message });
  };
  const pem = (name: string, path: string): string => readText(path, `${said.pointer}/${name}`, report);
  const cert = pem('certificate', certificate);
  const ownKey = pem('key', key);
  const callersCa = ca === undefined ? undefined : pem('ca', ca);
  if (problems.length === 0) checkPem({ cert, key: ownKey, ca: callersCa }, said.pointer, report);
  if (clientCertificates !== undefined && ca === undefined)
    report(
      said.pointer,
      'expected ca, the CAs of callers’ certificates, beside clientCertificates, got none',
    );
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

/** Calls back when one of the files of a plan has changed; what it gives ends that. */
export function watchTls(
  { certificate, key, ca }: TlsPlan,
  everyMs: number,
  onChange: () => void,
): () => void {
  const files = [certificate, key, ...(ca === undefined ? [] : [ca])];
  let waiting: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(waiting);
    waiting = setTimeout(onChange, everyMs / 10).unref(); // a certificate and its key change one after the other
  };
  // looked at by their times: a mounted secret is a link that is turned to other files
  for (const path of files) watchFile(path, { interval: everyMs, persistent: false }, changed);
  return () => {
    clearTimeout(waiting);
    for (const path of files) unwatchFile(path, changed);
  };
}
