import { createClientAsync } from 'soap';
import { makeCalls } from '../node/exchanges.ts';

const [wsdl = '', calls = ''] = process.argv.slice(2);

for (const version of ['1.1', '1.2']) {
  const client = await createClientAsync(wsdl, { forceSoap12Headers: version === '1.2' });
  const [service] = Object.keys(client.describe());
  await makeCalls(calls, version, client[service ?? ''][version === '1.2' ? 'Soap12' : 'Soap11'], null);
}
