import type { WriteCredentialsMember } from './codec/input.ts';
import type { Misfits } from './codec/misfits.ts';
import type { Reading } from './codec/problem.ts';
import type { FaultAction } from './contract/adopted.ts';
import type { Limits } from './contract/limits.ts';
import type { Contract, Operation, Type } from './contract/model.ts';
import type { QName } from './contract/type-graph.ts';
import type { ReadAnswer } from './http-mapping/answer.ts';
import type { Input, WriteCall } from './http-mapping/call.ts';
import type { Base64Spans } from './json/base64-spans.ts';
import type { XmlReader } from './xml/reader.ts';

/** An operation with its codecs, ready for requests. */
export interface CompiledOperation {
  readonly operation: Operation;
  /** The element that a request's body holds; undefined for an operation whose body is empty (A7). */
  readonly root: QName | undefined;
  /** Whether a success is answered without a message (A9). */
  readonly isOneWay: boolean;
  /** The WS-Addressing action of its replies (W28, A34). */
  readonly replyAction: string;
  /** Whether what is read goes past the end of the body, where a message may have more than its first element (A30). */
  readonly spansBody: boolean;
  /** The header blocks that the operation's binding declares (A8); undefined for a contract of an OpenAPI document. */
  readonly header: DeclaredHeader | undefined;
  /** XML → inputs: from the start tag of the request's element past its end tag; without a reader for an empty body. */
  readonly readXml: (xml: XmlReader | undefined, reading: Reading) => Input;
  /** JSON → inputs. Throws JsonError for text that isn't one JSON object. */
  readonly readJson: (text: string, reading: Reading) => Input;
  /** A route's parameters → inputs (W38); fields by JSON name, text decoded. */
  readonly readParameters: (values: readonly RouteValue[], reading: Reading) => Input;
  /** The credentials in the request's body, by the contract's names; those that are null are left out (W24). */
  readonly credentialsOf: (input: Input) => ReadonlyMap<string, string>;
  /** How the credentials in it go upstream in the body; undefined where they go elsewhere, or nowhere. */
  readonly writeCredentials: WriteCredentialsMember | undefined;
  /** All inputs as one JSON object, whatever form they came in. */
  readonly jsonOf: (input: Input) => string;
  /** The call upstream; a value that its place can't hold is noted in the reading, and the call is undefined. */
  readonly request: WriteCall;
  /** Whether a status of the upstream tells of success. */
  readonly succeeds: (status: number) => boolean;
  readonly readAnswer: ReadAnswer;
  /** What the JSON of inputs and of a success reply is of. */
  readonly requestType: Type;
  readonly replyType: Type;
  /**
   * A success reply's JSON → the framed reply element, from bytes to bytes; only checked without a frame. Throws
   * MismatchError, JsonError. `failed` when the reply says that the call failed (W30): nothing was written then.
   *
   * @param runs what is known of the body's base64, when it was looked through as it came
   * @param room a large reply that comes to more bytes ends in NoRoom, as soon as it is known
   */
  readonly writeReply: (
    body: Uint8Array,
    frame: Frame | undefined,
    runs?: Base64Spans,
    room?: number,
  ) => WrittenReply;
  /** `{"data":{"responseStatus":…}}`'s inner object → the reply element (W26). */
  readonly writeError: (statusJson: string) => string;
  /**
   * An error answer that names a declared fault → the fault's words and its detail element (A29); undefined for any other.
   * Throws MismatchError, JsonError.
   */
  readonly writeFault: ((json: string) => WrittenFault | undefined) | undefined;
}

/** A fault's code as an upstream names it (A29, `@code`). */
export interface FaultCodeWords {
  /** Undefined for a code that is not one of SOAP's own. */
  readonly is: 'sender' | 'receiver' | undefined;
  /** What follows SOAP's own code in SOAP 1.1, such as `.NoStock`; `''` for nothing. */
  readonly more: string;
  /** `''` for none, and for SOAP's own codes. */
  readonly namespace: string;
  /** The name, `more` included. */
  readonly local: string;
}

/** The members of a fault that an upstream names itself (A29). */
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
  /** Returns true for a declared fault, whose element is in `detail`. */
  readonly isDeclared: boolean;
  /** What was let through as it was written, as for a reply. */
  readonly dropped: number;
  readonly replaced: number;
  readonly passed: number;
  readonly missing: number;
}

/** The header blocks of requests of an operation, as its binding declares them (A8). */
export interface DeclaredHeader {
  readonly declares: (namespace: string, local: string) => boolean;
  /** A declared block, from its start tag past its end tag, as `"Name":…`; undefined: it is refused or nil. */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** A body's JSON with the blocks as its first member. */
  readonly join: (body: string, blocks: readonly string[], reading: Reading) => string;
}

/** What a reply element goes out in: an envelope, say. */
export interface Frame {
  readonly before: string;
  readonly after: string;
  /** What `before` is where a message has header blocks of its own, which stand between the two (A8). */
  /** Base64 of at least so many bytes goes out as a part beside it (W65); undefined: none does. */
  readonly attachFrom?: number;
  readonly headed?: { readonly before: string; readonly between: string };
}

/** A success reply, checked against its type and written. */
export interface WrittenReply {
  /** True when the reply says that the call failed (W30); nothing was written then. */
  readonly failed: boolean;
  readonly dropped: number;
  readonly replaced: number;
  /** Values that aren't of their type and were written all the same: of an enum, or dates. */
  readonly passed: number;
  /** Numbers that a decimal of .NET, or a double, can't hold as they are; undefined for none. */
  readonly inexact?: number | undefined;
  /** Members that are missing or were left out; undefined where none is, and where `replies: lenient` doesn't look. */
  readonly misfits?: Misfits | undefined;
  /**
   * The framed reply element in UTF-8, a small one as text of one character per byte, one with long ranges in pieces, some
   * of them the body's own memory; undefined without a frame.
   */
  readonly xml: Buffer | string | readonly Buffer[] | undefined;
  /** Base64 that goes out as parts beside it, decoded, in the order of the references; undefined for none. */
  readonly attached?: readonly Buffer[] | undefined;
}

/** A value that a route's path or query gave (W38). */
export interface RouteValue {
  readonly field: string;
  /** What an error calls it: the input's JSON name for a path parameter, as sent for a query parameter (W29). */
  readonly said: string;
  /** Undefined for escapes that aren't those of UTF-8. */
  readonly text: string | undefined;
}

/** A contract with its codecs. */
export interface CompiledContract {
  readonly contract: Contract;
  readonly limits: Limits;
  /** Compiles the same contract with other limits. */
  readonly withLimits: (limits: Limits) => CompiledContract;
  readonly operations: ReadonlyMap<string, CompiledOperation>;
  /** An error without an operation, in XML (W36). */
  readonly writeError: (statusJson: string) => string;
}
