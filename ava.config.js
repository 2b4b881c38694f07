import { slow } from './whole.config.js';

/** `npm test`: what says in under a minute whether a change holds. */
export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts', '!test/conformance/**', '!test/fire/**', ...slow.map((files) => `!${files}`)],
  timeout: '60s',
  workerThreads: false,
};
