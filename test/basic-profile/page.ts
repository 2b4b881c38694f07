import { table, withTables } from '../golden/tables.ts';
import { descriptionRequirements } from './description.ts';
import { inapplicable } from './elsewhere.ts';
import { messageRequirements } from './messages.ts';

/** The page that lists the requirements. Its tables are generated; the rest is written by hand. */
export const conformancePage = new URL('../../docs/conformance.md', import.meta.url);

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id.localeCompare(other.id);
}

const tables: Readonly<Record<string, string>> = {
  messages: table(
    ['', 'requires', 'checked in'],
    messageRequirements.toSorted(byId).map(({ id, says, version }) => [id, says, version ?? '1.1, 1.2']),
  ),
  description: table(
    ['', 'requires'],
    descriptionRequirements.toSorted(byId).map(({ id, says }) => [id, says]),
  ),
  inapplicable: table(
    ['', 'requires', 'why there is no test'],
    inapplicable.toSorted(byId).map(({ id, says, why }) => [id, says, why]),
  ),
};

/** Returns the page with generated tables. `npm run golden` writes it. */
export function writeConformancePage(): string {
  return withTables(conformancePage, tables);
}
