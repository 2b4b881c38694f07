import test from 'ava';
import { problemText } from '../../../mappings/codec/problem.ts';
import type { CompiledContract } from '../../../mappings/compile.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { load } from '../../plain/documents.ts';
import { compile, depot, readXml, readXmlText, screening } from './contracts.ts';

const family = compile(screening);
const plain = compile(depot);
const types = screening.namespaces.types;
const arrays = screening.namespaces.arrays;

/** Content of a request wrapper, and the expected body. */
const accepted: Readonly<
  Record<string, readonly (readonly [operation: string, xml: string, json: unknown])[]>
> = {
  'W11: elements may come in any order': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>zoe</SubUserName><Permissions><a:string>jane</a:string></Permissions></Request>',
      { request: { subUserName: 'zoe', permissions: ['jane'] } },
    ],
    [
      'CountIncompleteClients',
      '<State>PendingCompletion</State><DaysIncomplete>7</DaysIncomplete><IsValidateMe>1</IsValidateMe>',
      { state: 'PendingCompletion', daysIncomplete: 7, isValidateMe: true },
    ],
  ],
  'W11: an element may be in its own namespace or in none, by any prefix': [
    [
      'GetSearch',
      `<t:Request xmlns:t="${types}"><Id xmlns="">1</Id><t:SubUserName>x</t:SubUserName></t:Request>`,
      { request: { id: 1, subUserName: 'x' } },
    ],
  ],
  'W11: an array item may be in the types namespace, the arrays namespace or none': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><a:string>1</a:string><string>2</string><string xmlns="">3</string></Permissions></Request>',
      { request: { subUserName: 'z', permissions: ['1', '2', '3'] } },
    ],
  ],
  'W11: comments, unused declarations and attributes outside xsi are ignored': [
    [
      'GetSearch',
      '<!-- a --><Request xmlns:u="urn:u" u:x="1" id="ref-1" xml:space="preserve" e:encodingStyle="urn:e" xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><!-- b --><Id i:type="i:int">4<!-- c -->2</Id></Request>',
      { request: { id: 42 } },
    ],
  ],
  'W13: an absent element is an absent member': [
    ['GetSearch', '<Request><Id>1</Id></Request>', { request: { id: 1 } }],
    ['RenewAllPepSearches', '', {}],
  ],
  'W13: an empty element is "", [] or {}': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions/></Request>',
      { request: { subUserName: 'z', permissions: [] } },
    ],
    ['GetSearch', '<Request><SubUserName></SubUserName></Request>', { request: { subUserName: '' } }],
    ['RenewAllPepSearches', '<Request/>', { request: {} }],
    ['GetDbsSearch', '<Id>1</Id><SubUserName/>', { id: 1, subUserName: '' }],
  ],
  'W13: nil is null for a string and an array': [
    [
      'UpdateSubUser',
      '<Request><SubUserName i:nil="true"/><Permissions i:nil="1"/></Request>',
      { request: { subUserName: null, permissions: null } },
    ],
    ['GetDbsSearch', '<Id>1</Id><SubUserName i:nil=" true "></SubUserName>', { id: 1, subUserName: null }],
  ],
  'W13: nil is as absent for a number, boolean, date and enum': [
    [
      'CountIncompleteClients',
      '<DaysIncomplete i:nil="true"/><IsValidateMe i:nil="true"/><State i:nil="true"/>',
      {},
    ],
    ['RenewAllPepSearches', '<Request><RenewalDate i:nil="true"/></Request>', { request: {} }],
    ['GetPdf', '<Request><Id i:nil="true"/></Request>', { request: {} }],
  ],
  'W13: a nil Request and a nil Authentication are as absent': [
    ['RenewAllPepSearches', '<Authentication i:nil="true"/><Request i:nil="true"/>', {}],
    ['GetEulaStatus', '<Request i:nil="true">\n</Request>', {}],
  ],
  'W13: nil="false" says nothing': [
    ['GetPdf', '<Request i:nil="false"><Id i:nil="0">1</Id></Request>', { request: { id: 1 } }],
  ],
  'W13: nil of another namespace or of none says nothing': [
    ['GetDbsSearch', '<Id nil="true">1</Id>', { id: 1 }],
    ['GetDbsSearch', '<Id x:nil="true" xmlns:x="urn:x">1</Id>', { id: 1 }],
  ],
  'W13: a nil array item is null for strings': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><a:string i:nil="true"/><a:string/><a:string i:nil="true"/></Permissions></Request>',
      { request: { subUserName: 'z', permissions: [null, '', null] } },
    ],
  ],
  'W13: an array whose only item is nil is as absent': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><a:string i:nil="true"/></Permissions></Request>',
      { request: { subUserName: 'z' } },
    ],
  ],
  'W14: strings keep every character, other values collapse their blanks': [
    [
      'GetSearch',
      '<Request><Id> 42\n</Id><SubUserName>  x\t</SubUserName></Request>',
      { request: { id: 42, subUserName: '  x\t' } },
    ],
  ],
  'W16: dates are wired in': [
    [
      'GetValidIds',
      '<Request><FilterDateFrom>2024-06-01T10:00:00</FilterDateFrom><FilterDateTo>2024-06-01T10:00:00+01:00</FilterDateTo></Request>',
      {
        request: {
          filterDateFrom: '/Date(1717236000000-0000)/',
          filterDateTo: '/Date(1717232400000-0000)/',
        },
      },
    ],
  ],
  'blanks between elements are nothing': [
    ['GetSearch', '\n  <Request>\r\n\t<Id>1</Id>\n </Request>\n', { request: { id: 1 } }],
  ],
};

