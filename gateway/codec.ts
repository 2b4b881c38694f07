import { isUtf8 } from 'node:buffer';
import { isUint8Array } from 'node:util/types';
import { bufferOf } from '../mappings/bytes.ts';
import { type Problem as MemberProblem, MismatchError, problemText } from '../mappings/codec/problem.ts';
import {
  type CompiledContract,
  type CompiledOperation,
  compileContract as compile,
  type Frame,
} from '../mappings/compile.ts';
import { hasRpc } from '../mappings/contract/adopted.ts';
import {
  defaultLimits,
  type Limits,
  type SettableLimits,
  limitsWith as withDefaults,
} from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { didYouMean } from '../mappings/contract/nearest.ts';
import type { Input } from '../mappings/http-mapping/call.ts';
import { JsonError } from '../mappings/json/grammar.ts';
import { decodeXml } from '../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../mappings/xml/error.ts';
import { XmlReader } from '../mappings/xml/reader.ts';
import {
  checkCompiled,
  checkContract,
  checkLimits,
  checkType,
  described,
  wrongArgument,
} from './arguments.ts';
import { CallError } from './call/error.ts';
import { readHead } from './call/head.ts';
import { withoutCredentials } from './call/request.ts';
import { compileReaders, readCallBody, readSoapCall } from './protocols/read-call.ts';
import { Fault } from './protocols/soap/faults.ts';
import { soap11, soap12 } from './protocols/soap/versions.ts';

// `soapbridge/codec`: what translates without a server, and loads nothing that has one.

export type { CompiledContract } from '../mappings/compile.ts';
export { defaultLimits, type Limits, type SettableLimits } from '../mappings/contract/limits.ts';
export type { Contract } from '../mappings/contract/model.ts';
export type { LoadedContract } from '../mappings/loader/build-contract.ts';
export { ContractError, type ContractProblem } from '../mappings/loader/document/error.ts';
export type { ContractPlace } from '../mappings/loader/load.ts';
export { loadContract, type MappedContract } from './process/load-place.ts';

/** Compiles the codecs of a contract. Throws RangeError for a wrong argument. */
export function compileContract(contract: Contract, limits: Limits = defaultLimits): CompiledContract {
  checkContract(contract);
  checkLimits(limits);
  return compile(contract, limits);
}

/** Adds the defaults of all limits that are not given. Throws RangeError. */
export function limitsWith(given: Partial<SettableLimits>): Limits {
  checkType('limits', given, 'object', 'an object of limits');
  return withDefaults(given);
}

/** One thing that is wrong with a message. */
export interface Problem extends Pick<MemberProblem, 'code'> {
  /** Dotted path in the message's own spelling, array positions from 0: `Request.Permissions[1]`. */
  readonly field: string;
  readonly message: string;
}

/** A message that can't be translated; what it says names places by path or by line, never a value's text alone. */
export class TranslationError extends Error {
  /** The members that are wrong or missing, each with its dotted path; empty where the message as a whole is. */
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly MemberProblem[], cause?: unknown) {
    super(message, { cause });
    this.name = 'TranslationError';
    this.problems = problems.map((problem) => ({
      code: problem.code,
      field: problem.path,
      message: problemText(problem),
    }));
  }
}

/** A request that was read: which operation it calls, and its inputs. */
export interface TranslatedRequest {
  /** The operation's name in the contract. */
  readonly operation: string;
  /** One JSON object of all inputs by their JSON names, credentials in the body among them; numbers digit by digit. */
  readonly json: string;
}

/** Translates messages of one contract, both ways, in the calling thread. */
export interface Codec {
  /**
   * A SOAP envelope of either version, or an operation's element by itself → its inputs as JSON. Throws TranslationError, and
   * RangeError for a wrong argument.
   *
   * @param contentType the message's Content-Type, whose charset counts (W9); without one the document says its own
   */
  readonly xmlToJson: (document: Uint8Array, contentType?: string) => TranslatedRequest;
  /**
   * An operation's reply in JSON → the XML of its reply element, in a SOAP envelope where one is asked for. Throws
   * TranslationError for what isn't of the reply's type, RangeError for an operation that the contract lacks and any other
   * wrong argument.
   */
  readonly jsonToXml: (operation: string, json: Uint8Array | string, envelope?: '1.1' | '1.2') => string;
}

