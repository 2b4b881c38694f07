import {
  choice,
  count,
  flag,
  keyword,
  list,
  map,
  record,
  text,
  type ValueOf,
  value,
} from '../../mappings/contract/setting.ts';
import { durationForm, expectedInstant } from '../../mappings/contract/times.ts';
import { limitsSetting, upstreamSetting } from './upstream-plan.ts';

// The keys `legacy` and `migration` of a contract (G2, G3). gateway/migration/ checks their values against the contract.

const [addressOfService, serviceKeys] = upstreamSetting.of;
// the query of a forwarded request stays as it is, and the legacy service has one address
const { query: _, addresses: _a, healthCheck: _h, maxConnectionAge: _m, ...keysOfService } = serviceKeys.keys;

const headerName = (description: string) => text(description, 'the name of a header', /^[A-Za-z0-9-]+$/);

/** `legacy` of a contract in `soapbridge.yaml`. */
export const legacySetting = {
  ...upstreamSetting,
  description: 'Legacy SOAP service: its URL, or its URL and settings.',
  of: [
    { ...addressOfService, description: 'URL of the legacy service.' },
    record('Legacy SOAP service with its credentials and connection settings.', {
      ...keysOfService,
      url: {
        ...serviceKeys.keys.url,
        description: 'URL of the legacy service. A path replaces that of the ports.',
      },
      identity: record('Header with the identity of the caller.', {
        header: headerName('Name of the header. Values that callers send in it are removed.'),
        from: keyword(
          'Value: the name of the caller, or a part of its client certificate.',
          'caller',
          'subject',
          'commonName',
          'san',
          'fingerprint',
          'serial',
        ),
      }),
      others: keyword('Requests that are neither calls nor documents of the gateway.', 'forward', 'refuse'),
      limits: {
        ...limitsSetting,
        description:
          'Limits of the legacy service: `totalMs`, `streamBytes`, `upstream…`, `breaker…`, `retry…`.',
      },
    }),
  ],
} as const;

/** A share of calls. read-routing.ts checks its form. */
const share = (description: string) => text(description, 'a share such as 10% or 1 in 20');

const time = (description: string) => text(description, expectedInstant);

