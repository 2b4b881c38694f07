import { record, text, type ValueOf } from '../../mappings/contract/setting.ts';
import type { Report } from '../../mappings/loader/document/error.ts';
import { isLocalHost } from './listener.ts';
import { readTlsPlan, type TlsPlan, tlsSetting } from './tls.ts';
import { file } from './upstream-plan.ts';

/** `admin` in `soapbridge.yaml`. */
export const adminSetting = record('A listener for probes, metrics and state. Default: none.', {
  listen: text(
    'The address to listen on. Any address except loopback requires tls.',
    'host:port, such as 127.0.0.1:9090',
    /^(?:\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i,
  ),
  origin: text(
    'The origin of the pages, if browsers reach the listener by another address. Default: the address in listen.',
    'a URL without a path, such as https://admin.example.com',
    /^https?:\/\/[^/]+$/i,
  ),
  tls: { ...tlsSetting, description: 'TLS of this listener.' },
  tokens: file('The file of the tokens and client certificates that are accepted.'),
});

/** Settings of the admin listener. */
export interface AdminPlan {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly tls: TlsPlan | undefined;
  /** Origin of the pages as browsers send it; undefined for that of the listener. */
  readonly origin: string | undefined;
  /** Path of the token file. */
  readonly tokens: string;
  readonly configFile: string;
}

/** Reads the setting `admin`. Returns undefined after it has reported a problem. */
export function readAdminPlan(
  stated: NonNullable<ValueOf<typeof adminSetting>>,
  configFile: string,
  inFolder: (name: string) => string,
  report: Report,
): AdminPlan | undefined {
  const { listen, origin: statedOrigin, tls: statedTls, tokens } = stated;
  const tls =
    statedTls === undefined
      ? undefined
      : readTlsPlan(withDefault(statedTls), configFile, inFolder, report, '/admin/tls');
  if (listen === undefined) report('/admin/listen', 'expected host:port, such as 127.0.0.1:9090, got none');
  if (tokens === undefined)
    report('/admin/tokens', 'expected a file of tokens, got none; soapbridge admin-token makes its entries');
  const origin = statedOrigin === undefined ? undefined : URL.parse(statedOrigin)?.origin;
  if (statedOrigin !== undefined && origin === undefined)
    report('/admin/origin', `expected a URL without a path, got ${statedOrigin}`);
  if (listen === undefined || tokens === undefined) return undefined;
  const at = listen.lastIndexOf(':');
  const host = listen.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(listen.slice(at + 1));
  if (port > 65_535) report('/admin/listen', `expected a port from 0 to 65535, got ${port}`);
  if (statedTls === undefined && !isLocalHost(host))
    report(
      '/admin/listen',
      `expected a loopback address without admin.tls, got ${listen}; set admin.tls, or listen on 127.0.0.1`,
    );
  return { host, port, origin, tls, tokens: inFolder(tokens), configFile };
}

/** With CAs, the listener requests a client certificate by default. */
function withDefault(tls: NonNullable<ValueOf<typeof tlsSetting>>): NonNullable<ValueOf<typeof tlsSetting>> {
  return tls.ca === undefined ? tls : { ...tls, clientCertificates: tls.clientCertificates ?? 'ask' };
}
