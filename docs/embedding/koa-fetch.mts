// docs:begin koa-fetch
import Koa from 'koa';
import { createGateway, loadContract } from 'soapbridge';

const service = process.env.UPSTREAM_URL ?? 'http://127.0.0.1:9090';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const soap = createGateway({
  contract,
  basePath: '/library',
  publicUrl: 'https://api.example.com',
  upstream: (request) => {
    const { pathname, search } = new URL(request.url); // http://localhost/api/loans
    const url = new URL(pathname + search, service); // the same path, at the service
    return fetch(new Request(url, request));
  },
});

const app = new Koa();
app.use(soap.middleware); // before body parsers
const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listens', server.address());
});

process.once('SIGTERM', async () => {
  server.close();
  await soap.close();
});
// docs:end koa-fetch
