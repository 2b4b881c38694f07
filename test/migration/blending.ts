import type { ExecutionContext } from 'ava';
import { contractFolder, type Site, type SiteOptions, type StubReply, startSite } from './scenario.ts';

// Calls of blended operations and replies to them.

export const path = '/agency/services/v2/AgencyPort';
export const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/';
export const soap12 = 'http://www.w3.org/2003/05/soap-envelope';
export const agency =
  'xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1"';
export const text = { 'content-type': 'text/xml; charset=utf-8' };

export const envelope = (body: string, namespace = soap11) =>
  `<s:Envelope xmlns:s="${namespace}"><s:Body>${body}</s:Body></s:Envelope>`;

export const request = (operation: string, namespace = soap11) => ({
  path,
  headers: { 'Content-Type': namespace === soap11 ? 'text/xml' : 'application/soap+xml' },
  body: envelope(`<a:${operation}Request ${agency}/>`, namespace),
});

/** A submission of the legacy service, with elements after its number. */
export const submission = (number: string, more = '') =>
  `<a:SubmissionInfo><c:GrantsGovTrackingNumber>${number}</c:GrantsGovTrackingNumber>${more}</a:SubmissionInfo>`;

export const legacyList = (...items: readonly string[]): string =>
  envelope(
    `<a:GetSubmissionListResponse ${agency}><a:Success>true</a:Success><a:AvailableApplicationNumber>${items.length}</a:AvailableApplicationNumber>${items.join('')}</a:GetSubmissionListResponse>`,
  );

export const xmlReply = (body: string): StubReply => ({ status: 200, headers: text, body });
export const jsonReply = (value: object | string, status = 200): StubReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: typeof value === 'string' ? value : JSON.stringify(value),
});

export const newList = (...items: readonly object[]): StubReply =>
  jsonReply({ Success: true, AvailableApplicationNumber: items.length, SubmissionInfo: items });

export const noSubmissions: StubReply = {
  status: 500,
  headers: text,
  body: envelope(
    `<s:Fault><faultcode>s:Server</faultcode><faultstring>none</faultstring><detail><a:NoSubmissions ${agency}/></detail></s:Fault>`,
  ),
};

export const submissions = { list: 'SubmissionInfo', counts: ['AvailableApplicationNumber'] };

export async function start(
  t: ExecutionContext,
  blend: object,
  more: Partial<SiteOptions> = {},
  operation = 'GetSubmissionList',
  migration: object = {},
): Promise<Site> {
  return startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: {
      legacy: '{legacy}',
      migration: {
        routes: [{ name: 'lists', operations: [operation], mode: 'blend' }],
        blend: { [operation]: blend },
        ...migration,
      },
    },
    ...more,
  });
}

/** Sends a call and returns the tracking numbers of the reply, or its fault. */
export async function numbersOf(
  site: Site,
  legacy: StubReply,
  fresh: StubReply,
  namespace = soap11,
): Promise<string> {
  site.legacy.answer = legacy;
  site.upstream.answer = fresh;
  const reply = await site.send(request('GetSubmissionList', namespace));
  const body = reply.body.toString();
  const numbers = [...body.matchAll(/TrackingNumber>(\w+)</g)].map(([, number]) => number).join(' ');
  const [, fault] = /<(?:faultstring|s:Text)[^>]*>([^<(]*)/.exec(body) ?? [];
  const count = /AvailableApplicationNumber>(\d+)</.exec(body)?.[1];
  return fault === undefined ? `${count}: ${numbers}` : `${reply.status} ${fault.trim()}`;
}

export const one = (number: string) => ({ GrantsGovTrackingNumber: number });
