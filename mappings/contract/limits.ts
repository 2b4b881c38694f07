import { type FormerLimitName, formerLimits } from './former-limits.ts';
import { didYouMean } from './nearest.ts';

const mebibyte = 1024 * 1024;

/** A limit that can be set. The end of its name is the unit: bytes, ms or percent. All other limits are counts. */
interface Limit {
  /** The default. */
  readonly value: number;
  /** The quantity that is limited, as docs/limits.md shows it. */
  readonly bounds: string;
  /** The result above the limit, as docs/limits.md shows it. The status is that of a JSON caller. */
  readonly result: string;
  /** True if 0 is allowed. */
  readonly orNone?: true;
}

/** The limits that `SOAPBRIDGE_LIMITS`, `soapbridge.yaml` and `createGateway` can set (W10, W24, W43). */
export const limitTable = {
  bodyBytes: {
    value: mebibyte,
    bounds: 'Size of a request body after decompression, if no input of the contract has base64.',
    result: '413 `RequestTooLarge`',
  },
  bodyBytesWithBinary: {
    value: 16 * mebibyte,
    bounds: 'Size of a request body after decompression, if an input of the contract has base64.',
    result: '413 `RequestTooLarge`',
  },
  mimeParts: {
    value: 100,
    bounds: 'Parts of a multipart message, including its envelope.',
    result: '400 `MalformedRequest`',
  },
  streamBytes: {
    value: 1024 * mebibyte,
    bounds:
      'Size of a multipart message whose file is streamed (`stream: true`), and of each direction of a call to a legacy service.',
    result: '413 `RequestTooLarge`',
  },
  streams: {
    value: 20,
    bounds:
      'Messages that are streamed at the same time. One network may use at most four times the number of free slots.',
    result: '503 `Overloaded`',
  },
  compressionRatio: {
    value: 100,
    bounds: 'Decompressed size of a request body divided by its compressed size. It is checked above 1 MiB.',
    result: '413 `RequestTooLarge`',
  },
  headerBytes: {
    value: 16 * 1024,
    bounds: 'Size of the request target and of the names and values of all header fields.',
    result: '431 as plain text',
  },
  xmlDepth: {
    value: 64,
    bounds: 'Nesting of elements, including the root element.',
    result: '400 `MalformedRequest`',
  },
  xmlElements: {
    value: 200_000,
    bounds:
      'Elements in one document. A quarter of them, or 50,000 if that is more, may be children of one element.',
    result: '400 `MalformedRequest`',
  },
  xmlText: {
    value: mebibyte,
    bounds: 'Characters in the text of one element that is not base64.',
    result: '400 `MalformedRequest`',
  },
  soapHeaderText: {
    value: 64 * 1024,
    bounds: 'Characters between the tags of `soap:Header`.',
    result: 'fault `InvalidHeader`',
  },
  jsonDepth: {
    value: 64,
    bounds: 'Nesting of arrays and objects.',
    result: '400 `MalformedRequest`; 502 `UpstreamInvalidResponse` for a response',
  },
  jsonMembers: {
    value: 200_000,
    bounds: 'Members and array items in one document.',
    result: '400 `MalformedRequest`; 502 `UpstreamInvalidResponse` for a response',
  },
  wsseSkewMs: {
    value: 300_000,
    bounds: 'Difference between the clocks of caller and gateway, for a Timestamp or a digest (WS-Security).',
    result: 'fault `MessageExpired`',
  },
  wsseFreshMs: {
    value: 300_000,
    bounds: 'Age of a digest, and of a Timestamp without `Expires` (WS-Security).',
    result: 'fault `MessageExpired`',
  },
  wsseNonces: {
    value: 100_000,
    bounds:
      'Nonces of digests, and signed messages, that are remembered (WS-Security). One Username or signer may use at most four times the number of free entries.',
    result: '503 `Overloaded`',
  },
  wsseReferences: {
    value: 16,
    bounds: 'References of one signature (WS-Security).',
    result: 'fault `InvalidSecurity`',
  },
  wsseSignedLifeMs: {
    value: 3_600_000,
    bounds: 'Age of a signed message with `replay: refuse`, whatever its `Expires` says (WS-Security).',
    result: 'fault `MessageExpired`',
  },
  wsseSignedReplyBytes: {
    value: 16 * mebibyte,
    bounds: 'Size of a signed reply with its parts, without its signature (WS-Security).',
    result: 'fault `Server` or `Receiver`',
  },
  wsseBurntKeys: {
    value: 10_000,
    bounds:
      'Keys of messages with AES-CBC that failed to decrypt, which are refused for one hour (WS-Security). One signer may use at most four times the number of free entries.',
    result: '503 `Overloaded`',
  },
  replyBytes: {
    value: 32 * mebibyte,
    bounds:
      "Size of an upstream's response. If a mapping makes several calls, their responses count together.",
    result: '502 `UpstreamInvalidResponse`',
  },
  replyBytesWithBinary: {
    value: 128 * mebibyte,
    bounds: "Size of an upstream's response, for operations whose output has base64.",
    result: '502 `UpstreamInvalidResponse`',
  },
  totalMs: {
    value: 50_000,
    bounds: 'Time from the first byte of a request to its reply. Every other wait ends with it.',
    result: '504 `UpstreamTimeout` if the upstream was called; 503 `Overloaded` if the call waited',
  },
  upstreamConnectMs: {
    value: 3_000,
    bounds: 'Time to open a connection to the upstream.',
    result: '503 `UpstreamUnavailable`',
  },
  upstreamFirstByteMs: {
    value: 30_000,
    bounds:
      "Time to the status line of the upstream's response. An operation whose output has base64 gets 1.5 times as long.",
    result: '504 `UpstreamTimeout`',
  },
  upstreamIdleMs: {
    value: 15_000,
    bounds: "Time between two chunks of the upstream's response.",
    result: '504 `UpstreamTimeout`',
  },
  keepAliveMs: {
    value: 65_000,
    bounds: "Time that a caller's connection stays open without a request.",
    result: 'the connection is closed',
  },
  connections: {
    value: 2_000,
    bounds: 'Connections of callers.',
    result: 'an idle connection is closed, or the new one',
  },
  connectionsPerAddress: {
    value: 200,
    bounds: "Connections of one address. Trusted proxies and the gateway's own machine are exempt.",
    result: 'the new connection is closed',
  },
  inFlight: {
    value: 512,
    bounds: 'Calls in progress.',
    result: 'the call waits in the queue',
  },
  queue: {
    value: 2_000,
    bounds: 'Calls that wait for an `inFlight` slot, or for an upstream connection without a slot.',
    result: '503 `Overloaded`',
    orNone: true,
  },
  queueMs: {
    value: 5_000,
    bounds: 'Time that a call waits for an `inFlight` slot before it is rejected with 503.',
    result: '503 `Overloaded`',
  },
  blendItems: {
    value: 50_000,
    bounds: 'Items of a list that is blended of the replies of two services.',
    result: '502 `UpstreamInvalidResponse`',
  },
  heldBytes: {
    value: 192 * mebibyte,
    bounds: 'Memory for bodies of requests, of upstream responses and of replies, together.',
    result: '503 `Overloaded`; a slow reply is cut',
  },
  loopDelayMs: {
    value: 200,
    bounds:
      'Delay of the event loop. New calls are rejected if it is exceeded twice within two seconds and 64 new calls are in progress.',
    result: '503 `Overloaded`',
  },
  upstreamConnections: {
    value: 64,
    bounds: 'Connections to the upstream.',
    result: 'the call waits for a connection',
  },
  breakerCalls: {
    value: 20,
    bounds: 'Failed calls in a row that open the circuit breaker.',
    result: '503 `UpstreamUnavailable` until a call succeeds',
  },
  retryPercent: {
    value: 10,
    bounds: 'Reads that are sent again, in percent of all calls.',
    result: 'the read is not sent again',
    orNone: true,
  },
  drainMs: {
    value: 55_000,
    bounds: 'Time that a stopping process waits for calls in progress.',
    result: 'calls and replies in progress are cut',
  },
  contractMs: {
    value: 120_000,
    bounds: 'Time to read the files of a contract and to build its types and operations.',
    result: 'the contract is not loaded',
  },
  findings: {
    value: 10_000,
    bounds: 'Findings of a contract: different values that comparisons of both services found.',
    result: 'the least frequent finding is replaced',
  },
  mappingValues: {
    value: 200_000,
    bounds:
      "Values that a mapping makes of one request, or of all responses to it. 64 characters of a function's result count as one value.",
    result: '400 for a request; 502 `UpstreamInvalidResponse` for responses',
  },
  compareItems: {
    value: 5_000,
    bounds: 'Items per list that the comparison of two replies aligns.',
    result: 'items are compared by position',
  },
  shadowCalls: {
    value: 64,
    bounds: 'Shadow requests of `compare` in progress. 256 more wait.',
    result: 'the replies are not compared',
  },
  shadowBytes: {
    value: 32 * mebibyte,
    bounds:
      'Memory for copies of requests and replies that are compared, and for replies to shadow requests.',
    result: 'the replies are not compared',
  },
  shadowMs: {
    value: 30_000,
    bounds: 'Time that a shadow request waits for its start, and time from its start to its complete reply.',
    result: 'the shadow request is cancelled',
  },
  storeMs: {
    value: 5_000,
    bounds: 'Time of one operation of the store.',
    result: 'the operation fails, and the store gets no other one for 60 s',
  },
  usageCallers: {
    value: 10_000,
    bounds: 'Counted callers per contract, with a store.',
    result: 'further callers are counted as `other`',
  },
  recordBytes: {
    value: mebibyte,
    bounds: 'Size of a recorded request or reply, before and after decompression.',
    result: 'only size and SHA-256 of the body are recorded',
  },
  recordQueueBytes: {
    value: 32 * mebibyte,
    bounds: 'Memory for recordings that wait for redaction or for the store.',
    result: 'the exchange is not recorded',
  },
  compareBytes: {
    value: 8 * mebibyte,
    bounds:
      'Size of a request or reply that is compared, before and after decompression. Attachments of a reply do not count.',
    result: 'the replies are not compared',
  },
} as const satisfies Record<string, Limit>;

