import type { Logger } from '../telemetry/logger.ts';
import type { LoadReport } from './load-report.ts';

/** So many of a kind are shown; `check` lists all. */
const shown = 3;

/**
 * Logs what is served of a document, in one line, and what isn't, or not as it says: a line for each kind with how many
 * there are, the first of them and what to do. A large document has a thousand, which nobody reads.
 */
export function logLoaded(report: LoadReport, log: Pick<Logger, 'info' | 'warn'>): void {
  const { contract, remarks, ...said } = report;
  log.info({ contract, ...said }, 'a contract is loaded');
  for (const { all, message } of remarks)
    log.warn({ contract, count: all.length, first: all.slice(0, shown) }, message);
}
