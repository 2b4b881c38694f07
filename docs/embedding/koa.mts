// docs:begin koa
import Koa from 'koa';
import Router from 'koa-router';
import { createGateway, loadContract } from 'soapbridge';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const soap = createGateway({
  contract,
  basePath: '/library',
  upstream: process.env.UPSTREAM_URL ?? 'http://127.0.0.1:9090/api',
  publicUrl: 'https://api.example.com',
  logger: console,
});

const routes = new Router();
routes.get('/hello', (ctx) => {
  ctx.body = 'hello\n';
});

const app = new Koa();
app.use(soap.middleware); // before body parsers
app.use(routes.routes());
const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listens', server.address());
});

process.once('SIGTERM', async () => {
  server.close(); // no new connections
  await soap.close(); // completes calls in flight, rejects new ones
});
// docs:end koa
