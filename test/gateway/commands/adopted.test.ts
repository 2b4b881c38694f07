import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { folderOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { run } from './run.ts';

/** Tests of the commands with a folder that contains a WSDL. */

const orders = readFileSync('docs/adopt/Orders.wsdl', 'utf8');

function ordersFolder(t: ExecutionContext, overlay = ''): string {
  const folder = folderOf(t, { 'soap.yaml': overlay });
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  return folder;
}

const soap = (body: string, header = ''): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">${header}<s:Body>${body}</s:Body></s:Envelope>`;
const getOrder = '<GetOrder xmlns="http://orders.example/"><orderId>1</orderId></GetOrder>';

test('check lists ports, operations and problems of the overlay', async (t) => {
  const { code, out } = await run(t, ['check', '--contract', ordersFolder(t)]).ended;
  t.is(code, 0);
  t.is(
    out,
    'Orders: 3 operations from a WSDL (Orders.wsdl), namespace http://orders.example/\n' +
      '  /shop/Orders.asmx: OrdersSoap (SOAP 1.1), OrdersSoap12 (SOAP 1.2)\n' +
      '  GetOrder: document/literal; POST /GetOrder\n  PlaceOrder: document/literal; POST /PlaceOrder\n  CancelOrder: document/literal; POST /CancelOrder\n',
  );
  const json = await run(t, ['check', '--json', '--contract', ordersFolder(t)]).ended;
  const { adopted } = JSON.parse(json.out);
  t.deepEqual(adopted.endpoints, [{ path: '/shop/Orders.asmx', ports: ['OrdersSoap', 'OrdersSoap12'] }]);
  t.deepEqual(adopted.operations[0].actions, ['http://orders.example/GetOrder']);
  const wrong = await run(t, ['check', '--contract', ordersFolder(t, 'endpoint: {}\n')]).ended;
  t.is(wrong.code, 2);
  t.regex(wrong.err, /soap\.yaml:1#\/endpoint: /);
});

test('translate prints the upstream call of a message, and the reply or fault of a response', async (t) => {
  const args = ['translate', '--contract', ordersFolder(t)];
  for (const message of [soap(getOrder), getOrder, '{"orderId":1}']) {
    const named = message.startsWith('{') ? ['--operation', 'GetOrder'] : [];
    const { out } = await run(t, [...args, ...named], {}, message).ended;
    t.regex(out, /^POST \/GetOrder\n(?:[\w-]+: .*\n)+\n\{"orderId":1\}\n$/);
  }
  const back = [...args, '--to', 'xml', '--operation', 'GetOrder'];
  const reply = await run(t, back, {}, '{"GetOrderResult":null}').ended;
  t.is(reply.err, '');
  t.regex(reply.out, /<s:Body><n0:GetOrderResponse [^>]*\/><\/s:Body>/);
  const fault = await run(t, [...back, '--status', '404'], {}, '{"@fault":"OrderNotFound","orderId":3}')
    .ended;
  t.regex(fault.out, /<detail><n0:OrderNotFound [^>]*><n0:orderId>3</);
  const unknown = await run(t, args, {}, '<Nothing/>').ended;
  t.is(unknown.code, 2);
  t.regex(
    unknown.err,
    /--operation: expected the name of an operation, got none, and no operation has the element <Nothing>/,
  );
});

test('translate --to xml makes a reply if requests must have members within facets', async (t) => {
  const folder = ordersFolder(t, 'validate: strict\n');
  const number = '<s:element minOccurs="1" maxOccurs="1" name="orderId" type="s:int" />';
  const restricted = `${number.replace(' type="s:int" />', '>')}<s:simpleType><s:restriction base="s:string"><s:pattern value="[A-Z]{3}-[1-9]{4}" /></s:restriction></s:simpleType></s:element>`;
  t.true(orders.includes(number));
  writeFileSync(join(folder, 'Orders.wsdl'), orders.replaceAll(number, restricted));
  const args = ['translate', '--contract', folder, '--to', 'xml', '--operation', 'CancelOrder'];
  const { code, out, err } = await run(t, args, {}, '{}').ended;
  t.is(err, '');
  t.is(code, 0);
  t.regex(out, /<n0:CancelOrderResponse /);
});

test('translate --to xml makes a reply if header blocks have credentials', async (t) => {
  const folder = ordersFolder(
    t,
    'headers:\n  SessionHeader.session: { header: Authorization, format: "Bearer {}" }\n',
  );
  const args = ['translate', '--contract', folder, '--to', 'xml', '--operation', 'GetOrder'];
  const { code, out, err } = await run(t, args, {}, '{"GetOrderResult":null}').ended;
  t.deepEqual([code, err], [0, '']);
  t.regex(out, /<n0:GetOrderResponse /);
});

test('wsdl prints the legacy document with the gateway’s addresses', async (t) => {
  const args = ['wsdl', '--contract', ordersFolder(t), '--public-url', 'https://new.example/edge'];
  const { out } = await run(t, args).ended;
  t.is(out, orders.replaceAll('http://legacy.example/', 'https://new.example/edge/'));
  const slice = await run(t, [...args, '--operation', 'GetOrder']).ended;
  t.is(slice.code, 2);
  t.regex(slice.err, /expected no selection for a legacy WSDL, got a selection/);
});

test('names writes the names of operations and types, and keeps them on a second run', async (t) => {
  const folder = ordersFolder(t);
  t.is((await run(t, ['names', '--contract', folder]).ended).code, 0);
  const lock = JSON.parse(readFileSync(join(folder, 'names.lock'), 'utf8'));
  t.is(lock.operations['OrdersSoap.GetOrder'], 'GetOrder');
  t.is(lock.types['{http://orders.example/}Order'], 'Order');
  t.is((await run(t, ['names', '--check', '--contract', folder]).ended).code, 0);
});

test('diff reports the effect of a WSDL change on built clients', async (t) => {
  const after = folderOf(t, { 'o.wsdl': orders.replaceAll('"culture"', '"language"') });
  const { code, out } = await run(t, ['diff', ordersFolder(t), after]).ended;
  t.is(code, 1);
  t.regex(out, /^breaking +GetOrder in requests, culture: it is gone; calls with it are refused$/m);
  const other = await run(t, ['diff', ordersFolder(t), 'mappings/screening']).ended;
  t.is(other.code, 2);
  t.regex(other.err, /expected two contracts of one kind/);
});
