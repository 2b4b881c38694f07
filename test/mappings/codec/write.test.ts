import test from 'ava';
import { SaxesParser } from 'saxes';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import type { RecordType, Type } from '../../../mappings/contract/model.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { load } from '../../plain/documents.ts';
import {
  codecsOf,
  compile,
  depot,
  operationOf,
  scalar,
  screening,
  typeNamed,
  writeOne,
  writeReply,
} from './contracts.ts';

const family = compile(screening);
const plain = compile(depot);
const { types, arrays } = screening.namespaces;
const xsi = 'http://www.w3.org/2001/XMLSchema-instance';

/** Returns the content of a reply's Data, written for `data`. */
function dataOf(operation: string, data: string): string {
  const { xml } = writeReply(family, operation, `{"data":${data}}`);
  const open = `<${operation}Response xmlns="${types}" xmlns:i="${xsi}">`;
  const close = `</${operation}Response>`;
  if (!xml.startsWith(open) || !xml.endsWith(close)) throw new Error(`another wrapper: ${xml}`);
  const content = xml.slice(open.length, -close.length);
  if (content === '<Data/>') return '';
  return content.slice('<Data>'.length, -'</Data>'.length);
}

/** Returns the names of an element's children in document order. */
function childrenOf(xml: string, path: string): readonly string[] {
  const names: string[] = [];
  const open: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ local }) => {
    if (open.join('/') === path) names.push(local);
    open.push(local);
  });
  parser.on('closetag', () => open.pop());
  parser.write(xml).close();
  return names;
}

const written: Readonly<
  Record<string, readonly (readonly [operation: string, data: string, xml: string])[]>
