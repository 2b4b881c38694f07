import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClientAsync, WSSecurity, WSSecurityCert } from 'soap';
import { authentication, faultOf, makeChecks, security, tokenOptions } from '../node/checks.ts';

/** Methods of a port as node-soap creates them from the WSDL. */
type Port = Readonly<
  Record<string, (input: object, done: (error: Error | null, reply: { Data: object }) => void) => void>
>;

const [wsdl = '', version] = process.argv.slice(2);
const client = await createClientAsync(wsdl, { forceSoap12Headers: version === '1.2' });
if (security !== undefined) {
  const { passwordType } = tokenOptions;
  // docs:begin token
  client.setSecurity(new WSSecurity('demo', 'demo-key', { passwordType, hasTimeStamp: true }));
  // docs:end token
}
const keys = process.env.SIGNING;
if (keys !== undefined) {
  const key = readFileSync(join(keys, 'caller.key'), 'utf8');
  const certificate = readFileSync(join(keys, 'caller.crt'), 'utf8');
  // docs:begin sign
  client.setSecurity(
    new WSSecurityCert(key, certificate, '', {
      signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    }),
  );
  // docs:end sign
}

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
