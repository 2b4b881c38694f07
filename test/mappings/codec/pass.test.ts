import test from 'ava';
import { problemText, startReading } from '../../../mappings/codec/problem.ts';
import type { RouteValue } from '../../../mappings/compile.ts';
import type { CredentialValues } from '../../../mappings/http-mapping/call.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { compile, depot, operationOf, readJson, readXml, screening } from './contracts.ts';

const family = compile(screening);
const plain = compile(depot);

/** Returns credentials; the named ones are from headers. */
function credentials(
  all: Readonly<Record<string, string>>,
  ...fromHeaders: readonly string[]
): CredentialValues {
  return { all: new Map(Object.entries(all)), fromHeaders: new Set(fromHeaders) };
}

const inBody = credentials({ apiUserId: 'u', apiUserKey: 'k' });
const inHeaders = credentials({ apiUserId: 'u', apiUserKey: 'k"' }, 'apiUserId', 'apiUserKey');

/** Returns the upstream body for a JSON request. */
function sent(
  operation: string,
  text: string,
  values: CredentialValues = inBody,
  compiled = family,
): string | undefined {
  const { input } = readJson(compiled, operation, text);
  return operationOf(compiled, operation).request(input, values)?.body?.toString();
}

const auth = '"authentication":{"apiUserId":"u","apiUserKey":"k"}';

const untouched: Readonly<Record<string, readonly (readonly [operation: string, text: string])[]>> = {
  'W37: upstream gets the caller’s bytes when nothing has to change': [
    ['UpdateSubUser', `{"request":{"subUserName":"z","permissions":["a",null]},${auth}}`],
    ['GetSearch', `\n{ "request" :\t{ "id" : 42 ,\r\n"onlyShowUnresolvedResults":true } , ${auth} }\n`],
    ['GetSearch', `{"request":{"subUserName":"\\u007a\\/é\\ud83d\\ude00"},${auth}}`],
    ['GetSearch', `{"r\\u0065quest":{"id":1},${auth}}`],
    ['GetPdf', `{${auth},"request":{"id":9007199254740993}}`],
    ['RenewAllPepSearches', `{"request":{"renewalDate":"\\/Date(1717236000000+0100)\\/"},${auth}}`],
  ],
  'W37: null is passed on': [
    ['GetSearch', `{"request":null,${auth}}`],
    ['GetSearch', `{"request":{"id":null,"subUserName":null,"onlyShowUnresolvedResults":null},${auth}}`],
    ['RenewAllPepSearches', `{"request":{"renewalDate":null},${auth}}`],
    ['UpdateSubUser', `{"request":{"permissions":null,"subUserName":"z"},${auth}}`],
  ],
};

for (const [title, rows] of Object.entries(untouched)) {
  test(title, (t) => {
    for (const [operation, text] of rows) {
      t.deepEqual(readJson(family, operation, text).problems, []);
      t.is(sent(operation, text), text);
    }
  });
}

const replaced: Readonly<
  Record<string, readonly (readonly [operation: string, text: string, body: string])[]>
> = {
  'W37: of a name in another case only the name is replaced': [
    [
      'GetSearch',
      `{ "REQUEST" :{"ID" :1,"\\u0053ubUserName":"z"}, ${auth} }`,
      `{ "request" :{"id" :1,"subUserName":"z"}, ${auth} }`,
    ],
    ['GetSearch', `{"Request"\n:\n{"Id"\t:\t1},${auth}}`, `{"request"\n:\n{"id"\t:\t1},${auth}}`],
    [
      'GetSearch',
      '{"Authentication":{"ApiUserId":"u","apiuserkey":"k"}}',
      '{"authentication":{"apiUserId":"u","apiUserKey":"k"}}',
    ],
  ],
  'W37: a quoted number or boolean is replaced by the one it holds': [
    [
      'GetSearch',
      `{"request":{"id": "42" ,"onlyShowUnresolvedResults":"true"},${auth}}`,
      `{"request":{"id": 42 ,"onlyShowUnresolvedResults":true},${auth}}`,
    ],
    [
      'GetPdf',
      `{"request":{"id":"9007199254740993"},${auth}}`,
      `{"request":{"id":9007199254740993},${auth}}`,
    ],
  ],
  'W37: an ISO date is replaced by the specification’s form': [
    [
      'GetValidIds',
      `{"request":{"filterDateFrom":"2024-06-01T10:00:00","filterDateTo":"/Date(0)/","page":1},${auth}}`,
      `{"request":{"filterDateFrom":"/Date(1717236000000-0000)/","filterDateTo":"/Date(0)/","page":1},${auth}}`,
    ],
  ],
};