> = {
  'W18: elements are in the order of the table, whatever the JSON’s': [
    [
      'GetEulaStatus',
      '{"termsAndConditions":"t","privacyPolicy":"p","agreeToTerms":true,"agreeToContactInfo":"i","agreeToContact":false}',
      '<AgreeToContact>false</AgreeToContact><AgreeToContactInfo>i</AgreeToContactInfo><AgreeToTerms>true</AgreeToTerms><PrivacyPolicy>p</PrivacyPolicy><TermsAndConditions>t</TermsAndConditions>',
    ],
  ],
  'W18: ResponseStatus is first in Data': [
    [
      'CountIncompleteClients',
      '{"numberOfIncompleteClients":5,"responseStatus":null}',
      '<ResponseStatus i:nil="true"/><NumberOfIncompleteClients>5</NumberOfIncompleteClients>',
    ],
  ],
  'W19: null of a string, bytes, record, array or map is i:nil': [
    ['UpdateSubUser', '{"subUser":null}', '<SubUser i:nil="true"/>'],
    [
      'UpdateSubUser',
      '{"subUser":{"email":null,"permissions":null,"userId":null}}',
      '<SubUser><Email i:nil="true"/><Permissions i:nil="true"/><UserId i:nil="true"/></SubUser>',
    ],
    ['GetPdf', '{"document":{"documentBytes":null}}', '<Document><DocumentBytes i:nil="true"/></Document>'],
    ['GetDbsSearch', '{"linkedTo":null}', '<LinkedTo i:nil="true"/>'],
    [
      'GetEulaStatus',
      '{"responseStatus":{"meta":null}}',
      '<ResponseStatus><Meta i:nil="true"/></ResponseStatus>',
    ],
  ],
  'W19: null of a number, boolean, date or enum is no element': [
    ['CountIncompleteClients', '{"numberOfIncompleteClients":null}', ''],
    ['GetEulaStatus', '{"agreeToTerms":null,"agreeToTermsDate":null}', ''],
    [
      'RenewAllPepSearches',
      '{"count":null,"totalCost":null,"renewalDate":null}',
      '<RenewalDate i:nil="true"/>',
    ],
    ['AddClientTemplate', '{"request":{"proofOfPreset":null}}', '<Request/>'],
  ],
  'W19: an absent member is no element': [['GetEulaStatus', '{}', '']],
  'W20: arrays are wrapped, their items named by the contract': [
    [
      'GetValidIds',
      '{"searchRecords":[{"id":1},{"id":2}]}',
      '<SearchRecords><SearchRecord><Id>1</Id></SearchRecord><SearchRecord><Id>2</Id></SearchRecord></SearchRecords>',
    ],
    [
      'GetDbsSearch',
      '{"linkedTo":[{"id":9007199254740993}]}',
      '<LinkedTo><LinkedTo><Id>9007199254740993</Id></LinkedTo></LinkedTo>',
    ],
  ],
  'W20: strings of an array are in the arrays namespace, the prefix declared on its element': [
    [
      'UpdateSubUser',
      '{"subUser":{"permissions":["jane","a<b"]}}',
      `<SubUser><Permissions xmlns:a="${arrays}"><a:string>jane</a:string><a:string>a&lt;b</a:string></Permissions></SubUser>`,
    ],
  ],
  'W20: [] and {} are the empty element, a null item is nil': [
    ['UpdateSubUser', '{"subUser":{}}', '<SubUser/>'],
    [
      'UpdateSubUser',
      '{"subUser":{"permissions":[]}}',
      `<SubUser><Permissions xmlns:a="${arrays}"/></SubUser>`,
    ],
    [
      'UpdateSubUser',
      '{"subUser":{"permissions":[null,""]}}',
      `<SubUser><Permissions xmlns:a="${arrays}"><a:string i:nil="true"/><a:string/></Permissions></SubUser>`,
    ],
    ['GetDbsSearch', '{"linkedTo":[null,{}]}', '<LinkedTo><LinkedTo i:nil="true"/><LinkedTo/></LinkedTo>'],
    [
      'GetEulaStatus',
      '{"responseStatus":{"meta":{}}}',
      `<ResponseStatus><Meta xmlns:a="${arrays}"/></ResponseStatus>`,
    ],
  ],
  'W20: a map is its entries in the JSON’s order, Key first, both always there': [
    [
      'GetEulaStatus',
      '{"responseStatus":{"meta":{"z":"1","a<b":null,"":"","n":5,"b":true}}}',
      `<ResponseStatus><Meta xmlns:a="${arrays}">${[
        '<a:Key>z</a:Key><a:Value>1</a:Value>',
        '<a:Key>a&lt;b</a:Key><a:Value i:nil="true"/>',
        '<a:Key/><a:Value/>',
        '<a:Key>n</a:Key><a:Value>5</a:Value>',
        '<a:Key>b</a:Key><a:Value>true</a:Value>',
      ]
        .map((entry) => `<a:KeyValueOfstringstring>${entry}</a:KeyValueOfstringstring>`)
        .join('')}</Meta></ResponseStatus>`,
    ],
  ],
  'W20: an empty string is an empty element': [['GetEulaStatus', '{"privacyPolicy":""}', '<PrivacyPolicy/>']],
  'W21: text is escaped, what XML can’t carry is U+FFFD': [
    [
      'GetEulaStatus',
      '{"privacyPolicy":"]]><x/>\\r\\n\\u0000\\ud800 \\"q\\"","termsAndConditions":"</Name><Admin>1 &amp;"}',
      '<PrivacyPolicy>]]&gt;&lt;x/&gt;&#13;\n\ufffd\ufffd "q"</PrivacyPolicy><TermsAndConditions>&lt;/Name&gt;&lt;Admin&gt;1 &amp;amp;</TermsAndConditions>',
    ],
  ],
  'W21: SubUser.UserId is written as a GUID, other ids as they are': [
    [
      'UpdateSubUser',
      '{"subUser":{"userId":"{6F9619FF-8B86-D011-B42D-00CF4FC964FF}","userName":"{6F9619FF-8B86-D011-B42D-00CF4FC964FF}"}}',
      '<SubUser><UserId>6f9619ff-8b86-d011-b42d-00cf4fc964ff</UserId><UserName>{6F9619FF-8B86-D011-B42D-00CF4FC964FF}</UserName></SubUser>',
    ],
  ],
  'W22: a string that holds a number or boolean counts as one, a number for a string is its text': [
    [
      'RenewAllPepSearches',
      '{"count":"5","totalCost":"12.50","renewalDate":12.50}',
      '<Count>5</Count><RenewalDate>12.50</RenewalDate><TotalCost>12.50</TotalCost>',
    ],
    [
      'GetEulaStatus',
      '{"agreeToTerms":"true","privacyPolicy":false}',
      '<AgreeToTerms>true</AgreeToTerms><PrivacyPolicy>false</PrivacyPolicy>',
    ],
  ],
  'W22: "" for a number, boolean, date or enum is null': [
    ['RenewAllPepSearches', '{"count":"","totalCost":""}', ''],
    ['GetEulaStatus', '{"agreeToTerms":"","agreeToTermsDate":""}', ''],
    ['AddClientTemplate', '{"request":{"proofOfPreset":""}}', '<Request/>'],
  ],
  'W22: a number that is exactly an integer is written plainly': [
    ['RenewAllPepSearches', '{"count":1e3}', '<Count>1000</Count>'],
    ['RenewAllPepSearches', '{"count":5.0}', '<Count>5</Count>'],
    ['RenewAllPepSearches', '{"count":-0}', '<Count>0</Count>'],
  ],
  'W15: no digit is lost on the way out': [
    [
      'RenewAllPepSearches',
      '{"totalCost":12345678901234567890.120}',
      '<TotalCost>12345678901234567890.120</TotalCost>',
    ],
    ['RenewAllPepSearches', '{"totalCost":1.5e2}', '<TotalCost>150</TotalCost>'],
    ['CostRenewAllPepSearches', '{"totalCost":1.5e2}', '<TotalCost>1.5e2</TotalCost>'],
    [
      'CountIncompleteClients',
      '{"numberOfIncompleteClients":9223372036854775807}',
      '<NumberOfIncompleteClients>9223372036854775807</NumberOfIncompleteClients>',
    ],
  ],
  'W17: dates are wired in, and only members declared as dates are converted': [
    [
      'GetEulaStatus',
      '{"agreeToTermsDate":"\\/Date(1717236000000-0000)\\/","agreeToContactDate":"/Date(1717236000000)/"}',
      '<AgreeToContactDate>2024-06-01T10:00:00Z</AgreeToContactDate><AgreeToTermsDate>2024-06-01T10:00:00</AgreeToTermsDate>',
    ],
    [
      'RenewAllPepSearches',
      '{"renewalDate":"/Date(1717236000000-0000)/"}',
      '<RenewalDate>/Date(1717236000000-0000)/</RenewalDate>',
    ],
  ],
  'blanks between the tokens of a reply are nothing': [
    [
      'RenewAllPepSearches',
      '\n{\t"count" :\r\n5 , "totalCost": 1 }\n',
      '<Count>5</Count><TotalCost>1</TotalCost>',
    ],
  ],
};

