import { auditInLog, createSeparateAudit } from '../telemetry/audit.ts';
import { AuditFile } from '../telemetry/audit-file.ts';
import { LineBuffer } from '../telemetry/line-buffer.ts';
import { describeError, levels } from '../telemetry/log.ts';
import { maxLogBytes, type StandardOutput, standardOutput } from '../telemetry/log-writer.ts';
import type { Observer } from '../telemetry/observer.ts';
import { createProcessLog, type ProcessLog } from './process-log.ts';
import type { ServeOptions } from './serve-options.ts';

/** Outputs of a process: its log and, if requested, a separate audit log of writes. */
export interface Outputs extends StandardOutput {
  readonly log: ProcessLog;
  /** Undefined if writes are not audited. */
  readonly audit: Observer | undefined;
  /** Reopens the audit log. If that fails, it logs why and continues to write to the old file. */
  readonly reopenAudit: () => void;
}

/**
 * Opens the log and the audit log. Throws RangeError if a file cannot be written.
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
  let audit: Observer | undefined = log.lowest <= levels.info ? auditInLog(output.lines) : undefined;
  if (auditFile !== undefined)
    audit = createSeparateAudit(new LineBuffer(auditFile, 1), (error, requestId) =>
      log.error({ requestId, ...describeError(error) }, 'audit line of a write lost'),
    );
  const reopenAudit = (): void => {
    try {
      auditFile?.reopen();
    } catch (error) {
      log.error(describeError(error), 'audit log not reopened: writing to the previous file');
    }
  };
  return { ...output, log, audit, reopenAudit };
}

/** The stream buffers lines until they are written. */
function linesTo(stream: NodeJS.WritableStream): StandardOutput {
  const lines = new LineBuffer({ write: (bytes) => stream.write(Buffer.from(bytes)) }, 1);
  return { lines, dropped: () => 0 };
}

/** Opens the audit log. Throws RangeError. */
function openAuditFile(path: string, isShared: boolean): AuditFile {
  try {
    return new AuditFile(path, isShared);
  } catch (error) {
    throw new RangeError(`--audit-log: expected a writable file, got ${describeError(error).code ?? error}`);
  }
}
