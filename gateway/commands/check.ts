import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Adopted, type AdoptedService, derivedFile } from '../../mappings/contract/adopted.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract, Port } from '../../mappings/contract/model.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { Allowance } from '../../mappings/loader/document/allowance.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import { type ContractPlace, readContract } from '../../mappings/loader/load.ts';
import { unusableNames } from '../../mappings/loader/names/portable.ts';
import type { Mapping } from '../../mappings/mapping/mapping.ts';
import { compareDerived } from '../../wsdl/derived-openapi/compare.ts';
import { readConfig } from '../process/config.ts';
import { withMapping } from '../process/load-place.ts';
import { wayTo } from '../process/upstreams.ts';
import type { Probed } from '../upstream/probe.ts';
import { proxiesOf } from '../upstream/proxy.ts';
import { finding, wrongInput } from './failure.ts';
import { helpEnd } from './help.ts';
import {
  type ContractFlags,
  configOption,
  contractAction,
  contractCommand,
  httpUrl,
  placesOf,
} from './options.ts';
import { jsonOption, printError, printJson, printLine } from './output.ts';

interface CheckFlags extends ContractFlags {
  readonly config?: string;
  readonly json: boolean;
  readonly upstream?: string;
  readonly probe?: true;
}

/** Creates the command `soapbridge check`. */
export function checkCommand(): Command {
  return contractCommand('check')
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
}

async function printCheck(flags: CheckFlags): Promise<void> {
  const { limits, config, json } = flags;
  if (flags.probe) checkProbe(flags);
  const loaded = placesOf(flags).map(({ place, basePath }): CheckedContract => {
    const own = readContract(place, limits);
    const loaded = {
      ...own,
      contract: { ...own.contract, basePath: basePath ?? own.contract.basePath },
    };
    const mapped = withMapping(place, loaded, limits ?? defaultLimits);
    return { ...mapped, derived: derivedProblems(place, loaded, limits) };
  });
  const probes = flags.probe ? await probeAll(flags) : undefined;
  const told = probes === undefined ? {} : { probes: probes.map(({ url, probed }) => ({ url, ...probed })) };
  if (!json) {
    for (const each of loaded) print(each);
    for (const { sentence } of probes ?? []) printLine(sentence);
  } else if (config !== undefined) printJson({ contracts: loaded.map(summaryOf), ...told });
  else for (const each of loaded) printJson({ ...(summaryOf(each) as object), ...told });
  if (probes?.some(({ probed }) => !probed.reached)) process.exitCode = finding;
  if (loaded.some(({ derived }) => derived.length > 0)) process.exitCode = wrongInput;
}

function checkProbe({ config, upstream }: CheckFlags): void {
  if (config === undefined && upstream === undefined)
    throw new RangeError('--probe: expected the URL of the upstream as --upstream, got none');
}

/** Tries to reach every upstream that the flags name. */
async function probeAll({
  config,
  upstream,
  limits = defaultLimits,
}: CheckFlags): Promise<
  readonly { readonly url: string; readonly probed: Probed; readonly sentence: string }[]
> {
  const { probeSentence, probeUpstream } = await import('../upstream/probe.ts'); // loads undici, which is slow
  const proxies = proxiesOf(process.env);
  const plans = config === undefined ? [{ upstreamUrl: upstream, upstream: undefined }] : readConfig(config);
  return Promise.all(
    plans.flatMap(({ upstreamUrl: url, upstream: plan }) => {
      if (url === undefined) return [];
      const way = wayTo(url, plan, { proxies });
      const probe = probeUpstream(url, way, limits.upstreamConnectMs, true);
      return [probe.then((probed) => ({ url, probed, sentence: probeSentence(url, probed) }))];
    }),
  );
}

/** A contract with the differences between its derived document and its WSDL. */
interface CheckedContract extends LoadedContract {
  readonly derived: readonly ContractProblem[];
  /** Mapping of its calls to another document (M1); undefined if there is none. */
  readonly mapping: Mapping | undefined;
}

/**
 * Returns the differences between the derived document of an adopted folder and its WSDL (A32). Returns none if there
 * is no derived document.
 */
function derivedProblems(
  place: ContractPlace,
  { contract }: LoadedContract,
  limits: Limits = defaultLimits,
): readonly ContractProblem[] {
  const { adopted } = contract;
  if (adopted === undefined || typeof place !== 'string') return [];
  const path = join(place, derivedFile);
  if (!existsSync(path)) return [];
  const problems: ContractProblem[] = [];
  const file = readYamlFile(path, problems, new Allowance(limits));
  if (file === undefined) return problems;
  return withLines(compareDerived(adopted.service, file.root, path, contract, limits.contractProblems));
}

/** Returns the summary of a contract for `--json`. */
export function summaryOf({
  derived = [],
  contract,
  notes,
  notServed,
  contradictions,
  unchecked,
  ownXml,
  unbounded,
  assumedServers,
  unforeseen,
  displaced,
  warnings,
  names,
  mapping,
}: LoadedContract & Partial<CheckedContract>): unknown {
  const { adopted } = contract;
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
    asJsonText: notes,
    notServed,
    contradictions,
    unchecked,
    ownXml,
    unbounded,
    assumedServers,
    unforeseen,
    displaced,
    warnings,
    unusableNames: adopted === undefined ? unusableNames(names) : [],
    ...(adopted === undefined ? {} : { adopted: adoptedSummaryOf(contract, adopted), derived }),
    ...(mapping === undefined ? {} : { mapping: mappingSummaryOf(mapping) }),
  };
}

