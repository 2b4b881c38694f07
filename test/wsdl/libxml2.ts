import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';
import type { Contract } from '../../mappings/contract/model.ts';
import { writeXml } from '../../wsdl/document.ts';
import { treeSchema } from '../../wsdl/json-tree.ts';
import { writeSchema } from '../../wsdl/schema.ts';

const address = 'http://soapbridge.example';

// the schema that the types schema imports, the same for every contract
xmlRegisterInputProvider(
  new XmlBufferInputProvider({ [`${address}/soap11?xsd=2`]: Buffer.from(writeXml(treeSchema())) }),
);

/** Compiles a contract's types schema with libxml2. Throws an XmlValidateError if it is invalid. */
export function compileSchema(contract: Contract): XsdValidator {
  using document = XmlDocument.fromString(writeSchema(contract, 0, { address }) ?? '');
  return XsdValidator.fromDoc(document);
}

/** Returns the validation error of a message, or undefined if it is valid. */
export function findInvalid(schema: XsdValidator, message: string): string | undefined {
  using document = XmlDocument.fromString(message);
  try {
    schema.validate(document);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
