import type { Statement, StoreRow, StoreValue } from './store.ts';

/** A table with a column for each member of its rows, in snake case. */
export interface Table<Row> {
  /** Names of the columns, separated by commas. */
  readonly columns: string;
  /**
   * Returns the statement that adds a row. Undefined is NULL.
   *
   * @param end SQL after the values, such as `ON CONFLICT DO NOTHING`
   */
  readonly insert: (row: Row, end?: string) => Statement;
  /** Returns a row of a query. NULL, and a column that was not selected, are undefined. */
  readonly read: (row: StoreRow) => Row;
}

/** Returns the functions of a table. `others` has the columns of members with another name. */
export function tableOf<Row extends object>(
  name: string,
  members: readonly (keyof Row & string)[],
  others: Partial<Record<keyof Row, string>> = {},
): Table<Row> {
  const columns = members.map((member) => [member, others[member] ?? inSnakeCase(member)] as const);
  const names = columns.map(([, column]) => column).join(', ');
  const parameters = columns.map((_, index) => `$${index + 1}`).join(', ');
  return {
    columns: names,
    insert: (row, end = '') => ({
      sql: `INSERT INTO ${name} (${names}) VALUES (${parameters}) ${end}`,
      values: members.map((member) => (row[member] ?? null) as StoreValue),
    }),
    read: (row) =>
      Object.fromEntries(columns.map(([member, column]) => [member, row[column] ?? undefined])) as Row,
  };
}

/** Returns the column of a member. */
export function inSnakeCase(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