for (const [title, rows] of Object.entries(accepted)) {
  test(title, (t) => {
    for (const [operation, xml, json] of rows) {
      const read = readXml(family, operation, xml);
      t.deepEqual(read.problems, [], xml);
      t.deepEqual(read.json, json, xml);
    }
  });
}

test('W15: requests keep all digits', (t) => {
  t.is(
    readXml(family, 'GetPdf', '<Request><Id>9007199254740993</Id></Request>').text,
    '{"request":{"id":9007199254740993}}',
  );
  t.is(
    readXml(plain, 'SendParcel', '<Body><weight>12345678901234567890.120</weight></Body>').input.reading
      .slots[1],
    '{"weight":12345678901234567890.120}',
  );
});

test('W35: inputs keep their order', (t) => {
  const xml = '<Request><Page>2</Page><NameSearch>b</NameSearch><FilterType>a</FilterType></Request>';
  t.is(readXml(family, 'GetValidIds', xml).text, '{"request":{"page":2,"nameSearch":"b","filterType":"a"}}');
});

/** Content of a request wrapper, and the expected problems. */
const refused: Readonly<
  Record<string, readonly (readonly [operation: string, xml: string, problems: readonly string[]])[]>
> = {
  'W12: an unknown element is refused with the nearest name': [
    [
      'UpdateSubUser',
      '<Request><SubUsername>x</SubUsername></Request>',
      ['UnknownElement Request.SubUsername: unknown element, did you mean SubUserName?'],
    ],
    [
      'GetSearch',
      '<request><Id>1</Id></request>',
      ['UnknownElement request: unknown element, did you mean Request?'],
    ],
    [
      'GetEulaStatus',
      '<Request><__proto__><polluted>1</polluted></__proto__></Request>',
      ['UnknownElement Request.__proto__: unknown element, expected SubUserName'],
    ],
    [
      'GetEulaStatus',
      '<Request><constructor><prototype/></constructor></Request>',
      ['UnknownElement Request.constructor: unknown element, expected SubUserName'],
    ],
  ],
  'W12: an element of another record is told where it belongs': [
    ['GetSearch', '<Id>1</Id>', ['UnknownElement Id: unknown element; Id is a member of Request']],
    [
      'GetSearch',
      '<apiuserid>1</apiuserid>',
      ['UnknownElement apiuserid: unknown element; ApiUserId is a member of Authentication'],
    ],
  ],
  'W12: a known name of another namespace is unknown': [
    [
      'GetSearch',
      '<Request xmlns="urn:other"/>',
      [`UnknownElement Request: expected it in namespace "${types}", got "urn:other"`],
    ],
    [
      'GetSearch',
      '<Request><a:Id>1</a:Id></Request>',
      [`UnknownElement Request.Id: expected it in namespace "${types}", got "${arrays.slice(0, 32)}…"`],
    ],
  ],
  'W12: another element than the item in an array is refused with its position': [
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><a:string>x</a:string><a:String>y</a:String></Permissions></Request>',
      ['UnknownElement Request.Permissions[1]: expected <string>, got <String>'],
    ],
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><string xmlns="urn:x">y</string></Permissions></Request>',
      ['UnknownElement Request.Permissions[0]: expected <string>, got <string>'],
    ],
  ],
  'W12: a repeated element that isn’t an array item is refused': [
    [
      'GetSearch',
      '<Request><Id>1</Id><Id>1</Id></Request>',
      ['DuplicateElement Request.Id: expected the element once, got it again'],
    ],
    [
      'GetSearch',
      '<Request><Id i:nil="true"/><Id>1</Id></Request>',
      ['DuplicateElement Request.Id: expected the element once, got it again'],
    ],
    [
      'GetSearch',
      `<Request/><t:Request xmlns:t="${types}"/>`,
      ['DuplicateElement Request: expected the element once, got it again'],
    ],
  ],
  'W13: an empty number, boolean, date or enum is refused, with what node-soap does': [
    [
      'RenewAllPepSearches',
      '<Request><RenewalDate/></Request>',
      [
        'NotEmpty Request.RenewalDate: expected xs:dateTime, got an empty element; leave the element out where no value is meant (node-soap writes a JavaScript Date like this: pass it as an ISO string)',
      ],
    ],
  ],
  'W13: content together with nil is refused': [
    [
      'GetDbsSearch',
      '<Id>1</Id><SubUserName i:nil="true">x</SubUserName>',
      ['InvalidType SubUserName: expected no content in an element with xsi:nil'],
    ],
    [
      'GetSearch',
      '<Request i:nil="true"><Id>1</Id></Request>',
      ['InvalidType Request: expected no content in an element with xsi:nil'],
    ],
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions><a:string>y</a:string><a:string i:nil="1">x</a:string></Permissions></Request>',
      ['InvalidType Request.Permissions[1]: expected no content in an element with xsi:nil'],
    ],
  ],
  'W13: xsi:nil is a boolean': [
    [
      'GetDbsSearch',
      '<Id>1</Id><SubUserName i:nil="yes">x</SubUserName>',
      ['InvalidType SubUserName: expected true, false, 1 or 0 in xsi:nil, got another value'],
    ],
    [
      'GetSearch',
      '<Request i:nil="TRUE"/>',
      ['InvalidType Request: expected true, false, 1 or 0 in xsi:nil, got another value'],
    ],
  ],
  'W14: values are refused by type and range, with path and value': [
    [
      'GetSearch',
      '<Request><Id>2147483648</Id><OnlyShowUnresolvedResults>yes</OnlyShowUnresolvedResults></Request>',
      [
        'OutOfRange Request.Id: expected xs:int from -2147483648 to 2147483647, got "2147483648"',
        'InvalidType Request.OnlyShowUnresolvedResults: expected xs:boolean, got "yes"',
      ],
    ],
    [
      'RenewAllPepSearches',
      '<Request><RenewalDate>01/06/2024</RenewalDate></Request>',
      ['InvalidType Request.RenewalDate: expected xs:dateTime, got "01/06/2024"'],
    ],
  ],
  'W42: a state that CountIncompleteClients doesn’t take names the two that it takes': [
    [
      'CountIncompleteClients',
      '<State>Verified</State>',
      ['InvalidEnum State: expected one of PendingCompletion, PendingVerification, got "Verified"'],
    ],
    [
      'CountIncompleteClients',
      '<State>pendingCompletion</State>',
      ['InvalidEnum State: expected one of PendingCompletion, PendingVerification, got "pendingCompletion"'],
    ],
  ],
  'W29: content where none belongs is refused': [
    ['GetSearch', '<Request>text<Id>1</Id></Request>', ['InvalidType Request: expected elements, got text']],
    [
      'GetSearch',
      '<Request><Id><b>1</b></Id></Request>',
      ['InvalidType Request.Id: expected xs:int, got elements'],
    ],
    [
      'GetDbsSearch',
      '<Id>1</Id><SubUserName>x<b/>y</SubUserName>',
      ['InvalidType SubUserName: expected xs:string, got elements'],
    ],
    [
      'UpdateSubUser',
      '<Request><SubUserName>z</SubUserName><Permissions>jane</Permissions></Request>',
      ['InvalidType Request.Permissions: expected elements, got text'],
    ],
    ['AddClientTemplate', 'text', ['InvalidType expected elements, got text']],
  ],
};

