import test from 'ava';
import { createPages } from '../../../../console/server/pages.ts';
import {
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  getSearch,
  keyHeaders,
  sharedGateway,
  startGateway,
  statusOf,
  typesNamespace,
} from '../../gateway.ts';

const gateway = await sharedGateway();
const { send } = gateway;

for (const path of [
  '/soap11?wsdl',
  '/soap12',
  '/soap12?WSDL',
  '/soap12/?wsdl',
  '/SOAP11?singleWsdl',
  '/Soap12?SINGLEWSDL',
  '?wsdl',
  '/?wsdl',
  '?Wsdl',
  '/?singlewsdl=1',
]) {
  test(`W2: GET /v2${path} is the WSDL, the same bytes`, async (t) => {
    const reply = await send('GET', path);
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], 'text/xml; charset=utf-8');
    t.is(reply.text, (await send('GET', '/soap11')).text);
    t.true(reply.text.includes('<wsdl:definitions'));
  });
}

for (const [query, namespace] of [
  ['?xsd=0', typesNamespace],
  ['?XSD=0', typesNamespace],
  ['?xsd=1', 'http://schemas.microsoft.com/2003/10/Serialization/Arrays'],
]) {
  for (const path of ['', '/', '/soap11', '/soap12/']) {
    test(`W2: GET /v2${path}${query} is the schema of ${namespace}`, async (t) => {
      const reply = await send('GET', path + query);
      t.is(reply.status, 200);
      t.is(reply.headers['content-type'], 'text/xml; charset=utf-8');
      t.true(reply.text.includes(`targetNamespace="${namespace}"`));
      if (query !== '?xsd=1') t.true(reply.text.includes(`schemaLocation="${gateway.running.address}`));
    });
  }
}

test('?wsdl&operation=… is the WSDL of only those operations, in any order of parameters', async (t) => {
  const slice = await send('GET', '/soap11?wsdl&operation=getsearch&Operation=DeleteClient');
  t.is(slice.status, 200);
  const actions = [...slice.text.matchAll(/soap:operation soapAction="(\w+)"/g)].map(([, name]) => name);
  t.deepEqual(actions.toSorted(), ['DeleteClient', 'GetSearch']);
  t.is((await send('GET', '?operation=DeleteClient&wsdl&operation=GetSearch')).text, slice.text);
});

for (const [query, says] of [
  ['?wsdl&operation=Nothing', /^operation: expected one of 12 such as \w+, got "Nothing"/],
  ['?wsdl&operation=GetSerch', /, got "GetSerch"\. Did you mean GetSearch\?/],
  ['?wsdl&tag=none', /^tag: expected .*, got "none"/],
] as const) {
  test(`GET /v2${query} is 404 and lists the documents`, async (t) => {
    const reply = await send('GET', query);
    t.is(reply.status, 404);
    t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
    t.regex(reply.text, says);
  });
}

test('refuses a ?wsdl with more names than sliceNames', async (t) => {
  const { send } = await startGateway(t, { limits: { sliceNames: 2 } });
  t.is((await send('GET', '?wsdl&operation=GetSearch&operation=GetPdf')).status, 200);
  const refused = await send('GET', '?wsdl&operation=GetSearch&operation=GetPdf&tag=a');
  t.is(refused.status, 404);
  t.regex(refused.text, /^expected at most 2 tags and operations, got more names/);
});

test('evicted documents beyond documentCacheBytes are rendered again, unchanged', async (t) => {
  const { send } = await startGateway(t, { limits: { documentCacheBytes: 1 } });
  const first = await send('GET', '?wsdl');
  t.is((await send('GET', '?xsd=0')).status, 200);
  t.is((await send('GET', '?wsdl')).text, first.text);
});

for (const query of ['?xsd=2', '?xsd=', '?xsd', '?xsd=../../etc/passwd', '?xsd=00']) {
  test(`W2: GET /v2/soap11${query} is 404`, async (t) => {
    const reply = await send('GET', `/soap11${query}`);
    t.is(reply.status, 404);
    t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
    t.false(reply.text.includes('passwd'));
  });
}

for (const [method, path] of [
  ['GET', '/soap11?wsdl&operation=<script>alert(1)</script>'],
  ['GET', '?wsdl&tag=<script>alert(1)</script>'],
  ['GET', '?xsd=<script>'],
  ['PUT', '/soap11?<script>'],
] as const) {
  test(`${method} /v2${path} is refused with a text that browsers do not render as a page`, async (t) => {
    const reply = await send(method, path);
    t.true(reply.status === 404 || reply.status === 405);
    t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
    t.is(reply.headers['x-content-type-options'], 'nosniff');
  });
}