for (const [title, rows] of Object.entries(replaced)) {
  test(title, (t) => {
    for (const [operation, text, body] of rows) {
      t.deepEqual(readJson(family, operation, text).problems, []);
      t.is(sent(operation, text), body);
    }
  });
}

test('W37: credentials from headers replace null in the authentication object, or come last', (t) => {
  const added = '"apiUserId":"u","apiUserKey":"k\\""';
  const rows = [
    // an object: credentials from headers are added, and nothing else changes
    [
      '{"authentication":{"userId":"c"},"request":{"id":1}}',
      `{"authentication":{"userId":"c",${added}},"request":{"id":1}}`,
    ],
    ['{"authentication":{ } ,"request":{"id":1}}', `{"authentication":{ ${added}} ,"request":{"id":1}}`],
    ['{"AUTHENTICATION":{},"Request":{"ID":"1"}}', `{"authentication":{${added}},"request":{"id":1}}`],
    // empty and null values are replaced in place
    [
      '{"authentication":{"apiUserId":"","userId":"c", "apiUserKey" : null }}',
      '{"authentication":{"apiUserId":"u","userId":"c", "apiUserKey" : "k\\"" }}',
    ],
    ['{"authentication":{"APIUSERID":"" }}', '{"authentication":{"apiUserId":"u" ,"apiUserKey":"k\\""}}'],
    [
      '{"authentication":{"apiUser\\u0049d":""}}',
      '{"authentication":{"apiUser\\u0049d":"u","apiUserKey":"k\\""}}',
    ],
    // null
    ['{"authentication": null ,"request":{"id":1}}', `{"authentication": {${added}} ,"request":{"id":1}}`],
    ['{"Authentication":null}', `{"authentication":{${added}}}`],
    // absent
    ['{"request":{"id":1}}', `{"request":{"id":1},"authentication":{${added}}}`],
    ['{"request":{"id":1} }\n', `{"request":{"id":1} ,"authentication":{${added}}}\n`],
    ['{}', `{"authentication":{${added}}}`],
    [' { } ', ` { "authentication":{${added}}} `],
    ['', `{"authentication":{${added}}}`],
    [` ${'\n'.repeat(200)}`, `{"authentication":{${added}}}`],
  ] as const;
  for (const [text, body] of rows) t.is(sent('GetSearch', text, inHeaders), body, text);
});

test('W37: one credential from a header joins those of the body', (t) => {
  const values = credentials({ apiUserId: 'u', apiUserKey: 'k' }, 'apiUserKey');
  t.is(
    sent('GetSearch', '{"authentication":{"ApiUserId":"u"},"request":{"Id":1}}', values),
    '{"authentication":{"apiUserId":"u","apiUserKey":"k"},"request":{"id":1}}',
  );
});

test('W35: bodies have the inputs in the order of arrival, authentication last', (t) => {
  const body = (operation: string, xml: string, values = inBody) =>
    operationOf(family, operation).request(readXml(family, operation, xml).input, values)?.body;
  t.is(
    body(
      'GetSearch',
      '<Authentication><ApiUserId>x</ApiUserId></Authentication><Request><Id>1</Id></Request>',
    ),
    `{"request":{"id":1},${auth}}`,
  );
  t.is(body('AddClientTemplate', ''), `{${auth}}`);
  t.is(body('RenewAllPepSearches', '<Request/>'), `{"request":{},${auth}}`);
  t.is(body('RenewAllPepSearches', '<Request i:nil="true"/>'), `{${auth}}`);
  t.is(
    body('GetDbsSearch', '<SubUserName/><Id>5</Id>', inHeaders),
    '{"subUserName":"","id":5,"authentication":{"apiUserId":"u","apiUserKey":"k\\""}}',
  );
});

test('W35: the call is one POST to the operation’s path, without credential header and query', (t) => {
  const { input } = readJson(family, 'GetDbsSearch', `{"id":1,${auth}}`);
  const request = operationOf(family, 'GetDbsSearch').request(input, inHeaders);
  t.is(`${request?.method} ${request?.path}`, 'POST /json/reply/GetDbsSearch');
  t.deepEqual(request?.headers, { 'content-type': 'application/json', accept: 'application/json' });
});

