import test from 'ava';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { Allowance } from '../../../../mappings/loader/document/allowance.ts';
import { readOverlay } from '../../../../mappings/loader/overlay/overlay.ts';
import { TypeDrafts } from '../../../../mappings/loader/schema/drafts.ts';

function draftsOf(): TypeDrafts {
  const overlay = readOverlay({}, () => undefined);
  return new TypeDrafts(overlay, new Allowance(defaultLimits));
}

test('deferred types are filled in order, and new ones after them', (t) => {
  const drafts = draftsOf();
  const filled: string[] = [];
  const later = (name: string, ...inner: readonly string[]): void =>
    drafts.fillLater(() => {
      filled.push(name);
      for (const each of inner) later(each);
    });
  later('a', 'c', 'd');
  later('b', 'e');
  drafts.fillAll();
  later('f');
  drafts.fillAll();
  t.is(filled.join(''), 'abcdef');
});
