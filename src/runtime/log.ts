import { LOG_LEVELS, type LogLevel } from '../config.ts'

/** JSON lines on standard error. Callers name the fields they log; secrets are never among them. */
export interface Log {
  /** Are debug lines written at all? Asked where making one would cost. */
  readonly verbose: boolean
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export function createLog(level: LogLevel, write: (line: string) => void): Log {
  const from = LOG_LEVELS.indexOf(level)
  const at =
    (name: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (LOG_LEVELS.indexOf(name) < from) return
      const entry = { time: new Date().toISOString(), level: name, message, ...fields }
      write(JSON.stringify(entry, (_, value: unknown) => (value instanceof Error ? describe(value) : value)))
    }
  return {
    verbose: level === 'debug',
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}
function describe(error: Error): object {
  const cause = error.cause instanceof Error ? { cause: describe(error.cause) } : {}
  return { name: error.name, message: error.message, stack: error.stack, ...cause }
}

/** A log that knows how much was written to it as errors and warnings, whatever its level shows. */
export interface CountingLog extends Log {
  readonly errors: number
  readonly warnings: number
}
export function countingLog(log: Log): CountingLog {
  const counts = { errors: 0, warnings: 0 }
  return {
    verbose: log.verbose,
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields) => {
      counts.warnings++
      log.warn(message, fields)
    },
    error: (message, fields) => {
      counts.errors++
      log.error(message, fields)
    },
    get errors() {
      return counts.errors
    },
    get warnings() {
      return counts.warnings
    },
  }
}