/** `deprecate` of `migration`. read-deprecations.ts checks the times (G64, G65). */
const deprecateSetting = list(
  'Operations that will no longer be served. Every contract may have this key, without `legacy`, too.',
  'deprecations',
  record('A deprecation.', {
    operations: list('Operations. Default: all.', 'names of operations', text('An operation.')),
    since: time('Time of the deprecation, for the header Deprecation.'),
    sunset: time('Time after which calls are refused, for the header Sunset.'),
    link: text(
      'Page about the deprecation, for the header Link and for errors.',
      'an http or https URL in printable ASCII',
      /^https?:\/\/[!#-;=?-~]+$/,
    ),
    message: text(
      'Text of the error after `sunset`. Default: Operation is no longer served.',
      'a text of 1 to 500 characters',
      /^.{1,500}$/,
    ),
    brownouts: list(
      'Periods in which calls are refused, as a test for callers.',
      'brown-outs',
      record('A brown-out.', {
        at: time('Start.'),
        for: text('Duration, up to 24h.', 'a time such as 30s, 10m or 1h', durationForm),
      }),
    ),
    exempt: map(
      'Times until which callers are served nevertheless.',
      '`caller: time`',
      time('End of the exemption.'),
    ),
  }),
);

/** `migration` of a contract in `soapbridge.yaml`. */
export const migrationSetting = record('Routing between the legacy service and the upstream.', {
  routes: list(
    'Rules in order of precedence. Without a matching rule, a call is sent to the legacy service.',
    'rules',
    record('A rule.', {
      name: text('Name of the rule, for log and metrics.', 'a name of 1 to 64 characters', /^.{1,64}$/),
      operations: list('Operations of the rule. Default: all.', 'names of operations', text('An operation.')),
      when: record('Conditions that must all hold.', {
        caller: value('Name or pseudonym of the caller, or a list of them.'),
        header: map('Values of HTTP request headers.', '`name: value`', value('A text or a list of texts.')),
        value: map(
          'Values at paths of the request: a text, a list of texts, `present`, `absent`, or `{ startsWith: text }`.',
          '`path: value`',
          value('The condition.'),
        ),
        percent: value('Share of the callers, or `{ of: share, by: path }` for a share of the values.'),
      }),
      mode: keyword(
        'Service that answers. `compare`: the service in `answer`, while the other one is called for comparison. `fallback`: the upstream, or the legacy service if it finds nothing.',
        'legacy',
        'new',
        'compare',
        'blend',
        'fallback',
      ),
      answer: keyword('With mode `compare`: service that answers. Default: `legacy`.', 'legacy', 'new'),
      sample: share('With mode `compare`: share of the calls that are compared. Default: 100%.'),
    }),
  ),
  override: record('Mode of a call by a header, for tests.', {
    callers: list('Callers that may send the header.', 'names of callers', text('A caller.')),
    header: headerName('Name of the header. Default: X-Soapbridge-Route.'),
  }),
  fallback: map(
    'Declared faults with which the upstream reports that it found nothing, by operation.',
    '`operation: [fault]`',
    list('Names of faults.', 'names of faults', text('A fault.')),
  ),
  replies: record('Replies of the upstream.', {
    package: keyword(
      'MTOM packages: never, if the request is MTOM, or always. Default: `mtomReplies` of the overlay.',
      'never',
      'requested',
      'always',
    ),
    faultCode: map(
      'Codes of declared faults: `Client` or `Server`, which is `Sender` or `Receiver` in SOAP 1.2.',
      '`fault: Client`',
      keyword('The code.', 'Client', 'Server'),
    ),
  }),
  compare: record('Comparison of the replies of both services.', {
    rules: list(
      'Rules that explain differences or change how values are compared.',
      'rules',
      value('A rule: `{ operation, path, reason, until }` and an action.'),
    ),
    strict: flag('True if other offsets, scales and violations of the contract are differences, too.'),
    noise: share(
      'Share of the compared calls for which the legacy service is called twice, or `off`. Default: off.',
    ),
  }),
  ready: record('Conditions for the verdict `ready` on an operation.', {
    calls: count('Compared calls. Default: 1000.', 'a number', 1, 1_000_000_000),
    callers: count('Callers of the compared calls. Default: 3.', 'a number', 1, 1_000),
    days: count('Days without an unexplained difference. Default: 7.', 'a number', 1, 3_650),
    unanswered: text(
      'Maximum share of shadow requests without a reply. Default: 1%.',
      'a share such as 10% or 1 in 20',
    ),
  }),
  state: text(
    'File that keeps findings and verdicts over a restart, and that `soapbridge report` reads.',
    'a file',
  ),
  record: choice(
    'Recorded exchanges: `off`, or settings.',
    keyword('No recordings.', 'off'),
    record('Settings of recordings.', {
      sample: share('Share of the calls that are recorded. Default: 10%.'),
      operations: list(
        'Operations that are recorded. Default: all.',
        'names of operations',
        text('An operation.'),
      ),
      redact: keyword(
        'Personal values: pseudonyms, or unchanged. Credentials are never recorded. Default: pseudonyms.',
        'pseudonyms',
        'none',
      ),
      keep: text(
        'Time after which a recording is deleted, at least 1h. Default: 30d.',
        'a duration such as 30d',
      ),
      bytes: text(
        'Size of all recordings of the contract, at least 16 MiB. The oldest ones are deleted. Default: 5 GiB.',
        'a size such as 5 GiB',
      ),
    }),
  ),
  blend: map(
    'Lists of both services in one reply, by operation.',
    '`operation: { list: path }`',
    record('A blended list.', {
      list: text('Path of the list in the reply.'),
      key: text('Member that identifies an item. Items of both lists with the same key are one item.'),
      prefer: keyword('Service whose item is returned for a key in both lists.', 'legacy', 'new'),
      order: record('Order of the items. Default: items of the legacy service, then the others.', {
        by: text('Member to sort by.'),
        descending: flag('Sort from the last value to the first.'),
      }),
      timeZone: text('Time zone of dates without an offset, for `order`.'),
      counts: list('Members that receive the number of items.', 'paths of integers', text('A path.')),
      emptyFaults: record('Declared faults that mean an empty list.', {
        legacy: list('Faults of the legacy service.', 'names of faults', text('A fault.')),
        new: list('Faults of the upstream.', 'names of faults', text('A fault.')),
      }),
      partial: keyword(
        'Service whose reply is returned alone if the other service fails.',
        'none',
        'legacy',
        'new',
        'either',
      ),
    }),
  ),
  deprecate: deprecateSetting,
});

/** `migration` as written in the file. */
export type StatedMigration = ValueOf<typeof migrationSetting>;
