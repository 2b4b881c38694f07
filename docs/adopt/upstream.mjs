// The new service for the legacy shop: JSON only, orders in memory. Listens on PORT.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** JSON texts of orders by number. The texts keep all digits of prices. */
const orders = new Map([
  [
    17,
    '{"id":17,"version":"3","Customer":{"@type":"BusinessCustomer","Name":"Soap & Sons","Phone":{"kind":"office","value":"+44 20 7946 0000"},"VatId":"GB123"},"Placed":"2006-03-01T09:30:00","Shipped":null,"Total":10.50,"Status":"Open","Line":[{"quantity":2,"Article":"Brush","Price":3.25},{"quantity":1,"Article":"Towel","Price":4.00}],"Labels":["fragile",null],"Invoice":"I-17"}',
  ],
]);
let last = 17;

const operations = {
  GetOrder: ({ orderId }) => {
    const order = orders.get(orderId);
    if (order === undefined) return notFound(orderId);
    return { status: 200, body: `{"@headers":{"QuotaHeader":{"callsLeft":99}},"GetOrderResult":${order}}` };
  },
  PlaceOrder: (_request, body) => {
    last += 1;
    const [, order = '{}'] = /^\{.*?"order":(\{.*\})\}$/s.exec(body) ?? [];
    orders.set(last, order.replace(/"id":-?\d+/, `"id":${last}`));
    return { status: 200, body: `{"PlaceOrderResult":${last}}` };
  },
  CancelOrder: ({ orderId }) => {
    const order = orders.get(orderId);
    if (order === undefined) return notFound(orderId);
    orders.set(orderId, order.replace(/"Status":"\w+"/, '"Status":"Cancelled"'));
    return { status: 204, body: '' };
  },
};

/** The fault that the old WSDL declares. */
function notFound(orderId) {
  const body = JSON.stringify({
    '@fault': 'OrderNotFound',
    '@message': `no order ${orderId}`,
    orderId,
    hint: 'orders begin at 17',
  });
  return { status: 404, body };
}

const server = createServer(async (request, response) => {
  const body = await text(request);
  const operation = operations[(request.url ?? '').slice(1)];
  if (request.headers.authorization !== 'Bearer let-me-in') {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"sign in first"}');
  } else if (operation === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"no such operation"}');
  } else {
    const reply = operation(JSON.parse(body), body);
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
  }
});

server.listen(Number(process.env.PORT ?? 9090), '127.0.0.1', () => {
  process.stdout.write(`the new shop listens on http://127.0.0.1:${server.address().port}\n`);
});
