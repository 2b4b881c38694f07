// For the image's HEALTHCHECK: ends with 0 where the gateway of this machine answers at PORT, by HTTP or by TLS, else with 1.
import { connect } from 'node:tls';

const { PORT = '8080', TLS_CERTIFICATE } = process.env;
const longest = 2_000;

const answersHttp = () =>
  fetch(`http://127.0.0.1:${PORT}/healthz`, { signal: AbortSignal.timeout(longest) }).then(
    ({ ok }) => ok,
    () => false,
  );

// a handshake is enough: who asks callers for certificates answers nobody else
const answersTls = () =>
  new Promise((resolve) => {
    const end = (answers) => {
      socket.destroy();
      resolve(answers);
    };
    const socket = connect({ host: '127.0.0.1', port: PORT, rejectUnauthorized: false, timeout: longest });
    socket.on('secureConnect', () => end(true));
    socket.on('error', () => end(false));
    socket.on('timeout', () => end(false));
  });

// TLS may be set by a file too
const ways = TLS_CERTIFICATE ? [answersTls, answersHttp] : [answersHttp, answersTls];
process.exitCode = (await ways[0]()) || (await ways[1]()) ? 0 : 1;
