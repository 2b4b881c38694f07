import { table, withTables } from '../golden/tables.ts';
import { type Advisory, accepted, denied } from './advisories.ts';
import { readLockfile } from './lockfile.ts';

/** The page about dependencies. Its tables are generated; the rest is written by hand. */
export const supplyChainPage = new URL('../../docs/supply-chain.md', import.meta.url);

function versionsOf({ from, below }: Advisory): string {
  if (below === undefined) return 'all';
  return from === undefined ? `below ${below}` : `${from} to below ${below}`;
}

const shipped = readLockfile()
  .filter(({ use }) => use !== 'development')
  .map(({ name, version, licence, use }) => [name, version, licence ?? '', use]);

/** Returns the page with its generated tables. `npm run golden` writes it. */
export function writeSupplyChainPage(): string {
  return withTables(supplyChainPage, {
    denied: table(
      ['package', 'advisory', 'versions', 'vulnerability'],
      denied.map((advisory) => [advisory.package, advisory.id, versionsOf(advisory), advisory.what]),
    ),
    accepted: table(
      ['package', 'advisory', 'vulnerability', 'why it does no harm here'],
      accepted.map((row) => [row.package, row.id, row.what, row.why]),
    ),
    licences: table(['package', 'version', 'licence', 'installed'], shipped),
  });
}
