// docs:begin hooks
import { createServer } from 'node:http';
import { createGateway, loadContract } from 'soapbridge';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const gateway = createGateway({
  contract,
  upstream: process.env.UPSTREAM_URL ?? 'http://127.0.0.1:9090/api',
  publicUrl: 'https://api.example.com',
  onCall: ({ operation, status, outcome }) => console.log(operation, status, outcome),
  onError: (error, { requestId }) => console.error(requestId, error),
});

process.on('SIGHUP', async () => {
  try {
    await gateway.reload(); // reads docs/tutorial/openapi.yaml again
    console.log('reloaded');
  } catch (error) {
    console.error('the old contract is still served:', error);
  }
});

const server = createServer(gateway.handler);
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listens', server.address());
});

process.once('SIGTERM', async () => {
  server.close();
  await gateway.close();
});
// docs:end hooks
