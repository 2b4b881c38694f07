import { auditApart, auditInLog } from '../telemetry/audit.ts';
import { AuditFile } from '../telemetry/audit-file.ts';
import { LineBuffer } from '../telemetry/line-buffer.ts';
import { describeError } from '../telemetry/log.ts';
import { maxLogBytes, type StandardOutput, standardOutput } from '../telemetry/log-writer.ts';
import type { Observer } from '../telemetry/observer.ts';
import { createProcessLog, type ProcessLog } from './process-log.ts';
import type { ServeOptions } from './serve-options.ts';

/** Where a process writes what it tells of itself: its log, and writes apart from it where that is asked for. */
export interface Outputs extends StandardOutput {
  readonly log: ProcessLog;
  /** Undefined: nobody is told of writes. */
  readonly audit: Observer | undefined;
  /** Opens the file of audit lines anew; what fails is logged, and the former file goes on. */
  readonly reopenAudit: () => void;
}

/**
 * Opens the log and the file of audit lines. Throws RangeError for a file that can't be written.
 *
 * @param logBytes maximum number of bytes of the log that wait to be written
 */
export function openOutputs(
  { logTo, logLevel, auditLog, metricsOfAll }: ServeOptions,
  logBytes = maxLogBytes,
): Outputs {
  const isWorker = metricsOfAll !== undefined;
  const output = logTo === undefined ? standardOutput(logBytes, isWorker) : linesTo(logTo);
  const log = createProcessLog(logLevel, output.lines);
  const auditFile = auditLog === undefined ? undefined : openAuditFile(auditLog, isWorker);
  let audit: Observer | undefined = log.isLevelEnabled('info') ? auditInLog(output.lines) : undefined;
  if (auditFile !== undefined)
    audit = auditApart(new LineBuffer(auditFile, 1), (error, requestId) =>
      log.error({ requestId, ...describeError(error) }, 'the outcome of a write is not in the audit log'),
    );
  const reopenAudit = (): void => {
    try {
      auditFile?.reopen();
    } catch (error) {
      log.error(
        describeError(error),
        'the audit log was not opened anew: its lines go on to the former file',
      );
    }
  };
  return { ...output, log, audit, reopenAudit };
}

/** A stream keeps what it is given until it is written. */
function linesTo(stream: NodeJS.WritableStream): StandardOutput {
  const lines = new LineBuffer({ write: (bytes) => stream.write(Buffer.from(bytes)) }, 1);
  return { lines, dropped: () => 0 };
}

/** The file of audit lines. Throws RangeError. */
function openAuditFile(path: string, isShared: boolean): AuditFile {
  try {
    return new AuditFile(path, isShared);
  } catch (error) {
    throw new RangeError(
      `--audit-log: expected a file that can be written, got ${describeError(error).code ?? error}`,
    );
  }
}