for (const [title, rows] of Object.entries(refused)) {
  test(title, (t) => {
    for (const [operation, xml, problems] of rows) {
      t.deepEqual(readXml(family, operation, xml).problems, problems, xml);
    }
  });
}

const encodings =
  'xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xmlns:f="http://www.w3.org/2003/05/soap-encoding" xmlns:z="http://schemas.microsoft.com/2003/10/Serialization/"';
const elsewhere = 'document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)';

for (const attribute of [
  'href="#id1"',
  'e:arrayType="a:string[1000000000]"',
  'f:itemType="a:string"',
  'f:ref="id1"',
  'z:Ref="i1"',
]) {
  test(`W11: refuses ${attribute} in any position`, (t) => {
    const name = '<SubUserName>z</SubUserName>';
    const at = (xml: string) => readXml(family, 'UpdateSubUser', xml, ` ${encodings}`).problems;
    t.deepEqual(at(`<Request ${attribute}/>`), [`InvalidType Request: ${elsewhere}`]);
    t.deepEqual(
      at(`<Request>${name}<Permissions ${attribute}><a:string>x</a:string></Permissions></Request>`),
      [`InvalidType Request.Permissions: ${elsewhere}`],
    );
    t.deepEqual(at(`<Request>${name}<Permissions><a:string ${attribute}/></Permissions></Request>`), [
      `InvalidType Request.Permissions[0]: ${elsewhere}`,
    ]);
    t.deepEqual(at(`<Request><SubUserName ${attribute}>z</SubUserName></Request>`), [
      `InvalidType Request.SubUserName: ${elsewhere}`,
    ]);
    const wrapper = readXml(family, 'UpdateSubUser', '', ` ${encodings} ${attribute}`);
    t.deepEqual(wrapper.problems, [`InvalidType ${elsewhere}`]);
  });
}

