import test from 'ava';
import { callOf } from '../../../console/client/try/exchange.ts';
import type { FormDescription, RequestDescription } from '../../../console/description.ts';

const credential = (name: string, header: string, format = '{}'): FormDescription['credentials'][number] => ({
  name,
  header,
  secret: true,
  required: false,
  placeholder: `YOUR_${name.toUpperCase()}`,
  format,
});

/** A form with two credentials. The first one is in a SOAP header block. */
const form = {
  credentials: [credential('session', 'Authorization', 'Bearer {}'), credential('key', 'X-Key')],
} as unknown as FormDescription;

function requestOf(format: RequestDescription['format'], inHeaders: readonly string[]): RequestDescription {
  const credentials = inHeaders.map((name) => ({ credential: name }));
  return { format, contentType: 'text/xml', path: '/soap11', headers: {}, credentials, text: '' };
}

const typed = { Authorization: 'a<$&"', 'X-Key': 'k' };

test('a credential replaces its placeholder; others are sent in their headers', (t) => {
  const message = '<a>YOUR_SESSION</a>';
  const call = callOf(form, requestOf('soap11', ['key']), message, typed, '../');
  t.is(call.body, '<a>a&lt;$&amp;&quot;</a>');
  t.deepEqual(call.headers, { 'Content-Type': 'text/xml', 'X-Key': 'k' });
  t.is(call.shown, message);
  t.is(call.url, '../soap11');
});

test('a credential in JSON is escaped as JSON', (t) => {
  const { body } = callOf(form, requestOf('json', ['key']), '{"a":"YOUR_SESSION"}', typed, '');
  t.deepEqual(JSON.parse(body), { a: typed.Authorization });
});

test('a credential without a placeholder in the message is sent in its header, in its format', (t) => {
  const bare = callOf(form, requestOf('xml', ['session', 'key']), '<a/>', typed, '');
  t.is(bare.headers.Authorization, 'Bearer a<$&"');
  const removed = callOf(form, requestOf('soap11', ['key']), '<a/>', typed, '');
  t.is(removed.headers.Authorization, 'Bearer a<$&"');
});

test('a credential that was not typed leaves its placeholder and no header', (t) => {
  const call = callOf(form, requestOf('soap11', ['key']), '<a>YOUR_SESSION</a>', {}, '');
  t.is(call.body, '<a>YOUR_SESSION</a>');
  t.deepEqual(call.headers, { 'Content-Type': 'text/xml' });
});
