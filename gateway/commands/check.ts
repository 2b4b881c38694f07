import type { Command } from 'commander';
import { loadContract } from '../../mappings/load.ts';
import { type ContractFlags, contractCommand, placeOf } from './options.ts';

/** `soapbridge check` */
export function checkCommand(): Command {
  return contractCommand('check')
    .description('load a contract; say what is wrong, or what it holds')
    .action(printCheck);
}

function printCheck(flags: ContractFlags): void {
  const { contract, notes, notServed } = loadContract(placeOf(flags));
  const records = contract.types.filter(({ kind }) => kind === 'record').length;
  console.log(
    `${contract.service}: ${contract.operations.length} operations, ${contract.types.length} types (${records} records), ${contract.routes.length} routes under ${contract.basePath || '/'}`,
  );
  console.log(`namespaces: ${contract.namespaces.types}, ${contract.namespaces.arrays}`);
  for (const { name, input, output, readOnly, upstream } of contract.operations) {
    const inputs = input.fields.map(({ xml }) => xml).join(', ');
    console.log(
      `  ${name}(${inputs}) -> ${output.fields.map(({ xml }) => xml).join(', ')}; ${upstream.method} ${upstream.path}${readOnly ? ', read only' : ''}`,
    );
  }
  for (const { pointer, why } of notes) console.log(`travels as JSON text: ${pointer} (${why})`);
  for (const { name, reasons } of notServed)
    for (const { pointer, why } of reasons) console.log(`not served: ${name} (${pointer}: ${why})`);
}
