import test from 'ava';
import { quickMs, stuckMs } from '../../../gateway/upstream/operation-paces.ts';
import { type Outgoing, UpstreamConnections } from '../../../gateway/upstream/upstream-connections.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

/** A pool with a clock that the test sets. At most `queue` calls wait without an `inFlight` slot. */
function poolOf(limits: { upstreamConnections?: number; inFlight?: number } = {}, queue = 1_000) {
  const clock = { now: 1_000 };
  const slots = {
    parked: 0,
    park: () => {
      if (slots.parked === queue) return false;
      slots.parked++;
      return true;
    },
    unpark: () => {
      slots.parked--;
    },
  };
  const pool = new UpstreamConnections({ ...defaultLimits, ...limits }, slots, () => clock.now);
  const sent: string[] = [];

  /** Enters a call. Its caller is its network if it has no name. */
  function enter(operation: string, network = 'n', caller = network, latest = clock.now + 20_000) {
    const call: Outgoing & { sentAt: number; result: 'go' | 'wait' | 'late' } = {
      operation,
      keys: { caller, network, operation },
      sentAt: clock.now,
      latest,
      result: 'late',
      isParked: false,
      go: () => {
        call.sentAt = clock.now;
        call.result = 'go';
        sent.push(operation);
      },
    };
    call.result = pool.enter(call);
    return call;
  }

  const enterMany = (
    count: number,
    operation: string,
    partyOf: (index: number) => readonly string[] = () => [],
  ) =>
    Array.from({ length: count }, (_, index) => enter(operation, ...(partyOf(index) as [string?, string?])));

  /** Completes one call of an operation after a time. */
  function measure(operation: string, ms: number): void {
    const call = enter(operation, 'other', 'other');
    clock.now += ms;
    pool.release(call);
  }

  /** Completes enough calls of an operation to let it have all connections but two. */
  function keepUp(operation: string, ms: number): void {
    for (let round = 0; round < 2; round++) {
      const calls = enterMany(50, operation, (index) => [`other ${index}`]);
      clock.now += ms;
      for (const call of calls) pool.release(call);
    }
  }

  return { pool, clock, slots, sent, enter, enterMany, measure, keepUp };
}

const count = (calls: readonly { readonly result: string }[], result: string): number =>
  calls.filter((call) => call.result === result).length;

for (const [what, partyOf, most] of [
  ['one caller', () => ['n'], 41],
  ['callers of one network', (index: number) => ['n', `caller ${index}`], 45],
  ['all networks', (index: number) => [`network ${index}`], 57],
] as const) {
  test(`calls of a slow operation from ${what} leave connections to another operation`, (t) => {
    const { enterMany } = poolOf();
    const slow = enterMany(150, 'slow', partyOf);
    t.is(count(slow, 'go'), most);
    t.is(count(slow, 'wait'), 150 - most);
    t.is(count(enterMany(5, 'fast', partyOf), 'go'), 5);
  });
}

test('the calls of a fast operation continue beside 150 calls that hang', (t) => {
  const { pool, clock, enterMany } = poolOf();
  enterMany(150, 'hang');
  for (let round = 0; round < 1_000; round++) {
    const fast = enterMany(10, 'fast');
    t.is(count(fast, 'go'), 10);
    clock.now += 10;
    for (const call of fast) pool.release(call);
  }
});

test('an operation that was quick and begins to hang gets its share', (t) => {
  const { pool, clock, enterMany, measure } = poolOf();
  measure('hang', 10);
  t.is(count(enterMany(150, 'hang'), 'go'), 41);
  const healthy = enterMany(1, 'hang', () => ['another network']);
  for (let round = 0; round < 100; round++) {
    const [call] = healthy.splice(0, 1, ...enterMany(1, 'hang', () => ['another network']));
    t.is(call?.result, 'go');
    clock.now += 10;
    if (call !== undefined) pool.release(call);
    t.true(pool.active <= 54, `${pool.active} after ${round}`);
  }
});

for (const network of ['n', 'another network']) {
  test(`an operation that had 62 connections and hangs leaves two to quick calls of ${network}`, (t) => {
    const { pool, clock, enterMany, keepUp } = poolOf();
    keepUp('fast', 10);
    keepUp('hang', 10);
    t.is(count(enterMany(150, 'hang'), 'go'), 62);
    clock.now += stuckMs;
    let fast = enterMany(10, 'fast', () => [network]);
    for (let round = 0; round < 100; round++) {
      clock.now += 10;
      for (const call of fast.filter(({ result }) => result === 'go')) pool.release(call);
      fast = fast.filter((call) => call.result !== 'go' || call.sentAt === clock.now);
      fast.push(...enterMany(10 - fast.length, 'fast', () => [network]));
      t.is(count(fast, 'go'), 2);
    }
  });
}

