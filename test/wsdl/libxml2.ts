import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';
import type { Contract } from '../../mappings/contract/model.ts';
import { writeXml } from '../../wsdl/document.ts';
import { treeSchema } from '../../wsdl/json-tree.ts';
import { writeSchema } from '../../wsdl/schema.ts';

const address = 'http://soapbridge.example';

// what the schema of types imports, the same for every contract
xmlRegisterInputProvider(
  new XmlBufferInputProvider({ [`${address}/soap11?xsd=2`]: Buffer.from(writeXml(treeSchema())) }),
);

/** A contract's schema of types, compiled by libxml2. Throws XmlValidateError for one that is none. */
export function compileSchema(contract: Contract): XsdValidator {
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
