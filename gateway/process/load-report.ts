import type { Operation } from '../../mappings/contract/model.ts';
import { shownPath, withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { Note } from '../../mappings/loader/document/error.ts';
import type { Logger } from '../telemetry/logger.ts';
import { addressOf } from '../upstream/upstream.ts';

/** Base path and upstream of a contract. */
export interface LoadSite {
  readonly basePath: string;
  /** If undefined, the contract is served by the reference upstream in this process. */
  readonly upstreamUrl: string | undefined;
  /** True if calls are mapped onto another document. The report does not cover that document. */
  readonly isMapped: boolean;
}

/** Remarks of one kind. */
export interface Remarks {
  /** Follows the number of remarks. It states the problem and the action to take. */
  readonly message: string;
  readonly all: readonly Note[];
}

/** Report on a loaded contract. */
export interface LoadReport {
  /** Base path that it is served under; `/` if it is empty. */
  readonly contract: string;
  readonly service: string;
  readonly operations: number;
  readonly notServed: number;
  readonly types: number;
  /** URL of the upstream; undefined for the reference upstream in this process. */
  readonly upstream: string | undefined;
  /** One operation with its complete upstream call: `TrackParcel: GET https://api.internal/v1/parcels/{number}`. */
  readonly example: string | undefined;
  /** Kinds with at least one remark. */
  readonly remarks: readonly Remarks[];
}

/** Creates the report on a loaded contract. The `check` command lists all remarks. */
export function reportOf(loaded: LoadedContract, site: LoadSite): LoadReport {
  const { service, operations, types } = loaded.contract;
  const first = operations.find(({ upstream }) => upstream.server.address === undefined) ?? operations[0];
  return {
    contract: shownPath(site.basePath),
    service,
    operations: operations.length,
    notServed: loaded.notServed.length,
    types: types.length,
    upstream: site.upstreamUrl,
    example: first === undefined || site.isMapped ? undefined : `${first.name}: ${callOf(first, site)}`,
    remarks: [...remarksOf(loaded), ...basePathRemarks(operations, site)].filter(({ all }) => all.length > 0),
  };
}

function callOf({ upstream: { method, path, server } }: Operation, { upstreamUrl }: LoadSite): string {
  const address = upstreamUrl === undefined ? server.basePath : addressOf(upstreamUrl, server);
  return `${method} ${address}${path}`;
}

function remarksOf(loaded: LoadedContract): readonly Remarks[] {
  const {
    contract,
    notes,
    notServed,
    contradictions,
    unchecked,
    assumedServers,
    unforeseen,
    ownXml,
    warnings,
  } = loaded;
  const left = notServed.flatMap(({ name, reasons }) =>
    reasons.slice(0, 1).map(({ pointer, why }) => ({ name, pointer, why })),
  );
  return [
    {
      all: left,
      message: 'operations of the document are not served. Hide them in the overlay or correct the document',
    },
    {
      all: notes,
      message: `values are sent as JSON ${contract.settings.json}, because no closed type fits. Describe them more precisely in the document`,
    },
    {
      all: contradictions,
      message: 'members have conflicting descriptions. The first description is used',
    },
    {
      all: unchecked,
      message: 'constraints are not checked by validate: strict. The upstream must check them',
    },
    {
      all: assumedServers,
      message:
        'servers have no URL, so their calls go to the upstream. Set their URLs under servers in the overlay',
    },
    {
      all: unforeseen,
      message: 'references are at places that OpenAPI does not allow. Their targets were read',
    },
    {
      all: ownXml,
      message:
        'members have xml keywords that do not apply to SOAP elements. Remove the keywords with patches',
    },
    {
      all: warnings.map(({ pointer, message }) => ({ pointer, why: message })),
      message: 'errors of the document were tolerated. Correct them in the document or with patches',
    },
  ];
}

/** Returns remarks on the upstream's base path: the document's base path is missing, or it occurs twice. */
function basePathRemarks(operations: readonly Operation[], site: LoadSite): readonly Remarks[] {
  const { upstreamUrl, isMapped } = site;
  const own = operations.filter(({ upstream: { server } }) => {
    return server.address === undefined && server.basePath === server.root;
  });
  const [first] = own;
  if (first === undefined || upstreamUrl === undefined || isMapped) return [];
  const { server } = first.upstream;
  const { origin } = new URL(upstreamUrl);
  const under = addressOf(upstreamUrl, server).slice(origin.length);
  const call = callOf(first, site);
  const pointer = '/servers/0/url';
  const found: Remarks[] = [];
  if (server.root !== '' && !under.endsWith(server.root))
    found.push({
      all: [{ pointer, why: `${server.root} is missing: ${call}` }],
      message: `base path of the document is missing in the upstream URL. Use ${origin} to add it, or ${origin}${under}${server.root} for both paths`,
    });
  const twice = overlapOf(
    under,
    own.map(({ upstream }) => upstream.path),
  );
  if (twice !== undefined)
    found.push({
      all: [{ pointer, why: `${twice} occurs twice: ${call}` }],
      message: `base path repeats the start of all paths. Set the upstream without it: ${origin}${withoutEndSlashes(under.slice(0, under.length - twice.length)) || '/'}`,
    });
  return found;
}

/** Returns the end of a base path that every path begins with; undefined if there is none. */
function overlapOf(base: string, paths: readonly string[]): string | undefined {
  const segments = base.split('/').slice(1);
  for (const index of segments.keys()) {
    const end = `/${segments.slice(index).join('/')}`;
    if (end !== '/' && paths.every((path) => path === end || path.startsWith(`${end}/`))) return end;
  }
  return undefined;
}

/** Maximum number of lines printed at start. */
const mostLines = 20;
/** Maximum number of positions per kind of remark, and maximum length of a line in characters. */
const mostPlaces = 2;
const longestLine = 200;

/** Returns the human-readable report for a terminal: some lines per contract, or one line each if there are many. */
export function linesOf(reports: readonly LoadReport[]): readonly string[] {
  const whole = reports.flatMap((report) => [
    headOf(report),
    ...upstreamLines(report),
    ...remarkLines(report),
  ]);
  const all = reports.some(({ remarks }) => remarks.length > 0)
    ? [...whole, 'run soapbridge check for the full list']
    : whole;
  if (all.length < mostLines) return all;
  const short = reports.map((report) => {
    const count = report.remarks.reduce((sum, remarks) => sum + remarks.all.length, 0);
    return count === 0
      ? headOf(report)
      : `${headOf(report)}; ${count} remarks, run soapbridge check to list them`;
  });
  if (short.length < mostLines) return short;
  const kept = short.slice(0, mostLines - 2);
  return [...kept, `${short.length - kept.length} more contracts`];
}

function headOf({ service, contract, operations, notServed }: LoadReport): string {
  const left = notServed === 0 ? '' : `, ${notServed} not served`;
  return `${service} under ${contract}: ${operations} operations${left}`;
}

function upstreamLines({ upstream, example }: LoadReport): readonly string[] {
  const to = `  calls go to ${upstream ?? 'the embedded reference upstream'}`;
  return [example === undefined ? to : `${to}, such as ${example}`];
}

function remarkLines({ remarks }: LoadReport): readonly string[] {
  return remarks.map(({ all, message }) => {
    const places = all.slice(0, mostPlaces).map(({ pointer, why }) => `${pointer} (${why})`);
    const more = all.length > mostPlaces ? ', …' : '';
    const line = `  ${all.length} ${message}: ${places.join(', ')}${more}`;
    return line.length > longestLine ? `${line.slice(0, longestLine - 1)}…` : line;
  });
}

/** Maximum number of remarks logged per kind. The `check` command lists all. */
const mostLogged = 3;

/**
 * Logs a loaded contract in one line, and each kind of remark in one line with its count, first positions and action. A
 * large document has too many remarks to log all.
 */
export function logLoaded(report: LoadReport, log: Pick<Logger, 'info' | 'warn'>): void {
  const { contract, remarks, ...fields } = report;
  log.info({ contract, ...fields }, 'contract loaded');
  for (const { all, message } of remarks)
    log.warn({ contract, count: all.length, first: all.slice(0, mostLogged) }, message);
}
