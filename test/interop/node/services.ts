import { at } from '../../clients/calls.ts';

/** Methods of a port as both libraries create them from the WSDL. */
type Port = Readonly<
  Record<string, (input: object, done: (error: Error | null, reply: unknown) => void) => void>
>;

/** Calls an operation; rejects with the library's error. */
export function callerOf(port: Port): (operation: string, input: object) => Promise<unknown> {
  return (operation, input) =>
    new Promise((resolve, reject) => {
      const method = port[operation];
      if (method === undefined) return reject(new Error(`expected an operation ${operation}, got none`));
      method(input, (error, reply) =>
        error === null || error === undefined ? resolve(reply) : reject(error),
      );
    });
}

/** Prints the values that a check reads, or its error. */
export async function check(situation: string, read: () => Promise<readonly unknown[]>): Promise<void> {
  try {
    console.log(JSON.stringify({ situation, got: (await read()).map(printed) }));
  } catch (error) {
    console.log(JSON.stringify({ situation, error: String(error) }));
  }
}

function printed(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Returns the detail of a fault, whose element has a different name in each SOAP version. */
function detailOf(error: unknown): unknown {
  const fault = at(error, 'root.Envelope.Body.Fault');
  return at(fault, 'detail') ?? at(fault, 'Detail');
}

/** Formats an xs:decimal with two fraction digits, which both libraries read as a double. */
function amount(value: unknown): string {
  return Number(value).toFixed(2);
}

/** Formats a dateTime without a zone, which both libraries read as local time. */
function wallClock(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  return new Date(value.getTime() - value.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * Calls the service of an OpenAPI document: reads an item, changes it, and writes it back.
 *
 * @param writable converts an item that the library read to the input of a call
 */
export async function callShop(port: Port, writable: (item: object) => object): Promise<void> {
  const call = callerOf(port);
  const get = async (id: number): Promise<unknown> => at(await call('getItem', { id }), 'Result');
  const item = await get(1);
  const names = ['name', 'price', 'weight', 'stock', 'added', 'expires', 'rating', 'returnable', 'note'];
  await check('read', async () => {
    const tags = [at(item, 'tags.string')].flat();
    return [...names.map((name) => at(item, name)), tags.length, tags[1]];
  });
  await check('change', async () => {
    await call('putItem', { id: 1, Body: { ...writable(Object(item)), name: 'Ö & Co' } });
    const back = await get(1);
    return ['name', 'price', 'weight', 'rating'].map((name) => at(back, name));
  });
  await check('fault', async () => {
    try {
      await get(404);
    } catch (error) {
      return [at(detailOf(error), 'FaultDetail.status')];
    }
    return [];
  });
}

/** Member names that a library uses for attributes and for an element's text. */
export interface Dialect {
  readonly attributes: string;
  readonly text: string;
  /** Members that make a Customer a BusinessCustomer. */
  readonly derived: object;
  /** The date 2020-02-29T12:00:00 without a zone. */
  readonly placed: string | Date;
}

/** Calls the adopted .asmx service. */
export async function callOrders(port: Port, dialect: Dialect, quota: () => unknown): Promise<void> {
  const { attributes, text } = dialect;
  const call = callerOf(port);
  const get = async (orderId: number): Promise<unknown> =>
    at(await call('GetOrder', { orderId }), 'GetOrderResult');
  const order = await get(1);
  await check('read', async () => [
    at(order, `${attributes}.id`),
    amount(at(order, 'Total')),
    at(order, 'Status'),
    wallClock(at(order, 'Placed')),
    at(order, 'Shipped'),
    [at(order, 'Line')].flat().length,
    at(order, `Line.0.${attributes}.quantity`),
    amount(at(order, 'Line.1.Price')),
    at(order, 'Card.Last4'),
    at(order, 'Invoice'),
    at(order, 'Customer.Name'),
    at(order, `Customer.Phone.${text}`),
    at(order, `Customer.Phone.${attributes}.kind`),
  ]);
  await check('polymorphism', async () => [
    String(at(order, `Customer.${attributes}.xsi:type`)).replace(/^.*:/, ''),
    at(order, 'Customer.VatId'),
  ]);
  await check('list', async () => {
    const labels = [at(order, 'Labels.string')].flat();
    return [labels.length, labels[0], labels[1]];
  });
  await check('header', async () => [quota()]);
  await check('any', async () => [at(order, 'crate')]);
  let placed = 0;
  await check('write', async () => {
    placed = Number(at(await call('PlaceOrder', { order: orderToPlace(dialect) }), 'PlaceOrderResult'));
    const back = await get(placed);
    return [
      at(back, 'Customer.Name'),
      at(back, `Customer.Phone.${attributes}.kind`),
      at(back, 'Customer.VatId'),
      at(back, 'Shipped'),
      amount(at(back, 'Total')),
      at(back, 'Line.1.Article'),
      at(back, 'Invoice'),
      at(back, 'Card'),
    ];
  });
  await check('fault', async () => {
    try {
      await get(404);
    } catch (error) {
      const detail = at(detailOf(error), 'OrderNotFound');
      return [at(detail, 'orderId'), at(detail, 'hint')];
    }
    return [];
  });
  await check('empty reply', async () => {
    await call('CancelOrder', { orderId: placed });
    return [at(await get(placed), 'Status')];
  });
}

function orderToPlace({ attributes, text, derived, placed }: Dialect): object {
  const line = (quantity: number, Article: string, Price: string): object => ({
    [attributes]: { quantity },
    Article,
    Price,
  });
  return {
    [attributes]: { id: 0, version: '2' },
    Customer: {
      ...derived,
      Name: 'Ö & Co',
      Phone: { [attributes]: { kind: 'mobile' }, [text]: '555' },
      VatId: 'AT9',
    },
    Placed: placed,
    Shipped: null,
    Total: '10.25',
    Status: 'Shipped',
    Line: [line(3, 'Screws', '3.25'), line(1, 'Rope', '0.50')],
    Labels: { string: ['one', 'two'] },
    Invoice: 'I-1',
  };
}