for (const path of ['', '/', '?x=<script>alert(1)</script>']) {
  test(`W2: GET /v2${path} is the metadata page, which has no script and echoes no input`, async (t) => {
    const reply = await send('GET', path);
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], 'text/html; charset=utf-8');
    t.regex(String(reply.headers['content-security-policy']), /^default-src 'none'/);
    t.is(reply.headers['x-content-type-options'], 'nosniff');
    t.false(reply.text.includes('script'));
  });
}

for (const path of ['', '/', '/soap11', '/soap12?wsdl', '?xsd=1']) {
  test(`W40: HEAD /v2${path} has GET's headers and no body`, async (t) => {
    const get = await send('GET', path);
    const head = await send('HEAD', path);
    t.is(head.status, 200);
    t.is(head.text, '');
    t.is(head.headers['content-type'], get.headers['content-type']);
    t.is(head.headers['content-length'], String(Buffer.byteLength(get.text)));
  });
}

const json = JSON.stringify({ request: { id: 1 } });
const jsonHeaders = { ...keyHeaders, 'Content-Type': 'application/json' };

for (const path of [
  '/json/reply/GetSearch',
  '/JSON/Reply/getsearch',
  '/json/reply/GETSEARCH/',
  '/sanctions/get',
  '/Sanctions/GET/',
]) {
  test(`W1: POST /v2${path} reaches GetSearch`, async (t) => {
    const reply = await send('POST', path, jsonHeaders, json);
    t.is(reply.status, 200);
    t.is(reply.text, emptyReply);
  });
}

for (const path of ['/Soap11', '/SOAP12/', '/soap11/']) {
  test(`W1: POST /v2${path} reaches the SOAP endpoint`, async (t) => {
    const reply = await send('POST', path, {}, envelope('1.1'));
    t.is(reply.status, 200);
    t.true(reply.text.includes('<GetSearchResponse '));
  });
}

