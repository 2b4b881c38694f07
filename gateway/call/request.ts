import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { Reading } from '../../mappings/codec/problem.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { CredentialValues, Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from './error.ts';

/**
 * Throws CallError if an input has problems. Inputs are checked first, then their credentials, then the upstream
 * request (W43).
 */
export function refuseProblems({ problems }: Reading): void {
  if (problems.length > 0) throw new CallError('ValidationError', { problems });
}

/** Builds the upstream request of valid, complete inputs. Throws CallError for others. */
export function requestOf(
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
