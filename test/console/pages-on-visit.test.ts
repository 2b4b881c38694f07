import test from 'ava';
import { createPages } from '../../console/server/pages-on-visit.ts';
import { startGateway } from '../gateway/gateway.ts';

test('the first visits find the pages, and a call in that time is refused', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages } });
  const visits = await Promise.all(['/docs', '/docs/GetSearch'].map((path) => gateway.send('GET', path)));
  t.deepEqual(
    visits.map(({ status, headers }) => [status, headers['content-type']]),
    [
      [200, 'text/html; charset=utf-8'],
      [200, 'text/html; charset=utf-8'],
    ],
  );
  const call = await gateway.send('POST', '/docs', { 'Content-Type': 'application/json' }, '{}');
  t.is(call.status, 405);
});
