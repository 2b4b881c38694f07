/** Versions with a known vulnerability: from `from`, if given, up to but not including `below`. */
export interface Advisory {
  readonly package: string;
  readonly id: string;
  readonly from?: string;
  /** Undefined if no fixed version is known. */
  readonly below: string | undefined;
  readonly what: string;
}

/** Advisories on direct and indirect dependencies. No version in the lockfile may match. */
export const denied: readonly Advisory[] = [
  { package: 'fast-xml-parser', id: 'CVE-2023-26920', below: '4.1.2', what: 'prototype pollution' },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2023-34104',
    from: '4.1.3',
    below: '4.2.4',
    what: 'regular expression for entity names',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2024-41818',
    below: '4.4.1',
    what: 'backtracking regular expression',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-25128',
    below: '5.3.4',
    what: 'RangeError for a numeric entity',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-25896',
    below: '5.3.5',
    what: 'a dot in an entity name matches any character',
  },
  { package: 'fast-xml-parser', id: 'CVE-2026-26278', below: '5.3.6', what: 'entity expansion' },
  { package: 'fast-xml-parser', id: 'CVE-2026-27942', below: '5.3.8', what: 'stack overflow in the builder' },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-33036',
    below: '5.5.6',
    what: 'numeric entities above the limit',
  },
  { package: 'fast-xml-parser', id: 'CVE-2026-33349', below: '5.5.7', what: 'a limit of 0 has no effect' },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-41650',
    below: '5.7.0',
    what: 'injection in the output of the builder',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-73569',
    from: '5.9.3',
    below: '5.10.1',
    what: 'several document type declarations',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-126066',
    below: '5.12.0',
    what: 'quadratic time for stop nodes',
  },
  {
    package: 'fast-xml-builder',
    id: 'CVE-2026-44664',
    below: '1.3.2',
    what: 'injection in the output; an earlier version has the fix',
  },
  {
    package: 'koa',
    id: 'CVE-2025-25200',
    below: '3.1.2',
    what: 'regular expression for X-Forwarded headers; an earlier version has the fix',
  },
  {
    package: 'koa',
    id: 'GHSA-x2rg-q646-7m2v',
    below: '3.1.2',
    what: 'markup in a redirect; an earlier version has the fix',
  },
  {
    package: 'koa',
    id: 'CVE-2025-8129',
    below: '3.1.2',
    what: 'redirect to the Referrer; an earlier version has the fix',
  },
  { package: 'koa', id: 'CVE-2026-27959', below: '3.1.2', what: 'the host name of a malformed Host' },
  { package: 'path-to-regexp', id: 'CVE-2024-45296', below: '8.0.0', what: 'two parameters in one segment' },
  { package: 'path-to-regexp', id: 'CVE-2024-52798', below: '0.1.12', what: 'the same' },
  { package: 'path-to-regexp', id: 'CVE-2026-4867', below: '0.1.13', what: 'the same' },
  {
    package: 'undici',
    id: 'CVE-2026-6733',
    below: '8.5.0',
    what: 'response queue poisoning on a reused connection',
  },
  { package: 'undici', id: 'CVE-2026-12151', below: '8.5.0', what: 'fixed together with CVE-2026-6733' },
  {
    package: 'undici',
    id: 'CVE-2026-13697',
    below: '8.9.0',
    what: 'CR and LF in headers; with CVE-2026-14643, -15157, -16728, -16729',
  },
  {
    package: 'undici',
    id: 'CVE-2026-18149',
    below: '8.12.4',
    what: 'the retry handler, which soapbridge does not use; with CVE-2026-18540',
  },
  {
    package: 'undici',
    id: 'CVE-2026-22036',
    below: '8.12.4',
    what: 'chained codings, lengths, upgrades; with CVE-2026-1525 to -1528, -2229, -2581, -6734, -9697; an earlier version has the fix',
  },
  { package: 'qs', id: 'CVE-2025-15284', below: '6.14.1', what: 'arrays above their limit' },
  {
    package: 'xml-crypto',
    id: 'CVE-2025-29774',
    below: '2.1.6',
    what: 'forged signatures are accepted; with CVE-2025-29775',
  },
  {
    package: 'xml-crypto',
    id: 'CVE-2025-29774',
    from: '3.0.0',
    below: '3.2.1',
    what: 'the same in version 3',
  },
  {
    package: 'xml-crypto',
    id: 'CVE-2025-29774',
    from: '4.0.0',
    below: '6.0.1',
    what: 'the same from version 4',
  },
];

/** An advisory that matches the lockfile, and why it is harmless here. */
export interface Accepted extends Advisory {
  readonly why: string;
}

/** Accepted advisories. A row that no longer matches fails the tests. */
export const accepted: readonly Accepted[] = [
  {
    package: '@xmldom/xmldom',
    id: 'CVE-2026-34601',
    below: '0.9.12',
    what: 'unescaped markup in serialized XML, and recursion; with CVE-2026-41672 to -41675 and others',
    why: 'soap depends on it for signatures. soap is a client in the tests and reads only replies of the gateway.',
  },
  {
    package: 'node',
    id: 'Node’s releases of 2026-10-21 and 2026-11-11',
    below: undefined,
    what: 'the runtime package is older than these releases: CVE-2026-105481 (http agent), -105482 (dns), -106069 and -106072 (tls), -111497 (brotli)',
    why: 'Only development and the tests use this package. The image takes Node from its base image.',
  },
];
