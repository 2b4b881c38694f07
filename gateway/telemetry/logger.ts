import { LineBuffer } from './line-buffer.ts';

/** Logger of an embedded gateway, for example pino's logger or `console`. */
export interface Logger {
  readonly info: (fields: object, message?: string) => unknown;
  readonly warn: (fields: object, message?: string) => unknown;
  readonly error: (fields: object, message?: string) => unknown;
}

/** A logger that discards everything. */
export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** A log line. Its level is a number of pino. */
interface Line extends Record<string, unknown> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
}

/** Passes log lines to a logger one by one, in the order of a process's log. The logger adds its own time and level. */
export function linesToLogger(logger: Logger): LineBuffer {
  return new LineBuffer({ write: (bytes) => logLines(bytes.toString('utf8'), logger) }, 1);
}

function logLines(text: string, logger: Logger): void {
  for (const line of text.trimEnd().split('\n')) {
    const { level, time: _time, msg, ...fields } = JSON.parse(line) as Line;
    if (level >= 50) logger.error(fields, msg);
    else if (level >= 40) logger.warn(fields, msg);
    else logger.info(fields, msg);
  }
}
