import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { contractKindOf, serviceOf } from '../../mappings/contract/adopted.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { Allowance } from '../../mappings/loader/document/allowance.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { unusableNames } from '../../mappings/loader/names/portable.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import type { Mapping } from '../../mappings/mapping/mapping.ts';
import { compareDerived } from '../../wsdl/derived-openapi/compare.ts';
import type { Findings } from '../process/check-files.ts';
import { type ConfigFile, openConfig, readConfig } from '../process/config.ts';
import { withMapping } from '../process/load-place.ts';
import { checkDeprecations } from '../process/process-deprecations.ts';
import { migratedOf } from '../process/process-migrations.ts';
import type { PlannedContract, SitePlan } from '../process/sites.ts';
import { addressesOf, wayTo } from '../process/upstreams.ts';
import type { Probed } from '../upstream/probe.ts';
import { proxiesOf } from '../upstream/proxy.ts';
import { signingLinesOf, signingSummaryOf } from './check-signing.ts';
import { finding, wrongInput } from './failure.ts';
import { type FileFlags, fileOptionGroups, listOf, tlsOf, trustedProxiesOption } from './file-options.ts';
import { helpEnd } from './help.ts';
import {
  type ContractFlags,
  configOption,
  contractAction,
  contractCommand,
  httpUrl,
  plansOf,
} from './options.ts';
import { jsonOption, printError, printJson, printLine } from './output.ts';
import { type DescribedRoutes, describeAll, linesOf } from './routes.ts';

interface CheckFlags extends ContractFlags, FileFlags {
  readonly config?: string;
  readonly json: boolean;
  readonly upstream?: string;
  readonly probe?: true;
}

