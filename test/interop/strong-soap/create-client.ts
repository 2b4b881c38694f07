import { createRequire } from 'node:module';
import type { Port } from '../node/exchanges.ts';

/** The parts of strong-soap that the tests use; the package has no types. */
interface StrongSoap {
  readonly soap: {
    createClient(
      url: string,
      options: { readonly forceSoapVersion: string },
      done: (error: Error | null, client: Client) => void,
    ): void;
    readonly WSSecurity: new (user: string, password: string, options: object) => object;
  };
}

export interface Client {
  describe(): Readonly<Record<string, object>>;
  setEndpoint(address: string): void;
  setSecurity(security: object): void;
  addSoapHeader(header: object, name: object): void;
}

const { soap }: StrongSoap = createRequire(import.meta.url)('strong-soap');

/** Creates a client of the WSDL for a SOAP version. */
export function createClient(wsdl: string, version: string): Promise<Client> {
  return new Promise((resolve, reject) => {
    soap.createClient(wsdl, { forceSoapVersion: version }, (error, created) => {
      if (error === null) resolve(created);
      else reject(error);
    });
  });
}

/** Returns the methods of the only service's port for the version. */
export function portOf(client: Client, version: string): Port {
  const [service = ''] = Object.keys(client.describe());
  return Reflect.get(Reflect.get(client, service), version === '1.2' ? 'Soap12' : 'Soap11');
}

/** Adds a UsernameToken to every call. */
export function secure(client: Client, options: object): void {
  client.setSecurity(new soap.WSSecurity('demo', 'demo-key', options));
}
