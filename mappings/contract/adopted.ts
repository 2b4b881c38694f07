import type { AdoptedOperation, AdoptedPort, AdoptedService } from './schema-components.ts';

/** The name of the derived document in the folder of an adopted contract (A1). */
export const derivedFile = 'derived.openapi.yaml';

/** What a contract has more that is the description of an existing service (A1). */
export interface Adopted {
  readonly service: AdoptedService;
  readonly endpoints: readonly AdoptedEndpoint[];
  /** Scalars of header blocks that travel in HTTP headers (A8). */
  readonly movedHeaders: readonly MovedHeader[];
  /** Whether its JSON is that of another document only by a mapping (M1), without which nobody may serve it. */
  readonly isMapped?: boolean;
}

/** An operation of an adopted contract by its name; undefined for another name, and where none was adopted. */
export function adoptedOperation(
  { adopted }: { readonly adopted?: Adopted | undefined },
  name: string,
): AdoptedOperation | undefined {
  return adopted?.service.operations.find((operation) => operation.name === name);
}

/** Returns true if an operation of a contract has the style rpc, whose callers may bind a prefix to no namespace (A30). */
export function hasRpc({ adopted }: { readonly adopted?: Adopted | undefined }): boolean {
  return adopted?.service.operations.some(({ style }) => style === 'rpc') === true;
}

/** A path at which ports of an adopted service answer (A5). */
export interface AdoptedEndpoint {
  /** Below the contract's base path, such as `/Service.asmx`. */
  readonly path: string;
  /** At least one; ports whose addresses are alike share an endpoint. */
  readonly ports: readonly AdoptedPort[];
}

/** A scalar of a declared header block that goes upstream as a credential, in an HTTP header (A8). */
export interface MovedHeader {
  /** The credential's name: `{block}.{path}`. */
  readonly name: string;
  /** The block, and where in it the scalar stands, by JSON names. */
  readonly block: string;
  readonly path: readonly string[];
  /** The HTTP header's name. */
  readonly header: string;
  /** What the value is in the header, with `{}` for the scalar's text. */
  readonly format: string;
}
