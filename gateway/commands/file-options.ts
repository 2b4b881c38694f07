import { Option } from 'commander';
import type { ServeOptions } from '../process/serve-options.ts';
import { toFile } from './options.ts';

/** Flags that name files of `serve`, apart from contracts. `check` reads the same files. */
export interface FileFlags extends Pick<ServeOptions, 'wsseSecrets' | 'callerLimits' | 'limitStore'> {
  readonly trustedProxies?: string;
  readonly callers?: string;
  readonly callerKey?: string;
  readonly tlsCertificate?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly tlsClientCertificates?: 'ask' | 'require';
}

/** Creates the option for trusted proxies. */
export function trustedProxiesOption(): Option {
  return new Option(
    '--trusted-proxies <list>',
    'addresses or ranges of proxies whose X-Forwarded-* headers are used',
  ).env('SOAPBRIDGE_TRUSTED_PROXIES');
}

/** Creates the options of the names and pseudonyms of callers. */
export function callerOptions(): readonly Option[] {
  return [
    new Option('--callers <file>', 'callers.yaml: names of callers by their ids')
      .env('SOAPBRIDGE_CALLERS')
      .argParser(toFile),
    new Option('--caller-key <file>', 'secret key for the pseudonyms of callers')
      .env('SOAPBRIDGE_CALLER_KEY')
      .argParser(toFile),
  ];
}

/** Creates the options of TLS and of callers by help group. */
export function fileOptionGroups(): Readonly<Record<string, readonly Option[]>> {
  return {
    'TLS:': [
      new Option('--tls-certificate <file>', 'server certificate, PEM; with --config, set tls in the file')
        .env('SOAPBRIDGE_TLS_CERTIFICATE')
        .conflicts('config'),
      new Option('--tls-key <file>', 'private key of the certificate, PEM')
        .env('SOAPBRIDGE_TLS_KEY')
        .conflicts('config'),
      new Option('--tls-client-certificates <how>', 'ask for a client certificate, or require one')
        .env('SOAPBRIDGE_TLS_CLIENT_CERTIFICATES')
        .choices(['ask', 'require'])
        .conflicts('config'),
      new Option('--tls-ca <file>', 'CA certificates for client certificates, PEM')
        .env('SOAPBRIDGE_TLS_CA')
        .conflicts('config'),
    ],
    'Callers:': [
      ...callerOptions(),
      new Option('--wsse-secrets <file>', 'YAML map of usernames to secrets, to verify password digests')
        .env('SOAPBRIDGE_WSSE_SECRETS')
        .argParser(toFile),
      new Option('--caller-limits <file>', 'rates, quotas and concurrent calls per caller and operation')
        .env('SOAPBRIDGE_CALLER_LIMITS')
        .argParser(toFile),
      new Option(
        '--limit-store <url>',
        'redis:// or rediss:// URL of the store that replicas share for caller limits',
      )
        .env('SOAPBRIDGE_LIMIT_STORE')
        .argParser(toStoreUrl),
    ],
  };
}

/** Returns the TLS settings of the flags. Throws RangeError. */
export function tlsOf({
  tlsCertificate: certificate,
  tlsKey: key,
  tlsCa: ca,
  tlsClientCertificates: clientCertificates,
}: FileFlags): ServeOptions['tls'] {
  const isSet = [certificate, key, ca, clientCertificates].some((each) => each !== undefined);
  if (!isSet) return undefined;
  if (certificate === undefined || key === undefined)
    throw new RangeError('--tls-certificate, --tls-key: expected both options, got only one option or none');
  return {
    certificate,
    key,
    ca,
    minVersion: undefined,
    clientCertificates,
    position: { file: 'command line', pointer: '/tls' },
  };
}

/** Parses a list with commas. */
export function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Parses a store URL. The error does not show it, because it may contain a password. */
function toStoreUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new RangeError('--limit-store: expected a URL such as redis://valkey:6379, got another format');
  return text;
}