for (const [title, rows] of Object.entries(written)) {
  test(title, (t) => {
    for (const [operation, data, xml] of rows) t.is(dataOf(operation, data), xml, data);
  });
}

test('the reply of the specification’s table: row 10, second message', (t) => {
  t.is(
    writeReply(
      family,
      'UpdateSubUser',
      '{"data":{"responseStatus":null,"subUser":{"userName":"zoe","userId":"6f9619ff8b86d011b42d00cf4fc964ff","email":null,"isMainUser":null,"name":"Zoë","isAdmin":false,"canResolveSearches":true,"canDeleteSearches":false,"permissions":["jane","joe"]}}}',
    ).xml,
    `<UpdateSubUserResponse xmlns="${types}" xmlns:i="${xsi}"><Data><ResponseStatus i:nil="true"/><SubUser><CanDeleteSearches>false</CanDeleteSearches><CanResolveSearches>true</CanResolveSearches><Email i:nil="true"/><IsAdmin>false</IsAdmin><Name>Zoë</Name><Permissions xmlns:a="${arrays}"><a:string>jane</a:string><a:string>joe</a:string></Permissions><UserId>6f9619ff-8b86-d011-b42d-00cf4fc964ff</UserId><UserName>zoe</UserName></SubUser></Data></UpdateSubUserResponse>`,
  );
});

test('W18: elements of every record are in ordinal order, except for the listed exceptions', (t) => {
  for (const type of screening.types) {
    if (type.kind !== 'record' || type.name === 'ResponseStatus' || type.name === 'ResponseError') continue;
    const names = type.fields.map(({ xml }) => xml).filter((xml) => xml !== 'ResponseStatus');
    t.deepEqual(names, names.toSorted(), type.name);
  }
  const eu = typeNamed(screening, 'SearchResultEu') as RecordType;
  const nulls = Object.fromEntries(eu.fields.map(({ json }) => [json, null]).reverse());
  const values = {
    ...nulls,
    dateUpdated: '/Date(0)/',
    resultResolved: true,
    resultSimilarity: 1,
    resultStrength: 1,
  };
  const { xml } = writeReply(
    family,
    'GetSearch',
    JSON.stringify({ data: { searchRecord: { searchResults: { euResults: [values] } } } }),
  );
  t.deepEqual(childrenOf(xml, 'GetSearchResponse/Data/SearchRecord/SearchResults/EuResults/SearchResultEu'), [
    ...['Addresses', 'Births', 'Citizenships', 'DateUpdated', 'Names', 'Passports'],
    ...['ResultResolved', 'ResultSimilarity', 'ResultStrength', 'ResultType'],
  ]);
});

