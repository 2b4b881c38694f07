/** Files that start processes, wait for limits or hold many inputs: with them `npm test` would take minutes. */
const slow = [
  'test/adopt/derived.test.ts',
  'test/adopt/generators.test.ts',
  'test/adopt/messages.test.ts',
  'test/adopt/validity.test.ts',
  'test/basic-profile/*.test.ts',
  'test/captures/*.test.ts',
  'test/clients/*.test.ts',
  'test/console/pages.test.ts',
  'test/docs/adopt.test.ts',
  'test/docs/contract.test.ts',
  'test/docs/doctor.test.ts',
  'test/docs/embedding.test.ts',
  'test/docs/tutorial.test.ts',
  'test/documents/**/*.test.ts',
  'test/expressions/**/*.test.ts',
  'test/fire/*.test.ts',
  'test/fuzz/*.test.ts',
  'test/gateway/admission/*.test.ts',
  'test/gateway/call/*.test.ts',
  'test/gateway/commands/**/*.test.ts',
  'test/gateway/doctor/explain.test.ts',
  'test/gateway/embedding.test.ts',
  'test/gateway/http/body.test.ts',
  'test/gateway/http/connections.test.ts',
  'test/gateway/http/documents.test.ts',
  'test/gateway/http/held-bytes.test.ts',
  'test/gateway/http/large-replies.test.ts',
  'test/gateway/http/limits.test.ts',
  'test/gateway/http/loop-turns.test.ts',
  'test/gateway/http/time-limits.test.ts',
  'test/gateway/process/loop-delay.test.ts',
  'test/gateway/process/memory.test.ts',
  'test/gateway/process/process.test.ts',
  'test/gateway/process/sites.test.ts',
  'test/gateway/process/tls.test.ts',
  'test/gateway/process/workers.test.ts',
  'test/gateway/protocols/errors.test.ts',
  'test/gateway/protocols/formats.test.ts',
  'test/gateway/protocols/json-reply.test.ts',
  'test/gateway/protocols/read-aside.test.ts',
  'test/gateway/protocols/reply-aside.test.ts',
  'test/gateway/protocols/request-shapes.test.ts',
  'test/gateway/protocols/soap/addressing.test.ts',
  'test/gateway/protocols/soap/mtom*.test.ts',
  'test/gateway/protocols/soap/security*.test.ts',
  'test/gateway/protocols/soap/streamed.test.ts',
  'test/gateway/telemetry/*.test.ts',
  'test/gateway/upstream/*.test.ts',
  'test/mappings/codec/costs.test.ts',
  'test/mappings/codec/fast-path.test.ts',
  'test/mappings/codec/properties.test.ts',
  'test/mappings/codec/writers.test.ts',
  'test/mappings/loader/growth.test.ts',
  'test/plain/importers.test.ts',
  'test/plain/properties.test.ts',
  'test/siege/*.test.ts',
  'test/supply-chain/package.test.ts',
  'test/upstream/server.test.ts',
];

/** The sets of tests, by what the variable TESTS says; a script of package.json runs each. */
export const sets = {
  /** `npm test`: what says in under a minute whether a change holds. */
  quick: {
    files: [
      'test/**/*.test.ts',
      '!test/browser/**',
      '!test/conformance/**',
      '!test/deploy/tools.test.ts',
      '!test/fire/**',
      '!test/fleet/**',
      '!test/interop/kits.test.ts',
      ...slow.map((files) => `!${files}`),
    ],
    timeout: '60s',
  },
  /** `npm run whole`: commands and processes, attacks, documents of others. */
  whole: { files: slow, timeout: '2m' },
  /** `npm run conformance`: whole public suites. */
  conformance: { files: ['test/conformance/**/*.test.ts'], timeout: '5m' },
  /** `npm run deploy:check`: what is in deploy/, by the tools that read it. */
  deploy: { files: ['test/deploy/tools.test.ts'], timeout: '2m' },
  /** `npm run fleet`: replicas behind HAProxy, with a Valkey or Redis, and their failures. */
  fleet: { files: ['test/fleet/*.test.ts'], timeout: '2m', concurrency: 1 },
  /** `npm run kits`: the programs of client kits, each by its stack; one that isn't installed is a skip. */
  kits: { files: ['test/interop/kits.test.ts'], timeout: '2m' },
  /** `npm run browser`: pages in Debian's Chromium; skipped, with the reason, where there is none. */
  browser: { files: ['test/browser/*.test.ts'], timeout: '5m' },
  /** `npm run fire`: restarts under load. */
  fire: { files: ['test/fire/long/*.ts'], timeout: '15m' },
};

const named = process.env.TESTS ?? 'quick';
const set = sets[named];
if (set === undefined)
  throw new Error(`TESTS: expected one of ${Object.keys(sets).join(', ')}, got ${JSON.stringify(named)}`);

export default {
  extensions: ['ts'],
  workerThreads: false,
  // each file is a process of its own, which reads what another one has compiled
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/compile' },
  ...set,
};
