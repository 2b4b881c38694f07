import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { file } from './file.ts';
import { run } from './run.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));
const text = readFileSync(openapi, 'utf8');

test('diff of a contract and itself reports no break and exits with 0', async (t) => {
  const { code, out, err } = await run(t, ['diff', openapi, openapi]).ended;
  t.deepEqual([code, err], [0, '']);
  t.is(out, '0 changes: 0 breaking, 0 breaks strict clients, 0 compatible\n');
});

test('diff reports changes that break built clients, and exits with 1', async (t) => {
  const next = file(t, text.replace('operationId: CancelParcel', 'operationId: StopParcel'));
  const { code, out } = await run(t, ['diff', openapi, next]).ended;
  t.is(code, 1);
  t.is(
    out,
    [
      'breaking               CancelParcel: the operation is called StopParcel; clients that call it meet a fault',
      'compatible             StopParcel: the operation is new; clients that are built do not know it',
      '2 changes: 1 breaking, 0 breaks strict clients, 1 compatible\n',
    ].join('\n'),
  );
});
