import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileOfRun } from './kept-in-run.ts'

/** Of a worker: the file that it runs or has run last, and whether Jest listens for errors, so that one fails a test of the file. */
let current: { readonly path: string; isListening: boolean } | undefined

/**
 * Keeps errors that nobody catches after the last test of a file, when the file has passed: they end the worker, and Jest starts
 * another one without failing the run.
 * @returns tells whether Jest listens from now on.
 */
export function recordUncaughtErrors(path: string): (isListening: boolean) => void {
  if (current === undefined) {
    process.on('uncaughtExceptionMonitor', record)
  }
  const own = { path, isListening: false }
  current = own
  return (isListening) => {
    own.isListening = isListening
  }
}

function record(error: unknown): void {
  const file = fileOfRun('uncaught-errors')
  if (file !== undefined && current?.isListening === false) {
    const text = error instanceof Error ? error.stack : String(error)
    appendFileSync(file, `after the tests of ${current.path}, or of a file before it:\n${text}\n`)
  }
}

/** @throws Error that shows the errors of this run that nobody caught. */
export function failOnUncaughtErrors(): void {
  const file = fileOfRun('uncaught-errors')
  if (file !== undefined && existsSync(file)) {
    throw new Error(`errors that nobody caught:\n${readFileSync(file, 'utf8')}`)
  }
}
