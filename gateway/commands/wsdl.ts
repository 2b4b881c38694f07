import { type Command, Option } from 'commander';
import type { Contract } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { documentName, linksAt, writeDocument } from '../../wsdl/adopted.ts';
import { sliceContract } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { type ContractFlags, contractAction, contractCommand, placeOf, publicUrlOption } from './options.ts';
import { jsonOption, print, printJson } from './output.ts';

interface WsdlFlags extends ContractFlags {
  readonly publicUrl: string;
  readonly operation?: readonly string[];
  readonly tag?: readonly string[];
  readonly json: boolean;
}

/** Creates the command `soapbridge wsdl`. */
export function wsdlCommand(): Command {
  return contractCommand('wsdl')
    .description('print the WSDL of a contract')
    .addOption(publicUrlOption().default('http://127.0.0.1:8080'))
    .addOption(new Option('--operation <names...>', 'include only these operations'))
    .addOption(new Option('--tag <names...>', 'include only operations with these tags'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd('soapbridge wsdl parcels.yaml --public-url https://api.example.com', {
        0: 'the WSDL was printed',
        2: wrongInputText,
      }),
    )
    .action(contractAction(printWsdl));
}

/**
 * Prints the WSDL of an adopted contract with the addresses of this gateway. `--json` includes its other documents,
 * which are served at `?xsd=0` and so on.
 */
function printAdopted(contract: Contract, flags: WsdlFlags): void {
  const address = withoutEndSlashes(flags.publicUrl) + contract.basePath;
  const links = linksAt(address, contract.ports);
  const texts = contract.documents.map((document) => ({
    name: documentName(document),
    file: document.file,
    bytes: writeDocument(document, links),
  }));
  if (!flags.json) print(texts[0]?.bytes ?? '');
  else
    printJson({
      service: contract.service,
      address,
      operations: contract.operations.map(({ name }) => name),
      documents: texts.map(({ name, file, bytes }) => ({
        name,
        file,
        text: decodeXml(Buffer.from(bytes), undefined),
      })),
    });
}

function printWsdl(flags: WsdlFlags): void {
  const whole = readContract(placeOf(flags), flags.limits).contract;
  const { operation: operations = [], tag: tags = [] } = flags;
  if (whole.documents.length > 0) {
    if (operations.length + tags.length > 0)
      throw new RangeError('--operation, --tag: expected no selection for a legacy WSDL, got a selection');
    printAdopted(whole, flags);
    return;
  }
  const contract = operations.length + tags.length > 0 ? sliceContract(whole, { operations, tags }) : whole;
  const address = withoutEndSlashes(flags.publicUrl) + contract.basePath;
  const wsdl = writeWsdl(contract, { address });
  if (!flags.json) print(wsdl);
  else
    printJson({
      service: contract.service,
      address,
      operations: contract.operations.map(({ name }) => name),
      wsdl,
    });
}
