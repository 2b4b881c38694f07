import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Gateway } from '../gateway/gateway.ts';
import { bodyOf, type Capture, cases, folder } from './captures.ts';
import { sendAt, startSigned } from './signed.ts';

// Requests that seven client stacks signed, byte for byte, each replayed with the clock at its recorded time.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];
const settings = ['default', 'wide', 'transport'] as const;

test.before(async () => {
  for (const name of [...settings, 'replay', 'credential'])
    gateways[name] = await startSigned({ teardown: (end) => ends.push(end) }, name);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

function gatewayOf(name: string): Gateway {
  const gateway = gateways[name];
  if (gateway === undefined) throw new RangeError(name);
  return gateway;
}

function requestIn(file: string): Buffer {
  return readFileSync(join(folder, 'captures', `${file}.http`));
}

/** Elements that the gateway does not read: encryption and SAML. */
const unread = /<[\w]*:?(?:EncryptedKey|EncryptedData|Assertion)[\s>]/;

/** Captures that the gateway can read: without encryption and SAML assertions. */
const readable = Object.entries(cases.captures).filter(
  ([file]) => !unread.test(bodyOf(requestIn(file)).toString('latin1')),
);

/** Captures that a setting accepts, apart from the elements that the gateway does not read. */
function acceptedWith(name: (typeof settings)[number]): (readonly [string, Capture])[] {
  return readable.filter(([, one]) => one[name] === 'accepted');
}

for (const name of settings)
  test.serial(`X4 to X16: each signed request has the result of its rules: ${name}`, async (t) => {
    t.true(acceptedWith(name).length > 10);
    for (const [file, one] of readable) {
      if (one[name] === undefined) continue; // messages with parts have one expected result
      const { code, upstream } = await sendAt(gatewayOf(name), requestIn(file), one.receivedAt);
      t.is<string | undefined, string | undefined>(code, one[name], file);
      t.deepEqual(upstream, one[name] === 'accepted' ? one.upstream : undefined, file);
    }
  });

test.serial('X36: requests with encryption, assertions or signed parts are refused by name', async (t) => {
  const files = new Set(readable.map(([file]) => file));
  const others = Object.entries(cases.captures).filter(([file]) => !files.has(file));
  t.true(others.length > 20);
  for (const [file, one] of others)
    for (const name of settings) {
      const { code, upstream } = await sendAt(gatewayOf(name), requestIn(file), one.receivedAt);
      t.regex(code, /^wsse:(?:UnsupportedSecurityToken|UnsupportedAlgorithm|InvalidSecurity)$/, file);
      t.is(upstream, undefined, file);
    }
});

test.serial('X12: a request with one changed character in Body is refused', async (t) => {
  for (const [file, one] of acceptedWith('default')) {
    const request = requestIn(file);
    const at = request.indexOf('jane');
    request.write('m', at);
    const { code, upstream } = await sendAt(gatewayOf('default'), request, one.receivedAt);
    t.is(code, 'wsse:FailedCheck', file);
    t.is(upstream, undefined, file);
  }
});

test.serial('X17: a request is refused the second time', async (t) => {
  for (const [file, one] of acceptedWith('default')) {
    const first = await sendAt(gatewayOf('replay'), requestIn(file), one.receivedAt);
    t.is(first.code, 'accepted', file);
    const second = await sendAt(gatewayOf('replay'), requestIn(file), one.receivedAt);
    t.is(second.code, 'wsse:FailedAuthentication', file);
    t.regex(second.reply, /this message was received before/);
    t.is(second.upstream, undefined, file);
  }
});

test.serial('X20: the subject of the signer is a credential', async (t) => {
  for (const [file, one] of acceptedWith('default')) {
    const { upstream } = await sendAt(gatewayOf('credential'), requestIn(file), one.receivedAt);
    const { authentication } = upstream as { readonly authentication?: { readonly userId?: string } };
    t.is(authentication?.userId, one.caller?.subject?.replaceAll(' ', '%20'), file);
  }
});

test.serial('X29: metrics count signed calls, and those that use SHA-1', async (t) => {
  const gateway = gatewayOf('wide');
  const sampleOf = (name: string, labels: string): number =>
    gateway.running
      .metrics()
      .find((family) => family.name === name)
      ?.samples.find((sample) => sample.labels.includes(labels))?.value ?? 0;
  const read = (): readonly number[] => [
    sampleOf('wsse_sha1_total', ''),
    sampleOf('wsse_total', 'outcome="signed+text"'),
    sampleOf('wsse_total', 'outcome="FailedAuthentication"'),
  ];
  const before = read();
  for (const file of ['cxf3-rsa-sha1-soap11', 'zeep-ut-ts-bst-soap11', 'cxf3-expired-soap11'])
    await sendAt(gateway, requestIn(file), cases.captures[file]?.receivedAt ?? '');
  t.deepEqual(
    read().map((value, index) => value - (before[index] ?? 0)),
    [1, 1, 1],
  );
});

test.serial('X29: the log names the signer, and why a signature is refused', async (t) => {
  const gateway = gatewayOf('credential');
  const file = 'cxf3-body-ts-ut-bst-soap11';
  const one = cases.captures[file];
  await sendAt(gateway, requestIn(file), one?.receivedAt ?? '');
  const log = gateway.log();
  t.true(log.includes('"signature":"rsa-sha256 body+timestamp+token"'));
  t.true(log.includes('"signerCertificate":"437e4871f38e92dc"'));
  t.true(log.includes('"signer":"CN=alice'));
  await sendAt(gateway, requestIn('cxf3-expired-soap11'), one?.receivedAt ?? '');
  t.true(gateway.log().includes('"wsse":"FailedAuthentication","reason":"expired"'));
});
