import test from 'ava';
import { logLoaded, reportOf } from '../../../gateway/process/load-report.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';

test('a document with a thousand warnings is one line per kind, with its count and first case', (t) => {
  const responses = (schema: object): object => ({
    200: { description: '', content: { 'application/json': { schema } } },
  });
  const loaded = buildContract({
    openapiName: 'openapi.yaml',
    overlayName: 'soap.yaml',
    overlay: {},
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Many', version: '1' },
      servers: [{ url: 'https://many.example/v1' }],
      paths: Object.fromEntries(
        Array.from({ length: 600 }, (_, index) => [
          `/a${index}`,
          {
            get: { operationId: `get${index}`, responses: responses({}) },
            trace: { responses: responses({}) },
          },
        ]),
      ),
    },
  });
  const lines: [unknown, string][] = [];
  const log = (members: unknown, message: string): void => {
    lines.push([members, message]);
  };
  const report = reportOf(loaded, { basePath: '', upstreamUrl: undefined, isMapped: false });
  logLoaded(report, { info: log, warn: log } as Parameters<typeof logLoaded>[1]);
  t.deepEqual(
    lines.map(([members]) => {
      const { operations, count, first } = members as {
        operations?: number;
        count?: number;
        first?: readonly unknown[];
      };
      return { operations, count, first: first?.length };
    }),
    [
      { operations: 600, count: undefined, first: undefined },
      { operations: undefined, count: 600, first: 3 },
      { operations: undefined, count: 600, first: 3 },
    ],
  );
  t.like(lines[0]?.[0], { contract: '/', service: 'Many', example: 'get0: GET /v1/a0' });
  t.true(lines[1]?.[1].startsWith('operations of the document are not served'));
});