for (const [element, name] of [
  ['<multiRef/>', 'multiRef'],
  ['<multiRef xmlns="">a</multiRef>', 'multiRef'],
  ['<e:string>a</e:string>', 'string'],
  ['<f:Array><a/></f:Array>', 'Array'],
  [`<e:${'l'.repeat(64)}/>`, 'l'.repeat(64)],
  [`<e:${'l'.repeat(65)}/>`, 'l'.repeat(64)],
] as const)
  test(`W11: ${element.length > 40 ? `a name of ${element.length - 5} letters` : element} among members is SOAP encoding, or an unknown element`, (t) => {
    const lenient = compile(screening, { unknownElements: 'ignore' });
    for (const permissions of ['', `${element}<a:string>x</a:string>`]) {
      const request = `<Request>${permissions === '' ? element : ''}<Permissions>${permissions}</Permissions><SubUserName>z</SubUserName></Request>`;
      const told = readXml(family, 'UpdateSubUser', request, ` ${encodings}`).problems;
      t.deepEqual(
        told.map((problem) => problem.replace(/^UnknownElement Request[.\w[\]]*: /, '')),
        [`document/literal expected, got SOAP encoding (<${name}>)`],
      );
      const { problems, ignored, json } = readXml(lenient, 'UpdateSubUser', request, ` ${encodings}`);
      t.deepEqual(problems, []);
      t.deepEqual(ignored, [/<(?:\w:)?(\w+)/.exec(element)?.[1]]);
      t.deepEqual(json, {
        request: { permissions: permissions === '' ? [] : ['x'], subUserName: 'z' },
      });
    }
  });

test('attributes of a wrapper or an entry that do not affect its content are ignored', (t) => {
  for (const attribute of ['a="b"', 'i:nil="false"', 'i:nil="0" i:type="x"']) {
    const wrapper = readXml(family, 'GetDbsSearch', '<Id>1</Id>', ` ${attribute}`);
    t.deepEqual([wrapper.json, wrapper.problems], [{ id: 1 }, []]);
    const entry = `<Body><name>n</name><labels><Entry ${attribute}><Key>k</Key><Value>v</Value></Entry></labels></Body>`;
    const { input, problems } = readXml(plain, 'SendParcel', entry);
    t.deepEqual([input.reading.slots.at(-1), problems], ['{"name":"n","labels":{"k":"v"}}', []]);
  }
});

test('W13: a wrapper of inputs cannot be nil, one with only credentials can', (t) => {
  t.deepEqual(readXml(family, 'UpdateSubUser', '', ' i:nil="true"').problems, [
    'InvalidType expected elements, got xsi:nil',
  ]);
  const { problems, input } = readXml(family, 'AddClientTemplate', '', ' i:nil="true"');
  t.deepEqual([problems, [...(input.reading.deviations ?? [])]], [[], ['nilOperation']]);
});

test('W11: text typed as base64 by xsi:type is decoded, in array items and credentials too', (t) => {
  const attribute = `xmlns:x="http://www.w3.org/2001/XMLSchema" i:type="x:base64Binary"`;
  const read = readXml(
    family,
    'UpdateSubUser',
    `<Authentication><ApiUserKey ${attribute}>a8Op</ApiUserKey></Authentication><Request><SubUserName ${attribute}>Wm/Dqw==</SubUserName><Permissions><a:string ${attribute}>w6k=</a:string><a:string ${attribute}>é</a:string></Permissions></Request>`,
  );
  t.deepEqual(read.problems, [
    'InvalidType Request.Permissions[1]: expected the base64 of UTF-8 text, as its xsi:type says, got other text',
  ]);
  t.is(read.text, '{"request":{"subUserName":"Zoë","permissions":["é"]}}');
  t.deepEqual(read.credentials, { apiUserKey: 'ké' });
});

test('W24: Authentication is read apart from the body, in any order, without invented values', (t) => {
  const xml =
    '<Request><SubUserName>z</SubUserName></Request><Authentication><UserId>c</UserId><ApiUserKey> k </ApiUserKey><ApiUserId>u</ApiUserId></Authentication>';
  const read = readXml(family, 'UpdateSubUser', xml);
  t.deepEqual(read.problems, []);
  t.deepEqual(read.credentials, { userId: 'c', apiUserKey: ' k ', apiUserId: 'u' });
  t.is(read.text, '{"request":{"subUserName":"z"}}');
  for (const none of ['', '<Authentication i:nil="true"/>', '<Authentication/>'])
    t.deepEqual(readXml(family, 'GetSearch', none).credentials, {});
  t.deepEqual(
    readXml(family, 'GetSearch', '<Authentication><ApiUserId i:nil="true"/><ApiUserKey/></Authentication>')
      .credentials,
    { apiUserKey: '' },
  );
});

