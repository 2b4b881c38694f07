import { at } from '../../clients/calls.ts';
import { callOrders, callShop } from '../node/services.ts';
import { createClient } from './create-client.ts';

const [service, wsdl = '', , version = ''] = process.argv.slice(2);
const client = await createClient(wsdl, version);

if (service === 'shop')
  await callShop(
    Reflect.get(Reflect.get(client, 'Shop'), version === '1.2' ? 'Soap12' : 'Soap11'),
    (item) => item,
  );
else {
  let headers: unknown;
  client.addSoapHeader(
    { session: 'abc', branch: 'north' },
    { nsURI: 'http://orders.example/', name: 'SessionHeader' },
  );
  const port = Reflect.get(Reflect.get(client, 'Orders'), version === '1.2' ? 'OrdersSoap12' : 'OrdersSoap');
  const kept = Object.fromEntries(
    ['GetOrder', 'PlaceOrder', 'CancelOrder'].map((name) => [
      name,
      (input: object, done: (error: Error | null, reply: unknown) => void) =>
        port[name](input, (error: Error | null, reply: unknown, _raw: string, header: unknown) => {
          headers = header ?? headers;
          done(error, reply);
        }),
    ]),
  );
  await callOrders(
    kept,
    {
      attributes: '$attributes',
      text: '$value',
      // strong-soap writes every date in UTC
      placed: new Date('2020-02-29T12:00:00Z'),
      derived: {
        $attributes: { $xsiType: { type: 'BusinessCustomer', xmlns: 'http://orders.example/' } },
      },
    },
    () => at(headers, 'QuotaHeader.callsLeft'),
  );
}