test('W37: credentials of a JSON request are read by the contract’s names', (t) => {
  const given = (text: string) => readJson(family, 'GetSearch', text).credentials;
  t.deepEqual(given('{"Authentication":{"APIUSERID":"u", "apiUserKey":"k\\u00e9"}}'), {
    apiUserId: 'u',
    apiUserKey: 'ké',
  });
  t.deepEqual(given('{"authentication":{"apiUserKey":null,"userId":"c"}}'), { userId: 'c' });
  t.deepEqual(given('{"authentication":null}'), {});
  t.deepEqual(given('{}'), {});
});

test('escaped names of credentials are decoded, whatever names came before', (t) => {
  // V8 misreads this name after an object of the same shape with the other name (nodejs/node 63785)
  const given = (text: string) => readJson(family, 'GetSearch', text);
  t.is(given('{"authentication":{"apiUser\\\\":"u"}}').problems.length, 1);
  t.deepEqual(given('{"authentication":{"apiUser\\u0049d":"u"}}').credentials, { apiUserId: 'u' });
});

const refused: Readonly<
  Record<string, readonly (readonly [operation: string, text: string, problems: readonly string[]])[]>
> = {
  'W37: an unknown member is refused, saying where it belongs or what is near': [
    ['GetSearch', '{"id":1}', ['UnknownElement id: unknown member; id is a member of request']],
    [
      'GetSearch',
      '{"ApiUserId":"u"}',
      ['UnknownElement ApiUserId: unknown member; apiUserId is a member of authentication'],
    ],
    [
      'UpdateSubUser',
      '{"request":{"subUserNam":"z"}}',
      ['UnknownElement request.subUserNam: unknown member, did you mean subUserName?'],
    ],
    [
      'GetEulaStatus',
      '{"request":{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}}',
      [
        'UnknownElement request.__proto__: unknown member, expected subUserName',
        'UnknownElement request.constructor: unknown member, expected subUserName',
      ],
    ],
    [
      'GetEulaStatus',
      '{"x":[{"deep":1}]}',
      ['UnknownElement x: unknown member, expected authentication, request'],
    ],
  ],
  'W37: names fold by ASCII case alone': [
    // the Kelvin sign becomes k in lower case
    [
      'GetSearch',
      '{"authentication":{"apiUser\u212aey":"k"}}',
      ['UnknownElement authentication.apiUser\u212aey: unknown member, did you mean apiUserKey?'],
    ],
  ],
  'W37: a member given twice, after folding, is refused': [
    [
      'GetSearch',
      '{"request":{"id":1,"id":2}}',
      ['DuplicateElement request.id: expected the member once, got it again'],
    ],
    [
      'GetSearch',
      '{"request":{"id":1,"ID":2}}',
      ['DuplicateElement request.id: expected the member once, got it again'],
    ],
    [
      'GetSearch',
      '{"request":{"id":1,"\\u0069d":2}}',
      ['DuplicateElement request.id: expected the member once, got it again'],
    ],
    [
      'GetSearch',
      '{"request":null,"Request":{}}',
      ['DuplicateElement request: expected the member once, got it again'],
    ],
    [
      'GetSearch',
      '{"authentication":{"ApiUserId":"a","apiUserId":"b"}}',
      ['DuplicateElement authentication.apiUserId: expected the member once, got it again'],
    ],
  ],
  'W37: types are strict': [
    ['GetSearch', '{"request":[]}', ['InvalidType request: expected an object, got an array']],
    ['GetSearch', '{"request":"x"}', ['InvalidType request: expected an object, got a string']],
    [
      'GetSearch',
      '{"request":{"subUserName":5}}',
      ['InvalidType request.subUserName: expected a string, got a number'],
    ],
    ['GetSearch', '{"request":{"id":true}}', ['InvalidType request.id: expected xs:int, got a boolean']],
    ['GetSearch', '{"request":{"id":5.5}}', ['InvalidType request.id: expected xs:int, got "5.5"']],
    ['GetSearch', '{"request":{"id":""}}', ['InvalidType request.id: expected xs:int, got ""']],
    [
      'GetSearch',
      '{"request":{"onlyShowUnresolvedResults":1}}',
      ['InvalidType request.onlyShowUnresolvedResults: expected a boolean, got a number'],
    ],
    [
      'UpdateSubUser',
      '{"request":{"subUserName":"z","permissions":"jane"}}',
      ['InvalidType request.permissions: expected an array, got a string'],
    ],
    [
      'UpdateSubUser',
      '{"request":{"subUserName":"z","permissions":["a",5,{"x":1}]}}',
      [
        'InvalidType request.permissions[1]: expected a string, got a number',
        'InvalidType request.permissions[2]: expected a string, got an object',
      ],
    ],
  ],
  'W14, W15: ranges are checked without a double between': [
    [
      'GetSearch',
      '{"request":{"id":2147483648}}',
      ['OutOfRange request.id: expected xs:int from -2147483648 to 2147483647, got "2147483648"'],
    ],
    [
      'GetPdf',
      '{"request":{"id":9223372036854775808}}',
      [
        'OutOfRange request.id: expected xs:long from -9223372036854775808 to 9223372036854775807, got "9223372036854775808"',
      ],
    ],
  ],
  'W37: dates that are neither of W17’s forms nor ISO are refused': [
    [
      'RenewAllPepSearches',
      '{"request":{"renewalDate":"01/06/2024"}}',
      ['InvalidType request.renewalDate: expected xs:dateTime, got "01/06/2024"'],
    ],
    [
      'RenewAllPepSearches',
      '{"request":{"renewalDate":""}}',
      ['InvalidType request.renewalDate: expected xs:dateTime, got ""'],
    ],
  ],
  'W42: a state that CountIncompleteClients doesn’t take names the two that it takes': [
    [
      'CountIncompleteClients',
      '{"state":"Verified"}',
      ['InvalidEnum state: expected one of PendingCompletion, PendingVerification, got "Verified"'],
    ],
  ],
  'W37: no value of a credential is in a message': [
    [
      'GetSearch',
      '{"authentication":{"apiUserKey":123456789}}',
      ['InvalidType authentication.apiUserKey: expected a string, got a number'],
    ],
    [
      'GetSearch',
      '{"authentication":"k-123456789"}',
      ['InvalidType authentication: expected an object, got a string'],
    ],
  ],
};

