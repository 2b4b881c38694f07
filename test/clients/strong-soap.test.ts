import { createRequire } from 'node:module';
import test from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import {
  at,
  authentication,
  type Caller,
  checkCalls,
  checkDates,
  checkError,
  ticketHeader,
  versions,
} from './calls.ts';
import { ownGateway, startGateway } from './gateway.ts';

/** The parts of strong-soap that the tests use; the package has no types. */
interface StrongSoap {
  readonly soap: {
    createClient(
      url: string,
      options: { readonly forceSoapVersion: '1.1' | '1.2' },
      done: (error: Error | null, client: StrongClient) => void,
    ): void;
  };
}

interface StrongClient {
  readonly ScreeningApi: Readonly<Record<string, Port>>;
  addSoapHeader(xml: string): void;
}

type Port = Readonly<
  Record<
    string,
    (
      input: object,
      done: (error: Error | null, result: { readonly Data: unknown }, raw: string) => void,
    ) => void
  >
>;

const { soap }: StrongSoap = createRequire(import.meta.url)('strong-soap');

/** Creates a client from the running gateway's WSDL, with the addresses of the WSDL. */
async function createCaller(gateway: Running, port: string, header?: string): Promise<Caller> {
  const client = await new Promise<StrongClient>((resolve, reject) => {
    const forceSoapVersion = port === 'Soap12' ? '1.2' : '1.1';
    soap.createClient(`${gateway.address}/soap12?wsdl`, { forceSoapVersion }, (error, created) => {
      if (error === null) resolve(created);
      else reject(error);
    });
  });
  if (header !== undefined) client.addSoapHeader(header);
  return (operation, input) =>
    new Promise((resolve, reject) => {
      client.ScreeningApi[port]?.[operation]?.(
        { Authentication: authentication, ...input },
        (error, result, raw) => {
          if (error !== null) reject(error);
          else resolve({ data: result.Data, raw });
        },
      );
    });
}

let gateway: Running;

test.before(async () => {
  gateway = await startGateway();
});

test.after.always(() => gateway.stop(0));

for (const { name, port, namespace } of versions) {
  test(`strong-soap calls all twelve operations over ${name} with the gateway’s WSDL`, async (t) => {
    await checkCalls(t, await createCaller(await ownGateway(t), port), namespace);
  });

  test(`W26: strong-soap reads an in-band error over ${name}`, async (t) => {
    await checkError(t, await createCaller(gateway, port));
  });

  test(`W16: strong-soap sends a Date over ${name} as its instant, in any time zone of the process`, async (t) => {
    await checkDates(t, gateway, await createCaller(gateway, port), (wallClock) => new Date(`${wallClock}Z`));
  });

  test(`W27: strong-soap reports a fault over ${name} with its reason`, async (t) => {
    const call = await createCaller(gateway, port, ticketHeader);
    const error = await t.throwsAsync(call('AddClientTemplate', {}));
    t.regex(error.message, /MustUnderstand/);
    t.regex(
      error.message,
      /expected mustUnderstand only on header blocks that the contract reads, got <Ticket>/,
    );
  });
}

test('W19: strong-soap reads nil as null, and no member for an absent number', async (t) => {
  const call = await createCaller(gateway, 'Soap11');
  const { data } = await call('GetSearch', { Request: { Id: 1 } });
  const link = at(data, 'LinkedTo.LinkedTo.1');
  t.is(at(link, 'Description'), null);
  t.is(at(link, 'ClientId'), undefined);
});