/** The name of a limit that can be set, as in `inFlight=256,queue=0`. */
export type LimitName = keyof typeof limitTable;

/** A full set of the limits that can be set. */
export type SettableLimits = { readonly [name in LimitName]: number };

/** Names of constants that tests replace. */
type ReplacedConstant = FormerLimitName | 'storeRetryMs';

/**
 * The limits that functions take: all settable ones. A limit that cannot be set is a constant of the module that uses it.
 * That module reads `limits.xmlName ?? maxNameCharacters`, so that a test or another reader can pass another value.
 */
export type Limits = SettableLimits & { readonly [name in ReplacedConstant]?: number };

/** All settable limits with their defaults, in the unit that the name states. */
export const defaultLimits: Limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as SettableLimits;

/** The maximum of all limits: the longest time of a timer, in ms. */
const most = 2 ** 31 - 1;

/** Reads a list like `inFlight=256,queue=0`. All other limits keep their defaults. Throws RangeError. */
export function readLimits(list: string): Limits {
  const limits: Record<LimitName, number> = { ...defaultLimits };
  for (const entry of list.split(',')) {
    const given = entry.trim();
    if (given === '') continue;
    const [, name = '', text = ''] = /^(\w+)\s*=\s*(\d{1,10})$/.exec(given) ?? [];
    if (!isLimit(name)) {
      const stated = (given.split('=', 1)[0] ?? '').trimEnd();
      throw isLimit(stated)
        ? new RangeError(`limits: ${expectedEntry}, got ${JSON.stringify(given)}`)
        : unknownLimit(stated, expectedEntry, given);
    }
    limits[name] = checked(name, Number(text));
  }
  return limits;
}

