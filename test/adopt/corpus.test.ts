import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { firstWsdls } from './corpus.ts';

/** A folder of real WSDLs, one folder per service. It is not part of the project. */
const corpus = process.env.WSDL_CORPUS;

function foldersOf(root: string): readonly string[] {
  return readdirSync(root).filter((name) => statSync(join(root, name)).isDirectory());
}

if (corpus === undefined || !existsSync(corpus)) {
  test.skip('A3: real WSDLs are read (skipped: WSDL_CORPUS is not set to their folder)', () => {});
} else {
  const counts = { documents: 0, operations: 0, served: 0 };
  for (const name of foldersOf(corpus)) {
    const folder = join(corpus, name);
    for (const wsdl of firstWsdls(folder)) {
      test.serial(`A3, A4: ${name}/${wsdl} is read, or the error gives the reason`, (t) => {
        const before = performance.now();
        counts.documents++;
        try {
          const { service, warnings } = loadAdoptedService(folder, { wsdl });
          const refused = service.notServed.filter(({ name: its }) => its.includes('.'));
          counts.served += service.operations.length;
          counts.operations += service.operations.length + refused.length;
          for (const { name: its, reason } of refused) t.log(`${its}: ${reason}`);
          const ms = Math.round(performance.now() - before);
          t.log(
            `${service.operations.length} operations, ${service.types.size} types, ${service.elements.size} elements, ${service.documents.length} documents, ${warnings.length} warnings, ${ms} ms`,
          );
          t.true(service.operations.length + refused.length > 0);
          t.is(
            new Set(service.operations.map((operation) => operation.name)).size,
            service.operations.length,
          );
          t.is(new Set(service.typeNames.values()).size, service.typeNames.size);
        } catch (error) {
          if (!(error instanceof ContractError)) throw error;
          t.log(error.message);
          t.true(error.problems.every(({ line, message }) => line !== undefined && message !== ''));
        }
      });
    }
  }

  test.serial('A4: at least 99 % of the operations of real WSDLs are served', (t) => {
    t.log(counts);
    t.true(counts.served >= 0.99 * counts.operations);
  });
}
