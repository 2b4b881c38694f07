import { didYouMean } from './nearest.ts';

const mebibyte = 1024 * 1024;

/** One limit: its default, and what it bounds. Names say the unit: bytes, ms, percent; the others count. */
interface Limit {
  readonly value: number;
  readonly bounds: string;
  /** True where 0 makes sense: there is none of it then. */
  readonly orNone?: true;
}

/**
 * Every limit on what a stranger or an upstream may send, hold or wait for, and on the documents of a contract, which may
 * be a stranger's: the one list (W10, W24, W43).
 */
export const limitTable = {
  bodyBytes: {
    value: mebibyte,
    bounds: 'a request body after decompression, for contracts without base64 in any input',
  },
  bodyBytesWithBinary: { value: 16 * mebibyte, bounds: 'the same for contracts with base64 in some input' },
  mimeParts: { value: 100, bounds: 'parts of a multipart message, its envelope counted' },
  mimeHeaderBytes: { value: 4096, bounds: "a part's header" },
  mimeHeaderLines: { value: 16, bounds: "lines of a part's header" },
  mimeContentId: { value: 256, bounds: "characters in a part's Content-ID" },
  mimeOutsideBytes: {
    value: 1024,
    bounds: 'bytes before the first part of a multipart message, and as many behind the last',
  },
  streamBytes: {
    value: 1024 * mebibyte,
    bounds: 'a multipart message whose file flows through (`stream: true`)',
  },
  streams: {
    value: 20,
    bounds:
      'such messages at once, of which one network has at most four times as many as are free; one more is shed',
  },
  streamMs: { value: 3_600_000, bounds: 'how long the call of one may take' },
  compressionRatio: {
    value: 100,
    bounds: 'decompressed over compressed size, looked at once the former passes 1 MiB',
  },
  bodyPieces: {
    value: 4 * 1024,
    bounds: 'pieces, chunks say, that a request body may come in however small they are',
  },
  bodyPieceBytes: { value: 256, bounds: 'the least average size of the pieces of one that comes in more' },
  unpacking: { value: 1, bounds: 'compressed bodies of more than 16 KiB that are unpacked at once' },
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
  xmlAllAttributes: {
    value: 250_000,
    bounds: 'attributes and namespace declarations of all elements of one document',
  },
  xmlNamespace: { value: 1024, bounds: 'characters in the name of a namespace' },
  xmlName: { value: 256, bounds: 'characters in an element or attribute name' },
  xmlAttributeValue: { value: 64 * 1024, bounds: 'characters in an attribute value' },
  xmlText: { value: mebibyte, bounds: "characters in the text of one element that isn't base64" },
  soapHeaderBlocks: { value: 32, bounds: 'children of soap:Header' },
  soapHeaderText: { value: 64 * 1024, bounds: 'characters between the tags of soap:Header' },
  jsonDepth: { value: 64, bounds: 'nested arrays and objects' },
  jsonMembers: { value: 200_000, bounds: 'members and array items in one document' },
  patternSteps: {
    value: 20_000_000,
    bounds:
      'instructions of patterns times characters that they look at in one request, and characters looked at to tell types by (`validate: strict`)',
  },
  loopSteps: {
    value: 1_000_000,
    bounds:
      'such instructions, characters that other rules look at, 64 for each rule of a value, and characters behind references (`href`), of XML as text and of the namespaces of names in messages of an existing service, eight for each byte of XML that JSON requests come to where they are read as those in XML are (`validate: strict`, or what is missing), and 64 for each member and item that a mapping asks for, on the event loop; a message that takes more is read, or mapped, anew beside it',
  },
  readAsideBytes: {
    value: 128 * 1024,
    bounds: 'a request body that is read, and mapped, on the event loop; a longer one in a thread beside it',
  },
  readAsideQueue: {
    value: 64,
    bounds: 'requests, and replies to reads, that wait for that thread',
    orNone: true,
  },
  readAsideMs: { value: 20_000, bounds: 'how long that thread may read one of them' },
  readAsideHeapBytes: {
    value: 256 * mebibyte,
    bounds:
      "memory of that thread's heap, to the MiB, without the bodies themselves; and of the thread in which functions of a mapping run",
  },
  replyAsideBytes: {
    value: 256 * 1024,
    bounds:
      "an upstream's reply, without what was found to be base64 as it came, that is read on the event loop, and whole what is mapped there; a longer one in that thread",
  },
  rereadText: {
    value: 32 * mebibyte,
    bounds:
      'characters of lists and objects that rules look at, one in another counted each time, twice where they are compared and ten times more where they are written anew for that, with lists in them (`validate: strict`); beside these, in messages of an existing service, characters behind references (`href`), each time one leads there, of XML as text, and of the namespaces of names, each time one is written',
  },
  parameterText: {
    value: 64 * 1024,
    bounds: 'characters of a value in the path, the query, a header or a cookie of a call upstream',
  },
  formText: {
    value: 48 * mebibyte,
    bounds: 'characters of a form, or bytes of a multipart body, that a request is made into',
  },
  credential: { value: 256, bounds: 'characters in one credential' },
  authorization: { value: 8 * 1024, bounds: 'the same for an Authorization header, which may be a token' },
  wsseSkewMs: {
    value: 300_000,
    bounds: 'how far the clock of a caller may be off that sends a Timestamp or a digest (WS-Security)',
  },
  wsseFreshMs: {
    value: 300_000,
    bounds: 'age of a Timestamp without Expires, and of a digest (WS-Security)',
  },
  wsseNonces: {
    value: 100_000,
    bounds:
      'nonces of digests that are remembered, of which one Username has at most four times as many as are free; one more is refused while these are live (WS-Security)',
  },
  errors: { value: 20, bounds: 'items of errors[] in one reply' },
  upstreamError: { value: 16 * 1024, bounds: "characters of an upstream's error that are told whole" },
  loggedMessage: {
    value: 16 * 1024,
    bounds: 'characters of a message in the log, with SOAPBRIDGE_LOG_MESSAGES',
  },
  logBytes: {
    value: mebibyte,
    bounds:
      'bytes of log lines that wait for a late reader of standard output; those beyond are dropped and counted',
  },
  metricOperations: {
    value: 300,
    bounds: 'operations of a contract that metrics tell apart; all others are `other`',
    orNone: true,
  },
  topCallers: {
    value: 20,
    bounds: 'callers of a contract that metrics tell apart, beside those with a name; all others are `other`',
    orNone: true,
  },
  limitWindows: {
    value: 100_000,
    bounds:
      'counts of callers that a process remembers (SOAPBRIDGE_CALLER_LIMITS); for one more the oldest is forgotten',
  },
  limitStoreMs: { value: 200, bounds: 'how long a call waits to be counted by SOAPBRIDGE_LIMIT_STORE' },
  limitPlaceMs: {
    value: 30_000,
    bounds: 'how long SOAPBRIDGE_LIMIT_STORE keeps the places (`concurrent`) of a process that is gone',
  },
  acceptRanges: { value: 32, bounds: 'media ranges of an Accept header that are looked at' },
  replyBytes: {
    value: 32 * mebibyte,
    bounds: "an upstream's reply; of several calls of a mapping all together",
  },
  replyBytesWithBinary: {
    value: 128 * mebibyte,
    bounds: 'the same for operations whose output holds base64',
  },
  writtenBytes: {
    value: 192 * mebibyte,
    bounds: 'a reply in XML, which escapes make up to five times as long',
  },
  sliceNames: { value: 100, bounds: 'tags and operations of a ?wsdl' },
  documentsWaiting: {
    value: 32,
    bounds: 'callers that wait for a document to be written in another thread',
  },
  documentCacheBytes: {
    value: 32 * mebibyte,
    bounds: 'WSDLs, schemas and pages kept written, half of it for ?wsdl of some operations alone',
  },
  pagesWaiting: {
    value: 50,
    bounds:
      'visitors of the pages of a contract who wait for one that is not kept, each of which is written in its turn; one more is 503',
    orNone: true,
  },
  pageCacheBytes: {
    value: 8 * mebibyte,
    bounds: 'pages for people kept written, plain and compressed, of each contract',
  },
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
  writeSlowMs: {
    value: 30_000,
    bounds:
      'how long a reply may be taken at any speed; after that its average counts, give or take a second',
  },
  writeBytesPerSecond: { value: 8 * 1024, bounds: 'the least average speed of a reply from then on' },
  upstreamOverheadBytes: {
    value: mebibyte,
    bounds: "bytes of an upstream's answer beside its body, beyond as many again as the body's",
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
  tlsHandshakes: {
    value: 200,
    bounds:
      'connections amid their TLS handshake; for one more the oldest of the network with most of them is closed',
  },
  connectionsPerAddress: {
    value: 200,
    bounds: 'those of one address, but for trusted proxies and this machine',
  },
  requestsPerSocket: { value: 1_000, bounds: "requests on one caller's connection" },
  pipelined: {
    value: 4_096,
    bounds: 'requests that wait for one before them on their connection, all together, but for one of each',
  },
  pipelinedAtOnce: {
    value: 4,
    bounds:
      'requests under way that waited for one before them on their connection, all together; after 50 ms one counts no more',
  },
  inFlight: { value: 512, bounds: 'calls under way at once' },
  queue: { value: 256, bounds: 'calls waiting for one of those places', orNone: true },
  queueMs: { value: 1_000, bounds: 'how long such a call waits before it is shed' },
  arriving: {
    value: 1_000,
    bounds: 'request bodies on their way at once, without a place yet; for one more the slowest gives way',
  },
  heldBytes: {
    value: 192 * mebibyte,
    bounds:
      'bodies in memory: of requests, of upstream replies and of replies on their way out, all together',
  },
  arrivingBytes: {
    value: 64 * mebibyte,
    bounds:
      'the share of bodies on their way in: when there is no room, the slowest of those beyond it gives way',
  },
  leavingBytes: {
    value: 64 * mebibyte,
    bounds:
      'the share of replies on their way out: when there is no room, the slowest of those beyond it is cut',
  },
  roomWaits: {
    value: 8,
    bounds:
      'writes that wait for room for their replies; while there are so many no other is begun of an operation that gave a large reply of late',
  },
  parsingMs: {
    value: 5,
    bounds:
      'what the HTTP parser takes of one turn of the event loop for more than one request, or many pieces of a body, of a connection, or two turns with a crowd of requests from one address, before what comes on all is parsed in slices; 0: as soon as one has two',
    orNone: true,
  },
  parsingSliceUs: { value: 300, bounds: 'what slices then take of a turn' },
  parsingWatchMs: {
    value: 10_000,
    bounds: 'for how long new connections are read so, once that was last too little',
  },
  loopDelayMs: {
    value: 200,
    bounds: 'delay of the event loop, twice within two seconds, beyond which new calls are shed',
  },
  loopDelayInFlight: {
    value: 64,
    bounds:
      'calls under way, of those that began in the last second or two, that go on coming in whatever the delay',
  },
  upstreamConnections: { value: 64, bounds: 'connections to the upstream' },
  upstreamQueue: { value: 256, bounds: 'calls waiting for one of those connections', orNone: true },
  upstreamQueueMs: { value: 20_000, bounds: 'how long such a call waits before it is shed' },
  tokens: {
    value: 1_000,
    bounds: 'tokens for an upstream that are kept, one for each caller where they are exchanged',
  },
  tokenMs: { value: 10_000, bounds: 'until a token for an upstream is there' },
  tokenBytes: { value: 64 * 1024, bounds: 'the answer that holds it' },
  breakerCalls: {
    value: 20,
    bounds: 'calls that fail, with no success between them, before the breaker opens',
  },
  breakerFailingMs: { value: 5_000, bounds: 'for how long they do' },
  breakerWindowMs: { value: 10_000, bounds: 'after the last of them: then they are forgotten' },
  breakerProbeMs: { value: 5_000, bounds: 'between two probes of an open breaker' },
  breakerNetworks: {
    value: 100,
    bounds: "networks of callers that failed calls met, beyond which all others' are refused too",
  },
  retryPercent: { value: 10, bounds: 'reads sent once more, of a hundred calls', orNone: true },
  retrySavings: { value: 10, bounds: 'such retries that a quiet time saves up', orNone: true },
  retryAfterMs: {
    value: 2_000,
    bounds: 'how long a 503 of the upstream may ask to wait for a read to be sent once more',
    orNone: true,
  },
  drainMs: { value: 55_000, bounds: 'how long a stopping process waits for what is in flight' },
  replyMisfits: {
    value: 100,
    bounds:
      'members that replies lack or have beyond their type: those noted in a reply, and those told by name of an operation',
  },
  contractMs: {
    value: 120_000,
    bounds: 'reading the files of a contract and making its types and operations',
  },
  contractBytes: { value: 64 * mebibyte, bounds: 'the files of a contract together' },
  contractFiles: { value: 5_000, bounds: "a document's other files" },
  contractTokens: { value: 10_000_000, bounds: 'indents, marks and texts of its YAML files together' },
  contractAliases: {
    value: 100,
    bounds: 'uses of one YAML anchor, those within what it names multiplied',
  },
  contractDepth: {
    value: 500,
    bounds: 'lists and objects, or elements of a WSDL or schema, in one another in a file of a contract',
  },
  contractElements: { value: 500_000, bounds: 'elements of its WSDLs and schemas together' },
  contractKey: { value: 4_096, bounds: 'characters in a key of such a file' },
  contractPath: { value: 4_096, bounds: 'characters of a JSONPath of an OpenAPI Overlay (`patches`)' },
  contractReferences: {
    value: 100,
    bounds: 'references (`$ref`, `base`, `substitutionGroup`) from one to the next',
  },
  contractPattern: {
    value: 4_096,
    bounds: "characters of a pattern (`validate: strict`); a longer one isn't checked",
  },
  contractExample: {
    value: 10_000,
    bounds: "characters of a member's example as JSON; a longer one isn't shown in samples",
    orNone: true,
  },
  explainBytes: { value: 256 * 1024, bounds: 'a message that `soapbridge explain` and its page look at' },
  explainFindings: { value: 100, bounds: 'findings that such a look tells' },
  explainRepairs: { value: 50, bounds: 'places of one such message at which markup is mended' },
  contractSteps: {
    value: 5_000_000,
    bounds:
      'schemas, types and members (eight each; of a WSDL a complex type 100, a simple one 32), references and pieces of text looked at for a contract; what is referred to counts each time',
  },
  mappingRules: { value: 10_000, bounds: 'rules of a mapping, those behind aliases each time' },
  mappingCalls: { value: 100, bounds: 'calls upstream that one request is mapped to (`forEach`)' },
  mappingCodeMs: {
    value: 50,
    bounds:
      "how long functions of a mapping's module may run, all calls of one message together, for each 64 KiB of it that were begun; time that the machine gives to others hardly counts",
  },
  mappingValues: {
    value: 200_000,
    bounds:
      'values that a mapping makes of one request, or of all answers to it: members and items, those of constants and of results of functions each time, of which 64 characters are one more; a list or text that a function asks for by its size is no larger either',
  },
  contractProblems: { value: 1_000, bounds: 'problems of a contract that are told' },
} as const satisfies Record<string, Limit>;

/** The name of a limit, as a list such as `inFlight=256,queue=0` has it. */
export type LimitName = keyof typeof limitTable;

/** A full set of limits; `{ ...defaultLimits, xmlDepth: 8 }` makes another. */
export type Limits = { readonly [name in LimitName]: number };

/** Every limit with its default, in the unit that its row states. */
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
      const given = entry.trim();
      const stated = (given.split('=', 1)[0] ?? '').trimEnd();
      const advice = isLimit(stated) ? '' : didYouMean(stated, Object.keys(limitTable));
      const expected = 'expected a limit and its value, such as inFlight=256';
      throw new RangeError(`limits: ${expected}, got ${JSON.stringify(given)}${advice}`);
    }
    limits[name] = checked(name, Number(text));
  }
  return limits;
}

/** The defaults but for those that are given. Throws RangeError. */
export function limitsWith(given: Partial<Limits>): Limits {
  const limits: Record<LimitName, number> = { ...defaultLimits };
  for (const [name, value] of Object.entries(given)) {
    if (!isLimit(name))
      throw new RangeError(
        `limits: expected the name of a limit, got ${JSON.stringify(name)}${didYouMean(name, Object.keys(limitTable))}`,
      );
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
