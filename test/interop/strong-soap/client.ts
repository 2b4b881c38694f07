import { createRequire } from 'node:module';
import { credentials, faultOf, makeChecks } from '../node/checks.ts';

/** As much of strong-soap as is used here; it has no types of its own. */
interface StrongSoap {
  readonly soap: {
    createClient(
      url: string,
      options: { readonly forceSoapVersion: string },
      done: (error: Error | null, client: Client) => void,
    ): void;
  };
}

interface Client {
  readonly ScreeningApi: Readonly<Record<string, Port>>;
  setEndpoint(address: string): void;
}

type Port = Readonly<
  Record<string, (input: object, done: (error: Error | null, reply: { Data: object }) => void) => void>
>;

const { soap }: StrongSoap = createRequire(import.meta.url)('strong-soap');
const [wsdl = '', version = ''] = process.argv.slice(2);
const client = await new Promise<Client>((resolve, reject) => {
  soap.createClient(wsdl, { forceSoapVersion: version }, (error, created) => {
    if (error === null) resolve(created);
    else reject(error);
  });
});

await makeChecks((operation, input, address) => {
  client.setEndpoint(address);
  const port = client.ScreeningApi[version === '1.2' ? 'Soap12' : 'Soap11'];
  return new Promise((resolve, reject) => {
    port?.[operation]?.({ Authentication: credentials, ...withDates(input) }, (error, reply) => {
      if (error === null) return resolve(reply.Data);
      const fault = faultOf(error);
      return fault === undefined ? reject(error) : resolve(fault);
    });
  });
});

/** strong-soap writes every date in UTC, which is the contract's zone: a wall clock is given as one of UTC. */
function withDates(input: object): object {
  return JSON.parse(JSON.stringify(input), (_name, value) => {
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(value)) return value;
    return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
  });
}
