import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Started, start, stop } from './process.ts';
import { otherCore, serverCore } from './small-call.ts';

// Messages and servers for the measurements of a migration.

/** Folder of the contract. */
export const contract = join(import.meta.dirname, '../test/migration/contracts/agency');
/** Path of its port. */
export const port11 = '/agency/services/v2/AgencyPort';
const namespace = 'http://desk.example/services/Agency-V2';
const common = 'http://desk.example/system/Common-V1';

const envelopeOf = (body: string): string =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`;
/** Returns the envelope of a request. */
export const requestOf = (operation: string, content: string): string =>
  envelopeOf(
    `<a:${operation}Request xmlns:a="${namespace}" xmlns:c="${common}">${content}</a:${operation}Request>`,
  );

/** Replies of both services with the submissions of a range. `changed`: the number of one with another title. */
export function submissions(
  from: number,
  count: number,
  changed = -1,
): { readonly xml: string; readonly json: string } {
  const items = Array.from({ length: count }, (_, index) => ({
    FundingOpportunityNumber: `FON-${from + index}`,
    GrantsGovTrackingNumber: `GRANT${String(from + index).padStart(8, '0')}`,
    ReceivedDateTime: '2025-09-16T09:30:00-04:00',
    GrantsGovApplicationStatus: 'Received',
    SubmissionTitle: index === changed ? 'Another title' : `Bridges & roads of Zoë ${index}`,
    RequestedAmount: 1250.5,
  }));
  const inCommon = /^(?:Funding|Grants|Submission)/;
  const xml = items.map((item) => {
    const members = Object.entries(item).map(([name, value]) => {
      const tag = `${inCommon.test(name) ? 'c' : 'a'}:${name}`;
      return `<${tag}>${String(value).replace('&', '&amp;')}</${tag}>`;
    });
    return `<a:SubmissionInfo>${members.join('')}</a:SubmissionInfo>`;
  });
  const head = `<a:Success>true</a:Success><a:AvailableApplicationNumber>${count}</a:AvailableApplicationNumber>`;
  return {
    xml: envelopeOf(
      `<a:GetSubmissionListResponse xmlns:a="${namespace}" xmlns:c="${common}">${head}${xml.join('')}</a:GetSubmissionListResponse>`,
    ),
    json: JSON.stringify({ Success: true, AvailableApplicationNumber: count, SubmissionInfo: items }),
  };
}

/** Twenty rules that the measured call passes; three read its values. */
const rules = Array.from({ length: 20 }, (_, index) => {
  const path = 'ExpandedApplicationFilter[0].FilterValue';
  const when = [3, 9, 15].includes(index)
    ? { value: { [path]: { startsWith: [`NONE${index}`] } } }
    : { header: { 'X-Rule': `none ${index}` } };
  return { name: `rule ${index}`, operations: ['GetSubmissionList'], mode: 'legacy', when };
});
const inMode = (mode: string, more: object = {}): object => ({
  routes: [{ name: mode, operations: ['GetSubmissionList'], mode }],
  ...more,
});

/** One gateway with a contract per row, its services, and a proxy that only passes bytes. */
export interface Servers {
  readonly gateway: Started;
  readonly port: number;
  readonly proxy: Started;
  readonly proxyPort: number;
  readonly stop: () => Promise<void>;
}

/** Starts the servers. Their files are in `folder`. */
export async function startServers(folder: string): Promise<Servers> {
  const started: Started[] = [];
  const serviceOn = async (name: string, reply: string, type: string): Promise<string> => {
    const [file, port] = [join(folder, name), await freePort()];
    writeFileSync(file, reply);
    const server = join(import.meta.dirname, 'servers/upstream.ts');
    started.push(await start(otherCore, [server, String(port), file, type], 'ready'));
    return `http://127.0.0.1:${port}`;
  };
  const ofNew = (name: string, reply: string) => serviceOn(name, reply, 'application/json');
  const ofLegacy = (name: string, reply: string) => serviceOn(name, reply, 'text/xml; charset=utf-8');
  const small = submissions(1, 3);
  const [upstream, legacy] = [await ofNew('new', small.json), await ofLegacy('legacy', small.xml)];
  const halves = {
    upstream: await ofNew('new-half', submissions(1_001, 1_000).json),
    legacy: await ofLegacy('legacy-half', submissions(1, 1_000).xml),
  };
  const whole = await ofNew('new-whole', submissions(1, 2_000).json);
  const blend = { GetSubmissionList: { list: 'SubmissionInfo', counts: ['AvailableApplicationNumber'] } };
  const contracts = {
    '/new': { contract, upstream, legacy, migration: inMode('new') },
    '/rules': { contract, upstream, legacy, migration: { routes: [...rules, { name: 'new', mode: 'new' }] } },
    '/legacy': { contract, upstream, legacy, migration: {} },
    '/compare': { contract, upstream, legacy, migration: inMode('compare') },
    '/record': { contract, upstream, legacy, migration: inMode('compare', { record: { sample: '100%' } }) },
    '/blend': { contract, ...halves, migration: inMode('blend', { blend }) },
    '/list': { contract, upstream: whole, legacy, migration: inMode('new') },
  };
  const config = join(folder, 'soapbridge.yaml');
  writeFileSync(config, JSON.stringify({ contracts, store: `sqlite:${join(folder, 'store.db')}` }));
  const key = join(folder, 'caller.key');
  writeFileSync(key, '0123456789abcdef');
  const [port, proxyPort] = [await freePort(), await freePort()];
  const bin = join(import.meta.dirname, '../bin/soapbridge.js');
  const gateway = await start(
    serverCore,
    ['--conditions=soapbridge-source', bin, 'serve', '--config', config],
    'listens',
    { PORT: String(port), SOAPBRIDGE_LOG_LEVEL: 'silent', SOAPBRIDGE_CALLER_KEY: key },
  );
  const passThrough = join(import.meta.dirname, 'servers/pass-through.ts');
  const proxy = await start(serverCore, [passThrough, String(proxyPort), legacy], 'ready');
  const all = [gateway, proxy, ...started];
  return {
    gateway,
    port,
    proxy,
    proxyPort,
    stop: async () => {
      for (const each of all) await stop(each);
    },
  };
}

/** Returns an element with a text for GetSubmissionList. */
export const filter = (text: string): string =>
  `<c:ExpandedApplicationFilter><c:FilterType>Title</c:FilterType><c:FilterValue>${text}</c:FilterValue></c:ExpandedApplicationFilter>`;

/** Requests of about 1 kB with different texts. */
export function requestsTo(path: string): readonly Buffer[] {
  return Array.from({ length: 64 }, (_, index) => {
    const texts = [`Zoë ${index} &amp; Söhne`, `<![CDATA[<b> ${index}]]>`, 'x'.repeat(100 + index)];
    const body = Buffer.from(requestOf('GetSubmissionList', texts.map(filter).join('')));
    const head = `POST ${path}${port11} HTTP/1.1\r\nHost: gateway\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: ""\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  });
}
