import type { AdoptedOperation, AdoptedPort, AdoptedService } from './schema-components.ts';

/** The name of the derived document in the folder of an adopted contract (A1). */
export const derivedFile = 'derived.openapi.yaml';

/** What a contract has more that is the description of an existing service (A1). */
export interface Adopted {
  readonly service: AdoptedService;
  readonly settings: AdoptedSettings;
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

/** What a contract may say of an adopted service's values beside its WSDL; what isn't here is as the rules say. */
export interface AdoptedSettings {
  /** `always`: `@type` is read where a type has a name, also where it is the declared one (A18). */
  readonly types: 'derived' | 'always';
  /** `text`: numbers that a double may not hold are strings of digits in JSON (A26). */
  readonly bigNumbers: 'number' | 'text';
  /** `utc`: an `xs:dateTime` is RFC 3339 in JSON, one without a zone by `upstreamTimeZone` (A26). */
  readonly dates: 'text' | 'utc';
  /** IANA name of the zone whose wall clock a date without an offset shows; undefined: none, which is UTC with `dates: utc`. */
  readonly upstreamTimeZone: string | undefined;
  /** What becomes of a value in a reply that an enumeration lacks (W22). */
  readonly unknownEnumValues: 'refuse' | 'pass';
  /** INF, -INF and NaN of a double or float in JSON: an error, null, or a string (A26). */
  readonly nonFiniteNumbers: 'refuse' | 'asNull' | 'asText';
  /** What becomes of a date, time or duration in a reply that is none and can't be repaired (W17). */
  readonly invalidDates: 'refuse' | 'pass';
  /** What an empty element for a number, boolean or date is: refused, or as no element (A25). */
  readonly emptyElements: 'refuse' | 'absent';
  /** What of a request is checked: types and enumerations, or lengths, bounds and patterns too (A26). */
  readonly validate: 'types' | 'strict';
  /** What becomes of an element or attribute that a type lacks (W12). */
  readonly unknownElements: 'refuse' | 'ignore';
  /** The prefix of SOAP's own codes in faults (A29): `SOAP-ENV` for `SOAP-ENV:Server`. */
  readonly faultCodePrefix: string;
}

/** As the rules have it. */
export const adoptedDefaults: AdoptedSettings = {
  types: 'derived',
  bigNumbers: 'number',
  dates: 'text',
  upstreamTimeZone: undefined,
  unknownEnumValues: 'pass',
  nonFiniteNumbers: 'refuse',
  invalidDates: 'refuse',
  emptyElements: 'refuse',
  validate: 'types',
  unknownElements: 'refuse',
  faultCodePrefix: 's',
};
