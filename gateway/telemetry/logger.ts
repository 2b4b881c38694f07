import { LineBuffer } from './line-buffer.ts';

/** Where an embedded gateway's log goes: pino's logger, say, or `console`. */
export interface Logger {
  readonly info: (fields: object, message?: string) => unknown;
  readonly warn: (fields: object, message?: string) => unknown;
  readonly error: (fields: object, message?: string) => unknown;
}

/** A logger that drops everything. */
export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** A line of the log, whose level is numbered as pino does. */
interface Line extends Record<string, unknown> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
}

/**
 * Lines of a log that are given to a logger one by one, as they come: the same lines, in the same order, that a process
 * writes. The logger has a time and a level of its own.
 */
export function linesToLogger(logger: Logger): LineBuffer {
  return new LineBuffer({ write: (bytes) => tellAll(bytes.toString('utf8'), logger) }, 1);
}

function tellAll(text: string, logger: Logger): void {
  for (const line of text.trimEnd().split('\n')) {
    const { level, time: _time, msg, ...fields } = JSON.parse(line) as Line;
    if (level >= 50) logger.error(fields, msg);
    else if (level >= 40) logger.warn(fields, msg);
    else logger.info(fields, msg);
  }
}
