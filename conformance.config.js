/** `npm run conformance`: whole public suites, minutes rather than seconds, so apart from `npm test`. */
export default {
  extensions: ['ts'],
  files: ['test/conformance/**/*.test.ts'],
  timeout: '5m',
  workerThreads: false,
};
