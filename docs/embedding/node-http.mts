// docs:begin node-http
import { createServer } from 'node:http';
import { createGateway, loadContract } from 'soapbridge';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const soap = createGateway({
  contract,
  upstream: process.env.UPSTREAM_URL ?? 'http://127.0.0.1:9090/api',
  publicUrl: 'https://api.example.com',
  limits: { inFlight: 64, totalMs: 10_000 },
});

const server = createServer((request, response) => {
  if (request.url === '/metrics') response.end(soap.metrics());
  else soap.handler(request, response);
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listens', server.address());
});

process.once('SIGTERM', async () => {
  server.close();
  await soap.close();
});
// docs:end node-http
