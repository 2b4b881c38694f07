import test from 'ava';
import {
  filesNeeded,
  mostOpenFiles,
  openFileMetrics,
  warnOfOpenFiles,
} from '../../../gateway/process/open-files.ts';
import { causeOf } from '../../../gateway/upstream/cause.ts';
import { exchangeError, isExhausted, isOurs } from '../../../gateway/upstream/reply-checks.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

const failure = (code: string): Error => Object.assign(new Error('connect'), { code });

for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])
  test(`${code} is the gateway's own failure, and no evidence against the upstream`, (t) => {
    const error = failure(code);
    const ofAddresses = new AggregateError([error, failure(code)]);
    for (const each of [error, ofAddresses]) {
      t.like(causeOf(each), { cause: 'exhausted', code });
      t.true(isExhausted(each) && isOurs(each));
      for (const stage of ['connecting', 'sent'] as const)
        t.like(exchangeError(each, stage), { code: 'GatewayExhausted', status: 503, retryAfter: '1' });
    }
  });

test('other failures are those of the upstream', (t) => {
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT']) {
    t.false(isOurs(failure(code)), code);
    t.is(exchangeError(failure(code), 'connecting').code, 'UpstreamUnavailable');
  }
});

test('a limit of open files below the sum of the limits is logged, an equal one is not', (t) => {
  const warnings: object[] = [];
  const log = { info: () => {}, error: () => {}, warn: (fields: object) => warnings.push(fields) };
  const needed = filesNeeded(defaultLimits, 2);
  t.is(needed - filesNeeded(defaultLimits, 1), defaultLimits.upstreamConnections);
  for (const most of [needed, undefined, needed - 1]) warnOfOpenFiles(defaultLimits, 2, most, log);
  t.deepEqual(warnings, [{ openFiles: needed - 1, needed }]);
});

test('the metrics have the open files of the process and their maximum', (t) => {
  const values = openFileMetrics().map(({ samples }) => samples[0]?.value ?? 0);
  const most = mostOpenFiles();
  if (most === undefined) t.deepEqual(values, []);
  else t.true(values[0] !== undefined && values[0] > 2 && values[0] <= most && values[1] === most);
});
