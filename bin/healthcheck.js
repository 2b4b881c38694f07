// For the image's HEALTHCHECK: ends with 0 where the gateway of this machine answers at PORT, by HTTP or by TLS, else with 1
// and a line on standard error that says what came of each.
import { get } from 'node:http';
import { connect } from 'node:tls';

const { PORT: port = '8080', SOAPBRIDGE_TLS_CERTIFICATE: certificate } = process.env;
const host = '127.0.0.1';
const longest = 2_000;

/** What became of `asked`, a request or a socket: undefined where `good` was emitted with what it wants, else why not. */
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
  // a handshake is enough: who asks callers for certificates answers nobody else
  TLS: () =>
    outcomeOf(
      connect({ host, port, rejectUnauthorized: false, timeout: longest }),
      'secureConnect',
      () => undefined,
    ),
};

const failures = [];
// TLS may be set by a file too
for (const way of certificate ? ['TLS', 'HTTP'] : ['HTTP', 'TLS']) {
  const failure = await ways[way]();
  if (failure === undefined) process.exit(0);
  failures.push(`${way}: ${failure}`);
}
process.stderr.write(`soapbridge: nothing healthy answers at ${host}:${port}: ${failures.join('; ')}\n`);
process.exitCode = 1;
