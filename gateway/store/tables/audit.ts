/** The audit of changes. Rows are only added (G72). */
export const auditTables: readonly string[] = [];
