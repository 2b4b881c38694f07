import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { compileContract } from '../mappings/compile.ts';
import { defaultLimits } from '../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../mappings/loader/load.ts';
import { median } from './process.ts';

/** Writes the screening contract into a folder, extended to `count` operations. */
export function writeGrownContract(folder: string, count: number): void {
  const document: {
    paths: Record<string, { post: { operationId: string } & Record<string, unknown> }>;
    components: { schemas: Record<string, unknown> };
  } = parse(readFileSync(join(screeningContract, 'openapi.yaml'), 'utf8'));
  const model = document.paths['/json/reply/UpdateSubUser']?.post;
  if (model === undefined) throw new Error('expected the screening contract');
  for (let index = Object.keys(document.paths).length; index < count; index++) {
    const operationId = `UpdateSubUser${index}`;
    document.paths[`/json/reply/${operationId}`] = { post: { ...model, operationId } };
  }
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  copyFileSync(join(screeningContract, 'soap.yaml'), join(folder, 'soap.yaml'));
}

/** Writes a document of `count` simple operations, each with its own request and reply types. */
export function writePlainDocument(file: string, count: number): void {
  const paths: Record<string, unknown> = {};
  const schemas: Record<string, unknown> = {};
  const text = { type: 'string' };
  for (let index = 0; index < count; index++) {
    schemas[`Order${index}`] = {
      type: 'object',
      required: ['reference'],
      properties: {
        reference: text,
        amount: { type: 'number' },
        placed: { type: 'string', format: 'date-time' },
        lines: { type: 'array', items: { $ref: `#/components/schemas/Line${index}` } },
      },
    };
    schemas[`Line${index}`] = {
      type: 'object',
      properties: { article: text, count: { type: 'integer', format: 'int32' }, note: text },
    };
    const json = { 'application/json': { schema: { $ref: `#/components/schemas/Order${index}` } } };
    paths[`/orders${index}/{id}`] = {
      put: {
        operationId: `putOrder${index}`,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
        ],
        requestBody: { required: true, content: json },
        responses: { '200': { description: 'The order.', content: json } },
      },
    };
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    paths,
    components: { schemas },
  };
  writeFileSync(file, JSON.stringify(document));
}

/** Returns the time from reading files to compiled codecs, in ms: median of three. */
export function measureContractLoad(openapi: string): number {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const started = performance.now();
    compileContract(readContract({ openapi, overlay: undefined }).contract, defaultLimits);
    times.push(performance.now() - started);
  }
  return median(times);
}