test('W18: an overlay’s order applies to the writer', (t) => {
  const document = typeNamed(screening, 'PdfDocumentWithData') as RecordType;
  const bytesLast = [...document.fields].sort(
    (a, b) => Number(a.json === 'documentBytes') - Number(b.json === 'documentBytes'),
  );
  const changed = compile({
    ...screening,
    operations: screening.operations.map((operation) => ({
      ...operation,
      output: replace(operation.output, document, { ...document, fields: bytesLast }),
    })),
  });
  const { xml } = writeReply(
    changed,
    'GetPdf',
    '{"data":{"document":{"documentBytes":"QQ==","type":"t","id":1}}}',
  );
  t.deepEqual(childrenOf(xml, 'GetPdfResponse/Data/Document'), ['Id', 'Type', 'DocumentBytes']);
});

/** Replaces a nested record of a record. */
function replace(record: RecordType, from: RecordType, to: RecordType): RecordType {
  if (record === from) return to;
  return {
    ...record,
    fields: record.fields.map((field) =>
      field.type.kind === 'record' ? { ...field, type: replace(field.type, from, to) } : field,
    ),
  };
}

test('W20: any unknown member is dropped and counted', (t) => {
  const reply = writeReply(
    family,
    'UpdateSubUser',
    '{"extra":1,"data":{"x><y":{"deep":[1,{"a":2}]},"subUser":{"Name":"x","a b":1,"1abc":[],"xmlns":"u","__proto__":{"a":1},"name":"z"}},"\\u0000":null}',
  );
  t.is(reply.dropped, 8);
  t.regex(reply.xml, /<Data><SubUser><Name>z<\/Name><\/SubUser><\/Data>/);
});

test('W22: names match exactly; another spelling is an unknown member', (t) => {
  const reply = writeReply(family, 'RenewAllPepSearches', '{"data":{"Count":1,"COUNT":2,"count":3}}');
  t.is(reply.dropped, 2);
  t.regex(reply.xml, /<Data><Count>3<\/Count><\/Data>/);
  t.regex(writeReply(family, 'RenewAllPepSearches', '{"data":{"c\\u006funt":3}}').xml, /<Count>3<\/Count>/);
});

test('W21: every character that became U+FFFD is counted', (t) => {
  const reply = writeReply(
    family,
    'UpdateSubUser',
    '{"data":{"responseStatus":{"message":"\\u0001","meta":{"\\u0002":"\\u0003"}},"subUser":{"name":"\\ud800\\ufffe","userId":"\\u0000","permissions":["\\udc00"],"unknown":"\\u0000"}}}',
  );
  t.is(reply.replaced, 7);
  t.is(reply.dropped, 1);
});

/** Replies that do not match the contract's type, and the error message, which has a path but no value. */
const mismatches: Readonly<
  Record<string, readonly (readonly [operation: string, reply: string, message: string])[]>
> = {
  'W22: a value of another kind is a mismatch that names the field': [
    ['UpdateSubUser', '{"data":{"subUser":[]}}', 'data.subUser: expected an object, got an array'],
    ['UpdateSubUser', '{"data":{"subUser":"secret"}}', 'data.subUser: expected an object, got a string'],
    [
      'UpdateSubUser',
      '{"data":{"subUser":{"permissions":{"secret":1}}}}',
      'data.subUser.permissions: expected an array, got an object',
    ],
    [
      'UpdateSubUser',
      '{"data":{"subUser":{"permissions":["secret",["x"]]}}}',
      'data.subUser.permissions[1]: expected a string, got an array',
    ],
    [
      'UpdateSubUser',
      '{"data":{"subUser":{"name":{"secret":1}}}}',
      'data.subUser.name: expected a string, got an object',
    ],
    [
      'UpdateSubUser',
      '{"data":{"subUser":{"isAdmin":1}}}',
      'data.subUser.isAdmin: expected a boolean, got a number',
    ],
    [
      'RenewAllPepSearches',
      '{"data":{"count":"five"}}',
      'data.count: expected xs:int, got a string that is no number',
    ],
    ['RenewAllPepSearches', '{"data":{"count":5.5}}', 'data.count: expected xs:int, got a fraction'],
    [
      'RenewAllPepSearches',
      '{"data":{"count":2147483648}}',
      'data.count: expected xs:int from -2147483648 to 2147483647, got a number outside it',
    ],
    [
      'GetEulaStatus',
      '{"data":{"agreeToTermsDate":"yesterday"}}',
      'data.agreeToTermsDate: expected xs:dateTime, got an invalid string',
    ],
    [
      'GetEulaStatus',
      '{"data":{"agreeToTermsDate":1717236000000}}',
      'data.agreeToTermsDate: expected xs:dateTime, got a number',
    ],
    [
      'GetPdf',
      '{"data":{"document":{"documentBytes":"secret"}}}',
      'data.document.documentBytes: expected base64, got other text',
    ],
    [
      'AddClientTemplate',
      '{"data":{"request":{"proofOfPreset":"Secret"}}}',
      'data.request.proofOfPreset: expected one of Undefined, ValidateMe, PassportChipVerification, got another value',
    ],
    [
      'GetSearch',
      '{"data":{"searchRecord":{"searchResults":{"euResults":[{},{"names":[{},{},{"fullName":[]}]}]}}}}',
      'data.searchRecord.searchResults.euResults[1].names[2].fullName: expected a string, got an array',
    ],
  ],
  'W22: a member given twice is a mismatch': [
    [
      'RenewAllPepSearches',
      '{"data":{"count":1,"count":1}}',
      'data.count: expected the member once, got it again',
    ],
    [
      'RenewAllPepSearches',
      '{"data":{"count":null,"c\\u006funt":1}}',
      'data.count: expected the member once, got it again',
    ],
    ['RenewAllPepSearches', '{"data":{},"data":{}}', 'data: expected the member once, got it again'],
  ],
  'W30: a reply without a data object is none': [
    ['RenewAllPepSearches', '{}', 'data: expected an object, got none'],
    ['RenewAllPepSearches', 'null', 'data: expected an object, got none'],
    ['RenewAllPepSearches', '{"data":null}', 'data: expected an object, got none'],
    ['RenewAllPepSearches', '{"Data":{}}', 'data: expected an object, got none'],
    ['RenewAllPepSearches', '[]', 'expected an object, got an array'],
    ['RenewAllPepSearches', '"<html>"', 'expected an object, got a string'],
    ['RenewAllPepSearches', '{"data":[]}', 'data: expected an object, got an array'],
  ],
};

