/** What a contract may say of an adopted service's values beside its WSDL; what isn't here is as the rules say. */
export interface AdoptedSettings {
  /** `always`: `@type` is read where a type has a name, also where it is the declared one (A18). */
  readonly types: 'derived' | 'always';
  /** `text`: numbers that a double may not hold are strings of digits in JSON (A26). */
  readonly bigNumbers: 'number' | 'text';
  /** What becomes of a value in a reply that an enumeration lacks (W22). */
  readonly unknownEnumValues: 'refuse' | 'pass';
  /** What becomes of an element or attribute that a type lacks (W12). */
  readonly unknownElements: 'refuse' | 'ignore';
}

/** As the rules have it. */
export const adoptedDefaults: AdoptedSettings = {
  types: 'derived',
  bigNumbers: 'number',
  unknownEnumValues: 'pass',
  unknownElements: 'refuse',
};
