import type { Command } from 'commander';
import { loadContract } from '../../mappings/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type ContractFlags, contractCommand, placeOf, publicUrlOption } from './options.ts';

interface WsdlFlags extends ContractFlags {
  readonly publicUrl: string;
}

/** `soapbridge wsdl` */
export function wsdlCommand(): Command {
  return contractCommand('wsdl')
    .description('print the WSDL of a contract')
    .addOption(publicUrlOption().default('http://127.0.0.1:8080'))
    .action(printWsdl);
}

function printWsdl(flags: WsdlFlags): void {
  const { contract } = loadContract(placeOf(flags));
  const address = flags.publicUrl.replace(/\/+$/, '') + contract.basePath;
  process.stdout.write(writeWsdl(contract, { address }));
}
