import test from 'ava';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { Allowance } from '../../../../mappings/loader/document/allowance.ts';
import { readOverlay } from '../../../../mappings/loader/overlay/overlay.ts';
import { TypeDrafts } from '../../../../mappings/loader/schema/drafts.ts';

function draftsOf(): TypeDrafts {
  const overlay = readOverlay({}, () => undefined);
  return new TypeDrafts(overlay, new Allowance(defaultLimits));
}

test('hundreds of thousands of deferred types are filled in linear time', (t) => {
  const drafts = draftsOf();
  for (let count = 0; count < 200_000; count++) drafts.fillLater(() => undefined);
  const before = process.cpuUsage();
  drafts.fillAll();
  const { user, system } = process.cpuUsage(before);
  t.true(user + system < 1_000_000, `${user + system} µs`);
});