test('W1: the base path matches in any case', async (t) => {
  const reply = await gateway.raw(`GET /V2/soap11 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  t.regex(reply, /^HTTP\/1\.1 200 /);
});

test('W36: XML element names match exactly, whatever the case of the path', async (t) => {
  const body = getSearch.replaceAll('GetSearch', 'getsearch');
  const reply = await send('POST', '/xml/reply/getsearch', {}, body);
  t.is(reply.status, 400);
  t.is(elementText(reply.text, 'ErrorCode'), 'MalformedRequest');
});

for (const path of [
  '/nothing',
  '//',
  '/dbs//1',
  '/json//reply/GetSearch',
  '/json/reply/',
  '/json/reply',
  '/json/reply/GetSearch/more',
  '/constructor',
  '/__proto__',
  '/soap13',
  '/soap11.json',
  '/clients',
  '/%73oap11',
]) {
  test(`W40, W44: POST /v2${path} is 404 NotFound in JSON`, async (t) => {
    const reply = await send('POST', path, { 'Content-Type': 'text/xml' }, '<a/>');
    t.is(reply.status, 404);
    t.is(reply.headers['content-type'], 'application/json; charset=utf-8');
    t.is(reply.headers['cache-control'], 'no-store');
    t.is(statusOf(reply.text).errorCode, 'NotFound');
  });
}

for (const path of ['/', '/v1/soap11', '/v2x']) {
  test(`W44: GET ${path}, outside every base path, is 404 NotFound in JSON`, async (t) => {
    const reply = await gateway.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    t.regex(reply, /^HTTP\/1\.1 404 .*"errorCode":"NotFound"/s);
  });
}

for (const name of ['Nothing', '__proto__', 'constructor', '..%2f..%2fadmin', '%00', '%ff', 'GetSearchX']) {
  for (const form of ['json', 'xml']) {
    test(`W44: POST /v2/${form}/reply/${name} is 404 OperationNotFound in ${form}`, async (t) => {
      const reply = await send('POST', `/${form}/reply/${name}`, {}, '');
      t.is(reply.status, 404);
      t.is(reply.headers['content-type'], `application/${form}; charset=utf-8`);
      if (form === 'json') t.is(statusOf(reply.text).errorCode, 'OperationNotFound');
      else t.regex(reply.text, /<ErrorResponse [^>]*><Data><ResponseStatus><ErrorCode>OperationNotFound</);
    });
  }
}

const verbs: readonly (readonly [path: string, allow: string])[] = [
  ['', 'GET, HEAD, OPTIONS'],
  ['/soap11', 'GET, HEAD, OPTIONS, POST'],
  ['/Soap12/', 'GET, HEAD, OPTIONS, POST'],
  ['/json/reply/GetSearch', 'OPTIONS, POST'],
  ['/xml/reply/GetSearch.json', 'OPTIONS, POST'],
  ['/subusers/update', 'OPTIONS, PUT'],
  ['/validid/update', 'OPTIONS, PUT'],
  ['/clients/template', 'GET, OPTIONS'],
  ['/clients/7', 'DELETE, OPTIONS'],
  ['/clients/x.xml', 'DELETE, OPTIONS'],
  ['/dbs/1', 'GET, OPTIONS'],
  ['/peps/renew/all', 'OPTIONS, PUT'],
  ['/sanctions/get', 'OPTIONS, POST'],
];

for (const [path, allow] of verbs) {
  test(`W40: OPTIONS /v2${path} is 204 with Allow: ${allow}`, async (t) => {
    const reply = await send('OPTIONS', path);
    t.is(reply.status, 204);
    t.is(reply.headers.allow, allow);
    t.is(reply.text, '');
    t.is(reply.headers['access-control-allow-origin'], undefined);
  });
  for (const method of ['PATCH', 'DELETE', 'PUT', 'POST', 'GET', 'TRACE', 'HEAD']) {
    if (allow.includes(method)) continue;
    test(`W40: ${method} /v2${path} is 405 with Allow: ${allow}`, async (t) => {
      const reply = await send(method, path);
      t.is(reply.status, 405);
      t.is(reply.headers.allow, allow);
      const soap = path.toLowerCase().startsWith('/soap');
      if (soap) t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
      else if (path.includes('.xml')) t.is(reply.headers['content-type'], 'application/xml; charset=utf-8');
      else if (method !== 'HEAD') t.is(statusOf(reply.text).errorCode, 'MethodNotAllowed');
    });
  }
}

test('W40: OPTIONS on an unknown path is 404', async (t) => {
  t.is((await send('OPTIONS', '/nothing')).status, 404);
});

test('W40: a literal segment beats a parameter: DELETE /clients/template is 405', async (t) => {
  const reply = await send('DELETE', '/clients/template', keyHeaders);
  t.is(reply.status, 405);
  t.is(reply.headers.allow, 'GET, OPTIONS');
});

for (const header of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
  test(`W40: ${header} is ignored`, async (t) => {
    const reply = await send('GET', '/clients/7', { ...keyHeaders, [header]: 'DELETE' });
    t.is(reply.status, 405);
  });
}

test('W8: every reply except a document has no-store and a length, and no chunks', async (t) => {
  const replies = await Promise.all([
    send('POST', '/soap11', {}, envelope('1.1')),
    send('POST', '/soap11', {}, 'x'),
    send('POST', '/json/reply/GetSearch', jsonHeaders, json),
    send('POST', '/json/reply/GetSearch', jsonHeaders, '{'),
    send('POST', '/xml/reply/GetSearch', {}, getSearch),
    send('DELETE', '/soap11'),
    send('GET', '/nothing'),
  ]);
  for (const { headers, text } of replies) {
    t.is(headers['cache-control'], 'no-store');
    t.is(headers['content-length'], String(Buffer.byteLength(text)));
    t.is(headers['transfer-encoding'], undefined);
    t.is(headers['content-encoding'], undefined);
  }
});

test('W8: XML replies start with the declaration, without byte order mark and line breaks', async (t) => {
  for (const path of ['/soap11', '/soap12', '/xml/reply/GetSearch']) {
    const body = path.startsWith('/soap') ? envelope('1.2') : getSearch;
    const { text } = await send('POST', path, {}, body);
    t.true(text.startsWith('<?xml version="1.0" encoding="utf-8"?><'));
    t.false(text.includes('\n'));
  }
});

test('health and readiness are outside the contract', async (t) => {
  for (const path of ['/healthz', '/readyz']) {
    const reply = await gateway.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    t.regex(reply, /^HTTP\/1\.1 200 /);
  }
});

test('allowedHosts: a listed Host is served in any case and with any port, another one is 421', async (t) => {
  const { raw, hits } = await startGateway(t, { serve: { allowedHosts: ['API.example', '[::1]'] } });
  const ask = (path: string, host: string): Promise<string> =>
    raw(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Api-User: u\r\nX-Api-Key: k\r\nConnection: close\r\n\r\n`,
    );
  for (const host of ['api.example', 'Api.Example:8443', '[::1]:80'])
    t.regex(await ask('/v2/dbs/1', host), /^HTTP\/1\.1 200 /, host);
  t.is(hits.length, 3);
  for (const host of ['evil.example', 'api.example.evil', '[::2]', '127.0.0.1']) {
    const reply = await ask('/v2/dbs/1', host);
    t.regex(
      reply,
      /^HTTP\/1\.1 421 .*Host: expected an allowed host, .*, got another host\. SOAPBRIDGE_ALLOWED_HOSTS/s,
      host,
    );
    t.regex(await ask('/v2?wsdl', host), /^HTTP\/1\.1 421 /);
    // a load balancer's probe has an address as Host
    t.regex(await ask('/healthz', host), /^HTTP\/1\.1 200 /);
  }
  t.is(hits.length, 3);
});

