/**
 * Returns the certificates of a PEM text, each as a PEM text of its own (RFC 7468, section 5). The last one may be
 * incomplete.
 */
export function certificatesInPem(pem: string): readonly string[] {
  return pem
    .split('-----BEGIN ')
    .filter((block) => /^[A-Z0-9 ]*CERTIFICATE-----/.test(block))
    .map((block) => `-----BEGIN ${block}`);
}
