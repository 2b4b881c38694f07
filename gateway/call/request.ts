import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { Reading } from '../../mappings/codec/problem.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { CredentialValues, Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { FoundCredentials, MessageCredentials, ReadCredentials, Spelling } from './credentials.ts';
import { CallError } from './error.ts';
import type { MessageHead } from './head.ts';

/**
 * Throws CallError if an input has problems. Inputs are checked first, then their credentials, then the upstream
 * request (W43).
 */
function refuseProblems({ problems }: Reading): void {
  if (problems.length > 0) throw new CallError('ValidationError', { problems });
}

/**
 * Checks the members and credentials of a call, and builds its upstream request. Throws CallError for the first step that
 * fails (W43).
 *
 * @param given credentials and other values of the message
 * @param onCredentials called with the credentials after their check; with undefined for a contract without credentials
 */
export function requestOf(
  { compiled, readCredentials }: RequestParts,
  head: MessageHead,
  operation: CompiledOperation,
  input: Input,
  given: MessageCredentials,
  spelling: Spelling,
  onCredentials: (values: FoundCredentials | undefined) => void,
): UpstreamRequest {
  refuseProblems(input.reading);
  const values = readCredentials?.(given, head, spelling);
  onCredentials(values);
  return buildRequest(compiled, operation, input, values);
}

/** Parts of a contract's service that build upstream requests. */
export interface RequestParts {
  readonly compiled: CompiledContract;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
}

/** Builds the upstream request of valid, complete inputs. Throws CallError for others. */
function buildRequest(
  compiled: CompiledContract,
  operation: CompiledOperation,
  input: Input,
  values: CredentialValues | undefined,
): UpstreamRequest {
  const { reading } = input;
  const missing = withoutCredentials(reading, compiled);
  if (missing.length > 0) throw new CallError('ValidationError', { problems: missing });
  const request = operation.request(input, values);
  if (request === undefined) throw new CallError('ValidationError', { problems: reading.problems });
  const { attachments } = reading;
  const { body } = request;
  if (attachments === undefined || body === undefined) return request;
  if (body instanceof FilledBody || body instanceof StreamedFile) return request;
  return { ...request, body: attachments.fill(body) };
}

/**
 * Returns the required members that are missing. Missing credentials are excluded, because W24 defines which are
 * required.
 */
export function withoutCredentials(reading: Reading, { contract }: CompiledContract): Reading['missing'] {
  const member = contract.credentials?.member;
  if (member === undefined || reading.missing.length === 0) return reading.missing;
  const { length } = member;
  return reading.missing.filter(({ path }) => {
    const isWithin = path.length === length || path[length] === '.';
    if (!isWithin || path.startsWith(member)) return !isWithin;
    return path.slice(0, length).toLowerCase() !== member.toLowerCase();
  });
}
