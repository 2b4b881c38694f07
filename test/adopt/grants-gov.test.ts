import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { createCodec } from '../../gateway/codec.ts';
import { compileContract } from '../../mappings/compile.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { loadMapping } from '../../mappings/mapping/load.ts';
import { deriveOpenapi } from '../../wsdl/derived-openapi/document.ts';

/** Grants.gov's service for applicants, mapped to the JSON API that replaces it (M1 to M3). The documents are real. */

const folder = join(process.env.WSDL_CORPUS ?? '', 'grants-gov');
const mapping = join(import.meta.dirname, 'grants-gov/mapping.yaml');

if (process.env.WSDL_CORPUS === undefined || !existsSync(folder)) {
  test.skip('M1: Grants.gov is mapped to its new API (skipped: WSDL_CORPUS has no such folder)', () => {});
} else {
  const { contract } = readContract(folder);
  if (contract.adopted === undefined) throw new Error('expected an adopted service');
  const { service } = contract.adopted;
  const { document: derived } = deriveOpenapi(service, contract.settings);
  const loaded = loadMapping({ mapping, openapi: join(folder, 'new-api.openapi.yaml'), derived });
  const codec = createCodec(compileContract(contract));
  const operation = loaded.operations.get('GetOpportunityList');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ ...loaded.text.openapi, $id: 'new' });
  ajv.addSchema({ ...derived, $id: 'old' });

  const validates = (pointer: string, json: string | undefined) => {
    const validate = ajv.getSchema(pointer);
    return validate?.(JSON.parse(json ?? '')) === true ? [] : (validate?.errors ?? ['no schema']);
  };
  const newBody = 'new#/components/schemas/OpportunitySearchRequestV1Schema';
  const oldReply = 'old#/paths/~1GetOpportunityList/post/responses/200/content/application~1json/schema';

  test('M1: the sample request of the legacy service becomes a search that the new document accepts', (t) => {
    const sample = 'applicants/get_opportunity_list_by_funding_opportunity_number_request.xml';
    const request = codec.xmlToJson(readFileSync(join(folder, sample)), 'text/xml');
    t.is(request.operation, 'GetOpportunityList');
    const [call] = operation?.toCalls(request.json).calls ?? [];
    t.is(`${call?.method} ${call?.path}`, 'POST /v1/opportunities/search');
    t.is(JSON.parse(call?.body ?? '').query, 'O-BJA-2025-202930-STG');
    t.deepEqual(validates(newBody, call?.body), []);
  });

  test('M2: a CFDA number searches among assistance listings', (t) => {
    const [call] = operation?.toCalls('{"OpportunityFilter":{"CFDANumber":"16.738"}}').calls ?? [];
    t.deepEqual(JSON.parse(call?.body ?? '').filters.assistance_listing_number, { one_of: ['16.738'] });
    t.deepEqual(validates(newBody, call?.body), []);
  });

  test('M3: refuses a criterion that the new API lacks, and reports other operations as unmapped', (t) => {
    for (const json of ['{"PackageID":"PKG1"}', '{"OpportunityFilter":{"CompetitionID":"C1"}}'])
      t.throws(() => operation?.toCalls(json), { message: /that matches no `when`$/ });
    t.is(loaded.unmapped.length, service.operations.length - 1);
  });

  test('M2: the new response becomes a legacy reply that matches its schema and is written as XML', (t) => {
    const found = {
      opportunity_number: 'O-BJA-2025-202930-STG',
      opportunity_title: 'A title',
      agency_name: 'An agency',
      opportunity_assistance_listings: [
        { assistance_listing_number: '16.738', program_title: 'A programme' },
      ],
      summary: { post_date: '2025-09-16', close_date: null, agency_contact_description: 'By mail' },
    };
    const answer = {
      status: 200,
      headers: {},
      body: JSON.stringify({ message: 'Success', data: [found, {}] }),
    };
    const request = operation?.toCalls('{"OpportunityFilter":{"FundingOpportunityNumber":"O"}}');
    const json = operation?.toReply(request?.entry ?? 0, [answer]) ?? '';
    t.deepEqual(JSON.parse(json), {
      OpportunityDetails: [
        {
          FundingOpportunityNumber: 'O-BJA-2025-202930-STG',
          FundingOpportunityTitle: 'A title',
          CFDADetails: [{ Number: '16.738', Title: 'A programme' }],
          OpeningDate: '2025-09-16',
          OfferingAgency: 'An agency',
          AgencyContactInfo: 'By mail',
        },
        {},
      ],
    });
    t.deepEqual(validates(oldReply, json), []);
    t.regex(codec.jsonToXml('GetOpportunityList', json), /<[\w:]*OpeningDate[^>]*>2025-09-16</);
  });

  test('the mapping of the operation takes at most 150 lines', (t) => {
    t.true(readFileSync(mapping, 'utf8').split('\n').length <= 150);
  });
}
