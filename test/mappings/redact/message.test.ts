import { createHmac } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { compileRedaction, type RedactionMode } from '../../../mappings/redact/message.ts';
import { contractFolder } from '../../migration/scenario.ts';
import { envelope } from '../compare/replies.ts';

const key = Buffer.from('0123456789abcdef');
const { contract } = readContract(contractFolder('contracts/orders'));

/** Returns the redaction of an exchange of `GetOrder`. */
function exchange(own: Partial<Contract> = {}, mode: RedactionMode = 'pseudonyms', usedKey?: Buffer) {
  const changed = { ...contract, ...own };
  const redact = compileRedaction(changed, '/orders', mode, usedKey ?? key, defaultLimits);
  const operation = changed.operations.find(({ name }) => name === 'GetOrder');
  if (operation === undefined) throw new RangeError('GetOrder');
  return redact(
    operation,
    (text) => text.replaceAll('s3cret', '***'),
    () => {},
  );
}

function redacted(side: 'input' | 'output', message: string | Buffer, type = 'text/xml', own = {}): string {
  return exchange(own).soap(side, Buffer.from(message), type)?.toString('latin1') ?? 'none';
}

/** Returns a reply of `GetOrder` with this content of the order. */
function order(content: string, attributes = ''): string {
  return envelope(
    `<o:GetOrderResponse xmlns:o="http://orders.example/"><o:GetOrderResult id="7"${attributes}>${content}</o:GetOrderResult></o:GetOrderResponse>`,
  );
}

function text(value: string): string {
  const digest = createHmac('sha256', key).update(`/orders\ntext\n${value}`).digest();
  return `p-${digest.toString('base64url', 0, 12)}`;
}

/** Checks that redaction replaces one text of a message by another, and leaves all other bytes. */
function replaces(t: ExecutionContext, message: string, value: string, shown: string): void {
  t.is(redacted('output', message), message.replace(value, shown));
}

test('G57: replaces a personal text by p- and 16 base64url characters', (t) => {
  replaces(t, order('<o:Customer><o:Name>Ann Lee</o:Name></o:Customer>'), 'Ann Lee', text('Ann Lee'));
  t.regex(text('Ann Lee'), /^p-[\w-]{16}$/);
});

test('G57: replaces the text of an element with attributes by the name of its member', (t) => {
  const phone = '<o:Customer><o:Phone kind="home">+1 202</o:Phone></o:Customer>';
  replaces(t, order(phone), '+1 202', text('+1 202'));
});

test('G57: equal values have equal pseudonyms in other spellings', (t) => {
  const message = order('<o:Customer><o:Name><![CDATA[A]]>&#110;<!-- Ann -->n</o:Name></o:Customer>');
  replaces(t, message, '<![CDATA[A]]>&#110;<!-- Ann -->n', text('Ann'));
});

test('G57: keeps prefixes, quotes, blanks and references outside of replaced values', (t) => {
  const message = order(
    "\n <o:Status  >Open</o:Status ><o:Line\tquantity='1'><o:Article>A&#38;B</o:Article></o:Line>",
  );
  t.is(redacted('output', message), message);
});

test('G57: digits, dates and base64 keep their form', (t) => {
  const own = { personal: ['Total', 'Placed', 'quantity'] };
  const shown = redacted(
    'output',
    order(
      '<o:Placed>2026-01-02T03:04:05.60+02:00</o:Placed><o:Total>0123.450</o:Total><o:Line quantity="42"/>',
    ),
    'text/xml',
    own,
  );
  const [, placed, total, quantity] =
    /<o:Placed>(.*)<\/o:Placed><o:Total>(.*)<\/o:Total><o:Line quantity="(.*)"\/>/.exec(shown) ?? [];
  t.regex(placed ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d0\+02:00$/);
  t.not(placed, '2026-01-02T03:04:05.60+02:00');
  t.regex(total ?? '', /^0[1-9]\d\d\.\d[1-9]0$/);
  t.regex(quantity ?? '', /^[1-9]\d$/);
});

