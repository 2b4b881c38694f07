/** Recorded exchanges (G56). */
export const recordTables: readonly string[] = [];
