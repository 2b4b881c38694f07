import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { compileContract } from '../../mappings/compile.ts';
import { requiresSignature, type Wsse } from '../../mappings/contract/credentials.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { Kits } from '../../wsdl/kits/kits.ts';
import { signingFiles } from '../../wsdl/kits/signing.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import { folder } from './captures.ts';
import { startSigned } from './signed.ts';

const run = promisify(execFile);

/** Returns settings of WS-Security that require signatures of some items. */
function wsseWith(
  require: NonNullable<Wsse['x509']>['require'],
  isSigned = true,
  sha1: false | 'signature' = false,
): Wsse {
  const lists = { cas: [], certificates: [], crls: [], files: [] };
  return {
    username: undefined,
    password: undefined,
    digest: 'refuse',
    timestamp: 'required',
    unverified: [],
    x509: { ...lists, require, sha1, credential: undefined, replay: 'allow' },
    sign: isSigned ? { key: '', certificates: [''], files: [], confirmation: false } : undefined,
  };
}

const { contract: plain } = readContract(screeningContract);
const signed = { ...plain, wsse: wsseWith(['body', 'timestamp']) };
const address = 'https://api.example/v2';

function filesOf(contract: typeof plain): ReadonlyMap<string, string> {
  return new Kits(compileContract(contract, defaultLimits), address).files(['GetEulaStatus']);
}

test('X38: a kit has a configuration for each client that signs', (t) => {
  const files = filesOf(signed);
  const names = [...files.keys()].filter((name) => name.startsWith('signing/'));
  t.deepEqual(names, [
    'signing/README.txt',
    'signing/cxf.properties',
    'signing/rampart.xml',
    'signing/wcf.config',
    'signing/zeep_signing.py',
    'signing/node-soap.mjs',
    'signing/wse-php.php',
    'signing/soapui.txt',
  ]);
  t.regex(
    files.get('signing/README.txt') ?? '',
    /WSSecurityCertWithToken of node-soap 1\.13\.0 cannot be verified/,
  );
  t.regex(files.get('README.txt') ?? '', /^signing\/ +Calls must be signed/m);
  t.true([...filesOf(plain).keys()].every((name) => !name.startsWith('signing/')));
});

test('X38: the configurations follow the settings of the contract', (t) => {
  const wsdl = `${address}/soap11?wsdl`;
  const of = (wsse: Wsse, file: string, url = wsdl): string =>
    signingFiles(wsse, url).get(`signing/${file}`) ?? '';
  const both = wsseWith(['body', 'timestamp']);
  t.regex(of(both, 'cxf.properties'), /&policy=signed$/m);
  t.regex(of(both, 'cxf.properties'), /asymmetric\.signature\.algorithm=.*#rsa-sha256/);
  t.notRegex(of(wsseWith(['body', 'timestamp'], true, 'signature'), 'cxf.properties'), /asymmetric/);
  t.regex(of(both, 'wcf.config'), /MutualCertificate.*httpTransport/s);
  const endorsed = wsseWith(['timestamp'], false);
  t.regex(of(endorsed, 'cxf.properties'), /&policy=endorsed$/m);
  t.regex(of(endorsed, 'wcf.config'), /CertificateOverTransport.*httpsTransport/s);
  t.notRegex(of(endorsed, 'cxf.properties', 'http://api.example/soap11?wsdl'), /policy=/);
  t.regex(of(endorsed, 'README.txt'), /Replies are not signed/);
  t.is(signingFiles(wsseWith([]), wsdl).size, 0);
});

test('X38: a client that cannot satisfy the settings has no configuration', (t) => {
  const decrypt = { keys: [], cbc: true };
  const listed = (wsse: Wsse): string[] => {
    const files = signingFiles(wsse, `${address}/soap11?wsdl`);
    const names = [...files.keys()]
      .map((name) => name.replace('signing/', ''))
      .filter((name) => name !== 'README.txt');
    const described = [...(files.get('signing/README.txt') ?? '').matchAll(/^([\w-]+\.\w+) {2}/gm)];
    t.deepEqual(
      described.map(([, name]) => name),
      names,
    );
    return names;
  };
  const others = ['zeep_signing.py', 'node-soap.mjs', 'wse-php.php', 'soapui.txt'];
  const encrypted = wsseWith(['body', 'timestamp', 'encryption']);
  const followers = ['cxf.properties', 'rampart.xml', 'wcf.config'];
  t.deepEqual(listed({ ...encrypted, decrypt }), followers);
  t.deepEqual(listed({ ...encrypted, decrypt: { ...decrypt, cbc: false } }), []);
  t.deepEqual(listed(wsseWith(['body', 'timestamp'], false)), others);
  t.deepEqual(listed({ ...wsseWith(['body', 'timestamp']), username: 'user' }), others);
  t.deepEqual(listed(wsseWith(['timestamp'], false)), ['cxf.properties', 'wcf.config', ...others]);
  t.is(listed(wsseWith(['body', 'timestamp'], true, 'signature')).length, 8);
  const wcf = signingFiles({ ...encrypted, decrypt }, address).get('signing/wcf.config') ?? '';
  t.regex(wcf, /ProtectionLevel\.EncryptAndSign/);
});

test('X38: the keys for Metro and Rampart are those of the interop run', (t) => {
  const files = signingFiles(wsseWith(['body', 'timestamp'], true, 'signature'), `${address}/soap11?wsdl`);
  for (const name of ['metro', 'rampart']) {
    const text = files.get(`signing/${name}.xml`) ?? '';
    const keys = text
      .slice(text.indexOf('-->\n') + 4)
      .replaceAll('YOUR_PASSWORD_CALLBACK', 'Security')
      .replaceAll('YOUR_PASSWORD', 'changeit');
    const file = readFileSync(join(import.meta.dirname, `../interop/${name}/keys.xml`), 'utf8');
    t.is(`<!-- docs:begin keys -->\n${keys}<!-- docs:end keys -->\n`, file);
  }
});

test('X4: kits and pages list only SOAP if calls must be signed', (t) => {
  const json = /\/(?:json|xml)\/reply\//;
  for (const [name, text] of filesOf(signed)) t.notRegex(text, json, name);
  t.notRegex(writeMetadataPage(signed, { address }), json);
  t.regex(writeMetadataPage(plain, { address }), json);
  t.true([...filesOf(signed).keys()].includes('GetEulaStatus/samples/request.soap12.xml'));
  t.false([...filesOf(signed).keys()].includes('GetEulaStatus/samples/request.json'));
  t.false(requiresSignature(wsseWith([])));
});

test('X38: the program for node-soap makes a call that the gateway accepts', async (t) => {
  const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';
  const gateway = await startSigned(t, 'default', undefined, {}, {}, pair);
  gateway.answer({ body: '{"data":{"agreeToTerms":true}}' });
  const program = signingFiles(signed.wsse, `${gateway.running.url}/v2/soap11?wsdl`).get(
    'signing/node-soap.mjs',
  );
  const cwd = mkdtempSync(join(tmpdir(), 'signing-'));
  for (const kind of ['key', 'crt'])
    copyFileSync(join(folder, `keys/alice.${kind}`), join(cwd, `caller.${kind}`));
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(cwd, 'node_modules'));
  const call = `${program}const [reply] = await client.GetEulaStatusAsync({ Request: { SubUserName: 'jane' } });\nconsole.log(JSON.stringify(reply));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', call], { cwd });
  t.regex(stdout, /"AgreeToTerms":true/);
  t.deepEqual(JSON.parse(gateway.hits[0]?.body ?? '{}').request, { subUserName: 'jane' });
});
