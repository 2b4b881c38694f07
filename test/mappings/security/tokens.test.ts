import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { parseCertificate } from '../../../mappings/security/certificate.ts';
import { Ids } from '../../../mappings/security/message.ts';
import { names, valueTypes } from '../../../mappings/security/names.ts';
import { SecurityProblem } from '../../../mappings/security/problem.ts';
import { maxDataParts, Tokens } from '../../../mappings/security/tokens.ts';
import { readTree } from '../../../mappings/security/tree.ts';
import { Trust, tokenOf } from '../../../mappings/security/trust.ts';
import { folder } from '../../security/captures.ts';

const now = Date.parse('2026-11-27T18:00:00Z');

function base64Of(name: string): string {
  return new X509Certificate(readFileSync(join(folder, `keys/${name}.crt`))).raw.toString('base64');
}

/** A Trust that counts how often a certificate is parsed. */
class Counting extends Trust {
  count = 0;
  override parse(...rest: Parameters<Trust['parse']>): ReturnType<Trust['parse']> {
    this.count++;
    return super.parse(...rest);
  }
}

/**
 * Reads the KeyInfo of each Signature. Returns the codes of the problems, and the number of parsed certificates.
 *
 * @param type ValueType of the token that is a child of the block
 */
function read(
  keyInfos: readonly string[],
  {
    type = valueTypes.certificate,
    trust = new Counting({ cas: [], certificates: [], crls: [] }),
  }: { readonly type?: string; readonly trust?: Trust } = {},
): { readonly codes: string[]; readonly count: number } {
  const token = `<o:BinarySecurityToken u:Id="token" ValueType="${type}">${base64Of('alice')}</o:BinarySecurityToken>`;
  const { root } = readTree(
    `<o:Security xmlns:o="${names.wsse}" xmlns:u="${names.wsu}" xmlns="${names.ds}">${token}${keyInfos.map((one) => `<KeyInfo>${one}</KeyInfo>`).join('')}</o:Security>`,
    defaultLimits,
  );
  const tokens = new Tokens(root, new Ids(root), trust, now);
  const codes = root.children.slice(1).map((keyInfo) => {
    try {
      tokens.ofKeyInfo(keyInfo);
      return 'read';
    } catch (error) {
      if (error instanceof SecurityProblem) return error.code;
      throw error;
    }
  });
  return { codes, count: trust instanceof Counting ? trust.count : 0 };
}

const reference = '<o:SecurityTokenReference><o:Reference URI="#token"/></o:SecurityTokenReference>';

test('X5: KeyInfo has one element, and the others are not read', (t) => {
  t.deepEqual(read([reference]), { codes: ['read'], count: 1 });
  t.deepEqual(read([reference.repeat(2)]), { codes: ['InvalidSecurity'], count: 0 });
  t.deepEqual(read([reference.repeat(400)]), { codes: ['InvalidSecurity'], count: 0 });
  t.deepEqual(read([`<KeyName>alice</KeyName>${reference}`]), { codes: ['InvalidSecurity'], count: 0 });
  t.deepEqual(read(['']), { codes: ['UnsupportedSecurityToken'], count: 0 });
});

test('X10: a certificate that several references name is parsed once', (t) => {
  const embedded = `<X509Data><X509Certificate>${base64Of('alice')}</X509Certificate></X509Data>`;
  t.deepEqual(read([reference, reference, embedded]), { codes: ['read', 'read', 'read'], count: 1 });
});

test('X10: bytes are read by the ValueType of their token, whether another token with them was read or not', (t) => {
  const bytes = Buffer.from(base64Of('alice'), 'base64');
  const length = [0x82, bytes.length >> 8, bytes.length & 255];
  const path = Buffer.concat([Buffer.from([0x30, ...length]), bytes]).toString('base64');
  const embedded = (type: string, base64: string): string =>
    `<o:SecurityTokenReference><o:Embedded><o:BinarySecurityToken ValueType="${type}">${base64}</o:BinarySecurityToken></o:Embedded></o:SecurityTokenReference>`;
  const wrong = embedded(valueTypes.path, base64Of('alice'));
  t.deepEqual(read([wrong]).codes, ['InvalidSecurityToken']);
  t.deepEqual(read([reference, wrong]).codes, ['read', 'InvalidSecurityToken']);
  const right = embedded(valueTypes.path, path);
  t.deepEqual(read([right, embedded(valueTypes.certificate, path)]).codes, ['read', 'InvalidSecurityToken']);
});

test('X11: a remembered token is not used for a token of another ValueType', (t) => {
  const bytes = Buffer.from(base64Of('alice'), 'base64');
  const signer = parseCertificate(bytes);
  if (signer === undefined) return t.fail();
  const trust = new Trust({ cas: [], certificates: [signer], crls: [] });
  const codeOf = (type: string): string => read([reference], { type, trust }).codes[0] ?? '';
  t.is(codeOf(valueTypes.certificate), 'read');
  t.is(trust.check(tokenOf(signer), now), undefined);
  t.is(codeOf(valueTypes.certificate), 'read');
  t.is(codeOf(valueTypes.path), 'InvalidSecurityToken');
});

test('X39: an X509Data has at most four elements', (t) => {
  const data = (count: number): string =>
    `<X509Data>${`<X509Certificate>${base64Of('alice')}</X509Certificate>`.repeat(count)}</X509Data>`;
  t.is(maxDataParts, 4);
  t.deepEqual(read([data(4)]), { codes: ['read'], count: 1 });
  t.deepEqual(read([data(5)]), { codes: ['InvalidSecurity'], count: 0 });
  t.deepEqual(read([`<o:SecurityTokenReference>${data(5)}</o:SecurityTokenReference>`]).count, 0);
});
