// docs:begin authoring
import {
  compareContracts,
  compileContract,
  createDoctor,
  createSampler,
  deriveOpenapi,
  draftMapping,
  Kits,
  loadContract,
  writeDerivedOpenapi,
} from 'soapbridge/authoring';

const { contract } = loadContract({ openapi: 'docs/tutorial/openapi.yaml' });
const compiled = compileContract(contract);

// samples of an operation
const [sample] = createSampler(compiled).samplesOf('lend')?.requests ?? [];
console.log('sample:', sample?.format, sample?.path);

// the files of a client kit, by path
const files = new Kits(compiled, 'https://api.example.com').files(['lend']);
console.log('kit:', [...files.keys()].slice(0, 2));

// all problems of a caller's message, and the corrected message
const body = Buffer.from(
  '<lend xmlns="urn:CityLibrary"><Body><isbn>1</isbn><raeder>Zoë</raeder></Body></lend>',
);
const { findings, corrected } = createDoctor(compiled).explain({
  body,
  headers: { 'content-type': 'text/xml' },
});
for (const { severity, message } of findings) console.log(severity, message);
console.log('accepted when corrected:', corrected?.isTaken);

// the changes that clients notice
const smaller = { ...contract, operations: contract.operations.slice(1) };
for (const { grade, where, what } of compareContracts(contract, smaller)) console.log(grade, where, what);

// the OpenAPI document of the upstream of a WSDL
const { contract: orders } = loadContract('docs/adopt');
console.log(writeDerivedOpenapi(deriveOpenapi(orders).document).split('\n', 1));

// the first version of a mapping onto another document
const draft = draftMapping({ contract: orders, openapi: 'docs/mapping/openapi.yaml', operation: 'GetOrder' });
console.log(JSON.stringify(draft.entry));
// docs:end authoring
