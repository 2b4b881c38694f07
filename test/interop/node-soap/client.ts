import { createClientAsync, WSSecurity } from 'soap';
import { authentication, faultOf, makeChecks, security, tokenOptions } from '../node/checks.ts';

/** Methods of a port as node-soap creates them from the WSDL. */
type Port = Readonly<
  Record<string, (input: object, done: (error: Error | null, reply: { Data: object }) => void) => void>
>;

const [wsdl = '', version] = process.argv.slice(2);
const client = await createClientAsync(wsdl, { forceSoap12Headers: version === '1.2' });
if (security !== undefined) client.setSecurity(new WSSecurity('demo', 'demo-key', tokenOptions));

await makeChecks((operation, input, address) => {
  client.setEndpoint(address);
  const port: Port = client.ScreeningApi[version === '1.2' ? 'Soap12' : 'Soap11'];
  return new Promise((resolve, reject) => {
    port[operation]?.({ ...authentication, ...input }, (error, reply) => {
      if (error === null) return resolve(reply.Data);
      const fault = faultOf(error);
      return fault === undefined ? reject(error) : resolve(fault);
    });
  });
});
