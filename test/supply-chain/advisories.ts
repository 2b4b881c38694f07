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
    what: 'regular expression of an entity’s name',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2024-41818',
    below: '4.4.1',
    what: 'regular expression that backtracks',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-25128',
    below: '5.3.4',
    what: 'RangeError by a numeric entity',
  },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-25896',
    below: '5.3.5',
    what: 'a dot in an entity’s name matches anything',
  },
  { package: 'fast-xml-parser', id: 'CVE-2026-26278', below: '5.3.6', what: 'entity expansion' },
  { package: 'fast-xml-parser', id: 'CVE-2026-27942', below: '5.3.8', what: 'the builder’s stack' },
  {
    package: 'fast-xml-parser',
    id: 'CVE-2026-33036',
    below: '5.5.6',
    what: 'numeric entities past the limit',
  },
  { package: 'fast-xml-parser', id: 'CVE-2026-33349', below: '5.5.7', what: 'a limit of 0 is no limit' },
  { package: 'fast-xml-parser', id: 'CVE-2026-41650', below: '5.7.0', what: 'injection by the builder' },
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
    what: 'stop nodes in quadratic time',
  },
  {
    package: 'fast-xml-builder',
    id: 'CVE-2026-44664',
    below: '1.3.2',
    what: 'injection, by the builder; mended before this',
  },
  {
    package: 'koa',
    id: 'CVE-2025-25200',
    below: '3.1.2',
    what: 'regular expression on X-Forwarded headers; mended before this',
  },
  {
    package: 'koa',
    id: 'GHSA-x2rg-q646-7m2v',
    below: '3.1.2',
    what: 'markup in a redirect; mended before this',
  },
  {
    package: 'koa',
    id: 'CVE-2025-8129',
    below: '3.1.2',
    what: 'redirect by the Referrer; mended before this',
  },
  { package: 'koa', id: 'CVE-2026-27959', below: '3.1.2', what: 'the host name of a malformed Host' },
  { package: 'path-to-regexp', id: 'CVE-2024-45296', below: '8.0.0', what: 'two parameters in one segment' },
  { package: 'path-to-regexp', id: 'CVE-2024-52798', below: '0.1.12', what: 'the same' },
  { package: 'path-to-regexp', id: 'CVE-2026-4867', below: '0.1.13', what: 'the same' },
  {
    package: 'undici',
    id: 'CVE-2026-6733',
    below: '8.5.0',
    what: 'a poisoned queue of a connection that is kept',
  },
  { package: 'undici', id: 'CVE-2026-12151', below: '8.5.0', what: 'mended with the former' },
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
    what: 'the retry handler, which is not used here; with CVE-2026-18540',
  },
  {
    package: 'undici',
    id: 'CVE-2026-22036',
    below: '8.12.4',
    what: 'chains of codings, lengths, upgrades; with CVE-2026-1525 to -1528, -2229, -2581, -6734, -9697; mended before this',
  },
  { package: 'qs', id: 'CVE-2025-15284', below: '6.14.1', what: 'arrays past their limit' },
  {
    package: 'xml-crypto',
    id: 'CVE-2025-29774',
    below: '2.1.6',
    what: 'signatures that are none, with CVE-2025-29775',
  },
  { package: 'xml-crypto', id: 'CVE-2025-29774', from: '3.0.0', below: '3.2.1', what: 'the same in 3' },
  { package: 'xml-crypto', id: 'CVE-2025-29774', from: '4.0.0', below: '6.0.1', what: 'the same from 4 on' },
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
    what: 'markup that serializing lets out, and recursion; with CVE-2026-41672 to -41675 and others',
    why: 'soap brings it along for signatures; soap is a client of the tests, which reads our own replies',
  },
  {
    package: 'node',
    id: 'Node’s releases of 2026-10-21 and 2026-11-11',
    below: undefined,
    what: 'the package of the runtime is older than they are: CVE-2026-105481 (http agent), -105482 (dns), -106069 and -106072 (tls), -111497 (brotli)',
    why: 'no http agent, TLS or brotli is used here, names are looked up for the configured upstream alone; the image takes Node from its base',
  },
];
