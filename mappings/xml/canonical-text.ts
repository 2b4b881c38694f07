// Escapes of Canonical XML 1.0, section 2.3, which the other canonical forms share.

/** Escapes character data for a text node. */
export function canonicalText(text: string): string {
  if (!/[&<>\r]/.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;');
}

/** Escapes the value of an attribute or namespace node. */
export function canonicalAttribute(text: string): string {
  if (!/[&<"\t\n\r]/.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;');
}
