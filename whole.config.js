/** Files that start processes, wait for limits or hold many inputs: too long for `npm test`. */
export const slow = [
  'test/commands/**/*.test.ts',
  'test/mappings/loader/growth.test.ts',
  'test/documents/**/*.test.ts',
  'test/expressions/**/*.test.ts',
  'test/fire/*.test.ts',
  'test/fuzz/live.test.ts',
  'test/gateway/http/admission.test.ts',
  'test/gateway/telemetry/full-log.test.ts',
  'test/gateway/process/loop-delay.test.ts',
  'test/gateway/process/memory.test.ts',
  'test/gateway/process/process.test.ts',
  'test/gateway/http/time-limits.test.ts',
  'test/gateway/process/workers.test.ts',
  'test/plain/importers.test.ts',
  'test/plain/properties.test.ts',
  'test/supply-chain/package.test.ts',
];

/** `npm run whole`: commands and processes, attacks, documents of others. */
export default {
  extensions: ['ts'],
  files: slow,
  timeout: '2m',
  workerThreads: false,
};