for (const [title, rows] of Object.entries(refused)) {
  test(title, (t) => {
    for (const [operation, text, problems] of rows)
      t.deepEqual(readJson(family, operation, text).problems, problems, text);
  });
}

test('W37: the error for a request that is not one JSON object has the position', (t) => {
  const rows = [
    ['[]', 'position 0: expected one JSON object, got U+005B'],
    [' "x"', 'position 1: expected one JSON object, got U+0022'],
    ['null', 'position 0: expected one JSON object, got U+006E'],
    ['<GetSearch/>', 'position 0: expected one JSON object, got U+003C'],
    ['{"request":{"id":1}', 'position 19: expected "," or "}", got the end'],
    ['{"request":{"id":01}}', 'position 18: expected "," or "}", got U+0031'],
    ['{"request":{}}}', 'position 14: expected nothing more, got U+007D'],
    ['{"unknown":tru}', 'position 11: expected a value, got U+0074'],
    ['\u00a0', 'position 0: expected one JSON object, got U+00A0'],
    [`{"x":${'['.repeat(100_000)}`, 'position 68: nesting deeper than 64'],
  ] as const;
  for (const [text, message] of rows) {
    t.throws(
      () => readJson(family, 'GetSearch', text),
      { instanceOf: JsonError, message },
      text.slice(0, 40),
    );
  }
});

test('W43: at most 20 errors are reported', (t) => {
  const text = `{${Array.from({ length: 30 }, (_, index) => `"x${index}":1`).join(',')}}`;
  t.is(readJson(family, 'GetSearch', text).problems.length, 20);
});

test('W42: required members that are absent, null or empty are missing, each by its path', (t) => {
  const missing = (operation: string, text: string) =>
    readJson(family, operation, text).missing.filter((field) => !field.startsWith('authentication'));
  for (const text of [
    '',
    '{}',
    '{"request":null}',
    '{"request":{}}',
    '{"request":{"subUserName":null}}',
    '{"request":{"subUserName":""}}',
    '{"Request":{"SUBUSERNAME":""}}',
  ])
    t.deepEqual(missing('UpdateSubUser', text), ['request.subUserName'], text);
  t.deepEqual(missing('UpdateSubUser', '{"request":{"subUserName":" "}}'), []);
  t.deepEqual(missing('GetDbsSearch', '{"id":null}'), ['id']);
  t.deepEqual(missing('DeleteClient', '{}'), ['id']);
  t.deepEqual(missing('DeleteClient', '{"id":0}'), []);
});