const expectedEntry = 'expected a limit and its value, such as inFlight=256';

/** Adds the defaults of all limits that are not given. Throws RangeError. */
export function limitsWith(given: Partial<SettableLimits>): Limits {
  const limits: Record<LimitName, number> = { ...defaultLimits };
  for (const [name, value] of Object.entries(given)) {
    if (!isLimit(name)) throw unknownLimit(name, 'expected the name of a limit', name);
    limits[name] = checked(name, value);
  }
  return limits;
}

function checked(name: LimitName, value: number): number {
  const { orNone }: Limit = limitTable[name];
  const least = orNone ? 0 : 1;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`limits: ${name}: expected a number from ${least} to ${most}, got ${value}`);
}

function isLimit(name: string): name is LimitName {
  return Object.hasOwn(limitTable, name);
}

/** Makes the error for an unknown name. For a former limit it reports the constant, or the limit to set instead. */
function unknownLimit(name: string, expected: string, given: string): RangeError {
  if (Object.hasOwn(formerLimits, name)) {
    const now = formerLimits[name as FormerLimitName];
    const form = typeof now === 'number' ? `a constant of ${now}` : now;
    return new RangeError(
      `limits: expected a limit that can be set, got ${name}, which is ${form} now (docs/upgrading.md)`,
    );
  }
  const advice = didYouMean(name, Object.keys(limitTable));
  return new RangeError(`limits: ${expected}, got ${JSON.stringify(given)}${advice}`);
}