test('G57: equal instants and numbers keep being equal', (t) => {
  const own = { personal: ['Total', 'Placed'] };
  const shown = (placed: string, total: string) =>
    redacted('output', order(`<o:Placed>${placed}</o:Placed><o:Total>${total}</o:Total>`), 'text/xml', own);
  const [one, other] = [shown('2026-01-02T03:04:05+02:00', '1.50'), shown('2026-01-02T01:04:05.0Z', '+01.5')];
  const momentOf = (message: string) => Date.parse(/<o:Placed>(.*)<\/o:Placed>/.exec(message)?.[1] ?? '');
  const totalOf = (message: string) => Number(/<o:Total>(.*)<\/o:Total>/.exec(message)?.[1]);
  t.is(momentOf(one), momentOf(other));
  t.is(totalOf(one), totalOf(other));
});

test('G57: enumerated values of personal members stay', (t) => {
  const message = order('<o:Status>Open</o:Status>');
  t.is(redacted('output', message, 'text/xml', { personal: ['Status'] }), message);
});

test('G57: hides the text and the attributes of undeclared elements', (t) => {
  const message = order('<x:Extra xmlns:x="urn:x" a="1"><y>two</y>three</x:Extra>');
  t.is(
    redacted('output', message),
    message.replace('"1"', '"***"').replace('two', '***').replace('three', '***'),
  );
});

test('G57: hides comments and processing instructions', (t) => {
  const shown = redacted('output', order('<!-- Ann Lee --><?Ann Lee?><o:Status>Open</o:Status>'));
  t.false(shown.includes('Ann'));
  t.true(shown.includes('<o:Status>Open</o:Status>'));
});

test('G57: hides complete Security blocks and undeclared header blocks', (t) => {
  const header =
    '<w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><w:UsernameToken><w:Username>ann</w:Username></w:UsernameToken></w:Security><T xmlns="urn:t">abc</T>';
  const shown = redacted(
    'input',
    envelope('<GetOrder xmlns="http://orders.example/"><orderId>17</orderId></GetOrder>', header),
  );
  t.regex(shown, /<w:Security xmlns:w="[^"]*">\*\*\*<\/w:Security><T xmlns="urn:t">\*\*\*<\/T>/);
  t.true(shown.includes('<orderId>17</orderId>'));
});

const moved = (secret: boolean): Contract['credentials'] => ({
  member: undefined,
  send: 'headers',
  parts: [
    {
      name: 'SessionHeader.session',
      xml: 'session',
      header: 'X-Session',
      sent: { in: 'header', name: 'X-Session' },
      required: false,
      secret,
      moved: { block: 'SessionHeader', path: ['session'], format: '{}' },
    },
  ],
});

test('G57: hides credentials in declared header blocks', (t) => {
  const header =
    '<SessionHeader xmlns="http://orders.example/"><session>let-me-in</session><branch>north</branch></SessionHeader>';
  const message = envelope(
    '<GetOrder xmlns="http://orders.example/"><orderId>17</orderId></GetOrder>',
    header,
  );
  for (const secret of [true, false])
    t.is(
      redacted('input', message, 'text/xml', { credentials: moved(secret) }),
      message.replace('let-me-in', '***'),
    );
});

test('G57: replaces values of the exchange in fault reasons', (t) => {
  const pseudonymised = exchange();
  pseudonymised.soap(
    'output',
    Buffer.from(order('<o:Customer><o:Name>Ann Lee</o:Name></o:Customer>')),
    'text/xml',
  );
  const fault = envelope(
    '<s:Fault><faultcode>s:Client</faultcode><faultstring>no order of Ann Lee with s3cret</faultstring><detail><o:OrderNotFound xmlns:o="http://orders.example/"><o:orderId>7</o:orderId></o:OrderNotFound><x>y</x></detail></s:Fault>',
  );
  t.is(
    pseudonymised.soap('output', Buffer.from(fault), 'text/xml')?.toString(),
    fault.replace('Ann Lee', text('Ann Lee')).replace('s3cret', '***').replace('<x>y', '<x>***'),
  );
});

