import { createClientAsync } from 'soap';
import { at } from '../../clients/calls.ts';
import { callOrders, callShop } from '../node/services.ts';

const [service, wsdl = '', , version] = process.argv.slice(2);
const client = await createClientAsync(wsdl, { forceSoap12Headers: version === '1.2' });

if (service === 'shop') {
  // node-soap reads a dateTime as a Date, but writes a Date as an empty element
  await callShop(client.Shop[version === '1.2' ? 'Soap12' : 'Soap11'], (item) =>
    JSON.parse(JSON.stringify(item)),
  );
} else {
  let headers: unknown;
  client.addSoapHeader(
    { SessionHeader: { session: 'abc', branch: 'north' } },
    '',
    'o',
    'http://orders.example/',
  );
  const port = client.Orders[version === '1.2' ? 'OrdersSoap12' : 'OrdersSoap'];
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
      attributes: 'attributes',
      text: '$value',
      placed: '2020-02-29T12:00:00',
      derived: {
        attributes: { 'xsi:type': 'o:BusinessCustomer', 'xmlns:o': 'http://orders.example/' },
      },
    },
    () => at(headers, 'QuotaHeader.callsLeft'),
  );
}
