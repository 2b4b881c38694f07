import { createRequire } from 'node:module';
import { createClientAsync } from 'soap';

/** Services, ports and operation names that an importer found in a WSDL. */
export type Description = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

interface StrongSoap {
  readonly soap: {
    createClient(
      path: string,
      options: object,
      callback: (error: Error | null, client: { describe(): object }) => void,
    ): void;
  };
}

// strong-soap has no types.
const strongSoap: StrongSoap = createRequire(import.meta.url)('strong-soap');

/** Reads a WSDL file with `soap`. */
export async function describeSoap(path: string): Promise<Description> {
  const client = await createClientAsync(path);
  return operationNames(client.describe());
}

/** Reads a WSDL file with `strong-soap`. */
export async function describeStrongSoap(path: string): Promise<Description> {
  const description = await new Promise<object>((resolve, reject) => {
    strongSoap.soap.createClient(path, {}, (error, client) => {
      if (error === null) resolve(client.describe());
      else reject(error);
    });
  });
  return operationNames(description);
}

function operationNames(description: object): Description {
  return mapValues(description, (service) => mapValues(service, (port) => Object.keys(port)));
}

function mapValues<T>(object: object, change: (value: object) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