test('a slow operation that was quick leaves one connection to its caller and one to others', (t) => {
  const { enterMany, keepUp } = poolOf();
  keepUp('slow', 10);
  t.is(count(enterMany(150, 'slow'), 'go'), 62);
  t.is(count(enterMany(3, 'fast'), 'go'), 1);
  t.is(
    count(
      enterMany(3, 'fast', () => ['another network']),
      'go',
    ),
    1,
  );
});

for (const connections of [4, 20, 40, 64]) {
  test(`a slow operation gets its share of ${connections} connections beside a quick one`, (t) => {
    const { pool, clock, enter, enterMany, measure } = poolOf({ upstreamConnections: connections });
    measure('quick', 10);
    let quick = enterMany(2 * connections, 'quick');
    clock.now += 1;
    const slow = enterMany(connections, 'slow');
    for (let round = 0; round < 200; round++) {
      clock.now += 1;
      const [first] = quick.filter(({ result }) => result === 'go');
      if (first === undefined) break;
      pool.release(first);
      quick = [...quick.filter((call) => call !== first), enter('quick')];
    }
    const has = count(slow, 'go');
    t.true(has >= 1 && has < connections, `${has}`);
  });
}

test('an operation is quick below quickMs, and until five of its calls are stuck', (t) => {
  const outAfter = (ms: number, ...stuck: readonly [calls: number, ms: number] | []): number => {
    const { clock, enterMany, measure, keepUp } = poolOf();
    const [calls = 0, stuckFor = 2 * ms] = stuck;
    measure('read', ms);
    enterMany(calls, 'read');
    clock.now += stuckFor - 2 * ms;
    keepUp('read', ms);
    return calls + count(enterMany(100, 'read'), 'go');
  };
  t.is(outAfter(quickMs - 1), 62);
  t.is(outAfter(quickMs), 41);
  t.is(outAfter(10, 4, stuckMs), 62);
  t.is(outAfter(10, 5, stuckMs - 1), 62);
  t.is(outAfter(10, 5, stuckMs), 41);
});

test('short failures do not make an operation quick, and long ones make it slow', (t) => {
  const fail = (ms: number, before?: number): number => {
    const { pool, clock, enter, enterMany, measure } = poolOf();
    if (before !== undefined) measure('read', before);
    for (let failures = 0; failures < 70; failures++) {
      const call = enter('read', 'other', 'other');
      clock.now += ms;
      pool.release(call, false);
    }
    return count(enterMany(100, 'read'), 'go');
  };
  t.is(fail(1), 41);
  t.is(fail(1, 1_000), 41);
  t.is(fail(1, 10), 62);
  t.is(fail(1_000, 10), 41);
});

test('waiting calls are sent in the order of their deadlines', (t) => {
  const { pool, enter, sent } = poolOf({ upstreamConnections: 1 });
  const first = enter('first');
  const last = enter('last', 'n', 'n', 9_000);
  const second = enter('second', 'n', 'n', 3_000);
  const third = enter('third', 'n', 'n', 3_000);
  const dropped = enter('dropped', 'n', 'n', 2_000);
  t.is(pool.waiting, 4);
  pool.drop(dropped);
  for (const call of [first, second, third, last]) pool.release(call);
  t.deepEqual(sent, ['second', 'third', 'last']);
  t.is(pool.active + pool.waiting, 0);
});

test('a call that cannot be sent before its deadline is rejected at once', (t) => {
  const { clock, enter, measure } = poolOf({ upstreamConnections: 1 });
  measure('slow', 1_000);
  t.is(enter('slow').result, 'go');
  t.is(enter('slow', 'n', 'n', clock.now + 1_000).result, 'wait');
  t.is(enter('slow', 'n', 'n', clock.now + 1_999).result, 'late');
  t.is(enter('slow', 'n', 'n', clock.now + 2_000).result, 'wait');
  // an earlier deadline is before the waiting calls
  t.is(enter('slow', 'n', 'n', clock.now + 999).result, 'late');
  t.is(enter('unknown', 'n', 'n', clock.now).result, 'wait');
});

test('a call waits if only calls of other operations have the connections', (t) => {
  const { clock, enter, measure } = poolOf({ upstreamConnections: 1 });
  measure('slow', 1_000);
  t.is(enter('fast').result, 'go');
  t.is(enter('slow', 'n', 'n', clock.now + 999).result, 'wait');
});

const parked = (calls: readonly Outgoing[]): number => calls.filter(({ isParked }) => isParked).length;