/** A codec of a compiled contract: many messages, or one, whatever their order. Throws RangeError for a wrong argument. */
export function createCodec(compiled: CompiledContract): Codec {
  checkCompiled(compiled);
  const readers = compileReaders(compiled, Number.POSITIVE_INFINITY);
  return {
    xmlToJson: (document, contentType) => {
      if (!isUint8Array(document))
        throw wrongArgument('document', 'bytes, such as a Buffer', described(document));
      if (contentType !== undefined) checkType('contentType', contentType, 'string');
      const bytes = bufferOf(document);
      const headers = contentType === undefined ? {} : { 'content-type': contentType };
      const head = readHead({ headers, rawHeaders: [] });
      try {
        const operation = operationOf(bytes, head.contentType.charset, compiled);
        const { operation: called, input } =
          operation === undefined
            ? readSoapCall(readers, head, { version: soap11, endpoint: undefined }, bytes)
            : { operation, ...readCallBody(readers, head, operation, bytes, 'xml') };
        refuseProblems(input, compiled);
        return { operation: called.operation.name, json: called.jsonOf(input) };
      } catch (error) {
        throw translationError(error);
      }
    },
    jsonToXml: (name, json, envelope) => {
      checkType('operation', name, 'string');
      if (typeof json !== 'string' && !isUint8Array(json))
        throw wrongArgument('json', 'JSON as bytes or as a string', described(json));
      if (envelope !== undefined && !Object.hasOwn(frames, envelope))
        throw wrongArgument('envelope', '1.1 or 1.2', described(envelope));
      const operation = compiled.operations.get(name);
      if (operation === undefined)
        throw wrongArgument(
          'operation',
          'one of the contract',
          `${JSON.stringify(name)}${didYouMean(name, compiled.operations.keys())}`,
        );
      const body = typeof json === 'string' ? Buffer.from(json) : json;
      if (typeof json !== 'string' && !isUtf8(body))
        throw new TranslationError('expected JSON in UTF-8, got other bytes', []);
      try {
        return writeReply(operation, body, envelope);
      } catch (error) {
        throw translationError(error);
      }
    },
  };
}

/** The operation whose element a document is; undefined for a SOAP envelope. */
function operationOf(
  bytes: Buffer,
  charset: string | undefined,
  { contract, limits, operations }: CompiledContract,
): CompiledOperation | undefined {
  const quirks = { illegalReferences: false, emptyPrefixes: hasRpc(contract) };
  const xml = new XmlReader(decodeXml(bytes, charset), limits, quirks);
  xml.readRoot();
  if (xml.local === 'Envelope') return undefined;
  const operation = operations.get(xml.local);
  if (operation !== undefined) return operation;
  const names = contract.operations.slice(0, 8).map(({ name }) => `<${name}>`);
  throw new TranslationError(
    `expected a SOAP Envelope or one of ${names.join(', ')}, got <${xml.local.slice(0, 64)}>`,
    [],
  );
}

/** Throws TranslationError for inputs that are wrong or lack a member; credentials may travel elsewhere. */
function refuseProblems({ reading }: Input, compiled: CompiledContract): void {
  const problems = [...reading.problems, ...withoutCredentials(reading, compiled)];
  const [first] = problems;
  if (first !== undefined) throw new TranslationError(problemText(first), problems);
}

const frames = { '1.1': soap11.frame, '1.2': soap12.frame } as const;
const bare: Frame = { before: '', after: '' };

function writeReply(
  { writeReply: write }: CompiledOperation,
  body: Uint8Array,
  envelope?: '1.1' | '1.2',
): string {
  const { failed, xml = '' } = write(body, envelope === undefined ? bare : frames[envelope]);
  if (failed) throw new TranslationError('expected a reply, got one that says that the call failed', []);
  if (typeof xml === 'string') return Buffer.from(xml, 'latin1').toString('utf8');
  return (Buffer.isBuffer(xml) ? xml : Buffer.concat(xml)).toString('utf8');
}

/** The errors of readers and writers as one; what is no error of a message stays what it is. */
function translationError(error: unknown): unknown {
  if (error instanceof CallError) return new TranslationError(error.message, error.problems, error);
  const isOfMessage =
    error instanceof Fault ||
    error instanceof XmlError ||
    error instanceof UnsupportedCharset ||
    error instanceof MismatchError ||
    error instanceof JsonError;
  return isOfMessage ? new TranslationError(error.message, [], error) : error;
}
