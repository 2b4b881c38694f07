import { readFileSync } from 'node:fs';
import test from 'ava';
import { envelope, getSearch, sharedGateway } from '../gateway/gateway.ts';
import { descriptionRequirements } from './description.ts';
import { inapplicable } from './elsewhere.ts';
import { type Endpoint, messageRequirements } from './messages.ts';
import { conformancePage, writeConformancePage } from './page.ts';

const gateway = await sharedGateway();

function endpointOf(version: '1.1' | '1.2'): Endpoint {
  const path = version === '1.1' ? '/soap11' : '/soap12';
  return {
    version,
    call: (message = envelope(version), headers = {}, method = 'POST') =>
      gateway.send(method, path, headers, message),
    envelope: (parts) => envelope(version, parts),
    payload: getSearch,
  };
}

for (const { id, says, check } of descriptionRequirements) {
  test(`Basic Profile, ${id}: ${says}`, (t) => check(t));
}

for (const { id, says, version, check } of messageRequirements) {
  for (const spoken of version === undefined ? (['1.1', '1.2'] as const) : [version]) {
    test(`Basic Profile, ${id}, SOAP ${spoken}: ${says}`, async (t) => {
      await check(t, endpointOf(spoken));
    });
  }
}

test('every requirement is either checked or listed as not applicable, once', (t) => {
  const ids = [...descriptionRequirements, ...messageRequirements, ...inapplicable].map(({ id }) => id);
  t.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test('docs/conformance.md lists the requirements of the tests; npm run golden rewrites it', (t) => {
  t.is(readFileSync(conformancePage, 'utf8'), writeConformancePage());
});
