import { type Command, Option } from 'commander';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { loadContract } from '../../mappings/loader/load.ts';
import { sliceContract } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type ContractFlags, contractCommand, placeOf, publicUrlOption } from './options.ts';
import { jsonOption, printJson } from './output.ts';

interface WsdlFlags extends ContractFlags {
  readonly publicUrl: string;
  readonly operation?: readonly string[];
  readonly tag?: readonly string[];
  readonly json: boolean;
}

/** `soapbridge wsdl` */
export function wsdlCommand(): Command {
  return contractCommand('wsdl')
    .description('print the WSDL of a contract')
    .addOption(publicUrlOption().default('http://127.0.0.1:8080'))
    .addOption(new Option('--operation <names...>', 'of these operations alone'))
    .addOption(new Option('--tag <names...>', 'of the operations with these tags alone'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExit codes: 0 printed, 2 wrong input.')
    .action(printWsdl);
}

function printWsdl(flags: WsdlFlags): void {
  const whole = loadContract(placeOf(flags), flags.limits).contract;
  const { operation: operations = [], tag: tags = [] } = flags;
  const contract = operations.length + tags.length > 0 ? sliceContract(whole, { operations, tags }) : whole;
  const address = withoutEndSlashes(flags.publicUrl) + contract.basePath;
  const wsdl = writeWsdl(contract, { address });
  if (!flags.json) process.stdout.write(wsdl);
  else
    printJson({
      service: contract.service,
      address,
      operations: contract.operations.map(({ name }) => name),
      wsdl,
    });
}
