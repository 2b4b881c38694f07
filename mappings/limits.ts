/** Every limit on what a stranger or an upstream may send: the one list (W10, W24, W43). */
export const defaultLimits = {
  /** Request body, in bytes, after decompression; for contracts without base64 in any input. */
  bodyBytes: 1024 * 1024,
  /** The same for contracts with base64 in some input. */
  bodyBytesWithBinary: 16 * 1024 * 1024,
  /** Decompressed size over compressed size, looked at once the former passes 1 MiB. */
  compressionRatio: 100,
  /** All header lines of a request, in bytes. */
  headerBytes: 16 * 1024,
  headerCount: 100,
  /** Nested elements, the root counted. */
  xmlDepth: 64,
  /** Elements in one document. */
  xmlElements: 200_000,
  /** Child elements of one element. */
  xmlChildren: 50_000,
  /** Attributes and namespace declarations of one element, together. */
  xmlAttributes: 64,
  /** Characters in an element or attribute name. */
  xmlName: 256,
  /** Characters in an attribute value. */
  xmlAttributeValue: 64 * 1024,
  /** Characters in the text of one element that isn't base64. */
  xmlText: 1024 * 1024,
  /** Children of soap:Header. */
  soapHeaderBlocks: 32,
  /** Characters between the tags of soap:Header. */
  soapHeaderText: 64 * 1024,
  /** Nested arrays and objects. */
  jsonDepth: 64,
  /** Members and array items in one document. */
  jsonMembers: 200_000,
  /** Characters in one credential. */
  credential: 256,
  /** Items of errors[] in one reply (W43). */
  errors: 20,
  /** Media ranges of an Accept header that are looked at. */
  acceptRanges: 32,
  /** Upstream reply, in bytes. */
  replyBytes: 32 * 1024 * 1024,
  /** The same for operations whose output holds base64. */
  replyBytesWithBinary: 128 * 1024 * 1024,
  /** From a request's first byte to its reply, in ms; every other wait is cut to what is left of it. */
  totalMs: 50_000,
  headersMs: 10_000,
  bodyMs: 30_000,
  upstreamConnectMs: 3_000,
  /** Until the upstream's status line. */
  upstreamFirstByteMs: 30_000,
  upstreamFirstByteWithBinaryMs: 45_000,
  /** Between two pieces of an upstream body. */
  upstreamIdleMs: 15_000,
  keepAliveMs: 65_000,
  connections: 2_000,
  requestsPerSocket: 1_000,
  /** Sockets of the pool towards one upstream. */
  upstreamConnections: 64,
  /** How long a stopping process waits for what is in flight. */
  drainMs: 55_000,
} as const satisfies Record<string, number>;

/** A full set of limits; `{ ...defaultLimits, xmlDepth: 8 }` makes another. */
export type Limits = { readonly [name in keyof typeof defaultLimits]: number };
