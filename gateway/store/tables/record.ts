import type { TableData } from '../table-data.ts';

/** Recorded exchanges (G56). */
export const recordTables: readonly string[] = [];

/** Rows that expire or belong to callers (G55). */
export const recordData: readonly TableData[] = [];
