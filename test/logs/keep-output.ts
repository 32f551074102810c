import { isLogLine } from './find-secrets.ts'
import { openLog } from './kept-logs.ts'

/**
 * Keeps what the code under test writes to its standard streams and to the console, until the function that is returned is called.
 * Log lines stay off the terminal; the rest goes to the console of the test file, which the runner shows with a test that fails.
 */
export function keepOutput(shown: Console): () => void {
  const name = `worker-${process.pid}`
  const [out, error] = [openLog(name, 'stdout'), openLog(name, 'stderr')]
  // What a function prints by the console is in its log, whichever method it takes.
  const print = { log: shown.log.bind(shown), error: shown.error.bind(shown) }
  for (const method of ['error', 'warn', 'log', 'info', 'debug'] as const) {
    const show = shown[method].bind(shown)
    shown[method] = (...values: unknown[]) => {
      error.write(`${values.map(String).join(' ')}\n`)
      if (!isLogLine(String(values[0]))) {
        show(...values)
      }
    }
  }
  const restored = [replace('stdout', out.write, print.log), replace('stderr', error.write, print.error)]
  return () => {
    for (const restore of restored) {
      restore()
    }
    out.close()
    error.close()
  }
}

/** Only the stream's `write` is replaced. */
function replace(stream: 'stdout' | 'stderr', keep: (text: string) => void, show: (text: string) => void): () => void {
  const { write } = process[stream]
  // A console that prints at once, as Jest's does with --verbose, writes to this very stream.
  let isShowing = false
  process[stream].write = (
    chunk: string | Uint8Array,
    encodingOrWritten?: BufferEncoding | ((error?: Error | null) => void),
    written?: (error?: Error | null) => void,
  ) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    if (isShowing) {
      return write.call(process[stream], text)
    }
    keep(text)
    if (!isLogLine(text)) {
      isShowing = true
      show(text.replace(/\n$/, ''))
      isShowing = false
    }
    const done = typeof encodingOrWritten === 'function' ? encodingOrWritten : written
    done?.()
    return true
  }
  return () => {
    process[stream].write = write
  }
}