test('W12: unknownElements: ignore drops an unknown JSON member like an element, logged by name', (t) => {
  const lenient = compile(screening, { unknownElements: 'ignore' });
  const text = `{"x":{"secret":1},"request":{"subUsername2":1,"id":"1"},${auth}}`;
  const read = readJson(lenient, 'GetSearch', text);
  t.deepEqual([read.problems, read.ignored], [[], ['x', 'subUsername2']]);
  t.is(sent('GetSearch', text, inBody, lenient), `{"request":{"id":1},${auth}}`);
});

for (const [text, becomes] of [
  ['{"x":1}', `{${auth.replace('k"', 'k\\""')}}`],
  ['{ "x" : [1] , "y" : 2 }', `{  ${auth.replace('k"', 'k\\""')}}`],
  [
    '{"x":1, "Request":{"y":1 , "Id":"2","z":1, "y":3},"w":4}',
    `{"request":{"id":2},${auth.replace('k"', 'k\\""')}}`,
  ],
  ['{"request":{"y":1,"z":2},"authentication":{"x":1}}', `{"request":{},${auth.replace('k"', 'k\\""')}}`],
  [
    '{"authentication":{"x":1,"apiUserId":"", "y":2},"x":1}',
    '{"authentication":{"apiUserId":"u","apiUserKey":"k\\""}}',
  ],
] as const)
  test(`W12: unknownElements: ignore sends ${text} without unknown members`, (t) => {
    t.is(sent('GetSearch', text, inHeaders, compile(screening, { unknownElements: 'ignore' })), becomes);
  });

test('W12: unknownElements: ignore drops unknown members next to those sent in other places', (t) => {
  const lenient = compile(depot, { unknownElements: 'ignore' });
  const [operation] = [...lenient.operations.values()].filter(({ operation: { input } }) =>
    input.fields.some(({ json }) => json === 'Body'),
  );
  const name = operation?.operation.name ?? '';
  for (const text of ['{"x":1,"Body":{"y":1}}', '{"Body":{"y":1},"x":1}'])
    t.is(sent(name, text, undefined, lenient), '{}');
});

test('W12: with unknownElements: ignore a name similar to a credential’s is unknown', (t) => {
  const lenient = compile(screening, { unknownElements: 'ignore' });
  t.is(
    sent(
      'GetSearch',
      '{"authentication":{"apiUser\u212aey":""}}',
      credentials({ apiUserKey: 'k' }, 'apiUserKey'),
      lenient,
    ),
    '{"authentication":{"apiUserKey":"k"}}',
  );
});

// --- parameters ----------------------------------------------------------------------------------

function parameters(operation: string, values: readonly RouteValue[], compiled = family) {
  const input = operationOf(compiled, operation).readParameters(values, startReading(20));
  const { problems, missing } = input.reading;
  return {
    input,
    text: input.text,
    problems: problems.map((problem) => `${problem.code} ${problem.path} ${problemText(problem)}`),
    missing: missing.map((problem) => `${problem.path} ${problemText(problem)}`),
  };
}

const id = (text: string): RouteValue => ({ field: 'id', shownName: 'id', text });

test('W38: values of a route’s parameters follow W14', (t) => {
  const rows = [
    ['5', '{"id":5}'],
    ['+05', '{"id":5}'],
    [' 5 ', '{"id":5}'],
    ['-1', '{"id":-1}'],
    ['0', '{"id":0}'],
  ] as const;
  for (const [text, body] of rows) {
    const read = parameters('GetDbsSearch', [id(text)]);
    t.deepEqual([read.text, read.problems, read.missing], [body, [], []], text);
  }
});

