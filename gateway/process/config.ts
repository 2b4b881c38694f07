import { dirname, resolve } from 'node:path';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { map, readSettings, record, text } from '../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import { withEnvironment } from './environment.ts';
import type { SitePlan } from './sites.ts';
import { limitsSetting, readOwnLimits, readUpstreamPlan, upstreamSetting } from './upstream-plan.ts';

const file = (says: string) => text(says, 'a path, from the folder of this file on');

/** The keys of `soapbridge.yaml`. */
export const configSettings = record('What one process serves.', {
  contracts: map(
    'The contracts, each under the path that all its endpoints hang under.',
    '`/path: { contract, upstream }`',
    record('One contract: a folder, or a document with or without an overlay.', {
      contract: file('A folder with openapi.yaml and, unless its defaults do, soap.yaml.'),
      openapi: file('An OpenAPI document, in place of a folder.'),
      overlay: file('The overlay of that document.'),
      upstream: upstreamSetting,
      limits: limitsSetting,
    }),
  ),
});

/** What a `soapbridge.yaml` says is to be served. Throws ContractError with all that is wrong in it. */
export function readConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly SitePlan[] {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file: path, pointer, message });
  };
  const root = readYamlFile(path, problems)?.root;
  const { contracts = new Map() } =
    readSettings(configSettings, withEnvironment(root ?? {}, environment, report), '', report) ?? {};
  if (problems.length === 0 && contracts.size === 0)
    report('/contracts', 'expected at least one contract, got none');
  const plans: SitePlan[] = [];
  const taken = new Set<string>();
  for (const [basePath, { contract, openapi, overlay, upstream, limits }] of contracts) {
    const at = `/contracts${pointerSegment(basePath)}`;
    const folder = dirname(path);
    if (!/^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/.test(basePath))
      report(at, 'expected a path such as /parcels, without a slash at its end');
    if (taken.has(basePath.toLowerCase()))
      report(at, 'expected a path of its own, got one again in another case');
    taken.add(basePath.toLowerCase());
    if ((contract === undefined) === (openapi === undefined))
      report(at, `expected either contract or openapi, got ${contract === undefined ? 'none' : 'both'}`);
    if (overlay !== undefined && openapi === undefined)
      report(at, 'expected openapi beside overlay, got none');
    const url = typeof upstream === 'string' ? upstream : upstream?.url;
    if (url === undefined) report(at, 'expected upstream, the address of the JSON service behind, got none');
    const inFolder = (name: string): string => resolve(folder, name);
    const isPlain = typeof upstream === 'string' || upstream === undefined;
    plans.push({
      contract:
        openapi === undefined
          ? inFolder(contract ?? '')
          : { openapi: inFolder(openapi), overlay: overlay === undefined ? undefined : inFolder(overlay) },
      basePath: basePath === '/' ? '' : basePath,
      upstreamUrl: url,
      upstream: isPlain ? undefined : readUpstreamPlan(upstream, `${at}/upstream`, inFolder, report),
      limits: limits === undefined ? undefined : readOwnLimits(limits, `${at}/limits`, report),
    });
  }
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return plans;
}
