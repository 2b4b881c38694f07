import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError, loadContract } from '../../../gateway/index.ts';
import { contract, lend, loan, openGateway, replyWith } from './library.ts';

const document = readFileSync('docs/tutorial/openapi.yaml', 'utf8');

/** Creates a folder with the tutorial's contract. `write` replaces its document. */
function folderOf(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'reload-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (text: string): void => writeFileSync(join(folder, 'openapi.yaml'), text);
  write(document);
  return { folder, write };
}

test('reload without a contract reads the files again; running calls finish on the old contract', async (t) => {
  const { folder, write } = folderOf(t);
  const sent: string[] = [];
  const answers: ((response: Response) => void)[] = [];
  const arrived = Promise.withResolvers<void>();
  const { gateway, base, call } = await openGateway(t, {
    ...loadContractOnly(folder),
    upstream: (request) => {
      sent.push(new URL(request.url).pathname);
      return new Promise((resolve) => {
        answers.push(resolve);
        arrived.resolve();
      });
    },
  });
  const first = call(lend);
  await arrived.promise;
  write(document.replace('/loans:', '/lendings:').replace('operationId: getBook', 'operationId: findBook'));
  await gateway.reload();
  t.regex(await (await fetch(`${base}/soap11?wsdl`)).text(), /name="findBook"/);
  const second = call(lend);
  while (answers.length < 2) await new Promise(setImmediate);
  for (const answer of answers) answer(replyWith(loan, 201));
  t.deepEqual([(await first).status, (await second).status], [200, 200]);
  t.deepEqual(sent, ['/api/loans', '/api/lendings']);
});

/** Loads the contract of a folder in the form of the gateway's options. */
function loadContractOnly(folder: string) {
  const { contract: loaded, mapping } = loadContract(folder);
  return { contract: loaded, mapping };
}

test('reload of invalid files rejects with ContractError, and the old contract is served', async (t) => {
  const { folder, write } = folderOf(t);
  const { gateway, call } = await openGateway(t, {
    ...loadContractOnly(folder),
    upstream: () => replyWith(loan, 201),
  });
  write(document.replace('#/components/schemas/Book', '#/components/schemas/Boook'));
  const error = await t.throwsAsync(gateway.reload(), { instanceOf: ContractError });
  t.regex(error?.message ?? '', /openapi\.yaml/);
  t.is((await call(lend)).status, 200);
  write(document);
  await gateway.reload();
  t.is((await call(lend)).status, 200);
});

test('reload with a contract serves it below the base path of the options', async (t) => {
  const { folder, write } = folderOf(t);
  const { gateway, base } = await openGateway(t, {
    upstream: () => replyWith(loan, 201),
    basePath: '/library',
  });
  write(document.replace('operationId: getBook', 'operationId: findBook'));
  await gateway.reload(loadContract(folder));
  const wsdl = await (await fetch(`${base}/library/soap11?wsdl`)).text();
  t.regex(wsdl, /name="findBook"/);
  t.regex(wsdl, /location="https:\/\/edge\.example\/library\/soap11"/);
  t.regex(gateway.metrics(), /contract="\/library"/);
});

test('after many reloads the last contract is served', async (t) => {
  const { folder, write } = folderOf(t);
  const { gateway, base } = await openGateway(t, { upstream: () => replyWith(loan, 201) });
  const loads = ['One', 'Two', 'Three'].map((name) => {
    write(document.replace('operationId: getBook', `operationId: get${name}`));
    return gateway.reload(loadContract(folder));
  });
  await Promise.all(loads);
  t.regex(await (await fetch(`${base}/soap11?wsdl`)).text(), /name="getThree"/);
});

test('reload rejects a value that is no contract, one of unknown origin, and on a closed gateway', async (t) => {
  const { gateway, call } = await openGateway(t, {
    contract: { ...contract },
    upstream: () => replyWith(loan, 201),
  });
  await t.throwsAsync(gateway.reload(), {
    instanceOf: RangeError,
    message: /^reload: expected a contract that loadContract returned/,
  });
  await t.throwsAsync(gateway.reload({} as never), { instanceOf: RangeError, message: /^reload: expected / });
  t.is((await call(lend)).status, 200);
  await gateway.close();
  await t.throwsAsync(gateway.reload({ contract }), {
    instanceOf: RangeError,
    message: /^reload: expected an open gateway/,
  });
});