test('allowedHosts: loopback refuses other names in Host, for calls, documents and pages', async (t) => {
  const answerOf = async ({ raw }: Pick<Gateway, 'raw'>, target: string, host: string): Promise<string> => {
    const reply = await raw(
      `${target} HTTP/1.1\r\nHost: ${host}\r\nX-Api-User: u\r\nX-Api-Key: k\r\nConnection: close\r\n\r\n`,
    );
    return reply.slice(9, 12) === '421' && !/SOAPBRIDGE_ALLOWED_HOSTS or --allowed-hosts/.test(reply)
      ? reply
      : reply.slice(9, 12);
  };
  const own = await startGateway(t, { serve: { pages: createPages, allowedHosts: 'loopback' } });
  const targets = ['GET /v2/dbs/1', 'GET /v2/soap11?wsdl', 'GET /v2', 'GET /v2/docs/GetSearch', 'GET /'];
  for (const target of targets) {
    t.is(await answerOf(own, target, 'evil.example'), '421', target);
    t.is(await answerOf(own, target, `evil.example:${own.port}`), '421', target);
    t.not(await answerOf(own, target, `localhost:${own.port}`), '421', target);
    t.not(await answerOf(own, target, `[::1]:${own.port}`), '421', target);
  }
  t.is(await answerOf(own, 'POST /v2/json/reply/GetSearch', 'evil.example'), '421');
  t.is(own.hits.length, 2);
  // probes and proxies have an address as Host
  for (const path of ['/healthz', '/readyz', '/metrics'])
    t.is(await answerOf(own, `GET ${path}`, 'evil.example'), '200');
  const publicUrl = 'https://evil.example/edge';
  const known = await startGateway(t, { serve: { allowedHosts: 'loopback', publicUrl } });
  t.is(await answerOf(known, 'GET /v2/dbs/1', 'evil.example'), '200');
});

for (const name of ['api.example:443', 'https://api.example', '']) {
  test(`allowedHosts: "${name}" is invalid, and the gateway does not start`, async (t) => {
    await t.throwsAsync(startGateway(t, { serve: { allowedHosts: [name] } }), {
      instanceOf: RangeError,
      message: `allowed host: expected a name without a port, got ${JSON.stringify(name)}`,
    });
  });
}

test('W40: CORS headers are sent only to origins in the setting cors', async (t) => {
  const open = await startGateway(t, { overlay: 'cors: [https://app.example]' });
  const origin = { Origin: 'https://app.example' };
  const preflight = await open.send('OPTIONS', '/json/reply/GetSearch', origin);
  t.is(preflight.status, 204);
  t.is(preflight.headers['access-control-allow-origin'], 'https://app.example');
  t.is(preflight.headers['access-control-allow-methods'], 'OPTIONS, POST');
  t.regex(String(preflight.headers['access-control-allow-headers']), /X-Api-Key/);
  const reply = await open.send('POST', '/json/reply/GetSearch', origin, '{}');
  t.is(reply.headers['access-control-allow-origin'], 'https://app.example');
  t.is(reply.headers.vary, 'Origin');
  const other = await open.send('POST', '/json/reply/GetSearch', { Origin: 'https://evil.example' }, '{}');
  t.is(other.headers['access-control-allow-origin'], undefined);
  const closed = await startGateway(t);
  const none = await closed.send('OPTIONS', '/json/reply/GetSearch', origin);
  t.is(none.headers['access-control-allow-origin'], undefined);
});
