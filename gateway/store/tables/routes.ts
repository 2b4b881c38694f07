/** Route changes, exemptions and the versions of replicas (G65, G66). */
export const routeTables: readonly string[] = [];
