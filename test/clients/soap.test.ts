import test from 'ava';
import { createClientAsync, type IOptions } from 'soap';
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

/** Methods of a port as `soap` creates them from the WSDL. */
type Port = Readonly<
  Record<
    string,
    (
      input: object,
      done: (error: Error | null, result: { readonly Data: unknown }, raw: string) => void,
    ) => void
  >
>;

/** Creates a client from the running gateway's WSDL, with the addresses of the WSDL. */
async function createCaller(gateway: Running, port: string, header?: string): Promise<Caller> {
  const options: IOptions = { disableCache: true, forceSoap12Headers: port === 'Soap12' };
  const client = await createClientAsync(`${gateway.address}/soap11?wsdl`, options);
  if (header !== undefined) client.addSoapHeader(header);
  const methods: Port = client.ScreeningApi[port];
  return (operation, input) =>
    new Promise((resolve, reject) => {
      methods[operation]?.({ ...input, Authentication: authentication }, (error, result, raw) => {
        if (error !== null) reject(error);
        else resolve({ data: result.Data, raw });
      });
    });
}

let gateway: Running;

test.before(async () => {
  gateway = await startGateway();
});

test.after.always(() => gateway.stop(0));

for (const { name, port, namespace } of versions) {
  test(`soap calls all twelve operations over ${name} with the gateway’s WSDL`, async (t) => {
    await checkCalls(t, await createCaller(await ownGateway(t), port), namespace);
  });

  test(`W26: soap reads an in-band error over ${name}`, async (t) => {
    await checkError(t, await createCaller(gateway, port));
  });

  test(`W16, W17: soap sends and reads dates over ${name} without a change of the clock time`, async (t) => {
    await checkDates(t, gateway, await createCaller(gateway, port), (wallClock) => wallClock);
  });

  test(`W27: soap reports a fault over ${name} with its reason`, async (t) => {
    const call = await createCaller(gateway, port, ticketHeader);
    const error = await t.throwsAsync(call('AddClientTemplate', {}));
    t.regex(error.message, /MustUnderstand/);
    t.regex(
      error.message,
      /expected mustUnderstand only on header blocks that the contract reads, got <Ticket>/,
    );
  });
}

test('W13: refuses a JavaScript Date, which soap writes as an empty element, and names the remedy', async (t) => {
  const call = await createCaller(gateway, 'Soap11');
  const { data } = await call('RenewAllPepSearches', { Request: { RenewalDate: new Date() } });
  t.is(at(data, 'ResponseStatus.Errors.ResponseError.0.ErrorCode'), 'NotEmpty');
  t.is(at(data, 'ResponseStatus.Errors.ResponseError.0.FieldName'), 'Request.RenewalDate');
  t.regex(String(at(data, 'ResponseStatus.Message')), /node-soap .* ISO string/);
});
