import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { type Contract, type NamedType, partsOf, type Type } from '../../mappings/contract/model.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { documents, folderOf } from './documents.ts';

// Merging equal inline types must not change any message.

function shown(type: NamedType, of: (type: Type) => unknown): unknown {
  const { name: _name, ...rest } = type;
  const parts = new Set<unknown>(partsOf(type));
  return JSON.parse(
    JSON.stringify(rest, (key, value: unknown) => {
      if (['documentation', 'words', 'example', 'hints'].includes(key)) return undefined;
      return parts.has(value) ? { is: of(value as Type) } : value;
    }),
  );
}

/** Returns every path of elements up to a depth, with its visible properties. */
function elementsOf(contract: Contract, most: number): readonly string[] {
  const lines: string[] = [];
  const walk = (type: Type, path: string, depth: number): void => {
    if (depth === 0 || lines.length > 20_000) return;
    if (type.kind === 'scalar') return;
    lines.push(`${path} ${JSON.stringify(shown(type, (part) => part.kind))}`);
    for (const [index, part] of partsOf(type).entries()) walk(part, `${path}/${index}`, depth - 1);
  };
  for (const { name, input, output } of contract.operations) {
    walk(input, `${name}`, most);
    walk(output, `${name}Response`, most);
  }
  return lines;
}

/** Returns a document's contract with an overlay that keeps equal types separate. */
function apartOf(document: string): Contract {
  const folder = folderOf(document);
  const own = join(folder, 'soap.yaml');
  const home = mkdtempSync(join(tmpdir(), 'equal-types-'));
  try {
    const overlay = join(home, 'soap.yaml');
    const stated = existsSync(own) ? readFileSync(own, 'utf8') : '';
    writeFileSync(overlay, `${stated}\nequalTypes: apart\n`);
    const name = existsSync(join(folder, 'openapi.json')) ? 'openapi.json' : 'openapi.yaml';
    return readContract({ openapi: join(folder, name), overlay }).contract;
  } finally {
    rmSync(home, { recursive: true });
  }
}

// an overlay with `refs` cannot be read from another folder
for (const document of documents.filter((one) => one !== 'mojaloop/outbound')) {
  test(`${document}: messages are the same with and without merging of equal types`, (t) => {
    const { contract } = readContract(folderOf(document));
    const apart = apartOf(document);
    t.true(contract.types.length <= apart.types.length);
    const wanted = elementsOf(apart, 6);
    t.is(
      elementsOf(contract, 6).find((line, index) => line !== wanted[index]),
      undefined,
    );
  });
}
