const mebibyte = 1024 * 1024;

/** One limit: its default, and what it bounds. Names say the unit: bytes, ms, percent; the others count. */
interface Limit {
  readonly value: number;
  readonly bounds: string;
  /** True where 0 makes sense: there is none of it then. */
  readonly orNone?: true;
}

/** Every limit on what a stranger or an upstream may send, hold or wait for: the one list (W10, W24, W43). */
export const limitTable = {
  bodyBytes: {
    value: mebibyte,
    bounds: 'a request body after decompression, for contracts without base64 in any input',
  },
  bodyBytesWithBinary: { value: 16 * mebibyte, bounds: 'the same for contracts with base64 in some input' },
  compressionRatio: {
    value: 100,
    bounds: 'decompressed over compressed size, looked at once the former passes 1 MiB',
  },
  headerBytes: {
    value: 16 * 1024,
    bounds: 'the target of a request, and the names and values of its header lines',
  },
  headerCount: { value: 100, bounds: 'header lines of a request' },
  xmlDepth: { value: 64, bounds: 'nested elements, the root counted' },
  xmlElements: { value: 200_000, bounds: 'elements in one document' },
  xmlChildren: { value: 50_000, bounds: 'child elements of one element' },
  xmlAttributes: {
    value: 64,
    bounds: 'attributes and namespace declarations of one element, together',
  },
  xmlName: { value: 256, bounds: 'characters in an element or attribute name' },
  xmlAttributeValue: { value: 64 * 1024, bounds: 'characters in an attribute value' },
  xmlText: { value: mebibyte, bounds: "characters in the text of one element that isn't base64" },
  soapHeaderBlocks: { value: 32, bounds: 'children of soap:Header' },
  soapHeaderText: { value: 64 * 1024, bounds: 'characters between the tags of soap:Header' },
  jsonDepth: { value: 64, bounds: 'nested arrays and objects' },
  jsonMembers: { value: 200_000, bounds: 'members and array items in one document' },
  patternSteps: {
    value: 20_000_000,
    bounds: 'instructions of patterns times characters that they look at in one request (`validate: strict`)',
  },
  credential: { value: 256, bounds: 'characters in one credential' },
  authorization: { value: 8 * 1024, bounds: 'the same for an Authorization header, which may be a token' },
  errors: { value: 20, bounds: 'items of errors[] in one reply' },
  upstreamError: { value: 16 * 1024, bounds: "characters of an upstream's error that are told whole" },
  loggedMessage: { value: 16 * 1024, bounds: 'characters of a message in the log, with LOG_MESSAGES' },
  acceptRanges: { value: 32, bounds: 'media ranges of an Accept header that are looked at' },
  replyBytes: { value: 32 * mebibyte, bounds: "an upstream's reply" },
  replyBytesWithBinary: {
    value: 128 * mebibyte,
    bounds: 'the same for operations whose output holds base64',
  },
  sliceNames: { value: 100, bounds: 'tags and operations of a ?wsdl' },
  documentCacheBytes: { value: 32 * mebibyte, bounds: 'WSDLs and schemas kept written' },
  totalMs: {
    value: 50_000,
    bounds: "from a request's first byte to its reply; every other wait is cut to what is left of it",
  },
  headersMs: { value: 10_000, bounds: 'until the headers of a request are there' },
  bodyMs: { value: 45_000, bounds: 'until the body of a request is there' },
  bodyIdleMs: { value: 15_000, bounds: 'between two pieces of a request body' },
  bodySlowMs: {
    value: 30_000,
    bounds: 'how long a request body may come at any speed; after that its average counts',
  },
  bodyBytesPerSecond: { value: 1024, bounds: 'the least average speed of a request body from then on' },
  writeIdleMs: {
    value: 30_000,
    bounds: "a caller's connection that takes nothing of what it is sent, give or take a second",
  },
  upstreamConnectMs: { value: 3_000, bounds: 'until the upstream takes a connection' },
  upstreamFirstByteMs: { value: 30_000, bounds: "until the upstream's status line" },
  upstreamFirstByteWithBinaryMs: {
    value: 45_000,
    bounds: 'the same for operations whose output holds base64',
  },
  upstreamIdleMs: { value: 15_000, bounds: 'between two pieces of an upstream body' },
  keepAliveMs: { value: 65_000, bounds: "a caller's connection without a request" },
  connections: { value: 2_000, bounds: "callers' connections" },
  connectionsPerAddress: {
    value: 200,
    bounds: 'those of one address, but for trusted proxies and this machine',
  },
  requestsPerSocket: { value: 1_000, bounds: "requests on one caller's connection" },
  inFlight: { value: 512, bounds: 'calls under way at once' },
  queue: { value: 256, bounds: 'calls waiting for one of those places', orNone: true },
  queueMs: { value: 1_000, bounds: 'how long such a call waits before it is shed' },
  heldBytes: {
    value: 256 * mebibyte,
    bounds: 'bodies in memory, of requests and of upstream replies, all calls together',
  },
  loopDelayMs: {
    value: 200,
    bounds: 'delay of the event loop (the most in a second) beyond which new calls are shed',
  },
  loopDelayInFlight: { value: 64, bounds: 'calls under way that go on coming in whatever the delay' },
  upstreamConnections: { value: 64, bounds: 'connections to the upstream' },
  breakerCalls: { value: 20, bounds: 'calls in the window before the breaker may open' },
  breakerFailurePercent: { value: 50, bounds: 'failed calls of a hundred in the window that open it' },
  breakerWindowMs: { value: 10_000, bounds: 'how far back the breaker looks' },
  breakerProbeMs: { value: 5_000, bounds: 'between two probes of an open breaker' },
  retryPercent: { value: 10, bounds: 'reads sent once more, of a hundred calls', orNone: true },
  retrySavings: { value: 10, bounds: 'such retries that a quiet time saves up', orNone: true },
  retryAfterMs: {
    value: 2_000,
    bounds: 'how long a 503 of the upstream may ask to wait for a read to be sent once more',
    orNone: true,
  },
  drainMs: { value: 55_000, bounds: 'how long a stopping process waits for what is in flight' },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limitTable;

/** A full set of limits; `{ ...defaultLimits, xmlDepth: 8 }` makes another. */
export type Limits = { readonly [name in LimitName]: number };

export const defaultLimits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as Limits;

/** The greatest value of any limit: what a timer takes. */
const most = 2 ** 31 - 1;

/** The defaults but for those that a list such as `inFlight=256,queue=0` says otherwise. Throws RangeError. */
export function readLimits(list: string): Limits {
  const limits: Record<LimitName, number> = { ...defaultLimits };
  for (const entry of list.split(',')) {
    if (entry.trim() === '') continue;
    const [, name = '', text = ''] = /^\s*(\w+)\s*=\s*(\d{1,10})\s*$/.exec(entry) ?? [];
    if (!isLimit(name)) {
      throw new RangeError(
        `limits: expected a limit and its value, such as inFlight=256, got ${JSON.stringify(entry.trim())}`,
      );
    }
    const value = Number(text);
    const { orNone }: Limit = limitTable[name];
    const least = orNone ? 0 : 1;
    if (value < least || value > most)
      throw new RangeError(`limits: ${name}: expected a number from ${least} to ${most}, got ${text}`);
    limits[name] = value;
  }
  return limits;
}

function isLimit(name: string): name is LimitName {
  return Object.hasOwn(limitTable, name);
}
