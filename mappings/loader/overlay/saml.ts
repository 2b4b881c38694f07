// Reads the key `wsse.saml` of an overlay: settings for SAML Assertions, and the files of certificates of issuers.
import type { Saml } from '../../contract/credentials.ts';
import type { OverlayValues } from '../../contract/overlay-keys.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { NamedFiles } from './named-files.ts';

type WsseKeys = NonNullable<OverlayValues<'openapi'>['wsse']>;

/** The key `wsse.saml`. */
type SamlKeys = NonNullable<WsseKeys['saml']>;

/** Reads the settings for SAML Assertions. Errors are reported (X2). */
export function readSaml(
  keys: SamlKeys,
  { x509, unverified = [] }: WsseKeys,
  report: Report,
  readBytes: ReadBytes,
): Saml {
  const files = new NamedFiles(readBytes, report);
  if (x509 === undefined)
    report('/wsse/saml', 'expected /wsse/x509 too; { require: [], replay: allow } permits Assertions only');
  if (unverified.includes('Assertion'))
    report('/wsse/unverified', 'expected only elements that /wsse/saml does not verify, got "Assertion"');
  const issuers = [...(keys.issuers ?? [])].map(([name, file]) => ({
    name,
    certificates: files
      .certificates(`/wsse/saml/issuers${pointerSegment(name)}`, file)
      .map(({ bytes }) => bytes.toString('base64')),
  }));
  if (issuers.length === 0)
    report(
      '/wsse/saml/issuers',
      'expected the names of issuers and the files of their certificates, got none',
    );
  const [name, from] = [...(keys.credential ?? [])][0] ?? [];
  if ((keys.credential?.size ?? 0) > 1)
    report('/wsse/saml/credential', 'expected one credential, got several');
  return {
    issuers,
    audience: keys.audience,
    vouchers: vouchersOf(keys.vouchers ?? [], report),
    bearer: keys.bearer === true,
    credential: name === undefined || from === undefined ? undefined : { name, from },
    files: files.paths,
  };
}

/** Returns fingerprints in lower case without colons. Other texts are reported. */
function vouchersOf(given: readonly string[], report: Report): readonly string[] {
  return given.map((text, index) => {
    const fingerprint = text.replaceAll(':', '').toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(fingerprint))
      report(
        `/wsse/saml/vouchers/${index}`,
        `expected a SHA-256 fingerprint of 64 hex digits, got ${shown(text)}`,
      );
    return fingerprint;
  });
}
