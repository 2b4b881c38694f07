import type { LineBuffer } from '../telemetry/line-buffer.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Levels of messages, with pino's numbers. */
const levelNumbers = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

type Level = keyof typeof levelNumbers;

/** The lowest level that is logged. `silent` logs nothing. */
export type LogLevel = Level | 'silent';

/** Every value of `--log-level`. */
export const logLevels: readonly LogLevel[] = [...(Object.keys(levelNumbers) as Level[]), 'silent'];

/** Log of a process: JSON lines with pino's members. */
export interface ProcessLog extends Logger {
  /** Logs the reason why the process ends. */
  readonly fatal: (fields: object, message?: string) => void;
  /** Number of the lowest level that is logged; Infinity for none. */
  readonly lowest: number;
  /** Writes the buffered lines. */
  readonly flush: () => void;
}

/** Creates a log that writes to the same buffer as the log lines of requests, so that their order is kept. */
export function createProcessLog(level: LogLevel, lines: LineBuffer): ProcessLog {
  const lowest = level === 'silent' ? Number.POSITIVE_INFINITY : levelNumbers[level];
  const writerOf = (name: Level) => {
    const number = levelNumbers[name];
    if (number < lowest) return () => {};
    return (fields: object, msg?: string) =>
      lines.addJson({ level: number, time: Date.now(), ...fields, msg });
  };
  return {
    info: writerOf('info'),
    warn: writerOf('warn'),
    error: writerOf('error'),
    fatal: writerOf('fatal'),
    lowest,
    flush: () => lines.flush(),
  };
}
