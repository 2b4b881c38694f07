import type { Logger } from '../telemetry/logger.ts';
import type { LoadReport } from './load-report.ts';

/** Maximum number of remarks logged per kind. The `check` command lists all. */
const shown = 3;

/**
 * Logs a loaded contract in one line, and each kind of remark in one line with its count, first positions and action. A
 * large document has too many remarks to log all.
 */
export function logLoaded(report: LoadReport, log: Pick<Logger, 'info' | 'warn'>): void {
  const { contract, remarks, ...fields } = report;
  log.info({ contract, ...fields }, 'contract loaded');
  for (const { all, message } of remarks)
    log.warn({ contract, count: all.length, first: all.slice(0, shown) }, message);
}
