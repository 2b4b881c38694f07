import test from 'ava';
import { elementText, envelope, keyHeaders, sharedGateway, startGateway, statusOf } from '../gateway.ts';

const gateway = await sharedGateway();

/** Unusual but valid JSON: white space, escapes, any order, unknown members, numbers beyond a double. */
const odd =
  ' {\r\n\t"extra" : [1, {"a":null}, 1e400] ,"data":{ "searchRecord" : {"numOfResults":5.0,"id":7,"isArchived":"true",' +
  '"dateSearched":"\\/Date(1700000000123-0000)\\/","searchType":"\\u00fc\\/ü😀","unknown":9007199254740993.10},' +
  '"linkedTo":[{"id":9007199254740993},null],"responseStatus":{ "errorCode":"" , "message":null } } }\n ';

const passing: readonly (readonly [what: string, body: string, status: number])[] = [
  ['blanks, escapes, any order, unknown members', odd, 200],
  ['no responseStatus', '{"data":{}}', 200],
  ['responseStatus null', '{"data":{"responseStatus":null}}', 200],
  ['responseStatus empty', '{"data":{"responseStatus":{}}}', 200],
  ['an errorCode of null', '{"data":{"responseStatus":{"errorCode":null,"stackTrace":"kept"}}}', 200],
  ['status 201', '{"data":{"searchRecord":{},"x":1}}', 201],
  ['status 202', '{"data":{}}', 202],
];

test('W23: a success is passed on byte for byte, for any form of the request', async (t) => {
  const { send, answer } = await startGateway(t);
  const xml = '<GetSearch><Request><Id>1</Id></Request></GetSearch>';
  for (const [what, body, status] of passing) {
    answer({ status, body });
    for (const reply of [
      await send('POST', '/json/reply/GetSearch', keyHeaders, '{}'),
      await send('POST', '/sanctions/get', keyHeaders, '{}'),
      await send('POST', '/xml/reply/GetSearch.json', keyHeaders, xml),
      await send(
        'POST',
        '/sanctions/get',
        { ...keyHeaders, 'Content-Type': 'text/xml', Accept: 'application/json' },
        xml,
      ),
    ]) {
      t.is(reply.text, body, what);
      t.is(reply.status, status);
      t.is(reply.headers['content-type'], 'application/json; charset=utf-8');
    }
  }
});

test('W20, W26: the same replies match the contract in XML; unknown members are dropped', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ body: odd });
  const reply = await send('POST', '/xml/reply/GetSearch', keyHeaders, '');
  t.is(reply.status, 200);
  t.is(elementText(reply.text, 'SearchType'), 'ü/ü😀');
  t.is(elementText(reply.text, 'DateSearched'), '2023-11-14T22:13:20.123');
  t.is(elementText(reply.text, 'NumOfResults'), '5');
  t.true(reply.text.includes('<Id>9007199254740993</Id>'));
  t.false(/extra|unknown/i.test(reply.text));
});

test('W23: a 20x success keeps its status in XML; SOAP returns 200', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ status: 201, body: '{"data":{}}' });
  t.is((await send('POST', '/xml/reply/GetSearch', keyHeaders, '')).status, 201);
  const soap = await send('POST', '/soap11', {}, envelope('1.1'));
  t.is(soap.status, 200);
  t.is(soap.headers['x-status'], undefined);
});

test('W23, W30: an error is rebuilt: one responseStatus in data, no stackTrace, nothing else', async (t) => {
  const { send, answer } = await startGateway(t);
  const status = '{"errorCode":"E","message":"m","stackTrace":"s","errors":[],"meta":null}';
  for (const [body, from] of [
    [`{"responseStatus":${status}}`, 400],
    [`{"data":{"responseStatus":${status},"searchRecord":{"id":1}},"a":1}`, 422],
    [`{"a":1,"data":{"responseStatus":${status}}}`, 200],
    [`  {"data" : {"responseStatus" : ${status}}}`, 500],
  ] as const) {
    answer({ status: from, body });
    const reply = await send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
    t.is(reply.status, from);
    t.is(reply.text, '{"data":{"responseStatus":{"errorCode":"E","message":"m","errors":[],"meta":null}}}');
  }
});

test('W23: a reply that does not match the contract’s types is not passed on', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ body: '{"data":{"searchRecord":{"id":"x"}}}' });
  const reply = await send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  t.is(reply.status, 502);
  t.is(statusOf(reply.text).errorCode, 'UpstreamInvalidResponse');
  t.regex(statusOf(reply.text).message, /data\.searchRecord\.id/);
});

// --- W37: requests -----------------------------------------------------------------------------------

const authenticated = ',"authentication":{"apiUserId":"u","apiUserKey":"key","userId":"';
const rows: readonly (readonly [what: string, operation: string, body: string, sent: string])[] = [
  ['nothing to change', 'GetSearch', '{ "request" : {"id":7 } }', '{ "request" : {"id":7 } #}'],
  ['an empty object', 'GetSearch', ' { } ', ' { #} '],
  ['an empty body', 'GetSearch', '', '{#}'],
  [
    'another case',
    'GetSearch',
    '{"REQUEST":{"ID":7,"subusername":"x"}}',
    '{"request":{"id":7,"subUserName":"x"}#}',
  ],
  ['a quoted number', 'GetSearch', '{"request":{"id": "7" }}', '{"request":{"id": 7 }#}'],
  [
    'a quoted boolean',
    'GetSearch',
    '{"request":{"onlyShowUnresolvedResults":"true"}}',
    '{"request":{"onlyShowUnresolvedResults":true}#}',
  ],
  [
    'an ISO date',
    'RenewAllPepSearches',
    '{"request":{"renewalDate":"1970-01-01T00:00:01Z"}}',
    '{"request":{"renewalDate":"/Date(1000-0000)/"}#}',
  ],
  [
    'a date of the wire',
    'RenewAllPepSearches',
    '{"request":{"renewalDate":"\\/Date(1000+0100)\\/"}}',
    '{"request":{"renewalDate":"\\/Date(1000+0100)\\/"}#}',
  ],
  ['null', 'GetSearch', '{"request":null}', '{"request":null#}'],
  [
    'a number no double holds',
    'GetPdf',
    '{"request":{"id":9007199254740993}}',
    '{"request":{"id":9007199254740993}#}',
  ],
];

for (const [row, [what, operation, body, sent]] of rows.entries()) {
  test(`W37: JSON with ${what} is sent upstream with only that change`, async (t) => {
    const user = `row-${row}`;
    const reply = await gateway.send(
      'POST',
      `/json/reply/${operation}`,
      { ...keyHeaders, 'X-User-Id': user },
      body,
    );
    t.is(reply.status, 200, reply.text);
    const credentials = `${authenticated}${user}"}`;
    const expected = sent.replace('#', /\{\s*#/.test(sent) ? credentials.slice(1) : credentials);
    t.deepEqual(
      gateway.hitsOf(user).map(({ body }) => body),
      [expected],
    );
  });
}
