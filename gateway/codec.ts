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

// `soapbridge/codec`: translation without a server. It does not load the HTTP server.

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

/** One error in a message. */
export interface Problem extends Pick<MemberProblem, 'code'> {
  /** Dotted path of the member, spelled as in the message, with array indexes from 0: `Request.Permissions[1]`. */
  readonly field: string;
  readonly message: string;
}

/** A message cannot be translated. The error text names positions by path or line, and never contains only a value. */
export class TranslationError extends Error {
  /** The wrong or missing members with their paths; empty if the message as a whole is wrong. */
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

/** The operation and the inputs of a translated request. */
export interface TranslatedRequest {
  /** The operation's name in the contract. */
  readonly operation: string;
  /**
   * A JSON object of all inputs by their JSON names, including credentials in the body. Numbers keep all their digits.
   */
  readonly json: string;
}

/** Translates messages of one contract in both directions, in the calling thread. */
export interface Codec {
  /**
   * Translates a SOAP 1.1 or 1.2 envelope, or the element of an operation, to the JSON of its inputs. Throws
   * TranslationError, and RangeError for a wrong argument.
   *
   * @param contentType the Content-Type of the message, which may name the charset (W9); without it, the XML
   * declaration applies
   */
  readonly xmlToJson: (document: Uint8Array, contentType?: string) => TranslatedRequest;
  /**
   * Translates the JSON reply of an operation to its XML element, in a SOAP envelope if `envelope` is given. Throws
   * TranslationError if the JSON does not match the type, and RangeError for an unknown operation or a wrong argument.
   */
  readonly jsonToXml: (operation: string, json: Uint8Array | string, envelope?: '1.1' | '1.2') => string;
}

/** Creates the codec of a compiled contract, for any number of messages. Throws RangeError for a wrong argument. */
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
          'an operation of the contract',
          `${JSON.stringify(name)}${didYouMean(name, compiled.operations.keys())}`,
        );
      const body = typeof json === 'string' ? Buffer.from(json) : json;
      if (typeof json !== 'string' && !isUtf8(body))
        throw new TranslationError('expected JSON in UTF-8, got invalid UTF-8', []);
      try {
        return writeReply(operation, body, envelope);
      } catch (error) {
        throw translationError(error);
      }
    },
  };
}

/**
 * Returns the operation that the root element names; undefined for a SOAP envelope. Throws TranslationError for another
 * element.
 */
function operationOf(
  bytes: Buffer,
  charset: string | undefined,
  { contract, limits, operations }: CompiledContract,
): CompiledOperation | undefined {
  const tolerance = {
    acceptsIllegalReferences: false,
    emptyPrefixes: contract.operations.some(({ binding }) => binding.style === 'rpc'),
  };
  const xml = new XmlReader(decodeXml(bytes, charset), limits, tolerance);
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

/**
 * Throws TranslationError if inputs are wrong or missing. Missing credentials are accepted, because they may be in
 * headers.
 */
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
  if (failed) throw new TranslationError('expected a successful reply, got an error reply', []);
  if (typeof xml === 'string') return Buffer.from(xml, 'latin1').toString('utf8');
  return (Buffer.isBuffer(xml) ? xml : Buffer.concat(xml)).toString('utf8');
}

/** Converts the errors of readers and writers to TranslationError. Returns other errors unchanged. */
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
