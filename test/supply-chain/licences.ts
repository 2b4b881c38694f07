/** Licences allowed for shipped code. */
export const allowedInProduction: readonly string[] = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
];

/** Licences allowed for tests and tools. */
export const allowedInDevelopment: readonly string[] = [
  ...allowedInProduction,
  'BlueOak-1.0.0',
  'MPL-2.0',
  'Artistic-2.0',
  'Unlicense',
  'CC0-1.0',
  'W3C-19980720',
  'PSF-2.0',
];

/** Licences of packages whose package.json has none, from their LICENSE file. */
export const statedElsewhere: Readonly<Record<string, string>> = {
  cldrjs: 'MIT',
  httpntlm: 'MIT',
};

/** Returns true if an SPDX expression is satisfied by the allowed licences: all of an AND, one of an OR. */
export function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  const either = bare.split(' OR ');
  if (either.length > 1) return either.some((one) => isAllowed(one, allowed));
  return bare.split(' AND ').every((one) => allowed.includes(one));
}
