import type { TableData } from '../table-data.ts';

/** Route changes, exemptions and the versions of replicas (G65, G66). */
export const routeTables: readonly string[] = [];

/** Rows that expire or belong to callers (G55). */
export const routeData: readonly TableData[] = [];
