import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import type { Contract } from '../../mappings/model.ts';
import { writeSchema } from '../../wsdl/schema.ts';

/** A contract's schema of types, compiled by libxml2. Throws XmlValidateError for one that is none. */
export function compileSchema(contract: Contract): XsdValidator {
  const address = 'http://soapbridge.example';
  using document = XmlDocument.fromString(writeSchema(contract, 0, { address }) ?? '');
  return XsdValidator.fromDoc(document);
}

/** What a schema has against a message; undefined for a valid one. */
export function findInvalid(schema: XsdValidator, message: string): string | undefined {
  using document = XmlDocument.fromString(message);
  try {
    schema.validate(document);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
