import test from 'ava';
import { legacyList, newList, one, request, start, submission, submissions, xmlReply } from './blending.ts';

test('G31: by default a blended list may have 50,000 items', async (t) => {
  const site = await start(t, {
    ...submissions,
    key: 'GrantsGovTrackingNumber',
    order: { by: 'GrantsGovTrackingNumber' },
  });
  const half = Array.from({ length: 25_000 }, (_, index) => String(10_000_000 + index));
  const status = '<c:GrantsGovApplicationStatus>Validated</c:GrantsGovApplicationStatus>';
  const date = '<a:ReceivedDateTime>2026-03-01T10:00:00Z</a:ReceivedDateTime>';
  const legacy = legacyList(...half.map((number) => submission(`L${number}`, date + status)));
  const fresh = half.map((number) => ({
    ...one(`N${number}`),
    ReceivedDateTime: '2026-03-01T10:00:00Z',
    GrantsGovApplicationStatus: 'Validated',
  }));
  site.legacy.answer = xmlReply(legacy);
  site.upstream.answer = newList(...fresh);
  const { status: ok, body } = await site.send(request('GetSubmissionList'));
  t.is(ok, 200, body.toString('utf8', 0, 500));
  t.true(body.includes('AvailableApplicationNumber>50000<'));
});
