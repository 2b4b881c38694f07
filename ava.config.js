/**
 * Test files that take more than 1.2 s of CPU time on two idle cores, their child processes included. They run in `npm run whole`,
 * every other file runs in `npm test`. `TEST_DURATIONS=FILE npm run whole` writes what each file takes.
 */
const long = [
  'test/console/pages.test.ts',
  'test/docs/doctor.test.ts',
  'test/docs/mapping-example.test.ts',
  'test/documents/documents.test.ts',
  'test/documents/equal-types.test.ts',
  'test/expressions/linear.test.ts',
  'test/fire/attacks.test.ts',
  'test/fire/canary.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/fuzz/live.test.ts',
  'test/gateway/admission/caller-limits.test.ts',
  'test/gateway/call/credentials.test.ts',
  'test/gateway/commands/adopt.test.ts',
  'test/gateway/commands/adopted.test.ts',
  'test/gateway/commands/explain.test.ts',
  'test/gateway/commands/init.test.ts',
  'test/gateway/commands/kit.test.ts',
  'test/gateway/commands/limits.test.ts',
  'test/gateway/commands/map.test.ts',
  'test/gateway/commands/names.test.ts',
  'test/gateway/commands/openapi.test.ts',
  'test/gateway/commands/output.test.ts',
  'test/gateway/commands/position.test.ts',
  'test/gateway/commands/terminal.test.ts',
  'test/gateway/commands/translate.test.ts',
  'test/gateway/doctor/explain.test.ts',
  'test/gateway/http/connections.test.ts',
  'test/gateway/http/documents.test.ts',
  'test/gateway/http/given-back.test.ts',
  'test/gateway/http/held-bytes.test.ts',
  'test/gateway/http/large-replies.test.ts',
  'test/gateway/http/limits.test.ts',
  'test/gateway/http/loop-turns.test.ts',
  'test/gateway/http/reading-turns.test.ts',
  'test/gateway/http/time-limits.test.ts',
  'test/gateway/process/loop-delay.test.ts',
  'test/gateway/process/memory.test.ts',
  'test/gateway/process/process.test.ts',
  'test/gateway/process/sites.test.ts',
  'test/gateway/process/tls.test.ts',
  'test/gateway/process/workers.test.ts',
  'test/gateway/protocols/errors.test.ts',
  'test/gateway/protocols/read-aside.test.ts',
  'test/gateway/protocols/reply-aside.test.ts',
  'test/gateway/protocols/request-shapes.test.ts',
  'test/gateway/protocols/soap/known-headers.test.ts',
  'test/gateway/protocols/soap/mtom.test.ts',
  'test/gateway/protocols/soap/security-packets.test.ts',
  'test/gateway/protocols/soap/security.test.ts',
  'test/gateway/telemetry/full-log.test.ts',
  'test/gateway/telemetry/log.test.ts',
  'test/gateway/upstream/access.test.ts',
  'test/gateway/upstream/cause.test.ts',
  'test/gateway/upstream/mapped-replies.test.ts',
  'test/gateway/upstream/mapped-upstream.test.ts',
  'test/gateway/upstream/upstream-connections.test.ts',
  'test/gateway/upstream/upstream-faults.test.ts',
  'test/mappings/codec/costs.test.ts',
  'test/mappings/codec/fast-path.test.ts',
  'test/mappings/codec/writers.test.ts',
  'test/mappings/loader/growth.test.ts',
  'test/mappings/loader/load.test.ts',
  'test/mappings/mapping/rules.test.ts',
  'test/plain/importers.test.ts',
  'test/plain/properties.test.ts',
  'test/supply-chain/supply-chain.test.ts',
  'test/upstream/server.test.ts',
  'test/wsdl/samples/contracts.test.ts',
];

/** The sets of tests, by what the variable TESTS says; a script of package.json runs each. */
export const sets = {
  /** `npm test`: fast tests of all folders. */
  quick: {
    files: [
      'test/**/*.test.ts',
      '!test/browser/**',
      '!test/conformance/**',
      '!test/deploy/tools.test.ts',
      '!test/fleet/**',
      '!test/interop/kits.test.ts',
      ...long.map((file) => `!${file}`),
    ],
    timeout: '60s',
  },
  /** `npm run whole`: long tests, and whether `npm test` notices planted faults. */
  whole: { files: [...long, 'test/mutants/planted.ts'], timeout: '2m' },
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
  require: process.env.TEST_DURATIONS === undefined ? [] : ['./test/durations.ts'],
  workerThreads: false,
  // each file is a process of its own, which reads what another one has compiled
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/compile' },
  ...set,
};