test('W38: the error for a wrong value has the name that the caller used', (t) => {
  t.deepEqual(parameters('GetDbsSearch', [id('7.5')]).problems, [
    'InvalidType id id: expected xs:int, got "7.5"',
  ]);
  t.deepEqual(parameters('DeleteClient', [id('2147483648')]).problems, [
    'OutOfRange id id: expected xs:int from -2147483648 to 2147483647, got "2147483648"',
  ]);
  t.deepEqual(parameters('GetDbsSearch', [id(' ')]).problems, [
    'NotEmpty id id: expected xs:int, got nothing',
  ]);
  const state = { field: 'state', shownName: 'STATE', text: 'Sent' };
  t.deepEqual(parameters('GetParcel', [{ ...id('a'), field: 'id' }, state], plain).problems, [
    'InvalidEnum STATE STATE: expected one of sent, under way, <lost & "gone">, got "Sent"',
  ]);
});

test('W38: an empty query parameter of a string is the empty string; others keep blanks', (t) => {
  const named = (text: string) =>
    parameters('GetDbsSearch', [id('5'), { field: 'subUserName', shownName: 'SubUserName', text }]);
  t.is(named('').text, '{"id":5,"subUserName":""}');
  t.is(named(' a"b ').text, '{"id":5,"subUserName":" a\\"b "}');
});

test('W38: a missing required parameter is reported by its JSON name', (t) => {
  t.deepEqual(parameters('GetDbsSearch', []).missing, ['id id must not be empty']);
  t.deepEqual(parameters('AddClientTemplate', []).missing, []);
  const notEmpty = compile({
    ...screening,
    operations: screening.operations.map((operation) => ({
      ...operation,
      input: {
        ...operation.input,
        fields: operation.input.fields.map((field) =>
          field.json === 'subUserName' ? { ...field, required: true, notEmpty: true } : field,
        ),
      },
    })),
  });
  const given = [id('1'), { field: 'subUserName', shownName: 'SUBUSERNAME', text: '' }];
  t.deepEqual(parameters('GetDbsSearch', given, notEmpty).missing, [
    'SUBUSERNAME SUBUSERNAME must not be empty',
  ]);
});

test('W35: a body from parameters gets the credentials last', (t) => {
  const { input } = parameters('GetDbsSearch', [id('5')]);
  t.is(
    operationOf(family, 'GetDbsSearch').request(input, inHeaders)?.body,
    '{"id":5,"authentication":{"apiUserId":"u","apiUserKey":"k\\""}}',
  );
});

// --- operations with parameters ------------------------------------------------------------------

const token = credentials({ token: 't-1' }, 'token');

test('inputs for path, query and headers of the upstream are sent there, encoded', (t) => {
  const { input } = readXml(
    plain,
    'GetParcel',
    '<most>5</most><X_Trace>a b</X_Trace><id>a/b {most} é&amp;</id><state>under way</state><since>2024-06-01T10:00:00Z</since>',
  );
  const request = operationOf(plain, 'GetParcel').request(input, token);
  t.is(
    request?.path,
    '/parcels/a%2Fb%20%7Bmost%7D%20%C3%A9%26?since=2024-06-01T10%3A00%3A00Z&state=under%20way&most=5',
  );
  t.is(request?.method, 'GET');
  t.is(request?.body, undefined);
  t.deepEqual(request?.headers, { accept: 'application/json', 'x-trace': 'a b', 'x-token': 't-1' });
});

test('inputs of a JSON request are sent there too: quoted numbers as numbers, null as absent', (t) => {
  const { input } = readJson(plain, 'GetParcel', '{"ID":"x","most":"5","since":null,"X-Trace":null}');
  const request = operationOf(plain, 'GetParcel').request(input, token);
  t.is(request?.path, '/parcels/x?most=5');
  t.deepEqual(request?.headers, { accept: 'application/json', 'x-token': 't-1' });
});

test('values with dots, percent signs and line breaks are sent without a change of the path', (t) => {
  for (const [text, path] of [
    ['{"id":"..."}', '/parcels/...'],
    ['{"id":"a..b"}', '/parcels/a..b'],
    ['{"id":".a/b."}', '/parcels/.a%2Fb.'],
    ['{"id":"%2e%2e"}', '/parcels/%252e%252e'],
  ] as const) {
    const { input } = readJson(plain, 'GetParcel', text);
    t.is(operationOf(plain, 'GetParcel').request(input, token)?.path, path);
  }
});