test('W24: refuses repeated credentials', (t) => {
  t.deepEqual(
    readXml(family, 'GetSearch', '<Authentication/><Authentication><ApiUserId>x</ApiUserId></Authentication>')
      .problems,
    ['DuplicateElement Authentication: expected the element once, got it again'],
  );
});

test('W42: required members that are absent, nil or empty are missing, each by its path', (t) => {
  const missing = (operation: string, xml: string) =>
    readXml(family, operation, xml).missing.filter((field) => !field.startsWith('Authentication'));
  t.deepEqual(missing('UpdateSubUser', ''), ['Request.SubUserName']);
  t.deepEqual(missing('UpdateSubUser', '<Request i:nil="true"/>'), ['Request.SubUserName']);
  t.deepEqual(missing('UpdateSubUser', '<Request/>'), ['Request.SubUserName']);
  t.deepEqual(missing('UpdateSubUser', '<Request><SubUserName i:nil="true"/></Request>'), [
    'Request.SubUserName',
  ]);
  t.deepEqual(missing('UpdateSubUser', '<Request><SubUserName/></Request>'), ['Request.SubUserName']);
  t.deepEqual(missing('UpdateSubUser', '<Request><SubUserName> </SubUserName></Request>'), []);
  t.deepEqual(missing('GetDbsSearch', ''), ['Id']);
  t.deepEqual(missing('GetDbsSearch', '<Id i:nil="true"/>'), ['Id']);
  t.deepEqual(missing('DeleteClient', ''), ['Id']);
  t.deepEqual(missing('DeleteClient', '<Id>0</Id>'), []);
  t.deepEqual(missing('GetSearch', '<Request/>'), []);
  t.deepEqual(missing('GetPdf', ''), []);
  t.deepEqual(missing('CountIncompleteClients', ''), []);
});

test('W43: at most 20 errors are reported, in the order of the problems', (t) => {
  const items = Array.from({ length: 30 }, (_, index) => `<x${index}/>`).join('');
  const read = readXml(family, 'GetSearch', items);
  t.is(read.problems.length, 20);
  t.regex(read.problems[0] ?? '', /^UnknownElement x0: /);
  t.regex(read.problems[19] ?? '', /^UnknownElement x19: /);
  t.is(readXml(compile(screening, {}, { errors: 3 }), 'GetSearch', items).problems.length, 3);
});

test('W12: unknownElements: ignore drops unknown elements and logs their names', (t) => {
  const lenient = compile(screening, { unknownElements: 'ignore' });
  const read = readXml(
    lenient,
    'UpdateSubUser',
    '<Extra><Deep>secret</Deep></Extra><Request><SubUsername>x</SubUsername><SubUserName>z</SubUserName><Permissions><a:string>1</a:string><a:other>2</a:other></Permissions></Request>',
  );
  t.deepEqual(read.problems, []);
  t.deepEqual(read.json, { request: { subUserName: 'z', permissions: ['1'] } });
  t.deepEqual(read.ignored, ['Extra', 'SubUsername', 'other']);
});

test('W12: unknownElements: ignore: dropped content must be well-formed, without duplicates', (t) => {
  const lenient = compile(screening, { unknownElements: 'ignore' });
  t.throws(() => readXml(lenient, 'GetSearch', '<x><y></x>'), { instanceOf: XmlError });
  t.deepEqual(readXml(lenient, 'GetSearch', '<Request/><Request/>').problems, [
    'DuplicateElement Request: expected the element once, got it again',
  ]);
});

test('W13: with emptyElements: absent, an empty number, boolean, date or enum is absent', (t) => {
  const lenient = compile(screening, { emptyElements: 'absent' });
  const read = readXml(
    lenient,
    'CountIncompleteClients',
    '<DaysIncomplete/><IsValidateMe> </IsValidateMe><State></State>',
  );
  t.deepEqual([read.problems, read.json], [[], {}]);
  const dated = readXml(lenient, 'RenewAllPepSearches', '<Request><RenewalDate/></Request>');
  t.deepEqual([dated.problems, dated.json], [[], { request: {} }]);
  t.deepEqual(readXml(lenient, 'GetDbsSearch', '<Id/>').missing.at(-1), 'Id');
});

test('W10: references to forbidden characters are read in strings unless the setting refuses them', (t) => {
  const xml = '<Id>1</Id><SubUserName>a&#xB;&#x0;</SubUserName>';
  t.deepEqual(readXml(family, 'GetDbsSearch', xml).json, { id: 1, subUserName: 'a\v\0' });
  const strict = compile(screening, { illegalCharacterReferences: 'refuse' });
  t.throws(() => readXml(strict, 'GetDbsSearch', xml), { instanceOf: XmlError });
  t.throws(() => readXml(family, 'GetDbsSearch', '<Id>&#xB;1</Id>'), { instanceOf: XmlError });
});

