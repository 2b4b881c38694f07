import { makeCalls } from '../node/exchanges.ts';
import { createClient, portOf } from './create-client.ts';

const [wsdl = '', calls = ''] = process.argv.slice(2);

for (const version of ['1.1', '1.2']) {
  const client = await createClient(wsdl, version);
  await makeCalls(calls, version, portOf(client, version), undefined);
}
