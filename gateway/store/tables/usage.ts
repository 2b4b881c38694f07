/** Calls by operation and caller (G61, G62). */
export const usageTables: readonly string[] = [];
