// Example JSON service of the tutorial: two resources, in memory. Listens on PORT.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const book = {
  isbn: '978-0-00-000000-2',
  title: 'Soap & Water',
  authors: ['A. Foam', 'B. Rinse'],
  price: 12.5,
  copies: { 'North end': 2, Centre: 0 },
  shelved: '2026-02-28',
};
let loans = 9007199254740993n;

const server = createServer(async (request, response) => {
  const path = decodeURIComponent((request.url ?? '').split('?')[0]);
  if (request.method === 'GET' && path === `/api/books/${book.isbn}`) {
    answer(response, 200, JSON.stringify(book).replace('12.5', '12.50'));
  } else if (request.method === 'POST' && path === '/api/loans') {
    const { isbn, reader } = await json(request);
    const loan = JSON.stringify({ isbn, reader, due: '2026-03-28' });
    answer(response, 201, `{"number":${loans++},${loan.slice(1)}`);
  } else {
    answer(response, 404, JSON.stringify({ title: 'Not found', detail: `the library has no ${path}` }));
  }
});

function answer(response, status, body) {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(body);
}

server.listen(Number(process.env.PORT ?? 9090), '127.0.0.1', () => {
  process.stdout.write(`the library listens on http://127.0.0.1:${server.address().port}/api\n`);
});
