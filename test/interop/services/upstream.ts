import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { canonical, readExact } from '../exact-json.ts';
import {
  expectedItem,
  expectedOrder,
  expectedRpcOrder,
  firstItem,
  firstOrder,
  firstRpcOrder,
  items,
} from './values.ts';

/** JSON services for all gateways: small stores that keep the values they receive. */
export interface Stores {
  readonly url: string;
  /** Problems of the calls since the start or the last reset. */
  readonly complaints: readonly string[];
  /** Restores the initial values of all stores. */
  readonly reset: () => void;
  readonly close: () => void;
}

/** JSON with members by name. Numbers that a double would change are kept as digits. */
type Members = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** An operation that maps the body of a call to a response, and reports problems of the call. */
type Serve = (body: Members, complain: (what: string) => void) => Answer;

/** Starts the stores on a free port of 127.0.0.1, with their initial values. */
export async function startStores(): Promise<Stores> {
  const fresh = (): ReadonlyMap<string, Serve> =>
    new Map([...ordersOperations(), ...rpcOperations(), ...catalogueOperations(), ...shopOperations()]);
  let operations = fresh();
  const complaints: string[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const name = path.startsWith('/items/') ? `${request.method} item` : (path.split('/').at(-1) ?? '');
    const serve = operations.get(name);
    const content = await text(request);
    const body = readExact(content === '' ? `{"path":"${path}"}` : content) as Members;
    const complain = (what: string): void => {
      complaints.push(`${name}: ${what}`);
    };
    if (serve === undefined) complain('expected an operation of the services');
    const { status, body: answer } = serve?.(body, complain) ?? { status: 404, body: {} };
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    complaints,
    reset: () => {
      operations = fresh();
      complaints.length = 0;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const ok = (body: object): Answer => ({ status: 200, body });

/** Reports a value that differs from what every client must send. Null members count as absent. */
function compare(got: unknown, expected: object, complain: (what: string) => void): void {
  const [one, other] = [canonical(got), canonical(expected)];
  if (one !== other) complain(`expected ${other}, got ${one}`);
}

function notFound(orderId: unknown): Answer {
  const message = `no order ${String(orderId)}`;
  return {
    status: 404,
    body: { '@fault': 'OrderNotFound', '@message': message, orderId, hint: 'try <1> & co' },
  };
}

/** The shop: an item that clients read, change and write back. */
function shopOperations(): readonly (readonly [string, Serve])[] {
  let item: Members = firstItem;
  return [
    [
      'GET item',
      ({ path }) => (path === '/items/1' ? ok(item) : { status: 404, body: { message: 'no such item' } }),
    ],
    [
      'PUT item',
      (body, complain) => {
        const change = { ...firstItem, name: 'Ö & Co' };
        // clients write the same instant and the same double in different forms
        compare(comparable(body), comparable(change), complain);
        item = body;
        return ok(item);
      },
    ],
  ];
}

/** Returns an item with its instant in ms and its doubles as JavaScript numbers. */
function comparable(item: Members): Members {
  const { added, price, weight } = item;
  return {
    ...item,
    added: Date.parse(String(added)),
    price: Number(numberOf(price)),
    weight: Number(numberOf(weight)),
  };
}

/** The .asmx service: wrapped messages, attributes, a session in a header block. */
function ordersOperations(): readonly (readonly [string, Serve])[] {
  const orders = new Map<unknown, object>([[1, firstOrder]]);
  const needsSession = (body: Members, complain: (what: string) => void): void =>
    compare(body['@headers'], { SessionHeader: { session: 'abc', branch: 'north' } }, complain);
  return [
    [
      'GetOrder',
      ({ orderId }) => {
        const order = orders.get(orderId);
        if (order === undefined) return notFound(orderId);
        return ok({ '@headers': { QuotaHeader: { callsLeft: 7 } }, GetOrderResult: order });
      },
    ],
    [
      'PlaceOrder',
      (body, complain) => {
        needsSession(body, complain);
        const order = body.order as Members;
        // gSOAP, strong-soap and Axis2 write each time in UTC
        const Placed = String(order.Placed).replace(/(\.000)?(Z|\+00:00)$/, '');
        compare({ ...order, Placed }, expectedOrder, complain);
        const id = 100 + orders.size;
        orders.set(id, { ...order, id });
        return ok({ PlaceOrderResult: id });
      },
    ],
    [
      'CancelOrder',
      ({ orderId }) => {
        const order = orders.get(orderId);
        if (order === undefined) return notFound(orderId);
        orders.set(orderId, { ...order, Status: 'Cancelled' });
        return { status: 204, body: {} };
      },
    ],
  ];
}

/** The rpc/encoded service: SOAP arrays, nil beans, a one-way operation. */
function rpcOperations(): readonly (readonly [string, Serve])[] {
  const orders = new Map<unknown, object>([[1, firstRpcOrder]]);
  return [
    [
      'getOrder',
      ({ orderId }) => {
        const order = orders.get(orderId);
        return order === undefined ? notFound(orderId) : ok({ getOrderReturn: order });
      },
    ],
    [
      'placeOrder',
      ({ order }, complain) => {
        compare(order, expectedRpcOrder, complain);
        const id = 100 + orders.size;
        orders.set(id, { ...(order as Members), id });
        return ok({ placeOrderReturn: id });
      },
    ],
    [
      'cancelOrder',
      ({ orderId }) => {
        orders.set(orderId, { ...orders.get(orderId), note: 'cancelled' });
        return ok({});
      },
    ],
  ];
}

/** The bare service with several namespaces: a substitution group, derived types, a tenant in a header block. */
function catalogueOperations(): readonly (readonly [string, Serve])[] {
  const stock = new Map<unknown, Members>(items.map((item) => [item.sku, item]));
  const needsTenant = (body: Members, complain: (what: string) => void): void =>
    compare(body['@headers'], { Tenant: { name: 'acme' } }, complain);
  const meets = (item: Members, criterion: Members): boolean => {
    const { ByTitle, ByPrice } = criterion as { ByTitle?: Members; ByPrice?: Members };
    if (ByTitle !== undefined) return String(item.Title).includes(String(ByTitle.Contains));
    const { value = 0 } = (item.Price ?? {}) as { value?: unknown };
    return Number(numberOf(value)) <= Number(numberOf(ByPrice?.AtMost));
  };
  return [
    [
      'Find',
      (body, complain) => {
        needsTenant(body, complain);
        const found = [...stock.values()].filter((item) =>
          (body.Criterion as readonly Members[]).every((criterion) => meets(item, criterion)),
        );
        const limit = Number(body.limit ?? found.length);
        return ok({ more: found.length > limit, Item: found.slice(0, limit) });
      },
    ],
    [
      'Add',
      (body, complain) => {
        needsTenant(body, complain);
        const item = body.Item as Members;
        const known = stock.get(item.sku);
        if (known !== undefined)
          return { status: 409, body: { '@fault': 'Duplicate', sku: item.sku, title: known.Title } };
        compare(item, expectedItem, complain);
        stock.set(item.sku, item);
        return ok({ Count: stock.size });
      },
    ],
    [
      'Remove',
      ({ sku }, complain) => {
        if (!stock.delete(sku)) complain(`expected an item of the stock, got ${JSON.stringify(sku)}`);
        return ok({});
      },
    ],
  ];
}

/** Returns the digits of a number that `readExact` returned. */
function numberOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'rawJSON' in value
    ? String(value.rawJSON)
    : String(value);
}
