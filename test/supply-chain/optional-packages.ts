import { optionalFeatures } from '../../mappings/optional-packages.ts';
import { table, withTables } from '../golden/tables.ts';

/** The page about packages that only some features need. */
export const optionalPackagesPage = new URL('../../docs/optional-packages.md', import.meta.url);

/** Returns the page with its generated table. `npm run golden` writes it. */
export function writeOptionalPackagesPage(): string {
  const rows = Object.values(optionalFeatures).map(({ name, packages }) => {
    const specs = Object.entries(packages).map(([each, version]) => `${each}@${version}`);
    return [
      name,
      Object.keys(packages)
        .map((each) => `\`${each}\``)
        .join(', '),
      `\`npm install ${specs.join(' ')}\``,
    ];
  });
  return withTables(optionalPackagesPage, { features: table(['feature', 'packages', 'command'], rows) });
}
