import type { Contract } from '../mappings/contract/model.ts';
import { documentName } from './adopted.ts';
import { hasSchemaNumber, schemaList } from './schema.ts';

/**
 * The service, ports, documents and actions of the WSDL that a contract publishes: the WSDL that it was loaded from (A1, A5), or
 * the one that `wsdl.ts` writes (W32).
 */

/** A path at which SOAP calls are answered. */
export interface SoapPath {
  readonly path: string;
  /** A version that a port of the path has. */
  readonly version: '1.1' | '1.2';
}

/** The paths of a contract in the order of its ports, each once for each version of its ports. */
export function soapPathsOf(contract: Contract): readonly SoapPath[] {
  const versions = new Map<string, Set<'1.1' | '1.2'>>();
  for (const { path, soap } of contract.ports)
    versions.set(path, (versions.get(path) ?? new Set()).add(soap));
  return [...versions].flatMap(([path, all]) => [...all].toSorted().map((version) => ({ path, version })));
}

/** The queries at which the documents of a contract are served, such as `xsd=1`; the WSDL is the first. */
export function documentNames(contract: Contract): readonly string[] {
  if (contract.documents.length > 0) return contract.documents.map(documentName);
  const schemas = schemaList.filter((number) => hasSchemaNumber(contract, number));
  return ['wsdl', ...schemas.map((number) => `xsd=${number}`)];
}