test('W10: a pair of surrogate references is one character, a single one is refused', (t) => {
  t.deepEqual(readXml(family, 'GetDbsSearch', '<Id>1</Id><SubUserName>&#xD83D;&#xDE00;</SubUserName>').json, {
    id: 1,
    subUserName: '😀',
  });
  t.throws(() => readXml(family, 'GetDbsSearch', '<SubUserName>&#xD83D;</SubUserName>'), {
    instanceOf: XmlError,
  });
});

test('xmlText: a string of the maximum length is read, one more character is refused', (t) => {
  const small = compile(screening, {}, { xmlText: 10 });
  const read = (text: string) =>
    readXml(small, 'GetDbsSearch', `<Id>1</Id><SubUserName>${text}</SubUserName>`);
  t.is(read('x'.repeat(10)).problems.length, 0);
  t.throws(() => read('x'.repeat(11)), { instanceOf: XmlError, message: /longer than 10|more than 10/ });
});

test('xmlText: base64 may be longer', (t) => {
  const small = compile(depot, {}, { xmlText: 10 });
  const read = readXml(small, 'SendParcel', `<Body><name>x</name><photo>${'QUJD'.repeat(10)}</photo></Body>`);
  t.deepEqual(read.problems, []);
});

test('arrays, maps and records nest as in the contract, also a record in itself', (t) => {
  const xml = `<Body>
    <name>box</name><odd_x0020_name>o</odd_x0020_name>
    <counts><int>1</int><int> 02 </int></counts>
    <states><State>under way</State></states>
    <grid><ArrayOfboolean><boolean>1</boolean></ArrayOfboolean><ArrayOfboolean/></grid>
    <parts><Parcel><name>inner</name><parts/></Parcel></parts>
    <wrapping><name>paper</name></wrapping>
    <labels><Entry><Key>a</Key><Value>b</Value></Entry><Entry><Value/><Key>__proto__</Key></Entry><Entry><Key/></Entry></labels>
    <scores><Entry><Key>x</Key><Value>1.50</Value></Entry></scores>
    <byName><Entry><Key>k</Key><Value><name>n</name></Value></Entry></byName>
    <anything>{"free": [1, "form"]}</anything>
  </Body>`;
  const read = readXml(plain, 'SendParcel', xml);
  t.deepEqual(read.problems, []);
  t.is(
    read.input.reading.slots[1],
    '{"name":"box","odd name":"o","counts":[1,2],"states":["under way"],"grid":[[true],[]],"parts":[{"name":"inner","parts":[]}],"wrapping":{"name":"paper"},"labels":{"a":"b","__proto__":"","":null},"scores":{"x":1.50},"byName":{"k":{"name":"n"}},"anything":{"free": [1, "form"]}}',
  );
});

const nested: Readonly<Record<string, readonly (readonly [xml: string, problems: readonly string[]])[]>> = {
  'W12: a map’s entry is a Key and a Value, once each': [
    [
      '<labels><Entry><Key>a</Key><Value>b</Value><Key>c</Key></Entry></labels>',
      ['DuplicateElement Body.labels[0].Key: expected the element once, got it again'],
    ],
    [
      '<labels><Entry><Key>a</Key><Value>b</Value><Note/></Entry></labels>',
      ['UnknownElement Body.labels[0].Note: expected <Key> and <Value>, got <Note>'],
    ],
    ['<labels><entry/></labels>', ['UnknownElement Body.labels[0]: expected <Entry>, got <entry>']],
    [
      '<labels><Entry><Value>b</Value></Entry></labels>',
      ['NotEmpty Body.labels[0]: expected <Key>, got none'],
    ],
    [
      '<labels><Entry><Key i:nil="true"/></Entry></labels>',
      ['NotEmpty Body.labels[0].Key: expected a key, got none'],
    ],
    [
      '<labels><Entry>x<Key>a</Key></Entry></labels>',
      ['InvalidType Body.labels[0]: expected elements, got text'],
    ],
    ['<labels>x</labels>', ['InvalidType Body.labels: expected elements, got text']],
    [
      '<labels><Entry i:nil="true"/></labels>',
      ['InvalidType Body.labels[0]: expected elements, got xsi:nil'],
    ],
    ['<labels><Entry href="#1"/></labels>', [`InvalidType Body.labels[0]: ${elsewhere}`]],
  ],
  'W12: a map’s key given twice is refused': [
    [
      '<labels><Entry><Key>a</Key></Entry><Entry><Key>a</Key></Entry></labels>',
      ['DuplicateElement Body.labels[1]: expected each key once, got one again'],
    ],
  ],
  'W29: a path names members and positions all the way down': [
    [
      '<parts><Parcel/><Parcel><byName><Entry><Key>k</Key><Value><counts><int>x</int></counts></Value></Entry></byName></Parcel></parts>',
      ['InvalidType Body.parts[1].byName[0].Value.counts[0]: expected xs:int, got "x"'],
    ],
    [
      '<grid><ArrayOfboolean><boolean>1</boolean><boolean>2</boolean></ArrayOfboolean></grid>',
      ['InvalidType Body.grid[0][1]: expected xs:boolean, got "2"'],
    ],
  ],
};

