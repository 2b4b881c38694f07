import type { Command } from 'commander';
import { nearest } from '../../mappings/contract/nearest.ts';

/** Prefix of every environment variable that only soapbridge reads. */
const prefix = 'SOAPBRIDGE_';

/** Variables that had no prefix before they got the prefix; docs/upgrading.md lists them. */
export const oldNames: readonly string[] = [
  'ALLOWED_HOSTS',
  'AUDIT_LOG',
  'CALLERS',
  'CALLER_KEY',
  'CALLER_LIMITS',
  'CONFIG',
  'CONTRACT',
  'DRAIN_DELAY',
  'FETCH',
  'LIMITS',
  'LIMIT_STORE',
  'LOG_LEVEL',
  'LOG_MESSAGES',
  'OPENAPI',
  'OVERLAY',
  'PAGES',
  'PUBLIC_URL',
  'TLS_CA',
  'TLS_CERTIFICATE',
  'TLS_CLIENT_CERTIFICATES',
  'TLS_KEY',
  'TRUSTED_PROXIES',
  'TRY_IT',
  'UPSTREAM_DB',
  'UPSTREAM_URL',
  'WORKERS',
  'WSSE_SECRETS',
];

/** Variables without the prefix. */
const withoutPrefix: readonly string[] = ['HOST', 'PORT'];

/** Ends of the names that Kubernetes sets for each port of a Service. */
const serviceLinkEnd =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9]{1,15})?|PORT(?:_\d{1,5}_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/** Value of `…_PORT`, which has the form of a service link only with this value. */
const serviceLinkAddress = /^(?:tcp|udp|sctp):/;

/** Options that a contract named by position replaces. */
const contractOptions: ReadonlySet<string> = new Set(['contract', 'openapi', 'overlay', 'config']);

/**
 * Rejects variables that the user meant for soapbridge and that no option reads: old names, and misspelt new ones.
 * `serve` rejects every old name. Another command rejects an old name only if it has the option and nothing else sets
 * it. Throws RangeError with one line for each variable.
 */
export function checkEnvironment(command: Command, known: readonly string[]): void {
  const set = Object.keys(process.env).filter((name) => process.env[name] !== '');
  const old = command.name() === 'serve' ? oldNames : missedOldNames(command);
  const lines = [
    ...set
      .filter((name) => old.includes(name))
      .map(
        (name) =>
          `${name}: expected the name ${prefix}${name}, got the old name. Rename or unset the variable`,
      ),
    ...set.flatMap((name) => {
      if (!name.startsWith(prefix) || known.includes(name) || isServiceLink(name)) return [];
      const short = name.slice(prefix.length);
      if (withoutPrefix.includes(short)) return [`${name}: expected the name ${short} without the prefix`];
      const near = nearest(
        short,
        known.map((each) => each.slice(prefix.length)),
      );
      return near === undefined
        ? []
        : [`${name}: expected a variable of soapbridge, got an unknown name. Did you mean ${prefix}${near}?`];
    }),
  ];
  if (lines.length > 0) throw new RangeError(lines.join('\n'));
}

/**
 * Returns true for a variable that Kubernetes sets for a Service named `soapbridge` or `soapbridge-…`, for example
 * SOAPBRIDGE_SERVICE_HOST or SOAPBRIDGE_PORT_8080_TCP (`enableServiceLinks` of a pod).
 */
function isServiceLink(name: string): boolean {
  if (!serviceLinkEnd.test(name)) return false;
  return (
    !name.endsWith('_PORT') ||
    /_SERVICE_PORT$|_PORT_\d{1,5}_[A-Z]{3,4}_PORT$/.test(name) ||
    serviceLinkAddress.test(process.env[name] ?? '')
  );
}

/** Returns the old names of the command's options that have their default value. */
function missedOldNames(command: Command): readonly string[] {
  const isNamed = command.args.length > 0;
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    const source = command.getOptionValueSource(name);
    const isGiven = (source !== undefined && source !== 'default') || (isNamed && contractOptions.has(name));
    if (isGiven || option.envVar?.startsWith(prefix) !== true) return [];
    return [option.envVar.slice(prefix.length)];
  });
}

/** Returns the variables with the prefix that any command reads. */
export function knownVariables(commands: readonly Command[]): readonly string[] {
  const names = commands.flatMap(({ options }) => options.flatMap(({ envVar = '' }) => envVar));
  return [...new Set(names.filter((name) => name.startsWith(prefix)))];
}