test('G57: redact none keeps all values but credentials', (t) => {
  const message = order(
    '<o:Customer><o:Name>Ann</o:Name></o:Customer><x:session xmlns:x="urn:x">s3</x:session>',
  );
  const kept = exchange({ credentials: moved(true) }, 'none');
  t.is(kept.soap('output', Buffer.from(message), 'text/xml')?.toString(), message.replace('s3<', '***<'));
});

test('G57: keeps other bytes of each charset', (t) => {
  const message = `<?xml version="1.0" encoding="iso-8859-1"?>${order('<o:Customer><o:Name>Ren\u00e9</o:Name></o:Customer><o:Invoice>\u00e9</o:Invoice>')}`;
  const latin = exchange().soap('output', Buffer.from(message, 'latin1'), 'text/xml');
  t.is(latin?.toString('latin1'), message.replace('Ren\u00e9', text('Ren\u00e9')));
  const wide = `\ufeff${order('<o:Customer><o:Name>Ann</o:Name></o:Customer><o:Invoice>\u20ac</o:Invoice>')}`;
  for (const isBig of [false, true]) {
    const bytes = Buffer.from(wide, 'utf16le');
    const shown = exchange().soap('output', isBig ? bytes.swap16() : bytes, 'text/xml');
    if (shown === undefined) return t.fail();
    t.is((isBig ? shown.swap16() : shown).toString('utf16le'), wide.replace('Ann', text('Ann')));
  }
});

test('G57: unreadable messages have no stored body', (t) => {
  for (const message of ['', 'Ann', '<a/>', `${order('')}x`, '<!DOCTYPE a><a/>', '\xff'])
    t.is(redacted('output', Buffer.from(message, 'latin1')), 'none');
  t.is(exchange().json('output', Buffer.from('{"a":')), undefined);
  t.is(redacted('output', '--x', 'multipart/related; boundary=b'), 'none');
});

test('G57: redacts the root and the parts of a package', (t) => {
  const root = order('<o:Customer><o:Name>Ann</o:Name></o:Customer>');
  const body = [
    '--b\r\nContent-Type: application/xop+xml; type="text/xml"\r\nContent-ID: <r>\r\nX-Name: Ann\r\n',
    `${root}\r\n--b\r\nContent-Type: image/png; name=Ann.png\r\nContent-ID: <p>\r\n`,
    'Ann\r\n--b--\r\n',
  ].join('\r\n');
  const shown = redacted('output', body, 'multipart/related; type="application/xop+xml"; boundary=b');
  t.false(shown.includes('Ann'));
  t.true(shown.includes(`<o:Name>${text('Ann')}</o:Name>`));
  t.true(
    shown.endsWith('\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <p>\r\n\r\n***\r\n--b--\r\n'),
    shown,
  );
});

test('G57: redacts JSON by the types of its members', (t) => {
  const json =
    '{ "GetOrderResult": {"id":7, "Customer":{"@type":"BusinessCustomer","name":"Ann","VatId":"V1","Phone":{"kind":"home","value":"+1"}}, "Status":"Open","Extra":{"a":"b","n":5}} }';
  const shown = exchange().json('output', Buffer.from(json))?.toString();
  t.is(
    shown,
    json
      .replace('"Ann"', `"${text('Ann')}"`)
      .replace('"+1"', `"${text('+1')}"`)
      .replace('"b"', '"***"')
      .replace(':5}', ':"***"}'),
  );
});

test('G57: redacts JSON of errors by the declared fault', (t) => {
  const declared = '{"@fault":"OrderNotFound","orderId":7,"hint":"try","message":"no Ann"}';
  t.is(exchange().json('output', Buffer.from(declared), true)?.toString(), declared.replace('no Ann', '***'));
  const other = '{"error":"no Ann"}';
  t.is(exchange().json('output', Buffer.from(other), true)?.toString(), '{"error":"***"}');
});