for (const [title, rows] of Object.entries(nested)) {
  test(title, (t) => {
    for (const [xml, problems] of rows) {
      t.deepEqual(readXml(plain, 'SendParcel', `<Body>${xml}</Body>`).problems, problems, xml);
    }
  });
}

for (const [items, body, problems] of [
  [
    '<counts><int>1</int><int i:nil="true"/></counts>',
    '{"counts":[1]}',
    ['InvalidType Body.counts[1]: expected a value of <int>, got xsi:nil'],
  ],
  [
    '<parts><Parcel i:nil="true"/><Parcel i:nil="true"/></parts>',
    '{"parts":[null,null]}',
    ['InvalidType Body.parts[0]: expected a value of <Parcel>, got xsi:nil'],
  ],
  ['<counts><int i:nil="true"/></counts>', '{"counts":[]}', []],
] as const) {
  test(`W13: nil items that are not strings are refused, kept or dropped: ${items}`, (t) => {
    const byKind = compile({ ...depot, nulls: 'by-kind' });
    t.deepEqual(readXml(byKind, 'SendParcel', `<Body>${items}</Body>`).problems, problems);
    const { problems: none, input } = readXml(plain, 'SendParcel', `<Body>${items}</Body>`);
    t.deepEqual(none, []);
    t.true(input.reading.slots.includes(body));
  });
}

test('W12: unknownElements: ignore drops unknown elements of a map too', (t) => {
  const lenient = compile(depot, { unknownElements: 'ignore' });
  const read = readXml(
    lenient,
    'SendParcel',
    '<Body><name>x</name><labels><Other/><Entry><Key>a</Key><Note/><Value>b</Value></Entry></labels></Body>',
  );
  t.deepEqual(read.problems, []);
  t.deepEqual(read.ignored, ['Other', 'Note']);
  t.is(read.input.reading.slots[1], '{"name":"x","labels":{"a":"b"}}');
});

test('a member of the wrapper that is sent in another place is not in the body', (t) => {
  const read = readXml(plain, 'GetParcel', '<id>a b</id><most>5</most><X_Trace>t</X_Trace>');
  t.deepEqual([read.problems, read.text], [[], '{}']);
  t.deepEqual(read.missing, []);
});

test('W36: the wrapper may have no namespace, and then its children too', (t) => {
  const read = readXmlText(family, 'GetSearch', '<GetSearch><Request><Id>1</Id></Request></GetSearch>');
  t.deepEqual([read.problems, read.json], [[], { request: { id: 1 } }]);
});

test('no element name reaches an object’s prototype', (t) => {
  readXml(
    family,
    'GetSearch',
    '<__proto__><polluted>1</polluted></__proto__><constructor><prototype/></constructor>',
  );
  readXml(
    plain,
    'SendParcel',
    '<Body><labels><Entry><Key>__proto__</Key><Value>1</Value></Entry></labels></Body>',
  );
  t.is(Reflect.get({}, 'polluted'), undefined);
  t.false(Object.hasOwn(Object.prototype, 'polluted'));
});

test('suggests the XML name of a renamed member; distinguishes a missing member from an empty one', (t) => {
  const compiled = compile(depot);
  const { problems } = readXml(compiled, 'SendParcel', '<Body><name>n</name><oddName>1</oddName></Body>');
  t.deepEqual(problems, [
    'UnknownElement Body.oddName: unknown element, did you mean odd_x0020_name, as "odd name" is called in XML?',
  ]);
  const missed = (content: string): readonly string[] =>
    readXml(compiled, 'SendParcel', content).input.reading.missing.map(problemText);
  t.deepEqual(missed('<Body/>'), ['Body.name is missing']);
  t.deepEqual(missed('<Body><name/></Body>'), ['Body.name must not be empty']);
});

/** Returns the body of a parcel as JSON with its problems. */
function parcelOf(contract: CompiledContract, content: string, operation = 'SendParcel'): string {
  const { input, problems } = readXml(contract, operation, `<Body>${content}</Body>`);
  return [input.reading.slots.at(-1) ?? '', ...problems].join(' ');
}

test('untyped JSON is read from its text, or from a tree of elements if the contract says so', (t) => {
  const tree = compile(depot, { json: 'tree' });
  const map = '<map xmlns="http://www.w3.org/2005/xpath-functions"><number key="a">1</number></map>';
  t.is(parcelOf(plain, '<name>n</name><anything>{"a":1}</anything>'), '{"name":"n","anything":{"a":1}}');
  t.is(parcelOf(tree, `<name>n</name><anything>${map}</anything>`), '{"name":"n","anything":{"a":1}}');
  t.is(
    parcelOf(plain, `<name>n</name><anything>${map}</anything>`),
    '{"name":"n"} InvalidType Body.anything: expected JSON text, got elements',
  );
  t.is(
    parcelOf(tree, '<name>n</name><labels><Entry><Key>k</Key><Value>v</Value></Entry></labels>'),
    '{"name":"n","labels":{"k":"v"}}',
  );
});

