import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultLimits, type LimitName } from '../../mappings/contract/limits.ts';
import { logLevels } from '../process/process-log.ts';
import type { ServeOptions } from '../process/serve-options.ts';
import { type ShownSetting, withoutUserinfo } from '../process/shown-settings.ts';
import { type FileFlags, fileOptionGroups, listOf, trustedProxiesOption } from './file-options.ts';
import { type ContractFlags, configOption, httpUrl, publicUrlOption, toFile } from './options.ts';

/** Flags of `soapbridge serve`. */
export interface ServeFlags
  extends ContractFlags,
    FileFlags,
    Pick<ServeOptions, 'host' | 'port' | 'logLevel' | 'auditLog' | 'tryIt'> {
  readonly config?: string;
  readonly upstream?: string;
  readonly demo?: true;
  readonly upstreamDb?: string;
  readonly publicUrl?: string;
  readonly allowedHosts?: readonly string[];
  readonly logMessages: 'on' | 'off';
  readonly drainDelay: number;
  readonly workers: number;
  readonly pages: 'on' | 'off';
}

const defaultHost = '127.0.0.1';

const onOff = ['on', 'off'];

/** Options of `soapbridge serve` by help group, each with its variable and default. Groups are ordered by use. */
export const optionGroups: Readonly<Record<string, readonly Option[]>> = {
  'Contract and limits:': [configOption()],
  'Upstream:': [
    new Option(
      '-u, --upstream <url>',
      'URL of the JSON service (default: the first server of the OpenAPI document)',
    )
      .env('SOAPBRIDGE_UPSTREAM_URL')
      .argParser(httpUrl('--upstream')),
    new Option('--demo', 'serve the screening contract with the embedded reference upstream').conflicts([
      'openapi',
      'config',
      'upstream',
    ]),
    new Option('--upstream-db <file>', 'database file of the reference upstream, with --demo').env(
      'SOAPBRIDGE_UPSTREAM_DB',
    ),
  ],
  'Network:': [
    new Option('-p, --port <number>', 'port to listen on, 0 for a free port')
      .env('PORT')
      .default(8080)
      .argParser(toPort),
    new Option('--host <address>', 'address to listen on; HOST must be an IP address or localhost')
      .env('HOST')
      .default(defaultHost),
    publicUrlOption(),
    trustedProxiesOption(),
    new Option(
      '--allowed-hosts <list>',
      'accepted names in the Host header; others get 421 (default: loopback names on loopback without proxies, else all)',
    )
      .env('SOAPBRIDGE_ALLOWED_HOSTS')
      .argParser(toHosts),
  ],
  ...fileOptionGroups(),
  'Documentation pages:': [
    new Option('--pages <switch>', 'documentation pages with samples and a form for test calls')
      .env('SOAPBRIDGE_PAGES')
      .default('on')
      .choices(onOff),
    new Option(
      '--try-it <switch>',
      'test calls from the pages, or also the upstream calls they cause (default: on if HOST is loopback)',
    )
      .env('SOAPBRIDGE_TRY_IT')
      .choices([...onOff, 'show-upstream']),
  ],
  'Log:': [
    new Option('--log-level <level>', 'lowest level to log')
      .env('SOAPBRIDGE_LOG_LEVEL')
      .default('info')
      .choices(logLevels),
    new Option('--audit-log <file>', 'file for the audit lines of writes (default: the log)')
      .env('SOAPBRIDGE_AUDIT_LOG')
      .argParser(toFile),
    new Option(
      '--log-messages <switch>',
      'log message content without credentials and personal members, for development',
    )
      .env('SOAPBRIDGE_LOG_MESSAGES')
      .default('off')
      .choices(onOff),
  ],
  'Processes:': [
    new Option('-w, --workers <number>', 'number of processes, auto for one per core')
      .env('SOAPBRIDGE_WORKERS')
      .default(1)
      .argParser(toWorkers),
    new Option('--drain-delay <ms>', 'time to serve after SIGTERM while /readyz responds with 503')
      .env('SOAPBRIDGE_DRAIN_DELAY')
      .default(1000)
      .argParser(toMilliseconds),
  ],
};

/**
 * Ignores `HOST` if it is a machine's name: shells and CI systems set it for their own use. Throws RangeError for an
 * empty `--host`, because Node would listen on all addresses.
 */
export function settleHost(command: Command): void {
  const host: string = command.getOptionValue('host');
  if (command.getOptionValueSource('host') !== 'env') {
    if (host.trim() === '') throw new RangeError('--host: expected an address such as 127.0.0.1, got none');
  } else if (isIP(host) === 0 && host !== 'localhost')
    command.setOptionValueWithSource('host', defaultHost, 'default');
}

/** Returns the options and limits with their values and sources, without secrets. */
export function settingsOf(command: Command, flags: ServeFlags): readonly ShownSetting[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  const sources: Readonly<Record<string, string>> = {
    env: 'environment',
    cli: 'flag',
    default: 'default',
  };
  const sourceOf = (name: string): string =>
    sources[command.getOptionValueSource(name) ?? ''] ?? (name === 'upstream' ? 'contract' : 'argument');
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    const value = values[name];
    if (value === undefined || name === 'limits') return [];
    return [{ name: option.name(), value: withoutUserinfo(value), source: sourceOf(name) }];
  });
  const limits = Object.entries(defaultLimits).map(([name, usual]) => {
    const value = flags.limits?.[name as LimitName] ?? usual;
    return { name: `limits.${name}`, value, source: value === usual ? 'default' : sourceOf('limits') };
  });
  return [...options, ...limits];
}

/** Parses host names. An empty list would reject all requests, so at least one name is required. */
function toHosts(text: string): readonly string[] {
  const names = listOf(text);
  if (names.length === 0) throw new InvalidArgumentError('expected names, such as api.example.com.');
  return names;
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('expected a number from 0 to 65535.');
  return port;
}

function toMilliseconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a number of milliseconds.');
  return Number(text);
}

function toWorkers(text: string): number {
  if (text === 'auto') return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw new InvalidArgumentError('expected a number from 1 to 999, or auto.');
  return Number(text);
}
