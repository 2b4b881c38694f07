import type { ReadBytes } from './codec/byte-reader/message.ts';
import type { Mismatches } from './codec/mismatches.ts';
import type { Reading } from './codec/problem.ts';
import type { FaultAction } from './contract/adopted.ts';
import type { Limits } from './contract/limits.ts';
import type { Contract, Operation, Type } from './contract/model.ts';
import type { QName } from './contract/type-graph.ts';
import type { ReadAnswer } from './http-mapping/answer.ts';
import type { Input, WriteCall } from './http-mapping/call.ts';
import type { Base64Spans } from './json/base64-spans.ts';
import type { AnsweredSignatures } from './security/sign.ts';
import type { XmlReader } from './xml/reader.ts';

/** An operation with its compiled codecs. */
export interface CompiledOperation {
  readonly operation: Operation;
  /** The element in a request's body; undefined for an operation with an empty body (A7). */
  readonly root: QName | undefined;
  /** True if a successful call has no reply message (A9). */
  readonly isOneWay: boolean;
  /** The WS-Addressing action of its replies (W28, A34). */
  readonly replyAction: string;
  /** True if reading ends after the body's end tag, because a message may have several elements (A30). */
  readonly spansBody: boolean;
  /**
   * True if binary parts of requests stay bytes until the upstream body is written (W64). Other operations convert them
   * to base64 at once, because they check the values or write them in another form.
   */
  readonly holdsParts: boolean;
  /** The header blocks that the operation's binding declares (A8); undefined for a contract of an OpenAPI document. */
  readonly header: DeclaredHeader | undefined;
  /**
   * XML → inputs: reads from the start tag of the request's element past its end tag. The reader is undefined for an
   * empty body.
   */
  readonly readXml: (xml: XmlReader | undefined, reading: Reading) => Input;
  /** The same of plain documents, from bytes to bytes; undefined for an operation that has no such reader. */
  readonly readBytes: ReadBytes | undefined;
  /** JSON → inputs. Throws JsonError for text that isn't one JSON object. */
  readonly readJson: (text: string, reading: Reading) => Input;
  /** A route's parameters → inputs (W38); fields by JSON name, with decoded text. */
  readonly readParameters: (values: readonly RouteValue[], reading: Reading) => Input;
  /** Returns the credentials in the request's body by the contract's names, without null values (W24). */
  readonly credentialsOf: (input: Input) => ReadonlyMap<string, string>;
  /** All inputs as one JSON object, whatever form they came in. */
  readonly jsonOf: (input: Input) => string;
  /**
   * Writes the upstream request. If a value is invalid at its position, the reading records it and the result is
   * undefined.
   */
  readonly request: WriteCall;
  /** Returns true for a success status of the upstream. */
  readonly succeeds: (status: number) => boolean;
  readonly readAnswer: ReadAnswer;
  /** The types of the inputs' JSON and of a successful reply's JSON. */
  readonly requestType: Type;
  readonly replyType: Type;
  /**
   * Writes a successful reply's JSON as the framed reply element, from bytes to bytes. Without a frame it only checks
   * it. Throws MismatchError, JsonError. If the reply reports a failed call (W30), `failed` is true and nothing is
   * written.
   *
   * @param runs known base64 spans of the body, if it was scanned while it arrived
   * @param maxBytes maximum number of bytes of a large reply; NoReplyMemory is thrown as soon as it is exceeded
   */
  readonly writeReply: (
    body: Uint8Array,
    frame: Frame | undefined,
    runs?: Base64Spans,
    maxBytes?: number,
  ) => WrittenReply;
  /** Writes the inner object of `{"data":{"responseStatus":…}}` as the reply element (W26). */
  readonly writeError: (statusJson: string) => string;
  /**
   * Converts an error response with a declared fault to the fault's members and its detail element (A29). Returns
   * undefined for any other response. Throws MismatchError, JsonError.
   */
  readonly writeFault: ((json: string) => WrittenFault | undefined) | undefined;
}

