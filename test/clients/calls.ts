import type { ExecutionContext } from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { jsonData } from './gateway.ts';

/** Calls an operation with a SOAP client library, and returns the library's result and the raw reply. */
export type Caller = (
  operation: string,
  input: object,
) => Promise<{ readonly data: unknown; readonly raw: string }>;

/** The SOAP versions with the WSDL's port and the namespace of envelopes. */
export const versions = [
  { name: 'SOAP 1.1', port: 'Soap11', namespace: 'http://schemas.xmlsoap.org/soap/envelope/' },
  { name: 'SOAP 1.2', port: 'Soap12', namespace: 'http://www.w3.org/2003/05/soap-envelope' },
] as const;

export const authentication = { ApiUserId: 'demo', ApiUserKey: 'demo-key' };

/** A mandatory header block that is not understood, which causes a fault (W28). */
export const ticketHeader = '<t:Ticket xmlns:t="urn:example:ticket" soap:mustUnderstand="1">1</t:Ticket>';

interface Call {
  readonly operation: string;
  readonly input: object;
  /** Expected values in the reply's Data by path, as the reference upstream's seed fixes them. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** All twelve operations, with values in the form in which both `soap` and `strong-soap` read them. */
const calls: readonly Call[] = [
  {
    operation: 'UpdateSubUser',
    input: { Request: { Permissions: { string: ['bob', 'owner'] }, SubUserName: 'jane' } },
    values: {
      'SubUser.UserName': 'jane',
      'SubUser.Name': "Jane O'Sample",
      'SubUser.UserId': '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
      'SubUser.IsMainUser': false,
      'SubUser.Permissions.string': ['bob', 'owner'],
    },
  },
  {
    operation: 'UpdateValidId',
    input: { Request: { ClientInResults: true, ClientNotInResults: false, Id: 1 } },
    values: { Success: true },
  },
  {
    operation: 'AddClientTemplate',
    input: {},
    values: {
      'Request.ProofOfPreset': 'ValidateMe',
      'Request.ProofOfDocumentCategories.ProofOfDocumentCategory.1.ProofOfDocuments.ProofOfDocument.2': {
        Id: 23,
        Name: 'Council tax bill',
      },
    },
  },
  {
    operation: 'GetDbsSearch',
    input: { Id: 1 },
    values: {
      'LinkedTo.LinkedTo.0.Name': "Pádraig O'Invented",
      'Summary.ApplicantInformation.ApplicantPin': '004217',
      'Summary.ApplicantInformation.DateOfBirth': '1984-02-29',
      'Summary.ApplicantInformation.JobLocation': 'Llanfair & District',
    },
  },
  {
    operation: 'RenewAllPepSearches',
    input: { Request: { RenewalDate: '9000-01-01T12:00:00Z' } },
    values: { Count: 12, RenewalDate: '9000-01-01', TotalCost: 13.2 },
  },
  { operation: 'DeleteClient', input: { Id: 2 }, values: { 'ResponseStatus.ErrorCode': undefined } },
  {
    operation: 'GetSearch',
    input: { Request: { Id: 1 } },
    values: {
      'LinkedTo.LinkedTo.0.Name': 'Márta Kitalált',
      'SearchRecord.NumOfResults': 22,
      'SearchRecord.SearchCriteria.Name': 'Zoë Ångström-Müller',
      'SearchRecord.ListSearchResults.SearchResultEntry.0.DatesOfBirth.EntryDateOfBirth.1.Year': 1963,
      'SearchRecord.SearchResults.EuResults.SearchResultEu.0.Names.EuName.1.FullName': 'Зоя Выдуманная',
      'SearchRecord.SearchResults.EuResults.SearchResultEu.0.ResultSimilarity': 0.925,
      'SearchRecord.SearchResults.EuResults.SearchResultEu.0.Citizenships.EuCitizenship.1.Country':
        'Graustark',
      'SearchRecord.SearchResults.HmtResults.SearchResultHmTreasury.0.Name6': 'ÅNGSTRÖM-MÜLLER',
    },
  },
  {
    operation: 'CostRenewAllPepSearches',
    input: { Request: { RenewalDate: '9000-01-01T12:00:00Z' } },
    values: { CanAfford: true, Count: 12, RenewalDate: '9000-01-01', TotalCost: 13.2 },
  },
  {
    // A JavaScript number would lose the last digit; a text keeps all digits.
    operation: 'GetPdf',
    input: { Request: { Id: '9007199254740993' } },
    values: {
      'Document.FileName': 'sanctions-9007199254740993.pdf',
      'Document.IsReady': true,
      'Document.SearchedName': 'Zoë Ångström-Müller',
    },
  },
  {
    operation: 'CountIncompleteClients',
    input: { DaysIncomplete: 0, IsValidateMe: true, State: 'PendingCompletion' },
    values: { NumberOfIncompleteClients: 1 },
  },
  {
    operation: 'GetEulaStatus',
    input: { Request: { SubUserName: 'jane' } },
    values: { AgreeToContact: true, AgreeToTerms: true },
  },
  {
    operation: 'GetValidIds',
    input: { Request: { NameSearch: 'soren', Page: 1, SortOrder: 'dateSearchedAsc' } },
    values: {
      CurrentPageNum: 1,
      'SearchRecords.SearchRecord.0.Id': 16,
      'SearchRecords.SearchRecord.0.SearchCriteria.FullName': 'Søren Opdigtet',
    },
  },
];

/** Makes all twelve calls and compares the replies' values and SOAP version. */
export async function checkCalls(t: ExecutionContext, call: Caller, namespace: string): Promise<void> {
  for (const { operation, input, values } of calls) {
    const { data, raw } = await call(operation, input);
    t.true(raw.includes(`<s:Envelope xmlns:s="${namespace}">`), raw);
    t.is(at(data, 'ResponseStatus.ErrorCode'), undefined, operation);
    for (const [path, value] of Object.entries(values)) {
      t.deepEqual(at(data, path), value, `${operation}: ${path}`);
    }
    if (operation === 'GetPdf') {
      t.true(raw.includes('<Id>9007199254740993</Id>'), 'all digits of the id (W15)');
      const bytes = Buffer.from(String(at(data, 'Document.DocumentBytes')), 'base64');
      t.is(bytes.toString('latin1', 0, 5), '%PDF-');
      t.is(bytes.toString('latin1').trimEnd().slice(-5), '%%EOF');
    }
  }
}

/** Returns the value at a dotted path, or undefined. */
export function at(data: unknown, path: string): unknown {
  let value = data;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** Checks an in-band error of the upstream whose text contains characters outside the BMP (W26, W30). */
export async function checkError(t: ExecutionContext, call: Caller): Promise<void> {
  const { data } = await call('UpdateSubUser', {
    Request: { Permissions: { string: ['bob', 'Zoë 漢 😀'] }, SubUserName: 'jane' },
  });
  t.is(at(data, 'ResponseStatus.ErrorCode'), 'ValidationError');
  t.is(at(data, 'ResponseStatus.Errors.ResponseError.0.FieldName'), 'request.permissions[1]');
  t.regex(String(at(data, 'ResponseStatus.Message')), /"Zoë 漢 😀"/);
}

/**
 * Checks dates in both directions (W16, W17). A date of a reply is the wall clock of the JSON. Sent back as both ends
 * of a range, it finds only its own record.
 *
 * @param argument converts a wall clock to the library's input
 */
export async function checkDates(
  t: ExecutionContext,
  gateway: Running,
  call: Caller,
  argument: (wallClock: string) => unknown,
): Promise<void> {
  const json = await jsonData(gateway, 'GetValidIds', { request: { nameSearch: 'soren' } });
  const wallClock = wallClockOf(at(json, 'searchRecords.0.dateSearched'));
  const { data } = await call('GetValidIds', {
    Request: { FilterDateFrom: argument(wallClock), FilterDateTo: argument(wallClock) },
  });
  t.is(at(data, 'TotalSearchRecords'), 1);
  const record = at(data, 'SearchRecords.SearchRecord.0');
  t.is(at(record, 'Id'), at(json, 'searchRecords.0.id'));
  // Both libraries read a date without a zone as local time.
  t.deepEqual(at(record, 'DateSearched'), new Date(wallClock));
}

function wallClockOf(json: unknown): string {
  const [, ms] = /^\/Date\((-?\d+)-0000\)\/$/.exec(String(json)) ?? [];
  return new Date(Number(ms)).toISOString().replace(/(?:\.000)?Z$/, '');
}
