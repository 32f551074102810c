import { isLogLine } from './find-secrets.ts'
import { logDirectory, openLog } from './kept-logs.ts'

/**
 * Runs before each test file: keeps what the code under test writes to its standard streams and to the console, and keeps
 * log lines off the terminal. The streams are replaced for this file alone, so that Jest's own reports are not taken for logs.
 */
if (logDirectory() !== undefined) {
  const name = `worker-${process.pid}`
  replace('stdout', openLog(name, 'stdout').write)
  const keepError = openLog(name, 'stderr').write
  replace('stderr', keepError)
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

function replace(name: 'stdout' | 'stderr', keep: (text: string) => void): void {
  const stream = process[name]
  const write = stream.write.bind(stream)
  const kept = Object.create(stream, {
    write: {
      configurable: true,
      writable: true,
      value: (chunk: string | Uint8Array) => {
        const text = String(chunk)
        keep(text)
        return isLogLine(text) || write(chunk)
      },
    },
  })
  Object.defineProperty(process, name, { configurable: true, value: kept })
}
