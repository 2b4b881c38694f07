import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { Reading } from '../../mappings/codec/problem.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { CredentialValues, Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from './error.ts';

/** Inputs, the credentials in them and the call upstream are looked at in this order (W43). Throws CallError. */
export function refuseProblems({ problems }: Reading): void {
  if (problems.length > 0) throw new CallError('ValidationError', { problems });
}

/** The call upstream of inputs that are right and whole. Throws CallError for others. */
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

/** The members that are required and missing; the credentials' own requirements are W24's, not the record's. */
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