for (const [title, rows] of Object.entries(mismatches)) {
  test(title, (t) => {
    for (const [operation, reply, message] of rows) {
      t.throws(() => writeReply(family, operation, reply), { instanceOf: MismatchError, message }, reply);
    }
  });
}

test('W22: unknown enum values of the dialect plain pass', (t) => {
  t.is(
    writeReply(plain, 'GetParcel', '{"state":"lost <","states":["sent","new"]}').xml,
    `<GetParcelResponse xmlns="urn:Depot" xmlns:i="${xsi}"><Result><state>lost &lt;</state><states><State>sent</State><State>new</State></states></Result></GetParcelResponse>`,
  );
});

test('W30: a reply that is not one JSON value is a JsonError', (t) => {
  for (const reply of [
    '',
    ' ',
    '<html/>',
    '{"data":{',
    '{"data":{}}x',
    '{"data":{}} {}',
    '{"data":{"count":NaN}}',
    '{"data":{"x":01}}',
  ])
    t.throws(() => writeReply(family, 'RenewAllPepSearches', reply), { instanceOf: JsonError }, reply);
});

test('jsonDepth: refuses a reply deeper than the limit, in unknown members too', (t) => {
  const reply = `{"data":{"x":${'['.repeat(100)}${']'.repeat(100)}}}`;
  t.throws(() => writeReply(family, 'RenewAllPepSearches', reply), {
    instanceOf: JsonError,
    message: /nesting deeper than 64/,
  });
});

test('W30: an errorCode in data.responseStatus makes the reply a failure, whatever follows', (t) => {
  const failed = (reply: string) => writeReply(family, 'RenewAllPepSearches', reply).failed;
  t.true(failed('{"data":{"responseStatus":{"errorCode":"X"}}}'));
  t.true(failed('{"data":{"count":1,"responseStatus":{"message":"m","errorCode":"X","errors":"y"}}}'));
  t.true(failed('{"data":{"responseStatus":{"errorCode":5}}}'));
  t.false(failed('{"data":{"responseStatus":{"errorCode":""}}}'));
  t.false(failed('{"data":{"responseStatus":{"errorCode":null,"message":"fine"}}}'));
  t.false(failed('{"data":{"responseStatus":{"errors":[{"errorCode":"X"}]}}}'));
  t.false(failed('{"data":{"responseStatus":{"ErrorCode":"X"}}}'));
  t.false(failed('{"data":{}}'));
});

test('W30: an errorCode in a top-level responseStatus makes the reply a failure', (t) => {
  const failed = (reply: string) => writeReply(family, 'RenewAllPepSearches', reply).failed;
  t.true(failed('{"responseStatus":{"errorCode":"X"}}'));
  t.true(failed('{"responseStatus":{"errorCode":"X"},"data":{}}'));
  t.true(failed('{"data":{"count":1},"responseStatus":{"errorCode":"X"}}'));
  t.false(failed('{"data":{"count":1},"responseStatus":{"errorCode":""}}'));
  t.false(failed('{"data":{"count":1},"responseStatus":null}'));
  t.throws(() => failed('{"responseStatus":{"errorCode":""}}'), { instanceOf: MismatchError });
});

