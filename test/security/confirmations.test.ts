import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { assertion, dataOf, type Issued, keyInfoOf, keyValueOf } from './assertion.ts';
import { type Message, signed } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';

// Confirmations of SAML assertions by the holder of a key.

const time = '2026-11-27T18:00:00.000Z';
const type = 'text/xml; charset=utf-8';

function start(t: ExecutionContext, x509: string, limits: Partial<Limits> = {}): Promise<Gateway> {
  const serve = { publicUrl: 'https://gateway.example/' };
  return startSigned(t, x509, undefined, limits, serve, 'saml: { issuers: { "urn:test:sts": sts.crt } }');
}

/** A message of the holder of a key, with an assertion about it. */
function held(issued: Issued = {}, message: Message = {}): string {
  return signed({ block: assertion(issued), keyInfo: keyInfoOf(), ...message });
}

async function codeOf(gateway: Gateway, message: string, at = time): Promise<string> {
  return (await sendAt(gateway, requestOf(message, type), at)).code;
}

const usual = 'require: [body, timestamp], replay: allow';

/** A further confirmation for the holder of a key. */
function confirmationOf(name: string, data = ''): string {
  const holder = `<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#">${dataOf(name)}</KeyInfo>`;
  return `<a:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"><a:SubjectConfirmationData${data}>${holder}</a:SubjectConfirmationData></a:SubjectConfirmation>`;
}

const past = ' NotOnOrAfter="2026-11-27T17:00:00Z"';
const elsewhere = ' Recipient="https://other.example/"';

test('X26: the confirmation of the key that signed is checked', async (t) => {
  const gateway = await start(t, usual);
  const code = async (own: string, others = ''): Promise<string> => {
    const confirmations = confirmationOf('alice', own);
    return codeOf(gateway, held({ holder: dataOf('bob'), data: others, confirmations }));
  };
  t.is(await code(''), 'accepted');
  t.is(await code('', past), 'accepted');
  t.is(await code('', elsewhere), 'accepted');
  t.is(await code(past), 'wsu:MessageExpired');
  t.is(await code(elsewhere), 'wsse:FailedAuthentication');
});

test('X26: a later confirmation that is valid is used', async (t) => {
  const gateway = await start(t, usual);
  const code = async (data: string, later: string): Promise<string> =>
    codeOf(gateway, held({ data, confirmations: confirmationOf('alice', later) }));
  t.is(await code(past, ''), 'accepted');
  t.is(await code(elsewhere, ''), 'accepted');
  t.is(await code(elsewhere, ' Recipient="https://gateway.example/v2/soap11"'), 'accepted');
  t.is(await code(past, past), 'wsu:MessageExpired');
  t.is(await code(elsewhere, elsewhere), 'wsse:FailedAuthentication');
  t.is(await code(past, elsewhere), 'wsse:FailedAuthentication');
  t.is(await code(elsewhere, past), 'wsse:FailedAuthentication');
});

test.serial('X26: Recipient of a message that a worker thread reads is compared too', async (t) => {
  const gateway = await start(t, usual, { readAsideBytes: 1 });
  const created = new Date().toISOString(); // the clock of the thread is not replaced
  const expires = new Date(Date.now() + 60_000).toISOString();
  const window = { notBefore: created, notOnOrAfter: expires };
  const code = async (recipient: string): Promise<string> =>
    codeOf(gateway, held({ data: ` Recipient="${recipient}"`, ...window }, { created, expires }), created);
  t.is(await code('https://gateway.example/v2/soap11'), 'accepted');
  t.is(await code('https://other.example/v2/soap11'), 'wsse:FailedAuthentication');
});

test('X17, X26: keys that only an issuer vouches for share one part of the memory', async (t) => {
  const gateway = await start(t, 'require: [body, timestamp]', { wsseNonces: 5 });
  let second = 0;
  const code = async (holder: string, signer: string): Promise<string> => {
    const created = `2026-11-27T17:58:${10 + second++}Z`;
    return codeOf(gateway, held({ holder }, { signer, created }));
  };
  t.is(await code(dataOf('mallory'), 'mallory'), 'accepted');
  t.is(await code(dataOf('mallory'), 'mallory'), 'accepted');
  t.is(await code(keyValueOf('bob'), 'bob'), 'accepted');
  t.is(await code(keyValueOf('bob'), 'bob'), 'accepted');
  t.is(await code(keyValueOf('alice'), 'alice'), 'Overloaded', 'the share of the issuer is full');
  t.is(await code(dataOf('alice'), 'alice'), 'accepted', 'this certificate is trusted');
});