test('refuses a value that its place cannot represent, and makes no call', (t) => {
  const rows = [
    ['{"id":"."}', 'InvalidCharacter id: expected a value for the path, got dots'],
    ['{"id":".."}', 'InvalidCharacter id: expected a value for the path, got dots'],
    ['{"id":"../a"}', 'InvalidCharacter id: expected a value for the path, got dots'],
    ['{"id":"a\\\\.."}', 'InvalidCharacter id: expected a value for the path, got dots'],
    ['{"id":"..;a"}', 'InvalidCharacter id: expected a value for the path, got dots'],
    [
      '{"id":"a\\u0000"}',
      'InvalidCharacter id: expected no control characters for the path, got control characters',
    ],
    [
      '{"id":"\\n"}',
      'InvalidCharacter id: expected no control characters for the path, got control characters',
    ],
    [
      '{"id":"\\u0085"}',
      'InvalidCharacter id: expected no control characters for the path, got control characters',
    ],
    ['{"id":"a\\ud800"}', 'InvalidCharacter id: expected whole characters, got half of a character'],
    ['{"id":"\\udc00\\ud800"}', 'InvalidCharacter id: expected whole characters, got half of a character'],
    ['{"id":""}', 'NotEmpty id: expected a value for the path, got none'],
    ['{}', 'NotEmpty id: expected a value for the path, got none'],
    [
      '{"id":"x","X-Trace":"a\\r\\nb"}',
      'InvalidCharacter X-Trace: expected printable ASCII for a header, got other characters',
    ],
    [
      '{"id":"x","X-Trace":"é"}',
      'InvalidCharacter X-Trace: expected printable ASCII for a header, got other characters',
    ],
    [
      '{"id":"x","X-Trace":" "}',
      'InvalidCharacter X-Trace: expected printable ASCII for a header, got other characters',
    ],
  ] as const;
  for (const [text, problem] of rows) {
    const { input } = readJson(plain, 'GetParcel', text);
    t.is(operationOf(plain, 'GetParcel').request(input, token), undefined, text);
    t.deepEqual(
      input.reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`),
      [problem],
      text,
    );
  }
});

test('an input that is the whole body is sent as that body', (t) => {
  const sendParcel = operationOf(plain, 'SendParcel');
  const fromXml = readXml(plain, 'SendParcel', '<Body><name>x</name><weight>1.50</weight></Body>').input;
  t.is(sendParcel.request(fromXml, token)?.body, '{"name":"x","weight":1.50}');
  const fromJson = readJson(plain, 'SendParcel', '{"body": {"NAME":"x", "weight":"1.50"} }').input;
  t.is(sendParcel.request(fromJson, token)?.body, '{"name":"x", "weight":1.50}');
  t.is(sendParcel.request(fromJson, token)?.headers['content-type'], 'application/json');
});

test('a member sent in another place is not in the JSON body, nor are header credentials', (t) => {
  const moved = compile({
    ...screening,
    operations: screening.operations.map((operation) =>
      operation.name === 'GetDbsSearch'
        ? {
            ...operation,
            upstream: {
              ...operation.upstream,
              path: '/dbs/{id}',
              parameters: [
                {
                  field: 'id',
                  in: 'path',
                  name: 'id',
                  style: 'simple',
                  explode: false,
                  allowReserved: false,
                  spansSegments: false,
                  deepLists: 'numbered',
                } as const,
              ],
            },
          }
        : operation,
    ),
  });
  const call = (text: string, values: CredentialValues, compiled = moved) => {
    const request = operationOf(compiled, 'GetDbsSearch').request(
      readJson(compiled, 'GetDbsSearch', text).input,
      values,
    );
    return [request?.path, request?.body];
  };
  t.deepEqual(call(`{"ID":"5" , "SubUserName" : "z", ${auth}}`, inBody), [
    '/dbs/5',
    `{"subUserName" : "z",${auth}}`,
  ]);
  t.deepEqual(call('{"id":5}', inHeaders), [
    '/dbs/5',
    '{"authentication":{"apiUserId":"u","apiUserKey":"k\\""}}',
  ]);
  const headers = compile({
    ...screening,
    credentials:
      screening.credentials === undefined ? undefined : { ...screening.credentials, send: 'headers' },
  });
  t.deepEqual(call(`{"id":5,${auth},"subUserName":"z"}`, inBody, headers), [
    '/json/reply/GetDbsSearch',
    '{"id":5,"subUserName":"z"}',
  ]);
});
