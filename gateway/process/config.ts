import { dirname, resolve } from 'node:path';
import { wsse } from '../../mappings/contract/credential-keys.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import { keyword, map, record, text } from '../../mappings/contract/setting.ts';
import { isDocumentUrl } from '../../mappings/loader/contract-files.ts';
import {
  ContractError,
  type ContractProblem,
  pointerSegment,
  type Report,
} from '../../mappings/loader/document/error.ts';
import { isNode, shown } from '../../mappings/loader/document/node.ts';
import { readSettings } from '../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import type { ClientCertificateOptions } from '../http/client-certificate.ts';
import { type AdminPlan, adminSetting, readAdminPlan } from './admin-plan.ts';
import { withEnvironment } from './environment.ts';
import { readLegacyPlan } from './legacy-plan.ts';
import { legacySetting, migrationSetting } from './migration-setting.ts';
import { type ShownSetting, shownSettings } from './shown-settings.ts';
import type { SitePlan } from './sites.ts';
import { readStorePlan, type StorePlan, storeSetting } from './store-plan.ts';
import { readTlsPlan, type TlsPlan, tlsSetting } from './tls.ts';
import {
  checkAddress,
  file,
  limitsSetting,
  readOwnLimits,
  readUpstreamPlan,
  upstreamSetting,
} from './upstream-plan.ts';

/** `clientCertificate` in `soapbridge.yaml`. */
const clientCertificateSetting = record('Credential from a client certificate.', {
  header: text(
    'Header that receives the credential. Values that callers send in it are ignored.',
    'the name of a header',
    /^[A-Za-z0-9-]+$/,
  ),
  from: keyword('Part of the certificate.', 'subject', 'commonName', 'san', 'fingerprint'),
  sentIn: text(
    'Header in which a trusted proxy sends the certificate, such as X-Forwarded-Client-Cert. Without it, the TLS connection supplies the certificate.',
    'the name of a header',
    /^[A-Za-z0-9-]+$/,
  ),
  verifiedBy: text(
    'Header in which that proxy reports a valid certificate with SUCCESS or 0, such as X-SSL-Client-Verify.',
    'the name of a header',
    /^[A-Za-z0-9-]+$/,
  ),
});

/** The keys of `soapbridge.yaml`. */
export const configSettings = record('Contracts and settings of one gateway.', {
  contracts: map(
    'Contracts by the path prefix of their endpoints.',
    '`/path: { contract, upstream }`',
    record('One contract: a folder, or a document with or without an overlay.', {
      contract: file('Folder with openapi.yaml and an optional soap.yaml, or with a legacy WSDL.'),
      openapi: file('OpenAPI document, instead of a folder.'),
      overlay: file('Overlay for the OpenAPI document.'),
      upstream: upstreamSetting,
      wsse,
      limits: limitsSetting,
      legacy: legacySetting,
      migration: migrationSetting,
    }),
  ),
  tls: tlsSetting,
  clientCertificate: clientCertificateSetting,
  admin: adminSetting,
  store: storeSetting,
});

/** Settings of `soapbridge.yaml` for incoming connections. */
export interface ListenerPlan {
  readonly tls: TlsPlan | undefined;
  readonly clientCertificate: ClientCertificateOptions | undefined;
  readonly admin: AdminPlan | undefined;
}

/** Path segments after a contract's path that are reserved for its endpoints and pages. */
const ownWords = /\/(?:soap1[12]|json|xml|_?docs)(?=\/|$)/g;

/** Returns the reserved path of another contract that a path would hide; undefined if there is none. */
function hiddenBy(basePath: string, others: ReadonlySet<string>): string | undefined {
  for (const { 0: word, index } of basePath.toLowerCase().matchAll(ownWords)) {
    if (others.has(basePath.slice(0, index).toLowerCase() || '/')) return basePath.slice(0, index) + word;
  }
  return undefined;
}

const otherKeys: ReadonlySet<string> = new Set([
  'contract',
  'openapi',
  'overlay',
  'limits',
  'legacy',
  'migration',
  'wsse',
]);

/** True for the pointer of a contract's `upstream`, or of a key that no contract has. */
function isUpstreamOrUnknown(pointer: string, at: string): boolean {
  if (!pointer.startsWith(`${at}/`)) return false;
  const key = pointer.slice(at.length + 1);
  return !key.includes('/') && !otherKeys.has(key);
}

/** Returns true for the pointer of a value below `at` that has the key, or a name similar to it. */
function isValueOf(key: string, pointer: string, at: string): boolean {
  if (!pointer.startsWith(`${at}/`)) return false;
  const [name = ''] = pointer.slice(at.length + 1).split('/');
  return nearest(name, [key]) === key;
}

/** A `soapbridge.yaml` that was read, with its valid keys and values. */
export interface ConfigFile {
  readonly path: string;
  readonly root: unknown;
  readonly stated: NonNullable<ReturnType<typeof statedSettings>>;
  /** Variables that are not set, and invalid keys and values. */
  readonly problems: readonly ContractProblem[];
}

