import test from 'ava';
import { compileCredentials } from '../../../gateway/call/credentials.ts';
import { CallError } from '../../../gateway/call/error.ts';
import type { Credentials } from '../../../mappings/contract/credentials.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

const credentials: Credentials = {
  member: 'authentication',
  send: 'headers',
  parts: [
    {
      name: 'key',
      xml: 'Key',
      header: 'X-Key',
      sent: { in: 'header', name: 'X-Key' },
      required: true,
      secret: true,
    },
  ],
};
const read = compileCredentials(credentials, defaultLimits);

type Place = 'the body' | 'a header block' | 'an HTTP header';

/** Returns the key that is read from these places, or the error code. */
function keyOf(values: Partial<Record<Place, string>>): string | undefined {
  const mapOf = (place: Place) => new Map(values[place] === undefined ? [] : [['key', values[place]]]);
  const header = values['an HTTP header'];
  const head =
    header === undefined
      ? { headers: {}, rawHeaders: [] }
      : { headers: { 'x-key': header }, rawHeaders: ['X-Key', header] };
  try {
    return read?.({ body: mapOf('the body'), block: mapOf('a header block') }, head, 'xml').all.get('key');
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
}

const places = ['the body', 'a header block', 'an HTTP header'] as const;

for (const [index, one] of places.entries()) {
  test(`W24: a credential only in ${one} is used, an empty one is ignored`, (t) => {
    t.is(keyOf({ [one]: 'k' }), 'k');
    t.is(keyOf({ [one]: '' }), 'Unauthorized');
  });
  for (const other of places.slice(index + 1)) {
    test(`W24: a different credential in ${one} and ${other} is a conflict, an equal one is not`, (t) => {
      t.is(keyOf({ [one]: 'k', [other]: 'l' }), 'ConflictingCredentials');
      t.is(keyOf({ [one]: 'k', [other]: 'k' }), 'k');
    });
  }
}

test('W24: three places with credentials are compared, and each is validated', (t) => {
  t.is(keyOf({ 'the body': 'k', 'a header block': 'k', 'an HTTP header': 'l' }), 'ConflictingCredentials');
  t.is(keyOf({ 'the body': 'k', 'a header block': 'a b' }), 'Unauthorized');
});

test('W24: the error for a blank in a credential header describes the problem', (t) => {
  const head = { headers: { 'x-key': 'sub 1' }, rawHeaders: ['X-Key', 'sub 1'] };
  const error = t.throws(() => read?.({ body: new Map() }, head, 'xml'), { instanceOf: CallError });
  t.regex(error?.message ?? '', /expected printable ASCII without blanks/);
});

test('W47: a UsernameToken equal to another credential is accepted, a different one is a conflict', (t) => {
  const noHeaders = { headers: {}, rawHeaders: [] };
  const from = (body: string, token: string) =>
    read?.({ body: new Map([['key', body]]), token: new Map([['key', token]]) }, noHeaders, 'xml').all.get(
      'key',
    );
  t.is(from('', 'k'), 'k');
  t.is(from('k', ''), 'k');
  t.is(from('k', 'k'), 'k');
  t.throws(() => from('k', 'other'), { message: 'the UsernameToken and Authentication.Key differ' });
});

test('W24: a conflict error names both places, also if no body has a credentials member', (t) => {
  const { member: _, ...inBlock } = credentials;
  const readBlock = compileCredentials({ ...inBlock, member: undefined }, defaultLimits);
  const head = { headers: { 'x-key': 'k' }, rawHeaders: ['X-Key', 'k'] };
  const other = new Map([['key', 'l']]);
  t.throws(() => readBlock?.({ body: new Map(), block: other }, head, 'xml'), {
    message: 'the header X-Key and the header block Credentials.Key differ',
  });
  t.throws(() => readBlock?.({ body: other }, head, 'json'), {
    message: 'the header X-Key and the header block key differ',
  });
  t.throws(() => readBlock?.({ body: new Map(), token: other }, head, 'xml'), {
    message: 'the header X-Key and the UsernameToken differ',
  });
});
