import { statSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Limits, readLimits } from '../../mappings/contract/limits.ts';
import {
  type ContractPlace,
  isDocumentUrl,
  screeningContract,
} from '../../mappings/loader/contract-files.ts';
import { shown } from '../../mappings/loader/document/node.ts';
import { type ConfigFile, readConfig } from '../process/config.ts';
import type { SitePlan } from '../process/sites.ts';

/** Flags that name a contract. */
export interface ContractFlags {
  readonly contract?: string | undefined;
  readonly openapi?: string | undefined;
  readonly overlay?: string | undefined;
  readonly fetch?: boolean;
  readonly limits?: Limits;
}

/**
 * Creates a command about one contract, with the options of `ContractFlags`. The contract may also be named by
 * position. Wrap its action in `contractAction`.
 *
 * @param first an argument before the contract, and its description
 */
export function contractCommand(name: string, first?: readonly [name: string, what: string]): Command {
  const options = [
    new Option(
      '-c, --contract <dir>',
      'contract folder: openapi.yaml and an optional soap.yaml, or a legacy WSDL (default: the screening contract)',
    ).env('SOAPBRIDGE_CONTRACT'),
    new Option('-o, --openapi <file>', 'OpenAPI document in YAML or JSON, instead of a folder')
      .env('SOAPBRIDGE_OPENAPI')
      .conflicts('contract'),
    new Option('--overlay <file>', 'overlay for the OpenAPI document (default: none)').env(
      'SOAPBRIDGE_OVERLAY',
    ),
    new Option('--fetch', 'download a document at a URL once, to a file in the working directory').env(
      'SOAPBRIDGE_FETCH',
    ),
  ];
  const command = first === undefined ? new Command(name) : new Command(name).argument(...first);
  command.argument('[document]', 'contract folder or OpenAPI document, like --contract and --openapi');
  command.optionsGroup('Contract and limits:');
  for (const option of options) command.addOption(option);
  return command.addOption(limitsOption()).optionsGroup('Options:');
}

/**
 * Creates the action of a command from `contractCommand`. `run` receives the flags, including the contract named by
 * position.
 */
export function contractAction<Flags extends ContractFlags>(
  run: (flags: Flags, command: Command) => unknown,
): (document: string | undefined, flags: Flags, command: Command) => Promise<void> {
  return async (document, flags, command) => {
    const named = document === undefined ? flags : { ...flags, ...placeByPosition(document, command) };
    const { openapi, limits } = named;
    const isFetched = openapi !== undefined && isDocumentUrl(openapi) && mayFetch(named, command);
    if (!isFetched) {
      await run(named, command);
      return;
    }
    const { fetchDocument } = await import('./fetch.ts');
    await run({ ...named, openapi: await fetchDocument(openapi, limits) }, command);
  };
}

/**
 * Returns true if a document may be fetched. For the variable, commander only reports that it is set, so its value is
 * read here. Throws RangeError.
 */
function mayFetch({ fetch }: ContractFlags, command: Command): boolean {
  if (command.getOptionValueSource('fetch') !== 'env') return fetch === true;
  const value = process.env.SOAPBRIDGE_FETCH;
  if (value !== '1' && value !== '0')
    throw new RangeError(`SOAPBRIDGE_FETCH: expected 1 or 0, got "${value}"`);
  return value === '1';
}

/** Converts the argument named by position to its flag. It takes precedence over the environment. Throws RangeError. */
function placeByPosition(
  document: string,
  command: Command,
): Pick<ContractFlags, 'contract' | 'openapi'> & { readonly config: undefined } {
  for (const flag of ['contract', 'openapi', 'config']) refuseTwice(document, flag, command);
  if (/\.wsdl$/i.test(document))
    throw new RangeError(
      `${document}: expected an OpenAPI document or a folder, got a WSDL. Make a contract folder of it with soapbridge adopt`,
    );
  const isFolder = statSync(document, { throwIfNoEntry: false })?.isDirectory() === true;
  const none = { contract: undefined, openapi: undefined, config: undefined };
  return isFolder ? { ...none, contract: document } : { ...none, openapi: document };
}

/** Throws RangeError if the command line has a contract by position and the flag. */
export function refuseTwice(argument: string, flag: string, command: Command): void {
  if (command.getOptionValueSource(flag) === 'cli')
    throw new RangeError(
      `${argument}: expected a contract as argument or --${flag}, got an argument and --${flag}`,
    );
}

/** Returns the contract that the flags name. Throws RangeError. */
export function placeOf({ contract, openapi, overlay }: ContractFlags): ContractPlace {
  if (openapi !== undefined) return { openapi, overlay };
  if (overlay !== undefined)
    throw new RangeError('--overlay: expected its OpenAPI document as --openapi, got none');
  return contract ?? screeningContract;
}

/** Creates the option for limits. */
export function limitsOption(): Option {
  return new Option('--limits <list>', 'limits to change, such as inFlight=256,queue=64 (see docs/limits.md)')
    .env('SOAPBRIDGE_LIMITS')
    .argParser(readLimits);
}

/** Creates the option for a file with several contracts. It replaces all options that name one contract. */
export function configOption(): Option {
  return new Option(
    '--config <file>',
    'soapbridge.yaml with several contracts, each with its path and upstream',
  )
    .env('SOAPBRIDGE_CONFIG')
    .argParser(toFile)
    .conflicts(['contract', 'openapi', 'overlay', 'upstream', 'upstreamDb']);
}

/** Returns the plans of all contracts that the flags name. Throws ContractError or RangeError. */
export function plansOf(
  flags: ContractFlags & { readonly config?: string | ConfigFile | undefined },
): readonly SitePlan[] {
  if (flags.config !== undefined) return readConfig(flags.config);
  return [{ contract: placeOf(flags), basePath: undefined, upstreamUrl: undefined }];
}

/** Creates the option for the address in the WSDL. */
export function publicUrlOption(): Option {
  return new Option('--public-url <url>', 'URL of the gateway for callers, written to the WSDL')
    .env('SOAPBRIDGE_PUBLIC_URL')
    .argParser(httpUrl('--public-url'));
}

/** Parses a file path. An empty path is rejected here, because the system's error would not name the option. */
export function toFile(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected a file, got none.');
  return text;
}

/** Creates a parser for a base URL. */
export function httpUrl(option: string): (text: string) => string {
  return (text) => {
    const url = URL.parse(text);
    const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
    if (isHttp && `${url.search}${url.hash}${url.username}${url.password}` === '') return text;
    // InvalidArgumentError would make commander print the whole text, which may contain a password.
    throw new RangeError(
      `${option}: expected an http or https URL without credentials and query, such as https://api.example.com/edge, got ${shown(text)}`,
    );
  };
}