const tolerated: Readonly<
  Record<string, readonly (readonly [status: string, xml: string, dropped: number])[]>
> = {
  'W30: a number or boolean where responseStatus has text is its text': [
    [
      '{"message":5,"errors":[{"fieldName":true,"message":1.50}],"meta":{"n":1,"b":false}}',
      `<ResponseStatus><Message>5</Message><Errors><ResponseError><FieldName>true</FieldName><Message>1.50</Message></ResponseError></Errors><Meta xmlns:a="${arrays}"><a:KeyValueOfstringstring><a:Key>n</a:Key><a:Value>1</a:Value></a:KeyValueOfstringstring><a:KeyValueOfstringstring><a:Key>b</a:Key><a:Value>false</a:Value></a:KeyValueOfstringstring></Meta></ResponseStatus>`,
      0,
    ],
  ],
  'W30: an object where responseStatus has text is dropped and counted, and so is all that doesn’t fit': [
    ['{"message":{"a":1},"errors":"x","meta":[1]}', '<ResponseStatus/>', 3],
    [
      '{"errors":[{"message":["x"]},"x",null,7],"other":{}}',
      '<ResponseStatus><Errors><ResponseError/><ResponseError i:nil="true"/></Errors></ResponseStatus>',
      4,
    ],
  ],
  'W30: of a member of responseStatus given twice the first counts': [
    ['{"message":"a","message":"b"}', '<ResponseStatus><Message>a</Message></ResponseStatus>', 1],
    [
      '{"meta":{"k":"1","k":"2"}}',
      `<ResponseStatus><Meta xmlns:a="${arrays}"><a:KeyValueOfstringstring><a:Key>k</a:Key><a:Value>1</a:Value></a:KeyValueOfstringstring></Meta></ResponseStatus>`,
      1,
    ],
  ],
  'W30: a responseStatus that is no object is dropped': [
    ['"down"', '<ResponseStatus i:nil="true"/>', 1],
    ['[]', '<ResponseStatus i:nil="true"/>', 1],
    ['7', '<ResponseStatus i:nil="true"/>', 1],
    ['null', '<ResponseStatus i:nil="true"/>', 0],
    ['{}', '<ResponseStatus/>', 0],
    ['{ }', '<ResponseStatus/>', 0],
  ],
  'W29: an upstream’s stackTrace isn’t in XML': [
    [
      '{"stackTrace":"at secret()","message":"m"}',
      '<ResponseStatus><Message>m</Message></ResponseStatus>',
      0,
    ],
  ],
};

for (const [title, rows] of Object.entries(tolerated)) {
  test(title, (t) => {
    for (const [status, xml, dropped] of rows) {
      const reply = writeReply(
        family,
        'RenewAllPepSearches',
        `{"data":{"responseStatus":${status},"count":1}}`,
      );
      t.is(reply.xml.replace(/^.*?<Data>|<\/Data>.*$/g, ''), `${xml}<Count>1</Count>`, status);
      t.is(reply.dropped, dropped, status);
      t.false(reply.failed);
    }
  });
}

test('W29: stackTrace: keep keeps an upstream’s stackTrace', (t) => {
  const keeping = compile(screening, { stackTrace: 'keep' });
  const { xml } = writeReply(
    keeping,
    'RenewAllPepSearches',
    '{"data":{"responseStatus":{"stackTrace":"at x()"}}}',
  );
  t.regex(xml, /<ResponseStatus><StackTrace>at x\(\)<\/StackTrace><\/ResponseStatus>/);
});

test('W26: an error is a reply of its operation with only ResponseStatus in Data', (t) => {
  const status =
    '{"message":"Request.SubUserName must not be empty.","errorCode":"ValidationError","errors":[{"message":"m","fieldName":"Request.SubUserName","errorCode":"NotEmpty"}],"meta":{"requestId":"7f3a"}}';
  const content = `<ErrorCode>ValidationError</ErrorCode><Message>Request.SubUserName must not be empty.</Message><Errors><ResponseError><ErrorCode>NotEmpty</ErrorCode><FieldName>Request.SubUserName</FieldName><Message>m</Message></ResponseError></Errors><Meta xmlns:a="${arrays}"><a:KeyValueOfstringstring><a:Key>requestId</a:Key><a:Value>7f3a</a:Value></a:KeyValueOfstringstring></Meta>`;
  for (const name of family.operations.keys()) {
    t.is(
      operationOf(family, name).writeError(status),
      `<${name}Response xmlns="${types}" xmlns:i="${xsi}"><Data><ResponseStatus>${content}</ResponseStatus></Data></${name}Response>`,
    );
  }
  t.is(
    family.writeError(status),
    `<ErrorResponse xmlns="${types}" xmlns:i="${xsi}"><Data><ResponseStatus>${content}</ResponseStatus></Data></ErrorResponse>`,
  );
});

