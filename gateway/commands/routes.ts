import { buffer } from 'node:stream/consumers';
import { Argument, Command, Option } from 'commander';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { CheckedMigration } from '../migration/migrations.ts';
import type { CheckedDeprecations } from '../process/process-deprecations.ts';
import { callerOptions } from './file-options.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { configOption, limitsOption } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';
import { onlyMigration, type RouteFlags, readRoutes } from './read-routes.ts';

interface RoutesFlags extends RouteFlags {
  readonly json: boolean;
}

interface ExplainFlags extends RoutesFlags {
  readonly export?: true;
  readonly path?: string;
  readonly caller?: string;
  readonly header: readonly string[];
}

/** Creates the command `soapbridge routes`. */
export function routesCommand(): Command {
  const command = new Command('routes')
    .description('print the routes to a legacy service, or the route of a message read from stdin')
    .addArgument(
      new Argument('[action]', 'explain: print operation, mode and rule of a message').choices(['explain']),
    )
    .addOption(configOption().makeOptionMandatory());
  for (const option of callerOptions()) command.addOption(option);
  return command
    .option('--path <path>', 'path of the contract, if several have a legacy service')
    .option('--caller <name>', 'name of the caller in callers.yaml, or its id')
    .addOption(
      new Option(
        '--header <name:value...>',
        'HTTP header of the message; Content-Type is text/xml by default',
      )
        .default([])
        .argParser((text: string, before: readonly string[]) => [...before, text]),
    )
    .option('--export', 'print the rules with the route changes of the store as YAML')
    .addOption(limitsOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge routes explain --config soapbridge.yaml --caller acme < message.xml',
        { 0: 'the routes are valid', 2: wrongInputText },
        'The message is neither sent nor stored.',
      ),
    )
    .action((action: 'explain' | undefined, flags: ExplainFlags) =>
      action === 'explain'
        ? explain(flags)
        : flags.export === true
          ? exportRoutes(flags)
          : printRoutes(flags),
    );
}

async function printRoutes(flags: RoutesFlags): Promise<void> {
  const { migrations, deprecations } = await readRoutes(flags);
  const described = await describeAll(migrations, deprecations);
  if (flags.json) {
    printJson({ contracts: described });
    return;
  }
  if (described.length === 0) printLine('no contract has a legacy service or deprecated operations');
  for (const routes of described) for (const line of linesOf(routes)) printLine(line);
}

/** Prints the rules of each contract with the route changes before them, as YAML (G66). */
async function exportRoutes(flags: RoutesFlags): Promise<void> {
  const [{ migrations }, { withStore }, { newestRouteVersions }, { exportedRoutes }] = await Promise.all([
    readRoutes(flags),
    import('./store-option.ts'),
    import('../store/tables/routes.ts'),
    import('../migration/exported-routes.ts'),
  ]);
  const rows = await withStore(flags, (store) => store.all(newestRouteVersions));
  process.stdout.write(await exportedRoutes(migrations, rows, Date.now()));
}

/** The routes of one contract as sentences. */
export interface DescribedRoutes {
  readonly path: string;
  /** Undefined for a contract without a legacy service. */
  readonly legacy: string | undefined;
  readonly rules: readonly string[];
  readonly operations: readonly string[];
  /** Names of the operations that are sent to exactly one service (G20). */
  readonly writes: readonly string[];
  readonly deprecations: readonly string[];
  readonly warnings: readonly string[];
}

/** Describes contracts with a legacy service or deprecated operations. */
export async function describeAll(
  migrations: readonly CheckedMigration[],
  deprecated: readonly CheckedDeprecations[],
): Promise<readonly DescribedRoutes[]> {
  const routes = await Promise.all(migrations.map(describeRoutes));
  if (deprecated.length === 0) return routes;
  const { deprecationSentences } = await import('../migration/deprecations.ts');
  const byPath = new Map(routes.map((one) => [one.path, one]));
  for (const { contract, deprecations } of deprecated) {
    const path = shownPath(contract.basePath);
    const before = byPath.get(path) ?? { ...noRoutes, path };
    byPath.set(path, { ...before, deprecations: deprecationSentences(deprecations) });
  }
  return [...byPath.values()];
}

const noRoutes = {
  legacy: undefined,
  rules: [],
  operations: [],
  writes: [],
  deprecations: [],
  warnings: [],
} as const;

/** Describes the routes of a contract (G49). */
async function describeRoutes({
  contract,
  plan,
  routing,
  warnings,
}: CheckedMigration): Promise<DescribedRoutes> {
  const { operationSentences, ruleSentences } = await import('../migration/sentences.ts');
  const writes = contract.operations.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  return {
    path: shownPath(contract.basePath),
    legacy: new URL(plan.url).origin,
    rules: ruleSentences(routing),
    operations: operationSentences(routing, contract),
    writes,
    deprecations: [],
    warnings,
  };
}

/** Returns the lines that show the routes of a contract. */
export function linesOf({
  path,
  legacy,
  rules,
  operations,
  writes,
  deprecations,
  warnings,
}: DescribedRoutes): readonly string[] {
  return [
    `${path}: ${legacy === undefined ? 'no legacy service' : `legacy service ${legacy}`}`,
    ...rules.map((rule) => `  rule ${rule}`),
    ...operations.map((operation) => `  ${operation}`),
    ...(legacy === undefined ? [] : [`  writes: ${writes.length === 0 ? 'none' : writes.join(', ')}`]),
    ...deprecations.map((sentence) => `  ${sentence}`),
    ...warnings.map((warning) => `  warning: ${warning}`),
  ];
}

async function explain(flags: ExplainFlags): Promise<void> {
  const { migrations, callers } = await readRoutes(flags);
  const only = onlyMigration(migrations, flags.path, '--path');
  const limits = flags.limits ?? defaultLimits;
  const { explainRoute } = await import('../migration/explain.ts');
  const { caller } = flags;
  const rawHeaders = flags.header.flatMap(headerOf);
  const hasType = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-type');
  const route = explainRoute(
    compileContract(only.contract, limits),
    only.routing,
    {
      rawHeaders: hasType ? rawHeaders : [...rawHeaders, 'Content-Type', 'text/xml'],
      body: await buffer(process.stdin),
      id: caller === undefined ? undefined : { kind: 'id', value: callers.idOf(caller) ?? caller },
    },
    callers.nameOf,
    true, // the operator has the keys
  );
  if (flags.json) printJson(route);
  else printLine(`${route.operation}: ${route.mode} ("${route.rule}")`);
}

function headerOf(text: string): readonly string[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new RangeError('--header: expected name:value, got another text');
  const value = Buffer.from(text.slice(colon + 1).trim(), 'utf8').toString('latin1');
  return [text.slice(0, colon).trim(), value];
}
