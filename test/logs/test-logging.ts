import { logger } from '#platform/telemetry/logger.ts'
import { logDirectory } from './kept-logs.ts'

/** Variables that make a process log all that it can, or nothing outside of a test run, where nobody keeps it off the terminal. */
export function testLogVariables(): { readonly LOG_LEVEL: string; readonly POWERTOOLS_METRICS_DISABLED: string } {
  const isKept = logDirectory() !== undefined
  return { LOG_LEVEL: isKept ? 'DEBUG' : 'SILENT', POWERTOOLS_METRICS_DISABLED: String(!isKept) }
}

/** The same for the logger and the metrics of this process. */
export function setTestLogging(): void {
  logger.setLogLevel(logDirectory() === undefined ? 'SILENT' : 'DEBUG')
  process.env.POWERTOOLS_METRICS_DISABLED = testLogVariables().POWERTOOLS_METRICS_DISABLED
}