test('W13: a nil recursive type is null at any depth', (t) => {
  const inner = '<wrapping><name>m</name><wrapping i:nil="true"/></wrapping>';
  t.is(parcelOf(plain, `<name>n</name>${inner}`), '{"name":"n","wrapping":{"name":"m","wrapping":null}}');
  t.is(parcelOf(plain, '<name>n</name><wrapping i:nil="true"/>'), '{"name":"n","wrapping":null}');
});

test('validate: strict checks rules of items, values, lists and maps; the default checks none', (t) => {
  const short = { type: 'string', maxLength: 2 };
  const schema = {
    type: 'object',
    properties: {
      items: { type: 'array', items: short },
      few: { type: 'array', items: { type: 'string' }, maxItems: 1 },
      both: { type: 'array', items: short, maxItems: 1 },
      values: { type: 'object', additionalProperties: short },
      some: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
      all: { type: 'object', additionalProperties: short, maxProperties: 1 },
    },
  };
  const content = { 'application/json': { schema } };
  const put = { operationId: 'Put', requestBody: { content }, responses: { 204: { description: '' } } };
  const openapi = { openapi: '3.1.0', info: { title: 'Rules', version: '1' }, paths: { '/': { put } } };
  const { contract } = load(openapi, undefined, { validate: 'strict' });
  const list = (name: string, ...texts: string[]): string =>
    `<${name}>${texts.map((text) => `<string>${text}</string>`).join('')}</${name}>`;
  const map = (name: string, ...texts: string[]): string =>
    `<${name}>${texts.map((text, index) => `<Entry><Key>${index}</Key><Value>${text}</Value></Entry>`).join('')}</${name}>`;
  const strict = compile(contract);
  const types = compile(contract, { validate: 'types' });
  const long = 'expected at most 2 characters, got 3';
  for (const [xml, json, problem] of [
    [list('items', 'ab'), '{"items":["ab"]}', undefined],
    [list('items', 'ab', 'abc'), '{"items":["ab","abc"]}', `OutOfRange Body.items[1]: ${long}`],
    [list('few', 'abc'), '{"few":["abc"]}', undefined],
    [list('few', 'abc', 'b'), '{"few":["abc","b"]}', 'OutOfRange Body.few: expected at most 1 items, got 2'],
    [list('both', 'abc'), '{"both":["abc"]}', `OutOfRange Body.both[0]: ${long}`],
    [list('both', 'a', 'b'), '{"both":["a","b"]}', 'OutOfRange Body.both: expected at most 1 items, got 2'],
    [map('values', 'ab'), '{"values":{"0":"ab"}}', undefined],
    [map('values', 'abc'), '{"values":{"0":"abc"}}', `OutOfRange Body.values[0].Value: ${long}`],
    [map('some', 'abc'), '{"some":{"0":"abc"}}', undefined],
    [
      map('some', 'a', 'b'),
      '{"some":{"0":"a","1":"b"}}',
      'OutOfRange Body.some: expected at most 1 members, got 2',
    ],
    [map('all', 'abc'), '{"all":{"0":"abc"}}', `OutOfRange Body.all[0].Value: ${long}`],
    [
      map('all', 'a', 'b'),
      '{"all":{"0":"a","1":"b"}}',
      'OutOfRange Body.all: expected at most 1 members, got 2',
    ],
  ] as const) {
    t.is(parcelOf(types, xml, 'Put'), json);
    const { problems } = readXml(strict, 'Put', `<Body>${xml}</Body>`);
    t.deepEqual(problems, problem === undefined ? [] : [problem], xml);
  }
});

test('validate: strict checks rules of a tagged variant; the default checks none', (t) => {
  const Cat = {
    type: 'object',
    properties: { kind: { type: 'string' }, purrs: { type: 'boolean' } },
    minProperties: 3,
  };
  const schemas = { Cat, Dog: { type: 'object', properties: { kind: { type: 'string' } } } };
  const oneOf = ['Cat', 'Dog'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const schema = { type: 'object', properties: { pet: { oneOf, discriminator: { propertyName: 'kind' } } } };
  const put = {
    operationId: 'Put',
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 204: { description: '' } },
  };
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    paths: { '/': { put } },
    components: { schemas },
  };
  const { contract } = load(openapi, undefined, { validate: 'strict' });
  const pet = '<pet><Cat><purrs>true</purrs></Cat></pet>';
  t.is(parcelOf(compile(contract, { validate: 'types' }), pet, 'Put'), '{"pet":{"kind":"Cat","purrs":true}}');
  t.is(
    parcelOf(compile(contract), pet, 'Put'),
    '{"pet":{"kind":"Cat","purrs":true}} OutOfRange Body.pet.Cat: expected at least 3 members, got 2',
  );
});