test('quick calls keep their inFlight slots while they wait', (t) => {
  const { enterMany, keepUp } = poolOf({ inFlight: 512 });
  keepUp('read', 25);
  const calls = enterMany(512, 'read');
  t.is(count(calls, 'go'), 62);
  t.is(count(calls, 'wait'), 450);
  t.is(parked(calls), 0);
});

test('waiting calls above the share are parked when their operation is no longer quick', (t) => {
  const { pool, clock, slots, enterMany, keepUp } = poolOf({ inFlight: 512 }, 180);
  keepUp('read', 25);
  const calls = enterMany(512, 'read');
  const waiting = calls.filter(({ result }) => result === 'wait');
  const park = (): number => {
    for (const call of waiting) pool.park(call, clock.now);
    t.is(parked(calls), slots.parked);
    return slots.parked;
  };
  t.is(park(), 0);
  clock.now += stuckMs;
  t.is(park(), 180); // 184 are above the share
  const call = waiting.find(({ isParked }) => isParked);
  if (call === undefined) return t.fail();
  pool.drop(call);
  waiting.splice(waiting.indexOf(call), 1);
  t.is(slots.parked, 179);
  t.is(park(), 180);
  t.is(parked(enterMany(1, 'other')), 0);
  for (const one of waiting) pool.drop(one);
  t.is(pool.waiting, 1);
  t.is(slots.parked, 0);
  t.is(parked(enterMany(200, 'read')), 0);
});

test('a call that would wait without a slot is rejected if the queue is full', (t) => {
  const { pool, slots, enterMany } = poolOf({ upstreamConnections: 1, inFlight: 10 }, 2);
  const calls = enterMany(9, 'slow');
  t.deepEqual(
    calls.map(({ result, isParked }) => (isParked ? 'parked' : result)),
    ['go', ...Array(5).fill('wait'), 'parked', 'parked', 'late'],
  );
  t.is(pool.waiting, 7);
  for (const call of calls.slice(0, 6)) pool.release(call);
  t.is(slots.parked, 1);
});

for (const [what, partyOf, most] of [
  ['one caller', () => ['n'], 328],
  ['callers of one network', (index: number) => ['n', `caller ${index}`], 364],
  ['all networks', (index: number) => [`network ${index}`], 364],
] as const) {
  test(`calls of a slow operation from ${what} leave inFlight slots to others`, (t) => {
    const { pool, enterMany } = poolOf({ inFlight: 512 });
    const slow = enterMany(600, 'slow', partyOf);
    t.is(600 - parked(slow), most);
    t.is(count(slow, 'late'), 0);
    t.is(pool.waiting, 600 - count(slow, 'go'));
    t.is(parked(enterMany(20, 'fast', partyOf)), 0);
  });
}

test('slow operations of one contract together leave inFlight slots to other contracts', (t) => {
  const { enter } = poolOf({ inFlight: 512 });
  const calls = Array.from({ length: 600 }, (_, index) =>
    enter(`operation ${index % 10}`, `network ${index}`),
  );
  t.is(600 - parked(calls), 456);
});

test('parked calls are sent in their turn, and calls that end make room for slots', (t) => {
  const { pool, clock, enterMany } = poolOf({ upstreamConnections: 1, inFlight: 10 });
  const calls = enterMany(12, 'slow');
  t.deepEqual(
    calls.map(({ isParked }) => isParked),
    [...Array(6).fill(false), ...Array(6).fill(true)],
  );
  for (const call of calls.slice(0, 7)) {
    clock.now += quickMs;
    pool.release(call);
  }
  t.is(calls[7]?.result, 'go');
  t.is(calls[7]?.isParked, false);
  for (const call of calls.slice(8)) pool.drop(call);
  t.is(pool.waiting, 0);
  t.is(parked(enterMany(5, 'slow')), 0);
  t.is(parked(enterMany(1, 'slow')), 1);
});

test('connections that return soon are given to calls that were over their share', (t) => {
  const { pool, clock, enterMany } = poolOf();
  const calls = enterMany(150, 'read');
  t.is(pool.active, 41);
  for (let round = 0; round < 2; round++) {
    clock.now += 25;
    for (const call of calls.filter(({ result }) => result === 'go').splice(0, 41)) {
      pool.release(call);
      calls.splice(calls.indexOf(call), 1);
    }
  }
  t.is(pool.active, 62);
});

test('a call that just received its connection can be dropped and is not measured', (t) => {
  const { pool, clock, enter, measure } = poolOf({ upstreamConnections: 1 });
  measure('slow', 1_000);
  const call = enter('slow');
  pool.drop(call);
  t.is(pool.active, 0);
  t.is(enter('slow').result, 'go');
  t.is(enter('slow', 'n', 'n', clock.now + 999).result, 'late');
});