/** A fault's code, as the upstream states it (A29, `@code`). */
export interface FaultCodeWords {
  /** Undefined for a code that is not one of SOAP's own. */
  readonly is: 'sender' | 'receiver' | undefined;
  /** The suffix of SOAP's own code in SOAP 1.1, for example `.NoStock`; `''` for none. */
  readonly more: string;
  /** `''` for none, and for SOAP's own codes. */
  readonly namespace: string;
  /** The name, including `more`. */
  readonly local: string;
}

/** The members of a fault that an upstream states (A29). */
export interface FaultWords {
  /** Undefined for none. */
  readonly message: string | undefined;
  readonly code: FaultCodeWords | undefined;
  readonly actor: string | undefined;
  /** The content of the detail, XML; `''` for none. */
  readonly detail: string;
  /** The WS-Addressing actions of a declared fault (A34); undefined for any other. */
  readonly action?: FaultAction;
}

/** A fault of an upstream's error answer (A29). */
export interface WrittenFault extends FaultWords {
  /** True for a declared fault; its element is in `detail`. */
  readonly isDeclared: boolean;
  /** Counts of tolerated deviations, as for a reply. */
  readonly dropped: number;
  readonly replaced: number;
  readonly passed: number;
  readonly missing: number;
}

/** The header blocks of an operation's requests, as its binding declares them (A8). */
export interface DeclaredHeader {
  readonly declares: (namespace: string, local: string) => boolean;
  /** Reads a declared block from its start tag past its end tag as `"Name":…`. Undefined if it is refused or nil. */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** Adds the blocks to a body's JSON as its first member. */
  readonly join: (body: string, blocks: readonly string[], reading: Reading) => string;
}

/** The text around a reply element, for example an envelope. */
export interface Frame {
  readonly before: string;
  readonly after: string;
  /** Minimum decoded size in bytes of base64 that becomes an attachment (W65); undefined for no attachments. */
  readonly attachFrom?: number;
  /** Replaces `before` for a message with header blocks, which are written between the two texts (A8). */
  readonly headed?: { readonly before: string; readonly between: string };
  /** Data of the request's Signatures; undefined for a reply that is not signed (X31). */
  readonly answered?: AnsweredSignatures;
}

/** A successful reply, checked against its type and written. */
export interface WrittenReply {
  /** True if the reply reports a failed call (W30). Nothing is written then. */
  readonly failed: boolean;
  readonly dropped: number;
  readonly replaced: number;
  /** Number of values that do not match their type but are written: enum values and dates. */
  readonly passed: number;
  /** Number of numbers that a .NET decimal, or a double, cannot represent exactly; undefined for none. */
  readonly inexact?: number | undefined;
  /** Missing or dropped members; undefined for none, and under `replies: lenient`. */
  readonly mismatches?: Mismatches | undefined;
  /**
   * The framed reply element in UTF-8; undefined without a frame. A small one is a string with one character per byte.
   * One with long ranges is in pieces, some of which are the body's own memory.
   */
  readonly xml: Buffer | string | readonly Buffer[] | undefined;
  /** Base64 to be decoded and sent as attachments, in the order of the references; undefined for none. */
  readonly attached?: readonly Buffer[] | undefined;
}

/** A value from a route's path or query (W38). */
export interface RouteValue {
  readonly field: string;
  /**
   * The name in error messages: the input's JSON name for a path parameter, the name as sent for a query parameter
   * (W29).
   */
  readonly shownName: string;
  /** Undefined for escapes that are not UTF-8. */
  readonly text: string | undefined;
}

/** A contract with its compiled codecs. */
export interface CompiledContract {
  readonly contract: Contract;
  readonly limits: Limits;
  /** Compiles the same contract with other limits. */
  readonly withLimits: (limits: Limits) => CompiledContract;
  readonly operations: ReadonlyMap<string, CompiledOperation>;
  /** Writes an error without an operation, in XML (W36). */
  readonly writeError: (statusJson: string) => string;
}
