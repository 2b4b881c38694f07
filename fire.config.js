/** `npm run fire`: restarts under load, minutes rather than seconds, so apart from `npm test`. */
export default {
  extensions: ['ts'],
  files: ['test/fire/long/*.ts'],
  timeout: '15m',
  workerThreads: false,
};
