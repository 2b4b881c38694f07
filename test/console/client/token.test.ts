import test from 'ava';
import { tokenIn } from '../../../console/client/operators/token.ts';

for (const pasted of ['sb_4f9c', ' sb_4f9c\n', 'Bearer sb_4f9c', '\tbearer  sb_4f9c '])
  test(`G70: the sign-in page finds the token in ${JSON.stringify(pasted)}`, (t) => {
    t.is(tokenIn(pasted), 'sb_4f9c');
  });
