import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { writeMetadataPage } from '../../../wsdl/page.ts';
import { writeWsdl } from '../../../wsdl/wsdl.ts';
import { type Shape, shapes } from '../contract/shapes.ts';

/** Maximum factor for twice the size: 2, plus noise. Quadratic growth would give 4. */
const most = 3.2;

/** Returns the CPU time of loading a document and writing its WSDL, in µs. */
function costOf({ document, overlay }: Shape, size: number): number {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    writeFileSync(join(directory, 'openapi.yaml'), document(size));
    if (overlay !== undefined) writeFileSync(join(directory, 'soap.yaml'), overlay(size));
    const before = process.cpuUsage();
    load(directory);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function load(directory: string): void {
  try {
    const { contract } = readContract(directory);
    writeWsdl(contract, { address: 'http://127.0.0.1' });
    writeMetadataPage(contract, { address: 'http://127.0.0.1' });
  } catch (error) {
    if (!(error instanceof ContractError)) throw error; // errors must be found in time too
  }
}

for (const shape of shapes) {
  test.serial(`loading time grows linearly with the document: ${shape.name}`, (t) => {
    const ratios: number[] = [];
    while (ratios.length < 5 && !ratios.some((ratio) => ratio < most)) {
      const half = Math.min(costOf(shape, shape.size), costOf(shape, shape.size));
      ratios.push(Math.min(costOf(shape, shape.size * 2), costOf(shape, shape.size * 2)) / half);
    }
    t.true(Math.min(...ratios) < most, ratios.join(', '));
  });
}
