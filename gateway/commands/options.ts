import { Command, InvalidArgumentError, Option } from 'commander';
import { type Limits, readLimits } from '../../mappings/contract/limits.ts';
import { type ContractPlace, screeningContract } from '../../mappings/loader/load.ts';
import { readConfig } from '../process/config.ts';

/** The flags by which a command is told its contract. */
export interface ContractFlags {
  readonly contract?: string;
  readonly openapi?: string;
  readonly overlay?: string;
  readonly limits?: Limits;
}

/** A command about one contract, with the options of `ContractFlags`. */
export function contractCommand(name: string): Command {
  const options = [
    new Option(
      '-c, --contract <dir>',
      'folder with openapi.yaml and, unless its defaults do, soap.yaml (default: the screening contract that ships)',
    ).env('CONTRACT'),
    new Option('-o, --openapi <file>', 'OpenAPI document, YAML or JSON, in place of a folder')
      .env('OPENAPI')
      .conflicts('contract'),
    new Option('--overlay <file>', 'overlay of that document (default: none, the plain dialect)').env(
      'OVERLAY',
    ),
    limitsOption(),
  ];
  return options.reduce((command, option) => command.addOption(option), new Command(name));
}

/** The contract that the flags name. Throws RangeError. */
export function placeOf({ contract, openapi, overlay }: ContractFlags): ContractPlace {
  if (openapi !== undefined) return { openapi, overlay };
  if (overlay !== undefined)
    throw new RangeError('--overlay: expected the document it belongs to as --openapi, got none');
  return contract ?? screeningContract;
}

/** Limits other than the defaults. */
export function limitsOption(): Option {
  return new Option(
    '--limits <list>',
    'limits other than the defaults, by commas: inFlight=256,queue=64 (docs/operations.md lists them)',
  )
    .env('LIMITS')
    .argParser(readLimits);
}

/** A file that names several contracts, in the place of everything that names one. */
export function configOption(): Option {
  return new Option('--config <file>', 'soapbridge.yaml: several contracts, each with its path and upstream')
    .env('CONFIG')
    .conflicts(['contract', 'openapi', 'overlay', 'upstream', 'upstreamDb']);
}

/** Every contract that the flags name. Throws ContractError or RangeError. */
export function placesOf(flags: ContractFlags & { readonly config?: string }): readonly ContractPlace[] {
  if (flags.config === undefined) return [placeOf(flags)];
  return readConfig(flags.config).map(({ contract }) => contract);
}

/** The address that the WSDL names. */
export function publicUrlOption(): Option {
  return new Option('--public-url <url>', 'where callers reach the gateway, for the WSDL')
    .env('PUBLIC_URL')
    .argParser(toHttpUrl);
}

/** An address that paths are put behind. */
export function toHttpUrl(text: string): string {
  const url = URL.parse(text);
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== ''
  ) {
    throw new InvalidArgumentError(
      'expected an http or https URL without query, such as https://api.example.com/edge.',
    );
  }
  return text;
}
