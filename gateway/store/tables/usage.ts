import type { TableData } from '../table-data.ts';

/** Calls by operation and caller (G61, G62). */
export const usageTables: readonly string[] = [];

/** Rows that expire or belong to callers (G55). */
export const usageData: readonly TableData[] = [];