test('a single-value reply is the element Result of the plain dialect', (t) => {
  const xml = (operation: string, reply: string) =>
    writeReply(plain, operation, reply).xml.replace(` xmlns="urn:Depot" xmlns:i="${xsi}"`, '');
  t.is(
    xml('GetParcel', '{"name":"x","int64":9007199254740993,"note":null,"odd name":"o","other":1}'),
    '<GetParcelResponse><Result><name>x</name><note i:nil="true"/><int64>9007199254740993</int64><odd_x0020_name>o</odd_x0020_name></Result></GetParcelResponse>',
  );
  t.is(xml('CountParcels', ' 5 '), '<CountParcelsResponse><Result>5</Result></CountParcelsResponse>');
  t.is(
    xml('SendParcel', '[{"name":"a"},{}]'),
    '<SendParcelResponse><Result><Parcel><name>a</name></Parcel><Parcel/></Result></SendParcelResponse>',
  );
  t.is(xml('SendParcel', '[]'), '<SendParcelResponse><Result/></SendParcelResponse>');
  t.is(xml('DropParcel', 'null'), '<DropParcelResponse></DropParcelResponse>');
  t.throws(() => xml('CountParcels', '"five"'), {
    instanceOf: MismatchError,
    message: 'Result: expected xs:int, got a string that is no number',
  });
  t.throws(() => xml('GetParcel', '{"parts":[{"int8":128}]}'), {
    instanceOf: MismatchError,
    message: 'Result.parts[0].int8: expected xs:byte from -128 to 127, got a number outside it',
  });
  t.throws(() => xml('CountParcels', '5 5'), { instanceOf: JsonError });
});

test('W19, W33: null of an element that is not nillable is omitted', (t) => {
  t.is(
    writeReply(plain, 'GetParcel', '{"name":null,"note":null,"marks":null,"photo":null,"wrapping":null}').xml,
    `<GetParcelResponse xmlns="urn:Depot" xmlns:i="${xsi}"><Result><note i:nil="true"/><photo i:nil="true"/><wrapping i:nil="true"/></Result></GetParcelResponse>`,
  );
});

test('W20: one namespace for types and arrays needs no prefix', (t) => {
  t.is(
    writeReply(
      plain,
      'GetParcel',
      '{"marks":["a",null],"labels":{"k":"v"},"scores":{"s":1.50},"grid":[[true],[],null],"byName":{"n":{"name":"x"},"o":null}}',
    ).xml,
    `<GetParcelResponse xmlns="urn:Depot" xmlns:i="${xsi}"><Result><marks><string>a</string><string i:nil="true"/></marks><grid><ArrayOfboolean><boolean>true</boolean></ArrayOfboolean><ArrayOfboolean/><ArrayOfboolean i:nil="true"/></grid><labels><Entry><Key>k</Key><Value>v</Value></Entry></labels><scores><Entry><Key>s</Key><Value>1.50</Value></Entry></scores><byName><Entry><Key>n</Key><Value><name>x</name></Value></Entry><Entry><Key>o</Key><Value i:nil="true"/></Entry></byName></Result></GetParcelResponse>`,
  );
});

test('W22: a repeated map key is a mismatch that names only the map', (t) => {
  t.throws(() => writeReply(plain, 'GetParcel', '{"labels":{"secret":"1","s\\u0065cret":"2"}}'), {
    instanceOf: MismatchError,
    message: 'Result.labels: expected each key once, got one again',
  });
  t.throws(() => writeReply(plain, 'GetParcel', '{"scores":{"secret":"x"}}'), {
    instanceOf: MismatchError,
    message: 'Result.scores: expected xs:decimal, got a string that is no number',
  });
});

test('saxes reads output back as the original strings', (t) => {
  const texts = [
    ']]><x/>',
    '--><x/>',
    '</Name><Admin>1',
    'a\r\nb\rc\nd\te',
    '  é漢😀  ',
    '&amp;&#65;',
    '"\'<>&',
  ];
  const { xml } = writeReply(
    family,
    'UpdateSubUser',
    JSON.stringify({ data: { subUser: { name: texts.join('|'), permissions: texts } } }),
  );
  const read: string[] = [];
  let text = '';
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', () => {
    text = '';
  });
  parser.on('text', (piece) => {
    text += piece;
  });
  parser.on('closetag', ({ local, uri }) => {
    if (local === 'Name' || (local === 'string' && uri === arrays)) read.push(text);
    text = '';
  });
  parser.write(xml).close();
  t.deepEqual(read, [texts.join('|'), ...texts]);
});

