import { isLogLine } from './find-secrets.ts'
import { logDirectory, openLog } from './kept-logs.ts'

declare global {
  var outputIsKept: true | undefined
}

/**
 * Runs before each test file, and does its work once in a worker: keeps what the code under test writes to its standard streams and
 * to the console. Log lines stay off the terminal; the runner shows the rest with a test that fails.
 */
if (logDirectory() !== undefined && globalThis.outputIsKept === undefined) {
  globalThis.outputIsKept = true
  const name = `worker-${process.pid}`
  const [keepOutput, keepError] = [openLog(name, 'stdout').write, openLog(name, 'stderr').write]
  replace('stdout', keepOutput, console.log.bind(console))
  replace('stderr', keepError, console.error.bind(console))
  // What a function prints by the console is in its log, whichever method it takes.
  for (const method of ['error', 'warn', 'log', 'info', 'debug'] as const) {
    const shown = console[method].bind(console)
    console[method] = (...values: unknown[]) => {
      keepError(`${values.map(String).join(' ')}\n`)
      if (!isLogLine(String(values[0]))) {
        shown(...values)
      }
    }
  }
}

/** Only the stream's `write` is replaced: the console of the runner has streams of its own. */
function replace(stream: 'stdout' | 'stderr', keep: (text: string) => void, show: (text: string) => void): void {
  process[stream].write = (
    chunk: string | Uint8Array,
    encodingOrWritten?: BufferEncoding | ((error?: Error | null) => void),
    written?: (error?: Error | null) => void,
  ) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    keep(text)
    if (!isLogLine(text)) {
      show(text.replace(/\n$/, ''))
    }
    const done = typeof encodingOrWritten === 'function' ? encodingOrWritten : written
    done?.()
    return true
  }
}