/** Creates the command `soapbridge check`. */
export function checkCommand(): Command {
  const command = contractCommand('check')
    .description('report problems of a contract, or list its operations')
    .addOption(configOption())
    .addOption(
      new Option('-u, --upstream <url>', 'URL of the upstream, for --probe')
        .env('SOAPBRIDGE_UPSTREAM_URL')
        .argParser(httpUrl('--upstream')),
    )
    .addOption(new Option('--probe', 'test the connection to the upstream with a HEAD request'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd('soapbridge check parcels.yaml', {
        0: 'the contract can be served',
        1: 'the upstream is unreachable (--probe)',
        2: 'the contract has an error, derived.openapi.yaml is out of date, or the input is wrong',
      }),
    )
    .action(contractAction(printCheck));
  const groups = { 'Files that serve reads:': [trustedProxiesOption()], ...fileOptionGroups() };
  for (const [group, options] of Object.entries(groups))
    for (const option of options) command.addOption(option.helpGroup(group));
  return command;
}

async function printCheck(flags: CheckFlags): Promise<void> {
  const { config, json } = flags;
  if (flags.probe) checkProbe(flags);
  const file = config === undefined ? undefined : openConfig(config);
  const { loaded, warnings, routes } = await readAll(flags, file);
  const probes = flags.probe ? await probeAll(flags, file) : undefined;
  const probeResults =
    probes === undefined ? {} : { probes: probes.map(({ url, probed }) => ({ url, ...probed })) };
  const store = file === undefined ? undefined : await stateOfStore(file, flags);
  if (!json) {
    for (const each of loaded) print(each);
    for (const each of routes) for (const line of linesOf(each)) printLine(line);
    if (store !== undefined) printLine(`store: ${store}`);
    for (const warning of warnings) printLine(`warning: ${warning}`);
    for (const { sentence } of probes ?? []) printLine(sentence);
  } else if (config !== undefined)
    printJson({ contracts: loaded.map(summaryOf), routes, warnings, store, ...probeResults });
  else for (const each of loaded) printJson({ ...(summaryOf(each) as object), ...probeResults });
  if (probes?.some(({ probed }) => !probed.reached)) process.exitCode = finding;
  if (loaded.some(({ derived }) => derived.length > 0)) process.exitCode = wrongInput;
}

/** Reads the contracts, and the other files that `serve` reads. Throws ContractError with the problems of all files. */
async function readAll(
  flags: CheckFlags,
  config: ConfigFile | undefined,
): Promise<{
  readonly loaded: readonly CheckedContract[];
  readonly warnings: readonly string[];
  readonly routes: readonly DescribedRoutes[];
}> {
  // Loaded on demand: other commands do not need the modules of a process.
  const [{ checkFiles, Findings: FileProblems }, { readTokens }] = await Promise.all([
    import('../process/check-files.ts'),
    import('../admin/tokens.ts'),
  ]);
  const { limits, callers, callerKey } = flags;
  const findings = new FileProblems();
  const plans = findings.collect(() => plansOf({ ...flags, config }));
  const loaded = (plans ?? []).flatMap((plan) => findings.collect(() => readPlan(plan, limits)) ?? []);
  const isWhole = plans !== undefined && loaded.length === plans.length;
  const files = checkFiles(
    {
      config,
      tls: findings.collect(() => tlsOf(flags)),
      wsseSecrets: flags.wsseSecrets,
      callerLimits: flags.callerLimits,
      limitStore: flags.limitStore,
      trustedProxies: listOf(flags.trustedProxies),
      callerFiles: { callers, callerKey },
      readTokens,
    },
    isWhole ? loaded.map(({ contract }) => contract) : undefined,
  );
  findings.collect(() => {
    if (files.problems.length > 0) throw new ContractError(files.problems);
  });
  const routes = isWhole && config !== undefined ? await checkRoutes(flags, plans, loaded, findings) : [];
  if (findings.problems.length > 0) throw new ContractError(findings.problems);
  return { loaded, warnings: files.warnings, routes };
}

/** Checks the routes and deprecations of contracts, and adds their problems to the findings (G4). */
async function checkRoutes(
  { callers, callerKey }: CheckFlags,
  plans: readonly SitePlan[],
  loaded: readonly CheckedContract[],
  findings: Findings,
): Promise<readonly DescribedRoutes[]> {
  const { readCallers } = await import('../process/callers-file.ts');
  const names = findings.collectOption(() => readCallers({ callers, callerKey }));
  if (names === undefined) return [];
  const planned: readonly PlannedContract[] = plans.flatMap((plan, index) => {
    const contract = loaded[index];
    return contract === undefined ? [] : [{ plan, loaded: contract }];
  });
  const migrated = migratedOf(planned).filter((one) => one !== undefined);
  const problems: ContractProblem[] = [];
  const deprecated = (await checkDeprecations(planned, names, problems)).filter((one) => one !== undefined);
  if (migrated.length === 0 && deprecated.length === 0) return [];
  const { checkMigrations } = await import('../migration/migrations.ts');
  const checked = findings.collect(() => checkMigrations(migrated, names, [], new Map(), problems));
  return describeAll(checked ?? [], deprecated);
}

/** Returns a sentence that says whether the store can be opened; undefined without a store. */
async function stateOfStore(
  config: ConfigFile,
  { callerKey, limits = defaultLimits }: CheckFlags,
): Promise<string | undefined> {
  const { readStore } = await import('../process/config.ts');
  const plan = readStore(config, callerKey !== undefined);
  if (plan === undefined) return undefined;
  const [{ describeStore }, { StoreError }] = await Promise.all([
    import('../store/open-store.ts'),
    import('../store/store.ts'),
  ]);
  try {
    return `${plan.shown} ${await describeStore(plan.url, limits.storeMs)}`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ContractError(withLines([{ file: config.path, pointer: '/store', message: error.message }]));
  }
}

function readPlan(
  { contract: place, basePath, legacy, wsse }: SitePlan,
  limits: Limits | undefined,
): CheckedContract {
  const own = readContract(place, limits, wsse);
  const loaded = { ...own, contract: { ...own.contract, basePath: basePath ?? own.contract.basePath } };
  const mapped = withMapping(place, loaded, limits ?? defaultLimits, legacy !== undefined);
  return { ...mapped, derived: derivedProblems(loaded, limits) };
}

function checkProbe({ config, upstream }: CheckFlags): void {
  if (config === undefined && upstream === undefined)
    throw new RangeError('--probe: expected the URL of the upstream as --upstream, got none');
}

/** Tries to reach every upstream that the flags name. */
async function probeAll(
  { upstream, limits = defaultLimits }: CheckFlags,
  config: ConfigFile | undefined,
): Promise<readonly { readonly url: string; readonly probed: Probed; readonly sentence: string }[]> {
  const { probeSentence, probeUpstream } = await import('../upstream/probe.ts'); // loads undici, which is slow
  const proxies = proxiesOf(process.env);
  const plans = config === undefined ? [{ upstreamUrl: upstream, upstream: undefined }] : readConfig(config);
  return Promise.all(
    plans.flatMap((plan) =>
      addressesOf(plan).map(async (url) => {
        const way = wayTo(url, plan.upstream, { proxies });
        const probed = await probeUpstream(url, way, limits.upstreamConnectMs, true);
        return { url, probed, sentence: probeSentence(url, probed) };
      }),
    ),
  );
}

/** A contract with the differences between its derived document and its WSDL. */
interface CheckedContract extends LoadedContract {
  readonly derived: readonly ContractProblem[];
  /** Mapping of its calls to another document (M1); undefined if there is none. */
  readonly mapping: LoadedMapping | undefined;
}

/**
 * Returns the differences between the derived document of a folder and its WSDL (A32). Returns none if there is no
 * derived document.
 */
function derivedProblems(
  { contract, derivedFile: path }: LoadedContract,
  limits: Limits = defaultLimits,
): readonly ContractProblem[] {
  if (path === undefined || !existsSync(path)) return [];
  const problems: ContractProblem[] = [];
  const file = readYamlFile(path, problems, new Allowance(limits));
  if (file === undefined) return problems;
  return withLines(compareDerived(serviceOf(contract), file.root, path, contract, limits.contractProblems));
}

/** Returns the summary of a contract for `--json`. */
export function summaryOf(loaded: LoadedContract & Partial<CheckedContract>): unknown {
  const { contract, mapping } = loaded;
  const { service, basePath, namespaces, operations, types, routes, personal } = contract;
  return {
    service,
    basePath,
    namespaces,
    operations: operations.map(({ name, readOnly, upstream: { method, path } }) => {
      return { name, readOnly, method, path };
    }),
    types: types.length,
    routes: routes.length,
    personal,
    asJsonText: loaded.notes,
    notServed: loaded.notServed,
    contradictions: loaded.contradictions,
    unchecked: loaded.unchecked,
    ownXml: loaded.ownXml,
    unbounded: loaded.unbounded,
    assumedServers: loaded.assumedServers,
    unforeseen: loaded.unforeseen,
    displaced: loaded.displaced,
    warnings: loaded.warnings,
    ...sourceSummaryOf(loaded).members,
    signing: signingSummaryOf(contract.wsse),
    ...(mapping === undefined ? {} : { mapping: mappingSummaryOf(mapping) }),
  };
}

/** The part of a summary that depends on the document that a contract is loaded from. */
interface SourceSummary {
  /** Lines for the terminal: the operations. */
  readonly lines: readonly string[];
  /** Lines for the terminal: warnings, and parts that are not served as they are described. */
  readonly notes: readonly string[];
  /** Members for `--json`. */
  readonly members: object;
}

function sourceSummaryOf(loaded: LoadedContract & Partial<CheckedContract>): SourceSummary {
  return contractKindOf(loaded.contract) === 'openapi' ? openapiSummaryOf(loaded) : wsdlSummaryOf(loaded);
}

/** Returns the summary of a mapping: calls per operation, operations without a rule, and one-way members (M3). */
function mappingSummaryOf({ operations, unmapped, oneWay }: Mapping): unknown {
  return {
    calls: [...operations.values()].map(({ name, targets }) => ({ name, targets })),
    unmapped,
    oneWay,
  };
}

function openapiSummaryOf(loaded: LoadedContract): SourceSummary {
  const { namespaces, operations, routes, types, service, basePath, settings } = loaded.contract;
  const records = types.filter(({ kind }) => kind === 'record').length;
  const unusable = unusableNames(loaded.names);
  const places = [
    [`sent as JSON ${settings.json}`, loaded.notes],
    ['conflicting descriptions', loaded.contradictions],
    ['not validated', loaded.unchecked],
    ['ignored xml keyword', loaded.ownXml],
    ['no size limit', loaded.unbounded],
    ['assumed upstream URL', loaded.assumedServers],
    ['undeclared response', loaded.unforeseen],
  ] as const;
  return {
    lines: [
      `${service}: ${operations.length} operations, ${types.length} types (${records} records)${routes.length === 0 ? '' : `, ${routes.length} ${routes.length === 1 ? 'route' : 'routes'}`} under ${shownPath(basePath)}`,
      namespaces.types === namespaces.arrays
        ? `namespace: ${namespaces.types}`
        : `namespaces: ${namespaces.types}, ${namespaces.arrays}`,
      ...operations.map(({ name, input, output, readOnly, upstream: { method, path } }) => {
        const inputs = input.fields.map(({ xml }) => xml).join(', ');
        const outputs = output.fields.map(({ xml }) => xml).join(', ');
        return `  ${name}(${inputs}) -> ${outputs}; ${method} ${path}${readOnly ? ', read only' : ''}`;
      }),
    ],
    notes: [
      ...places.flatMap(([title, all]) => all.map(({ pointer, why }) => `${title}: ${pointer} (${why})`)),
      ...loaded.warnings.map(
        ({ file, line, pointer, message }) => `warning: ${placeText(file, line)}#${pointer}: ${message}`,
      ),
      ...loaded.notServed.flatMap(({ name, reasons }) =>
        reasons.map(({ pointer, why }) => `not served: ${name} (${pointer}: ${why})`),
      ),
      ...loaded.displaced.map(
        ({ key, wanted, name, holder }) =>
          `renamed: ${name} (${key}; names.lock keeps ${wanted} for ${holder})`,
      ),
      ...unusable.map(
        ({ name, of, stacks, portable }) =>
          `${of} name that ${stacks.join(' and ')} cannot use: ${name} (${portable} with names: portable)`,
      ),
    ],
    members: { unusableNames: unusable },
  };
}

function wsdlSummaryOf({
  contract,
  notServed,
  warnings,
  derived = [],
}: LoadedContract & Partial<CheckedContract>): SourceSummary {
  const service = serviceOf(contract);
  const { basePath, operations, documents, ports } = contract;
  const files = documents.filter(({ isBuiltIn }) => !isBuiltIn).map(({ file }) => file);
  const endpoints = [...Map.groupBy(ports, ({ path }) => path)];
  const calls = new Map(operations.map(({ name, upstream }) => [name, upstream]));
  return {
    lines: [
      `${contract.service}: ${operations.length} operations from a WSDL (${files.join(', ')}), namespace ${service.namespace}`,
      ...endpoints.map(
        ([path, all]) =>
          `  ${basePath}${path}: ${all.map(({ name, soap }) => `${name} (SOAP ${soap})`).join(', ')}`,
      ),
      ...service.operations.map(({ name, style, input, output }) => {
        const { method = '', path = '' } = calls.get(name) ?? {};
        return `  ${name}: ${style}/${input.use}${output === undefined ? ', one-way' : ''}; ${method} ${path}`;
      }),
    ],
    notes: [
      ...service.policies.map(({ text, served }) => `policy requires: ${text}${served ? '' : ' (not met)'}`),
      ...notServed.flatMap(({ name, reasons }) =>
        reasons.map(({ why, file, line }) => {
          const place = file === undefined ? '' : `${placeText(file, line)}: `;
          return `not served: ${place}${name} (${why})`;
        }),
      ),
      ...warnings.map(({ file, line, message }) => `warning: ${placeText(file, line)}: ${message}`),
    ],
    members: {
      unusableNames: [],
      adopted: {
        endpoints: endpoints.map(([path, all]) => ({ path, ports: all.map(({ name }) => name) })),
        operations: service.operations.map(({ name, portType, wsdlName, style, input, actions }) => ({
          name,
          portType,
          operation: wsdlName,
          style: `${style}/${input.use}`,
          actions,
        })),
        policies: service.policies,
        documents: files,
      },
      derived,
    },
  };
}

/** Maximum number of differences of a derived document that are printed; `--json` has all. */
const mostDifferences = 2;

/** Prints that a derived document is out of date, and the first differences. */
function printDerived(derived: CheckedContract['derived']): void {
  const [first] = derived;
  if (first === undefined) return;
  const count = derived.length === 1 ? '1 difference' : `${derived.length} differences`;
  printError(
    `${first.file}: expected the document that matches the WSDL and soap.yaml, got ${count}. Run soapbridge adopt with --force to update it`,
  );
  for (const { file, line, pointer, message } of derived.slice(0, mostDifferences))
    printError(`${file}${line === undefined ? '' : `:${line}`}#${pointer}: ${message}`);
  const more = derived.length - mostDifferences;
  if (more > 0) printError(`${more} more differences; list all with --json`);
}

function print(loaded: CheckedContract): void {
  printSummary(loaded);
  for (const { name, targets } of loaded.mapping?.operations.values() ?? [])
    printLine(`mapped: ${name} to ${targets.join(', ')}`);
  printDerived(loaded.derived);
}

/** Prints the summary of a contract. */
export function printSummary(loaded: LoadedContract): void {
  const { personal, wsse } = loaded.contract;
  const { lines, notes } = sourceSummaryOf(loaded);
  const signing = signingSummaryOf(wsse);
  for (const line of lines) printLine(line);
  if (personal.length > 0) printLine(`personal: ${personal.join(', ')}`);
  if (signing !== undefined) for (const line of signingLinesOf(signing)) printLine(line);
  for (const note of notes) printLine(note);
}

function placeText(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}
