import { authentication, faultOf, makeChecks, security, tokenOptions } from '../node/checks.ts';
import { createClient, portOf, secure } from './create-client.ts';

const [wsdl = '', version = ''] = process.argv.slice(2);
const client = await createClient(wsdl, version);
if (security !== undefined) secure(client, tokenOptions);

await makeChecks((operation, input, address) => {
  client.setEndpoint(address); // recreates the ports
  const port = portOf(client, version);
  return new Promise((resolve, reject) => {
    port[operation]?.({ ...authentication, ...withDates(input) }, (error, reply) => {
      if (error === null) return resolve(Object(Reflect.get(Object(reply), 'Data')));
      const fault = faultOf(error);
      return fault === undefined ? reject(error) : resolve(fault);
    });
  });
});

/** strong-soap writes every date in UTC, which is the contract's zone, so a wall clock is passed as UTC. */
function withDates(input: object): object {
  return JSON.parse(JSON.stringify(input), (_name, value) => {
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(value)) return value;
    return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
  });
}