function statedSettings(root: unknown, report: Report) {
  return readSettings(configSettings, root, '', report);
}

/** Reads a `soapbridge.yaml`, for functions that would read it again. */
export function openConfig(path: string): ConfigFile {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file: path, pointer, message });
  };
  const root = withEnvironment(readYamlFile(path, problems)?.root ?? {}, report);
  // A missing variable is a missing value, too. It is reported only once.
  const missing = new Set(problems.map(({ pointer }) => pointer));
  const reportOnce = (pointer: string, message: string): void => {
    if (!missing.has(pointer)) report(pointer, message);
  };
  return { path, root, stated: statedSettings(root, reportOnce) ?? {}, problems };
}

/** Settings of a file that are being read. */
interface Reading {
  readonly path: string;
  readonly root: unknown;
  readonly stated: ConfigFile['stated'];
  readonly problems: ContractProblem[];
  readonly report: Report;
  /** Returns the path of a file that the settings name. */
  readonly inFolder: (name: string) => string;
}

function readingOf(config: string | ConfigFile): Reading {
  const opened = typeof config === 'string' ? openConfig(config) : config;
  const { path, root, stated, problems: found } = opened;
  const problems = [...found];
  const report: Report = (pointer, message, key) => {
    const isConsequence = ({ pointer: other }: ContractProblem): boolean =>
      other === pointer || (key !== undefined && isValueOf(key, other, pointer));
    if (!found.some(isConsequence)) problems.push({ file: path, pointer, message });
  };
  return { path, root, stated, problems, report, inFolder: (name) => resolve(dirname(path), name) };
}

/** Returns the values of a valid `soapbridge.yaml`, without secrets. */
export function readShownConfig(path: string): readonly ShownSetting[] {
  return shownSettings(configSettings, openConfig(path).root, path);
}

/** Reads the settings of `soapbridge.yaml` for incoming connections. Throws ContractError with their problems. */
export function readListenerPlan(config: string | ConfigFile, hasTrustedProxies: boolean): ListenerPlan {
  const { path, stated, problems, report, inFolder } = readingOf(config);
  const tls = stated.tls === undefined ? undefined : readTlsPlan(stated.tls, path, inFolder, report);
  const admin = stated.admin === undefined ? undefined : readAdminPlan(stated.admin, path, inFolder, report);
  if (problems.length > 0) throw new ContractError(withLines(problems));
  if (stated.clientCertificate === undefined) return { tls, clientCertificate: undefined, admin };
  const { sentIn, verifiedBy } = stated.clientCertificate;
  const clientCertificate = clientCertificateOf(stated);
  const at = '/clientCertificate';
  if (clientCertificate === undefined)
    report(at, 'expected header, the header of the credential, got none', 'header');
  if (sentIn === undefined && tls?.clientCertificates === undefined)
    report(
      at,
      'expected sentIn, or tls with clientCertificates, got neither key. No certificate would arrive',
    );
  if (sentIn !== undefined && !hasTrustedProxies)
    report(
      `${at}/sentIn`,
      'expected SOAPBRIDGE_TRUSTED_PROXIES with the proxies that send this header, got none',
    );
  if (verifiedBy !== undefined && sentIn === undefined)
    report(`${at}/verifiedBy`, 'expected sentIn with verifiedBy, got none');
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return { tls, clientCertificate, admin };
}

/** Returns the setting for credentials from client certificates; undefined without their header. */
function clientCertificateOf({
  clientCertificate = {},
}: ConfigFile['stated']): ClientCertificateOptions | undefined {
  const { header, from = 'subject', sentIn, verifiedBy } = clientCertificate;
  return header === undefined ? undefined : { header, from, sentIn, verifiedBy };
}

/**
 * Reads the setting `store`; undefined without it. Throws ContractError with its problems (G3).
 *
 * @param hasCallerKey true if SOAPBRIDGE_CALLER_KEY is set
 */
export function readStore(config: string | ConfigFile, hasCallerKey: boolean): StorePlan | undefined {
  const { path, stated, problems, report, inFolder } = readingOf(config);
  const plan =
    stated.store === undefined
      ? undefined
      : readStorePlan(stated.store, path, hasCallerKey, inFolder, report);
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return plan;
}

/** Returns the value of `wsse` of a contract as it is written. Its loader reads it as that of the overlay (X1). */
function writtenAt(root: unknown, basePath: string): unknown {
  const contracts = isNode(root) ? root.contracts : undefined;
  const contract = isNode(contracts) ? contracts[basePath] : undefined;
  return isNode(contract) ? contract.wsse : undefined;
}

