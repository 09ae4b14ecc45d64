// The hub's log: readable lines on a terminal, JSON lines anywhere else.
import { pino } from 'pino';
import type { Logger } from './world.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface ClosableLogger extends Logger {
  /** Writes buffered lines; call it before the process ends. */
  flush(): void;
}

export async function createLogger({
  level,
  terminal,
}: {
  level: LogLevel;
  terminal: boolean;
}): Promise<ClosableLogger> {
  const stream = terminal
    ? (await import('pino-pretty')).default({
        sync: true,
        singleLine: true,
        ignore: 'pid,hostname',
        translateTime: 'SYS:HH:MM:ss.l',
      })
    : pino.destination({ dest: 1, sync: false, minLength: 4096 });
  const logger = pino(
    {
      level,
      base: null,
      // Log collectors expect a word instead of pino's number.
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Without it, an error is logged as `{}`: its message and stack are not enumerable.
      serializers: { error: pino.stdSerializers.err },
    },
    stream,
  );
  // Lines are buffered and written together, at least this often.
  const timer = setInterval(() => logger.flush(), 500).unref();
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush() {
      clearInterval(timer);
      if ('flushSync' in stream) stream.flushSync();
    },
  };
}
