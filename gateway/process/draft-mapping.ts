import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import { Allowance, contractConstants } from '../../mappings/loader/document/allowance.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { type Draft, draftEntry, likestOperation } from '../../mappings/mapping/draft.ts';
import { readOpenapi } from '../../mappings/mapping/load.ts';
import { SchemaReader } from '../../mappings/mapping/schemas.ts';
import { targetOperation } from '../../mappings/mapping/target.ts';
import { deriveFromContract } from '../../wsdl/derived-openapi/document.ts';

/** A proposed entry of a mapping (M6), and the parts that need an author's decision. */
export interface MappingDraft extends Draft {
  /** Reasons why a mapping cannot call the operation of the document. */
  readonly refusals: readonly string[];
}

/** Options of `draftMapping`. */
export interface DraftMappingOptions {
  /** A contract that is loaded from a WSDL. */
  readonly contract: Contract;
  /** Path of the OpenAPI document of the new service. */
  readonly openapi: string;
  /** Name of the contract's operation. */
  readonly operation: string;
  /** Method and path of the new service's operation, for example `GET /orders/{id}`. Default: the most similar one. */
  readonly call?: string | undefined;
  readonly limits?: Limits | undefined;
}

/**
 * Proposes rules that map an operation of a WSDL to an operation of another OpenAPI document, by name, kind and
 * structure. Throws ContractError for a document that cannot be read, RangeError for an operation that does not exist.
 */
export function draftMapping({
  contract,
  openapi: file,
  operation,
  call,
  limits = defaultLimits,
}: DraftMappingOptions): MappingDraft {
  const { document: derived } = deriveFromContract(contract);
  const problems: ContractProblem[] = [];
  const openapi = readOpenapi(file, problems, new Allowance(limits));
  if (openapi === undefined) throw new ContractError(problems);
  const { contractReferences: most = contractConstants.contractReferences } = limits;
  const old = targetOperation(derived, new SchemaReader(derived, most), 'POST', `/${operation}`);
  if (typeof old === 'string') {
    const names = contract.operations.map(({ name }) => name);
    throw new RangeError(
      `operation: expected one of ${names.slice(0, 20).join(', ')}, got ${JSON.stringify(operation)}${didYouMean(operation, names)}`,
    );
  }
  const [method = '', path = ''] = call?.split(' ') ?? [];
  const target =
    call === undefined
      ? likestOperation(operation, openapi, most, old.body)
      : targetOperation(openapi, new SchemaReader(openapi, most), method.toUpperCase(), path);
  if (target === undefined)
    throw new RangeError('--call: expected an operation, got none, and no operation has a similar name');
  if (typeof target === 'string') throw new RangeError(`--call: ${target}`);
  return { ...draftEntry(old, target), refusals: target.refusals };
}
