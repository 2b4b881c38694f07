import test from 'ava';
import type { Contract } from '../../../mappings/contract/model.ts';
import { receiveContract, sendContract } from '../../../mappings/contract/transfer.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';

function sentAndReceived(contract: Contract): Contract {
  return receiveContract(structuredClone(sendContract(contract)));
}

test('a contract of an OpenAPI document is the same in another thread', (t) => {
  const { contract } = readContract(screeningContract);
  t.deepEqual(sentAndReceived(contract), contract);
});

test('a contract whose types refer to each other 2,000 levels deep is sent to another thread', (t) => {
  const levels = 2_000;
  const refTo = (level: number) => ({ $ref: `#/components/schemas/T${level}` });
  const content = { 'application/json': { schema: refTo(0) } };
  const schemas = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => [
      `T${level}`,
      { type: 'object', properties: { next: refTo((level + 1) % levels) } },
    ]),
  );
  const { contract } = buildContract({
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Deep', version: '1' },
      paths: {
        '/start': {
          post: {
            operationId: 'start',
            requestBody: { content },
            responses: { 200: { description: 'done', content } },
          },
        },
      },
      components: { schemas },
    },
    openapiName: 'openapi.yaml',
    overlay: {},
    overlayName: 'soap.yaml',
  });
  const received = sentAndReceived(contract);
  const next = new Map<unknown, unknown>(
    received.types.map((type) => [type, type.kind === 'record' ? type.fields[0]?.type : undefined]),
  );
  const [first] = received.types;
  const met = new Set<unknown>();
  for (let type: unknown = first; !met.has(type); type = next.get(type)) met.add(type);
  t.deepEqual([met.size, met.has(undefined)], [levels, false]);
});