test('untyped JSON is written as text, or as a tree of elements if the contract says so', (t) => {
  const json = '{"name":"null","anything":{"a":[1,null]},"note":"x"}';
  const result = (setting: 'text' | 'tree'): string =>
    /<Result>(.*)<\/Result>/.exec(
      writeReply(compile(depot, { json: setting }), 'GetParcel', json).xml,
    )?.[1] ?? '';
  t.is(result('text'), '<name>null</name><note>x</note><anything>{"a":[1,null]}</anything>');
  t.is(
    result('tree'),
    '<name>null</name><note>x</note><anything><map xmlns="http://www.w3.org/2005/xpath-functions"><array key="a"><number>1</number><null/></array></map></anything>',
  );
});

test('W30: a top-level responseStatus is an error in dialects that use it, else an unknown member', (t) => {
  const json = '{"data":{"count":1},"responseStatus":{"errorCode":"X"}}';
  const write = (soapErrors: 'in-band' | 'fault') => {
    const { failed, dropped } = writeReply(compile(screening, { soapErrors }), 'RenewAllPepSearches', json);
    return { failed, dropped };
  };
  t.deepEqual(write('in-band'), { failed: true, dropped: 1 });
  t.deepEqual(write('fault'), { failed: false, dropped: 1 });
});

test('W26: an error is written by its type, and members of other types are dropped', (t) => {
  const { responseStatus } = screening;
  const [first] = responseStatus.fields;
  if (first === undefined) return t.fail();
  const kind: Type = { kind: 'enum', name: 'Kind', documentation: '', values: ['a'] };
  const fields = [...responseStatus.fields, { ...first, json: 'kind', xml: 'Kind', type: kind }];
  const own = compile({ ...screening, responseStatus: { ...responseStatus, fields } });
  const written = (json: string): string =>
    /<ResponseStatus>(.*)<\/ResponseStatus>/.exec(operationOf(own, 'GetPdf').writeError(json))?.[1] ?? '';
  t.is(written('{"errorCode":"X","kind":"a"}'), '<ErrorCode>X</ErrorCode><Kind>a</Kind>');
  t.is(written('{"errorCode":"X","kind":"b"}'), '<ErrorCode>X</ErrorCode>');
  t.is(written('{"errorCode":["X"],"message":"m"}'), '<ErrorCode i:nil="true"/><Message>m</Message>');
  return t.pass();
});

test('W33: collections of strings always declare their prefix, and recursive types none', (t) => {
  const schemas = {
    Book: {
      type: 'object',
      properties: {
        names: { type: 'array', items: { type: 'string' } },
        parts: { type: 'array', items: { $ref: '#/components/schemas/Book' } },
        byName: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Book' } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } };
  const { contract } = load(
    {
      openapi: '3.1.0',
      info: { title: 'Books', version: '1' },
      paths: { '/': { get: { operationId: 'Get', responses: { 200: { description: '', content } } } } },
      components: { schemas },
    },
    undefined,
    { dialect: 'servicestack', soapErrors: 'fault' },
  );
  const book = '{"names":["n"],"labels":{"k":"v"}}';
  const { xml } = writeReply(compile(contract), 'Get', `{"parts":[${book}],"byName":{"b":${book}}}`);
  const prefix = `xmlns:a="${arrays}"`;
  const inner = `<Labels ${prefix}><a:KeyValueOfstringstring><a:Key>k</a:Key><a:Value>v</a:Value></a:KeyValueOfstringstring></Labels><Names ${prefix}><a:string>n</a:string></Names>`;
  t.regex(
    xml,
    new RegExp(
      `<ByName><Entry><Key>b</Key><Value>${inner}</Value></Entry></ByName><Parts><Book>${inner}</Book></Parts>`,
    ),
  );
});

test('a bare value is written as its element’s content: absent for null, empty for an empty text', (t) => {
  const string = codecsOf(screening).codecOf(scalar('string'));
  t.is(writeOne(string, 'null'), null);
  t.is(writeOne(string, '""'), '');
  t.is(writeOne(string, '"a&"'), 'a&amp;');
  t.is(writeOne(codecsOf(screening).codecOf(scalar('int')), ' 7 '), '7');
  t.throws(() => writeOne(string, '"a" "b"'), { instanceOf: JsonError });
});
