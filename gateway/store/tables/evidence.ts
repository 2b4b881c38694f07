/** Findings and counts of comparisons (G45, G48). */
export const evidenceTables: readonly string[] = [];