/** Returns the summary of a mapping: calls per operation, operations without a rule, and one-way members (M3). */
function mappingSummaryOf({ operations, unmapped, oneWay }: Mapping): unknown {
  return {
    calls: [...operations.values()].map(({ name, targets }) => ({ name, targets })),
    unmapped,
    oneWay,
  };
}

/** Returns the additional summary of an adopted contract: endpoints, operations and policies. */
function adoptedSummaryOf({ ports }: Contract, { service }: Adopted): unknown {
  return {
    endpoints: endpointsOf(ports).map(([path, all]) => ({ path, ports: all.map(({ name }) => name) })),
    operations: service.operations.map(({ name, portType, wsdlName, style, input, actions }) => ({
      name,
      portType,
      operation: wsdlName,
      style: `${style}/${input.use}`,
      actions,
    })),
    policies: service.policies,
    documents: filesOf(service),
  };
}

/** Groups ports by path. */
function endpointsOf(ports: readonly Port[]): readonly [path: string, readonly Port[]][] {
  return [...Map.groupBy(ports, ({ path }) => path)];
}

/** Returns the contract's files that a service was read from. */
function filesOf({ documents }: Adopted['service']): readonly string[] {
  return documents.filter(({ isBuiltIn }) => !isBuiltIn).map(({ file }) => file);
}

/** Prints the summary of an adopted contract. */
export function printAdopted(
  contract: Contract,
  { service }: Adopted,
  notServed: LoadedContract['notServed'],
  warnings: LoadedContract['warnings'],
): void {
  const { basePath, personal } = contract;
  printLine(
    `${contract.service}: ${service.operations.length} operations from a WSDL (${filesOf(service).join(', ')}), ` +
      `namespace ${service.namespace}`,
  );
  for (const [path, all] of endpointsOf(contract.ports))
    printLine(`  ${basePath}${path}: ${all.map(({ name, soap }) => `${name} (SOAP ${soap})`).join(', ')}`);
  for (const { name, style, input, output, upstream } of merged(contract, service))
    printLine(
      `  ${name}: ${style}/${input.use}${output === undefined ? ', one-way' : ''}; ${upstream.method} ${upstream.path}`,
    );
  if (personal.length > 0) printLine(`personal: ${personal.join(', ')}`);
  for (const { text, served } of service.policies)
    printLine(`policy requires: ${text}${served ? '' : ' (not met)'}`);
  for (const { name, reasons } of notServed)
    for (const { why, file, line } of reasons) {
      const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
      printLine(`not served: ${place}${name} (${why})`);
    }
  for (const { file, line, message } of warnings)
    printLine(`warning: ${file}${line === undefined ? '' : `:${line}`}: ${message}`);
}

/** Joins the operations of both views of a contract by name. */
function merged({ operations }: Contract, service: AdoptedService) {
  const calls = new Map(operations.map(({ name, upstream }) => [name, upstream]));
  return service.operations.flatMap((operation) => {
    const upstream = calls.get(operation.name);
    return upstream === undefined ? [] : [{ ...operation, upstream }];
  });
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
  const { contract, notServed, displaced, warnings, derived, mapping } = loaded;
  const { adopted } = contract;
  if (adopted !== undefined) {
    printAdopted(contract, adopted, notServed, warnings);
    for (const { name, targets } of mapping?.operations.values() ?? [])
      printLine(`mapped: ${name} to ${targets.join(', ')}`);
    printDerived(derived);
    return;
  }
  const routes = contract.routes.length;
  const records = contract.types.filter(({ kind }) => kind === 'record').length;
  printLine(
    `${contract.service}: ${contract.operations.length} operations, ${contract.types.length} types (${records} records)${routes === 0 ? '' : `, ${routes} ${routes === 1 ? 'route' : 'routes'}`} under ${contract.basePath || '/'}`,
  );
  const { types, arrays } = contract.namespaces;
  printLine(types === arrays ? `namespace: ${types}` : `namespaces: ${types}, ${arrays}`);
  for (const { name, input, output, readOnly, upstream } of contract.operations) {
    const inputs = input.fields.map(({ xml }) => xml).join(', ');
    printLine(
      `  ${name}(${inputs}) -> ${output.fields.map(({ xml }) => xml).join(', ')}; ${upstream.method} ${upstream.path}${readOnly ? ', read only' : ''}`,
    );
  }
  if (contract.personal.length > 0) printLine(`personal: ${contract.personal.join(', ')}`);
  for (const [says, places] of [
    [`sent as JSON ${contract.settings.json}`, loaded.notes],
    ['conflicting descriptions', loaded.contradictions],
    ['not validated', loaded.unchecked],
    ['ignored xml keyword', loaded.ownXml],
    ['no size limit', loaded.unbounded],
    ['assumed upstream URL', loaded.assumedServers],
    ['undeclared response', loaded.unforeseen],
  ] as const)
    for (const { pointer, why } of places) printLine(`${says}: ${pointer} (${why})`);
  for (const { file, line, pointer, message } of warnings)
    printLine(`warning: ${file}${line === undefined ? '' : `:${line}`}#${pointer}: ${message}`);
  for (const { name, reasons } of notServed)
    for (const { pointer, why } of reasons) printLine(`not served: ${name} (${pointer}: ${why})`);
  for (const { key, wanted, name, holder } of displaced)
    printLine(`renamed: ${name} (${key}; names.lock keeps ${wanted} for ${holder})`);
  for (const { name, of, stacks, portable } of unusableNames(loaded.names))
    printLine(
      `${of} name that ${stacks.join(' and ')} cannot use: ${name} (${portable} with names: portable)`,
    );
}
