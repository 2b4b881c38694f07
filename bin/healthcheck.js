// HEALTHCHECK of the image. Exits with 0 if the gateway on this machine answers at PORT by HTTP or TLS. Otherwise exits
// with 1 and prints the errors of both attempts to standard error.
import { get } from 'node:http';
import { connect } from 'node:tls';

const { PORT: port = '8080', SOAPBRIDGE_TLS_CERTIFICATE: certificate } = process.env;
const host = '127.0.0.1';
const longest = 2_000;

/**
 * Waits for the result of `asked`, a request or a socket. Returns undefined if `good` is emitted with the expected
 * value, otherwise the error message.
 */
const outcomeOf = (asked, good, why) =>
  new Promise((resolve) => {
    asked.on(good, (answer) => resolve(why(answer)));
    asked.on('error', ({ message, code }) => resolve((message || code).trim()));
    asked.on('timeout', () => resolve(`no answer within ${longest} ms`));
  }).finally(() => asked.destroy());

const ways = {
  HTTP: () =>
    outcomeOf(
      get({ host, port, path: '/healthz', agent: false, timeout: longest }),
      'response',
      ({ statusCode }) => (statusCode === 200 ? undefined : `status ${statusCode}`),
    ),
  // A handshake is enough, because a gateway that requires client certificates does not answer without one.
  TLS: () =>
    outcomeOf(
      connect({ host, port, rejectUnauthorized: false, timeout: longest }),
      'secureConnect',
      () => undefined,
    ),
};

const failures = [];
// TLS may also be configured in a file.
for (const way of certificate ? ['TLS', 'HTTP'] : ['HTTP', 'TLS']) {
  const failure = await ways[way]();
  if (failure === undefined) process.exit(0);
  failures.push(`${way}: ${failure}`);
}
process.stderr.write(`soapbridge: nothing healthy answers at ${host}:${port}: ${failures.join('; ')}\n`);
process.exitCode = 1;