/** Reads the contracts of a `soapbridge.yaml`. Throws ContractError with all problems. */
export function readConfig(config: string | ConfigFile): readonly SitePlan[] {
  const reading = readingOf(config);
  const { stated, problems, report } = reading;
  const contracts: ReadonlyMap<string, StatedContract> = stated.contracts ?? new Map();
  if (problems.length === 0 && contracts.size === 0)
    report('/contracts', 'expected at least one contract, got none');
  const taken = new Set<string>();
  const all = new Set([...contracts.keys()].map((basePath) => basePath.toLowerCase()));
  const plans = [...contracts].map(([basePath, settings]) => {
    checkBasePath(basePath, taken, all, report);
    taken.add(basePath.toLowerCase());
    return readContractPlan(basePath, settings, reading);
  });
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return plans;
}

/** Settings of one contract as written in the file. */
type StatedContract = NonNullable<ReturnType<NonNullable<ConfigFile['stated']['contracts']>['get']>>;

function checkBasePath(
  basePath: string,
  taken: ReadonlySet<string>,
  all: ReadonlySet<string>,
  report: Report,
): void {
  const at = `/contracts${pointerSegment(basePath)}`;
  if (!/^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/.test(basePath))
    report(at, 'expected a path such as /parcels, without a slash at its end');
  if (taken.has(basePath.toLowerCase()))
    report(at, 'expected a unique path, got a path that differs only in case');
  const hidden = hiddenBy(basePath, all);
  if (hidden !== undefined)
    report(at, `expected a path that hides no endpoint of another contract, got a path below its ${hidden}`);
}

function readContractPlan(basePath: string, settings: StatedContract, reading: Reading): SitePlan {
  const { path: file, root, stated, report, inFolder } = reading;
  const { upstream, limits: statedLimits, legacy, migration = {}, wsse: statedWsse } = settings;
  const at = `/contracts${pointerSegment(basePath)}`;
  const contract = readPlace(settings, at, reading);
  const upstreamUrl = readUpstreamUrl(upstream, at, reading);
  const limits = statedLimits === undefined ? undefined : readOwnLimits(statedLimits, `${at}/limits`, report);
  const { deprecate = [], ...routing } = migration;
  if (Object.keys(routing).length > 0 && legacy === undefined)
    report(`${at}/migration`, 'expected legacy, the legacy service, with migration, got none');
  const place = { file, at, limits, hasStore: stated.store !== undefined };
  const clientCertificate = clientCertificateOf(stated);
  const certificates = { clientCertificate, isRequested: stated.tls?.clientCertificates !== undefined };
  const deprecated = { file, at: `${at}/migration/deprecate`, stated: deprecate };
  return {
    contract,
    basePath: basePath === '/' ? '' : basePath,
    upstreamUrl,
    upstream:
      typeof upstream === 'object'
        ? readUpstreamPlan(upstream, `${at}/upstream`, inFolder, report)
        : undefined,
    limits,
    wsse: statedWsse === undefined ? undefined : { file, at: `${at}/wsse`, value: writtenAt(root, basePath) },
    legacy:
      legacy === undefined
        ? undefined
        : readLegacyPlan(legacy, migration, place, certificates, inFolder, report),
    deprecate: deprecate.length === 0 ? undefined : { ...deprecated, certified: clientCertificate?.header },
  };
}

/** Reads the place of a contract: a folder, or a document with or without an overlay. */
function readPlace(
  { contract, openapi, overlay }: StatedContract,
  at: string,
  { report, inFolder }: Reading,
): SitePlan['contract'] {
  if ((contract === undefined) === (openapi === undefined))
    report(
      at,
      `expected either contract or openapi, got ${contract === undefined ? 'neither key' : 'both keys'}`,
    );
  for (const [key, named] of Object.entries({ contract, openapi, overlay }))
    if (named !== undefined && isDocumentUrl(named))
      report(`${at}/${key}`, `expected a path, got the URL ${shown(named)}. Download the document to a file`);
  if (overlay !== undefined && openapi === undefined) report(at, 'expected openapi with overlay, got none');
  if (openapi === undefined) return inFolder(contract ?? '');
  return { openapi: inFolder(openapi), overlay: overlay === undefined ? undefined : inFolder(overlay) };
}

/** Returns the URL of a contract's upstream, or of its first address; undefined after a problem was reported. */
function readUpstreamUrl(
  upstream: StatedContract['upstream'],
  at: string,
  { problems, report }: Reading,
): string | undefined {
  const url = typeof upstream === 'string' ? upstream : (upstream?.url ?? upstream?.addresses?.[0]?.url);
  if (typeof upstream === 'object' && upstream.addresses !== undefined) return url;
  // An unset variable, an invalid value or a misspelt key was reported before.
  const isReported = problems.some(
    ({ pointer }) =>
      isUpstreamOrUnknown(pointer, at) ||
      ['url', 'addresses'].some((key) => isValueOf(key, pointer, `${at}/upstream`)),
  );
  if (url === undefined && !isReported)
    report(at, 'expected upstream, the URL of the JSON service, got none');
  checkAddress(url, `${at}/upstream`, report);
  return url;
}
