import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { Ids } from '../../../mappings/security/message.ts';
import { names, valueTypes } from '../../../mappings/security/names.ts';
import { SecurityProblem } from '../../../mappings/security/problem.ts';
import { maxDataParts, Tokens } from '../../../mappings/security/tokens.ts';
import { readTree } from '../../../mappings/security/tree.ts';
import { Trust } from '../../../mappings/security/trust.ts';
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

/** Reads the KeyInfo of each Signature. Returns the codes of the problems, and the number of parsed certificates. */
function read(keyInfos: readonly string[]): { readonly codes: string[]; readonly count: number } {
  const token = `<o:BinarySecurityToken u:Id="token" ValueType="${valueTypes.certificate}">${base64Of('alice')}</o:BinarySecurityToken>`;
  const { root } = readTree(
    `<o:Security xmlns:o="${names.wsse}" xmlns:u="${names.wsu}" xmlns="${names.ds}">${token}${keyInfos.map((one) => `<KeyInfo>${one}</KeyInfo>`).join('')}</o:Security>`,
    defaultLimits,
  );
  const trust = new Counting({ cas: [], certificates: [], crls: [] });
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
  return { codes, count: trust.count };
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

test('X39: an X509Data has at most four elements', (t) => {
  const data = (count: number): string =>
    `<X509Data>${`<X509Certificate>${base64Of('alice')}</X509Certificate>`.repeat(count)}</X509Data>`;
  t.is(maxDataParts, 4);
  t.deepEqual(read([data(4)]), { codes: ['read'], count: 1 });
  t.deepEqual(read([data(5)]), { codes: ['InvalidSecurity'], count: 0 });
  t.deepEqual(read([`<o:SecurityTokenReference>${data(5)}</o:SecurityTokenReference>`]).count, 0);
});
