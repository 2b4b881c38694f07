// docs:begin codec
import { readFileSync } from 'node:fs';
import { compileContract, createCodec, loadContract, TranslationError } from 'soapbridge/codec';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const codec = createCodec(compileContract(contract)); // compile once, use for all messages

const { operation, json } = codec.xmlToJson(readFileSync('docs/tutorial/lend.xml'));
console.log(operation, json);

const loan = '{"number":9007199254740993,"isbn":"978-0-00-000000-2","reader":"Zoë","due":"2026-03-28"}';
console.log(codec.jsonToXml(operation, loan, '1.1'));

try {
  codec.xmlToJson(Buffer.from('<lend><Body><isbn>1</isbn><raeder>Zoë</raeder></Body></lend>'));
} catch (error) {
  if (!(error instanceof TranslationError)) throw error;
  for (const { code, message } of error.problems) console.log(code, message);
}
// docs:end codec
