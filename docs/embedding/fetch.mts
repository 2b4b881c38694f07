// docs:begin fetch
import { createServer } from 'node:http';
import { createGateway, loadContract } from 'soapbridge';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const gateway = createGateway({
  contract,
  publicUrl: 'https://api.example.com',
  upstream: async (request) => {
    if (new URL(request.url).pathname !== '/api/loans') return Response.json({}, { status: 404 });
    const { isbn, reader } = (await request.json()) as { isbn: string; reader: string };
    return Response.json({ number: 1, isbn, reader, due: '2026-03-28' }, { status: 201 });
  },
});

const server = createServer(gateway.handler);
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('listens', server.address());
});

process.once('SIGTERM', async () => {
  server.close();
  await gateway.close();
});
// docs:end fetch
