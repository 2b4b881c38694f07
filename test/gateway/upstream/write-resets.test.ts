import test from 'ava';
import { emptyReply, type Gateway, keyHeaders, type Reply, startGateway } from '../gateway.ts';

const write = (gateway: Gateway): Promise<Reply> =>
  gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');

test('a write whose connection is reset is sent once, 300 times in a row', async (t) => {
  const gateway = await startGateway(t, { limits: { breakerCalls: 1_000 } });
  gateway.answer((hit, response) =>
    hit.body.includes('"subUserName":"a"') ? response.socket?.resetAndDestroy() : response.end(emptyReply),
  );
  for (let batch = 0; batch < 30; batch++) {
    const replies = await Promise.all(Array.from({ length: 10 }, () => write(gateway)));
    t.true(replies.every(({ status }) => status === 502));
  }
  t.is(gateway.hits.length, 300);
});
